//! How is the program that leads to the other machine started, and how does it surely end?

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use wire::escape::printable;

use crate::error::Error;
use crate::shell::Terminal;
use crate::stderr_tail::{LineSink, StderrTail};

/// How long a program may take to end after it was asked to.
const MERCY: Duration = Duration::from_secs(1);

/// The words and surroundings of a program to be started.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) argv: Vec<Vec<u8>>,
    pub(crate) terminal: Terminal,
    /// `RSYNC_PORT` for a program that leads to a daemon; 0 stands for the usual port.
    pub(crate) daemon_port: Option<u16>,
}

/// A running child, such as ssh; it is gone when this is dropped.
#[derive(Debug)]
pub(crate) struct FarProgram {
    child: Mutex<Child>,
    own_group: bool,
}

/// A program just started, our end of its stdin and stdout, and its stderr.
pub(crate) type Started = (Arc<FarProgram>, UnixStream, StderrTail);

impl FarProgram {
    /// Starts the program.
    ///
    /// Where no person can be asked anything it gets a process group of its own: Ctrl-C then comes
    /// to us alone, which ends the session in order, and whatever it has started ends with it. A
    /// program that may have to ask for a password must stay in the terminal's group.
    pub(crate) fn start(launch: &Launch, sink: LineSink) -> Result<Started, Error> {
        let pair = UnixStream::pair().and_then(|(ours, its)| Ok((ours, its.try_clone()?, its)));
        let (ours, stdin, stdout) =
            pair.map_err(|source| Error::Io { action: "create a socket pair", source })?;
        let (program, arguments) = launch.argv.split_first().ok_or(Error::NoShell)?;
        let mut command = Command::new(OsStr::from_bytes(program));
        command
            .args(arguments.iter().map(|word| OsStr::from_bytes(word)))
            .stdin(Stdio::from(OwnedFd::from(stdin)))
            .stdout(Stdio::from(OwnedFd::from(stdout)))
            .stderr(Stdio::piped());
        let own_group = launch.terminal == Terminal::Absent;
        if own_group {
            command.process_group(0);
        }
        if let Some(port) = launch.daemon_port {
            command.env("RSYNC_PORT", port.to_string());
        }
        let mut child = command
            .spawn()
            .map_err(|source| Error::NoProgram { program: printable(program), source })?;
        let stderr = child.stderr.take();
        let program = Arc::new(FarProgram { child: Mutex::new(child), own_group });
        let stderr = stderr.ok_or_else(|| io::ErrorKind::BrokenPipe.into());
        let tail = stderr
            .and_then(|stderr| StderrTail::start(stderr, sink))
            .map_err(|source| Error::Io { action: "read the remote shell's stderr", source })?;
        Ok((program, ours, tail))
    }

    /// Asks the program to end, without waiting.
    pub(crate) fn terminate(&self) {
        self.signal(&mut self.lock(), Signal::TERM);
    }

    /// Waits for the end until `deadline`, and ends the program then.
    pub(crate) fn wait_until(&self, deadline: Instant) -> FarEnd {
        match self.poll_until(deadline) {
            Some(status) => status.into(),
            None => {
                self.end();
                FarEnd::Unknown
            }
        }
    }

    fn poll_until(&self, deadline: Instant) -> Option<ExitStatus> {
        let mut pause = Duration::from_micros(200);
        loop {
            // An error means that the child is not ours to wait for any more.
            match self.lock().try_wait() {
                Ok(None) => {}
                Ok(status) => return status,
                Err(_) => return None,
            }
            let left = deadline.checked_duration_since(Instant::now())?;
            thread::sleep(pause.min(left));
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    fn end(&self) {
        self.terminate();
        if self.poll_until(Instant::now() + MERCY).is_none() {
            let mut child = self.lock();
            self.signal(&mut child, Signal::KILL);
            // After SIGKILL the wait is short, and an error means there is nothing to wait for.
            let _ = child.wait();
        }
    }

    /// Signals the child, and its group if it has its own; never a number that it has given back.
    fn signal(&self, child: &mut Child, signal: Signal) {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        let pid = Pid::from_child(child);
        // It may end at this very moment, which is what is wanted.
        let _ = match self.own_group {
            true => kill_process_group(pid, signal),
            false => kill_process(pid, signal),
        };
    }

    fn lock(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for FarProgram {
    fn drop(&mut self) {
        self.end();
    }
}

/// How a program in between ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FarEnd {
    /// By itself, with this exit code.
    Exited(i32),
    /// By a signal of somebody else; rsync's code for that: 15 after a crash, else 16.
    Killed(i32),
    /// There was no program, or we ended it.
    Unknown,
}

impl From<ExitStatus> for FarEnd {
    fn from(status: ExitStatus) -> Self {
        match status.code() {
            Some(code) => FarEnd::Exited(code),
            None if status.core_dumped() => FarEnd::Killed(wire::exit::CRASHED),
            None => FarEnd::Killed(wire::exit::TERMINATED),
        }
    }
}
