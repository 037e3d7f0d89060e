//! How the names of one directory come, move and go.

use std::fs::File;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::handle::Handle;
use crate::{Dir, Follow, Kind, Result};

const READ_WRITE: OFlags = OFlags::RDWR
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

impl Dir {
    /// Opens the directory `name` in this one.
    pub fn open_dir(&self, name: &[u8], follow: Follow) -> Result<Dir> {
        single(name)
            .and_then(|()| rustix::fs::openat(self.fd(), name, follow.flags(), Mode::empty()))
            .map(|fd| Dir::new(fd, self.path_of(name)))
            .map_err(|errno| self.failed("open directory", name, errno))
    }

    /// Makes the directory `name`; the process's umask counts.
    pub fn make_dir(&self, name: &[u8], mode: u32) -> Result<()> {
        single(name)
            .and_then(|()| rustix::fs::mkdirat(self.fd(), name, Mode::from_raw_mode(mode)))
            .map_err(|errno| self.failed("make directory", name, errno))
    }

    /// Makes the symlink `name` that points to `target`.
    pub fn make_symlink(&self, target: &[u8], name: &[u8]) -> Result<()> {
        single(name)
            .and_then(|()| rustix::fs::symlinkat(target, self.fd(), name))
            .map_err(|errno| self.failed("make symlink", name, errno))
    }

    /// Makes the device, fifo or socket `name`; `mode` says which, `rdev` counts for devices.
    pub fn make_node(&self, name: &[u8], mode: u32, rdev: (u32, u32)) -> Result<()> {
        let kind = FileType::from_raw_mode(mode);
        let permissions = Mode::from_raw_mode(mode & 0o7777);
        let device = rustix::fs::makedev(rdev.0, rdev.1);
        single(name)
            .and_then(|()| rustix::fs::mknodat(self.fd(), name, kind, permissions, device))
            .map_err(|errno| self.failed("make node", name, errno))
    }

    /// Gives the file `name` the further name `new_name` in `to`; a symlink itself is linked.
    pub fn hard_link(&self, name: &[u8], to: &Dir, new_name: &[u8]) -> Result<()> {
        single(name)
            .and_then(|()| single(new_name))
            .and_then(|()| rustix::fs::linkat(self.fd(), name, to.fd(), new_name, AtFlags::empty()))
            .map_err(|errno| to.failed("hard-link", new_name, errno))
    }

    /// Renames `name` to `new_name` in `to`, and replaces what has that name.
    pub fn rename(&self, name: &[u8], to: &Dir, new_name: &[u8]) -> Result<()> {
        single(name)
            .and_then(|()| single(new_name))
            .and_then(|()| rustix::fs::renameat(self.fd(), name, to.fd(), new_name))
            .map_err(|errno| to.failed("rename into place", new_name, errno))
    }

    /// Removes `name`, which is no directory.
    pub fn remove_file(&self, name: &[u8]) -> Result<()> {
        single(name)
            .and_then(|()| rustix::fs::unlinkat(self.fd(), name, AtFlags::empty()))
            .map_err(|errno| self.failed("remove", name, errno))
    }

    /// Removes the empty directory `name`.
    pub fn remove_dir(&self, name: &[u8]) -> Result<()> {
        single(name)
            .and_then(|()| rustix::fs::unlinkat(self.fd(), name, AtFlags::REMOVEDIR))
            .map_err(|errno| self.failed("remove directory", name, errno))
    }

    /// Makes the regular file `name`, which must not exist, for reading and writing in place.
    pub fn create(&self, name: &[u8], mode: u32) -> Result<File> {
        let flags = READ_WRITE | OFlags::CREATE | OFlags::EXCL;
        single(name)
            .and_then(|()| {
                rustix::fs::openat(self.fd(), name, flags, Mode::from_raw_mode(mode & 0o7777))
            })
            .map(File::from)
            .map_err(|errno| self.failed("create", name, errno))
    }

    /// Opens the regular file `name` for reading and writing in place. Write permission that its
    /// owner lacks is added for the moment of opening.
    pub fn open_rw(&self, name: &[u8]) -> Result<File> {
        self.open_existing(name, |kind| kind == Kind::Regular)
            .map_err(|errno| self.failed("open", name, errno))
    }

    /// Opens the device `name` for reading and writing (`--write-devices`).
    pub fn open_device(&self, name: &[u8]) -> Result<File> {
        self.open_existing(name, |kind| kind == Kind::Device)
            .map_err(|errno| self.failed("open", name, errno))
    }

    fn open_existing(&self, name: &[u8], fits: impl Fn(Kind) -> bool) -> rustix::io::Result<File> {
        single(name)?;
        let open = || rustix::fs::openat(self.fd(), name, READ_WRITE, Mode::empty());
        let file = match open() {
            Err(Errno::ACCESS) => {
                let handle = Handle::pin(self.fd(), name)?;
                let stat = handle.stat()?;
                if !fits(stat.kind()) || stat.mode & 0o200 != 0 {
                    return Err(Errno::ACCESS);
                }
                handle.chmod(stat.mode | 0o200)?;
                let opened = open();
                handle.chmod(stat.mode)?;
                opened?
            }
            other => other?,
        };
        let kind = Kind::from_mode(rustix::fs::fstat(&file)?.st_mode);
        if fits(kind) { Ok(File::from(file)) } else { Err(Errno::INVAL) }
    }
}

/// Refuses what is not one plain component.
pub(crate) fn single(name: &[u8]) -> rustix::io::Result<()> {
    match name {
        b"" | b"." | b".." => Err(Errno::INVAL),
        _ if name.contains(&b'/') => Err(Errno::INVAL),
        _ => Ok(()),
    }
}
