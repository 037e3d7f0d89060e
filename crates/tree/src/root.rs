//! Which directory is the outermost, and how a longer name is resolved without leaving it.
//!
//! Two equal ways: `openat2` with `RESOLVE_BENEATH` and `RESOLVE_NO_SYMLINKS` (one system call),
//! and a walk by hand with `O_NOFOLLOW` for each component, for kernels older than 5.6 and for
//! sandboxes that refuse the call.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::{Dir, Error, Result};

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// How often a lookup is tried again when renames elsewhere on the host disturb it.
const DISTURBED_RETRIES: usize = 64;

/// How names of several components are resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolver {
    /// `openat2`, with the hand walk where the kernel has none.
    Kernel,
    /// The hand walk alone.
    ByHand,
}

/// The outermost directory of a tree; nothing outside it can be reached through it.
#[derive(Debug)]
pub struct Root {
    fd: OwnedFd,
    path: PathBuf,
    kernel_resolves: AtomicBool,
}

impl Root {
    /// Opens `path`, which the user named himself, so symlinks in it are followed.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, Resolver::Kernel)
    }

    /// Opens `path` with a chosen way to resolve names below it.
    pub fn open_with(path: &Path, resolver: Resolver) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty())
            .map_err(|errno| Error::new("open directory", path.to_owned(), errno))?;
        let kernel_resolves = AtomicBool::new(resolver == Resolver::Kernel);
        Ok(Self { fd, path: path.to_owned(), kernel_resolves })
    }

    /// Returns the path that the root was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of `rel` below the root, for messages.
    pub fn path_of(&self, rel: &[u8]) -> PathBuf {
        match rel {
            b"" | b"." => self.path.clone(),
            _ => self.path.join(OsStr::from_bytes(rel)),
        }
    }

    /// Opens the directory `rel` (`.` and the empty name are the root itself) without following
    /// any symlink in it and without leaving the root.
    pub fn open_dir(&self, rel: &[u8]) -> Result<Dir> {
        self.resolve(rel)
            .map(|fd| Dir::new(fd, self.path_of(rel)))
            .map_err(|errno| Error::new("open directory", self.path_of(rel), errno))
    }

    fn resolve(&self, rel: &[u8]) -> rustix::io::Result<OwnedFd> {
        if matches!(rel, b"" | b".") {
            return rustix::fs::openat(&self.fd, ".", DIRECTORY, Mode::empty());
        }
        if self.kernel_resolves.load(Ordering::Relaxed) {
            match self.resolve_in_kernel(rel) {
                // A sandbox answers EPERM for a call that it does not know.
                Err(Errno::NOSYS | Errno::PERM) => {
                    self.kernel_resolves.store(false, Ordering::Relaxed);
                }
                other => return other,
            }
        }
        resolve_by_hand(self.fd.as_fd(), rel)
    }

    fn resolve_in_kernel(&self, rel: &[u8]) -> rustix::io::Result<OwnedFd> {
        let rules = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        for _ in 0..DISTURBED_RETRIES {
            match rustix::fs::openat2(&self.fd, rel, DIRECTORY, Mode::empty(), rules) {
                Err(Errno::AGAIN) => continue,
                other => return other,
            }
        }
        Err(Errno::AGAIN)
    }
}

fn resolve_by_hand(root: BorrowedFd<'_>, rel: &[u8]) -> rustix::io::Result<OwnedFd> {
    let mut here: Option<OwnedFd> = None;
    for component in rel.split(|byte| *byte == b'/') {
        if matches!(component, b"" | b"." | b"..") {
            return Err(Errno::XDEV);
        }
        let parent = here.as_ref().map_or(root, |fd| fd.as_fd());
        here = Some(rustix::fs::openat(parent, component, DIRECTORY, Mode::empty())?);
    }
    here.ok_or(Errno::NOENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(check: impl Fn(&Root)) {
        let temp = tempfile::tempdir().unwrap();
        let inside = temp.path().join("in");
        std::fs::create_dir_all(inside.join("a/b/c")).unwrap();
        std::fs::create_dir(temp.path().join("out")).unwrap();
        std::os::unix::fs::symlink("../out", inside.join("link")).unwrap();
        std::os::unix::fs::symlink("b", inside.join("a/inner")).unwrap();
        for resolver in [Resolver::Kernel, Resolver::ByHand] {
            check(&Root::open_with(&inside, resolver).unwrap());
        }
    }

    #[test]
    fn a_deep_directory_opens_both_ways() {
        both(|root| {
            root.open_dir(b"a/b/c").unwrap();
            root.open_dir(b".").unwrap();
        });
    }

    #[test]
    fn nothing_leads_out_or_through_a_symlink() {
        both(|root| {
            for name in [&b"link"[..], b"../out", b"a/../../out", b"a/inner", b"a/inner/c", b"/tmp"]
            {
                assert!(root.open_dir(name).is_err(), "{}", name.escape_ascii());
            }
        });
    }
}
