//! Which entries are names of one file?
//!
//! See docs/protocol/file-list.md, "Hard links".

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::previous::Values;

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
