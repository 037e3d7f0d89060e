//! What ends a transfer, and by whose fault.

use std::io;

/// Why a transfer could not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The far side's bytes were not the protocol, or it broke a rule.
    #[error(transparent)]
    Wire(#[from] wire::Error),
    /// A source directory could not be opened at all.
    #[error(transparent)]
    Tree(#[from] tree::Error),
    /// A filter rule is wrong or cannot be sent to this peer.
    #[error(transparent)]
    Filter(#[from] filter::Error),
    /// A codec failed.
    #[error(transparent)]
    Codec(#[from] delta::Error),
    /// The connection broke while we were writing.
    #[error("connection lost while sending: {0}")]
    Send(#[source] io::Error),
    /// The far side gave up and told its exit code.
    #[error("the far side gave up with code {0} ({text})", text = wire::exit::describe(*.0))]
    FarExit(i32),
    /// The option asks for more than the negotiated protocol can carry.
    #[error("{option} requires protocol {needed} or higher (negotiated {protocol}).")]
    NeedsProtocol {
        /// The option in its long form.
        option: &'static str,
        /// The lowest protocol that carries it.
        needed: u32,
        /// The protocol of this session.
        protocol: u32,
    },
    /// An argument that cannot be sent in any case.
    #[error("{0}")]
    Argument(String),
    /// None of the sources is there.
    #[error("none of the sources exists: nothing to send")]
    NothingToSend,
}

/// The result of a step of a transfer.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns rsync's exit code for it.
    pub fn exit_code(&self) -> i32 {
        match self {
            Self::Wire(error) => error.exit_code(),
            Self::Tree(_) => wire::exit::FILE_SELECTION,
            Self::Filter(error) => error.exit_code(),
            Self::NeedsProtocol { .. } => wire::exit::PROTOCOL,
            Self::Codec(_) => wire::exit::STREAM,
            Self::Send(_) => wire::exit::SOCKET,
            Self::FarExit(code) => *code,
            Self::Argument(_) => wire::exit::SYNTAX,
            Self::NothingToSend => wire::exit::PARTIAL,
        }
    }
}
