//! What does a file list say about one file?

use crate::acl::Acl;
use crate::charset::Charset;
use crate::error::{Error, Result};
use crate::xattr::XattrSet;

/// One file, directory, symlink, device or special file as the sender describes it.
///
/// The caller keeps to the bounds that every receiver checks: a name has 1 to
/// [`limits::PATH`](crate::limits::PATH) bytes and no NUL, a symlink target likewise.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileEntry<'a> {
    /// The path from the transfer root, without a leading `./` or a trailing slash.
    pub name: &'a [u8],
    /// Type and permissions; 0 for an argument that is missing (`--delete-missing-args`).
    pub mode: u32,
    /// Length in bytes; of a symlink that of its target, of a device or special 0.
    pub size: u64,
    /// Modification time in seconds since 1970.
    pub mtime: i64,
    /// The nanoseconds of the modification time.
    pub mtime_nsec: u32,
    /// Access time in seconds since 1970.
    pub atime: i64,
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// Major and minor number of a device.
    pub rdev: Option<(u32, u32)>,
    /// Where a symlink points to.
    pub link_target: Option<&'a [u8]>,
    /// Device and inode, if the file has further names and is no directory.
    pub hard_link: Option<(u64, u64)>,
    /// The checksum of a regular file; zeros are sent if it could not be read.
    pub checksum: Option<&'a [u8]>,
    /// What becomes of a directory's contents.
    pub dir_mark: DirMark,
    /// The access ACL; without one the mode says all.
    pub access_acl: Option<&'a Acl>,
    /// The default ACL of a directory.
    pub default_acl: Option<&'a Acl>,
    /// The extended attributes; without them an empty set is sent.
    pub xattrs: Option<&'a XattrSet>,
}

/// How a directory takes part in the transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DirMark {
    /// Its contents are listed, and it was an argument.
    Top,
    /// Its contents are listed.
    #[default]
    Content,
    /// It alone is listed, as with `--dirs` or at a mount point.
    NoContent,
    /// It alone is listed, because an argument of `--relative` lies below it.
    Implied,
}

/// Which optional fields the entries have; both sides know it from the options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlistFields {
    /// The charset of names here, where they travel as UTF-8 (`--iconv`).
    pub charset: Option<Charset>,
    /// The same of the targets of symlinks.
    pub link_charset: Option<Charset>,
    /// Targets of symlinks (`--links`).
    pub links: bool,
    /// Numbers of devices (`--devices`).
    pub devices: bool,
    /// Specials as such (`--specials`).
    pub specials: bool,
    /// Owners (`--owner`).
    pub owner: bool,
    /// Groups (`--group`).
    pub group: bool,
    /// Hard links (`--hard-links`).
    pub hard_links: bool,
    /// The length of the checksums of `--checksum`.
    pub checksum_len: Option<usize>,
    /// Access times (`--atimes`).
    pub atimes: bool,
    /// ACLs (`--acls`).
    pub acls: bool,
    /// Extended attributes (`--xattrs`).
    pub xattrs: bool,
    /// No names of users and groups (`--numeric-ids`).
    pub numeric_ids: bool,
    /// Directories with what is in them (`--recursive`).
    pub recursive: bool,
    /// Names that may begin with a slash (`--relative`).
    pub relative: bool,
    /// Arguments that are missing (`--delete-missing-args`).
    pub missing_args: bool,
}

impl FlistFields {
    /// Refuses what the protocol has no place for.
    pub(super) fn check(&self, protocol: u32) -> Result<()> {
        for (wanted, option) in [(self.acls, "--acls"), (self.xattrs, "--xattrs")] {
            if wanted && protocol < 30 {
                return Err(Error::Refused(format!(
                    "{option} requires protocol 30 or higher (negotiated {protocol})"
                )));
            }
        }
        Ok(())
    }
}

/// The type of a file, as far as the fields of its entry depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Regular,
    Directory,
    Symlink,
    Device,
    Special,
    /// A missing argument: no field depends on its type.
    Missing,
}

impl Kind {
    pub(super) fn of(mode: u32) -> Self {
        match mode & 0o170000 {
            0o100000 => Kind::Regular,
            0o040000 => Kind::Directory,
            0o120000 => Kind::Symlink,
            0o020000 | 0o060000 => Kind::Device,
            0o010000 | 0o140000 => Kind::Special,
            _ => Kind::Missing,
        }
    }
}
