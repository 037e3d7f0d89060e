//! Does a receiver stay calm when what a real sender said is cut off or damaged?

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use walkdir::WalkDir;

use crate::garbage::expect_calm;
use crate::harness::odd_tree::set_mtime;
use crate::harness::random::Random;
use crate::harness::recording::Recording;
use crate::harness::{Daemon, Outcome, Program, Rsync, daemon, repl, temp_dir};
use crate::words;

const LIMIT: Duration = Duration::from_secs(10);
const DATA_LIMIT: u64 = 96 << 20;

/// Which kind of session is recorded: options, and whether its content is compressed.
const KINDS: [&[&str]; 3] =
    [&["-aHX", "--delete"], &["-az", "--no-inc-recursive"], &["-aH", "--inplace", "--backup"]];

/// The tree that a real daemon sends.
fn fill_source(root: &Path) {
    fs::create_dir_all(root.join("inner/deep")).unwrap();
    fs::write(root.join("letter"), new_letter()).unwrap();
    fs::write(root.join("inner/large"), Random::new(2).text(100_000)).unwrap();
    fs::write(root.join("inner/deep/number"), "42\n").unwrap();
    fs::hard_link(root.join("letter"), root.join("inner/again")).unwrap();
    symlink("letter", root.join("symlink")).unwrap();
    for path in ["letter", "inner/large", "inner/deep/number", "inner/deep", "inner"] {
        set_mtime(&root.join(path), 1_700_000_000, 0);
    }
}

fn old_letter() -> Vec<u8> {
    Random::new(1).text(25_000)
}

fn new_letter() -> Vec<u8> {
    Random::new(1).text(30_000)
}

/// A destination with an older copy of a file.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let folder = temp_dir();
        fs::create_dir_all(folder.path().join("in")).unwrap();
        fs::write(folder.path().join("in/letter"), old_letter()).unwrap();
        fs::write(folder.path().join("outside"), "outside").unwrap();
        set_mtime(&folder.path().join("in/letter"), 1_600_000_000, 0);
        Self(folder)
    }

    fn pull(&self, options: &[&str], port: u16) -> Program {
        let mut words = words!["rsync"].to_vec();
        words.extend(options.iter().map(Into::into));
        words.extend(words![daemon::url(port, ""), self.0.path().join("in")]);
        repl(words).within(LIMIT).data_limit(DATA_LIMIT)
    }

    /// Fails when something beside the destination is touched, or a temporary file is left.
    #[track_caller]
    fn expect_in_order(&self, run: &Outcome, what: &str) {
        expect_calm(run, what);
        let names: Vec<_> = fs::read_dir(self.0.path()).unwrap().map(Result::unwrap).collect();
        assert_eq!(names.len(), 2, "{names:?}, {what}: {}", run.told());
        assert_eq!(fs::read(self.0.path().join("outside")).unwrap(), b"outside");
        let entries = WalkDir::new(self.0.path()).into_iter().map(Result::unwrap);
        let temporary = entries.filter(|entry| {
            entry.depth() > 1 && entry.file_name().as_encoded_bytes().starts_with(b".letter.")
        });
        assert_eq!(temporary.count(), 0, "{what}: {}", run.told());
    }
}

fn record(options: &[&str]) -> Recording {
    let daemon = Daemon::start(Rsync::Installed);
    fill_source(daemon.root());
    let place = Place::new();
    Recording::of(&daemon, |port| place.pull(options, port))
}

#[test]
fn a_sender_that_breaks_off_anywhere_ends_the_run() {
    for options in KINDS {
        let session = record(options);
        let play_to = |end| {
            let place = Place::new();
            let run = session.play_to(end, |_| {}, |port| place.pull(options, port));
            (place, run)
        };
        let (place, run) = play_to(session.len());
        place.expect_in_order(&run, "the whole session");
        assert_eq!(run.code(), 0, "a recording that does not play: {}", run.told());
        let name_lists = if options.contains(&"-az") { 2 } else { 1 };
        for cut in session.cuts(name_lists) {
            let what = format!("{options:?} cut at {cut} of {}", session.len());
            let (place, run) = play_to(cut);
            place.expect_in_order(&run, &what);
            assert_ne!(run.code(), 0, "{what}: {}", run.told());
            let letter = fs::read(place.0.path().join("in/letter")).unwrap();
            let is_in_place = options.contains(&"--inplace");
            assert!(is_in_place || letter == old_letter() || letter == new_letter(), "{what}");
        }
    }
}

#[test]
fn a_sender_with_wrong_bytes_ends_the_run() {
    for options in KINDS {
        let session = record(options);
        for seed in 0..50 {
            let (at, damage) = session.damage(seed);
            let place = Place::new();
            let run = session.play_to(session.len(), damage, |port| place.pull(options, port));
            place.expect_in_order(&run, &format!("{options:?}, wrong byte at {at}, seed {seed}"));
        }
    }
}
