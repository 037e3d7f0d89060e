//! Which block of the basis stands at which offset of the file?
//!
//! The strong sum of an offset is computed once at most. Those that led to nothing are counted in
//! bytes, and when they exceed [`WASTE_FACTOR`] times the bytes passed, no more are spent except
//! right behind a match and at multiples of the block length. So no content and no set of sums
//! makes the search slower than linear in the size of the file.

use std::io;

use crate::digest::Digest;
use crate::index::{Index, Placement};
use crate::output::Output;
use crate::search::{Event, Stats};
use crate::strong::StrongSum;
use crate::weak::Rolling;

/// Bytes of useless strong sums that are free at the start of every file.
const WASTE_FREE: u64 = 16 << 20;

/// Bytes of useless strong sums that each byte of the file then pays for.
const WASTE_FACTOR: u64 = 16;

/// Different blocks that may share a weak sum.
const MAX_ALIKE: usize = 8;

/// The state of one search.
pub(crate) struct Matcher<'a> {
    index: &'a Index,
    strong: StrongSum,
    block_len: usize,
    full_blocks: u32,
    /// The block that would continue the last match.
    expected: u32,
    /// In place: a bit for each block that was sent at its own place, hence still is what it was.
    untouched: Vec<u64>,
    wasted: u64,
}

/// An offset of the file that is being compared with blocks.
struct Spot<'a> {
    data: &'a [u8],
    weak: u32,
    offset: u64,
    /// The offset follows a match, or begins the file.
    after_match: bool,
    digest: Option<Digest>,
}

impl<'a> Matcher<'a> {
    pub(crate) fn new(index: &'a Index, strong: StrongSum) -> Self {
        let head = index.sums().head();
        let full_blocks = head.full_blocks().min(index.sums().len());
        let untouched = match index.placement() {
            Placement::Anywhere => Vec::new(),
            Placement::InPlace => vec![0; full_blocks as usize / 64 + 1],
        };
        Self {
            index,
            strong,
            block_len: head.block_len as usize,
            full_blocks,
            expected: 0,
            untouched,
            wasted: 0,
        }
    }

