//! Which ssh server do the tests log in to?

use std::fs::{self, Permissions};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use transport::*;

use crate::caller::free_port;

/// An OpenSSH server on a free loopback port, with keys of its own, gone at the end of the test.
pub(crate) struct Sshd {
    child: Child,
    pub(crate) port: u16,
    pub(crate) dir: tempfile::TempDir,
}

impl Sshd {
    pub(crate) fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).display().to_string();
        for key in ["host_key", "user_key"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f", &at(key)])
                .status()
                .unwrap();
            assert!(made.success());
        }
        fs::copy(at("user_key.pub"), at("authorized_keys")).unwrap();
        // Its working directory, which a package's start script makes; only root's sshd needs it.
        let _ = fs::create_dir("/run/sshd");
        let port = free_port();
        let config = format!(
            "ListenAddress 127.0.0.1:{port}\nHostKey {}\nAuthorizedKeysFile {}\n\
             PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n",
            at("host_key"),
            at("authorized_keys")
        );
        fs::write(at("sshd_config"), config).unwrap();
        fs::set_permissions(at("user_key"), Permissions::from_mode(0o600)).unwrap();
        let host_key = fs::read_to_string(at("host_key.pub")).unwrap();
        fs::write(at("known_hosts"), format!("[127.0.0.1]:{port} {host_key}")).unwrap();
        let child = Command::new("/usr/sbin/sshd")
            .args(["-D", "-e", "-f", &at("sshd_config")])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(start.elapsed() < Duration::from_secs(20), "sshd does not start");
            thread::yield_now();
        }
        Sshd { child, port, dir }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The way to a rsync behind this server, with the keys of hosts taken from `known_hosts`.
    pub(crate) fn route(&self, known_hosts: &str) -> Route {
        let shell = RemoteShell::ssh(&SshOptions {
            port: Some(self.port),
            identity: Some(self.at("user_key")),
            options: vec![
                format!("UserKnownHostsFile={}", self.at(known_hosts).display()),
                "IdentitiesOnly=yes".into(),
            ],
            connect_timeout: Some(20),
            ..SshOptions::default()
        });
        let host = FarHost {
            name: "127.0.0.1".into(),
            user: None,
            family: None,
            rsync_path: b"rsync".to_vec(),
        };
        Route::Shell { shell, host }
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
