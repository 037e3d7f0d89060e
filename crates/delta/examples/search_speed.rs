//! How fast are the weak sum and the search on this machine?
//!
//! `cargo run --release -p delta --example search_speed [MIB]` prints gigabytes a second. The last
//! rows are a yardstick: `fast_rsync`, which speaks librsync's format and not rsync's.

use std::hint::black_box;
use std::time::Instant;

use fast_rsync::{Signature, SignatureOptions};

use delta::block_size::{Certainty, head};
use delta::{
    BlockSums, Event, FileSum, Index, Outcome, Placement, Plan, Searcher, SeedOrder, StrongSum,
    SumKind, weak_sum,
};

const ROUNDS: usize = 15;
const KIND: SumKind = SumKind::Xxh128;

fn main() {
    let mib: usize = std::env::args().nth(1).and_then(|arg| arg.parse().ok()).unwrap_or(64);
    let random = noise(mib << 20, 1);
    let other = noise(mib << 20, 2);
    let zeros = vec![0; mib << 20];

    report("weak sum, 4 KiB blocks", random.len(), || {
        random.chunks(4096).map(weak_sum).fold(0, |a, b| a ^ b)
    });
    report("strong sum, 4 KiB blocks", random.len(), || {
        let strong = StrongSum::new(KIND, 1, SeedOrder::First);
        random.chunks(4096).map(|data| strong.block(data).as_bytes()[0]).fold(0, |a, b| a ^ b)
    });
    report("file sum", random.len(), || {
        let mut sum = FileSum::new(KIND, 0);
        random.chunks(128 << 10).for_each(|data| sum.update(data));
        sum.finish()
    });
    let copy_only = |new: &[u8]| search(new, None);
    report("no basis", random.len(), || copy_only(&random));
    for block_len in [700, 4096, 44 << 10] {
        let index = index(&random, block_len);
        let name = |what: &str| format!("{what}, {block_len}-byte blocks");
        report(&name("equal file"), random.len(), || search(&random, Some(&index)));
        report(&name("no match"), other.len(), || search(&other, Some(&index)));
    }
    let index_of_zeros = index(&zeros, 4096);
    report("all zeros", zeros.len(), || search(&zeros, Some(&index_of_zeros)));
    let shifted = [b"an insertion".as_slice(), &random].concat();
    let index_of_random = index(&random, 4096);
    report("insertion at the start", shifted.len(), || search(&shifted, Some(&index_of_random)));
    yardstick(&random, &shifted, &other);
}

/// What another implementation of the algorithm does with the same bytes and block length.
fn yardstick(basis: &[u8], shifted: &[u8], other: &[u8]) {
    let options = SignatureOptions { block_size: 4096, crypto_hash_size: 8 };
    let signature = Signature::calculate(basis, options);
    let index = signature.index();
    for (name, new) in [("equal", basis), ("insertion", shifted), ("no match", other)] {
        let mut delta = Vec::new();
        report(&format!("fast_rsync, {name}, 4 KiB"), new.len(), || {
            delta.clear();
            fast_rsync::diff(&index, new, &mut delta).is_ok()
        });
    }
}

fn search(new: &[u8], index: Option<&Index>) -> Outcome {
    let mut rest = new;
    let strong = StrongSum::new(KIND, 1, SeedOrder::First);
    let plan = Plan { basis: index.map(|index| (index, strong)), ..Plan::whole(new.len() as u64) };
    let mut sink = |event: Event<'_>| {
        black_box(event);
        Ok::<(), std::io::Error>(())
    };
    let read = |buf: &mut [u8]| std::io::Read::read(&mut rest, buf);
    match Searcher::new().search(read, &plan, FileSum::new(KIND, 0), &mut sink) {
        Ok(outcome) => outcome,
        Err(error) => unreachable!("the sink never fails: {error}"),
    }
}

fn index(basis: &[u8], block_len: u32) -> Index {
    let len = basis.len() as u64;
    let head = head(len, Some(block_len), KIND, Certainty::Normal, 32);
    let strong = StrongSum::new(KIND, 1, SeedOrder::First);
    let mut sums = BlockSums::new(head);
    for block in basis.chunks(block_len as usize) {
        let sum = strong.block(block);
        sums.push(weak_sum(block), &sum.as_bytes()[..head.strong_len as usize]);
    }
    Index::new(sums, Placement::Anywhere)
}

/// Prints the best of some rounds.
fn report<T>(name: &str, bytes: usize, mut work: impl FnMut() -> T) {
    let best = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            black_box(work());
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    println!("{name:<32} {:6.2} GB/s", bytes as f64 / best / 1e9);
}

fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut bytes = Vec::with_capacity(len);
    while bytes.len() < len {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        bytes.extend_from_slice(&(state ^ (state >> 29)).to_le_bytes()[..7]);
    }
    bytes.truncate(len);
    bytes
}
