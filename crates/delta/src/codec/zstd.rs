//! How does `zstd` compress?
//!
//! One stream of frames runs through the whole session. Compressed literals share one frame, which
//! stays open from file to file, flushed at the end of every run. Stored literals go into a frame
//! of raw blocks written by hand; each kind closes the other's frame first
//! (docs/protocol/transfer.md, zstd).

use zstd::zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd::zstd_safe::{self, CCtx, CParameter, InBuffer, OutBuffer};

use super::chunk::{CHUNK_MAX, ChunkBuffer};
use crate::error::{Error, Result};

/// Magic number, frame header without options, and a window of 128 KiB.
const RAW_FRAME_HEAD: [u8; 6] = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];

/// An empty raw block that is the last of its frame.
const RAW_FRAME_END: [u8; 3] = [0x01, 0x00, 0x00];

const RAW_BLOCK_HEAD: usize = 3;

pub(crate) struct Zstd {
    level: i32,
    stream: Option<CCtx<'static>>,
    frame: Frame,
    chunk: ChunkBuffer,
    whole: Vec<u8>,
}

/// Which frame is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Frame {
    None,
    Compressed,
    Raw,
}

pub(crate) fn min_level() -> i32 {
    zstd_safe::min_c_level()
}

pub(crate) fn max_level() -> i32 {
    zstd_safe::max_c_level()
}

impl Zstd {
    pub(crate) fn new(level: i32) -> Self {
        Self {
            level,
            stream: None,
            frame: Frame::None,
            chunk: ChunkBuffer::new(0),
            whole: Vec::new(),
        }
    }

    pub(crate) fn compress(&mut self, data: &[u8], out: &mut impl FnMut(&[u8])) -> Result<()> {
        if self.frame == Frame::Raw {
            self.chunk.append(&RAW_FRAME_END, out);
        }
        self.frame = Frame::Compressed;
        let mut input = InBuffer::around(data);
        while input.pos() < data.len() {
            self.step(&mut input, ZSTD_EndDirective::ZSTD_e_continue, out)?;
        }
        Ok(())
    }

    pub(crate) fn store(&mut self, data: &[u8], out: &mut impl FnMut(&[u8])) -> Result<()> {
        if self.frame == Frame::Compressed {
            self.drain(ZSTD_EndDirective::ZSTD_e_end, out)?;
            self.frame = Frame::None;
        }
        if self.frame == Frame::None {
            self.make_room(RAW_FRAME_HEAD.len(), out);
            self.chunk.append(&RAW_FRAME_HEAD, out);
            self.frame = Frame::Raw;
        }
        let mut rest = data;
        while !rest.is_empty() {
            self.make_room(RAW_BLOCK_HEAD + 1, out);
            let room = self.chunk.room().len() - RAW_BLOCK_HEAD;
            let (piece, later) = rest.split_at(rest.len().min(room));
            // Type and "last" bit of a raw block are zero, its length stands above them.
            let head = ((piece.len() as u32) << 3).to_le_bytes();
            self.chunk.append(&head[..RAW_BLOCK_HEAD], out);
            self.chunk.append(piece, out);
            rest = later;
        }
        Ok(())
    }

    pub(crate) fn end_run(&mut self, out: &mut impl FnMut(&[u8])) -> Result<()> {
        if self.frame == Frame::Compressed {
            self.drain(ZSTD_EndDirective::ZSTD_e_flush, out)?;
        }
        self.chunk.finish(out);
        Ok(())
    }

    /// Compresses a whole file into a frame of its own, which costs less than the open one: the
    /// tables suit its length, and nothing is copied in between.
    pub(crate) fn whole(&mut self, data: &[u8], out: &mut impl FnMut(&[u8])) -> Result<()> {
        self.close(out)?;
        let stream = match &mut self.stream {
            Some(stream) => stream,
            none => none.insert(open(self.level)?),
        };
        self.whole.clear();
        self.whole.reserve(zstd_safe::compress_bound(data.len()));
        stream.compress2(&mut self.whole, data).map_err(failed)?;
        self.whole.chunks(CHUNK_MAX).for_each(out);
        Ok(())
    }

    /// Ends the open frame, whoever opened it: the next bytes of the stream may be another's frame.
    pub(crate) fn close(&mut self, out: &mut impl FnMut(&[u8])) -> Result<()> {
        match self.frame {
            Frame::None => {}
            Frame::Compressed => self.drain(ZSTD_EndDirective::ZSTD_e_end, out)?,
            Frame::Raw => self.chunk.append(&RAW_FRAME_END, out),
        }
        self.frame = Frame::None;
        self.chunk.finish(out);
        Ok(())
    }

    fn drain(&mut self, how: ZSTD_EndDirective, out: &mut impl FnMut(&[u8])) -> Result<()> {
        while self.step(&mut InBuffer::around(&[]), how, out)? > 0 {}
        Ok(())
    }

    /// Runs the compressor once; returns how many bytes it still holds, at least.
    fn step(
        &mut self,
        input: &mut InBuffer<'_>,
        how: ZSTD_EndDirective,
        out: &mut impl FnMut(&[u8]),
    ) -> Result<usize> {
        let stream = match &mut self.stream {
            Some(stream) => stream,
            none => none.insert(open(self.level)?),
        };
        let mut room = OutBuffer::around(self.chunk.room());
        let held = stream.compress_stream2(&mut room, input, how).map_err(failed)?;
        let made = room.pos();
        self.chunk.wrote(made, out);
        Ok(held)
    }

    /// Hands out an incomplete chunk if it has less room than this.
    fn make_room(&mut self, need: usize, out: &mut impl FnMut(&[u8])) {
        if self.chunk.room().len() < need {
            self.chunk.finish(out);
        }
    }
}

fn open(level: i32) -> Result<CCtx<'static>> {
    let mut stream = CCtx::try_create()
        .ok_or_else(|| Error::Codec { codec: "zstd", reason: "out of memory".into() })?;
    stream.set_parameter(CParameter::CompressionLevel(level)).map_err(failed)?;
    Ok(stream)
}

fn failed(code: usize) -> Error {
    Error::Codec { codec: "zstd", reason: zstd_safe::get_error_name(code).into() }
}