    /// Hands out matches until the window has reached the end of the file and no block is left in
    /// what is unsent.
    pub(crate) fn run<R, S, E>(mut self, output: &mut Output<'_, R, S>) -> Result<(), E>
    where
        R: FnMut(&mut [u8]) -> io::Result<usize>,
        S: FnMut(Event<'_>) -> Result<(), E>,
    {
        while self.full_blocks > 0 {
            if output.window.bytes().len() < output.unsent + self.block_len {
                output.slide(output.unsent)?;
            }
            let Some((block, pos)) = self.next_match(output)? else {
                break;
            };
            self.note_match(block, output.window.offset() + pos as u64);
            output.matched(block, pos..pos + self.block_len)?;
        }
        while !output.window.at_end() {
            let end = output.window.bytes().len();
            output.slide(end.saturating_sub(self.block_len).max(output.unsent))?;
        }
        self.match_short_last(output)
    }

    /// Searches from the first unsent byte on; returns a block and its place in the window.
    fn next_match<R, S, E>(
        &mut self,
        output: &mut Output<'_, R, S>,
    ) -> Result<Option<(u32, usize)>, E>
    where
        R: FnMut(&mut [u8]) -> io::Result<usize>,
        S: FnMut(Event<'_>) -> Result<(), E>,
    {
        let mut pos = output.unsent;
        let Some(data) = output.window.bytes().get(pos..pos + self.block_len) else {
            return Ok(None);
        };
        let mut rolling = Rolling::over(data);
        let mut after_match = true;
        let mut wanted = true;
        loop {
            if wanted {
                let spot = Spot {
                    data: &output.window.bytes()[pos..pos + self.block_len],
                    weak: rolling.value(),
                    offset: output.window.offset() + pos as u64,
                    after_match,
                    digest: None,
                };
                if let Some(block) = self.find(spot, &mut output.stats) {
                    return Ok(Some((block, pos)));
                }
            } else if output.window.at_end() {
                return Ok(None);
            } else {
                output.slide(pos)?;
                pos = 0;
            }
            after_match = false;
            let leaving = &output.window.bytes()[pos..];
            let entering = &leaving[self.block_len..];
            let moved;
            (moved, wanted) = rolling.roll_until(leaving, entering, self.index.prefilter());
            pos += moved;
        }
    }

    /// Returns the best block for one offset.
    fn find(&mut self, mut spot: Spot<'_>, stats: &mut Stats) -> Option<u32> {
        let free = spot.after_match || spot.offset.is_multiple_of(self.block_len as u64);
        if !free && !self.worth_a_strong_sum(&spot) {
            return None;
        }
        let expected = self.with_weak(self.expected, spot.weak);
        let own_place =
            self.block_at(spot.offset).and_then(|block| self.with_weak(block, spot.weak));
        // In place, a block at its own place costs the receiver nothing.
        let hints = match self.index.placement() {
            Placement::Anywhere => [expected, own_place],
            Placement::InPlace => [own_place, expected],
        };
        let found = hints
            .into_iter()
            .flatten()
            .chain(self.distinctive(spot.weak))
            .find(|&block| self.allowed(block, spot.offset) && self.equal(block, &mut spot));
        stats.hash_hits += u64::from(found.is_some() || spot.digest.is_some());
        if found.is_none() && spot.digest.is_some() {
            stats.false_alarms += 1;
            self.wasted += self.block_len as u64;
        }
        found
    }

    /// Tells whether an offset of no special place may be compared by strong sums.
    fn worth_a_strong_sum(&self, spot: &Spot<'_>) -> bool {
        let allowance = WASTE_FREE + WASTE_FACTOR.saturating_mul(spot.offset);
        self.wasted <= allowance && self.distinctive(spot.weak).next().is_some()
    }

    /// Returns the blocks with this weak sum, unless there are so many that it says nothing: short
    /// strong sums would then agree by chance, and the whole file be sent again.
    fn distinctive(&self, weak: u32) -> impl Iterator<Item = u32> + '_ {
        let alike = self.index.candidates(weak).take(MAX_ALIKE + 1).count();
        let few = if alike > MAX_ALIKE { 0 } else { alike };
        self.index.candidates(weak).take(few)
    }

    /// Matches the last block, if it is short, at the very end of the file.
    fn match_short_last<R, S, E>(&mut self, output: &mut Output<'_, R, S>) -> Result<(), E>
    where
        R: FnMut(&mut [u8]) -> io::Result<usize>,
        S: FnMut(Event<'_>) -> Result<(), E>,
    {
        let sums = self.index.sums();
        let Some(short_len) = sums.head().short_len() else {
            return Ok(());
        };
        let block = sums.head().count - 1;
        let end = output.window.bytes().len();
        let Some(pos) = end.checked_sub(short_len) else {
            return Ok(());
        };
        if pos < output.unsent {
            return Ok(());
        }
        let offset = output.window.offset() + pos as u64;
        let data = &output.window.bytes()[pos..];
        let mut spot = Spot {
            data,
            weak: Rolling::over(data).value(),
            offset,
            after_match: true,
            digest: None,
        };
        let fits = sums.weak(block) == Some(spot.weak)
            && self.allowed(block, offset)
            && self.equal(block, &mut spot);
        match fits {
            true => output.matched(block, pos..end),
            false => Ok(()),
        }
    }

    fn note_match(&mut self, block: u32, offset: u64) {
        self.expected = block + 1;
        let own_place = u64::from(block) * self.block_len as u64 == offset;
        if own_place && let Some(word) = self.untouched.get_mut(block as usize / 64) {
            *word |= 1 << (block % 64);
        }
    }

    /// Returns the block if it is a full one with this weak sum.
    fn with_weak(&self, block: u32, weak: u32) -> Option<u32> {
        (block < self.full_blocks && self.index.sums().weak(block) == Some(weak)).then_some(block)
    }

    /// Returns the block that the basis has at this offset, if one begins there.
    fn block_at(&self, offset: u64) -> Option<u32> {
        let block_len = self.block_len as u64;
        if !offset.is_multiple_of(block_len) {
            return None;
        }
        u32::try_from(offset / block_len).ok()
    }

    /// Tells whether the receiver still has the block when its output has come to `offset`.
    fn allowed(&self, block: u32, offset: u64) -> bool {
        if self.index.placement() == Placement::Anywhere {
            return true;
        }
        let word = self.untouched.get(block as usize / 64).copied();
        u64::from(block) * self.block_len as u64 >= offset
            || word.unwrap_or_default() >> (block % 64) & 1 != 0
    }

    /// Compares strong sums; one that the peer sent longer than the digest counts as cut.
    fn equal(&self, block: u32, spot: &mut Spot<'_>) -> bool {
        let digest = spot.digest.get_or_insert_with(|| self.strong.block(spot.data));
        let theirs = self.index.sums().strong(block);
        let len = theirs.len().min(digest.as_bytes().len());
        len > 0 && theirs[..len] == digest.as_bytes()[..len]
    }
}
