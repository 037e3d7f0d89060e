//! How do chunks become literal bytes again at the receiver?
//!
//! However much a chunk expands to, it comes out in pieces of at most [`CHUNK_OUT`] bytes
//! (docs/protocol/transfer.md, compressed tokens).

use flate2::{Decompress, FlushDecompress};
use lz4_flex::block::decompress_into;
use zstd::zstd_safe::{self, DCtx, DParameter, InBuffer, OutBuffer};

use super::CompressKind;
use super::deflate::FLUSH_TAIL;
use super::history::History;
use crate::error::{Error, Result};

/// The longest piece of literal bytes that is handed out at once.
///
/// No sender puts more into one chunk of LZ4.
pub const CHUNK_OUT: usize = 1 << 16;

/// The largest window that a zstd frame may ask for, as a power of two; stock allows the same.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// The decompressing half of a session's codec.
pub struct Decompressor {
    codec: Codec,
    piece: Vec<u8>,
}

enum Codec {
    Inflate(Inflate),
    /// The stream of frames, once there is one.
    Zstd(Option<DCtx<'static>>),
    Lz4,
}

impl Decompressor {
    /// Makes the decompressor of a session; big memory is taken when first needed.
    pub fn new(kind: CompressKind) -> Self {
        let codec = match kind {
            CompressKind::Zlib => Codec::Inflate(Inflate::new(Some(History::default()))),
            CompressKind::Zlibx => Codec::Inflate(Inflate::new(None)),
            CompressKind::Zstd => Codec::Zstd(None),
            CompressKind::Lz4 => Codec::Lz4,
        };
        Self { codec, piece: Vec::new() }
    }

    /// Begins the next file.
    pub fn start_file(&mut self) {
        if let Codec::Inflate(inflate) = &mut self.codec {
            inflate.start_file();
        }
    }

    /// Decodes one chunk; the plain bytes come in pieces of at most [`CHUNK_OUT`].
    pub fn chunk<E: From<Error>>(
        &mut self,
        data: &[u8],
        out: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.piece.resize(CHUNK_OUT, 0);
        let piece = self.piece.as_mut_slice();
        match &mut self.codec {
            Codec::Inflate(inflate) => inflate.chunk(data, piece, out),
            Codec::Zstd(Some(stream)) => unzstd(stream, data, piece, out),
            Codec::Zstd(none) => unzstd(none.insert(open_zstd()?), data, piece, out),
            Codec::Lz4 => {
                let len = decompress_into(data, piece).map_err(|error| garbled("lz4", error))?;
                out(&piece[..len])
            }
        }
    }

    /// Ends a run of literals; call it before a block token and at the end of a file.
    ///
    /// Without chunks since the last time it does nothing.
    pub fn end_run<E: From<Error>>(
        &mut self,
        out: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        match &mut self.codec {
            Codec::Inflate(inflate) => inflate.end_run(&mut self.piece, out),
            Codec::Zstd(_) | Codec::Lz4 => Ok(()),
        }
    }

    /// Tells the codec of a matched block, after [`end_run`](Self::end_run).
    ///
    /// Only [`CompressKind::Zlib`] listens; the protocol version decides how it takes long blocks.
    pub fn matched(&mut self, block: &[u8], protocol: u32) {
        if let Codec::Inflate(Inflate { history: Some(history), .. }) = &mut self.codec {
            history.push(block, protocol);
        }
    }
}

struct Inflate {
    stream: Decompress,
    /// The matched bytes since the last literal, where they go into the window.
    history: Option<History>,
    in_run: bool,
}

impl Inflate {
    fn new(history: Option<History>) -> Self {
        Self { stream: Decompress::new(false), history, in_run: false }
    }

    fn start_file(&mut self) {
        self.stream.reset(false);
        self.in_run = false;
        if let Some(history) = &mut self.history {
            history.clear();
        }
    }

    fn chunk<E: From<Error>>(
        &mut self,
        data: &[u8],
        piece: &mut [u8],
        out: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.insert_matched()?;
        self.in_run = true;
        self.feed(data, piece, out)
    }

    /// Completes the sync flush that closes a run.
    fn end_run<E: From<Error>>(
        &mut self,
        piece: &mut [u8],
        out: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        match std::mem::take(&mut self.in_run) {
            true => self.feed(&FLUSH_TAIL, piece, out),
            false => Ok(()),
        }
    }

    /// Puts the matched bytes into the window, which stands between two blocks of the stream.
    fn insert_matched(&mut self) -> Result<()> {
        if let Some(history) = &mut self.history
            && !history.bytes().is_empty()
        {
            let inserted = self.stream.set_dictionary(history.bytes());
            inserted.map_err(|error| garbled("zlib", error))?;
            history.clear();
        }
        Ok(())
    }

    fn feed<E: From<Error>>(
        &mut self,
        mut data: &[u8],
        piece: &mut [u8],
        out: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            let (before_in, before_out) = (self.stream.total_in(), self.stream.total_out());
            let result = self.stream.decompress(data, piece, FlushDecompress::Sync);
            result.map_err(|error| garbled("zlib", error))?;
            // Neither difference exceeds the slice it counts.
            let taken = (self.stream.total_in() - before_in) as usize;
            let made = (self.stream.total_out() - before_out) as usize;
            data = &data[taken..];
            if made > 0 {
                out(&piece[..made])?;
            }
            if data.is_empty() && made < piece.len() {
                return Ok(());
            }
            if taken + made == 0 {
                return Err(garbled("zlib", "bytes behind the end of the stream").into());
            }
        }
    }
}

fn open_zstd() -> Result<DCtx<'static>> {
    let mut stream = DCtx::try_create()
        .ok_or_else(|| Error::Codec { codec: "zstd", reason: "out of memory".into() })?;
    stream.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG_MAX)).map_err(bad_zstd)?;
    Ok(stream)
}

/// Decodes a part of a sequence of frames, wherever they begin and end.
fn unzstd<E: From<Error>>(
    stream: &mut DCtx<'static>,
    data: &[u8],
    piece: &mut [u8],
    out: &mut impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut input = InBuffer::around(data);
    loop {
        let before = input.pos();
        let mut room = OutBuffer::around(&mut *piece);
        stream.decompress_stream(&mut room, &mut input).map_err(bad_zstd)?;
        let made = room.pos();
        if made > 0 {
            out(&piece[..made])?;
        }
        if input.pos() == data.len() && made < piece.len() {
            return Ok(());
        }
        if input.pos() == before && made == 0 {
            return Err(garbled("zstd", "no progress").into());
        }
    }
}

fn bad_zstd(code: usize) -> Error {
    garbled("zstd", zstd_safe::get_error_name(code))
}

fn garbled(codec: &'static str, reason: impl ToString) -> Error {
    Error::Garbled { codec, reason: reason.to_string() }
}
