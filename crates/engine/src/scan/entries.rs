//! How entries and lists are written, and what goes wrong is counted.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use tree::{Dir, Kind, Stat};
use wire::flist::{DirMark, FileEntry};
use wire::xattr::XattrSet;

use super::{IO_ERROR_GENERAL, Pending, Place, Scan, ScanTotals};
use crate::attributes::Attributes;
use crate::desk::{ListPart, Scanned, SenderGone};
use crate::event::{Event, Gravity, Problem};
use crate::list::SentList;
use crate::summary::LARGE_FILE;
use crate::trouble::{Doing, Who};

/// Encoded bytes after which a piece of a list is handed over.
const PART_BYTES: usize = 64 << 10;
/// The growth of a list in one piece is told at each such number.
pub(crate) const LISTING_STEP: u64 = 100;
/// The io-error bit for what vanished.
const IO_ERROR_VANISHED: i32 = 2;

impl Scan<'_> {
    /// The index before a list's first entry stands for the directory itself, values included.
    pub(super) fn keep_long_values_of_dir(&mut self, attributes: &Attributes) {
        if let Some(names) = attributes.xattrs.as_ref().and_then(XattrSet::requestable) {
            self.walk.list.keep_long_values_of_dir(Arc::clone(names));
        }
    }

    pub(super) fn begin_list(&mut self, ndx_start: i32, dir: Option<i32>) {
        self.walk.list = SentList::new(ndx_start);
        self.walk.list_dir = dir;
        self.encoder.begin_list(ndx_start);
    }

    /// Writes the entry `.` of a source that ends in a slash.
    pub(super) fn emit_dot(
        &mut self,
        stat: &Stat,
        dir: &Dir,
        root: u16,
        mark: DirMark,
    ) -> Result<(), SenderGone> {
        self.walk.next_dir += 1;
        self.walk.path.clear();
        self.walk.path.push(b'.');
        self.walk.list.enter(root, b"");
        let attributes = self.attributes(root, dir, b".", stat).unwrap_or_default();
        self.keep_long_values_of_dir(&attributes);
        self.emit(b".", stat, mark, &attributes, None)
    }

    /// Writes the entries of a directory that was found in its parent's listing.
    pub(super) fn emit_found_earlier(&mut self, pending: &Pending) -> Result<(), SenderGone> {
        let (parent, name) = split_path(&pending.path);
        let implied_dirs = self.rules.implied_dirs;
        let is_sent = |place: &&Place| place.mark != DirMark::Implied || implied_dirs;
        for place in pending.places.iter().filter(is_sent) {
            self.walk.path.clear();
            self.walk.path.extend_from_slice(&pending.path);
            self.walk.list.enter(place.root, parent);
            self.emit(name, &place.stat, place.mark, &place.attributes, None)?;
        }
        Ok(())
    }

    /// Writes the entry whose path is in `walk.path`.
    pub(super) fn emit(
        &mut self,
        name: &[u8],
        stat: &Stat,
        dir_mark: DirMark,
        attributes: &Attributes,
        checksum: Option<&[u8]>,
    ) -> Result<(), SenderGone> {
        let kind = stat.kind();
        let size = match kind {
            Kind::Device | Kind::Special | Kind::Unknown => 0,
            Kind::Regular | Kind::Dir | Kind::Symlink => stat.size,
        };
        let linked = self.rules.hard_links && kind != Kind::Dir && stat.links > 1;
        let walk = &mut self.walk;
        let entry = FileEntry {
            name: &walk.path,
            mode: self.rules.mode(stat.mode),
            size,
            mtime: stat.mtime,
            mtime_nsec: stat.mtime_nsec,
            atime: stat.atime,
            uid: stat.uid,
            gid: stat.gid,
            rdev: (kind == Kind::Device).then_some(stat.rdev),
            link_target: (kind == Kind::Symlink).then_some(walk.target.as_slice()),
            hard_link: linked.then_some((stat.dev, stat.ino)),
            checksum,
            dir_mark,
            access_acl: attributes.access_acl.as_ref(),
            default_acl: attributes.default_acl.as_ref(),
            xattrs: attributes.xattrs.as_ref(),
        };
        self.encoder.entry(&mut walk.bytes, &entry);
        walk.list.push(name, kind, size);
        if self.rules.keeps_details {
            walk.list.keep_detail(stat, entry.mode, entry.link_target);
        }
        if let Some(names) = attributes.xattrs.as_ref().and_then(XattrSet::requestable) {
            walk.list.keep_long_values(Arc::clone(names));
        }
        walk.totals.count(kind, size);
        let entries = walk.totals.files.total();
        self.progress.scanned_files.fetch_add(1, Relaxed);
        if kind == Kind::Regular {
            self.progress.scanned_bytes.fetch_add(size, Relaxed);
        }
        if !self.rules.incremental && entries.is_multiple_of(LISTING_STEP) {
            (self.monitor)(Event::Listing(entries));
        }
        let walk = &mut self.walk;
        if walk.bytes.len() < PART_BYTES {
            return Ok(());
        }
        let bytes = std::mem::take(&mut walk.bytes);
        let dir = walk.list_dir.take();
        self.desk.offer(Scanned::Part(ListPart { dir, bytes, list: None, io_error: 0 }))
    }

    /// Ends the list with all io-error bits that the far side has not been told of.
    pub(super) fn end_list(&mut self) -> Result<(), SenderGone> {
        if !self.rules.incremental {
            (self.monitor)(Event::ListComplete(self.walk.totals.files.total()));
        }
        let walk = &mut self.walk;
        let news = if walk.io_error == walk.told_io_error { 0 } else { walk.io_error };
        walk.told_io_error = walk.io_error;
        let told = if self.rules.ignore_errors { 0 } else { news };
        self.encoder.end_list(&mut walk.bytes, told);
        let next = SentList::new(walk.list.ndx_end());
        let list = std::mem::replace(&mut walk.list, next);
        let bytes = std::mem::take(&mut walk.bytes);
        let dir = walk.list_dir.take();
        let io_error = if self.encoder.carries_io_error() { 0 } else { told };
        self.desk.offer(Scanned::Part(ListPart { dir, bytes, list: Some(list), io_error }))
    }

    pub(super) fn problem(&mut self, doing: Doing, error: tree::Error) {
        let gravity = if error.is_not_found() { Gravity::Vanished } else { Gravity::Error };
        self.note(gravity);
        let problem = Problem::system(Who::Sender, doing, error, gravity);
        (self.monitor)(Event::Problem(problem));
    }

    pub(super) fn report(&mut self, dir: &Dir, name: &[u8], text: String, gravity: Gravity) {
        self.note(gravity);
        let problem = Problem::other(Who::Sender, dir.path_of(name), text, gravity);
        (self.monitor)(Event::Problem(problem));
    }

    pub(super) fn note(&mut self, gravity: Gravity) {
        match gravity {
            Gravity::Warning => {}
            Gravity::Vanished => {
                self.walk.io_error |= IO_ERROR_VANISHED;
                self.walk.totals.vanished += 1;
            }
            Gravity::Error => {
                self.walk.io_error |= IO_ERROR_GENERAL;
                self.walk.totals.errors += 1;
            }
        }
    }
}

impl ScanTotals {
    fn count(&mut self, kind: Kind, size: u64) {
        self.files.add(kind);
        if matches!(kind, Kind::Regular | Kind::Symlink) {
            self.total_size += size;
        }
        if kind == Kind::Regular {
            self.large_files += u64::from(size >= LARGE_FILE);
            self.largest = self.largest.max(size);
        }
    }
}

fn split_path(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}
