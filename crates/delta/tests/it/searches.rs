//! Does the delta give the new file, whatever the edits?

use delta::{BlockSums, Index, Placement, Plan, SeedOrder, StrongSum, SumKind};
use proptest::prelude::*;

use super::receiver::{apply, apply_in_place};
use super::recording::lcg;
use super::sender::{Step, delta, describe, search};

const KINDS: [SumKind; 7] = [
    SumKind::Md4Old,
    SumKind::Md4,
    SumKind::Md5,
    SumKind::Sha1,
    SumKind::Xxh64,
    SumKind::Xxh3,
    SumKind::Xxh128,
];

/// A change to a file; places and lengths are parts of its length.
#[derive(Clone, Debug)]
enum Edit {
    Overwrite { at: f64, len: usize, seed: u64 },
    Insert { at: f64, len: usize, seed: u64 },
    Remove { at: f64, len: usize },
    Append { len: usize, seed: u64 },
    Truncate { to: f64 },
    Swap { a: f64, b: f64, len: usize },
    Zero { at: f64, len: usize },
    Repeat { at: f64, len: usize },
}

impl Edit {
    fn apply(&self, file: &mut Vec<u8>) {
        let place = |part: f64, file: &[u8]| (file.len() as f64 * part) as usize;
        match *self {
            Self::Overwrite { at, len, seed } => {
                let at = place(at, file);
                let end = (at + len).min(file.len());
                file.splice(at..end, lcg(seed, end - at));
            }
            Self::Insert { at, len, seed } => {
                let at = place(at, file);
                file.splice(at..at, lcg(seed, len));
            }
            Self::Remove { at, len } => {
                let at = place(at, file);
                file.drain(at..(at + len).min(file.len()));
            }
            Self::Append { len, seed } => file.extend(lcg(seed, len)),
            Self::Truncate { to } => file.truncate(place(to, file)),
            Self::Swap { a, b, len } => {
                let (a, b) = (place(a, file), place(b, file));
                for step in 0..len.min(file.len() - a.max(b)) {
                    file.swap(a + step, b + step);
                }
            }
            Self::Zero { at, len } => {
                let at = place(at, file);
                let end = (at + len).min(file.len());
                file[at..end].fill(0);
            }
            Self::Repeat { at, len } => {
                let at = place(at, file);
                let end = (at + len).min(file.len());
                let copy = file[at..end].repeat(3);
                file.splice(at..at, copy);
            }
        }
    }
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let part = || 0.0..1.0f64;
    let len = || 0usize..3000;
    prop::collection::vec(
        prop_oneof![
            (part(), 0usize..40, 0u64..99).prop_map(|(at, len, seed)| Edit::Overwrite {
                at,
                len,
                seed
            }),
            (part(), len(), 0u64..99).prop_map(|(at, len, seed)| Edit::Insert { at, len, seed }),
            (part(), len()).prop_map(|(at, len)| Edit::Remove { at, len }),
            (len(), 0u64..99).prop_map(|(len, seed)| Edit::Append { len, seed }),
            part().prop_map(|to| Edit::Truncate { to }),
            (part(), part(), len()).prop_map(|(a, b, len)| Edit::Swap { a, b, len }),
            (part(), len()).prop_map(|(at, len)| Edit::Zero { at, len }),
            (part(), len()).prop_map(|(at, len)| Edit::Repeat { at, len }),
        ],
        0..6,
    )
}

/// Contents that differ in how often parts of them repeat.
fn contents() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => (0u64..99, 0usize..30_000).prop_map(|(seed, len)| lcg(seed, len)),
        1 => (0usize..30_000).prop_map(|len| vec![0; len]),
        2 => (1usize..900, 0usize..30_000)
            .prop_map(|(period, len)| lcg(3, period).into_iter().cycle().take(len).collect()),
        1 => (0usize..30_000)
            .prop_map(|len| lcg(4, len).into_iter().map(|byte| byte & 1).collect()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn applied_to_the_basis_the_delta_gives_the_new_file(
        basis in contents(),
        edits in edits(),
        block_len in prop_oneof![Just(16u32), Just(700), 1u32..3000],
        kind in prop::sample::select(&KINDS[..]),
        strong_len in 4u32..=16,
        order in prop_oneof![Just(SeedOrder::First), Just(SeedOrder::Last)],
        read_len in prop_oneof![Just(usize::MAX), 1usize..5000],
        in_place: bool,
    ) {
        let mut new = basis.clone();
        edits.iter().for_each(|edit| edit.apply(&mut new));
        let strong = StrongSum::new(kind, -2, order);
        let sums = describe(&basis, block_len, strong_len.min(kind.block_len() as u32), strong);
        let head = *sums.head();
        let placement = if in_place { Placement::InPlace } else { Placement::Anywhere };
        let index = Index::new(sums, placement);
        let plan = Plan {
            basis: Some((&index, strong)),
            ..Plan::whole(new.len() as u64)
        };
        let (steps, outcome) = search(&new, read_len, &plan, kind);
        let applied = match in_place {
            true => apply_in_place(&steps, &basis, &head),
            false => apply(&steps, &basis, &head),
        };
        prop_assert_eq!(&applied, &new);
        let stats = outcome.stats;
        prop_assert_eq!(stats.literal_bytes + stats.matched_bytes, new.len() as u64);
        let mut sum = delta::FileSum::new(kind, super::recording::SEED);
        sum.update(&new);
        prop_assert_eq!(outcome.file_sum, sum.finish());
    }
}

