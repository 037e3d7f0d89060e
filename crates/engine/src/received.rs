//! What the receiving side knows of a file list until it is done with it.

use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use tree::Kind;
use wire::acl::Acl;
use wire::flist::{DirMark, LinkMark, ReceivedEntry, order};
use wire::xattr::ReceivedXattrs;

use crate::event::{Direction, Item};

/// One entry, small, because many may be alive.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: Box<[u8]>,
    pub(crate) size: u64,
    pub(crate) mtime: i64,
    pub(crate) atime: i64,
    pub(crate) mtime_nsec: u32,
    pub(crate) mode: u32,
    /// Ids of this machine.
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) dir_mark: DirMark,
    /// We may not give files to this group.
    pub(crate) keeps_group: bool,
    /// A second entry of the same name, or an empty directory that is left out; it is never
    /// looked at.
    pub(crate) is_duplicate: bool,
    rare: Option<Box<Rare>>,
}

/// What few entries have.
#[derive(Clone, Debug, Default)]
struct Rare {
    rdev: Option<(u32, u32)>,
    link_target: Option<Vec<u8>>,
    link: Option<LinkMark>,
    wire_ndx: i32,
    checksum: Option<Vec<u8>>,
    access_acl: Option<Arc<Acl>>,
    default_acl: Option<Arc<Acl>>,
    xattrs: Option<Arc<ReceivedXattrs>>,
}

impl From<ReceivedEntry> for Entry {
    fn from(entry: ReceivedEntry) -> Self {
        let link = match entry.link {
            LinkMark::None => None,
            mark => Some(mark),
        };
        let is_plain = entry.rdev.is_none()
            && entry.link_target.is_none()
            && link.is_none()
            && entry.checksum.is_none()
            && entry.access_acl.is_none()
            && entry.default_acl.is_none()
            && entry.xattrs.is_none();
        let rare = (!is_plain).then(|| {
            Box::new(Rare {
                rdev: entry.rdev,
                link_target: entry.link_target,
                link,
                wire_ndx: entry.ndx,
                checksum: entry.checksum,
                access_acl: entry.access_acl,
                default_acl: entry.default_acl,
                xattrs: entry.xattrs,
            })
        });
        Self {
            name: entry.name.into_boxed_slice(),
            size: entry.size,
            mtime: entry.mtime,
            atime: entry.atime,
            mtime_nsec: entry.mtime_nsec,
            mode: entry.mode,
            uid: entry.uid,
            gid: entry.gid,
            dir_mark: entry.dir_mark,
            keeps_group: false,
            is_duplicate: entry.is_unsayable,
            rare,
        }
    }
}

impl Entry {
    pub(crate) fn kind(&self) -> Kind {
        Kind::from_mode(self.mode)
    }

    pub(crate) fn is_dir(&self) -> bool {
        self.kind() == Kind::Dir
    }

    /// Tells whether it stands for an argument that is missing at the sender.
    pub(crate) fn is_missing_argument(&self) -> bool {
        self.mode == 0
    }

    /// Tells whether the contents of the directory are listed.
    pub(crate) fn has_content(&self) -> bool {
        self.is_dir() && matches!(self.dir_mark, DirMark::Top | DirMark::Content)
    }

    pub(crate) fn rdev(&self) -> (u32, u32) {
        self.rare.as_ref().and_then(|rare| rare.rdev).unwrap_or_default()
    }

    pub(crate) fn link_target(&self) -> Option<&[u8]> {
        self.rare.as_ref()?.link_target.as_deref()
    }

    pub(crate) fn checksum(&self) -> Option<&[u8]> {
        self.rare.as_ref()?.checksum.as_deref()
    }

    pub(crate) fn access_acl(&self) -> Option<&Acl> {
        self.rare.as_ref()?.access_acl.as_deref()
    }

    pub(crate) fn default_acl(&self) -> Option<&Acl> {
        self.rare.as_ref()?.default_acl.as_deref()
    }

    pub(crate) fn xattrs(&self) -> Option<&Arc<ReceivedXattrs>> {
        self.rare.as_ref()?.xattrs.as_ref()
    }

