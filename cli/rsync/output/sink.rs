//! Where does a line go: stdout, stderr, the log file?

use std::io::Write;

use jiff::tz::TimeZone;

use super::escape::{High, escaped};
use super::format::time;

/// A place for bytes.
pub(super) type Stream = Box<dyn Write + Send>;

/// The places of one run. What cannot be written is passed over: a closed terminal is not worth
/// losing a copy for.
pub(super) struct Sink {
    pub(super) out: Stream,
    pub(super) err: Stream,
    pub(super) log: Option<Stream>,
    pub(super) high: High,
    pub(super) quiet: bool,
    /// stdout is left to collect its lines (`--outbuf=B`).
    pub(super) collects: bool,
    /// Everything goes to stderr (`--stderr=all`).
    pub(super) all_to_err: bool,
    /// The last line has no end yet.
    pub(super) open: bool,
    pub(super) zone: TimeZone,
}

impl Sink {
    /// Tells a person and the log.
    pub(super) fn info(&mut self, text: &[u8]) {
        self.log(text);
        self.client(text);
    }

    /// Tells a person and the log what went wrong.
    pub(super) fn error(&mut self, text: &[u8]) {
        self.log(text);
        let line = [&escaped(text, self.high), b"\n".as_slice()].concat();
        self.write(&line, true);
    }

    /// Tells a person alone.
    pub(super) fn client(&mut self, text: &[u8]) {
        let line = [&escaped(text, self.high), b"\n".as_slice()].concat();
        self.show(&line, false);
    }

    /// Shows a person bytes as they are, which may leave the line open.
    pub(super) fn show(&mut self, bytes: &[u8], leaves_open: bool) {
        if !self.quiet {
            self.write(bytes, self.all_to_err);
            self.open = leaves_open;
        }
    }

    /// Goes on with an open line, if there is one.
    pub(super) fn go_on(&mut self, bytes: &[u8], leaves_open: bool) {
        self.open = false;
        self.show(bytes, leaves_open);
    }

    /// Tells the log alone.
    pub(super) fn log(&mut self, text: &[u8]) {
        if let Some(log) = &mut self.log {
            let now = time(jiff::Timestamp::now().as_second(), &self.zone, ' ');
            let head = format!("{now} [{}] ", std::process::id());
            let line = [head.as_bytes(), &escaped(text, High::Log), b"\n"].concat();
            let _ = log.write_all(&line);
        }
    }

    /// Ends an open line. As in rsync, the end goes where the next line goes.
    fn write(&mut self, bytes: &[u8], to_err: bool) {
        let end: &[u8] = if std::mem::take(&mut self.open) { b"\n" } else { b"" };
        let stream = if to_err { &mut self.err } else { &mut self.out };
        let _ = stream.write_all(end).and_then(|()| stream.write_all(bytes));
        if to_err || !self.collects {
            let _ = stream.flush();
        }
    }

    /// Ends the line and writes what was collected.
    pub(super) fn finish(&mut self) {
        if self.open {
            self.write(b"", self.all_to_err);
        }
        let _ = self.out.flush();
    }
}
