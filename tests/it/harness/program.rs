//! How does a test run a program with a time limit, and what is left of it afterwards?

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::child::OwnedChild;
use super::{Rsync, temp_dir};

/// Long enough for a busy machine; a run that needs it all is hanging.
const USUAL_LIMIT: Duration = Duration::from_secs(60);

/// How long the children of a program may live on after it.
const CHILDREN_LIMIT: Duration = Duration::from_secs(5);

/// A program with its arguments, in an environment that knows nothing of the person who runs the tests.
pub(crate) struct Program {
    command: Command,
    limit: Duration,
    home: TempDir,
    /// What is its stdin and stdout.
    stream: Option<UnixStream>,
}

/// Starts `repl` with `args`, the first of which is the command.
pub(crate) fn repl<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Program {
    Program::new(env!("CARGO_BIN_EXE_repl")).args(args)
}

/// Starts a stock rsync as the client.
pub(crate) fn stock<S: AsRef<OsStr>>(rsync: Rsync, args: impl IntoIterator<Item = S>) -> Program {
    Program::new(rsync.path()).args(args)
}

impl Program {
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(program);
        command.env_clear().env("LANG", "C.UTF-8").env("TZ", "UTC");
        command.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        let home = temp_dir();
        move_in(&mut command, home.path());
        Self { command, limit: USUAL_LIMIT, home, stream: None }
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub(crate) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs the program in the folder `place`.
    pub(crate) fn inside(mut self, place: &Path) -> Self {
        self.command.current_dir(place);
        self
    }

    /// Makes `stream` its stdin and stdout.
    pub(crate) fn talking_over(mut self, stream: UnixStream) -> Self {
        self.stream = Some(stream);
        self
    }

    /// Fails the test, and kills the program, when it runs longer than this.
    pub(crate) fn within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Makes every allocation fail that takes the program's data over `bytes`.
    pub(crate) fn data_limit(self, bytes: u64) -> Self {
        self.behind(&["prlimit", &format!("--data={bytes}")])
    }

    /// Runs the program as a user who owns nothing.
    pub(crate) fn owning_nothing(self) -> Self {
        self.behind(&["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
    }

    /// Puts another program with its arguments in front of this one.
    pub(crate) fn behind(mut self, words: &[&str]) -> Self {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg("--").arg(self.command.get_program());
        command.args(self.command.get_args());
        command.env_clear();
        command.envs(self.command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(self.home.path());
        self.command = command;
        self
    }

    pub(crate) fn run(self) -> Outcome {
        self.start().wait()
    }

    pub(crate) fn start(mut self) -> Running {
        self.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let talks = self.stream.take().map(|stream| {
            let input = OwnedFd::from(stream.try_clone().unwrap());
            self.command.stdin(input).stdout(OwnedFd::from(stream));
        });
        let shown = shown(&self.command);
        let mut child = OwnedChild::spawn(&mut self.command);
        let stdout = match talks {
            None => collect(child.stdout()),
            Some(()) => collect(std::io::empty()),
        };
        let stderr = collect(child.stderr());
        let started = Instant::now();
        Running { child, stdout, stderr, started, limit: self.limit, shown, _home: self.home }
    }
}

/// Makes `home` the place of everything that a program keeps of a person.
fn move_in(command: &mut Command, home: &Path) {
    command.current_dir(home).env("HOME", home);
    command.env("XDG_CONFIG_HOME", home.join("config"));
    command.env("XDG_STATE_HOME", home.join("state"));
    command.env("XDG_CACHE_HOME", home.join("cache"));
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn collect(mut from: impl Read + Send + 'static) -> Collected {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(len @ 1..) = from.read(&mut piece) {
            if sender.send(piece[..len].to_vec()).is_err() {
                break;
            }
        }
    });
    Collected { receiver, so_far: Vec::new() }
}

/// What a program has written to one of its outputs.
struct Collected {
    receiver: mpsc::Receiver<Vec<u8>>,
    so_far: Vec<u8>,
}

impl Collected {
    fn so_far(&mut self) -> &[u8] {
        self.so_far.extend(self.receiver.try_iter().flatten());
        &self.so_far
    }

