//! What can go wrong here that is not the disk's doing?

/// An error of the delta algorithm or of one of its codecs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A compressor refused to go on; its library's own words follow.
    #[error("{codec} compressor failed: {reason}")]
    Codec {
        /// The codec's name on the wire.
        codec: &'static str,
        /// The reason as the library words it.
        reason: String,
    },
    /// Compressed data of the peer has no meaning.
    #[error("garbled {codec} data from the far side: {reason}")]
    Garbled {
        /// The codec's name on the wire.
        codec: &'static str,
        /// The reason as the library words it.
        reason: String,
    },
}

/// The result of an operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
