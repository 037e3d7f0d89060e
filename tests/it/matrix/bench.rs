//! How does a cell run, and what does it have to equal?

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use super::cells::{Cell, Direction};
use super::results::Verdict;
use crate::harness::compare::{Look, Times};
use crate::harness::odd_tree::{self, Odd};
use crate::harness::{Program, Sshd, Way, temp_dir};
use crate::twin::{Left, Order, Programs, Side};

/// The longest cell moves a file of 4 GiB.
const LIMIT: Duration = Duration::from_secs(120);

/// Where cells run, one after the other, in a folder of one name.
pub(crate) struct Bench {
    folder: TempDir,
    programs: Programs,
    sshd: Sshd,
    /// What two stock rsyncs left of the work that was last asked for.
    reference: Option<((Direction, u32, &'static str), Left)>,
}

impl Bench {
    /// Makes the trees: what a session of protocol 29 can carry, and everything.
    pub(crate) fn set_up() -> Self {
        let folder = temp_dir();
        for protocol in [29, 30] {
            let base = base(folder.path(), protocol);
            fs::create_dir(&base).unwrap();
            odd_tree::build(&base.join("src"), Odd::for_protocol(protocol));
            copy(&base.join("src"), &base.join("older"));
            odd_tree::live_in(&base.join("src"));
            lay_merge_files(&base.join("src"));
        }
        Self { folder, programs: Programs::lay_out(), sshd: Sshd::start(), reference: None }
    }

    /// Runs a cell, and first the same work with two stock rsyncs, unless that was done for the cell before.
    pub(crate) fn judge(&mut self, cell: Cell) -> Verdict {
        if self.reference.as_ref().is_none_or(|(work, _)| *work != cell.work()) {
            let stock = Cell { pair: (Side::Stock, Side::Stock), way: Way::Pipe, ..cell.clone() };
            let left = self.run(&stock, "stock");
            self.reference = Some((cell.work(), left));
        }
        let tested = self.run(&cell, "tested");
        let (_, stock) = self.reference.as_ref().unwrap();
        let differences = stock.differences(&tested, order(&cell), look(&cell));
        Verdict { cell, differences }
    }

    fn run(&self, cell: &Cell, kept: &str) -> Left {
        let place = self.folder.path().join("here");
        remove(&place);
        fs::create_dir(&place).unwrap();
        let base = base(self.folder.path(), cell.protocol);
        // No run changes its sources, so one copy of them serves all.
        symlink(base.join("src"), place.join("src")).unwrap();
        match cell.set.own_older {
            true => copy(&base.join("older"), &place.join("older")),
            false => symlink(base.join("older"), place.join("older")).unwrap(),
        }
        match cell.set.new {
            true => fs::create_dir(place.join("dst")).unwrap(),
            false => copy(&base.join("older"), &place.join("dst")),
        }
        let script = format!("set -eu\n{}", cell.set.before);
        Program::new("sh").args(["-c", &script]).inside(&place).run().expect_success();
        odd_tree::settle_times(&place, 1_650_000_000);
        let outcome = self.program(cell, &place).run();
        let kept = self.folder.path().join(kept);
        remove(&kept);
        fs::rename(&place, &kept).unwrap();
        Left::of(&outcome, kept)
    }

    fn program(&self, cell: &Cell, place: &Path) -> Program {
        let (client, server) = cell.pair;
        let protocol = format!("--protocol={}", cell.protocol);
        let mut program = Program::new(self.programs.program(client)).inside(place);
        program = program.arg("-ii").arg(protocol).args(cell.set.options.split(' '));
        let far = |path: &str| match cell.way {
            Way::Ssh => self.sshd.to(&place.join(path)),
            _ => format!("far:{}/{path}", place.display()),
        };
        let rsh = match cell.way {
            Way::Ssh => self.sshd.rsh(),
            _ => self.programs.remote_shell(server).display().to_string(),
        };
        program = program.arg("-e").arg(rsh);
        let mut far_program = self.programs.program(server).display().to_string();
        let fakes = cell.set.name.starts_with("--fake-super");
        if fakes && cell.direction == Direction::Push {
            far_program.push_str(" --fake-super");
        } else if fakes {
            program = program.arg("--fake-super");
        }
        program = program.arg(format!("--rsync-path={far_program}")).within(LIMIT);
        match cell.direction {
            Direction::Push => program.arg(cell.set.sources).arg(far("dst")),
            Direction::Pull => program.arg(far(cell.set.sources)).arg("dst"),
        }
    }
}

fn base(folder: &Path, protocol: u32) -> PathBuf {
    folder.join(if protocol < 30 { "base-29" } else { "base" })
}

/// Lays rules in files that only a set of options looks at.
fn lay_merge_files(src: &Path) {
    for (path, rules) in [
        (".rules", "- text-7*\n: .inner\n"),
        ("files/.inner", "- random-*\n+ *\n"),
        ("many/.rules", "P spared\n"),
        (".rsync-filter", "- *.mkv\n"),
    ] {
        fs::write(src.join(path), rules).unwrap();
    }
    odd_tree::settle_times(src, 1_640_000_000);
}

fn copy(from: &Path, to: &Path) {
    Program::new("cp").arg("-a").arg(from).arg(to).run().expect_success();
}

fn remove(place: &Path) {
    if place.exists() {
        fs::remove_dir_all(place).unwrap();
    }
}

fn order(cell: &Cell) -> Order {
    match cell.direction {
        Direction::Push => Order::EachVoice,
        Direction::Pull => Order::Free,
    }
}

fn look(cell: &Cell) -> Look {
    Look {
        times: Times::Nanoseconds,
        attributes: true,
        holes: cell.set.holes,
        fresh_alike: true,
        ..Look::CLOSELY
    }
}
