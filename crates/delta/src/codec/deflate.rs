//! How do `zlib` and `zlibx` compress?
//!
//! A file is one raw deflate stream without an end. Every run closes with a sync flush whose last
//! four bytes are left out, because the receiver puts them back. `zlib` also keeps matched blocks
//! in the window of both sides (docs/protocol/transfer.md, zlib).

use flate2::{Compress, Compression, FlushCompress, Status};

use super::chunk::{CHUNK_MAX, ChunkBuffer};
use super::history::History;
use crate::error::{Error, Result};

/// The end of a sync flush, which never goes over the wire.
pub(crate) const FLUSH_TAIL: [u8; 4] = [0x00, 0x00, 0xff, 0xff];

/// Bytes before the data of a stored block that begins at a byte boundary.
const STORED_HEAD: usize = 5;

pub(crate) struct Deflate {
    level: Compression,
    stream: Option<Compress>,
    /// The stream holds something of the current file.
    used: bool,
    history: Option<History>,
    chunk: ChunkBuffer,
    run: Run,
}

/// What the current run consists of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    Compressed,
    Stored,
}

impl Deflate {
    pub(crate) fn with_history(level: i32) -> Self {
        Self { history: Some(History::default()), ..Self::without_history(level) }
    }

    pub(crate) fn without_history(level: i32) -> Self {
        Self {
            // The level was clamped to 1..=9 before.
            level: Compression::new(level.unsigned_abs().clamp(1, 9)),
            stream: None,
            used: false,
            history: None,
            chunk: ChunkBuffer::new(FLUSH_TAIL.len()),
            run: Run::Compressed,
        }
    }

    pub(crate) fn start_file(&mut self) {
        if std::mem::take(&mut self.used)
            && let Some(stream) = &mut self.stream
        {
            stream.reset();
        }
        if let Some(history) = &mut self.history {
            history.clear();
        }
    }

    pub(crate) fn compress(&mut self, data: &[u8], out: &mut impl FnMut(&[u8])) -> Result<()> {
        self.run = Run::Compressed;
        self.used = true;
        let stream = self.stream.get_or_insert_with(|| Compress::new(self.level, false));
        if let Some(history) = &mut self.history
            && !history.bytes().is_empty()
        {
            stream.set_dictionary(history.bytes()).map_err(failed)?;
            history.clear();
        }
        let mut rest = data;
        while !rest.is_empty() {
            let step = step(stream, rest, &mut self.chunk, FlushCompress::None, out)?;
            rest = &rest[step.taken..];
        }
        Ok(())
    }

    /// Writes stored blocks; the rest of the file must be stored too, since the compressor's
    /// window does not learn of these bytes.
    pub(crate) fn store(&mut self, data: &[u8], out: &mut impl FnMut(&[u8])) {
        self.run = Run::Stored;
        for piece in data.chunks(CHUNK_MAX - STORED_HEAD) {
            // A piece is shorter than a chunk, hence 16 bits.
            let len = piece.len() as u16;
            let room = self.chunk.room();
            room[0] = 0x00;
            room[1..3].copy_from_slice(&len.to_le_bytes());
            room[3..5].copy_from_slice(&(!len).to_le_bytes());
            room[STORED_HEAD..STORED_HEAD + piece.len()].copy_from_slice(piece);
            out(&room[..STORED_HEAD + piece.len()]);
        }
    }

    pub(crate) fn end_run(&mut self, out: &mut impl FnMut(&[u8])) -> Result<()> {
        if self.run == Run::Stored {
            // The first byte of the empty stored block that the receiver will complete.
            out(&[0x00]);
            return Ok(());
        }
        let Some(stream) = &mut self.stream else {
            return Ok(());
        };
        while step(stream, &[], &mut self.chunk, FlushCompress::Sync, out)?.filled {}
        match self.chunk.finish(out) == FLUSH_TAIL {
            true => Ok(()),
            false => Err(failed("a sync flush without its mark")),
        }
    }

    pub(crate) fn matched(&mut self, block: &[u8], protocol: u32) {
        if let Some(history) = &mut self.history {
            history.push(block, protocol);
        }
    }
}

struct Step {
    taken: usize,
    /// All room was used, so that more output may wait.
    filled: bool,
}

fn step(
    stream: &mut Compress,
    data: &[u8],
    chunk: &mut ChunkBuffer,
    flush: FlushCompress,
    out: &mut impl FnMut(&[u8]),
) -> Result<Step> {
    let (before_in, before_out) = (stream.total_in(), stream.total_out());
    let room = chunk.room();
    let room_len = room.len();
    let status = stream.compress(data, room, flush).map_err(failed)?;
    // Neither difference exceeds the slice it counts.
    let taken = (stream.total_in() - before_in) as usize;
    let made = (stream.total_out() - before_out) as usize;
    if status == Status::BufError && taken + made == 0 && !data.is_empty() {
        return Err(failed("no progress"));
    }
    chunk.wrote(made, out);
    Ok(Step { taken, filled: made == room_len })
}

fn failed(reason: impl ToString) -> Error {
    Error::Codec { codec: "zlib", reason: reason.to_string() }
}
