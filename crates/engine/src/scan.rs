//! Which files are sent, in which order: the thread that walks the sources and writes file lists.
//!
//! Entries leave in the order that the far side sorts them into, so the place on the wire is the
//! index. With incremental recursion each directory is a list of its own, parents before
//! children, depth first; without it all of them make one list.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use filter::{ActiveFilter, Verdict};
use tree::{Dir, Kind, Listed, Listing, Stat};
use wire::flist::order::compare_siblings;
use wire::flist::{DirMark, FileEntry, FlistEncoder};
use wire::options::ChmodRules;
use wire::xattr::XattrSet;

use crate::attributes::{self, AttributeReader, Attributes};
use crate::desk::{Desk, ListPart, Scanned, SenderGone};
use crate::digests::Digests;
use crate::event::{Event, Gravity, Monitor, Problem};
use crate::list::SentList;
use crate::progress::Progress;
use crate::sources::{Source, Sources};
use crate::summary::{Counts, LARGE_FILE};

/// Encoded bytes after which a piece of a list is handed over.
const PART_BYTES: usize = 64 << 10;
/// The longest path that fits the wire.
const MAX_PATH: usize = 4_095;
/// The io-error bit for anything unreadable; the far side then deletes nothing.
const IO_ERROR_GENERAL: i32 = 1;
/// The io-error bit for what vanished.
const IO_ERROR_VANISHED: i32 = 2;

/// What of the session's options the scan needs.
#[derive(Clone, Debug)]
pub(crate) struct ScanRules {
    pub(crate) recurse: bool,
    pub(crate) incremental: bool,
    pub(crate) links: bool,
    pub(crate) hard_links: bool,
    pub(crate) one_file_system: bool,
    pub(crate) checksum: Option<delta::SumKind>,
    pub(crate) chmod: ChmodRules,
    pub(crate) umask: u32,
    pub(crate) ignore_errors: bool,
}

impl ScanRules {
    /// Returns the mode that is sent for a mode.
    fn mode(&self, mode: u32) -> u32 {
        match Kind::from_mode(mode) {
            Kind::Symlink => mode,
            kind => self.chmod.apply(mode, kind == Kind::Dir, self.umask),
        }
    }
}

/// What the scan found, for the summary.
#[derive(Debug, Default)]
pub(crate) struct ScanTotals {
    pub(crate) files: Counts,
    pub(crate) total_size: u64,
    pub(crate) large_files: u64,
    pub(crate) largest: u64,
    pub(crate) errors: u64,
    pub(crate) vanished: u64,
}

/// A directory whose content is still to be listed.
#[derive(Debug)]
struct Pending {
    /// Path from the transfer root; empty for the root itself.
    path: Vec<u8>,
    /// Where it is read: more than one when sources share its name.
    places: Vec<Place>,
    /// Its directory number on the wire.
    number: i32,
    depth: usize,
}

#[derive(Debug)]
struct Place {
    root: u16,
    stat: Stat,
    /// `None` for a mount point under `--one-file-system`.
    scan: bool,
    mark: DirMark,
    /// Kept only where the entry is written later than it is found.
    attributes: Attributes,
}

/// The walk over all sources.
pub(crate) struct Scan<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) rules: ScanRules,
    pub(crate) filter: ActiveFilter,
    /// Whether any rule can leave anything out.
    pub(crate) filters: bool,
    pub(crate) attributes: AttributeReader,
    pub(crate) encoder: FlistEncoder,
    pub(crate) desk: &'a Desk,
    pub(crate) monitor: Monitor<'a>,
    pub(crate) progress: &'a Progress,
    pub(crate) walk: Walk,
}

/// What changes while the walk goes on.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    stack: Vec<Pending>,
    /// Which source the filter is set up for, and how many directories it has entered.
    filter_source: Option<u16>,
    filter_depth: usize,
    /// The list in the making: its encoded entries, and what is remembered of them.
    bytes: Vec<u8>,
    list: SentList,
    list_dir: Option<i32>,
    next_dir: i32,
    /// The path of the entry in the making, and the target of its symlink.
    path: Vec<u8>,
    target: Vec<u8>,
    io_error: i32,
    told_io_error: i32,
    totals: ScanTotals,
}

