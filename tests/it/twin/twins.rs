//! How does a case run twice in the same place, and what must be equal afterwards?

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;
use std::time::Duration;

use super::TESTED;
use super::apart;
use super::left::{Left, Order};
use super::side::{Pair, Programs, Side, open_to_all};
use crate::harness::compare::Look;
use crate::harness::odd_tree::settle_times;
use crate::harness::{Program, temp_dir};

/// Goes before every set-up and every command line.
pub(super) const PRELUDE: &str = include_str!("prelude.sh");

/// Every time that a set-up leaves at "now" becomes one of these.
const SETTLED: i64 = 1_500_000_000;

/// Long enough for the slowest case on a busy machine.
const CASE_LIMIT: Duration = Duration::from_secs(30);

/// Cases that share a set-up.
pub(crate) struct Twins {
    set_up: &'static str,
    look: Look,
    order: Order,
    far: bool,
}

impl Twins {
    /// Begins a table of local copies; `set_up` is a shell script that runs in the folder where each case runs.
    pub(crate) fn of(set_up: &'static str) -> Self {
        Self {
            set_up,
            look: Look { fresh_alike: true, ..Look::CLOSELY },
            order: Order::EachVoice,
            far: false,
        }
    }

    /// The cases have a far side: `far:PATH` is this machine over a pipe, with either program on either end.
    pub(crate) fn far(mut self) -> Self {
        self.far = true;
        self
    }

    /// Several processes of stock write lines of one form as they come to it, as in every client that receives.
    pub(crate) fn in_any_order(mut self) -> Self {
        self.order = Order::Free;
        self
    }

    /// The times of access count.
    pub(crate) fn with_atimes(mut self) -> Self {
        self.look.atimes = true;
        self
    }

    /// The holes count.
    pub(crate) fn with_holes(mut self) -> Self {
        self.look.holes = true;
        self
    }

    /// Runs each case on both sides, and fails with all that differ.
    ///
    /// A case is a shell command line; with ` :: ` in it, what stands before that is set up first.
    #[track_caller]
    pub(crate) fn check(self, cases: &[&str]) {
        let programs = Programs::lay_out();
        let base = temp_dir();
        self.set_up(self.set_up, &programs, base.path());
        let mut failures = Vec::new();
        for case in cases {
            // A case that hangs, or cannot be set up, must not hide the others.
            let checked = catch_unwind(|| self.check_one(case, &programs, base.path()));
            let told = checked.unwrap_or_else(|_| vec![format!("CASE {case}\n  did not end")]);
            match apart::reason(case) {
                None => failures.extend(told),
                Some(reason) if told.is_empty() && apart::always(case) => failures.push(format!(
                    "CASE {case}\n  is equal now: take it out of the list of those apart ({reason})"
                )),
                Some(_) => {}
            }
        }
        let count = failures.len();
        assert!(count == 0, "{count} of {} cases differ\n\n{}", cases.len(), failures.join("\n\n"));
    }

    fn check_one(&self, case: &str, programs: &Programs, base: &Path) -> Vec<String> {
        let mut failures = Vec::new();
        let folder = temp_dir();
        open_to_all(folder.path());
        let kept = folder.path().join("stock");
        let stock = self.run(case, (Side::Stock, Side::Stock), programs, base, &kept);
        for pair in self.pairs() {
            let tested = self.run(case, *pair, programs, base, &folder.path().join("tested"));
            let told = stock.differences(&tested, self.order, self.look);
            if !told.is_empty() {
                failures.push(format!("CASE {case}\n  by {pair:?}:\n  {}", told.join("\n  ")));
            }
            fs::remove_dir_all(&tested.place).unwrap();
        }
        failures
    }

    fn pairs(&self) -> &[Pair] {
        const WITH_FAR_SIDE: [Pair; 3] =
            [(TESTED, TESTED), (TESTED, Side::Stock), (Side::Stock, TESTED)];
        if self.far && TESTED == Side::Ours { &WITH_FAR_SIDE } else { &WITH_FAR_SIDE[..1] }
    }

    /// Runs a case in a folder whose name is the same for all sides; afterwards the folder's name is `kept`.
    fn run(&self, case: &str, pair: Pair, programs: &Programs, base: &Path, kept: &Path) -> Left {
        let (further, line) = case.split_once(" :: ").unwrap_or(("", case));
        let place = kept.with_file_name("here");
        self.lay_base(programs, base, &place);
        if !further.is_empty() {
            self.set_up(further, programs, &place);
        }
        let outcome = shell(&format!("{PRELUDE}\n{line}\n"), pair, programs, &place);
        fs::rename(&place, kept).unwrap();
        Left::of(&outcome, kept.to_owned())
    }

    fn lay_base(&self, programs: &Programs, base: &Path, place: &Path) {
        if self.look.atimes {
            // A copy of the base would have times of access that differ from copy to copy.
            fs::create_dir(place).unwrap();
            self.set_up(self.set_up, programs, place);
        } else {
            Program::new("cp").arg("-a").arg(base).arg(place).run().expect_success();
        }
        open_to_all(place);
    }

    fn set_up(&self, script: &str, programs: &Programs, place: &Path) {
        let script = format!("{PRELUDE}\nset -eu\n{script}\n");
        shell(&script, (Side::Stock, Side::Stock), programs, place).expect_success();
        settle_times(place, SETTLED);
    }
}

fn shell(script: &str, pair: Pair, programs: &Programs, place: &Path) -> crate::harness::Outcome {
    let (client, server) = pair;
    let program = Program::new("sh").args(["-c", script]).inside(place);
    program
        .env("PATH", programs.path(client))
        .env("RSYNC_RSH", programs.remote_shell(server))
        .within(CASE_LIMIT)
        .run()
}
