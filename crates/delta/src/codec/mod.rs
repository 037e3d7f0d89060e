//! How do literal bytes travel to the receiver in compressed form?
//!
//! A codec turns literal bytes into chunks of at most [`CHUNK_MAX`] bytes, which the token encoder
//! puts behind its two-byte heads. All literals between two block tokens form a run; a run ends
//! with [`Compressor::end_run`], and so does a file (docs/protocol/transfer.md, compressed tokens).
//! [`Decompressor`] takes the same steps at the other end.
//!
//! Content that would not shrink is *stored*: framed so that a stock receiver of the codec accepts
//! it, without any work on the bytes but copying them.

mod chunk;
mod decompress;
mod deflate;
mod history;
mod lz4;
mod zstd;

use crate::error::Result;
use crate::incompressible::{SAMPLE_MIN, looks_incompressible};

pub use chunk::CHUNK_MAX;
pub use decompress::{CHUNK_OUT, Decompressor};

/// A codec, by its name on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompressKind {
    /// Deflate that keeps matched blocks in its history.
    Zlib,
    /// Deflate over literals alone.
    Zlibx,
    /// Zstandard, one stream of frames for the whole session.
    Zstd,
    /// LZ4, every chunk a block of its own.
    Lz4,
}

impl CompressKind {
    /// Returns the level that a wished `--compress-level` comes to; `None` is the default.
    ///
    /// Level 0 of deflate is not a level here: it turns compression off for the session.
    pub fn level(self, wish: Option<i32>) -> i32 {
        match self {
            Self::Zlib | Self::Zlibx => wish.map_or(6, |level| level.clamp(1, 9)),
            Self::Zstd => match wish {
                None | Some(0) => 3,
                Some(level) => level.clamp(zstd::min_level(), zstd::max_level()),
            },
            Self::Lz4 => 0,
        }
    }
}

/// What is done with the literals of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// They are compressed.
    Compress,
    /// They are sent as they are, in the codec's own framing.
    Store,
    /// The first long run of literals decides between the two.
    Probe,
}

/// The compressing half of a session's codec.
pub struct Compressor {
    codec: Codec,
    treatment: Treatment,
    in_run: bool,
}

enum Codec {
    Deflate(deflate::Deflate),
    Zstd(zstd::Zstd),
    Lz4(lz4::Lz4),
}

impl Compressor {
    /// Makes the compressor of a session; big memory is taken when first needed.
    ///
    /// `level` is the result of [`CompressKind::level`].
    pub fn new(kind: CompressKind, level: i32) -> Self {
        let codec = match kind {
            CompressKind::Zlib => Codec::Deflate(deflate::Deflate::with_history(level)),
            CompressKind::Zlibx => Codec::Deflate(deflate::Deflate::without_history(level)),
            CompressKind::Zstd => Codec::Zstd(zstd::Zstd::new(level)),
            CompressKind::Lz4 => Codec::Lz4(lz4::Lz4::new()),
        };
        Self { codec, treatment: Treatment::Compress, in_run: false }
    }

    /// Begins the next file.
    pub fn start_file(&mut self, treatment: Treatment) {
        self.treatment = treatment;
        self.in_run = false;
        if let Codec::Deflate(deflate) = &mut self.codec {
            deflate.start_file();
        }
    }

    /// Returns what is done with the current file; [`Treatment::Probe`] while undecided.
    pub fn treatment(&self) -> Treatment {
        self.treatment
    }

    /// Takes literal bytes of any number and hands out the chunks that are complete.
    pub fn literal(&mut self, data: &[u8], out: &mut impl FnMut(&[u8])) -> Result<()> {
        if data.is_empty() {
            return Ok(());
        }
        // A run cannot change its treatment half way, hence only its first literal is looked at.
        if !self.in_run {
            self.decide(data);
        }
        self.in_run = true;
        let store = self.treatment == Treatment::Store;
        match &mut self.codec {
            Codec::Deflate(deflate) if store => deflate.store(data, out),
            Codec::Deflate(deflate) => return deflate.compress(data, out),
            Codec::Zstd(zstd) if store => return zstd.store(data, out),
            Codec::Zstd(zstd) => return zstd.compress(data, out),
            Codec::Lz4(lz4) if store => lz4.store(data, out),
            Codec::Lz4(lz4) => lz4.compress(data, out),
        }
        Ok(())
    }

    /// Decides what to do with a file, if that is still open and there is enough of it.
    fn decide(&mut self, data: &[u8]) {
        if self.treatment == Treatment::Probe && data.len() >= SAMPLE_MIN {
            self.treatment = match looks_incompressible(data) {
                true => Treatment::Store,
                false => Treatment::Compress,
            };
        }
    }

    /// Hands out the rest of a run; call it before a block token and at the end of a file.
    ///
    /// Without literals since the last time it does nothing.
    pub fn end_run(&mut self, out: &mut impl FnMut(&[u8])) -> Result<()> {
        if !std::mem::take(&mut self.in_run) {
            return Ok(());
        }
        match &mut self.codec {
            Codec::Deflate(deflate) => deflate.end_run(out),
            Codec::Zstd(zstd) => zstd.end_run(out),
            Codec::Lz4(_) => Ok(()),
        }
    }

    /// Does a whole file at once: begins it, takes its content, and closes the stream behind it.
    pub fn whole_file(&mut self, data: &[u8], out: &mut impl FnMut(&[u8])) -> Result<()> {
        self.start_file(Treatment::Probe);
        self.decide(data);
        match &mut self.codec {
            Codec::Zstd(zstd) if self.treatment != Treatment::Store => zstd.whole(data, out),
            _ => {
                self.literal(data, out)?;
                self.close(out)
            }
        }
    }

    /// Ends a run, and leaves the stream so that another compressor of the same kind may go on.
    ///
    /// Files that are compressed apart from each other can so be sent one behind the other.
    pub fn close(&mut self, out: &mut impl FnMut(&[u8])) -> Result<()> {
        self.end_run(out)?;
        match &mut self.codec {
            Codec::Zstd(zstd) => zstd.close(out),
            Codec::Deflate(_) | Codec::Lz4(_) => Ok(()),
        }
    }

    /// Tells the codec of a matched block, after [`end_run`](Self::end_run).
    ///
    /// Only [`CompressKind::Zlib`] listens; the protocol version decides how it takes long blocks.
    pub fn matched(&mut self, block: &[u8], protocol: u32) {
        if let Codec::Deflate(deflate) = &mut self.codec
            && self.treatment != Treatment::Store
        {
            deflate.matched(block, protocol);
        }
    }
}
