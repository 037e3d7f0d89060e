//! How does a receiver put a file together? Written for the tests, on other decoders.

use delta::Head;
use delta::codec::{CHUNK_MAX, CompressKind};
use flate2::{Decompress, FlushDecompress};
use zstd::zstd_safe::{DCtx, InBuffer, OutBuffer};

use super::sender::Step;

/// A compressed token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Chunk(Vec<u8>),
    Block(u32),
    End,
}

pub(crate) fn block_of<'a>(basis: &'a [u8], head: &Head, block: u32) -> &'a [u8] {
    let len = head.block_len as usize;
    let rest = &basis[block as usize * len..];
    &rest[..len.min(rest.len())]
}

/// Applies steps beside the basis.
pub(crate) fn apply(steps: &[Step], basis: &[u8], head: &Head) -> Vec<u8> {
    let mut new = Vec::new();
    for step in steps {
        match step {
            Step::Literal(bytes) => new.extend_from_slice(bytes),
            Step::Match(block) => new.extend_from_slice(block_of(basis, head, *block)),
        }
    }
    new
}

/// Applies steps onto the basis itself, front to back.
pub(crate) fn apply_in_place(steps: &[Step], basis: &[u8], head: &Head) -> Vec<u8> {
    let mut file = basis.to_vec();
    let mut pos = 0;
    for step in steps {
        let bytes = match step {
            Step::Literal(bytes) => bytes.clone(),
            Step::Match(block) => {
                block_of(&file[..file.len().max(basis.len())], head, *block).to_vec()
            }
        };
        if file.len() < pos + bytes.len() {
            file.resize(pos + bytes.len(), 0);
        }
        file[pos..pos + bytes.len()].copy_from_slice(&bytes);
        pos += bytes.len();
    }
    file.truncate(pos);
    file
}

/// Takes uncompressed tokens apart; literals stay as they were cut.
pub(crate) fn plain_tokens(mut tokens: &[u8]) -> Vec<Step> {
    let mut steps = Vec::new();
    loop {
        match i32::from_le_bytes(take(&mut tokens)) {
            0 => break,
            len @ 1.. => {
                let (literal, rest) = tokens.split_at(len as usize);
                steps.push(Step::Literal(literal.to_vec()));
                tokens = rest;
            }
            block => steps.push(Step::Match(-(block + 1) as u32)),
        }
    }
    assert!(tokens.is_empty());
    steps
}

/// Takes compressed tokens apart.
pub(crate) fn compressed_tokens(mut tokens: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut last = 0u32;
    loop {
        let [first] = take(&mut tokens);
        let low = u32::from(first & 0x3f);
        let (block, run) = match first {
            0x00 => break,
            0x20 => (u32::from_le_bytes(take(&mut tokens)), false),
            0x21 => (u32::from_le_bytes(take(&mut tokens)), true),
            0x40..=0x7f => {
                let [second] = take(&mut tokens);
                let len = (low as usize) << 8 | usize::from(second);
                items.push(Item::Chunk(tokens[..len].to_vec()));
                tokens = &tokens[len..];
                continue;
            }
            0x80..=0xbf => (last + low, false),
            0xc0.. => (last + low, true),
            _ => panic!("token {first:#x}"),
        };
        let extra = match run {
            true => u32::from(u16::from_le_bytes(take(&mut tokens))),
            false => 0,
        };
        items.extend((block..=block + extra).map(Item::Block));
        last = block + extra;
    }
    assert!(tokens.is_empty());
    items.push(Item::End);
    items
}

fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let (head, rest) = bytes.split_at(N);
    *bytes = rest;
    head.try_into().unwrap()
}

/// The decompressing half of a session.
pub(crate) struct Decoder {
    codec: Codec,
    protocol: u32,
}

enum Codec {
    Inflate { stream: Decompress, history: bool },
    Zstd(DCtx<'static>),
    Lz4,
}

impl Decoder {
    pub(crate) fn new(kind: CompressKind, protocol: u32) -> Self {
        let inflate = |history| Codec::Inflate { stream: Decompress::new(false), history };
        let codec = match kind {
            CompressKind::Zlib => inflate(true),
            CompressKind::Zlibx => inflate(false),
            CompressKind::Zstd => Codec::Zstd(DCtx::create()),
            CompressKind::Lz4 => Codec::Lz4,
        };
        Self { codec, protocol }
    }

    /// Receives one file.
    pub(crate) fn file(&mut self, items: &[Item], basis: &[u8], head: &Head) -> Vec<u8> {
        if let Codec::Inflate { stream, .. } = &mut self.codec {
            stream.reset(false);
        }
        let mut new = Vec::new();
        let mut in_run = false;
        for item in items {
            if let Item::Chunk(chunk) = item {
                assert!((1..=CHUNK_MAX).contains(&chunk.len()));
                new.extend(self.chunk(chunk));
                in_run = true;
                continue;
            }
            if std::mem::take(&mut in_run)
                && let Codec::Inflate { stream, .. } = &mut self.codec
            {
                new.extend(inflate(stream, &[0x00, 0x00, 0xff, 0xff]));
            }
            if let Item::Block(block) = item {
                let data = block_of(basis, head, *block);
                self.insert(data);
                new.extend_from_slice(data);
            }
        }
        new
    }

    fn chunk(&mut self, chunk: &[u8]) -> Vec<u8> {
        match &mut self.codec {
            Codec::Inflate { stream, .. } => inflate(stream, chunk),
            Codec::Zstd(stream) => unzstd(stream, chunk),
            Codec::Lz4 => lz4_flex::block::decompress(chunk, 32768).unwrap(),
        }
    }

    /// Puts a matched block into the window, with the mistake that old protocols make.
    fn insert(&mut self, block: &[u8]) {
        let Codec::Inflate { stream, history: true } = &mut self.codec else {
            return;
        };
        let mut left = block.len();
        while left > 0 {
            let len = left.min(0xffff);
            let start = match self.protocol {
                31.. => block.len() - left,
                _ => 0,
            };
            let mut stored = vec![0x00];
            stored.extend((len as u16).to_le_bytes());
            stored.extend((!(len as u16)).to_le_bytes());
            stored.extend_from_slice(&block[start..start + len]);
            inflate(stream, &stored);
            left -= len;
        }
    }
}

fn inflate(stream: &mut Decompress, mut data: &[u8]) -> Vec<u8> {
    let mut output = Vec::new();
    loop {
        let mut piece = Vec::with_capacity(1 << 16);
        let before = stream.total_in();
        stream.decompress_vec(data, &mut piece, FlushDecompress::Sync).unwrap();
        data = &data[(stream.total_in() - before) as usize..];
        let full = piece.len() == piece.capacity();
        output.append(&mut piece);
        if data.is_empty() && !full {
            return output;
        }
    }
}

fn unzstd(stream: &mut DCtx<'static>, data: &[u8]) -> Vec<u8> {
    let mut output = Vec::new();
    let mut input = InBuffer::around(data);
    loop {
        let mut piece = vec![0; 1 << 16];
        let mut room = OutBuffer::around(piece.as_mut_slice());
        stream.decompress_stream(&mut room, &mut input).unwrap();
        let len = room.pos();
        output.extend_from_slice(&piece[..len]);
        if input.pos() == data.len() && len < piece.len() {
            return output;
        }
    }
}
