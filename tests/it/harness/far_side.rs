//! What does a push need to reach a stock rsync by daemon, ssh or pipe?

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{Daemon, Rsync, Sshd, temp_dir};
use crate::words;

/// A way to a stock rsync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// `rsync://` to a daemon on a loopback port.
    Daemon,
    /// `host:path` through OpenSSH on a loopback port.
    Ssh,
    /// `host:path` with a remote shell that is a script on this machine.
    Pipe,
}

/// A stock rsync that can be pushed to, and the folder where it writes.
pub(crate) struct FarSide {
    server: Server,
    root: PathBuf,
    rsync: Rsync,
}

enum Server {
    Daemon(Daemon),
    Ssh(Sshd, #[expect(dead_code, reason = "kept until the end")] TempDir),
    Pipe(TempDir),
}

impl FarSide {
    pub(crate) fn start(way: Way, rsync: Rsync) -> Self {
        let folder = temp_dir();
        let root = folder.path().join("m");
        fs::create_dir(&root).unwrap();
        match way {
            Way::Daemon => {
                let daemon = Daemon::start(rsync);
                let root = daemon.root().to_owned();
                Self { server: Server::Daemon(daemon), root, rsync }
            }
            Way::Ssh => Self { server: Server::Ssh(Sshd::start(), folder), root, rsync },
            Way::Pipe => {
                // What ssh does: the words become one line for a shell on the other side.
                fs::write(folder.path().join("rsh"), "shift\nexec sh -c \"$*\"\n").unwrap();
                Self { server: Server::Pipe(folder), root, rsync }
            }
        }
    }

    /// Returns the options that make a client, ours or stock, write to the folder `name`.
    pub(crate) fn reach(&self, name: &str) -> (Vec<OsString>, String) {
        let path = self.folder(name);
        let rsync_path = format!("--rsync-path={}", self.rsync.path().display());
        match &self.server {
            Server::Daemon(daemon) => (Vec::new(), daemon.url(name)),
            Server::Ssh(sshd, _) => (words!["-e", sshd.rsh(), rsync_path].into(), sshd.to(&path)),
            Server::Pipe(folder) => {
                let rsh = format!("sh {}/rsh", folder.path().display());
                (words!["-e", rsh, rsync_path].into(), format!("far:{}", path.display()))
            }
        }
    }

    /// Returns the words of a `repl push` of `source` to the folder `name`, with further options.
    pub(crate) fn push(&self, options: &[&str], source: &Path, name: &str) -> Vec<OsString> {
        let (mut reach, to) = self.reach(name);
        let mut words = words!["push"].to_vec();
        words.extend(options.iter().map(OsString::from));
        words.append(&mut reach);
        words.extend(words!["--to", to, super::program::contents_of(source)]);
        words
    }

    /// Returns the words of the same push for a stock rsync, which needs to be told what `repl` does unasked.
    pub(crate) fn stock_push(&self, options: &[&str], source: &Path, name: &str) -> Vec<OsString> {
        let (mut words, to) = self.reach(name);
        words.extend(words!["-aH", "--numeric-ids"]);
        words.extend(options.iter().map(OsString::from));
        words.extend(words![super::program::contents_of(source), to]);
        words
    }

    /// Returns the folder that `name` stands for, as this machine sees it.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }
}
