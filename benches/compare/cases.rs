//! Which trees are copied, over what, and with which options?

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::trees;

/// What lies at the far side before a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    /// Nothing: every run is a first copy into a folder of its own.
    Nothing,
    /// The older state of the tree, as links to the same inodes: a receiver replaces, it does not change them.
    Older,
    /// An equal copy, the same one for all runs.
    Equal,
}

/// One line of the table.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) says: &'static str,
    /// Options that both clients are given.
    pub(crate) options: &'static [&'static str],
    pub(crate) before: Before,
    tree: Tree,
}

enum Tree {
    /// Files of 1 to 8 KiB, 100 a folder.
    Small { files: usize },
    /// One file of random bytes.
    Large { bytes: u64 },
    /// The same with 1 % scattered edits and an insertion near the start, over itself without them.
    Edited { bytes: u64 },
    /// Files of 100 KiB to 2 MiB, every other one text.
    Mixed { files: usize },
    /// Empty files, at most 1000 a folder.
    Empty { files: usize },
}

/// Returns the cases of the comparison, or the same on trees that take no time.
pub(crate) fn all(quick: bool) -> Vec<Case> {
    let scale = |full: usize, small: usize| if quick { small } else { full };
    let large = scale(2 << 30, 64 << 20) as u64;
    let case = |name, says, options, before, tree| Case { name, says, options, before, tree };
    vec![
        case("nothing", "an empty folder", &[], Before::Equal, Tree::Empty { files: 0 }),
        case(
            "small-new",
            "small files, new",
            &[],
            Before::Nothing,
            Tree::Small { files: scale(50_000, 1_000) },
        ),
        case("large-new", "large file, new", &[], Before::Nothing, Tree::Large { bytes: large }),
        case(
            "large-delta",
            "large file, edited",
            &[],
            Before::Older,
            Tree::Edited { bytes: large },
        ),
        case(
            "mixed-new-z",
            "mixed files, new, -z",
            &["-z"],
            Before::Nothing,
            Tree::Mixed { files: scale(2_000, 40) },
        ),
        case(
            "mixed-same-c",
            "mixed files, equal, -c",
            &["-c"],
            Before::Equal,
            Tree::Mixed { files: scale(2_000, 40) },
        ),
        case(
            "empty-same",
            "empty files, equal",
            &[],
            Before::Equal,
            Tree::Empty { files: scale(300_000, 5_000) },
        ),
        case(
            "empty-same-million",
            "empty files, equal",
            &[],
            Before::Equal,
            Tree::Empty { files: scale(1_000_000, 10_000) },
        ),
    ]
}

impl Case {
    /// Makes the tree, and what the runs find at the far side, below `folder`.
    pub(crate) fn prepare(&self, folder: &Path) {
        let source = self.source(folder);
        fs::create_dir(&source).unwrap();
        match self.tree {
            Tree::Small { files } => trees::small(&source, files),
            Tree::Large { bytes } => trees::large(&source.join("image"), bytes),
            Tree::Edited { bytes } => {
                let older = folder.join("older");
                fs::create_dir(&older).unwrap();
                trees::large(&older.join("image"), bytes);
                trees::edited(&older.join("image"), &source.join("image"));
            }
            Tree::Mixed { files } => trees::mixed(&source, files),
            Tree::Empty { files } => trees::empty(&source, files),
        }
        if self.before == Before::Equal {
            copy(&source, &folder.join("equal"));
        }
    }

    /// Returns the folder that is pushed.
    pub(crate) fn source(&self, folder: &Path) -> PathBuf {
        folder.join("source")
    }

    /// Returns the size of the tree in words.
    pub(crate) fn size(&self) -> String {
        match self.tree {
            Tree::Small { files } | Tree::Mixed { files } | Tree::Empty { files } => {
                format!("{files}")
            }
            Tree::Large { bytes } | Tree::Edited { bytes } => format!("{} MiB", bytes >> 20),
        }
    }

    /// Lays what run number `run` finds at the far side; returns the name below `folder`.
    pub(crate) fn lay_before(&self, folder: &Path, run: &str) -> String {
        match self.before {
            Before::Equal => return "equal".to_owned(),
            Before::Nothing => fs::create_dir(folder.join(run)).unwrap(),
            Before::Older => {
                fs::create_dir(folder.join(run)).unwrap();
                fs::hard_link(folder.join("older/image"), folder.join(run).join("image")).unwrap();
            }
        }
        run.to_owned()
    }

    /// Gives the space of a finished run's copy back, but not its inodes.
    pub(crate) fn empty_copy(&self, folder: &Path, name: &str) {
        if self.before == Before::Equal {
            return;
        }
        for entry in trees::regular_files(&folder.join(name)) {
            fs::File::options().write(true).truncate(true).open(entry).unwrap();
        }
    }
}

fn copy(source: &Path, to: &Path) {
    let status =
        Command::new("rsync").args(["-aH", "--numeric-ids"]).arg(source.join("")).arg(to).status();
    assert!(status.unwrap().success(), "cannot copy {}", source.display());
}
