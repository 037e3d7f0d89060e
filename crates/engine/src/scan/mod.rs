//! Which files are sent, in which order: the thread that walks the sources and writes file lists.
//!
//! Entries leave in the order that the far side sorts them into, so the place on the wire is the
//! index. With incremental recursion each directory is a list of its own, parents before
//! children, depth first; without it all of them make one list.

mod entries;
mod filtering;

pub(crate) use filtering::SourceFilter;

use std::sync::atomic::Ordering::Relaxed;

use tree::{Dir, Kind, Listed, Listing, Stat};
use wire::flist::order::compare_siblings;
use wire::flist::{DirMark, FlistEncoder};
use wire::options::ChmodRules;

use crate::attributes::{AttributeReader, Attributes};
use crate::desk::{Desk, Scanned, SenderGone};
use crate::digests::Digests;
use crate::event::{Gravity, Monitor};
use crate::list::SentList;
use crate::progress::Progress;
use crate::sources::Sources;
use crate::summary::Counts;
use crate::trouble::Doing;

/// The longest path that fits the wire.
const MAX_PATH: usize = 4_095;

/// The io-error bit for anything unreadable; the far side then deletes nothing.
const IO_ERROR_GENERAL: i32 = 1;

/// What of the session's options the scan needs.
#[derive(Clone, Debug)]
pub(crate) struct ScanRules {
    pub(crate) recurse: bool,
    pub(crate) incremental: bool,
    pub(crate) links: bool,
    pub(crate) hard_links: bool,
    /// How often `--one-file-system` was given.
    pub(crate) one_file_system: u8,
    pub(crate) checksum: Option<delta::SumKind>,
    pub(crate) chmod: ChmodRules,
    pub(crate) umask: u32,
    pub(crate) ignore_errors: bool,
    /// Whether more is remembered of entries than a request needs.
    pub(crate) keeps_details: bool,
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
}

#[derive(Debug)]
struct Place {
    root: u16,
    stat: Stat,
    /// False for a mount point under `--one-file-system`.
    scan: bool,
    mark: DirMark,
    attributes: Attributes,
    /// How deep the source's filter stood where it was found.
    filter_depth: usize,
}

