//! How do the tests run a search?

use std::convert::Infallible;
use std::io;

use delta::{
    BlockSums, Event, FileSum, Head, Index, Outcome, Placement, Plan, Searcher, StrongSum, SumKind,
    signature,
};

/// An event that owns its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Literal(Vec<u8>),
    Match(u32),
}

/// Describes a basis as a generator does.
pub(crate) fn describe(
    basis: &[u8],
    block_len: u32,
    strong_len: u32,
    strong: StrongSum,
) -> BlockSums {
    let head = Head {
        count: basis.len().div_ceil(block_len as usize) as u32,
        block_len,
        strong_len,
        remainder: (basis.len() % block_len as usize) as u32,
    };
    let mut sums = BlockSums::new(head);
    let mut push = |weak: u32, strong: &[u8]| {
        sums.push(weak, strong);
        Ok::<(), io::Error>(())
    };
    signature(basis, &head, &strong, &mut push).unwrap();
    sums
}

/// Searches `new`, read in pieces of at most `read_len`, and joins neighbouring literals.
pub(crate) fn search(
    new: &[u8],
    read_len: usize,
    plan: &Plan<'_>,
    sum: SumKind,
) -> (Vec<Step>, Outcome) {
    let mut rest = new;
    let read = |buf: &mut [u8]| {
        let len = buf.len().min(read_len);
        io::Read::read(&mut rest, &mut buf[..len])
    };
    run(read, plan, sum)
}

pub(crate) fn run(
    read: impl FnMut(&mut [u8]) -> io::Result<usize>,
    plan: &Plan<'_>,
    sum: SumKind,
) -> (Vec<Step>, Outcome) {
    let mut steps = Vec::new();
    let mut sink = |event: Event<'_>| {
        match (event, steps.last_mut()) {
            (Event::Literal(bytes), _) if bytes.len() > delta::LITERAL_MAX || bytes.is_empty() => {
                panic!("a literal of {} bytes", bytes.len())
            }
            (Event::Literal(bytes), Some(Step::Literal(last))) => last.extend_from_slice(bytes),
            (Event::Literal(bytes), _) => steps.push(Step::Literal(bytes.to_vec())),
            (Event::Match { block, .. }, _) => steps.push(Step::Match(block)),
        }
        Ok::<(), Infallible>(())
    };
    let file_sum = FileSum::new(sum, super::recording::SEED);
    let outcome = Searcher::new().search(read, plan, file_sum, &mut sink);
    let outcome = outcome.unwrap();
    (steps, outcome)
}

/// Searches `new` against `basis` under usual conditions.
pub(crate) fn delta(
    new: &[u8],
    sums: BlockSums,
    strong: StrongSum,
    placement: Placement,
) -> (Vec<Step>, Outcome) {
    let index = Index::new(sums, placement);
    let plan = Plan { basis: Some((&index, strong)), ..Plan::whole(new.len() as u64) };
    search(new, usize::MAX, &plan, SumKind::Xxh128)
}
