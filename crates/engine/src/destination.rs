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

/// The argument that says where to write.
#[derive(Clone, Debug)]
pub struct Destination {
    path: PathBuf,
}

/// What may be done to make it fit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leave {
    /// `-n`: nothing is made.
    pub(crate) dry_run: bool,
    /// `--mkpath`: the directories above it are made as well.
    pub(crate) make_path: bool,
    /// `--list-only`: nothing is written, wherever it would go.
    pub(crate) lists: bool,
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
    /// What `--mkpath` made or would have made, and how much that is.
    pub(crate) made_path: Option<(Vec<u8>, usize)>,
}

impl Destination {
    /// Takes the argument as it was given; the empty one is the working directory.
    pub fn new(path: &Path) -> Self {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        Self { path: path.to_owned() }
    }

    /// Decides, knowing the first list and whether more come.
    pub(crate) fn settle(&self, first: &ReceivedList, more: bool, leave: Leave) -> Result<Settled> {
        let bytes = self.path.as_os_str().as_bytes();
        let wants_dir = matches!(split(bytes).1, b"" | b"." | b"..");
        if leave.lists {
            return Ok(nowhere(self.path.clone()));
        }
        let is_one_file = is_single_file(first, more) && !wants_dir;
        let (parent, name) = split_parent(&self.path);
        let made_path = match leave.make_path {
            true if is_one_file => self.make_path(&parent, leave)?,
            true => self.make_path(&self.path, leave)?,
            false => None,
        };
        let is_pretended = leave.dry_run && made_path.is_some();
        let settled = match fs::metadata(&self.path) {
            Ok(found) if found.is_dir() => directory(&self.path)?,
            Ok(_) if !is_one_file => return Err(Error::NotADirectory(self.path.clone())),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(failed("look at the destination", &self.path, error));
            }
            _ if is_one_file && is_pretended => Settled { new_name: Some(name), ..nowhere(parent) },
            _ if is_one_file => Settled { new_name: Some(name), ..directory(&parent)? },
            _ if leave.dry_run => Settled { made: true, ..nowhere(self.path.clone()) },
            _ => self.make()?,
        };
        Ok(Settled { made_path, ..settled })
    }

    /// Makes what is missing of a path, or counts it.
    fn make_path(&self, path: &Path, leave: Leave) -> Result<Option<(Vec<u8>, usize)>> {
        let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.is_dir();
        let count = match leave.dry_run {
            true => path.ancestors().take_while(missing).count(),
            false => Root::make_path(path, NEW_DIR_MODE)
                .map_err(|error| {
                    // Where something else is in the way, looking at the whole says it best.
                    let looked = fs::metadata(path).err();
                    let looked = looked.filter(|error| error.kind() != io::ErrorKind::NotFound);
                    match looked {
                        Some(source) => failed("make the path", path, source),
                        None => Error::Destination(error),
                    }
                })?
                .len(),
        };
        Ok((count > 0).then(|| (trimmed(path).to_vec(), count)))
    }

    fn make(&self) -> Result<Settled> {
        let path = Path::new(OsStr::from_bytes(trimmed(&self.path)));
        fs::create_dir(path).map_err(|error| failed("make the directory", path, error))?;
        Ok(Settled { made: true, ..directory(&self.path)? })
    }
}

fn directory(path: &Path) -> Result<Settled> {
    let root = Root::open(&absolute(path)).map_err(Error::Destination)?;
    Ok(Settled { root: Some(root), ..nowhere(path.to_owned()) })
}

fn nowhere(path: PathBuf) -> Settled {
    Settled { root: None, path, new_name: None, made: false, made_path: None }
}

fn failed(op: &'static str, path: &Path, source: io::Error) -> Error {
    Error::Destination(tree::Error::Io { op, path: path.to_owned(), source })
}

/// Returns a path as messages name it, whatever the working directory is.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns a path without slashes at its end.
pub(crate) fn trimmed(path: &Path) -> &[u8] {
    let mut bytes = path.as_os_str().as_bytes();
    while let [rest @ .., b'/'] = bytes
        && !rest.is_empty()
    {
        bytes = rest;
    }
    bytes
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
