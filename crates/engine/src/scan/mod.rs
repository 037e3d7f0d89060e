//! Which files are sent, in which order: the thread that walks the sources and writes file lists.
//!
//! Entries leave in the order that the far side sorts them into, so the place on the wire is the
//! index. With incremental recursion each directory is a list of its own, parents before
//! children, depth first; without it all of them make one list.

mod asked;
mod entries;
mod filtering;

pub(crate) use entries::LISTING_STEP;
pub(crate) use filtering::SourceFilter;

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use tree::{Dir, Follow, Kind, Listed, Listing, Stat};
use wire::charset::Charset;
use wire::flist::order::compare_siblings;
use wire::flist::{DirMark, FlistEncoder};
use wire::options::ChmodRules;

use crate::attributes::{AttributeReader, Attributes};
use crate::desk::{Desk, Scanned, SenderGone};
use crate::digests::Digests;
use crate::event::{Event, Gravity, Monitor, Problem};
use crate::list::SentList;
use crate::look::Look;
use crate::notice::Notice;
use crate::progress::Progress;
use crate::sources::Sources;
use crate::summary::Counts;
use crate::trouble::{Doing, Trouble, Who};

/// The longest path that fits the wire.
const MAX_PATH: usize = 4_095;

/// The io-error bit for anything unreadable; the far side then deletes nothing.
const IO_ERROR_GENERAL: i32 = 1;

/// What stands before the target of a munged symlink.
const MUNGED: &[u8] = b"/rsyncd-munged/";

/// What of the session's options the scan needs.
#[derive(Clone, Debug)]
pub(crate) struct ScanRules {
    pub(crate) recurse: bool,
    /// Whether directories are listed without what is in them.
    pub(crate) dirs: bool,
    /// Whether the directories above a source are listed.
    pub(crate) implied_dirs: bool,
    pub(crate) munge_links: bool,
    pub(crate) look: Look,
    pub(crate) follow: Follow,
    pub(crate) incremental: bool,
    pub(crate) hard_links: bool,
    /// How often `--one-file-system` was given.
    pub(crate) one_file_system: u8,
    pub(crate) checksum: Option<delta::SumKind>,
    pub(crate) chmod: ChmodRules,
    pub(crate) umask: u32,
    pub(crate) ignore_errors: bool,
    /// The charset of names here, which travel as UTF-8.
    pub(crate) charset: Option<Charset>,
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
    /// The sources that it is, or that lie below it.
    asked: Range<usize>,
}

/// A directory whose names are being listed.
#[derive(Debug)]
pub(crate) struct OpenDir {
    pub(crate) root: u16,
    pub(crate) dir: Dir,
    /// The device of the source that it belongs to.
    dev: u64,
    /// Whether its names were read, and not only those that were asked for.
    is_read: bool,
}