    /// Describes it for whoever prints it.
    pub(crate) fn item(&self, iflags: u16, direction: Direction) -> Item<'_> {
        Item {
            size: self.size,
            link_target: self.link_target(),
            mode: self.mode,
            mtime: self.mtime,
            owner: (self.uid, self.gid),
            ..Item::new(&self.name, iflags, self.kind(), direction)
        }
    }

    /// Returns which hard-link group it belongs to, if any.
    pub(crate) fn link_group(&self) -> Option<LinkGroup> {
        let rare = self.rare.as_ref()?;
        match rare.link? {
            LinkMark::None => None,
            LinkMark::First => Some(LinkGroup::First(rare.wire_ndx)),
            LinkMark::Later { first } => Some(LinkGroup::First(first)),
            LinkMark::Inode { dev, ino } => Some(LinkGroup::Inode(dev, ino)),
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        order::compare(&self.name, self.is_dir(), &other.name, other.is_dir())
    }
}

/// What the members of a hard-link group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LinkGroup {
    /// The number of the first member, in wire order.
    First(i32),
    /// Device and inode at the sender, below protocol 30.
    Inode(u64, u64),
}

/// Splits a path into its directory and its last name.
pub(crate) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

/// How a sorted list stood on the wire.
#[derive(Debug)]
struct WireOrder {
    /// By entry.
    places: Vec<u32>,
    /// By place.
    entries: Vec<u32>,
}

impl WireOrder {
    fn new(ndx_start: i32, sorted: &[ReceivedEntry]) -> Self {
        let places = sorted.iter().map(|entry| entry.ndx.abs_diff(ndx_start));
        let places: Vec<u32> = places.collect();
        let mut entries = vec![0; places.len()];
        for (place, index) in places.iter().zip(0..) {
            entries[*place as usize] = index;
        }
        Self { places, entries }
    }
}

/// One list, sorted as both sides sort it.
#[derive(Debug)]
pub(crate) struct ReceivedList {
    pub(crate) ndx_start: i32,
    pub(crate) entries: Vec<Entry>,
    /// The directory that it is the content of; `None` for the first list.
    pub(crate) dir: Option<Box<Entry>>,
    /// Places in wire order, and which entry stands in each, where indices go by them (`--iconv`).
    wire_order: Option<WireOrder>,
    /// Whether the entries stand in the order of their names: a slash in front moves a name.
    is_searchable: bool,
    /// Files that were asked for and are not in their place yet.
    open: AtomicUsize,
    /// Whether anything in the directory was made, renamed or removed.
    touched: AtomicBool,
}

impl ReceivedList {
    /// Sorts what came and marks all but one entry of each name.
    pub(crate) fn new(
        ndx_start: i32,
        mut sent: Vec<ReceivedEntry>,
        dir: Option<Box<Entry>>,
        by_wire: bool,
    ) -> Self {
        if !sent.is_sorted_by(|a, b| a.compare(b) != Ordering::Greater) {
            sent.sort_by(ReceivedEntry::compare);
        }
        let is_searchable = sent.iter().all(|entry| !entry.rooted);
        let mut list = Self {
            ndx_start,
            wire_order: by_wire.then(|| WireOrder::new(ndx_start, &sent)),
            entries: sent.into_iter().map(Entry::from).collect(),
            dir,
            is_searchable,
            open: AtomicUsize::new(0),
            touched: AtomicBool::new(false),
        };
        list.mark_duplicates();
        list
    }

    /// Counts the entries, duplicates included.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the index behind the last entry.
    pub(crate) fn ndx_end(&self) -> i32 {
        self.ndx_start.saturating_add(i32::try_from(self.len()).unwrap_or(i32::MAX))
    }

    /// Returns the index of the entry at a place of the list.
    pub(crate) fn ndx(&self, index: usize) -> i32 {
        let place = match &self.wire_order {
            Some(order) => order.places.get(index).map_or(index, |place| *place as usize),
            None => index,
        };
        self.ndx_start.saturating_add(i32::try_from(place).unwrap_or(i32::MAX))
    }

