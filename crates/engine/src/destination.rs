//! Where does a transfer write: into a directory, or into one file under a new name?
//!
//! rsync decides it when it knows how much comes: an existing directory takes anything; a single
//! file may get the name of the argument; everything else gets a directory that is made for it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tree::Root;

use crate::error::{Error, Result};
use crate::received::{ReceivedList, split};

/// The mode of a directory that is made for a transfer, before the umask.
const NEW_DIR_MODE: u32 = 0o777;

/// What is done first of all, as errors name it.
pub(crate) const LOOK: &str = "look at the destination";

/// The argument that says where to write.
#[derive(Clone, Debug)]
pub struct Destination {
    /// As it was given.
    given: PathBuf,
    /// The same without regard to the working directory.
    path: PathBuf,
}

/// What may be done to make it fit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leave {
    /// `-n`: nothing is made.
    pub(crate) dry_run: bool,
    /// `--mkpath`: the directories above it are made as well.
    pub(crate) make_path: bool,
    /// `-R` keeps paths, so a single file never gets another name.
    pub(crate) relative: bool,
    /// `--list-only`: nothing is written, wherever it would go.
    pub(crate) lists: bool,
    /// `--existing`: nothing is made either.
    pub(crate) existing: bool,
}

/// What the argument came to.
#[derive(Debug)]
pub(crate) struct Settled {
    /// The directory that names are relative to; `None` where a dry run would have made it.
    pub(crate) root: Option<Root>,
    /// Its path, for messages.
    pub(crate) path: PathBuf,
    /// The name that the only file gets.
    pub(crate) new_name: Option<Vec<u8>>,
    /// Whether the directory was made, or would have been.
    pub(crate) made: bool,
}

impl Destination {
    /// Takes the argument as it was given; the empty one is the working directory.
    pub fn new(path: &Path) -> Self {
        let given = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let path = std::path::absolute(given).unwrap_or_else(|_| given.to_owned());
        Self { given: given.to_owned(), path }
    }

    /// Returns the argument as it was given.
    pub(crate) fn given(&self) -> &Path {
        &self.given
    }

    /// Decides, knowing the first list and whether more come.
    pub(crate) fn settle(&self, first: &ReceivedList, more: bool, leave: Leave) -> Result<Settled> {
        let bytes = self.given.as_os_str().as_bytes();
        let wants_dir = matches!(split(bytes).1, b"" | b"." | b"..");
        match fs::metadata(&self.path) {
            _ if leave.lists => self.nowhere(),
            Ok(found) if found.is_dir() => self.directory(&self.path, false),
            Ok(_) if is_single_file(first, more) && !wants_dir => self.one_file(leave),
            Ok(_) => Err(Error::NotADirectory(self.path.clone())),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(self.failed(LOOK, &self.path, error))
            }
            Err(_) if is_single_file(first, more) && !wants_dir && !leave.relative => {
                self.one_file(leave)
            }
            Err(_) => self.make(leave),
        }
    }

    fn directory(&self, path: &Path, made: bool) -> Result<Settled> {
        let root = Root::open(path).map_err(Error::Destination)?;
        Ok(Settled { root: Some(root), path: path.to_owned(), new_name: None, made })
    }

    fn nowhere(&self) -> Result<Settled> {
        Ok(Settled { root: None, path: self.path.clone(), new_name: None, made: false })
    }

    fn one_file(&self, leave: Leave) -> Result<Settled> {
        let (parent, name) = split_parent(&self.path);
        if !parent.is_dir() && leave.make_path && !leave.dry_run {
            Root::make_path(&parent, NEW_DIR_MODE).map_err(Error::Destination)?;
        }
        if !parent.exists() && leave.dry_run {
            let new_name = Some(name);
            return Ok(Settled { root: None, path: parent, new_name, made: false });
        }
        let settled = self.directory(&parent, false)?;
        Ok(Settled { new_name: Some(name), ..settled })
    }

    fn make(&self, leave: Leave) -> Result<Settled> {
        if leave.dry_run || leave.existing {
            let path = self.path.clone();
            return Ok(Settled { root: None, path, new_name: None, made: !leave.existing });
        }
        if leave.make_path {
            Root::make_path(&self.path, NEW_DIR_MODE).map_err(Error::Destination)?;
        } else {
            let made = fs::create_dir(&self.path);
            // rsync has cut off a slash by then.
            let path: PathBuf = self.path.components().collect();
            made.map_err(|error| self.failed("make the directory", &path, error))?;
        }
        self.directory(&self.path, true)
    }

    fn failed(&self, op: &'static str, path: &Path, source: io::Error) -> Error {
        Error::Destination(tree::Error::Io { op, path: path.to_owned(), source })
    }
}

fn is_single_file(first: &ReceivedList, more: bool) -> bool {
    !more && matches!(first.entries.as_slice(), [only] if !only.is_dir())
}

fn split_parent(path: &Path) -> (PathBuf, Vec<u8>) {
    let (parent, name) = split(path.as_os_str().as_bytes());
    let parent = match parent {
        b"" if path.as_os_str().as_bytes().starts_with(b"/") => b"/",
        b"" => b".".as_slice(),
        parent => parent,
    };
    (PathBuf::from(OsStr::from_bytes(parent)), name.to_vec())
}
