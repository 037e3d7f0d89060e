//! Does the work stay linear for the worst contents and sums? Counted, not timed.

use delta::{BlockSums, Head, Placement, SeedOrder, StrongSum, SumKind};

use super::receiver::apply;
use super::recording::lcg;
use super::sender::{Step, delta, describe};

const BLOCK: usize = 4096;

fn strong() -> StrongSum {
    StrongSum::new(SumKind::Xxh128, 7, SeedOrder::First)
}

fn sums_of(basis: &[u8]) -> BlockSums {
    describe(basis, BLOCK as u32, 3, strong())
}

/// A block that is not zero and yet has the weak sum of zeros.
fn false_zeros(at: usize) -> Vec<u8> {
    let mut block = vec![0; BLOCK];
    block[at..at + 3].copy_from_slice(&[1, 0xfe, 1]);
    assert_eq!(delta::weak_sum(&block), 0);
    block
}

#[test]
fn zeros_against_zeros_take_one_strong_sum_a_block() {
    for placement in [Placement::Anywhere, Placement::InPlace] {
        let zeros = vec![0; 1 << 22];
        let (_, outcome) = delta(&zeros, sums_of(&zeros), strong(), placement);
        assert_eq!(outcome.stats.matches, (1 << 22) / BLOCK as u64);
        assert_eq!(outcome.stats.false_alarms, 0);
    }
}

#[test]
fn colliding_weak_sums_cost_a_bounded_number_of_strong_sums() {
    let basis: Vec<u8> = (0..2000).flat_map(false_zeros).collect();
    let zeros = vec![0; 1 << 21];
    let (steps, outcome) = delta(&zeros, sums_of(&basis), strong(), Placement::Anywhere);
    assert_eq!(steps, [Step::Literal(zeros)]);
    let budget = (16 << 20) + 16 * (1 << 21) + (1 << 21);
    let spent = outcome.stats.false_alarms * BLOCK as u64;
    assert!(spent <= budget + BLOCK as u64, "{spent}");
}

#[test]
fn after_the_budget_aligned_blocks_are_still_found() {
    let mut basis: Vec<u8> = (0..2000).flat_map(false_zeros).collect();
    let unchanged = lcg(9, 16 * BLOCK);
    basis.extend_from_slice(&unchanged);
    // Far more zeros than the budget covers, then blocks at multiples of the block length.
    let mut new = vec![0; 1 << 20];
    new.extend_from_slice(&unchanged);
    let sums = sums_of(&basis);
    let head = *sums.head();
    let (steps, outcome) = delta(&new, sums, strong(), Placement::Anywhere);
    assert_eq!(outcome.stats.matches, 16);
    assert_eq!(apply(&steps, &basis, &head), new);
}

#[test]
fn a_hint_that_always_collides_is_bounded_too() {
    // One block, expected at every offset, whose weak sum fits everywhere.
    let zeros = vec![0; 1 << 21];
    let (_, outcome) = delta(&zeros, sums_of(&false_zeros(7)), strong(), Placement::Anywhere);
    let budget = (16 << 20) + 17 * (1 << 21) + BLOCK as u64;
    assert!(outcome.stats.false_alarms * BLOCK as u64 <= budget);
}

#[test]
fn shifted_periodic_data_matches_again_after_the_shift() {
    let period = lcg(2, 1000);
    let basis: Vec<u8> = period.iter().copied().cycle().take(1 << 20).collect();
    let new = [b"shift".as_slice(), &basis].concat();
    let sums = sums_of(&basis);
    let head = *sums.head();
    let (steps, outcome) = delta(&new, sums, strong(), Placement::Anywhere);
    assert_eq!(apply(&steps, &basis, &head), new);
    assert!(outcome.stats.literal_bytes < 3 * BLOCK as u64);
    assert_eq!(outcome.stats.false_alarms, 0);
}

#[test]
fn unrelated_data_takes_hardly_any_strong_sum() {
    let (_, outcome) =
        delta(&lcg(1, 1 << 20), sums_of(&lcg(2, 1 << 20)), strong(), Placement::Anywhere);
    assert_eq!(outcome.stats.matches, 0);
    assert!(outcome.stats.false_alarms < 10);
}

#[test]
fn absurd_heads_neither_panic_nor_match() {
    let heads = [
        (0, 700, 0, 0),
        (5, 0, 2, 0),
        (5, u32::MAX, 2, 0),
        (5, 700, 0, 0),
        (5, 700, 2, 700),
        (5, 700, 2, u32::MAX),
        (u32::MAX, 1 << 29, 16, 1),
        (1, 700, 2, 3),
    ];
    let new = lcg(3, 10_000);
    for (count, block_len, strong_len, remainder) in heads {
        let head = Head { count, block_len, strong_len, remainder };
        for pushed in [0, 1, 5, 9] {
            for placement in [Placement::Anywhere, Placement::InPlace] {
                let mut sums = BlockSums::new(head);
                (0..pushed).for_each(|n| sums.push(n, &vec![0; strong_len as usize]));
                let (steps, outcome) = delta(&new, sums, strong(), placement);
                assert_eq!(steps, [Step::Literal(new.clone())]);
                assert_eq!(outcome.stats.matches, 0);
            }
        }
    }
}
