//! What does an entry inherit from the one before?
//!
//! The memory lasts for the connection, across lists; see docs/protocol/file-list.md,
//! "Memory between entries".

use super::entry::{FileEntry, Kind};

/// The values of an entry that the next one can inherit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Values {
    pub(super) mode: u32,
    pub(super) mtime: i64,
    pub(super) mtime_nsec: u32,
    pub(super) atime: i64,
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) rdev_major: u32,
}

impl Values {
    pub(super) fn of(entry: &FileEntry<'_>) -> Self {
        Self {
            mode: entry.mode,
            mtime: entry.mtime,
            mtime_nsec: entry.mtime_nsec,
            atime: entry.atime,
            uid: entry.uid,
            gid: entry.gid,
            rdev_major: entry.rdev.map_or(0, |(major, _)| major),
        }
    }

    pub(super) fn kind(&self) -> Kind {
        Kind::of(self.mode)
    }
}

/// What both sides remember of the entries before.
#[derive(Debug)]
pub(super) struct Previous {
    pub(super) name: Vec<u8>,
    pub(super) mode: u32,
    pub(super) mtime: i64,
    pub(super) atime: i64,
    /// None before the first entry, which always carries its owner.
    pub(super) uid: Option<u32>,
    /// None before the first entry, which always carries its group.
    pub(super) gid: Option<u32>,
    /// None where receivers may differ in what they remember: the next one is sent in full.
    pub(super) rdev_major: Option<u32>,
    /// The device of the last hard-linked entry (below protocol 30).
    pub(super) link_dev: Option<u64>,
}

impl Default for Previous {
    fn default() -> Self {
        Self {
            name: Vec::new(),
            mode: 0,
            mtime: 0,
            atime: 0,
            uid: None,
            gid: None,
            rdev_major: Some(0),
            link_dev: None,
        }
    }
}

impl Previous {
    /// Counts the leading bytes that `name` shares with the name before, at most 255.
    pub(super) fn shared_prefix(&self, name: &[u8]) -> usize {
        const STEP: usize = 16;
        let end = self.name.len().min(name.len()).min(255);
        let (old, new) = (&self.name[..end], &name[..end]);
        let steps = old.chunks_exact(STEP).zip(new.chunks_exact(STEP));
        let start = steps.take_while(|(a, b)| a == b).count() * STEP;
        let rest = old[start..].iter().zip(&new[start..]);
        start + rest.take_while(|(a, b)| a == b).count()
    }

    /// Remembers an entry that was sent.
    pub(super) fn remember(&mut self, name: &[u8], shared: usize, values: &Values) {
        self.name.truncate(shared);
        self.name.extend_from_slice(&name[shared..]);
        self.inherit(values);
    }

    /// Remembers the values of an entry.
    pub(super) fn inherit(&mut self, values: &Values) {
        self.mode = values.mode;
        self.mtime = values.mtime;
        self.uid = Some(values.uid);
        self.gid = Some(values.gid);
        if values.kind() != Kind::Directory {
            self.atime = values.atime;
        }
    }
}
