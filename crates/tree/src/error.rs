//! What can go wrong on the disk.

use std::io;
use std::path::PathBuf;

/// A failed operation on the tree.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed: what was tried, on which path, and why.
    #[error("cannot {op} \"{}\": {source}", path.display())]
    Io {
        /// The operation, as a verb for a person: `open`, `read directory`.
        op: &'static str,
        /// The path as a person would type it.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// The result of an operation on the disk.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(op: &'static str, path: PathBuf, source: impl Into<io::Error>) -> Self {
        Self::Io { op, path, source: source.into() }
    }

    /// Says it of another path, which could not be reached for this reason.
    pub fn of_path(self, path: PathBuf) -> Self {
        let Self::Io { op, source, .. } = self;
        Self::Io { op, path, source }
    }

    /// Tells whether the thing was simply not there (any more).
    pub fn is_not_found(&self) -> bool {
        let Self::Io { source, .. } = self;
        source.kind() == io::ErrorKind::NotFound
    }

    /// Returns what was tried, as a verb for a person.
    pub fn operation(&self) -> &'static str {
        let Self::Io { op, .. } = self;
        op
    }

    /// Returns the path that it happened to.
    pub fn path(&self) -> &std::path::Path {
        let Self::Io { path, .. } = self;
        path
    }

    /// Returns the system's reason.
    pub fn reason(&self) -> &io::Error {
        let Self::Io { source, .. } = self;
        source
    }
}
