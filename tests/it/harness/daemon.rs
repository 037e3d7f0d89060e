//! How does a test get a real `rsync --daemon` on a loopback port of its own?

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::child::OwnedChild;
use super::{Rsync, temp_dir, wait};
use crate::words;

/// How long a server may take to answer its first connection.
const START_LIMIT: Duration = Duration::from_secs(10);

/// A running daemon with one module, `m`, whose folder goes with it.
pub(crate) struct Daemon {
    pub(crate) port: u16,
    /// Where the tests see the module's folder.
    root: PathBuf,
    _process: OwnedChild,
    _folder: TempDir,
}

impl Daemon {
    /// Starts a daemon whose module `m` may be written by root.
    pub(crate) fn start(rsync: Rsync) -> Self {
        Self::start_with(rsync, "")
    }

    /// Starts a daemon with further lines for its module `m`.
    pub(crate) fn start_with(rsync: Rsync, module_lines: &str) -> Self {
        let folder = temp_dir();
        let root = folder.path().join("m");
        fs::create_dir(&root).unwrap();
        let mut words = words![rsync.path()].to_vec();
        words.extend(daemon_args(folder.path(), module_lines));
        let (port, process) = serve(&words);
        Self { port, root, _process: process, _folder: folder }
    }

    /// Starts a daemon whose module `m` lies on a disk of its own with room for `bytes`.
    ///
    /// The disk is mounted in a namespace of the daemon's, so nothing is left of it afterwards.
    pub(crate) fn start_on_small_disk(rsync: Rsync, bytes: usize) -> Self {
        let folder = temp_dir();
        let root = folder.path().join("m");
        fs::create_dir(&root).unwrap();
        let mount = format!("mount -t tmpfs -o size={bytes} small {}", root.display());
        let script = format!("{mount} && exec \"$@\"");
        let mut words =
            words!["unshare", "--mount", "sh", "-c", script, "sh", rsync.path()].to_vec();
        words.extend(daemon_args(folder.path(), ""));
        let (port, process) = serve(&words);
        let seen_by_the_daemon = format!("/proc/{}/root", process.pid().as_raw_nonzero());
        let root = PathBuf::from(seen_by_the_daemon + root.to_str().unwrap());
        Self { port, root, _process: process, _folder: folder }
    }

    /// Returns the module's folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the address of `path` below the module.
    pub(crate) fn url(&self, path: &str) -> String {
        url(self.port, path)
    }
}

/// Returns the address of `path` below the module `m` of a daemon, or of something in front of it.
pub(crate) fn url(port: u16, path: &str) -> String {
    format!("rsync://127.0.0.1:{port}/m/{path}")
}

fn daemon_args(folder: &Path, module_lines: &str) -> [OsString; 4] {
    let config = folder.join("rsyncd.conf");
    let text = format!(
        "log file = {0}/log\npid file = {0}/pid\nlock file = {0}/lock\n\
         [m]\npath = {0}/m\nread only = no\nuse chroot = yes\nuid = 0\ngid = 0\n{module_lines}\n",
        folder.display(),
    );
    fs::write(&config, text).unwrap();
    let config = format!("--config={}", config.display());
    words!["--daemon", "--no-detach", "--address=127.0.0.1", config]
}

/// Starts a daemon on a free port; another process may take the port first, so it tries again.
fn serve(words: &[OsString]) -> (u16, OwnedChild) {
    for _ in 0..5 {
        let port = free_port();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg(format!("--port={port}"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = OwnedChild::spawn(&mut command);
        let answered = wait::eventually("an answer of rsync --daemon", START_LIMIT, || {
            process.ended().map(|_| false).or_else(|| greets(port).then_some(true))
        });
        if answered {
            return (port, process);
        }
    }
    panic!("{words:?} does not stay up")
}

/// Returns a port that nobody listens on at the moment.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

fn greets(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else {
        return false;
    };
    let mut line = String::new();
    let greeting = BufReader::new(&stream).read_line(&mut line);
    let _ = stream.write_all(b"\n");
    greeting.is_ok() && line.starts_with("@RSYNCD:")
}
