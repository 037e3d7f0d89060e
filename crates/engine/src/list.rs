//! What the sender remembers of a file list until the far side is done with it.

use std::collections::VecDeque;
use std::sync::Arc;

use tree::{Kind, Stat};
use wire::xattr::ItemNames;

/// One directory whose entries stand in a list.
#[derive(Debug)]
struct ListDir {
    /// Which source root it was read from.
    root: u16,
    name_start: u32,
    name_len: u16,
    /// Its length, where the list is its content and nothing else.
    size: Option<u64>,
}

#[derive(Debug)]
struct Entry {
    size: u64,
    name_start: u32,
    name_len: u16,
    kind: Kind,
    dir: u32,
}

/// What an event or a removal needs to know of an entry.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Detail {
    pub(crate) mode: u32,
    pub(crate) mtime: i64,
    pub(crate) mtime_nsec: u32,
    pub(crate) owner: (u32, u32),
    target_start: u32,
    target_len: u16,
}

impl Detail {
    fn of(stat: &Stat, mode: u32) -> Self {
        let (mtime, mtime_nsec, owner) = (stat.mtime, stat.mtime_nsec, (stat.uid, stat.gid));
        Self { mode, mtime, mtime_nsec, owner, ..Self::default() }
    }
}

/// One file list in index order; small, because a million of its entries may be alive.
#[derive(Debug, Default)]
pub(crate) struct SentList {
    ndx_start: i32,
    names: Vec<u8>,
    dirs: Vec<ListDir>,
    entries: Vec<Entry>,
    /// What else is told of each entry, where somebody wants to know.
    details: Vec<Detail>,
    /// The same of the directory that the list is the content of.
    dir_detail: Option<Detail>,
    /// For the few entries with long attribute values, by index: what may be asked for.
    long_values: Vec<(i32, Arc<ItemNames>)>,
}

/// Where a file of a list is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    /// Which source root.
    pub(crate) root: u16,
    /// Its directory below the root; empty for the root itself.
    pub(crate) dir: &'a [u8],
    /// Its own name.
    pub(crate) name: &'a [u8],
    /// What kind of file it was when it was listed.
    pub(crate) kind: Kind,
    /// Its length when it was listed.
    pub(crate) size: u64,
}

impl Place<'_> {
    /// Returns the path from the transfer root.
    pub(crate) fn path(&self) -> Vec<u8> {
        join(self.dir, self.name)
    }
}

/// Joins a directory's path and a name; the empty directory is the transfer root.
pub(crate) fn join(dir: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(dir.len() + 1 + name.len());
    path.extend_from_slice(dir);
    if !dir.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

impl SentList {
    /// Starts a list whose first entry has the index `ndx_start`.
    pub(crate) fn new(ndx_start: i32) -> Self {
        Self { ndx_start, ..Self::default() }
    }

    /// Names the directory that the following entries stand in. A path is below 4096 bytes.
    pub(crate) fn enter(&mut self, root: u16, dir: &[u8]) {
        let (name_start, name_len) = self.keep(dir);
        self.dirs.push(ListDir { root, name_start, name_len, size: None });
    }

    /// Adds the next entry, in the directory that was entered last.
    pub(crate) fn push(&mut self, name: &[u8], kind: Kind, size: u64) {
        let (name_start, name_len) = self.keep(name);
        let dir = u32::try_from(self.dirs.len().saturating_sub(1)).unwrap_or(u32::MAX);
        self.entries.push(Entry { size, name_start, name_len, kind, dir });
    }

    /// Remembers more of the entry pushed last; either of all entries or of none.
    pub(crate) fn keep_detail(&mut self, stat: &Stat, mode: u32, target: Option<&[u8]>) {
        let (target_start, target_len) = self.keep(target.unwrap_or_default());
        self.details.push(Detail { target_start, target_len, ..Detail::of(stat, mode) });
    }

    /// Remembers the same of the directory that the list is the content of.
    pub(crate) fn keep_detail_of_dir(&mut self, stat: &Stat, mode: u32) {
        self.dir_detail = Some(Detail::of(stat, mode));
    }

    /// Remembers the length of the directory that the list is the content of.
    pub(crate) fn keep_dir_size(&mut self, size: u64) {
        if let Some(dir) = self.dirs.last_mut() {
            dir.size = Some(size);
        }
    }

    /// Returns that length; the first list's directory is its entry `.`.
    pub(crate) fn dir_size(&self) -> u64 {
        let kept = self.dirs.first().and_then(|dir| dir.size);
        kept.or(self.entries.first().map(|entry| entry.size)).unwrap_or(0)
    }

    /// Returns what else is known of an entry, and the target of a symlink.
    pub(crate) fn detail(&self, ndx: i32) -> Option<(&Detail, &[u8])> {
        let detail = match usize::try_from(ndx.checked_sub(self.ndx_start)?) {
            Ok(index) => self.details.get(index)?,
            // The first list's directory is its entry `.`.
            Err(_) => self.dir_detail.as_ref().or(self.details.first())?,
        };
        Some((detail, self.name(detail.target_start, detail.target_len)))
    }

    /// Remembers which long attribute values of the entry pushed last may be asked for.
    pub(crate) fn keep_long_values(&mut self, names: Arc<ItemNames>) {
        self.long_values.push((self.ndx_end() - 1, names));
    }

    /// Remembers the same of the directory that the list is the content of.
    pub(crate) fn keep_long_values_of_dir(&mut self, names: Arc<ItemNames>) {
        self.long_values.insert(0, (self.ndx_start - 1, names));
    }

    /// Returns which long attribute values of an entry may be asked for.
    pub(crate) fn long_values(&self, ndx: i32) -> Option<&ItemNames> {
        let found = self.long_values.binary_search_by_key(&ndx, |(ndx, _)| *ndx).ok()?;
        self.long_values.get(found).map(|(_, names)| names.as_ref())
    }

    fn keep(&mut self, name: &[u8]) -> (u32, u16) {
        let start = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.extend_from_slice(name);
        (start, u16::try_from(name.len()).unwrap_or(u16::MAX))
    }

    /// Counts the entries.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the index of the first entry.
    pub(crate) fn ndx_start(&self) -> i32 {
        self.ndx_start
    }

    /// Returns the index behind the last entry.
    pub(crate) fn ndx_end(&self) -> i32 {
        self.ndx_start.saturating_add(i32::try_from(self.len()).unwrap_or(i32::MAX))
    }

    /// Adds up the lengths of the regular files with indices in `range`.
    pub(crate) fn bytes_in(&self, range: std::ops::Range<i32>) -> u64 {
        let from = usize::try_from(range.start.saturating_sub(self.ndx_start)).unwrap_or(0);
        let count = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(0);
        let regular = |entry: &&Entry| entry.kind == Kind::Regular;
        let entries = self.entries.iter().skip(from).take(count);
        entries.filter(regular).map(|entry| entry.size).sum()
    }

    /// Adds up the lengths of regular files and symlink targets.
    pub(crate) fn total_size(&self) -> u64 {
        let counts = |entry: &&Entry| matches!(entry.kind, Kind::Regular | Kind::Symlink);
        self.entries.iter().filter(counts).map(|entry| entry.size).sum()
    }

    /// Returns where the entry with the index `ndx` is found.
    pub(crate) fn place(&self, ndx: i32) -> Option<Place<'_>> {
        let index = usize::try_from(ndx.checked_sub(self.ndx_start)?).ok()?;
        let entry = self.entries.get(index)?;
        let dir = self.dirs.get(entry.dir as usize)?;
        Some(Place {
            root: dir.root,
            dir: self.name(dir.name_start, dir.name_len),
            name: self.name(entry.name_start, entry.name_len),
            kind: entry.kind,
            size: entry.size,
        })
    }

    /// Returns the path of the directory that the list is the content of.
    pub(crate) fn dir_path(&self) -> &[u8] {
        self.dirs.first().map_or(b"", |dir| self.name(dir.name_start, dir.name_len))
    }

    /// Returns the source root that the list's directory was read from.
    pub(crate) fn root(&self) -> u16 {
        self.dirs.first().map_or(0, |dir| dir.root)
    }

    fn name(&self, start: u32, len: u16) -> &[u8] {
        let start = start as usize;
        self.names.get(start..start + usize::from(len)).unwrap_or_default()
    }
}

