//! Are two trees equal, by stock's word and by our own look?

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{lgetxattr, llistxattr};
use walkdir::WalkDir;

use super::program::contents_of;
use super::{Rsync, stock};
use crate::words;

/// Fails unless stock finds nothing to do from `source` to `copy`, both taken as contents.
#[track_caller]
pub(crate) fn assert_stock_finds_nothing(source: &Path, copy: &Path, further: &[&str]) {
    let both = words![contents_of(source), contents_of(copy)];
    assert_stock_finds_nothing_of(&both, further);
}

/// Fails unless stock finds nothing to do with these sources and, last, the destination.
#[track_caller]
pub(crate) fn assert_stock_finds_nothing_of(places: &[OsString], further: &[&str]) {
    let looked =
        stock(Rsync::Installed, ["-aHnic", "--delete", "--numeric-ids"]).args(further).args(places);
    let looked = looked.run().expect_success();
    assert_eq!(looked.stdout(), "", "the trees differ: {}", looked.stderr());
}

/// How closely a comparison looks at times.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Times {
    Ignored,
    Seconds,
    /// As from protocol 31 on.
    Nanoseconds,
}

/// How much of an entry a comparison looks at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) times: Times,
    /// Extended attributes, and with them the ACLs.
    pub(crate) attributes: bool,
}

impl Look {
    /// Returns what a session of `protocol` keeps.
    pub(crate) fn for_protocol(protocol: u32) -> Look {
        let times = if protocol >= 31 { Times::Nanoseconds } else { Times::Seconds };
        Look { times, attributes: protocol >= 30 }
    }
}

/// Fails with the first difference between the trees: type, bytes, mode, owner, time, links, attributes.
#[track_caller]
pub(crate) fn assert_equal(source: &Path, copy: &Path, look: Look) {
    let (ours, theirs) = (inventory(source, look), inventory(copy, look));
    for (path, entry) in &ours {
        let found = theirs.get(path).unwrap_or_else(|| panic!("{} is missing", path.display()));
        assert_eq!(found, entry, "{} differs (left is the copy)", path.display());
        let same = !entry.is_regular() || same_bytes(&source.join(path), &copy.join(path));
        assert!(same, "{} has other contents", path.display());
    }
    let surplus: Vec<_> = theirs.keys().filter(|path| !ours.contains_key(*path)).collect();
    assert!(surplus.is_empty(), "not in the source: {surplus:?}");
}

#[derive(Debug, PartialEq, Eq)]
struct Entry {
    mode: u32,
    len: u64,
    owner: (u32, u32),
    mtime: (i64, i64),
    device: u64,
    target: Option<PathBuf>,
    /// The first path with the same inode.
    linked_to: PathBuf,
    attributes: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Entry {
    fn is_regular(&self) -> bool {
        self.mode & 0o170_000 == 0o100_000
    }
}

fn inventory(root: &Path, look: Look) -> BTreeMap<PathBuf, Entry> {
    let mut first_paths = BTreeMap::new();
    let mut entries = BTreeMap::new();
    for found in WalkDir::new(root).sort_by_file_name() {
        let found = found.unwrap();
        let path = found.path().strip_prefix(root).unwrap().to_owned();
        let meta = found.path().symlink_metadata().unwrap();
        let linked_to = first_paths.entry(meta.ino()).or_insert_with(|| path.clone()).clone();
        let is_dir = meta.is_dir();
        let is_device = matches!(meta.mode() & 0o170_000, 0o020_000 | 0o060_000);
        let entry = Entry {
            mode: meta.mode(),
            len: if is_dir { 0 } else { meta.len() },
            owner: (meta.uid(), meta.gid()),
            mtime: match look.times {
                Times::Ignored => (0, 0),
                Times::Seconds => (meta.mtime(), 0),
                Times::Nanoseconds => (meta.mtime(), meta.mtime_nsec()),
            },
            device: if is_device { meta.rdev() } else { 0 },
            target: fs::read_link(found.path()).ok(),
            linked_to,
            attributes: if look.attributes { attributes(found.path()) } else { BTreeMap::new() },
        };
        entries.insert(path, entry);
    }
    entries
}

fn attributes(path: &Path) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut names = vec![0; 1 << 16];
    let len = llistxattr(path, &mut names[..]).unwrap();
    let names = names[..len].split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| (name.to_owned(), attribute(path, name))).collect()
}

fn attribute(path: &Path, name: &[u8]) -> Vec<u8> {
    let mut value = vec![0; 1 << 16];
    let len = lgetxattr(path, name, &mut value[..]).unwrap();
    value.truncate(len);
    value
}

fn same_bytes(one: &Path, other: &Path) -> bool {
    fs::read(one).unwrap() == fs::read(other).unwrap()
}