impl Scan<'_> {
    /// Walks everything; ends early when the sender has gone.
    pub(crate) fn run(mut self) -> Result<(), SenderGone> {
        self.begin_list(i32::from(self.rules.incremental), None);
        self.top()?;
        if self.rules.incremental {
            self.end_list()?;
        }
        while let Some(pending) = self.walk.stack.pop() {
            self.directory(pending)?;
        }
        if !self.rules.incremental {
            self.end_list()?;
        }
        self.progress.scan_done.store(true, Relaxed);
        self.desk
            .offer(Scanned::Finished(Box::new(self.walk.totals)))
    }

    /// Lists the sources themselves; for those that end in a slash `.` and what is in it.
    fn top(&mut self) -> Result<(), SenderGone> {
        let sources = self.sources;
        let mut all = Listing::default();
        let mut dirs = Vec::new();
        for source in sources.given() {
            let dir = match sources.roots()[usize::from(source.root)].open_dir(b".") {
                Ok(dir) => dir,
                Err(error) => {
                    self.problem(&error);
                    continue;
                }
            };
            self.turn_filter_to(source, &dir);
            let place = u16::try_from(dirs.len()).unwrap_or(u16::MAX);
            let mut listing = Listing::default();
            if source.name == b"." {
                self.emit_dot(&source.stat, &dir, source.root)?;
                self.read_names(&dir, &mut listing, place);
            } else {
                let _ = listing.push(&source.name, source.stat.kind(), place);
            }
            self.keep_wanted(&mut listing, b"");
            for listed in listing.iter() {
                let _ = all.push(listed.name, listed.kind, place);
            }
            dirs.push((source.root, dir));
        }
        self.emit_listing(&mut all, &dirs, Vec::new(), true)
    }

    /// Has the filter begin anew for the names of one source.
    fn turn_filter_to(&mut self, source: &Source, dir: &Dir) {
        if self.walk.filter_source == Some(source.root) {
            return;
        }
        self.leave_filter(0);
        self.filter.set_base(&source.base);
        self.walk.filter_source = Some(source.root);
        // The directory that a source is named in is not part of the transfer.
        if source.name == b"." {
            self.enter_filter(b"", dir);
        }
    }

    fn leave_filter(&mut self, depth: usize) {
        while self.walk.filter_depth > depth {
            self.filter.leave_dir();
            self.walk.filter_depth -= 1;
        }
    }

    /// Writes the entry `.` of a source that ends in a slash.
    fn emit_dot(&mut self, stat: &Stat, dir: &Dir, root: u16) -> Result<(), SenderGone> {
        self.walk.next_dir += 1;
        self.walk.path.clear();
        self.walk.path.push(b'.');
        self.walk.list.enter(root, b"");
        let attributes = self.attributes(dir, b".", stat).unwrap_or_default();
        self.emit(b".", stat, DirMark::Top, &attributes, None)
    }

    /// Lists one directory. Without incremental recursion its own entry comes first.
    fn directory(&mut self, pending: Pending) -> Result<(), SenderGone> {
        self.back_to_parent(&pending);
        if self.rules.incremental {
            // One index stands for the directory itself, before those of its entries.
            self.begin_list(self.walk.list.ndx_end() + 1, Some(pending.number));
            self.walk.list.enter(pending.places[0].root, &pending.path);
        } else {
            self.emit_found_earlier(&pending)?;
        }
        let mut listing = Listing::default();
        let mut dirs = Vec::new();
        for place in pending.places.iter().filter(|place| place.scan) {
            match self.sources.roots()[usize::from(place.root)].open_dir(&pending.path) {
                Ok(dir) => dirs.push((place.root, dir)),
                Err(error) => self.problem(&error),
            }
        }
        if let Some((_, dir)) = dirs.first() {
            self.enter_filter(&pending.path, dir);
        }
        for ((_, dir), place) in dirs.iter().zip(0..) {
            self.read_names(dir, &mut listing, place);
        }
        self.keep_wanted(&mut listing, &pending.path);
        self.emit_listing(&mut listing, &dirs, pending.path, false)?;
        if self.rules.incremental {
            self.end_list()?;
        }
        Ok(())
    }

    /// Writes the entries of a directory that was found in its parent's listing.
    fn emit_found_earlier(&mut self, pending: &Pending) -> Result<(), SenderGone> {
        let (parent, name) = split_path(&pending.path);
        for place in &pending.places {
            self.walk.path.clear();
            self.walk.path.extend_from_slice(&pending.path);
            self.walk.list.enter(place.root, parent);
            self.emit(name, &place.stat, place.mark, &place.attributes, None)?;
        }
        Ok(())
    }

    /// Brings the filter to where it was when the directory was found.
    fn back_to_parent(&mut self, pending: &Pending) {
        let sources = self.sources;
        let root = pending.places[0].root;
        if self.filters && self.walk.filter_source != Some(root) {
            let source = sources.given().iter().find(|source| source.root == root);
            let dir = sources.roots()[usize::from(root)].open_dir(b".");
            if let (Some(source), Ok(dir)) = (source, dir) {
                self.turn_filter_to(source, &dir);
            }
        }
        self.leave_filter(pending.depth);
    }

    fn enter_filter(&mut self, path: &[u8], dir: &Dir) {
        self.walk.filter_depth += 1;
        let mut read = |name: &[u8]| attributes::read_merge_file(dir, name);
        if let Err(error) = self.filter.enter_dir(path, &mut read) {
            let text = error.to_string();
            self.report(dir, b"", text, Gravity::Error);
        }
    }

    fn read_names(&mut self, dir: &Dir, listing: &mut Listing, place: u16) {
        if let Err(error) = dir.read_names(listing, place) {
            self.problem(&error);
        }
    }

    /// Sorts and writes what was found in the directories `dirs`, which all have the
    /// path `parent`, and remembers the directories among it.
    fn emit_listing(
        &mut self,
        listing: &mut Listing,
        dirs: &[(u16, Dir)],
        parent: Vec<u8>,
        is_top: bool,
    ) -> Result<(), SenderGone> {
        listing.sort_by(|a, b| {
            compare_siblings(a.name, a.kind == Kind::Dir, b.name, b.kind == Kind::Dir)
        });
        let digests = self
            .rules
            .checksum
            .map(|kind| Digests::of(kind, listing, dirs));
        let mut found: Vec<Pending> = Vec::new();
        let mut entered = None;
        for (listed, index) in listing.iter().zip(0..) {
            let (root, dir) = &dirs[usize::from(listed.place)];
            if entered != Some(*root) {
                self.walk.list.enter(*root, &parent);
                entered = Some(*root);
            }
            let Some((stat, attributes)) = self.look_at(dir, listed, &parent) else {
                continue;
            };
            if listed.kind != Kind::Dir {
                let digest = digests.as_ref().and_then(|digests| digests.at(index));
                self.emit(listed.name, &stat, DirMark::Content, &attributes, digest)?;
                continue;
            }
            let place = self.place_of(*root, &stat, attributes, is_top);
            if self.rules.incremental {
                self.emit(listed.name, &stat, place.mark, &place.attributes, None)?;
            }
            self.remember(&mut found, place);
        }
        // The stack gives the directory back first that was pushed last.
        self.walk.stack.extend(found.into_iter().rev());
        Ok(())
    }

    fn keep_wanted(&mut self, listing: &mut Listing, parent: &[u8]) {
        let Self {
            filter,
            walk,
            rules,
            ..
        } = self;
        if !self.filters && rules.recurse {
            return;
        }
        listing.retain(|listed| {
            set_path(&mut walk.path, parent, listed.name);
            let is_dir = listed.kind == Kind::Dir;
            filter.check(&walk.path, is_dir) == Verdict::Include && (rules.recurse || !is_dir)
        });
    }

    /// Reads what is to be known of one name; `None` when it cannot be sent, which is reported.
    fn look_at(
        &mut self,
        dir: &Dir,
        listed: Listed<'_>,
        parent: &[u8],
    ) -> Option<(Stat, Attributes)> {
        set_path(&mut self.walk.path, parent, listed.name);
        if self.walk.path.len() > MAX_PATH {
            let text = format!("path is longer than {MAX_PATH} bytes: not sent");
            self.report(dir, listed.name, text, Gravity::Error);
            return None;
        }
        let stat = match dir.stat(listed.name) {
            Ok(stat) => stat,
            Err(error) => {
                self.problem(&error);
                return None;
            }
        };
        if (stat.kind() == Kind::Dir) != (listed.kind == Kind::Dir) {
            let text = "changed its type while it was listed: not sent".to_owned();
            self.report(dir, listed.name, text, Gravity::Vanished);
            return None;
        }
        if stat.kind() == Kind::Symlink && self.rules.links
            && let Err(error) = dir.read_link(listed.name, &mut self.walk.target) {
                self.problem(&error);
                return None;
            }
        let attributes = self.attributes(dir, listed.name, &stat)?;
        Some((stat, attributes))
    }

    fn attributes(&mut self, dir: &Dir, name: &[u8], stat: &Stat) -> Option<Attributes> {
        match self.attributes.read(dir, name, stat, &self.filter) {
            Ok(attributes) => Some(attributes),
            Err(error) => {
                self.problem(&error);
                None
            }
        }
    }

    fn place_of(&self, root: u16, stat: &Stat, attributes: Attributes, is_top: bool) -> Place {
        let home = self
            .sources
            .given()
            .iter()
            .find(|source| source.root == root);
        let elsewhere = home.is_some_and(|source| source.stat.dev != stat.dev);
        let scan = !(self.rules.one_file_system && elsewhere);
        let named = is_top && home.is_some_and(|source| source.name != b".");
        let mark = match (scan, named) {
            (false, _) => DirMark::NoContent,
            (true, true) => DirMark::Top,
            (true, false) => DirMark::Content,
        };
        Place {
            root,
            stat: *stat,
            scan,
            mark,
            attributes,
        }
    }

    /// Keeps a directory for later; one that repeats the name before it is merged into that one.
    fn remember(&mut self, found: &mut Vec<Pending>, place: Place) {
        let depth = self.walk.filter_depth;
        let number = self.walk.next_dir;
        self.walk.next_dir += 1;
        match found.last_mut() {
            Some(last) if last.path == self.walk.path => last.places.push(place),
            _ => {
                let path = self.walk.path.as_slice().to_vec();
                found.push(Pending {
                    path,
                    places: vec![place],
                    number,
                    depth,
                });
            }
        }
    }

    /// Writes the entry whose path is in `walk.path`.
    fn emit(
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
        if let Some(names) = attributes.xattrs.as_ref().and_then(XattrSet::requestable) {
            walk.list.keep_long_values(Arc::clone(names));
        }
        walk.totals.count(kind, size);
        self.progress.scanned_files.fetch_add(1, Relaxed);
        if kind == Kind::Regular {
            self.progress.scanned_bytes.fetch_add(size, Relaxed);
        }
        if walk.bytes.len() < PART_BYTES {
            return Ok(());
        }
        let bytes = std::mem::take(&mut walk.bytes);
        let dir = walk.list_dir.take();
        self.desk.offer(Scanned::Part(ListPart {
            dir,
            bytes,
            list: None,
            io_error: 0,
        }))
    }

    fn begin_list(&mut self, ndx_start: i32, dir: Option<i32>) {
        self.walk.list = SentList::new(ndx_start);
        self.walk.list_dir = dir;
        self.encoder.begin_list(ndx_start);
    }

    /// Ends the list with all io-error bits that the far side has not been told of.
    fn end_list(&mut self) -> Result<(), SenderGone> {
        let walk = &mut self.walk;
        let news = if walk.io_error == walk.told_io_error {
            0
        } else {
            walk.io_error
        };
        walk.told_io_error = walk.io_error;
        let told = if self.rules.ignore_errors { 0 } else { news };
        self.encoder.end_list(&mut walk.bytes, told);
        let next = SentList::new(walk.list.ndx_end());
        let list = std::mem::replace(&mut walk.list, next);
        let bytes = std::mem::take(&mut walk.bytes);
        let dir = walk.list_dir.take();
        let io_error = if self.encoder.carries_io_error() {
            0
        } else {
            told
        };
        self.desk.offer(Scanned::Part(ListPart {
            dir,
            bytes,
            list: Some(list),
            io_error,
        }))
    }

    fn problem(&mut self, error: &tree::Error) {
        let gravity = if error.is_not_found() {
            Gravity::Vanished
        } else {
            Gravity::Error
        };
        self.note(gravity);
        let problem = Problem {
            path: error.path().to_owned(),
            text: error.to_string(),
            gravity,
        };
        (self.monitor)(Event::Problem(problem));
    }

    fn report(&mut self, dir: &Dir, name: &[u8], text: String, gravity: Gravity) {
        self.note(gravity);
        (self.monitor)(Event::Problem(Problem {
            path: dir.path_of(name),
            text,
            gravity,
        }));
    }

    fn note(&mut self, gravity: Gravity) {
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

fn set_path(path: &mut Vec<u8>, parent: &[u8], name: &[u8]) {
    path.clear();
    if !parent.is_empty() {
        path.extend_from_slice(parent);
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

fn split_path(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}
