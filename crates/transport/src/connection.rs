//! What does the engine get to talk through, and how does a session end in order?

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::activity::Activity;
use crate::canceller::{Canceller, Target};
use crate::error::Error;
use crate::far_program::{FarEnd, FarProgram, Started};
use crate::own_files::OwnFiles;
use crate::stderr_tail::StderrTail;
use crate::stream::{Half, Stream};
use crate::watchdog::IdleLimit;

/// How long the far side may take to end once everything is said.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection to a far side: two blocking halves, each for one thread.
///
/// After a cancellation both halves fail at once, with an error whose source is the
/// [`Reason`](crate::Reason). Dropping it ends the program in between.
pub struct Connection {
    /// What the far side says.
    pub reader: Box<dyn Read + Send>,
    /// What is said to the far side; unbuffered.
    pub writer: Box<dyn Write + Send>,
    /// The far side's name for messages.
    pub peer: String,
    /// Counters and clock.
    pub activity: Arc<Activity>,
    /// The I/O time limit, which the far side may shorten.
    pub idle_limit: IdleLimit,
    /// What stops it all.
    pub canceller: Canceller,
    stream: Arc<Stream>,
    program: Option<(Arc<FarProgram>, StderrTail)>,
}

/// How a session ended on the far side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The end of the program in between, which for a remote shell is that of the rsync there.
    pub end: FarEnd,
    /// The last lines that the program wrote to stderr, made printable.
    pub stderr: String,
}

impl Ending {
    /// Returns the exit code of the run as rsync does: the graver one of the two sides. A program
    /// that a signal ended counts only where nothing else went wrong.
    pub fn merge(&self, own: i32) -> i32 {
        match self.end {
            FarEnd::Exited(code) => own.max(code),
            FarEnd::Killed(code) if own == wire::exit::OK => code,
            FarEnd::Killed(_) | FarEnd::Unknown => own,
        }
    }
}

impl Connection {
    /// Makes a server's connection to the client that has started this process, of its stdin and
    /// stdout.
    pub fn over_stdio(canceller: &Canceller) -> Result<Self, Error> {
        let files = OwnFiles::take(io::stdin(), io::stdout())
            .map_err(|source| Error::Io { action: "talk through stdin and stdout", source })?;
        Ok(Self::over(Stream::Own(files), None, "the client".to_owned(), canceller))
    }

    pub(crate) fn over_tcp(socket: TcpStream, peer: String, canceller: &Canceller) -> Self {
        Self::over(Stream::Tcp(socket), None, peer, canceller)
    }

    pub(crate) fn over_program(started: Started, peer: String, canceller: &Canceller) -> Self {
        let (program, pair, stderr): (_, UnixStream, _) = started;
        canceller.add(Target::Program(Arc::downgrade(&program)));
        Self::over(Stream::Pair(pair), Some((program, stderr)), peer, canceller)
    }

    fn over(
        stream: Stream,
        program: Option<(Arc<FarProgram>, StderrTail)>,
        peer: String,
        canceller: &Canceller,
    ) -> Self {
        let stream = Arc::new(stream);
        canceller.add(Target::Stream(Arc::downgrade(&stream)));
        let activity = Arc::new(Activity::new());
        let half = || Half {
            stream: Arc::clone(&stream),
            activity: Arc::clone(&activity),
            canceller: canceller.clone(),
        };
        Connection {
            reader: Box::new(half()),
            writer: Box::new(half()),
            peer,
            idle_limit: IdleLimit::new(canceller.clone(), Arc::clone(&activity)),
            activity,
            canceller: canceller.clone(),
            stream,
            program,
        }
    }

    /// Watches over the I/O time limit from now on.
    pub fn limit_idle(&self, limit: Option<Duration>) -> Result<(), Error> {
        let Some(limit) = limit else { return Ok(()) };
        let started = self.idle_limit.shorten_to(limit);
        started
            .map_err(|source| Error::Io { action: "start the watch over the time limit", source })
    }

