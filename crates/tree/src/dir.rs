//! What can be asked of one open directory.

use std::ffi::OsStr;
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, SeekFrom};
use rustix::io::Errno;

use crate::newborn::Newborns;
use crate::{Error, Kind, Listing, Result, Stat};

/// Room for the answer of one `getdents` call.
const ENTRIES_BYTES: usize = 32 * 1024;

/// An open directory; all its methods take single names.
#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    path: PathBuf,
    pub(crate) newborns: Newborns,
}

impl Dir {
    pub(crate) fn new(fd: OwnedFd, path: PathBuf) -> Self {
        Self { fd, path, newborns: Newborns::default() }
    }

    /// Returns the directory's path, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of `name` in this directory, for messages.
    pub fn path_of(&self, name: &[u8]) -> PathBuf {
        self.path.join(OsStr::from_bytes(name))
    }

    /// Adds all names but `.` and `..` to `listing`, marked as coming from `place`.
    pub fn read_names(&self, listing: &mut Listing, place: u16) -> Result<()> {
        // Who has read before has left off at the end.
        rustix::fs::seek(&self.fd, SeekFrom::Start(0))
            .map_err(|errno| self.failed("read directory", b"", errno))?;
        let mut buffer = vec![MaybeUninit::uninit(); ENTRIES_BYTES];
        let mut entries = RawDir::new(&self.fd, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = entry.map_err(|errno| self.failed("read directory", b"", errno))?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            let kind = match kind_of(entry.file_type()) {
                Kind::Unknown => self.stat(name).map_or(Kind::Unknown, |stat| stat.kind()),
                kind => kind,
            };
            if !listing.push(name, kind, place) {
                return Err(self.failed("read directory", b"", Errno::OVERFLOW));
            }
        }
        Ok(())
    }

    /// Reads the attributes of `name` itself, never of what a symlink points to.
    pub fn stat(&self, name: &[u8]) -> Result<Stat> {
        rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)
            .map(Stat::from)
            .map_err(|errno| self.failed("stat", name, errno))
    }

    /// Reads the attributes of what the symlink `name` points to, wherever that is.
    pub fn stat_follow(&self, name: &[u8]) -> Result<Stat> {
        rustix::fs::statat(&self.fd, name, AtFlags::empty())
            .map(Stat::from)
            .map_err(|errno| self.failed("stat", name, errno))
    }

    /// Reads the attributes of the directory itself.
    pub fn stat_self(&self) -> Result<Stat> {
        rustix::fs::fstat(&self.fd).map(Stat::from).map_err(|errno| self.failed("stat", b"", errno))
    }

    /// Tells whether another file system is mounted on the directory `name`.
    pub fn is_mount_point(&self, name: &[u8]) -> bool {
        let (here, there) = (self.stat_self(), self.stat(name));
        matches!((here, there), (Ok(here), Ok(there)) if here.dev != there.dev)
    }

    /// Reads where the symlink `name` points, into `target`.
    pub fn read_link(&self, name: &[u8], target: &mut Vec<u8>) -> Result<()> {
        let reused = std::mem::take(target);
        let text = rustix::fs::readlinkat(&self.fd, name, reused)
            .map_err(|errno| self.failed("read symlink", name, errno))?;
        *target = text.into_bytes();
        Ok(())
    }

    /// Opens the regular file `name` for reading. A symlink is refused, and a fifo that took its
    /// place does not block.
    pub fn open_file(&self, name: &[u8]) -> Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        rustix::fs::openat(&self.fd, name, flags, Mode::empty())
            .map(File::from)
            .map_err(|errno| self.failed("open", name, errno))
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(crate) fn failed(&self, op: &'static str, name: &[u8], errno: Errno) -> Error {
        let path = if name.is_empty() { self.path.clone() } else { self.path_of(name) };
        Error::new(op, path, errno)
    }
}

/// Tells the system that a file will be read from front to end; it then reads ahead further.
pub fn advise_sequential(file: &File) {
    // Advice only: a file system that takes none works all the same.
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::Sequential);
}

fn kind_of(file_type: FileType) -> Kind {
    match file_type {
        FileType::RegularFile => Kind::Regular,
        FileType::Directory => Kind::Dir,
        FileType::Symlink => Kind::Symlink,
        FileType::CharacterDevice | FileType::BlockDevice => Kind::Device,
        FileType::Fifo | FileType::Socket => Kind::Special,
        _ => Kind::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Root;

    #[test]
    fn names_kinds_and_targets_are_told_as_they_are() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("file"), b"12345").unwrap();
        std::fs::create_dir(temp.path().join("dir")).unwrap();
        std::os::unix::fs::symlink("somewhere/else", temp.path().join("link")).unwrap();
        let dir = Root::open(temp.path()).unwrap().open_dir(b".").unwrap();

        let mut listing = Listing::default();
        dir.read_names(&mut listing, 0).unwrap();
        listing.sort_by(|a, b| a.name.cmp(b.name));
        let seen: Vec<_> = listing.iter().map(|entry| (entry.name.to_vec(), entry.kind)).collect();
        let expected =
            [(&b"dir"[..], Kind::Dir), (b"file", Kind::Regular), (b"link", Kind::Symlink)];
        assert_eq!(seen, expected.map(|(name, kind)| (name.to_vec(), kind)));
        let mut again = Listing::default();
        dir.read_names(&mut again, 0).unwrap();
        assert_eq!(again.iter().count(), 3);

        assert_eq!(dir.stat(b"file").unwrap().size, 5);
        let mut target = Vec::new();
        dir.read_link(b"link", &mut target).unwrap();
        assert_eq!(target, b"somewhere/else");
        assert!(dir.open_file(b"link").is_err());
        assert!(dir.stat(b"gone").unwrap_err().is_not_found());
    }
}
