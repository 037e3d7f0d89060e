//! Where do the names of users and groups go?
//!
//! With incremental recursion a name follows the first use of its id; otherwise two lists of
//! ids follow the file list. Owners and ACLs share the memory of what was named.
//! See docs/protocol/file-list.md, "Users and groups".

use std::collections::HashSet;
use std::fmt;
use std::io::Read;

use super::FlistFields;
use crate::dialect::Dialect;
use crate::error::{Error, Result};
use crate::int::{put_varint30, read_u8, read_varint30};
use crate::limits;

/// The longest name that the one-byte length can hold.
const NAME: usize = 255;

/// Whether an id is that of a user or of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IdKind {
    /// A user.
    User,
    /// A group.
    Group,
}

/// Finds the local name of a user or group; it is asked once for each id that occurs.
pub type NameLookup = Box<dyn FnMut(IdKind, u32) -> Option<Vec<u8>> + Send>;

/// The ids of a connection and their names.
pub(crate) struct IdNames {
    way: Way,
    protocol: u32,
    id0_names: bool,
    lookup: NameLookup,
    users: Occurring,
    groups: Occurring,
}

/// How names reach the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Inline,
    Lists { users: bool, groups: bool },
    Numeric,
}

impl Way {
    fn of(dialect: &Dialect, fields: &FlistFields) -> Self {
        match (fields.numeric_ids, dialect.inc_recurse()) {
            (true, _) => Way::Numeric,
            (false, true) => Way::Inline,
            (false, false) => Way::Lists {
                users: fields.owner || fields.acls,
                groups: fields.group || fields.acls,
            },
        }
    }
}

/// The ids that occurred, each once, in the order of their first use.
#[derive(Debug, Default)]
struct Occurring {
    all: HashSet<u32>,
    order: Vec<u32>,
}

impl IdNames {
    pub(crate) fn new(dialect: &Dialect, fields: &FlistFields, lookup: NameLookup) -> Self {
        Self {
            way: Way::of(dialect, fields),
            protocol: dialect.protocol,
            id0_names: dialect.id0_names(),
            lookup,
            users: Occurring::default(),
            groups: Occurring::default(),
        }
    }

    /// Takes note of an id that is about to be sent; returns the name that has to follow it.
    pub(crate) fn note(&mut self, kind: IdKind, id: u32) -> Option<Vec<u8>> {
        if self.way == Way::Numeric {
            return None;
        }
        let occurring = match kind {
            IdKind::User => &mut self.users,
            IdKind::Group => &mut self.groups,
        };
        let is_new = occurring.all.insert(id);
        if !is_new {
            return None;
        }
        if self.way != Way::Inline {
            occurring.order.push(id);
            return None;
        }
        self.name(kind, id)
    }

    /// Appends the id lists of a session without incremental recursion.
    pub(crate) fn put_lists(&mut self, out: &mut Vec<u8>) {
        let Way::Lists { users, groups } = self.way else {
            return;
        };
        if users {
            self.put_list(out, IdKind::User);
        }
        if groups {
            self.put_list(out, IdKind::Group);
        }
    }

    fn put_list(&mut self, out: &mut Vec<u8>, kind: IdKind) {
        let order = std::mem::take(match kind {
            IdKind::User => &mut self.users.order,
            IdKind::Group => &mut self.groups.order,
        });
        for id in order.into_iter().rev().filter(|&id| id != 0) {
            if let Some(name) = self.name(kind, id) {
                put_varint30(out, self.protocol, id as i32);
                put_name(out, &name);
            }
        }
        put_varint30(out, self.protocol, 0);
        if self.id0_names {
            let root = self.name(kind, 0).unwrap_or_default();
            put_name(out, &root);
        }
    }

    /// Looks a name up; one that does not fit counts as none.
    fn name(&mut self, kind: IdKind, id: u32) -> Option<Vec<u8>> {
        (self.lookup)(kind, id).filter(|name| !name.is_empty() && name.len() <= NAME)
    }
}

impl fmt::Debug for IdNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdNames")
            .field("way", &self.way)
            .field("users", &self.users)
            .field("groups", &self.groups)
            .finish_non_exhaustive()
    }
}

/// Appends the length of a name in one byte, and the name.
pub(crate) fn put_name(out: &mut Vec<u8>, name: &[u8]) {
    debug_assert!(name.len() <= NAME);
    out.push(name.len() as u8);
    out.extend_from_slice(name);
}

/// Reads ids and their names.
#[derive(Debug)]
pub(crate) struct ReceivedNames {
    way: Way,
    protocol: u32,
    id0_names: bool,
    names: Vec<(IdKind, u32, Vec<u8>)>,
    total: usize,
}

impl ReceivedNames {
    pub(crate) fn new(dialect: &Dialect, fields: &FlistFields) -> Self {
        Self {
            way: Way::of(dialect, fields),
            protocol: dialect.protocol,
            id0_names: dialect.id0_names(),
            names: Vec::new(),
            total: 0,
        }
    }

    /// Tells whether names follow the ids that they belong to.
    pub(crate) fn are_inline(&self) -> bool {
        self.way == Way::Inline
    }

    /// Reads an id, and its name if one follows.
    pub(crate) fn read_id<R: Read + ?Sized>(
        &mut self,
        r: &mut R,
        kind: IdKind,
        name_follows: bool,
    ) -> Result<u32> {
        let id = read_varint30(r, self.protocol)? as u32;
        if name_follows {
            self.read_name(r, kind, id)?;
        }
        Ok(id)
    }

    /// Reads the name of an id; an empty one is none.
    pub(crate) fn read_name<R: Read + ?Sized>(
        &mut self,
        r: &mut R,
        kind: IdKind,
        id: u32,
    ) -> Result<()> {
        self.total += 1;
        if self.total > limits::ID_NAMES {
            return Err(Error::Protocol("it named too many users and groups".into()));
        }
        let mut name = vec![0; usize::from(read_u8(r)?)];
        r.read_exact(&mut name)?;
        if name.contains(&0) {
            return Err(Error::Protocol("it sent a user or group name with a NUL".into()));
        }
        if !name.is_empty() {
            self.names.push((kind, id, name));
        }
        Ok(())
    }

    /// Reads the id lists of a session without incremental recursion.
    pub(crate) fn read_lists<R: Read + ?Sized>(&mut self, r: &mut R) -> Result<()> {
        let Way::Lists { users, groups } = self.way else {
            return Ok(());
        };
        if users {
            self.read_list(r, IdKind::User)?;
        }
        if groups {
            self.read_list(r, IdKind::Group)?;
        }
        Ok(())
    }

    fn read_list<R: Read + ?Sized>(&mut self, r: &mut R, kind: IdKind) -> Result<()> {
        loop {
            let id = self.read_id(r, kind, false)?;
            if id != 0 || self.id0_names {
                self.read_name(r, kind, id)?;
            }
            if id == 0 {
                return Ok(());
            }
        }
    }

    /// Returns the names that came since the last call.
    pub(crate) fn take(&mut self) -> Vec<(IdKind, u32, Vec<u8>)> {
        std::mem::take(&mut self.names)
    }
}
