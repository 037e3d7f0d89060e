//! Which rsync answers to the name in a test, here and on the far side of a pipe?

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::harness::{Rsync, temp_dir};

/// Whose rsync it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The machine's own.
    Stock,
    /// This project's program, called by the name `rsync`.
    Ours,
}

impl Side {
    const BOTH: [Side; 2] = [Side::Stock, Side::Ours];

    fn name(self) -> &'static str {
        match self {
            Side::Stock => "stock",
            Side::Ours => "ours",
        }
    }

    fn program(self) -> PathBuf {
        match self {
            Side::Stock => Rsync::Installed.path(),
            Side::Ours => PathBuf::from(env!("CARGO_BIN_EXE_repl")),
        }
    }
}

/// A client and the server that it starts.
pub(crate) type Pair = (Side, Side);

/// Folders with an `rsync` of each side, and a remote shell to each: what a PATH and an RSYNC_RSH need.
pub(crate) struct Programs(TempDir);

impl Programs {
    pub(crate) fn lay_out() -> Self {
        let folder = temp_dir();
        // Cases also run as a user who owns nothing.
        open_to_all(folder.path());
        for side in Side::BOTH {
            let home = folder.path().join(side.name());
            fs::create_dir(&home).unwrap();
            symlink(side.program(), home.join("rsync")).unwrap();
            // What ssh does: the words become one line for a shell on the other side.
            let text = format!(
                "#!/bin/sh\nPATH={}:/usr/sbin:/usr/bin:/sbin:/bin\nexport PATH\n[ \"$1\" != -l ] || shift 2\nshift\nexec sh -c \"$*\"\n",
                home.display()
            );
            fs::write(home.join("far"), text).unwrap();
            fs::set_permissions(home.join("far"), PermissionsExt::from_mode(0o755)).unwrap();
        }
        Self(folder)
    }

    /// Returns the PATH where `side` is called rsync.
    pub(crate) fn path(&self, side: Side) -> String {
        format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", self.0.path().join(side.name()).display())
    }

    /// Returns what `side` is called by.
    pub(crate) fn program(&self, side: Side) -> PathBuf {
        self.0.path().join(side.name()).join("rsync")
    }

    /// Returns the remote shell behind which `side` is called rsync; it stays in the client's folder.
    pub(crate) fn remote_shell(&self, side: Side) -> PathBuf {
        self.0.path().join(side.name()).join("far")
    }
}

/// Lets every user into a folder.
pub(crate) fn open_to_all(folder: &Path) {
    fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).unwrap();
}
