//! Where does the other end run, and what has it used?

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::processes;

/// Which role is compared, and how the two ends meet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// A client pushes to a stock daemon on a loopback port.
    Daemon,
    /// A client pushes to a stock receiver behind a program that stands for a remote shell.
    Pipe,
    /// A stock client pushes to a server there.
    Serve,
    /// A client pulls from a stock sender there.
    Pull,
    /// A client pushes to a server of its own kind there.
    Both,
    /// There is no far side.
    Local,
}

impl Way {
    pub(crate) const ALL: [Way; 6] =
        [Way::Daemon, Way::Pipe, Way::Serve, Way::Pull, Way::Both, Way::Local];

    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let way = Self::ALL.into_iter().find(|way| way.name() == text);
        way.ok_or_else(|| format!("unknown way {text}; {}", Self::ALL.map(Self::name).join(", ")))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Daemon => "daemon",
            Self::Pipe => "pipe",
            Self::Serve => "serve",
            Self::Pull => "pull",
            Self::Both => "both",
            Self::Local => "local",
        }
    }
}

/// The other end, whose trees lie below one folder.
pub(crate) struct FarSide {
    pub(crate) way: Way,
    folder: PathBuf,
    daemon: Option<(Child, u16)>,
}

impl FarSide {
    pub(crate) fn start(way: Way, folder: &Path) -> Self {
        let daemon = (way == Way::Daemon).then(|| start_daemon(folder));
        // The shell says which process it is and notes what the server has used, apart from what the client uses.
        let script = "echo $$ >\"${0%/*}/shell\"\nshift\nsh -c \"$*\"\ncode=$?\ntimes >\"${0%/*}/times\"\nexit $code\n";
        fs::write(folder.join("rsh"), script).unwrap();
        Self { way, folder: folder.to_owned(), daemon }
    }

    /// Returns the option that makes a client reach this side by its shell.
    pub(crate) fn shell(&self) -> [String; 2] {
        ["-e".to_owned(), format!("sh {}/rsh", self.folder.display())]
    }

    /// Returns the address of the folder `name` here.
    pub(crate) fn address(&self, name: &str) -> String {
        let folder = self.folder.display();
        match (&self.daemon, self.way) {
            (Some((_, port)), _) => format!("rsync://127.0.0.1:{port}/m/{name}/"),
            (None, Way::Local) => format!("{folder}/{name}/"),
            (None, _) => format!("far:{folder}/{name}/"),
        }
    }

    /// Forgets what the shell said of an earlier run.
    pub(crate) fn forget(&self) {
        for name in ["shell", "times"] {
            let _ = fs::remove_file(self.folder.join(name));
        }
    }

    /// Returns the processor time of all servers so far that have ended.
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

    /// Returns the process whose descendants are the server, once there is one.
    pub(crate) fn parent(&self) -> Option<u32> {
        match &self.daemon {
            Some((daemon, _)) => Some(daemon.id()),
            None => fs::read_to_string(self.folder.join("shell")).ok()?.trim().parse().ok(),
        }
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