    /// Takes the rest; the program has ended, so only a child that it forgot can keep the output open.
    fn finish(mut self) -> Vec<u8> {
        loop {
            match self.receiver.recv_timeout(CHILDREN_LIMIT) {
                Ok(piece) => self.so_far.extend(piece),
                Err(RecvTimeoutError::Disconnected) => return self.so_far,
                Err(RecvTimeoutError::Timeout) => panic!("a child outlives the program"),
            }
        }
    }
}

/// A program that has been started.
pub(crate) struct Running {
    child: OwnedChild,
    stdout: Collected,
    stderr: Collected,
    started: Instant,
    limit: Duration,
    shown: String,
    _home: TempDir,
}

impl Running {
    /// Sends a signal to the program alone, not to its children.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.child.pid(), signal).unwrap();
    }

    /// From now on the program may run this long.
    pub(crate) fn within(mut self, limit: Duration) -> Self {
        self.limit = self.started.elapsed() + limit;
        self
    }

    /// Waits for the end, however it comes.
    pub(crate) fn wait(mut self) -> Outcome {
        let mut peak_bytes = 0;
        let end = self.started + self.limit;
        let status = loop {
            peak_bytes = peak_bytes.max(resident_peak(self.child.pid()));
            if let Some(status) = self.child.ended() {
                break status;
            }
            if Instant::now() > end {
                self.give_up();
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        Outcome {
            wall: self.started.elapsed(),
            status,
            stdout: self.stdout.finish(),
            stderr: self.stderr.finish(),
            peak_bytes,
            shown: self.shown,
        }
    }

    fn give_up(&mut self) -> ! {
        self.child.kill();
        panic!(
            "still running after {:?}: {}\nstdout: {}\nstderr: {}",
            self.limit,
            self.shown,
            String::from_utf8_lossy(self.stdout.so_far()),
            String::from_utf8_lossy(self.stderr.so_far()),
        )
    }
}

/// Returns the most memory that process `pid` has had resident, 0 when it has ended.
fn resident_peak(pid: Pid) -> u64 {
    let path = format!("/proc/{}/status", pid.as_raw_nonzero());
    let status = fs::read_to_string(path).unwrap_or_default();
    // Until it has become the program, its memory, like its name, is that of this test.
    let own_name = fs::read_to_string("/proc/thread-self/comm").unwrap_or_default();
    if status.lines().next().and_then(|line| line.strip_prefix("Name:\t"))
        == Some(own_name.trim_end())
    {
        return 0;
    }
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}

/// What a finished program left behind.
pub(crate) struct Outcome {
    pub(crate) wall: Duration,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// The most memory that was seen resident.
    pub(crate) peak_bytes: u64,
    status: ExitStatus,
    shown: String,
}

impl Outcome {
    /// Returns the exit code, or 128 and the signal's number as a shell does.
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }

    #[track_caller]
    pub(crate) fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code(), code, "{}", self.told());
        self
    }

    #[track_caller]
    pub(crate) fn expect_success(self) -> Self {
        self.expect_code(0)
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Returns everything worth printing when a test fails.
    pub(crate) fn told(&self) -> String {
        format!("{}\nstdout: {}\nstderr: {}", self.shown, self.stdout(), self.stderr())
    }

    /// Fails when the program has panicked or was ended by a signal.
    #[track_caller]
    pub(crate) fn expect_no_panic(&self) {
        assert!(self.status.signal().is_none(), "{}", self.told());
        assert!(self.code() != 101 && !self.stderr().contains("panicked"), "{}", self.told());
    }
}

/// Makes the words of a command line out of anything that can stand in one.
#[macro_export]
macro_rules! words {
    ($($word:expr),* $(,)?) => {
        [$(::std::ffi::OsString::from(&$word)),*]
    };
}

/// Returns the name of `path` with the slash that means "its contents".
pub(crate) fn contents_of(path: &Path) -> OsString {
    let mut name = path.as_os_str().to_owned();
    name.push("/");
    name
}
