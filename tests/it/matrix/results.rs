//! How do the verdicts stand in a table?

use std::fmt::Write;

use super::cells::{Cell, Direction, PAIRS};
use crate::twin::Pair;

/// How many lines of a difference a message shows.
const SHOWN: usize = 1000;

/// Longer lines are those of the deep folders, which say nothing new.
const LONGEST_SHOWN: usize = 200;

/// What was found in a cell.
pub(crate) struct Verdict {
    pub(crate) cell: Cell,
    pub(crate) differences: Vec<String>,
}

impl Verdict {
    /// Returns what to say of a cell that differs from the work of two stock rsyncs.
    pub(crate) fn failure(&self) -> Option<String> {
        let told = self.differences.join("\n  ");
        let is_short = |line: &&str| line.len() < LONGEST_SHOWN;
        let shown: Vec<_> = told.lines().filter(is_short).take(SHOWN).collect();
        (!self.differences.is_empty())
            .then(|| format!("CELL {}:\n  {}", self.cell.told(), shown.join("\n")))
    }
}

/// Returns the table of a full run: a line for each set, a column for each pair and direction.
pub(crate) fn table(verdicts: &[Verdict]) -> String {
    let equal = verdicts.iter().filter(|verdict| verdict.differences.is_empty()).count();
    let mut text = String::from("# The pairing matrix\n\n");
    writeln!(text, "Written by `sh tests/run.sh --full`. {equal} of {} cells leave the code, the itemized output and", verdicts.len()).unwrap();
    text.push_str("the tree that two stock rsyncs leave. A cell of the table counts protocols 29 to 32, each over a pipe and over ssh.\n\n");
    let columns: Vec<_> = Direction::BOTH
        .into_iter()
        .flat_map(|direction| PAIRS.map(|pair| (direction, pair)))
        .collect();
    text.push_str("| options |");
    for (direction, (client, server)) in &columns {
        write!(text, " {direction:?}: {client:?} to {server:?} |").unwrap();
    }
    writeln!(text, "\n|---|{}", "---|".repeat(columns.len())).unwrap();
    for name in names(verdicts) {
        write!(text, "| {name} |").unwrap();
        for column in &columns {
            write!(text, " {} |", count(verdicts, name, *column)).unwrap();
        }
        text.push('\n');
    }
    let failed: Vec<_> =
        verdicts.iter().filter(|verdict| !verdict.differences.is_empty()).collect();
    if !failed.is_empty() {
        text.push_str("\nCells that differ:\n\n");
    }
    for verdict in failed {
        let first = verdict.differences[0].lines().next().unwrap_or_default();
        writeln!(text, "- {}: `{first}`", verdict.cell.told()).unwrap();
    }
    text
}

/// Returns the names of the sets in the order of the matrix.
fn names(verdicts: &[Verdict]) -> Vec<&'static str> {
    let sets = super::option_sets::ALL.iter().chain(&super::option_sets::SLOW);
    let names = sets.map(|set| set.name);
    names.filter(|name| verdicts.iter().any(|verdict| verdict.cell.set.name == *name)).collect()
}

fn count(verdicts: &[Verdict], name: &str, column: (Direction, Pair)) -> String {
    let is_meant = |verdict: &&Verdict| {
        let cell = &verdict.cell;
        cell.set.name == name && (cell.direction, cell.pair) == column
    };
    let meant: Vec<_> = verdicts.iter().filter(is_meant).collect();
    let equal = meant.iter().filter(|verdict| verdict.differences.is_empty()).count();
    if equal == meant.len() {
        format!("{equal} equal")
    } else {
        format!("**{equal} of {}**", meant.len())
    }
}
