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

/// What a symlink is that stands where a directory is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// It is refused.
    Never,
    /// It counts as the directory that it points to, which may lie outside (`-K`).
    DirLinks,
}

impl Follow {
    pub(crate) fn flags(self) -> OFlags {
        match self {
            Self::Never => DIRECTORY,
            Self::DirLinks => DIRECTORY.difference(OFlags::NOFOLLOW),
        }
    }
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
        self.open_dir_with(rel, Follow::Never)
    }

    /// Opens the directory `rel`, and says what a symlink in it is.
    pub fn open_dir_with(&self, rel: &[u8], follow: Follow) -> Result<Dir> {
        self.resolve(rel, follow)
            .map(|fd| Dir::new(fd, self.path_of(rel)))
            .map_err(|errno| Error::new("open directory", self.path_of(rel), errno))
    }

    /// Makes the missing directories of `path`, which the user named himself, the outermost first
    /// (`--mkpath`), and returns those that it made.
    pub fn make_path(path: &Path, mode: u32) -> Result<Vec<PathBuf>> {
        let mut made = Vec::new();
        let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.is_dir();
        let steps: Vec<&Path> = path.ancestors().take_while(missing).collect();
        for step in steps.into_iter().rev() {
            match rustix::fs::mkdir(step, Mode::from_raw_mode(mode)) {
                Ok(()) => made.push(step.to_owned()),
                // `a/./b` and `a/` name a directory twice, and another process may be faster.
                Err(Errno::EXIST) if step.is_dir() => {}
                Err(errno) => return Err(Error::new("make directory", step.to_owned(), errno)),
            }
        }
        Ok(made)
    }

    fn resolve(&self, rel: &[u8], follow: Follow) -> rustix::io::Result<OwnedFd> {
        if matches!(rel, b"" | b".") {
            return rustix::fs::openat(&self.fd, ".", DIRECTORY, Mode::empty());
        }
        if rel.split(|byte| *byte == b'/').any(|name| matches!(name, b"" | b"." | b"..")) {
            return Err(Errno::XDEV);
        }
        if follow == Follow::DirLinks {
            return rustix::fs::openat(&self.fd, rel, follow.flags(), Mode::empty());
        }
        if self.kernel_resolves.load(Ordering::Relaxed) {
            match self.resolve_in_kernel(rel) {
                // A sandbox answers EPERM for a call that it does not know.
                Err(Errno::NOSYS | Errno::PERM) => {
                    self.kernel_resolves.store(false, Ordering::Relaxed);
                }
                // Longer than one call takes; step by step it may be short enough.
                Err(Errno::NAMETOOLONG) => {}
                // What the hand walk answers to a symlink.
                Err(Errno::LOOP) => return Err(Errno::NOTDIR),
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

impl AsFd for Root {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn resolve_by_hand(root: BorrowedFd<'_>, rel: &[u8]) -> rustix::io::Result<OwnedFd> {
    let mut here: Option<OwnedFd> = None;
    for component in rel.split(|byte| *byte == b'/') {
        let parent = here.as_ref().map_or(root, |fd| fd.as_fd());
        here = Some(rustix::fs::openat(parent, component, DIRECTORY, Mode::empty())?);
    }
    here.ok_or(Errno::NOENT)
}
