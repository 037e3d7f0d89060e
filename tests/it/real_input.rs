//! Does a push of the machine's own folders give an equal copy, and the next one send nothing?

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use walkdir::WalkDir;

use crate::harness::compare::assert_stock_finds_nothing_of;
use crate::harness::{FarSide, Rsync, Way, repl, temp_dir};
use crate::words;

/// Fewer entries would not show what a large list does.
const WANTED_ENTRIES: usize = 50_000;

/// Larger files add bytes, but no case that a small one lacks; they are left out to save time.
const LARGEST_FILE: u64 = 4 << 20;

/// A run over all of it, on a machine that does something else as well.
const LIMIT: Duration = Duration::from_secs(300);

#[test]
fn the_machines_own_folders_arrive_equal_at_a_daemon() {
    push_the_machine(Way::Daemon);
}

#[test]
fn the_machines_own_folders_arrive_equal_through_ssh() {
    push_the_machine(Way::Ssh);
}

fn push_the_machine(way: Way) {
    let lists = temp_dir();
    let input = RealInput::find(lists.path());
    let far = FarSide::start(way, Rsync::Installed);
    let (mut words, to) = far.reach("copy");
    words.splice(0..0, words!["push", "-a", "-H", "--json", "--delete", input.leave_out_option()]);
    words.extend(words!["--to", to, "--"]);
    words.extend(input.sources.iter().map(OsString::from));

    repl(&words).within(LIMIT).run().expect_success();
    let mut places: Vec<_> = input.sources.iter().map(OsString::from).collect();
    places.push(super::harness::program::contents_of(&far.folder("copy")));
    let leave_out = input.leave_out_option();
    assert_stock_finds_nothing_of(&places, &[leave_out.as_str()]);

    let again = repl(&words).within(LIMIT).run().expect_success();
    let summary = super::output::summary_of(&again);
    assert_eq!(summary.files_sent, 0, "{}", again.told());
    assert_eq!(summary.literal_bytes, 0, "{}", again.told());
}

/// Folders of this machine, and the list of their files that are too large for a test.
struct RealInput {
    sources: Vec<PathBuf>,
    leave_out: PathBuf,
}

impl RealInput {
    fn find(lists: &Path) -> Self {
        let mut found = Self { sources: Vec::new(), leave_out: lists.join("leave-out") };
        let mut seen = Seen::default();
        let mut rules = String::new();
        for folder in [
            "/usr/share",
            "/usr/lib",
            "/usr/include",
            "/usr/local",
            "/usr/bin",
            "/opt",
            "/var/lib/dpkg",
        ] {
            let needed = folder == "/usr/share" || folder == "/usr/lib" || !seen.is_enough();
            if needed && Path::new(folder).is_dir() {
                seen.look_at(folder, &mut rules);
                found.sources.push(PathBuf::from(folder));
            }
        }
        assert!(seen.is_enough(), "this machine is too small for the test: {seen:?}");
        fs::write(&found.leave_out, rules).unwrap();
        found
    }

    fn leave_out_option(&self) -> String {
        format!("--exclude-from={}", self.leave_out.display())
    }
}

#[derive(Debug, Default)]
struct Seen {
    entries: usize,
    symlinks: usize,
    hard_links: usize,
}

impl Seen {
    fn is_enough(&self) -> bool {
        self.entries >= WANTED_ENTRIES && self.symlinks > 0 && self.hard_links > 0
    }

    fn look_at(&mut self, folder: &str, rules: &mut String) {
        let parent = Path::new(folder).parent().unwrap();
        for entry in WalkDir::new(folder) {
            let entry = entry.unwrap();
            let meta = entry.path().symlink_metadata().unwrap();
            self.entries += 1;
            self.symlinks += usize::from(meta.is_symlink());
            self.hard_links += usize::from(meta.is_file() && meta.nlink() > 1);
            if meta.is_file() && meta.nlink() == 1 && meta.len() > LARGEST_FILE {
                let path = entry.path().strip_prefix(parent).unwrap();
                rules.push_str(&format!("/{}\n", path.display()));
            }
        }
    }
}
