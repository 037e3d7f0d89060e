//! Which entries are names of one file?
//!
//! See docs/protocol/file-list.md, "Hard links".

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::entry::Kind;
use super::previous::Values;
use super::received::ReceivedEntry;
use crate::error::{Error, Result};
use crate::limits;

/// The files with several names that a connection has seen (protocol 30 on).
///
/// The numbers are kept for the connection, 24 bytes a file. The values that later names inherit
/// are kept for the list at hand alone.
#[derive(Debug, Default)]
pub(super) struct HardLinks {
    first_names: HashMap<(u64, u64), FirstName>,
    values: Vec<Values>,
    list_start: i32,
}

/// Where the first name of a file stands: its number, and its place in `values`.
#[derive(Clone, Copy, Debug)]
struct FirstName {
    ndx: i32,
    slot: u32,
}

/// What an entry is among the names of its file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Link {
    /// The only name, as far as anybody told.
    None,
    /// Below protocol 30 every name carries device and inode.
    Inode { dev: u64, ino: u64 },
    /// The first name.
    First,
    /// A further name of an entry in an earlier list.
    Later { first: i32 },
    /// A further name of an entry in this list, from which it inherits all.
    Abbreviated { first: i32, values: Values },
}

impl HardLinks {
    /// Starts a list whose entries are numbered from `ndx_start`.
    pub(super) fn begin_list(&mut self, ndx_start: i32) {
        self.list_start = ndx_start;
        self.values.clear();
    }

    /// Takes in a name of the file `inode`, which becomes entry `ndx`.
    pub(super) fn add(&mut self, inode: (u64, u64), ndx: i32, values: Values) -> Link {
        match self.first_names.entry(inode) {
            Entry::Vacant(place) => {
                place.insert(FirstName { ndx, slot: self.values.len() as u32 });
                self.values.push(values);
                Link::First
            }
            Entry::Occupied(known) => {
                let FirstName { ndx: first, slot } = *known.get();
                match self.values.get(slot as usize) {
                    Some(&values) if first >= self.list_start => {
                        Link::Abbreviated { first, values }
                    }
                    _ => Link::Later { first },
                }
            }
        }
    }
}

/// The first names that a receiver has read (protocol 30 on).
///
/// What later names inherit is kept for the list at hand; beyond it 8 bytes a file are.
#[derive(Debug, Default)]
pub(super) struct FirstNames {
    earlier: Vec<(i32, Kind)>,
    this_list: Vec<ReceivedFirst>,
}

/// A first name, and what a later name of the same file takes from it.
#[derive(Debug)]
pub(super) struct ReceivedFirst {
    ndx: i32,
    pub(super) rdev_minor: u32,
    pub(super) size: u64,
    pub(super) values: Values,
    /// The target of a symlink, or the checksum of a regular file.
    pub(super) text: Option<Box<[u8]>>,
}

impl ReceivedFirst {
    pub(super) fn of(entry: &ReceivedEntry, values: Values) -> Self {
        let text = entry.link_target.as_deref().or(entry.checksum.as_deref());
        Self {
            ndx: entry.ndx,
            rdev_minor: entry.rdev.map_or(0, |(_, minor)| minor),
            size: entry.size,
            values,
            text: text.map(Into::into),
        }
    }
}

impl FirstNames {
    /// Starts a list; numbers only grow from list to list.
    pub(super) fn begin_list(&mut self) {
        let done = self.this_list.drain(..);
        self.earlier.extend(done.map(|first| (first.ndx, first.values.kind())));
    }

    /// Takes in the next entry that is a first name.
    pub(super) fn add(&mut self, first: ReceivedFirst) -> Result<()> {
        if self.earlier.len() + self.this_list.len() >= limits::LINKED_FILES {
            return Err(Error::Refused("too many hard-linked files for one session".into()));
        }
        self.this_list.push(first);
        Ok(())
    }

    /// Finds a first name of this list by its number.
    pub(super) fn in_this_list(&self, ndx: i32) -> Option<&ReceivedFirst> {
        let at = self.this_list.binary_search_by_key(&ndx, |first| first.ndx).ok()?;
        self.this_list.get(at)
    }

    /// Tells whether an earlier list had a first name of this number and type.
    pub(super) fn is_known(&self, ndx: i32, kind: Kind) -> bool {
        let at = self.earlier.binary_search_by_key(&ndx, |(ndx, _)| *ndx);
        at.ok().and_then(|at| self.earlier.get(at)).is_some_and(|(_, known)| *known == kind)
    }
}
