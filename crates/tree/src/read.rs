//! How a file is opened for reading, where the plain way is not what was asked for.

use std::fs::File;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::{Dir, Result};

/// The two liberties that may be taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadAs {
    /// A symlink is followed, wherever it leads.
    pub follow: bool,
    /// The access time stays as it was, where the system lets us.
    pub no_atime: bool,
}

impl Dir {
    /// Opens `name` for reading as asked for; a fifo does not block.
    pub fn open_file_as(&self, name: &[u8], how: ReadAs) -> Result<File> {
        let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        flags.set(OFlags::NOFOLLOW, !how.follow);
        let open = |flags| rustix::fs::openat(self.fd(), name, flags, Mode::empty());
        let opened = match how.no_atime {
            true => match open(flags | OFlags::NOATIME) {
                // Only the owner may.
                Err(Errno::PERM) => open(flags),
                other => other,
            },
            false => open(flags),
        };
        opened.map(File::from).map_err(|errno| self.failed("open", name, errno))
    }
}
