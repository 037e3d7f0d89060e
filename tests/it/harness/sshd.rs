//! How does a test get a real OpenSSH server on a loopback port of its own?

use std::fs;
use std::io::Read;
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::child::OwnedChild;
use super::daemon::free_port;
use super::{temp_dir, wait};

const START_LIMIT: Duration = Duration::from_secs(10);

/// A running ssh server that lets the client of its folder in as root.
pub(crate) struct Sshd {
    port: u16,
    folder: TempDir,
    _process: OwnedChild,
}

impl Sshd {
    pub(crate) fn start() -> Self {
        Self::start_with("")
    }

    /// Starts a server with further lines in its configuration.
    pub(crate) fn start_with(config_lines: &str) -> Self {
        // The privilege separation of sshd wants this folder, which Debian's init script makes.
        fs::create_dir_all("/run/sshd").unwrap();
        let folder = temp_dir();
        make_key(&folder.path().join("host_key"));
        make_key(&folder.path().join("client_key"));
        fs::copy(folder.path().join("client_key.pub"), folder.path().join("authorized")).unwrap();
        for _ in 0..5 {
            let port = free_port();
            if let Some(process) = serve(folder.path(), port, config_lines) {
                know_host(folder.path(), port);
                return Self { port, folder, _process: process };
            }
        }
        panic!("sshd does not stay up")
    }

    /// Returns the value of `-e` that reaches this server.
    pub(crate) fn rsh(&self) -> String {
        let folder = self.folder.path().display();
        format!(
            "ssh -F none -p {} -i {folder}/client_key -o IdentitiesOnly=yes -o UserKnownHostsFile={folder}/known",
            self.port
        )
    }

    /// Returns the destination `path` on this server.
    pub(crate) fn to(&self, path: &Path) -> String {
        format!("root@127.0.0.1:{}", path.display())
    }
}

fn make_key(path: &Path) {
    let made =
        Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path).status();
    assert!(made.unwrap().success(), "ssh-keygen failed");
}

fn know_host(folder: &Path, port: u16) {
    let key = fs::read_to_string(folder.join("host_key.pub")).unwrap();
    fs::write(folder.join("known"), format!("[127.0.0.1]:{port} {key}")).unwrap();
}

/// Starts sshd, and returns it once it greets; nothing when another process has taken the port.
fn serve(folder: &Path, port: u16, config_lines: &str) -> Option<OwnedChild> {
    let config = folder.join("sshd_config");
    let text = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {0}/host_key\nAuthorizedKeysFile {0}/authorized\n\
         PidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin yes\nPasswordAuthentication no\n{config_lines}\n",
        folder.display(),
    );
    fs::write(&config, text).unwrap();
    let mut command = Command::new("/usr/sbin/sshd");
    command.arg("-D").arg("-E").arg(folder.join("log")).arg("-f").arg(&config);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut process = OwnedChild::spawn(&mut command);
    let answered = wait::eventually("an answer of sshd", START_LIMIT, || {
        process.ended().map(|_| false).or_else(|| greets(port).then_some(true))
    });
    answered.then_some(process)
}

fn greets(port: u16) -> bool {
    let mut start = [0; 4];
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port));
    stream.is_ok_and(|mut stream| stream.read_exact(&mut start).is_ok() && &start == b"SSH-")
}
