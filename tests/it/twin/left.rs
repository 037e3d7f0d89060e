//! What does a run leave behind, and how does it differ from what another left?

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::normal::{Normal, about_equal, normal};
use crate::harness::Outcome;
use crate::harness::compare::{self, Look};

/// In which order the lines of stdout come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Those of each voice in one order: what the generator says reaches a client that sends whenever it does.
    EachVoice,
    /// In any: two processes of a stock client that receives write them.
    Free,
}

/// What a run left behind.
pub(crate) struct Left {
    code: i32,
    stdout: Normal,
    stderr: Normal,
    /// The folder that holds what it changed.
    pub(crate) place: PathBuf,
}

impl Left {
    pub(crate) fn of(outcome: &Outcome, place: PathBuf) -> Self {
        let (stdout, stderr) = (normal(&outcome.stdout), normal(&outcome.stderr));
        Self { code: outcome.code(), stdout, stderr, place }
    }

    /// Returns what is otherwise in `tested`: code, outputs, tree.
    pub(crate) fn differences(&self, tested: &Left, order: Order, look: Look) -> Vec<String> {
        let mut told = Vec::new();
        if self.code != tested.code {
            told.push(format!("code: stock {}, tested {}", self.code, tested.code));
        }
        told.extend(output_differences("stdout", &self.stdout, &tested.stdout, order));
        told.extend(output_differences("stderr", &self.stderr, &tested.stderr, Order::EachVoice));
        told.extend(compare::differences(&self.place, &tested.place, look));
        told
    }
}

fn output_differences(name: &str, stock: &Normal, tested: &Normal, order: Order) -> Option<String> {
    if voices(&stock.text, order) != voices(&tested.text, order) {
        let (theirs, ours) = (&stock.text, &tested.text);
        return Some(format!("{name} of stock:\n{theirs}\n  {name} tested:\n{ours}"));
    }
    let (theirs, ours) = (&stock.traffic, &tested.traffic);
    (!about_equal(theirs, ours)).then(|| format!("{name} counts {theirs:?}, tested {ours:?}"))
}

/// What only the generator says, as a rest or a start of a line.
const OF_GENERATOR: [&str; 14] = [
    " is uptodate",
    " exists",
    " is newer",
    " is over max-size",
    " is under min-size",
    "skipping ",
    "deleting ",
    "*deleting ",
    "cannot delete ",
    "not creating new ",
    "created directory ",
    "IO error encountered",
    "delete_",
    "del. ",
];

/// Returns the lines of each voice in their order, or all of them sorted.
fn voices(text: &str, order: Order) -> BTreeMap<&str, Vec<&str>> {
    let mut voices: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in text.split_inclusive('\n') {
        let voice = if order == Order::Free { "" } else { voice(line) };
        voices.entry(voice).or_default().push(line);
    }
    if order == Order::Free {
        voices.values_mut().for_each(|lines| lines.sort_unstable());
    }
    voices
}

/// Returns who says a line: the role that it names, the generator by its words, or the client.
fn voice(line: &str) -> &str {
    // A log says it behind the time and the number of its process.
    let line = line.strip_prefix("TODAY TIME [PID] ").unwrap_or(line);
    let role = line.split_once('[').and_then(|(_, rest)| rest.split_once([']', '=']));
    let is_role =
        |name: &str| ["sender", "receiver", "generator"].contains(&name.to_lowercase().as_str());
    match role {
        Some((name, _)) if is_role(name) => name,
        _ if OF_GENERATOR
            .iter()
            .any(|words| line.trim_end().ends_with(words) || line.starts_with(words)) =>
        {
            "generator"
        }
        _ => "client",
    }
}
