//! How does a case run twice in the same place, and what must be equal afterwards?

use std::fs;
use std::path::{Path, PathBuf};

use super::TESTED;
use super::normal::{Normal, about_equal, normal};
use super::side::{Pair, Programs, Side, open_to_all};
use crate::harness::compare::{self, Look};
use crate::harness::odd_tree::settle_times;
use crate::harness::{Program, temp_dir};

/// Goes before every set-up and every command line.
const PRELUDE: &str = include_str!("prelude.sh");

/// Every time that a set-up leaves at "now" becomes one of these.
const SETTLED: i64 = 1_500_000_000;

/// Cases that share a set-up.
pub(crate) struct Twins {
    set_up: &'static str,
    look: Look,
    order: Order,
    far: bool,
}

/// Whether the lines of stdout come in one order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Fixed,
    /// Two processes of stock write them: a client that receives.
    Free,
}

/// What a run left behind.
struct Left {
    code: i32,
    stdout: Normal,
    stderr: Normal,
    place: PathBuf,
}

impl Twins {
    /// Begins a table of local copies; `set_up` is a shell script that runs in the folder where each case runs.
    pub(crate) fn of(set_up: &'static str) -> Self {
        Self {
            set_up,
            look: Look { fresh_alike: true, ..Look::CLOSELY },
            order: Order::Fixed,
            far: false,
        }
    }

    /// The cases have a far side: `far:PATH` is this machine over a pipe, with either program on either end.
    pub(crate) fn far(mut self) -> Self {
        self.far = true;
        self
    }

    /// The client receives, and stock's generator and receiver write their lines as they come to it.
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
        let mut failures = Vec::new();
        for case in cases {
            self.check_one(case, &programs, &mut failures);
        }
        let count = failures.len();
        assert!(count == 0, "{count} of {} cases differ\n\n{}", cases.len(), failures.join("\n\n"));
    }

    fn check_one(&self, case: &str, programs: &Programs, failures: &mut Vec<String>) {
        let folder = temp_dir();
        open_to_all(folder.path());
        let stock = self.run(case, (Side::Stock, Side::Stock), programs, folder.path());
        for pair in self.pairs() {
            let tested = self.run(case, *pair, programs, folder.path());
            let told = self.differences(&stock, &tested);
            if !told.is_empty() {
                failures.push(format!("CASE {case}\n  by {pair:?}:\n  {}", told.join("\n  ")));
            }
            fs::remove_dir_all(&tested.place).unwrap();
        }
    }

    fn pairs(&self) -> &[Pair] {
        const WITH_FAR_SIDE: [Pair; 3] =
            [(TESTED, TESTED), (TESTED, Side::Stock), (Side::Stock, TESTED)];
        if self.far && TESTED == Side::Ours { &WITH_FAR_SIDE } else { &WITH_FAR_SIDE[..1] }
    }

    /// Runs a case in a folder whose name is the same for all sides; afterwards the folder has a name of its own.
    fn run(&self, case: &str, pair: Pair, programs: &Programs, folder: &Path) -> Left {
        let (set_up, line) = case.split_once(" :: ").unwrap_or(("", case));
        let place = folder.join("here");
        fs::create_dir(&place).unwrap();
        let script = format!("{PRELUDE}\nset -eu\n{}\n{set_up}\n", self.set_up);
        shell(&script, (Side::Stock, Side::Stock), programs, &place).expect_success();
        settle_times(&place, SETTLED);
        let outcome = shell(&format!("{PRELUDE}\n{line}\n"), pair, programs, &place);
        let kept = folder.join("left");
        let kept = if kept.exists() { folder.join("tested") } else { kept };
        fs::rename(&place, &kept).unwrap();
        let stdout = match self.order {
            Order::Fixed => outcome.stdout.clone(),
            Order::Free => sorted_lines(&outcome.stdout),
        };
        let (code, stderr) = (outcome.code(), normal(&outcome.stderr));
        Left { code, stdout: normal(&stdout), stderr, place: kept }
    }

    fn differences(&self, stock: &Left, tested: &Left) -> Vec<String> {
        let mut told = Vec::new();
        if stock.code != tested.code {
            told.push(format!("code: stock {}, tested {}", stock.code, tested.code));
        }
        for (name, theirs, ours) in
            [("stdout", &stock.stdout, &tested.stdout), ("stderr", &stock.stderr, &tested.stderr)]
        {
            if theirs.text != ours.text {
                told.push(format!(
                    "{name} of stock:\n{}\n  {name} tested:\n{}",
                    theirs.text, ours.text
                ));
            } else if !about_equal(&theirs.traffic, &ours.traffic) {
                told.push(format!("{name} counts {:?}, tested {:?}", theirs.traffic, ours.traffic));
            }
        }
        told.extend(compare::differences(&stock.place, &tested.place, self.look));
        told
    }
}

fn shell(script: &str, pair: Pair, programs: &Programs, place: &Path) -> crate::harness::Outcome {
    let (client, server) = pair;
    let program = Program::new("sh").args(["-c", script]).inside(place);
    program.env("PATH", programs.path(client)).env("RSYNC_RSH", programs.remote_shell(server)).run()
}

fn sorted_lines(output: &[u8]) -> Vec<u8> {
    let mut lines: Vec<_> = output.split_inclusive(|byte| *byte == b'\n').collect();
    lines.sort_unstable();
    lines.concat()
}
