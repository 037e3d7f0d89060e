//! Which blocks have a given weak sum?
//!
//! Nearly every offset of a changed file has a weak sum that no block has. A bitmap answers that
//! with one load, at a few false positives in a hundred; behind it stands a table of block
//! numbers with open addressing. Both the building and a look-up probe at most [`PROBE_LIMIT`]
//! slots, so that a peer who invents sums gains nothing: a block that finds no slot is merely not
//! found at odd places.

use crate::block_sums::BlockSums;

/// Slots that a look-up visits at most.
const PROBE_LIMIT: usize = 64;

const EMPTY: u32 = u32::MAX;

/// Which blocks of the basis a match may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The receiver writes beside the basis: any block at any time.
    Anywhere,
    /// The receiver overwrites the basis: no block that the output has already passed.
    InPlace,
}

/// The block sums of one file, ready to be searched.
#[derive(Debug)]
pub struct Index {
    sums: BlockSums,
    placement: Placement,
    slots: Vec<u32>,
    filter: Vec<u64>,
    filter_shift: u32,
}

impl Index {
    /// Indexes all full blocks; of identical blocks only one.
    pub fn new(sums: BlockSums, placement: Placement) -> Self {
        let blocks = sums.len().min(sums.head().full_blocks());
        let bits = filter_bits(blocks);
        let mut index = Self {
            sums,
            placement,
            slots: vec![EMPTY; blocks as usize * 2],
            filter: vec![0; (bits / 64) as usize],
            filter_shift: 64 - bits.ilog2(),
        };
        // Of identical blocks the first makes the longest runs; in place the last stays usable.
        match placement {
            Placement::Anywhere => (0..blocks).for_each(|block| index.insert(block)),
            Placement::InPlace => (0..blocks).rev().for_each(|block| index.insert(block)),
        }
        index
    }

    /// Returns the sums that the index was made of.
    pub fn sums(&self) -> &BlockSums {
        &self.sums
    }

    pub(crate) fn placement(&self) -> Placement {
        self.placement
    }

    /// Returns a test of whether some block may have a weak sum; its "no" is certain.
    pub(crate) fn prefilter(&self) -> impl Fn(u32) -> bool + Copy + '_ {
        let (words, shift) = (self.filter.as_slice(), self.filter_shift);
        move |weak| {
            let bit = spread(weak) >> shift;
            let word = words.get((bit >> 6) as usize).copied();
            word.unwrap_or_default() >> (bit & 63) & 1 != 0
        }
    }

    /// Visits the blocks that have this weak sum.
    pub(crate) fn candidates(&self, weak: u32) -> impl Iterator<Item = u32> + '_ {
        self.probe(weak)
            .map(|slot| self.slots[slot])
            .take_while(|&block| block != EMPTY)
            .filter(move |&block| self.sums.weak(block) == Some(weak))
    }

    fn insert(&mut self, block: u32) {
        let Some(weak) = self.sums.weak(block) else {
            return;
        };
        let bit = spread(weak) >> self.filter_shift;
        self.filter[(bit >> 6) as usize] |= 1 << (bit & 63);
        for slot in self.probe(weak) {
            let other = self.slots[slot];
            if other == EMPTY {
                self.slots[slot] = block;
                return;
            }
            let same_weak = self.sums.weak(other) == Some(weak);
            if same_weak && self.sums.strong(other) == self.sums.strong(block) {
                return;
            }
        }
    }

    /// Returns the slots to visit for a weak sum, in order.
    fn probe(&self, weak: u32) -> impl Iterator<Item = usize> + use<> {
        let slots = self.slots.len();
        let first = ((spread(weak) & 0xffff_ffff) * slots as u64) >> 32;
        (0..PROBE_LIMIT.min(slots)).map(move |step| (first as usize + step) % slots)
    }
}

/// Returns the size of the prefilter: ample where that still fits a processor's cache.
fn filter_bits(blocks: u32) -> u64 {
    let blocks = u64::from(blocks);
    let ample = (blocks * 64).clamp(1 << 16, 1 << 23);
    ample.max(blocks * 16).next_power_of_two()
}

/// Spreads a weak sum over 64 bits; both halves of it tend to be narrow.
#[inline]
fn spread(weak: u32) -> u64 {
    u64::from(weak).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_sums::Head;

    fn index_of(sums: &[(u32, [u8; 2])], placement: Placement) -> Index {
        let mut blocks = BlockSums::new(Head {
            count: sums.len() as u32,
            block_len: 700,
            strong_len: 2,
            remainder: 0,
        });
        for (weak, strong) in sums {
            blocks.push(*weak, strong);
        }
        Index::new(blocks, placement)
    }

    #[test]
    fn every_distinct_block_is_found_and_a_double_only_once() {
        let sums: Vec<(u32, [u8; 2])> = (0..5000u32)
            .map(|n| (n.wrapping_mul(0x0123_4567), [n as u8, 0]))
            .chain([(0, [0, 0]), (0, [9, 9])])
            .collect();
        let index = index_of(&sums, Placement::Anywhere);
        for (block, (weak, _)) in (0..5000).zip(&sums) {
            assert!(index.prefilter()(*weak));
            assert_eq!(index.candidates(*weak).next(), Some(block));
        }
        assert_eq!(index.candidates(0).collect::<Vec<_>>(), [0, 5001]);
    }

    #[test]
    fn in_place_the_last_of_identical_blocks_is_indexed() {
        let index = index_of(&[(7, [1, 1]); 9], Placement::InPlace);
        assert_eq!(index.candidates(7).collect::<Vec<_>>(), [8]);
    }

    #[test]
    fn a_peer_that_invents_equal_weak_sums_lengthens_no_look_up() {
        let sums: Vec<(u32, [u8; 2])> =
            (0..60_000u32).map(|n| (42, (n as u16).to_le_bytes())).collect();
        let index = index_of(&sums, Placement::Anywhere);
        assert_eq!(index.candidates(42).count(), PROBE_LIMIT);
        assert_eq!(index.candidates(43).count(), 0);
    }

    #[test]
    fn an_empty_index_answers_no() {
        let index = index_of(&[], Placement::Anywhere);
        assert!(!index.prefilter()(0));
        assert_eq!(index.candidates(0).count(), 0);
    }
}