#[derive(Debug)]
struct Place {
    root: u16,
    stat: Stat,
    /// The device of its source.
    dev: u64,
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
        if !self.rules.incremental {
            (self.monitor)(Event::Listing(0));
        }
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
        for source in sources.given().iter().filter(|source| source.name == b".") {
            let Some(dir) = self.open(source.root, b".") else { continue };
            if source.stat.kind() == Kind::Dir && !self.rules.recurse && !self.rules.dirs {
                self.skip_directory(b".");
                continue;
            }
            let mark = if source.implied { DirMark::Implied } else { DirMark::Top };
            self.emit_dot(&source.stat, &dir, source.root, mark)?;
            if source.implied {
                continue;
            }
            self.enter_filter(source.root, b"", &dir)?;
            let open = OpenDir { root: source.root, dir, dev: source.stat.dev, is_read: true };
            self.add_names(&mut all, &mut dirs, open, b"");
        }
        let dots = sources.given().iter().take_while(|source| source.name == b".").count();
        let asked = dots..sources.given().len();
        for root in 0..u16::try_from(sources.roots().len()).unwrap_or(u16::MAX) {
            self.add_asked(&mut all, &mut dirs, root, b"", asked.clone());
        }
        self.emit_listing(&mut all, &dirs, Vec::new(), asked)
    }

    /// Lists one directory. Without incremental recursion its own entry comes first.
    fn directory(&mut self, pending: Pending) -> Result<(), SenderGone> {
        if self.rules.incremental {
            // One index stands for the directory itself, before those of its entries.
            self.begin_list(self.walk.list.ndx_end() + 1, Some(pending.number));
            let first = &pending.places[0];
            self.walk.list.enter(first.root, &pending.path);
            self.walk.list.keep_dir_size(first.stat.size);
            if self.rules.keeps_details {
                self.walk.list.keep_detail_of_dir(&first.stat, self.rules.mode(first.stat.mode));
            }
            self.keep_long_values_of_dir(&pending.places[0].attributes);
        } else {
            self.emit_found_earlier(&pending)?;
        }
        let mut all = Listing::default();
        let mut dirs = Vec::new();
        for place in pending.places.iter().filter(|place| place.scan) {
            let Some(dir) = self.open(place.root, &pending.path) else { continue };
            self.leave_filter(place.root, place.filter_depth);
            self.enter_filter(place.root, &pending.path, &dir)?;
            let open = OpenDir { root: place.root, dir, dev: place.dev, is_read: true };
            self.add_names(&mut all, &mut dirs, open, &pending.path);
        }
        if pending.asked.len() > usize::from(pending.places.iter().any(|place| place.scan)) {
            for place in &pending.places {
                if !place.scan
                    && let Some(dir) = self.open(place.root, &pending.path)
                {
                    // Its merge files rule what was asked for below it.
                    self.leave_filter(place.root, place.filter_depth);
                    self.enter_filter(place.root, &pending.path, &dir)?;
                }
                let asked = pending.asked.clone();
                self.add_asked(&mut all, &mut dirs, place.root, &pending.path, asked);
            }
        }
        self.emit_listing(&mut all, &dirs, pending.path, pending.asked)?;
        if self.rules.incremental {
            self.end_list()?;
        }
        Ok(())
    }

    fn open(&mut self, root: u16, path: &[u8]) -> Option<Dir> {
        let root = &self.sources.roots()[usize::from(root)];
        match root.open_dir_with(path, self.rules.follow) {
            Ok(dir) => Some(dir),
            Err(error) => {
                self.problem(Doing::OPEN_DIR, error);
                None
            }
        }
    }

    /// Adds what a directory holds, as far as the filter keeps it.
    fn add_names(
        &mut self,
        all: &mut Listing,
        dirs: &mut Vec<OpenDir>,
        open: OpenDir,
        path: &[u8],
    ) {
        let place = u16::try_from(dirs.len()).unwrap_or(u16::MAX);
        let mut listing = Listing::default();
        self.read_names(&open.dir, &mut listing, place);
        self.see_through(&mut listing, &open.dir, path);
        self.keep_wanted(&mut listing, open.root, path);
        all.append(listing);
        dirs.push(open);
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
        dirs: &[OpenDir],
        parent: Vec<u8>,
        asked: Range<usize>,
    ) -> Result<(), SenderGone> {
        listing.sort_by(|a, b| {
            compare_siblings(a.name, a.kind == Kind::Dir, b.name, b.kind == Kind::Dir)
        });
        let digests =
            self.rules.checksum.map(|kind| Digests::of(kind, self.rules.look, listing, dirs));
        let mut found: Vec<Pending> = Vec::new();
        let mut entered = None;
        for (listed, index) in listing.iter().zip(0..) {
            let open = &dirs[usize::from(listed.place)];
            if entered != Some(open.root) {
                self.walk.list.enter(open.root, &parent);
                entered = Some(open.root);
            }
            let Some((stat, attributes)) = self.look_at(open, listed, &parent) else {
                continue;
            };
            if listed.kind != Kind::Dir {
                let digest = digests.as_ref().and_then(|digests| digests.at(index));
                self.emit(listed.name, &stat, DirMark::Content, &attributes, digest)?;
                continue;
            }
            let below = self.sources.at_or_below(asked.clone(), &self.walk.path);
            let (place, is_mount) = self.place_of(open, &stat, attributes, below.clone());
            if is_mount && self.rules.one_file_system > 1 {
                continue;
            }
            if self.rules.incremental {
                self.emit(listed.name, &stat, place.mark, &place.attributes, None)?;
            }
            self.remember(&mut found, place, below);
        }
        // The stack gives the directory back first that was pushed last.
        self.walk.stack.extend(found.into_iter().rev());
        Ok(())
    }

    /// Reads what is to be known of one name; `None` when it cannot be sent, which is reported.
    fn look_at(
        &mut self,
        open: &OpenDir,
        listed: Listed<'_>,
        parent: &[u8],
    ) -> Option<(Stat, Attributes)> {
        let dir = &open.dir;
        set_path(&mut self.walk.path, parent, listed.name);
        if self.walk.path.len() > MAX_PATH {
            self.note(Gravity::Error);
            let over = self.walk.path.len() - MAX_PATH;
            let name = String::from_utf8_lossy(&self.walk.path);
            let stock = format!("filename overflows max-path len by {over}: {name}");
            let ours = format!("path is longer than {MAX_PATH} bytes: not sent");
            let trouble = Trouble::Other { ours, stock };
            let path = dir.path_of(listed.name);
            let problem = Problem { path, trouble, gravity: Gravity::Error, who: Who::Sender };
            (self.monitor)(Event::Problem(problem));
            return None;
        }
        if let Some(source) = self.missing_source(listed) {
            return Some((source.stat, Attributes::default()));
        }
        self.walk.target.clear();
        let stat = match listed.kind == Kind::Dir && !open.is_read {
            // On the way to a source a symlink stands for where it leads.
            true => dir.stat_follow(listed.name),
            false => {
                let Walk { path, target, .. } = &mut self.walk;
                self.rules.look.stat(dir, listed.name, path, target)
            }
        };
        let Walk { path, target, .. } = &self.walk;
        if self.rules.look.copies_unsafe(target, path) {
            (self.monitor)(Event::Notice {
                notice: Notice::CopyingUnsafeSymlink,
                name: &crate::unsafe_link::quoted_link(path, target),
            });
        }
        let stat = match stat {
            Ok(stat) => stat,
            Err(error) => {
                self.cannot_look(dir, listed.name, error);
                return None;
            }
        };
        if (stat.kind() == Kind::Dir) != (listed.kind == Kind::Dir) {
            let text = "changed its type while it was listed: not sent".to_owned();
            self.report(dir, listed.name, text, Gravity::Error);
            return None;
        }
        if let Some(charset) = self.rules.charset {
            let Walk { path, target, .. } = &self.walk;
            let problem = if charset.to_wire(path).is_none() {
                Some(Problem::unsayable(Who::Sender, path))
            } else if charset.to_wire(target).is_none() {
                Some(Problem::unsayable_target(Who::Sender, dir.path_of(listed.name), target))
            } else {
                None
            };
            if let Some(problem) = problem {
                self.note(Gravity::Error);
                (self.monitor)(Event::Problem(problem));
                return None;
            }
        }
        if self.rules.munge_links {
            unmunge(&mut self.walk.target);
        }
        let attributes = self.attributes(open.root, dir, listed.name, &stat)?;
        Some((stat, attributes))
    }

    /// Finds out what the kinds of names are that are seen through.
    fn see_through(&mut self, listing: &mut Listing, dir: &Dir, parent: &[u8]) {
        let look = self.rules.look;
        let Walk { path, target, .. } = &mut self.walk;
        listing.set_kinds(|listed| {
            if !look.doubts(listed.kind) {
                return listed.kind;
            }
            set_path(path, parent, listed.name);
            // What leads nowhere is reported if the filter keeps it.
            look.stat(dir, listed.name, path, target).map_or(listed.kind, |stat| stat.kind())
        });
    }

    /// Reports a name whose attributes cannot be read.
    fn cannot_look(&mut self, dir: &Dir, name: &[u8], error: tree::Error) {
        let leads_nowhere = error.is_not_found()
            && self.rules.look.follows_links()
            && dir.stat(name).is_ok_and(|stat| stat.kind() == Kind::Symlink);
        if !leads_nowhere {
            return self.problem(Doing::READLINK_STAT, error);
        }
        self.note(Gravity::Error);
        let path = dir.path_of(name);
        let stock = format!("symlink has no referent: \"{}\"", path.display());
        let ours = "is a symlink that leads nowhere: not sent".to_owned();
        let trouble = Trouble::Other { ours, stock };
        let problem = Problem { path, trouble, gravity: Gravity::Error, who: Who::Sender };
        (self.monitor)(Event::Problem(problem));
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

    /// Keeps a directory for later; one that repeats the name before it is merged into that one.
    fn remember(&mut self, found: &mut Vec<Pending>, place: Place, asked: Range<usize>) {
        let number = self.walk.next_dir;
        self.walk.next_dir += 1;
        match found.last_mut() {
            Some(last) if last.path == self.walk.path => last.places.push(place),
            _ => {
                let path = self.walk.path.as_slice().to_vec();
                found.push(Pending { path, places: vec![place], number, asked });
            }
        }
    }
}

/// Takes away what makes a munged symlink lead nowhere, if anything is left then.
fn unmunge(target: &mut Vec<u8>) {
    if target.len() > MUNGED.len() && target.starts_with(MUNGED) {
        target.drain(..MUNGED.len());
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
