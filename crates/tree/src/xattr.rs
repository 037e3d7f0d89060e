//! Which extended attributes a file carries.
//!
//! By name, the calls go through `/proc/self/fd/N/NAME`, so they stay in the open directory, work
//! on symlinks, devices and files that cannot be opened, and follow no link.

use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::fs::{self, XattrFlags};
use rustix::io::Errno;

use crate::{Dir, Result};

/// Linux gives out at most 64 KiB of names and 64 KiB for one value.
const MAX_BYTES: usize = 64 * 1024;

/// Where the attributes of one file are reached.
pub(crate) enum Place<'a> {
    /// An open file.
    Open(BorrowedFd<'a>),
    /// A path through the open directory, whose last component is not followed.
    Named(Vec<u8>),
    /// The kernel's name of a held file, which is followed to that file.
    Held(Vec<u8>),
}

impl Place<'_> {
    /// Lists all names. A file system without attributes answers with an empty list.
    pub(crate) fn names(&self) -> rustix::io::Result<Vec<Vec<u8>>> {
        // Nearly every file carries none, or a few short names.
        let mut buffer = [0u8; 512];
        let list = match self.list_into(&mut buffer) {
            Ok(filled) => buffer[..filled].to_vec(),
            Err(Errno::RANGE) => {
                let mut buffer = vec![0u8; MAX_BYTES];
                let filled = self.list_into(&mut buffer)?;
                buffer.truncate(filled);
                buffer
            }
            Err(errno) if without_support(errno) => return Ok(Vec::new()),
            Err(errno) => return Err(errno),
        };
        let names = list.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(<[u8]>::to_vec).collect())
    }

    /// Reads one attribute; `None` when it is not there.
    pub(crate) fn read(&self, attribute: &[u8]) -> rustix::io::Result<Option<Vec<u8>>> {
        let mut buffer = vec![0u8; 256];
        loop {
            match self.read_into(attribute, &mut buffer) {
                Ok(filled) => {
                    buffer.truncate(filled);
                    return Ok(Some(buffer));
                }
                Err(Errno::RANGE) if buffer.len() < MAX_BYTES => buffer.resize(MAX_BYTES, 0),
                Err(Errno::NODATA) => return Ok(None),
                Err(errno) if without_support(errno) => return Ok(None),
                Err(errno) => return Err(errno),
            }
        }
    }

    /// Makes or replaces one attribute.
    pub(crate) fn write(&self, attribute: &[u8], value: &[u8]) -> rustix::io::Result<()> {
        let flags = XattrFlags::empty();
        match self {
            Self::Open(fd) => fs::fsetxattr(fd, attribute, value, flags),
            Self::Named(path) => fs::lsetxattr(path.as_slice(), attribute, value, flags),
            Self::Held(path) => fs::setxattr(path.as_slice(), attribute, value, flags),
        }
    }

    /// Removes one attribute; one that is not there is no error.
    pub(crate) fn remove(&self, attribute: &[u8]) -> rustix::io::Result<()> {
        let removed = match self {
            Self::Open(fd) => fs::fremovexattr(fd, attribute),
            Self::Named(path) => fs::lremovexattr(path.as_slice(), attribute),
            Self::Held(path) => fs::removexattr(path.as_slice(), attribute),
        };
        match removed {
            Err(Errno::NODATA) => Ok(()),
            Err(errno) if without_support(errno) => Ok(()),
            other => other,
        }
    }

    fn list_into(&self, buffer: &mut [u8]) -> rustix::io::Result<usize> {
        match self {
            Self::Open(fd) => fs::flistxattr(fd, buffer),
            Self::Named(path) => fs::llistxattr(path.as_slice(), buffer),
            Self::Held(path) => fs::listxattr(path.as_slice(), buffer),
        }
    }

    fn read_into(&self, attribute: &[u8], buffer: &mut [u8]) -> rustix::io::Result<usize> {
        match self {
            Self::Open(fd) => fs::fgetxattr(fd, attribute, buffer),
            Self::Named(path) => fs::lgetxattr(path.as_slice(), attribute, buffer),
            Self::Held(path) => fs::getxattr(path.as_slice(), attribute, buffer),
        }
    }
}

impl Dir {
    /// Lists the names of all extended attributes of `name` (`.` is the directory itself).
    /// A file system without attributes answers with an empty list.
    pub fn xattr_names(&self, name: &[u8]) -> Result<Vec<Vec<u8>>> {
        let names = self.xattr_place(name).names();
        names.map_err(|errno| self.failed("list attributes of", name, errno))
    }

    /// Reads one extended attribute of `name`; `None` when it is not there.
    pub fn xattr(&self, name: &[u8], attribute: &[u8]) -> Result<Option<Vec<u8>>> {
        let value = self.xattr_place(name).read(attribute);
        value.map_err(|errno| self.failed("read attribute of", name, errno))
    }

    /// Makes or replaces one extended attribute of `name`.
    pub fn set_xattr(&self, name: &[u8], attribute: &[u8], value: &[u8]) -> Result<()> {
        let done = self.xattr_place(name).write(attribute, value);
        done.map_err(|errno| self.failed("set attribute of", name, errno))
    }

    /// Removes one extended attribute of `name`; one that is not there is no error.
    pub fn remove_xattr(&self, name: &[u8], attribute: &[u8]) -> Result<()> {
        let done = self.xattr_place(name).remove(attribute);
        done.map_err(|errno| self.failed("remove attribute of", name, errno))
    }

    fn xattr_place(&self, name: &[u8]) -> Place<'static> {
        let mut path = format!("/proc/self/fd/{}/", self.fd().as_raw_fd()).into_bytes();
        path.extend_from_slice(name);
        Place::Named(path)
    }
}

fn without_support(errno: Errno) -> bool {
    matches!(errno, Errno::NOTSUP | Errno::NOSYS | Errno::INVAL)
}
