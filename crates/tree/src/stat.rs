//! What a file system tells of one name.

use crate::Kind;

/// The attributes of one file, as plain numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Type and permissions, the full POSIX value.
    pub mode: u32,
    /// Length in bytes; for a symlink the length of its target.
    pub size: u64,
    /// Seconds of the last modification, negative before 1970.
    pub mtime: i64,
    /// Nanoseconds beyond `mtime`.
    pub mtime_nsec: u32,
    /// Seconds of the last access.
    pub atime: i64,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Device that holds the file.
    pub dev: u64,
    /// Inode number on that device.
    pub ino: u64,
    /// Number of hard links.
    pub links: u64,
    /// Major and minor number of a device file.
    pub rdev: (u32, u32),
}

impl Stat {
    /// Returns what kind of file it is.
    pub fn kind(&self) -> Kind {
        Kind::from_mode(self.mode)
    }
}

impl From<rustix::fs::Stat> for Stat {
    #[allow(clippy::unnecessary_cast, reason = "field types differ between architectures")]
    fn from(raw: rustix::fs::Stat) -> Self {
        let rdev = (rustix::fs::major(raw.st_rdev), rustix::fs::minor(raw.st_rdev));
        Self {
            mode: raw.st_mode as u32,
            size: u64::try_from(raw.st_size).unwrap_or(0),
            mtime: raw.st_mtime as i64,
            mtime_nsec: u32::try_from(raw.st_mtime_nsec).unwrap_or(0),
            atime: raw.st_atime as i64,
            uid: raw.st_uid,
            gid: raw.st_gid,
            dev: raw.st_dev as u64,
            ino: raw.st_ino as u64,
            links: raw.st_nlink as u64,
            rdev,
        }
    }
}
