//! Which bits do the flags of a file entry have?
//!
//! Some bits changed their meaning at protocol 30; see docs/protocol/file-list.md, "Flags".

/// A directory that was an argument; on anything else a filler that keeps the flags from zero.
pub(super) const TOP_DIR: u32 = 0x0001;
/// The mode is that of the entry before.
pub(super) const SAME_MODE: u32 = 0x0002;
/// A second byte of flags follows; among varint flags only a filler.
pub(super) const EXTENDED: u32 = 0x0004;
/// The uid is that of the entry before, or not sent at all.
pub(super) const SAME_UID: u32 = 0x0008;
/// The gid is that of the entry before, or not sent at all.
pub(super) const SAME_GID: u32 = 0x0010;
/// The name begins like the one before.
pub(super) const SAME_NAME: u32 = 0x0020;
/// The rest of the name is longer than 255 bytes.
pub(super) const LONG_NAME: u32 = 0x0040;
/// The modification time is that of the entry before.
pub(super) const SAME_TIME: u32 = 0x0080;
/// Devices and specials: the major number is the remembered one.
pub(super) const SAME_RDEV_MAJOR: u32 = 0x0100;
/// Directories from protocol 30 on: the contents are not listed.
pub(super) const NO_CONTENT_DIR: u32 = 0x0100;
/// One of several names of a file.
pub(super) const HLINKED: u32 = 0x0200;
/// Below protocol 30: the device is that of the hard-linked entry before.
pub(super) const SAME_DEV: u32 = 0x0400;
/// From protocol 30 on: a name follows the uid.
pub(super) const USER_NAME: u32 = 0x0400;
/// Below protocol 30: the minor number takes one byte.
pub(super) const RDEV_MINOR_8: u32 = 0x0800;
/// From protocol 30 on: a name follows the gid.
pub(super) const GROUP_NAME: u32 = 0x0800;
/// From protocol 30 on, with [`HLINKED`]: the first of the names.
pub(super) const HLINK_FIRST: u32 = 0x1000;
/// From protocol 31 on: nanoseconds follow the modification time.
pub(super) const MOD_NSEC: u32 = 0x2000;
/// The access time is that of the entry before.
pub(super) const SAME_ATIME: u32 = 0x4000;

/// The two-byte flags that end a list with an I/O error; no entry has them.
pub(super) const END_WITH_ERROR: u16 = 0x1004;

/// Returns `flag` if it is set, else nothing.
pub(super) fn bit(flag: u32, is_set: bool) -> u32 {
    if is_set { flag } else { 0 }
}