fn strong() -> StrongSum {
    StrongSum::new(SumKind::Xxh128, 7, SeedOrder::First)
}

#[test]
fn an_equal_file_is_all_blocks_even_with_a_short_last_one() {
    for len in [1, 699, 700, 701, 400_000, 400_001] {
        let basis = lcg(1, len);
        let sums = describe(&basis, 700, 3, strong());
        let count = sums.head().count;
        for placement in [Placement::Anywhere, Placement::InPlace] {
            let sums = describe(&basis, 700, 3, strong());
            let (steps, outcome) = delta(&basis, sums, strong(), placement);
            let expected: Vec<Step> = (0..count).map(Step::Match).collect();
            assert_eq!(steps, expected, "{len}");
            assert_eq!(outcome.stats.false_alarms, 0);
        }
    }
}

#[test]
fn an_insertion_costs_the_block_it_falls_into() {
    let basis = lcg(1, 1 << 20);
    let mut new = basis.clone();
    new.splice(5000..5000, *b"inserted");
    let (_, outcome) =
        delta(&new, describe(&basis, 4096, 3, strong()), strong(), Placement::Anywhere);
    assert_eq!(outcome.stats.literal_bytes, 4096 + 8);
    assert_eq!(outcome.stats.matches, 255);
}

#[test]
fn a_longer_file_behind_a_short_block_is_matched_where_it_can_be() {
    let basis = lcg(1, 1000);
    let new = [&basis[..], b"tail", &basis[700..]].concat();
    let (steps, _) = delta(&new, describe(&basis, 700, 3, strong()), strong(), Placement::Anywhere);
    let middle = [&basis[700..], b"tail"].concat();
    assert_eq!(steps, [Step::Match(0), Step::Literal(middle), Step::Match(1)]);
}

#[test]
fn blocks_that_exceed_the_memory_bound_go_literally() {
    let basis = lcg(1, 70_000);
    let all = describe(&basis, 700, 2, strong());
    let mut few = BlockSums::with_limit(*all.head(), 40 * 18);
    for block in basis.chunks(700) {
        few.push(delta::weak_sum(block), &strong().block(block).as_bytes()[..2]);
    }
    assert_eq!((few.len(), few.dropped()), (40, 60));
    let head = *few.head();
    let (steps, outcome) = delta(&basis, few, strong(), Placement::Anywhere);
    assert_eq!(outcome.stats.matches, 40);
    assert_eq!(apply(&steps, &basis, &head), basis);
}

#[test]
fn in_place_a_block_sent_at_its_own_place_may_be_used_again() {
    let basis = lcg(1, 2800);
    let new = [&basis[..700], &basis[..700], &basis[1400..]].concat();
    let (steps, _) = delta(&new, describe(&basis, 700, 3, strong()), strong(), Placement::InPlace);
    assert_eq!(steps, [0, 0, 2, 3].map(Step::Match));
}

#[test]
fn a_strong_sum_longer_than_the_digest_is_compared_as_far_as_the_digest_goes() {
    let basis = lcg(1, 7000);
    let strong = StrongSum::new(SumKind::Xxh3, 7, SeedOrder::First);
    let mut sums =
        BlockSums::new(delta::Head { count: 10, block_len: 700, strong_len: 16, remainder: 0 });
    for block in basis.chunks(700) {
        let garbage = [strong.block(block).as_bytes(), &[0xee; 8]].concat();
        sums.push(delta::weak_sum(block), &garbage);
    }
    let (steps, _) = delta(&basis, sums, strong, Placement::Anywhere);
    assert_eq!(steps.len(), 10);
    assert!(steps.iter().all(|step| matches!(step, Step::Match(_))));
}
