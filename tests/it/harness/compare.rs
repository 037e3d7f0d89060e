//! Are two trees equal, by stock's word and by our own look?

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

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
    /// The times of the last access, as closely as `times` says.
    pub(crate) atimes: bool,
    /// How many blocks a regular file takes: whether it has holes.
    pub(crate) holes: bool,
    /// Times of the last hour count as equal: both trees were made just now, one after the other.
    pub(crate) fresh_alike: bool,
}

impl Look {
    /// Looks at type, bytes, mode, owner, times, links and attributes.
    pub(crate) const CLOSELY: Look = Look {
        times: Times::Nanoseconds,
        attributes: true,
        atimes: false,
        holes: false,
        fresh_alike: false,
    };

    /// Returns what a session of `protocol` keeps.
    pub(crate) fn for_protocol(protocol: u32) -> Look {
        let times = if protocol >= 31 { Times::Nanoseconds } else { Times::Seconds };
        Look { times, attributes: protocol >= 30, ..Look::CLOSELY }
    }
}

/// Fails with the differences between the trees: type, bytes, mode, owner, time, links, attributes.
#[track_caller]
pub(crate) fn assert_equal(source: &Path, copy: &Path, look: Look) {
    let differences = differences(source, copy, look);
    assert!(differences.is_empty(), "source and copy differ:\n{}", differences.join("\n"));
}

/// Returns what differs between two trees, a line for each path.
pub(crate) fn differences(one: &Path, other: &Path, look: Look) -> Vec<String> {
    let (first, mut second) = (inventory(one, look), inventory(other, look));
    let mut told = Vec::new();
    for (path, entry) in &first {
        let Some(found) = second.remove(path) else {
            told.push(format!("{path:?}: only in the first: {entry:?}"));
            continue;
        };
        if found != *entry {
            told.push(format!("{path:?}: first {entry:?}\n    second {found:?}"));
        } else if entry.is_regular() && !same_bytes(&one.join(path), &other.join(path)) {
            told.push(format!("{path:?}: other contents"));
        }
    }
    told.extend(
        second.iter().map(|(path, entry)| format!("{path:?}: only in the second: {entry:?}")),
    );
    told
}

#[derive(Debug, PartialEq, Eq)]
struct Entry {
    mode: u32,
    len: u64,
    owner: (u32, u32),
    mtime: (i64, i64),
    atime: (i64, i64),
    device: u64,
    blocks: u64,
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
        let is_device = matches!(meta.mode() & 0o170_000, 0o020_000 | 0o060_000);
        let entry = Entry {
            mode: meta.mode(),
            len: if meta.is_dir() { 0 } else { meta.len() },
            owner: (meta.uid(), meta.gid()),
            mtime: seen_time((meta.mtime(), meta.mtime_nsec()), look),
            atime: match look.atimes {
                true => seen_time((meta.atime(), meta.atime_nsec()), look),
                false => (0, 0),
            },
            device: if is_device { meta.rdev() } else { 0 },
            blocks: if look.holes && meta.is_file() { meta.blocks() } else { 0 },
            target: fs::read_link(found.path()).ok(),
            linked_to,
            attributes: if look.attributes { attributes(found.path()) } else { BTreeMap::new() },
        };
        entries.insert(path, entry);
    }
    entries
}

/// Stands for every time of the last hour.
const FRESH: (i64, i64) = (i64::MAX, 0);

fn seen_time(time: (i64, i64), look: Look) -> (i64, i64) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64;
    match look.times {
        Times::Ignored => (0, 0),
        _ if look.fresh_alike && (now - 3600..=now).contains(&time.0) => FRESH,
        Times::Seconds => (time.0, 0),
        Times::Nanoseconds => time,
    }
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
    let (mut one, mut other) = (File::open(one).unwrap(), File::open(other).unwrap());
    let mut pieces = (vec![0; 1 << 17], vec![0; 1 << 17]);
    loop {
        let len = one.read(&mut pieces.0).unwrap();
        if len == 0 {
            return other.read(&mut pieces.1).unwrap() == 0;
        }
        if other.read_exact(&mut pieces.1[..len]).is_err() || pieces.0[..len] != pieces.1[..len] {
            return false;
        }
    }
}
