//! How one file is held while its attributes change, so that no other is swapped in meanwhile.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, CWD, Gid, Mode, OFlags, Timestamps, Uid};
use rustix::io::{Errno, Result};

use crate::xattr::Place;
use crate::{Kind, Stat};

/// A held file.
#[derive(Debug)]
pub(crate) enum Handle<'a> {
    /// The caller's open file.
    Open(BorrowedFd<'a>),
    /// A file that was opened for this.
    Opened(OwnedFd),
    /// A file that is held and not opened (`O_PATH`): symlinks, devices, unreadable files.
    Pinned(OwnedFd),
}

impl Handle<'_> {
    /// Holds `name` in `dir`: opens directories and regular files where that is permitted, and
    /// only pins what has effects when it is opened.
    pub(crate) fn open(dir: BorrowedFd<'_>, name: &[u8], kind: Kind) -> Result<Self> {
        if matches!(kind, Kind::Dir | Kind::Regular) {
            let mut flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            flags.set(OFlags::DIRECTORY, kind == Kind::Dir);
            match rustix::fs::openat(dir, name, flags, Mode::empty()) {
                Err(Errno::ACCESS | Errno::PERM) => {}
                other => return other.map(Self::Opened),
            }
        }
        Self::pin(dir, name)
    }

    /// Holds `name` in `dir` without opening it.
    pub(crate) fn pin(dir: BorrowedFd<'_>, name: &[u8]) -> Result<Self> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(dir, name, flags, Mode::empty()).map(Self::Pinned)
    }

    pub(crate) fn stat(&self) -> Result<Stat> {
        rustix::fs::fstat(self.fd()).map(Stat::from)
    }

    pub(crate) fn chown(&self, owner: Option<u32>, group: Option<u32>) -> Result<()> {
        let (owner, group) =
            (owner.map(Uid::from_raw_unchecked), group.map(Gid::from_raw_unchecked));
        match self {
            Self::Pinned(fd) => rustix::fs::chownat(fd, "", owner, group, AtFlags::EMPTY_PATH),
            _ => rustix::fs::fchown(self.fd(), owner, group),
        }
    }

    pub(crate) fn chmod(&self, mode: u32) -> Result<()> {
        let mode = Mode::from_raw_mode(mode & 0o7777);
        match self {
            Self::Pinned(fd) => rustix::fs::chmod(proc_path(fd.as_fd()), mode),
            _ => rustix::fs::fchmod(self.fd(), mode),
        }
    }

    pub(crate) fn set_times(&self, times: &Timestamps) -> Result<()> {
        match self {
            Self::Pinned(fd) => {
                rustix::fs::utimensat(CWD, proc_path(fd.as_fd()), times, AtFlags::empty())
            }
            _ => rustix::fs::futimens(self.fd(), times),
        }
    }

    /// Where its extended attributes are reached.
    pub(crate) fn place(&self) -> Place<'_> {
        match self {
            Self::Pinned(fd) => Place::Held(proc_path(fd.as_fd())),
            _ => Place::Open(self.fd()),
        }
    }

    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Open(fd) => *fd,
            Self::Opened(fd) | Self::Pinned(fd) => fd.as_fd(),
        }
    }
}

/// The kernel's own name of an open file; following it leads to just that file, even a symlink.
fn proc_path(fd: BorrowedFd<'_>) -> Vec<u8> {
    format!("/proc/self/fd/{}", fd.as_raw_fd()).into_bytes()
}
