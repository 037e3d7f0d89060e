//! What is sent of a file that changes while it is read?

use std::io;

use delta::{Damage, FileSum, Placement, Plan, SeedOrder, StrongSum, SumKind};

use super::receiver::apply;
use super::recording::lcg;
use super::sender::{Step, describe, run, search};

const SUM: SumKind = SumKind::Xxh128;

#[test]
fn a_file_that_shrank_is_filled_with_zeros_and_its_sum_is_wrong() {
    let there = lcg(1, 300_000);
    let (steps, outcome) = search(&there, 1000, &Plan::whole(900_000), SUM);
    let promised = [there.as_slice(), &[0; 600_000]].concat();
    assert_eq!(steps, [Step::Literal(promised)]);
    assert!(matches!(outcome.damage, Some(Damage::Shrank { at: 300_000 })));
    assert_eq!(outcome.file_sum.as_bytes(), [0; 16]);
}

#[test]
fn a_file_without_sum_kind_is_spoiled_too() {
    let (_, outcome) = search(b"", 1, &Plan::whole(5), SumKind::None);
    assert_eq!(outcome.file_sum.as_bytes(), [1]);
}

#[test]
fn a_read_error_ends_the_reading_and_is_reported() {
    let mut reads = 0;
    let read = |buf: &mut [u8]| {
        reads += 1;
        match reads {
            1 => Err(io::ErrorKind::Interrupted.into()),
            2 => {
                buf[..10].fill(7);
                Ok(10)
            }
            3 => Err(io::Error::other("bad sector")),
            _ => panic!("read again after an error"),
        }
    };
    let (steps, outcome) = run(read, &Plan::whole(1 << 20), SUM);
    let Some(Damage::Failed { at: 10, error }) = outcome.damage else {
        panic!("{:?}", outcome.damage);
    };
    assert_eq!(error.to_string(), "bad sector");
    assert_eq!(outcome.stats.literal_bytes, 1 << 20);
    assert_eq!(steps.len(), 1);
}

#[test]
fn a_file_that_grew_is_read_to_the_promised_size_only() {
    let there = lcg(1, 5000);
    let (steps, outcome) = search(&there, 700, &Plan::whole(3000), SUM);
    assert_eq!(steps, [Step::Literal(there[..3000].to_vec())]);
    let mut sum = FileSum::new(SUM, 0);
    sum.update(&there[..3000]);
    assert_eq!(outcome.file_sum, sum.finish());
    assert!(outcome.damage.is_none());
}

#[test]
fn a_file_that_shrank_during_a_delta_still_has_the_promised_size() {
    let basis = lcg(5, 40_000);
    let strong = StrongSum::new(SUM, 1, SeedOrder::First);
    let sums = describe(&basis, 700, 4, strong);
    let head = *sums.head();
    let index = delta::Index::new(sums, Placement::Anywhere);
    let plan = Plan { basis: Some((&index, strong)), ..Plan::whole(40_000) };
    let (steps, outcome) = search(&basis[..10_000], 64, &plan, SUM);
    let promised = [&basis[..10_000], &[0; 30_000]].concat();
    assert_eq!(apply(&steps, &basis, &head), promised);
    assert!(matches!(outcome.damage, Some(Damage::Shrank { at: 10_000 })));
    assert_eq!(outcome.stats.matches, 14);
}
