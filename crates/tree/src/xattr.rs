//! Which extended attributes a file carries.
//!
//! The calls go through `/proc/self/fd/N/NAME`, so they stay in the open directory, work on
//! symlinks, devices and files that cannot be opened, and follow no link.

use std::os::fd::AsRawFd;

use rustix::fs::{lgetxattr, llistxattr};
use rustix::io::Errno;

use crate::{Dir, Result};

/// Linux gives out at most 64 KiB of names and 64 KiB for one value.
const MAX_BYTES: usize = 64 * 1024;

impl Dir {
    /// Lists the names of all extended attributes of `name` (`.` is the directory itself).
    /// A file system without attributes answers with an empty list.
    pub fn xattr_names(&self, name: &[u8]) -> Result<Vec<Vec<u8>>> {
        // Nearly every file carries none, or a few short names.
        let mut buffer = [0u8; 512];
        let path = self.proc_path(name);
        let list = match llistxattr(path.as_slice(), &mut buffer) {
            Ok(filled) => buffer[..filled].to_vec(),
            Err(Errno::RANGE) => self.long_xattr_names(name, &path)?,
            Err(errno) if without_support(errno) => return Ok(Vec::new()),
            Err(errno) => return Err(self.failed("list attributes of", name, errno)),
        };
        let names = list.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(<[u8]>::to_vec).collect())
    }

    fn long_xattr_names(&self, name: &[u8], path: &[u8]) -> Result<Vec<u8>> {
        let mut buffer = vec![0u8; MAX_BYTES];
        let filled = llistxattr(path, buffer.as_mut_slice())
            .map_err(|errno| self.failed("list attributes of", name, errno))?;
        buffer.truncate(filled);
        Ok(buffer)
    }

    /// Reads one extended attribute of `name`; `None` when it is not there.
    pub fn xattr(&self, name: &[u8], attribute: &[u8]) -> Result<Option<Vec<u8>>> {
        let path = self.proc_path(name);
        let mut buffer = vec![0u8; 256];
        loop {
            match lgetxattr(path.as_slice(), attribute, buffer.as_mut_slice()) {
                Ok(filled) => {
                    buffer.truncate(filled);
                    return Ok(Some(buffer));
                }
                Err(Errno::RANGE) if buffer.len() < MAX_BYTES => buffer.resize(MAX_BYTES, 0),
                Err(Errno::NODATA) => return Ok(None),
                Err(errno) if without_support(errno) => return Ok(None),
                Err(errno) => return Err(self.failed("read attribute of", name, errno)),
            }
        }
    }

    fn proc_path(&self, name: &[u8]) -> Vec<u8> {
        let mut path = format!("/proc/self/fd/{}/", self.fd().as_raw_fd()).into_bytes();
        path.extend_from_slice(name);
        path
    }
}

fn without_support(errno: Errno) -> bool {
    matches!(errno, Errno::NOTSUP | Errno::NOSYS | Errno::INVAL)
}