/// The walk over all sources.
pub(crate) struct Scan<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) rules: ScanRules,
    /// The filter of each source, by the number of its root.
    pub(crate) filters: Vec<SourceFilter>,
    /// Whether any rule can leave anything out.
    pub(crate) has_rules: bool,
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
        if self.sources.missing() > 0 {
            // What belongs to a source that is not there must not be taken for deleted.
            self.walk.io_error |= IO_ERROR_GENERAL;
        }
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
        self.desk.offer(Scanned::Finished(Box::new(self.walk.totals)))
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
                    self.problem(Doing::OPEN_DIR, error);
                    continue;
                }
            };
            if source.stat.kind() == Kind::Dir && !self.rules.recurse {
                let text = "is a directory, and only files are asked for: not sent".to_owned();
                self.report(&dir, &source.name, text, Gravity::Warning);
                continue;
            }
            let place = u16::try_from(dirs.len()).unwrap_or(u16::MAX);
            let mut listing = Listing::default();
            if source.name == b"." {
                self.emit_dot(&source.stat, &dir, source.root)?;
                self.enter_filter(source.root, b"", &dir);
                self.read_names(&dir, &mut listing, place);
            } else {
                let _ = listing.push(&source.name, source.stat.kind(), place);
            }
            self.keep_wanted(&mut listing, source.root, b"");
            all.append(listing);
            dirs.push((source.root, dir));
        }
        self.emit_listing(&mut all, &dirs, Vec::new(), true)
    }

    /// Lists one directory. Without incremental recursion its own entry comes first.
    fn directory(&mut self, pending: Pending) -> Result<(), SenderGone> {
        if self.rules.incremental {
            // One index stands for the directory itself, before those of its entries.
            self.begin_list(self.walk.list.ndx_end() + 1, Some(pending.number));
            let first = &pending.places[0];
            self.walk.list.enter(first.root, &pending.path);
            self.keep_long_values_of_dir(&pending.places[0].attributes);
        } else {
            self.emit_found_earlier(&pending)?;
        }
        let mut all = Listing::default();
        let mut dirs = Vec::new();
        for place in pending.places.iter().filter(|place| place.scan) {
            let dir = match self.sources.roots()[usize::from(place.root)].open_dir(&pending.path) {
                Ok(dir) => dir,
                Err(error) => {
                    self.problem(Doing::OPEN_DIR, error);
                    continue;
                }
            };
            self.leave_filter(place.root, place.filter_depth);
            self.enter_filter(place.root, &pending.path, &dir);
            let number = u16::try_from(dirs.len()).unwrap_or(u16::MAX);
            let mut listing = Listing::default();
            self.read_names(&dir, &mut listing, number);
            self.keep_wanted(&mut listing, place.root, &pending.path);
            all.append(listing);
            dirs.push((place.root, dir));
        }
        self.emit_listing(&mut all, &dirs, pending.path, false)?;
        if self.rules.incremental {
            self.end_list()?;
        }
        Ok(())
    }

    fn read_names(&mut self, dir: &Dir, listing: &mut Listing, place: u16) {
        if let Err(error) = dir.read_names(listing, place) {
            self.problem(Doing::READ_DIR, error);
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
        let digests = self.rules.checksum.map(|kind| Digests::of(kind, listing, dirs));
        let mut found: Vec<Pending> = Vec::new();
        let mut entered = None;
        for (listed, index) in listing.iter().zip(0..) {
            let (root, dir) = &dirs[usize::from(listed.place)];
            if entered != Some(*root) {
                self.walk.list.enter(*root, &parent);
                entered = Some(*root);
            }
            let Some((stat, attributes)) = self.look_at(*root, dir, listed, &parent) else {
                continue;
            };
            if listed.kind != Kind::Dir {
                let digest = digests.as_ref().and_then(|digests| digests.at(index));
                self.emit(listed.name, &stat, DirMark::Content, &attributes, digest)?;
                continue;
            }
            let place = self.place_of(*root, &stat, attributes, is_top);
            if !place.scan && self.rules.one_file_system > 1 {
                continue;
            }
            if self.rules.incremental {
                self.emit(listed.name, &stat, place.mark, &place.attributes, None)?;
            }
            self.remember(&mut found, place);
        }
        // The stack gives the directory back first that was pushed last.
        self.walk.stack.extend(found.into_iter().rev());
        Ok(())
    }

    /// Reads what is to be known of one name; `None` when it cannot be sent, which is reported.
    fn look_at(
        &mut self,
        root: u16,
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
                self.problem(Doing::READLINK_STAT, error);
                return None;
            }
        };
        if (stat.kind() == Kind::Dir) != (listed.kind == Kind::Dir) {
            let text = "changed its type while it was listed: not sent".to_owned();
            self.report(dir, listed.name, text, Gravity::Error);
            return None;
        }
        if stat.kind() == Kind::Symlink
            && self.rules.links
            && let Err(error) = dir.read_link(listed.name, &mut self.walk.target)
        {
            self.problem(Doing::READLINK_STAT, error);
            return None;
        }
        let attributes = self.attributes(root, dir, listed.name, &stat)?;
        Some((stat, attributes))
    }

    fn attributes(&mut self, root: u16, dir: &Dir, name: &[u8], stat: &Stat) -> Option<Attributes> {
        let filter = &self.filters[usize::from(root)].filter;
        match self.attributes.read(dir, name, stat, filter) {
            Ok(attributes) => Some(attributes),
            Err(error) => {
                self.problem(Doing::XATTR_READ, error);
                None
            }
        }
    }

    fn place_of(&self, root: u16, stat: &Stat, attributes: Attributes, is_top: bool) -> Place {
        let home = self.sources.given().iter().find(|source| source.root == root);
        let elsewhere = home.is_some_and(|source| source.stat.dev != stat.dev);
        let scan = self.rules.one_file_system == 0 || !elsewhere;
        let named = is_top && home.is_some_and(|source| source.name != b".");
        let mark = match (scan, named) {
            (false, _) => DirMark::NoContent,
            (true, true) => DirMark::Top,
            (true, false) => DirMark::Content,
        };
        let filter_depth = self.filters[usize::from(root)].depth;
        Place { root, stat: *stat, scan, mark, attributes, filter_depth }
    }

    /// Keeps a directory for later; one that repeats the name before it is merged into that one.
    fn remember(&mut self, found: &mut Vec<Pending>, place: Place) {
        let number = self.walk.next_dir;
        self.walk.next_dir += 1;
        match found.last_mut() {
            Some(last) if last.path == self.walk.path => last.places.push(place),
            _ => {
                let path = self.walk.path.as_slice().to_vec();
                found.push(Pending { path, places: vec![place], number });
            }
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
