//! What did a child say on stderr: each line live, the last of them kept for the error?

use std::collections::VecDeque;
use std::io::{self, PipeReader, PipeWriter, Read};
use std::process::ChildStderr;
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use wire::escape::printable;

/// Takes each line that the program in between writes to stderr, made printable.
pub type LineSink = Box<dyn FnMut(&str) + Send>;

/// How many of the last bytes are kept.
const TAIL: usize = 16 << 10;
/// A line that is longer is handed on in pieces.
const LINE: usize = 4 << 10;
/// How long the rest is waited for when the child has ended.
const GRACE: Duration = Duration::from_millis(200);
/// How many more pieces are read once nobody wants to wait any longer.
const LAST_READS: u32 = 16;

/// The thread that reads a child's stderr.
#[derive(Debug)]
pub(crate) struct StderrTail {
    tail: Receiver<Vec<u8>>,
    /// Dropping it ends the thread, even when a process that the child left behind keeps stderr.
    stop: PipeWriter,
    thread: JoinHandle<()>,
}

impl StderrTail {
    /// Starts to read.
    pub(crate) fn start(stderr: ChildStderr, sink: LineSink) -> io::Result<Self> {
        let (stopped, stop) = io::pipe()?;
        let (done, tail) = mpsc::sync_channel(1);
        let thread = thread::Builder::new().name("stderr".into()).spawn(move || {
            let mut lines = Lines { sink, line: Vec::new(), tail: VecDeque::new() };
            follow(stderr, &stopped, &mut lines);
            // Nobody listens when the connection is dropped without `finish`.
            let _ = done.send(lines.end());
        })?;
        Ok(StderrTail { tail, stop, thread })
    }

    /// Waits a moment for what is still to come and returns the last lines, made printable.
    pub(crate) fn finish(self) -> String {
        let early = self.tail.recv_timeout(GRACE).ok();
        drop(self.stop);
        let tail = early.or_else(|| self.tail.recv().ok()).unwrap_or_default();
        // It is at its end after the send; a sink that panicked has been reported by then.
        let _ = self.thread.join();
        let lines: Vec<String> = tail
            .split(|&byte| byte == b'\n')
            .map(|line| printable(line.strip_suffix(b"\r").unwrap_or(line)))
            .filter(|line| !line.is_empty())
            .collect();
        lines.join("\n")
    }
}

fn follow(mut stderr: ChildStderr, stopped: &PipeReader, lines: &mut Lines) {
    let mut buf = [0; LINE];
    let mut left = LAST_READS;
    while left > 0 {
        let (text, stop) = {
            let mut fds =
                [PollFd::new(&stderr, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
            match poll(&mut fds, None) {
                Ok(_) => (!fds[0].revents().is_empty(), !fds[1].revents().is_empty()),
                Err(rustix::io::Errno::INTR) => continue,
                Err(_) => return,
            }
        };
        if stop {
            left = if text { left - 1 } else { 0 };
        }
        if text {
            match stderr.read(&mut buf) {
                Ok(0) => return,
                Ok(bytes) => lines.take(&buf[..bytes]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }
}

struct Lines {
    sink: LineSink,
    line: Vec<u8>,
    tail: VecDeque<u8>,
}

impl Lines {
    fn take(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if byte == b'\n' || self.line.len() == LINE {
                self.hand_on();
            }
            if byte != b'\n' {
                self.line.push(byte);
            }
        }
        self.tail.extend(bytes);
        self.tail.drain(..self.tail.len().saturating_sub(TAIL));
    }

    fn hand_on(&mut self) {
        let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        (self.sink)(&printable(line));
        self.line.clear();
    }

    fn end(mut self) -> Vec<u8> {
        if !self.line.is_empty() {
            self.hand_on();
        }
        self.tail.into()
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::sync::{Arc, Mutex};
    use std::time::Instant;

    use super::*;

    fn run(script: &str) -> (Vec<String>, String, Duration) {
        let mut child =
            Command::new("sh").args(["-c", script]).stderr(Stdio::piped()).spawn().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&seen);
        let sink: LineSink = Box::new(move |line| lines.lock().unwrap().push(line.to_owned()));
        let tail = StderrTail::start(child.stderr.take().unwrap(), sink).unwrap();
        child.wait().unwrap();
        let start = Instant::now();
        let text = tail.finish();
        let lines = seen.lock().unwrap().clone();
        (lines, text, start.elapsed())
    }

    #[test]
    fn lines_come_one_by_one_and_made_printable() {
        let (lines, text, _) = run(r"printf 'one\r\n\033[31mtwo\nthree' >&2");
        assert_eq!(lines, ["one", "\\x1b[31mtwo", "three"]);
        assert_eq!(text, "one\n\\x1b[31mtwo\nthree");
    }

    #[test]
    fn only_the_end_of_a_flood_is_kept() {
        let (_, text, _) = run("head -c 1000000 /dev/zero | tr '\\0' x >&2; echo end >&2");
        assert!(text.ends_with("xend") && text.len() <= TAIL, "{} bytes", text.len());
    }

    #[test]
    fn a_process_left_behind_that_keeps_stderr_does_not_hold_us_up() {
        let (lines, _, took) = run("echo early >&2; sleep 4 & exit 0");
        assert_eq!(lines, ["early"]);
        assert!(took < Duration::from_secs(2), "{took:?}");
    }
}
