//! Does every pair of rsyncs do the same work as two stock ones, whoever sends, by whatever way?
//!
//! A run takes a seeded sample. With `MATRIX=full` in the environment, which `sh tests/run.sh --full` sets, it takes
//! every cell and writes `RESULTS.md` beside this file; with the name of an option set there, every cell of that set.

mod bench;
mod cells;
mod option_sets;
mod results;

use std::path::PathBuf;

use crate::harness::Way;
use crate::harness::random::Random;
use bench::Bench;
use cells::{Cell, Direction};
use results::Verdict;

/// How many kinds of work of each direction a usual run gives to each pair: about a minute on two cores.
const SAMPLE: usize = 12;

/// Another seed takes other cells.
const SEED: u64 = 3;

#[test]
fn every_pair_does_the_work_of_two_stock_rsyncs() {
    let wish = std::env::var("MATRIX").ok();
    let wish = wish.as_deref();
    let verdicts: Vec<Verdict> = std::thread::scope(|scope| {
        let halves = Direction::BOTH.map(|direction| scope.spawn(move || run(direction, wish)));
        halves.into_iter().flat_map(|half| half.join().unwrap()).collect()
    });
    if wish == Some("full") {
        let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/matrix/RESULTS.md");
        std::fs::write(beside, results::table(&verdicts)).unwrap();
    }
    let failed: Vec<_> = verdicts.iter().filter_map(Verdict::failure).collect();
    let count = failed.len();
    assert!(count == 0, "{count} of {} cells differ\n\n{}", verdicts.len(), failed.join("\n\n"));
}

fn run(direction: Direction, wish: Option<&str>) -> Vec<Verdict> {
    let mut cells = cells::all(direction);
    match wish {
        None => cells = sample(&cells),
        Some("full") => {}
        Some(set) => cells.retain(|cell| cell.set.name == set),
    }
    assert!(!cells.is_empty(), "no option set is called {wish:?}");
    // Cells of one set follow each other, so that the work of two stock rsyncs is done once for all of them.
    cells.sort_by_key(Cell::work);
    let mut bench = Bench::set_up();
    cells.into_iter().map(|cell| bench.judge(cell)).collect()
}

/// Takes some kinds of work, each for every pair, by one way or the other.
fn sample(cells: &[Cell]) -> Vec<Cell> {
    let mut random = Random::new(SEED);
    let mut works: Vec<_> = cells.iter().filter(|cell| !cell.set.slow).map(Cell::work).collect();
    works.dedup();
    let mut taken = Vec::new();
    for _ in 0..SAMPLE {
        let work = works.swap_remove(random.below(works.len()));
        for pair in cells::PAIRS {
            let way = if random.below(2) == 0 { Way::Pipe } else { Way::Ssh };
            let is_meant = |cell: &&Cell| (cell.work(), cell.pair, cell.way) == (work, pair, way);
            taken.extend(cells.iter().find(is_meant).cloned());
        }
    }
    taken
}
