//! Is every file whole, old or new, when either end is killed at any moment, and who cleans up?

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use walkdir::WalkDir;

use crate::harness::odd_tree::set_mtime;
use crate::harness::program::{Running, contents_of};
use crate::harness::random::Random;
use crate::harness::{Program, repl, temp_dir};
use crate::words;

/// How many files an update replaces.
const FILES: usize = 2_000;
const FILES_IN_A_DIR: usize = 100;
const KILLS: u64 = 200;
/// So often a run is let through after a kill.
const COMPLETED_EACH: u64 = 25;

/// Names of a user's that look like temporary files.
const ALIKE: [&str; 3] = [".file-0.AbCdEf", "dir-1/.file-100.x7Y8z9", "dir-1/.file-101.tmp"];

/// Which end writes, and which is killed.
#[derive(Clone, Copy, Debug)]
struct Way {
    pulls: bool,
    kills_server: bool,
}

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: temp_dir() };
        for version in 0..2 {
            let source = place.source(version);
            for number in 0..FILES {
                let path = source.join(name(number));
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, content(version, number)).unwrap();
                set_mtime(&path, 1_700_000_000 + version as i64, 0);
            }
        }
        // What ssh does, but it says which process the server is.
        let pid = place.pid_file();
        let script = format!(
            "shift\necho $$ >{0}.new\nmv {0}.new {0}\nexec sh -c \"exec $*\"\n",
            pid.display()
        );
        fs::write(place.folder.path().join("rsh"), script).unwrap();
        fs::create_dir(place.destination()).unwrap();
        place
    }

    fn source(&self, version: usize) -> PathBuf {
        self.folder.path().join(format!("source-{version}"))
    }

    fn destination(&self) -> PathBuf {
        self.folder.path().join("destination")
    }

    fn pid_file(&self) -> PathBuf {
        self.folder.path().join("pid")
    }

    /// An update to a version of the tree.
    fn update(&self, version: usize, way: Way) -> Program {
        let rsh = format!("sh {}/rsh", self.folder.path().display());
        let rsync_path = format!("--rsync-path={} rsync", env!("CARGO_BIN_EXE_repl"));
        let (from, to) = (self.source(version), self.destination());
        let far = |path: &Path| format!("far:{}/", path.display());
        let operands = match way.pulls {
            true => words![far(&from), to],
            false => words![contents_of(&from), far(&to)],
        };
        let words = words!["rsync", "-a", "-e", rsh, rsync_path];
        repl(words).args(operands).env("XDG_STATE_HOME", self.folder.path().join("state"))
    }

    /// Kills one end of a run, unless it has ended.
    fn kill(&self, running: &Running, way: Way) {
        let server = fs::read_to_string(self.pid_file()).ok();
        let server = server.and_then(|pid| Pid::from_raw(pid.trim().parse().ok()?));
        match server {
            // It may have ended by itself; nobody else has its number so soon.
            Some(server) if way.kills_server => _ = kill_process(server, Signal::KILL),
            _ => running.signal(Signal::KILL),
        }
    }

    /// Fails when a file is neither the old nor the new one.
    #[track_caller]
    fn expect_whole(&self, what: &str) {
        for number in 0..FILES {
            let found = fs::read(self.destination().join(name(number))).unwrap_or_default();
            let is_whole = (0..2).any(|version| found == content(version, number));
            assert!(is_whole, "{} is not whole after {what}", name(number));
        }
    }

    #[track_caller]
    fn expect_version(&self, version: usize) {
        for number in 0..FILES {
            let found = fs::read(self.destination().join(name(number))).unwrap();
            assert!(found == content(version, number), "{} is not updated", name(number));
        }
        let files = WalkDir::new(self.destination()).into_iter().map(Result::unwrap);
        let files = files.filter(|entry| !entry.file_type().is_dir());
        let left: BTreeSet<String> = files
            .map(|entry| entry.path().strip_prefix(self.destination()).unwrap().to_owned())
            .map(|path| path.to_str().unwrap().to_owned())
            .collect();
        let expected = (0..FILES).map(name).chain(ALIKE.map(String::from)).collect();
        let surplus: Vec<_> = left.symmetric_difference(&expected).collect();
        assert!(surplus.is_empty(), "left over or lost: {surplus:?}");
        assert_eq!(fs::read_dir(self.folder.path().join("state/repl/journal")).unwrap().count(), 0);
    }
}

fn name(number: usize) -> String {
    match number / FILES_IN_A_DIR {
        0 => format!("file-{number}"),
        dir => format!("dir-{dir}/file-{number}"),
    }
}

/// Most files are small, some are staged and written in pieces; no two are alike.
fn content(version: usize, number: usize) -> Vec<u8> {
    let seed = (version * FILES + number) as u64;
    let len = if number % 200 == 7 { 150_000 } else { 200 + number % 400 };
    Random::new(seed).bytes(len)
}

#[test]
fn every_file_is_whole_whenever_either_end_is_killed() {
    let place = Place::new();
    let push = Way { pulls: false, kills_server: false };
    place.update(0, push).run().expect_success();
    for name in ALIKE {
        fs::write(place.destination().join(name), "a user's own").unwrap();
    }
    let full = place.update(1, push).run().expect_success().wall;
    place.expect_version(1);
    let mut random = Random::new(9);
    let mut version = 1;
    let mut met = 0;
    for number in 0..KILLS {
        let way = Way { pulls: number % 2 == 0, kills_server: number / 2 % 2 == 0 };
        version = 1 - version;
        let _ = fs::remove_file(place.pid_file());
        let moment = full.mul_f64(random.below(1000) as f64 / 900.0);
        let running = place.update(version, way).start();
        std::thread::sleep(moment);
        place.kill(&running, way);
        let run = running.wait();
        let what = format!("kill {number} after {moment:?}, {way:?}: {}", run.told());
        assert!(!run.stderr().contains("panicked"), "{what}");
        met += u32::from(run.code() != 0);
        place.expect_whole(&what);
        if number % COMPLETED_EACH == COMPLETED_EACH - 1 {
            place.update(version, way).run().expect_success();
            place.expect_version(version);
        }
    }
    println!("{met} of {KILLS} met a running update of {full:?}");
    assert!(met > KILLS as u32 / 3, "only {met} kills came before the end");
    for name in ALIKE {
        assert_eq!(fs::read_to_string(place.destination().join(name)).unwrap(), "a user's own");
    }
}
