//! How a whole file is compressed apart from the connection, so that several are at a time.
//!
//! Every receiver takes frame after frame, so files that are compressed by different threads join
//! to one stream (docs/protocol/transfer.md, "Compressed tokens"). What is lost is the history
//! from file to file; hence only files that are long enough not to miss it.

use std::io::Read;

use delta::codec::{CompressKind, Compressor, Treatment};
use delta::{Digest, FileSum, SumKind};
use tree::Dir;
use wire::token::TokenEncoder;

use crate::error::Result;
use crate::look::Look;
use crate::small_file::{self, Opened};

/// The shortest file that is worth a thread's attention.
const MIN_PACKED: u64 = 96 << 10;
/// The longest file that is held in memory.
const MAX_PACKED: u64 = 4 << 20;

/// What decides how a file is packed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackRules {
    pub(crate) kind: CompressKind,
    pub(crate) level: i32,
    pub(crate) sum: SumKind,
    pub(crate) seed: i32,
}

/// A file in the form in which it goes out.
#[derive(Debug)]
pub(crate) struct Packed {
    /// Its tokens, with their end.
    pub(crate) tokens: Vec<u8>,
    /// The sum of its content.
    pub(crate) sum: Digest,
    /// Its length.
    pub(crate) size: u64,
    /// Whether it was compressed or only framed.
    pub(crate) treatment: Treatment,
}

/// Tells whether a file of this length is packed.
pub(crate) fn is_packed(size: u64) -> bool {
    (MIN_PACKED..=MAX_PACKED).contains(&size)
}

/// Packs files, one after the other.
pub(crate) struct Packer {
    rules: PackRules,
    compressor: Compressor,
}

impl Packer {
    pub(crate) fn new(rules: PackRules) -> Self {
        let compressor = Compressor::new(rules.kind, rules.level);
        Self { rules, compressor }
    }

    /// Reads a file to its present end and packs it.
    pub(crate) fn pack(
        &mut self,
        look: Look,
        dir: &Dir,
        name: &[u8],
        listed_size: u64,
    ) -> Result<Packed> {
        let content = match small_file::open(look, dir, name, listed_size)? {
            Opened::Whole(content) => content,
            Opened::Long(file, size) => read_whole(dir, name, file, size)?,
        };
        let mut sum = FileSum::new(self.rules.sum, self.rules.seed);
        sum.update(&content);
        let mut tokens = Vec::with_capacity(content.len() / 2);
        let mut encoder = TokenEncoder::compressed();
        let mut put = |chunk: &[u8]| {
            encoder.chunk_header(&mut tokens, chunk.len());
            tokens.extend_from_slice(chunk);
        };
        self.compressor.whole_file(&content, &mut put)?;
        encoder.end(&mut tokens);
        let (size, treatment) = (content.len() as u64, self.compressor.treatment());
        let sum = sum.finish();
        Ok(Packed { tokens, sum, size, treatment })
    }
}

fn read_whole(dir: &Dir, name: &[u8], file: std::fs::File, size: u64) -> Result<Vec<u8>> {
    // A file that grows while it is read is taken as long as it was when it was opened.
    let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    match file.take(size).read_to_end(&mut content) {
        Ok(_) => Ok(content),
        Err(source) => Err(tree::Error::Io { op: "read", path: dir.path_of(name), source }.into()),
    }
}
