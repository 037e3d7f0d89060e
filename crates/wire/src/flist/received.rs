//! What does a receiver hold of one entry, and what does it make of a name and a mark?

use std::cmp::Ordering;
use std::sync::Arc;

use super::entry::{DirMark, FlistFields, Kind};
use super::flags::{NO_CONTENT_DIR, TOP_DIR};
use super::order;
use crate::acl::Acl;
use crate::error::{Error, Result};
use crate::escape::printable;
use crate::xattr::ReceivedXattrs;

/// One file, directory, symlink, device or special file as the sender described it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceivedEntry {
    /// The number in wire order, which hard links refer to.
    pub ndx: i32,
    /// The path from the transfer root: relative, without NUL, `..`, `./` and doubled slashes.
    pub name: Vec<u8>,
    /// It cannot be said in the charset of this side: name and target are as they came.
    pub is_unsayable: bool,
    /// A slash stood in front of the name (`--relative`); it counts for the order alone.
    pub rooted: bool,
    /// Type and permissions; 0 for an argument that is missing (`--delete-missing-args`).
    pub mode: u32,
    /// Length in bytes; it means something for regular files only.
    pub size: u64,
    /// Modification time in seconds since 1970.
    pub mtime: i64,
    /// The nanoseconds of the modification time, below a second.
    pub mtime_nsec: u32,
    /// Access time in seconds since 1970, with `--atimes`; directories have none.
    pub atime: i64,
    /// The owner as sent, 0 without `--owner`.
    pub uid: u32,
    /// The group as sent, 0 without `--group`.
    pub gid: u32,
    /// Major and minor number of a device, with `--devices`.
    pub rdev: Option<(u32, u32)>,
    /// Where a symlink points to, with `--links`.
    pub link_target: Option<Vec<u8>>,
    /// Which other entries are names of the same file.
    pub link: LinkMark,
    /// The checksum of a regular file, with `--checksum`.
    pub checksum: Option<Vec<u8>>,
    /// What becomes of a directory's contents.
    pub dir_mark: DirMark,
    /// The access ACL without what the mode says; see [`Acl::completed`].
    pub access_acl: Option<Arc<Acl>>,
    /// The default ACL of a directory; see [`Acl::completed_default`].
    pub default_acl: Option<Arc<Acl>>,
    /// The extended attributes, with `--xattrs`.
    pub xattrs: Option<Arc<ReceivedXattrs>>,
}

/// Which other entries are names of the same file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkMark {
    /// None, as far as anybody told.
    #[default]
    None,
    /// Later ones, which name this entry's number.
    First,
    /// The entry `first`, in this list or an earlier one, is the first of them.
    Later {
        /// The number in wire order.
        first: i32,
    },
    /// Below protocol 30: those with the same device and inode.
    Inode {
        /// The device at the sender.
        dev: u64,
        /// The inode at the sender.
        ino: u64,
    },
}

impl ReceivedEntry {
    /// Tells whether this is a directory.
    pub fn is_dir(&self) -> bool {
        Kind::of(self.mode) == Kind::Directory
    }

    /// Compares two entries as both sides sort a list; equal names are for a stable sort.
    pub fn compare(&self, other: &Self) -> Ordering {
        let (a_is_dir, b_is_dir) = (self.is_dir(), other.is_dir());
        if self.rooted == other.rooted {
            return order::compare(&self.name, a_is_dir, &other.name, b_is_dir);
        }
        order::compare(&self.sent_name(), a_is_dir, &other.sent_name(), b_is_dir)
    }

    fn sent_name(&self) -> Vec<u8> {
        let slash: &[u8] = if self.rooted { b"/" } else { b"" };
        [slash, &self.name].concat()
    }
}

/// Checks a name and puts it into its plain form; tells whether a slash stood in front.
pub(super) fn cleaned(wire: &[u8], may_be_rooted: bool) -> Result<(Vec<u8>, bool)> {
    let refused = |why: &str| {
        let name = printable(wire);
        Err(Error::Protocol(format!("it sent \"{name}\" as a name, which {why}")))
    };
    if wire.contains(&0) {
        return refused("has a NUL");
    }
    let rooted = wire.first() == Some(&b'/');
    if rooted && !may_be_rooted {
        return refused("does not begin at the transfer root");
    }
    let is_plain = |part: &[u8]| !matches!(part, b"" | b"." | b"..");
    if wire.split(|&byte| byte == b'/').all(is_plain) {
        return Ok((wire.to_vec(), false));
    }
    let mut name = Vec::with_capacity(wire.len());
    for part in wire.split(|&byte| byte == b'/') {
        match part {
            b".." => return refused("leads out of the transfer root"),
            b"" | b"." => continue,
            _ if !name.is_empty() => name.push(b'/'),
            _ => {}
        }
        name.extend_from_slice(part);
    }
    if name.is_empty() {
        name.push(b'.');
    }
    Ok((name, rooted))
}

/// Which directories of a list have their contents listed?
///
/// From protocol 30 on the flags say it. Below, only arguments are marked, and the receiver
/// finds out in wire order what lies below them.
#[derive(Debug, Default)]
pub(super) struct DirMarks {
    /// The argument whose contents are being listed; empty if it is the root.
    scope: Option<Vec<u8>>,
}

impl DirMarks {
    /// Returns the mark of the next directory.
    pub(super) fn next(
        &mut self,
        protocol: u32,
        fields: &FlistFields,
        flags: u32,
        name: &[u8],
    ) -> DirMark {
        let is_top = flags & TOP_DIR != 0;
        if protocol >= 30 {
            return match (is_top, flags & NO_CONTENT_DIR != 0) {
                (true, false) => DirMark::Top,
                (false, false) => DirMark::Content,
                (false, true) => DirMark::NoContent,
                (true, true) => DirMark::Implied,
            };
        }
        if is_top {
            let name = if name == b"." { b"" } else { name };
            self.scope = fields.recursive.then(|| name.to_vec());
            return DirMark::Top;
        }
        let is_below = |scope: &Vec<u8>| {
            let rest = name.strip_prefix(scope.as_slice());
            !fields.relative || scope.is_empty() || rest.is_some_and(|rest| rest.starts_with(b"/"))
        };
        self.scope = self.scope.take().filter(is_below);
        if self.scope.is_some() { DirMark::Content } else { DirMark::NoContent }
    }
}
