//! Which daemon do the tests talk to?

use std::fs::{self, Permissions};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use transport::{Endpoint, Route};
use wire::options::IpFamily;

use crate::caller::{account, free_port};

/// A stock daemon on a free loopback port, gone at the end of the test.
pub(crate) struct Daemon {
    child: Child,
    pub(crate) port: u16,
    pub(crate) dir: tempfile::TempDir,
}

impl Daemon {
    pub(crate) fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).display().to_string();
        fs::create_dir(at("data")).unwrap();
        fs::write(at("secrets"), "alice:secret\n").unwrap();
        fs::set_permissions(at("secrets"), Permissions::from_mode(0o600)).unwrap();
        fs::write(at("motd"), "welcome\n").unwrap();
        let config = format!(
            "use chroot = no\nmotd file = {}\nuid = root\ngid = root\n\
             [open]\npath = {data}\nread only = no\n\
             [closed]\npath = {data}\nread only = no\nauth users = alice\nsecrets file = {}\n\
             [gone]\npath = /nowhere/at/all\n",
            at("motd"),
            at("secrets"),
            data = at("data"),
        );
        fs::write(at("rsyncd.conf"), config).unwrap();
        let port = free_port();
        let child = Command::new("rsync")
            .args(["--daemon", "--no-detach", &format!("--port={port}")])
            .arg(format!("--config={}", at("rsyncd.conf")))
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let daemon = Daemon { child, port, dir };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(start.elapsed() < Duration::from_secs(20), "the daemon does not start");
            thread::yield_now();
        }
        daemon
    }

    pub(crate) fn route(&self, host: &str, module: &str, family: Option<IpFamily>) -> Route {
        let endpoint =
            Endpoint { host: host.into(), port: self.port, family, ..Endpoint::default() };
        Route::Daemon { endpoint, proxy: None, account: account(module) }
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.dir.path().join("rsyncd.conf")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
