//! Which parts of a file does the receiver already have?
//!
//! The search looks at every offset of the file in turn. Where a block matches it jumps a whole
//! block, and tests first the block that followed the last one in the basis, so that an unchanged
//! file costs one weak sum, one strong sum and the file sum of each byte. Elsewhere the weak sum
//! rolls along and the [`Index`] is asked.
//! Without sums of a basis the file merely streams through, in the largest slices.

use std::io;

use crate::digest::Digest;
use crate::file_sum::FileSum;
use crate::index::Index;
use crate::matcher::Matcher;
use crate::output::Output;
use crate::strong::StrongSum;
use crate::window::{Damage, LITERAL_MAX, READ_LEN, Window};

/// One step of the new content, in file order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// Bytes that the receiver lacks, at most [`LITERAL_MAX`]; whoever frames them cuts them to the
    /// 32768 bytes that a plain token may carry.
    Literal(&'a [u8]),
    /// A block that the receiver has.
    Match {
        /// The number of the block in the basis.
        block: u32,
        /// Its content, which one codec keeps as history.
        data: &'a [u8],
    },
}

/// What is to be searched.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// The size promised to the peer: bytes to read, the held prefix included.
    pub size: u64,
    /// Bytes at the start that count for the file sum but are not sent (`--append-verify`). For
    /// plain `--append` the caller seeks, and gives the size of the tail.
    pub held_prefix: u64,
    /// What the receiver has; without it everything is sent literally.
    pub basis: Option<(&'a Index, StrongSum)>,
}

impl Plan<'_> {
    /// Plans to send a whole file of this size.
    pub fn whole(size: u64) -> Self {
        Self { size, held_prefix: 0, basis: None }
    }
}

/// Counters of one search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Blocks matched.
    pub matches: u64,
    /// Offsets at which some block had the weak sum.
    pub hash_hits: u64,
    /// Strong sums that fitted no block.
    pub false_alarms: u64,
    /// Bytes handed out as literals.
    pub literal_bytes: u64,
    /// Bytes handed out as matched blocks.
    pub matched_bytes: u64,
}

/// What a search ended with.
#[derive(Debug)]
pub struct Outcome {
    /// Its counters.
    pub stats: Stats,
    /// The sum of the file, ready for the wire; deliberately wrong if `damage` is set.
    pub file_sum: Digest,
    /// Why the file could not be read to the promised size, if so.
    pub damage: Option<Damage>,
}

/// Runs searches one after the other in the same memory.
#[derive(Debug, Default)]
pub struct Searcher {
    buf: Vec<u8>,
}

impl Searcher {
    /// Makes a searcher that has no memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a file to the promised size and hands its new content to `sink`.
    ///
    /// `read` works like [`io::Read::read`]. An error of it does not end the search (see
    /// [`Outcome::damage`]); an error of `sink` does.
    pub fn search<R, S, E>(
        &mut self,
        read: R,
        plan: &Plan<'_>,
        file_sum: FileSum,
        sink: &mut S,
    ) -> Result<Outcome, E>
    where
        R: FnMut(&mut [u8]) -> io::Result<usize>,
        S: FnMut(Event<'_>) -> Result<(), E>,
    {
        let basis = plan.basis.filter(|(index, _)| !index.sums().is_empty());
        let block_len = basis.map_or(0, |(index, _)| index.sums().head().block_len as usize);
        let room = LITERAL_MAX.max(block_len + READ_LEN);
        let window = Window::new(&mut self.buf, room, read, plan.size, file_sum);
        let mut output = Output::new(window, sink);
        output.skip(plan.held_prefix.min(plan.size));
        if let Some((index, strong)) = basis {
            Matcher::new(index, strong).run(&mut output)?;
        }
        output.rest()?;
        Ok(output.finish())
    }
}