    /// Says whether there is a program in between, such as ssh.
    pub(crate) fn has_program(&self) -> bool {
        self.program.is_some()
    }

    /// Ends the session: says that nothing more comes, lets the far side finish, and waits for it.
    ///
    /// To be called only when the engine has said and read everything, or has failed: a stock
    /// rsync takes an early end for a broken connection. It waits a bounded time.
    pub fn finish(self) -> Ending {
        self.finish_within(PATIENCE)
    }

    /// Does the same, but waits no longer than `patience`.
    pub fn finish_within(self, patience: Duration) -> Ending {
        self.idle_limit.lift();
        let deadline = Instant::now() + patience;
        if self.canceller.reason().is_none() {
            self.stream.end_writing();
            // Closing a socket with unread data would destroy what is still on its way there.
            drain(&self.stream, deadline);
        }
        self.stream.shut_down();
        let Some((program, stderr)) = self.program else {
            return Ending { end: FarEnd::Unknown, stderr: String::new() };
        };
        let deadline = match self.canceller.reason() {
            None => deadline,
            Some(_) => Instant::now(),
        };
        let end = program.wait_until(deadline);
        let end = match self.canceller.reason() {
            None => end,
            Some(_) => FarEnd::Unknown,
        };
        Ending { end, stderr: stderr.finish() }
    }
}

