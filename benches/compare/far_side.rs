//! Where does the stock receiver run, and what has it used?

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::processes;

/// How a client reaches the receiver.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// A daemon on a loopback port.
    Daemon,
    /// A program on this machine that stands for a remote shell.
    Pipe,
}

impl Way {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "daemon" => Ok(Self::Daemon),
            "pipe" => Ok(Self::Pipe),
            other => Err(format!("unknown way {other}; daemon or pipe")),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Daemon => "daemon",
            Self::Pipe => "pipe",
        }
    }
}

/// A stock receiver that writes below one folder.
pub(crate) struct FarSide {
    pub(crate) way: Way,
    folder: PathBuf,
    daemon: Option<(Child, u16)>,
}

impl FarSide {
    pub(crate) fn start(way: Way, folder: &Path) -> Self {
        let daemon = match way {
            Way::Daemon => Some(start_daemon(folder)),
            Way::Pipe => {
                // The shell notes what the receiver has used, apart from what the client uses.
                let script = "shift\nsh -c \"$*\"\ncode=$?\ntimes >\"$(dirname \"$0\")/times\"\nexit $code\n";
                fs::write(folder.join("rsh"), script).unwrap();
                None
            }
        };
        Self { way, folder: folder.to_owned(), daemon }
    }

    /// Returns the options and the address of the folder `name`.
    pub(crate) fn reach(&self, name: &str) -> (Vec<String>, String) {
        match &self.daemon {
            Some((_, port)) => (Vec::new(), format!("rsync://127.0.0.1:{port}/m/{name}/")),
            None => {
                let rsh = format!("sh {}/rsh", self.folder.display());
                (vec!["-e".to_owned(), rsh], format!("far:{}/{name}/", self.folder.display()))
            }
        }
    }

    /// Returns the processor time of all receivers so far that have ended.
    pub(crate) fn used(&self) -> Duration {
        match &self.daemon {
            Some((daemon, _)) => {
                while !processes::descendants(daemon.id()).is_empty() {
                    std::thread::sleep(Duration::from_millis(2));
                }
                processes::used_by_children(daemon.id())
            }
            None => shell_times(&self.folder.join("times")),
        }
    }

    /// Returns whether `used` counts from the start of this value, and not from the start of a run.
    pub(crate) fn adds_up(&self) -> bool {
        self.daemon.is_some()
    }

    /// Returns the process whose descendants are the receiver.
    pub(crate) fn parent(&self, client: u32) -> u32 {
        self.daemon.as_ref().map_or(client, |(daemon, _)| daemon.id())
    }
}

impl Drop for FarSide {
    fn drop(&mut self) {
        if let Some((daemon, _)) = &mut self.daemon {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

fn start_daemon(folder: &Path) -> (Child, u16) {
    let config = folder.join("rsyncd.conf");
    let text = format!(
        "[m]\npath = {}\nread only = no\nuse chroot = no\nmunge symlinks = no\n",
        folder.display()
    );
    let owner = if rustix::process::getuid().is_root() { "uid = 0\ngid = 0\n" } else { "" };
    fs::write(&config, text + owner).unwrap();
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let mut command = Command::new("rsync");
    command.args(["--daemon", "--no-detach", "--address=127.0.0.1"]);
    command.arg(format!("--port={port}")).arg(format!("--config={}", config.display()));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut daemon = command.spawn().unwrap();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        assert!(daemon.try_wait().unwrap().is_none(), "rsync --daemon does not stay up");
        std::thread::sleep(Duration::from_millis(5));
    }
    (daemon, port)
}

/// Reads what the shell's `times` printed: its own times in one line, those of its children in the next.
fn shell_times(path: &Path) -> Duration {
    let text = fs::read_to_string(path).unwrap_or_default();
    let children = text.lines().nth(1).unwrap_or_default();
    children.split_whitespace().filter_map(minutes_and_seconds).sum()
}

fn minutes_and_seconds(text: &str) -> Option<Duration> {
    let (minutes, seconds) = text.strip_suffix('s')?.split_once('m')?;
    let seconds = minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?;
    Some(Duration::from_secs_f64(seconds))
}