/// The lists that the far side may still ask for, oldest first.
#[derive(Debug, Default)]
pub(crate) struct LiveLists {
    lists: VecDeque<Arc<SentList>>,
    retired: usize,
}

impl LiveLists {
    /// Adds the list that was sent last.
    pub(crate) fn push(&mut self, list: SentList) {
        self.lists.push_back(Arc::new(list));
    }

    /// Forgets the oldest list.
    pub(crate) fn retire_oldest(&mut self) -> Option<Arc<SentList>> {
        self.retired += usize::from(!self.lists.is_empty());
        self.lists.pop_front()
    }

    /// Returns the index behind the oldest list, which the far side is in or past.
    pub(crate) fn oldest_end(&self) -> i32 {
        self.lists.front().map_or(0, |list| list.ndx_end())
    }

    /// Counts the lists that were sent before the one of an index, that one included.
    pub(crate) fn number(&self, ndx: i32) -> usize {
        self.retired + self.lists.partition_point(|list| list.ndx_start() - 1 <= ndx)
    }

    /// Tells whether every list was retired.
    pub(crate) fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// Finds the list that an index belongs to; the index before a list's first entry stands for
    /// the directory that the list is the content of.
    pub(crate) fn find(&self, ndx: i32) -> Option<&Arc<SentList>> {
        let after = self.lists.partition_point(|list| list.ndx_start() - 1 <= ndx);
        let list = self.lists.get(after.checked_sub(1)?)?;
        (ndx < list.ndx_end()).then_some(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(ndx_start: i32, dir: &[u8], names: &[&[u8]]) -> SentList {
        let mut list = SentList::new(ndx_start);
        list.enter(0, dir);
        for name in names {
            list.push(name, Kind::Regular, 10);
        }
        list
    }

    #[test]
    fn an_index_is_found_in_its_list_and_nowhere_else() {
        let mut live = LiveLists::default();
        live.push(list(1, b"", &[b"a", b"b"]));
        live.push(list(4, b"d", &[]));
        live.push(list(5, b"d/e", &[b"x"]));
        let path = |ndx| live.find(ndx).and_then(|list| list.place(ndx)).map(|place| place.path());
        assert_eq!(path(2), Some(b"b".to_vec()));
        assert_eq!(path(5), Some(b"d/e/x".to_vec()));
        assert_eq!(path(4), None);
        assert_eq!(live.find(4).map(|list| list.dir_path()), Some(&b"d/e"[..]));
        assert_eq!(live.find(3).map(|list| list.dir_path()), Some(&b"d"[..]));
        assert!(live.find(6).is_none() && live.find(-5).is_none());
        live.retire_oldest();
        assert!(live.find(1).is_none());
    }

    #[test]
    fn bytes_are_summed_within_the_list_only() {
        let list = list(1, b"", &[b"a", b"b", b"c"]);
        assert_eq!([0..2, 1..4, 2..9, 4..9].map(|range| list.bytes_in(range)), [20, 30, 20, 0]);
    }
}
