//! How a file is put together from literal data and blocks of its basis.

use std::fs::File;
use std::io::{self, BufRead};
use std::os::unix::fs::FileExt;

use delta::codec::{CompressKind, Decompressor};
use delta::{FileSum, Head, SumKind};
use tree::{Ground, SparseWriter};
use wire::limits;
use wire::token::{Token, TokenDecoder};

use crate::error::{Error, Result};
use crate::progress::Watch;

/// Data is written in pieces of this length.
const PIECE: usize = 256 << 10;

/// So much is kept in memory of a file that was announced as a small one; it may have grown.
const MEMORY: usize = 256 << 10;

/// What of the session decides how content is read.
pub(super) struct Decoding {
    protocol: u32,
    sum: SumKind,
    seed: i32,
    tokens: TokenDecoder,
    codec: Option<Decompressor>,
    block: Vec<u8>,
    chunk: Vec<u8>,
}

/// What a file is put together from, and where it goes.
pub(super) struct Work<'w> {
    pub(super) basis: Option<&'w File>,
    pub(super) head: Head,
    pub(super) sink: Sink<'w>,
    /// So much of the file stays and is not sent; it counts in the sum if so wished.
    pub(super) prefix: u64,
    pub(super) prefix_counts: bool,
    pub(super) watch: Watch<'w>,
}

/// Where content goes.
pub(super) enum Sink<'w> {
    /// Nowhere: the file could not be created.
    Nothing,
    /// Into memory, for a small file.
    Memory(Vec<u8>),
    /// Into a file, from its beginning.
    File(Output<'w>),
}

/// A file that is written in order.
pub(super) struct Output<'w> {
    file: &'w File,
    sparse: Option<SparseWriter<'w>>,
    buffer: Vec<u8>,
    /// Where the buffer begins.
    written: u64,
    /// An older file is written over, and cut off behind what is new.
    in_place: bool,
    /// The file is its own basis: a block that stays where it is need not be written.
    keeps_blocks: bool,
}

/// How it came out.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) len: u64,
    pub(super) literal_bytes: u64,
    pub(super) matched_bytes: u64,
    /// Bytes on the wire.
    pub(super) wire_bytes: u64,
    pub(super) is_verified: bool,
    pub(super) sum: Vec<u8>,
    pub(super) data: Vec<u8>,
}

impl<'w> Output<'w> {
    pub(super) fn new(file: &'w File, in_place: bool, is_sparse: bool) -> Self {
        let ground = if in_place { Ground::Old } else { Ground::Empty };
        let sparse = is_sparse.then(|| SparseWriter::new(file, ground));
        Self { file, sparse, buffer: Vec::new(), written: 0, in_place, keeps_blocks: false }
    }

    /// Says that the blocks of the basis are this file's own.
    pub(super) fn keep_blocks(&mut self) {
        self.keeps_blocks = true;
    }

    fn start_at(&mut self, offset: u64) -> io::Result<()> {
        self.written = offset;
        match &mut self.sparse {
            Some(sparse) => sparse.skip(offset),
            None => Ok(()),
        }
    }

    fn offset(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    fn write(&mut self, data: &[u8]) -> io::Result<()> {
        if let Some(sparse) = &mut self.sparse {
            self.written += data.len() as u64;
            return sparse.write(data);
        }
        if self.buffer.is_empty() && data.len() >= PIECE {
            self.file.write_all_at(data, self.written)?;
            self.written += data.len() as u64;
            return Ok(());
        }
        self.buffer.extend_from_slice(data);
        if self.buffer.len() >= PIECE { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all_at(&self.buffer, self.written)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Passes over bytes that are right already.
    fn skip(&mut self, len: u64) -> io::Result<()> {
        self.flush()?;
        self.written += len;
        match &mut self.sparse {
            Some(sparse) => sparse.skip(len),
            None => Ok(()),
        }
    }

    /// Writes what is left and cuts off what an older file had behind it.
    fn finish(mut self, is_device: bool) -> io::Result<()> {
        self.flush()?;
        if let Some(mut sparse) = self.sparse.take() {
            if self.in_place && !self.keeps_blocks {
                sparse.cut_off()?;
            }
            sparse.finish()?;
        }
        match self.in_place && !is_device {
            true => self.file.set_len(self.written),
            false => Ok(()),
        }
    }
}

/// Puts the pieces together, and sums them up.
struct Assembly<'w> {
    sink: Sink<'w>,
    sum: FileSum,
    outcome: Outcome,
    /// It was announced as a small file and is none, so that it has to come again.
    outgrew: bool,
    watch: Watch<'w>,
}

impl Assembly<'_> {
    fn literal(&mut self, data: &[u8]) -> Result<()> {
        self.outcome.literal_bytes += data.len() as u64;
        self.take(data)
    }

    fn take(&mut self, data: &[u8]) -> Result<()> {
        self.sum.update(data);
        self.outcome.len += data.len() as u64;
        match &mut self.sink {
            Sink::Nothing => Ok(()),
            Sink::Memory(memory) if memory.len() + data.len() <= MEMORY => {
                memory.extend_from_slice(data);
                Ok(())
            }
            Sink::Memory(_) => {
                self.outgrew = true;
                self.sink = Sink::Nothing;
                Ok(())
            }
            Sink::File(output) => output.write(data).map_err(Error::Write),
        }
    }

    /// Takes a block of the basis that lies at `offset` there.
    fn matched(&mut self, data: &[u8], offset: u64) -> Result<()> {
        self.outcome.matched_bytes += data.len() as u64;
        if let Sink::File(output) = &mut self.sink
            && output.keeps_blocks
            && output.offset() == offset
        {
            self.sum.update(data);
            self.outcome.len += data.len() as u64;
            return output.skip(data.len() as u64).map_err(Error::Write);
        }
        self.take(data)
    }
}

impl Decoding {
    pub(super) fn new(protocol: u32, sum: SumKind, seed: i32, codec: Option<CompressKind>) -> Self {
        let tokens = match codec {
            Some(_) => TokenDecoder::compressed(),
            None => TokenDecoder::plain(),
        };
        let codec = codec.map(Decompressor::new);
        Self { protocol, sum, seed, tokens, codec, block: Vec::new(), chunk: Vec::new() }
    }

