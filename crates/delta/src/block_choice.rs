//! Which block length should a sender ask the receiver for?
//!
//! A receiver obeys `--block-size`, but it is one number for all files of a session. rsync's own
//! rule balances the sums of one file against one edit in it; with edits scattered all over a large
//! file shorter blocks save most of the bytes, because each edit costs a block. What shorter blocks
//! cost is certain, what they save is not, so that the choice is the shortest block that can never
//! do harm worth mentioning:
//! - the sums and tokens of the largest file may cost [`HARM_PER_MILLE`] of it more than by the
//!   rule;
//! - files to which the rule would give shorter blocks still may together be that part of all
//!   bytes, since an unlucky edit could make them literal as a whole;
//! - sums and index of the largest file take no more than [`PLANNED_MEMORY`].

use crate::block_size::{Certainty, block_len, strong_len};
use crate::block_sums::{OVERHEAD, SUMS_MEMORY_LIMIT};
use crate::digest::SumKind;

/// Files from this size on gain by blocks of 4 KiB and lose nothing.
///
/// Where [`Choice::split`] says so, two sessions divided here serve everybody.
pub const SPLIT_SIZE: u64 = 16 << 20;

/// What a choice may cost beyond the rule in the worst case, in thousandths of the bytes.
pub const HARM_PER_MILLE: f64 = 4.5;

/// Bytes that a choice may make the sums of the largest file take.
pub const PLANNED_MEMORY: u64 = SUMS_MEMORY_LIMIT as u64 / 4;

/// The lengths that are considered.
const POWERS: std::ops::RangeInclusive<u32> = 10..=16;

/// Choices are made before the sides agree on a protocol and on a sum.
const PROTOCOL: u32 = 32;
const SUM: SumKind = SumKind::Xxh128;

/// The sizes of the files that a session may update.
#[derive(Clone, Debug)]
pub struct Sizes {
    largest: u64,
    /// Bytes in files of 2^n bytes to the next power of two.
    bytes: [u64; 64],
}

/// The answer, with its reason in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The number for `--block-size`; `None` leaves it to rsync's rule.
    pub block: Option<u32>,
    /// Two sessions, divided at [`SPLIT_SIZE`], would allow a better choice.
    pub split: bool,
    /// Why.
    pub why: String,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { largest: 0, bytes: [0; 64] }
    }
}

impl Sizes {
    /// Counts a file.
    pub fn add(&mut self, size: u64) {
        self.largest = self.largest.max(size);
        if let Some(class) = size.checked_ilog2() {
            let bytes = &mut self.bytes[class as usize];
            *bytes = bytes.saturating_add(size);
        }
    }

    /// Returns the size of the largest file counted.
    pub fn largest(&self) -> u64 {
        self.largest
    }

    fn total(&self) -> f64 {
        self.bytes.iter().map(|&bytes| bytes as f64).sum()
    }

    /// Returns the bytes in files to which the rule gives blocks shorter than `block`.
    fn harmed_by(&self, block: u32) -> f64 {
        (0u32..)
            .zip(&self.bytes)
            .filter(|&(class, _)| block_len(1 << class, PROTOCOL) < block)
            .map(|(_, &bytes)| bytes as f64)
            .sum()
    }
}

/// Chooses the block length for a session over files of these sizes.
pub fn choose(sizes: &Sizes) -> Choice {
    let rule = block_len(sizes.largest, PROTOCOL);
    let by_rule = |split, why| Choice { block: None, split, why };
    if sizes.largest < SPLIT_SIZE {
        let why = format!(
            "rsync's own rule: the largest file has {} bytes, which gain little by other blocks",
            sizes.largest
        );
        return by_rule(false, why);
    }
    let shortest =
        POWERS.map(|power| 1 << power).find(|&block| affordable(sizes.largest, block, rule));
    let Some(block) = shortest.filter(|&block| block < rule) else {
        let why = format!(
            "rsync's own rule: shorter blocks than its {rule} bytes would cost the largest file \
             ({} bytes) too much",
            sizes.largest
        );
        return by_rule(false, why);
    };
    let harmed = sizes.harmed_by(block);
    if harmed * 1000.0 > sizes.total() * HARM_PER_MILLE {
        let why = format!(
            "{block}-byte blocks would suit the largest file ({} bytes), but {:.1} % of the bytes \
             are in files for which they are too long",
            sizes.largest,
            harmed * 100.0 / sizes.total()
        );
        return by_rule(sizes.largest >= SPLIT_SIZE, why);
    }
    Choice {
        block: Some(block),
        split: false,
        why: format!(
            "{block}-byte blocks instead of the {rule} of rsync's own rule: scattered edits in the \
             largest file ({} bytes) cost less, and if only times changed, the sums take {:.2} % \
             of it instead of {:.2} %",
            sizes.largest,
            share(sizes.largest, block) * 100.0,
            share(sizes.largest, rule) * 100.0
        ),
    }
}

fn affordable(len: u64, block: u32, rule: u32) -> bool {
    let strong_len = strong_len(len, block, SUM, Certainty::Normal);
    let memory = len.div_ceil(block.into()) * (OVERHEAD as u64 + u64::from(strong_len));
    memory <= PLANNED_MEMORY && (share(len, block) - share(len, rule)) * 1000.0 <= HARM_PER_MILLE
}

/// Returns which part of a file's length its sums and its block tokens take on the wire.
fn share(len: u64, block: u32) -> f64 {
    let strong_len = strong_len(len, block, SUM, Certainty::Normal);
    f64::from(4 + strong_len + 4) / f64::from(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(files: &[(u64, u64)]) -> Choice {
        let mut sizes = Sizes::default();
        for &(count, size) in files {
            (0..count).for_each(|_| sizes.add(size));
        }
        choose(&sizes)
    }

    #[test]
    fn a_disk_image_gets_short_blocks() {
        assert_eq!(choice(&[(1, 2 << 30)]).block, Some(4096));
        assert_eq!(choice(&[(1, 64 << 20)]).block, Some(2048));
        // The memory of the sums bounds the choice for the largest files.
        assert_eq!(choice(&[(1, 100 << 30)]).block, Some(64 << 10));
        assert_eq!(choice(&[(1, 4 << 40)]).block, None);
    }

    #[test]
    fn small_files_are_left_to_the_rule() {
        for size in [0, 1, 100_000, 1 << 20] {
            let choice = choice(&[(1000, size)]);
            assert_eq!((choice.block, choice.split), (None, false), "{size}");
        }
    }

    #[test]
    fn many_small_files_beside_an_image_ask_for_two_sessions() {
        let mixed = choice(&[(1, 2 << 30), (5000, 100 << 10)]);
        assert_eq!((mixed.block, mixed.split), (None, true));
        assert!(mixed.why.contains("% of the bytes"), "{}", mixed.why);
        let few = choice(&[(1, 2 << 30), (20, 100 << 10)]);
        assert_eq!(few.block, Some(4096));
    }

    #[test]
    fn the_harm_to_an_unchanged_file_stays_within_half_a_percent() {
        for power in 20..44 {
            for len in [1u64 << power, (1 << power) * 3 / 2, (2 << power) - 1] {
                let Some(block) = choice(&[(1, len)]).block else {
                    continue;
                };
                let rule = block_len(len, PROTOCOL);
                assert!(block < rule);
                assert!(share(len, block) - share(len, rule) <= 0.005, "{len}");
            }
        }
    }
}