/// Throws away what the far side still says, until it ends or the time is over.
fn drain(stream: &Stream, deadline: Instant) {
    let mut buf = [0; 4096];
    while let Some(left) = deadline.checked_duration_since(Instant::now()) {
        let Ok(timeout) = Timespec::try_from(left) else {
            return;
        };
        match poll(&mut [PollFd::new(stream, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => return,
            Ok(_) => match rustix::io::read(stream, &mut buf) {
                Ok(0) => return,
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return,
            },
            Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("peer", &self.peer).finish_non_exhaustive()
    }
}

/// Finds the reason of a cancellation inside the error of a half.
pub fn reason_of(error: &io::Error) -> Option<crate::Reason> {
    error.get_ref()?.downcast_ref().copied()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use crate::canceller::Reason;
    use crate::far_program::Launch;
    use crate::shell::Terminal;

    use super::*;

    fn program(script: &str, canceller: &Canceller) -> Connection {
        let argv = ["sh", "-c", script].map(|word| word.as_bytes().to_vec()).to_vec();
        let launch = Launch { argv, terminal: Terminal::Absent, daemon_port: None };
        let started = FarProgram::start(&launch, Box::new(|_| ())).unwrap();
        Connection::over_program(started, "sh".into(), canceller)
    }

    /// Blocks both halves, cancels from a third thread, and says how long the halves took to return.
    fn cancel_blocked_halves(connection: &mut Connection) -> (io::Error, io::Error, Duration) {
        let canceller = connection.canceller.clone();
        let activity = Arc::clone(&connection.activity);
        let (reader, writer) = (&mut connection.reader, &mut connection.writer);
        thread::scope(|scope| {
            let read = scope.spawn(move || reader.read(&mut [0; 16]).unwrap_err());
            let write = scope.spawn(move || {
                let full = [0; 1 << 16];
                loop {
                    if let Err(error) = writer.write_all(&full) {
                        return error;
                    }
                }
            });
            // The writer is blocked once nothing has gone out for a while.
            while activity.written_bytes() == 0 || activity.write_idle() < Duration::from_millis(80)
            {
                thread::yield_now();
            }
            let start = Instant::now();
            canceller.cancel(Reason::Signal);
            let errors = (read.join().unwrap(), write.join().unwrap());
            (errors.0, errors.1, start.elapsed())
        })
    }

    #[test]
    fn cancelling_returns_both_halves_at_once_over_tcp() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut connection = Connection::over_tcp(socket, "test".into(), &Canceller::new());
        let (read, write, took) = cancel_blocked_halves(&mut connection);
        assert_eq!(reason_of(&read), Some(Reason::Signal));
        assert_eq!(reason_of(&write), Some(Reason::Signal));
        assert!(took < Duration::from_millis(200), "{took:?}");
        assert_eq!(connection.finish().end, FarEnd::Unknown);
    }

    #[test]
    fn cancelling_returns_both_halves_at_once_over_a_program_and_ends_it() {
        // The grandchild keeps stdin and stdout open and would hold pipes.
        let mut connection = program("sleep 30 & echo $! >&2; wait", &Canceller::new());
        let (read, write, took) = cancel_blocked_halves(&mut connection);
        assert_eq!(reason_of(&read), Some(Reason::Signal));
        assert_eq!(reason_of(&write), Some(Reason::Signal));
        assert!(took < Duration::from_millis(200), "{took:?}");
        let start = Instant::now();
        let ending = connection.finish();
        assert_eq!(ending.end, FarEnd::Unknown);
        assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
        let grandchild = ending.stderr.trim();
        // Whoever adopted it may not have reaped it yet; it must not run any more.
        let runs = || {
            let stat = std::fs::read_to_string(format!("/proc/{grandchild}/stat"));
            stat.is_ok_and(|stat| !stat.contains(") Z "))
        };
        while runs() {
            assert!(start.elapsed() < Duration::from_secs(5), "{grandchild} still runs");
            thread::yield_now();
        }
    }

    #[test]
    fn a_program_that_ignores_the_request_to_end_is_killed() {
        let mut connection =
            program("trap '' TERM; echo ready; while :; do sleep 1; done", &Canceller::new());
        connection.reader.read_exact(&mut [0; 6]).unwrap();
        connection.canceller.cancel(Reason::Failed);
        let start = Instant::now();
        assert_eq!(connection.finish().end, FarEnd::Unknown);
        assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    }

    #[test]
    fn finishing_tells_the_program_the_end_and_brings_its_code_and_last_words() {
        let script = "cat >/dev/null; echo rest; sleep 0.1; echo farewell >&2; exit 23";
        let ending = program(script, &Canceller::new()).finish();
        assert_eq!(ending, Ending { end: FarEnd::Exited(23), stderr: "farewell".into() });
        assert_eq!((ending.merge(0), ending.merge(12), ending.merge(30)), (23, 23, 30));
    }

    #[test]
    fn a_program_that_a_signal_ended_counts_as_terminated() {
        let ending = program("kill -9 $$", &Canceller::new()).finish();
        assert_eq!(ending.end, FarEnd::Killed(16));
        assert_eq!((ending.merge(0), ending.merge(12)), (16, 12));
    }

    #[test]
    fn dropping_a_connection_ends_the_program() {
        let mut connection = program("echo $$; exec sleep 30", &Canceller::new());
        let mut pid = [0; 32];
        let bytes = connection.reader.read(&mut pid).unwrap();
        let pid = String::from_utf8_lossy(&pid[..bytes]).trim().to_owned();
        drop(connection);
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    }

    #[test]
    fn counters_see_what_passes_both_ways() {
        let mut connection = program("cat", &Canceller::new());
        connection.writer.write_all(b"hello").unwrap();
        connection.reader.read_exact(&mut [0; 5]).unwrap();
        assert_eq!(connection.activity.written_bytes(), 5);
        assert_eq!(connection.activity.read_bytes(), 5);
        assert!(connection.activity.idle() < Duration::from_secs(5));
        assert_eq!(connection.finish().end, FarEnd::Exited(0));
    }

    #[test]
    fn silence_beyond_the_limit_ends_with_30() {
        let mut connection = program("sleep 30", &Canceller::new());
        connection.limit_idle(Some(Duration::from_millis(150))).unwrap();
        let error = connection.reader.read(&mut [0; 1]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let reason = reason_of(&error).unwrap();
        assert_eq!(reason.exit_code(), Some(30));
    }
}