    /// Returns the entries in the order in which their directories are numbered.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = &Entry> {
        (0..self.len()).filter_map(|place| self.entries.get(self.entry_in(place)))
    }

    fn entry_in(&self, place: usize) -> usize {
        match &self.wire_order {
            Some(order) => order.entries.get(place).map_or(place, |index| *index as usize),
            None => place,
        }
    }

    /// Finds the place that an index stands for.
    pub(crate) fn index(&self, ndx: i32) -> Option<usize> {
        let index = usize::try_from(ndx.checked_sub(self.ndx_start)?).ok()?;
        (index < self.len()).then(|| self.entry_in(index))
    }

    /// Returns the entry that an index stands for; the index before the first is the directory.
    pub(crate) fn at(&self, ndx: i32) -> Option<&Entry> {
        if ndx == self.ndx_start - 1 {
            return self.own_dir();
        }
        self.entries.get(self.index(ndx)?)
    }

    /// Returns the directory whose content the list is.
    pub(crate) fn own_dir(&self) -> Option<&Entry> {
        match &self.dir {
            Some(dir) => Some(dir),
            None => self.entries.first().filter(|first| first.is_dir() && *first.name == *b"."),
        }
    }

    /// Tells whether an entry has this path.
    pub(crate) fn has(&self, path: &[u8]) -> bool {
        self.find(path, false).is_some() || self.find(path, true).is_some()
    }

    /// Finds the entry of a path that is, or is not, a directory.
    pub(crate) fn find(&self, path: &[u8], is_dir: bool) -> Option<usize> {
        let order = |entry: &Entry| order::compare(&entry.name, entry.is_dir(), path, is_dir);
        if !self.is_searchable {
            let fits = |entry: &Entry| order(entry) == Ordering::Equal && !entry.is_duplicate;
            return self.entries.iter().position(fits);
        }
        let at = self.entries.partition_point(|entry| order(entry) == Ordering::Less);
        let entry = self.entries.get(at)?;
        let fits = *entry.name == *path && entry.is_dir() == is_dir && !entry.is_duplicate;
        fits.then_some(at)
    }

    fn mark_duplicates(&mut self) {
        let mut kept = 0;
        for index in 1..self.entries.len() {
            let (before, from) = self.entries.split_at_mut(index);
            let (survivor, entry) = (&mut before[kept], &mut from[0]);
            if survivor.compare(entry) != Ordering::Equal {
                kept = index;
                continue;
            }
            entry.is_duplicate = true;
            survivor.dir_mark = merged(survivor.dir_mark, entry.dir_mark);
        }
        self.mark_files_under_directories();
    }

    /// Leaves out each directory without a file anywhere below it, but for protected ones and
    /// those above them (`--prune-empty-dirs`).
    pub(crate) fn prune(&mut self, is_protected: impl Fn(&[u8]) -> bool) {
        let mut kept: Option<usize> = None;
        for index in (0..self.entries.len()).rev() {
            let entry = &self.entries[index];
            // What lies in a directory follows it.
            let has_content = kept.is_some_and(|kept| {
                let below = self.entries[kept].name.strip_prefix(&*entry.name);
                below.is_some_and(|below| below.starts_with(b"/"))
            });
            let is_left_out = entry.is_dir()
                && *entry.name != *b"."
                && !has_content
                && !is_protected(&entry.name);
            if is_left_out {
                self.entries[index].is_duplicate = true;
            } else if !entry.is_duplicate {
                kept = Some(index);
            }
        }
    }

    /// Of a file and a directory of one name the directory stays.
    fn mark_files_under_directories(&mut self) {
        let shadowed: Vec<usize> = self
            .entries
            .iter()
            .filter(|entry| entry.is_dir())
            .filter_map(|dir| self.find(&dir.name, false))
            .collect();
        for index in shadowed {
            self.entries[index].is_duplicate = true;
        }
    }

    /// Counts a file that was asked for.
    pub(crate) fn opened(&self) {
        self.open.fetch_add(1, Relaxed);
    }

    /// Counts a file that is in its place, or given up.
    pub(crate) fn closed(&self) {
        self.open.fetch_sub(1, std::sync::atomic::Ordering::Release);
    }

    /// Counts the files on their way.
    pub(crate) fn open_count(&self) -> usize {
        self.open.load(std::sync::atomic::Ordering::Acquire)
    }

    /// Tells whether nothing that was asked for is on its way.
    pub(crate) fn is_settled(&self) -> bool {
        self.open_count() == 0
    }

    /// Notes that the directory's own times have changed by what we did in it.
    pub(crate) fn touch(&self) {
        self.touched.store(true, Relaxed);
    }

    pub(crate) fn is_touched(&self) -> bool {
        self.touched.load(Relaxed)
    }
}

/// Joins the marks of two entries for one directory (docs/protocol/file-list.md, "Duplicates").
fn merged(a: DirMark, b: DirMark) -> DirMark {
    use DirMark::{Content, Implied, NoContent, Top};
    match (a, b) {
        (Top, _) | (_, Top) => Top,
        (Content, _) | (_, Content) => Content,
        (Implied, Implied) => Implied,
        (NoContent | Implied, NoContent | Implied) => NoContent,
    }
}