    /// Reads one file up to and including its sum.
    pub(super) fn read<R: BufRead>(
        &mut self,
        r: &mut R,
        work: Work<'_>,
        is_device: bool,
    ) -> Result<Outcome> {
        let Work { basis, head, mut sink, prefix, prefix_counts, watch } = work;
        let mut sum = FileSum::new(self.sum, self.seed);
        if let Sink::File(output) = &mut sink {
            output.start_at(prefix).map_err(Error::Write)?;
        }
        if prefix_counts && let Some(basis) = basis {
            self.sum_prefix(basis, prefix, &mut sum);
        }
        let outcome = Outcome { len: prefix, ..Outcome::default() };
        let mut assembly = Assembly { sink, sum, outcome, outgrew: false, watch };
        self.tokens.start_file();
        if let Some(codec) = &mut self.codec {
            codec.start_file();
        }
        while self.token(r, basis, &head, &mut assembly)? {}
        let Assembly { sink, sum, mut outcome, outgrew, .. } = assembly;
        let expected = sum.finish();
        let mut sent = vec![0; self.sum.file_len()];
        r.read_exact(&mut sent).map_err(wire::Error::from)?;
        outcome.is_verified = sent == expected.as_bytes() && !outgrew;
        outcome.sum = sent;
        match sink {
            Sink::Nothing => {}
            Sink::Memory(data) => outcome.data = data,
            Sink::File(output) => output.finish(is_device).map_err(Error::Write)?,
        }
        Ok(outcome)
    }

    fn sum_prefix(&mut self, basis: &File, prefix: u64, sum: &mut FileSum) {
        self.block.resize(PIECE, 0);
        let mut at = 0;
        while at < prefix {
            let len = usize::try_from(prefix - at).unwrap_or(PIECE).min(PIECE);
            // A prefix that cannot be read gives a wrong sum, and the file comes again.
            if basis.read_exact_at(&mut self.block[..len], at).is_err() {
                return;
            }
            sum.update(&self.block[..len]);
            at += len as u64;
        }
    }

    /// Deals with the next token; false at the end of the file.
    fn token<R: BufRead>(
        &mut self,
        r: &mut R,
        basis: Option<&File>,
        head: &Head,
        assembly: &mut Assembly<'_>,
    ) -> Result<bool> {
        let token = self.tokens.read(r)?;
        if token != Token::End {
            assembly.watch.is_at(assembly.outcome.len);
        }
        match token {
            Token::Literal { len } => {
                assembly.outcome.wire_bytes += 4 + u64::from(len);
                pass(r, len as usize, |data| assembly.literal(data))?;
            }
            Token::Chunk { len } => {
                assembly.outcome.wire_bytes += 2 + u64::from(len);
                self.chunk.resize(usize::from(len), 0);
                r.read_exact(&mut self.chunk).map_err(wire::Error::from)?;
                if let Some(codec) = &mut self.codec {
                    codec.chunk(&self.chunk, &mut |data: &[u8]| assembly.literal(data))?;
                }
            }
            Token::Blocks { first, count } => {
                assembly.outcome.wire_bytes += 4;
                self.end_run(assembly)?;
                self.blocks(basis, head, (first, count), assembly)?;
            }
            Token::End => {
                self.end_run(assembly)?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn end_run(&mut self, assembly: &mut Assembly<'_>) -> Result<()> {
        match &mut self.codec {
            Some(codec) => codec.end_run(&mut |data: &[u8]| assembly.literal(data)),
            None => Ok(()),
        }
    }

    fn blocks(
        &mut self,
        basis: Option<&File>,
        head: &Head,
        (first, count): (u32, u32),
        assembly: &mut Assembly<'_>,
    ) -> Result<()> {
        if u64::from(first) + u64::from(count) > u64::from(head.count) {
            let text = format!("it refers to block {first} and on of {}", head.count);
            return Err(wire::Error::Protocol(text).into());
        }
        for block in first..first + count {
            let offset = u64::from(block) * u64::from(head.block_len);
            let is_last = block + 1 == head.count && head.remainder > 0;
            let len = if is_last { head.remainder } else { head.block_len };
            self.block.resize(len as usize, 0);
            // What cannot be read any more makes the sum wrong, and the file comes again.
            if basis.is_none_or(|basis| basis.read_exact_at(&mut self.block, offset).is_err()) {
                self.block.fill(0);
            }
            if let Some(codec) = &mut self.codec {
                codec.matched(&self.block, self.protocol);
            }
            assembly.matched(&self.block, offset)?;
        }
        Ok(())
    }
}

/// Hands `len` bytes on as they come.
fn pass<R: BufRead>(
    r: &mut R,
    mut len: usize,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    while len > 0 {
        let ready = r.fill_buf().map_err(wire::Error::from)?;
        if ready.is_empty() {
            return Err(wire::Error::Closed.into());
        }
        let piece = ready.len().min(len).min(limits::FRAME);
        take(&ready[..piece])?;
        r.consume(piece);
        len -= piece;
    }
    Ok(())
}
