//! What makes a cell of the matrix, and which are there?

use super::option_sets::{self, OptionSet};
use crate::harness::Way;
use crate::twin::{Pair, Side, TESTED};

/// Who sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Direction {
    /// The client.
    Push,
    /// The server.
    Pull,
}

impl Direction {
    pub(crate) const BOTH: [Direction; 2] = [Direction::Push, Direction::Pull];
}

/// One run.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// The client, and the server.
    pub(crate) pair: Pair,
    pub(crate) direction: Direction,
    pub(crate) way: Way,
    pub(crate) protocol: u32,
    pub(crate) set: OptionSet,
}

impl Cell {
    /// Returns what cells have in common whose result must be the same.
    pub(crate) fn work(&self) -> (Direction, u32, &'static str) {
        (self.direction, self.protocol, self.set.name)
    }

    pub(crate) fn told(&self) -> String {
        let Self { pair: (client, server), direction, way, protocol, set } = self;
        format!(
            "{direction:?} {client:?} to {server:?}, {way:?}, protocol {protocol}, {}",
            set.name
        )
    }
}

/// The pairs that are compared with two stock rsyncs.
pub(crate) const PAIRS: [Pair; 3] =
    [(TESTED, TESTED), (TESTED, Side::Stock), (Side::Stock, TESTED)];

/// Returns every cell of a direction.
pub(crate) fn all(direction: Direction) -> Vec<Cell> {
    let mut cells = Vec::new();
    for set in option_sets::ALL.into_iter().chain(option_sets::SLOW) {
        for protocol in 29..=32 {
            for way in [Way::Pipe, Way::Ssh] {
                let pairs = PAIRS.into_iter();
                cells.extend(pairs.map(|pair| Cell { pair, direction, way, protocol, set }));
            }
        }
    }
    // The large file says the same at every protocol and by every way.
    cells.retain(|cell| !cell.set.slow || (cell.protocol == 32 && cell.way == Way::Pipe));
    cells
}
