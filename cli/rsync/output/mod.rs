//! What the rsync-compatible command line prints: to the byte what rsync 3.5.0 prints.
//!
//! [`Output`] takes the events of a session from any thread and writes stdout, stderr and the log
//! file. What there is to know of a line is in the file of its kind; here is when it is due.

mod escape;
mod failure;
mod format;
mod listing;
mod manner;
mod meter;
mod number;
mod sink;
mod totals;

use std::fs::OpenOptions;
use std::io::{self, BufWriter};
use std::os::unix::ffi::OsStrExt;
use std::panic::Location;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use engine::{Event, Item, Kind, Notice, Problem, RuleHit, Session, Standing, Summary, Telling};
use jiff::tz::TimeZone;
use wire::item::iflags;
use wire::mux::TextKind;
use wire::options::{Debug, Info, Options, OutBuf, StderrMode};

use escape::High;
pub(crate) use failure::Broken;
use format::Subject;
use manner::Manner;
use meter::Meter;
use sink::{Sink, Stream};

/// Flags that do not say that something differs.
const NO_DIFFERENCE: u16 =
    iflags::BASIS_TYPE_FOLLOWS | iflags::XNAME_FOLLOWS | iflags::LOCAL_CHANGE;
/// A sender's list counts in such steps.
const LIST_BUFFER: u64 = 65_535;
/// A list that is being made is told at each such number of entries.
const LISTING_STEP: u64 = 100;

/// Where the two sides of a session are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// We send to another machine.
    Push,
    /// We receive from another machine.
    Pull,
    /// Both sides are here.
    Local,
}

/// Prints one run. All its threads share it.
pub(crate) struct Output {
    begin: Instant,
    telling: Telling,
    state: Mutex<State>,
}

struct State {
    manner: Manner,
    sink: Sink,
    meter: Meter,
    /// A line about the list is open, or would be but for its newline.
    listing: bool,
}

impl Output {
    /// Creates the output of one run. A log file that cannot be opened is told, and left out.
    pub(crate) fn new(options: &Options, way: Way, speaks_utf8: bool) -> Self {
        let high = match speaks_utf8 {
            _ if options.eight_bit_output => High::All,
            true => High::Utf8,
            false => High::None,
        };
        let zone = TimeZone::system();
        let sink = Sink {
            out: Box::new(BufWriter::new(io::stdout())),
            err: Box::new(io::stderr()),
            log: None,
            high,
            quiet: options.quiet,
            collects: options.outbuf == Some(OutBuf::Block),
            all_to_err: options.stderr == StderrMode::All,
            open: false,
            zone: zone.clone(),
        };
        let mut state = State::new(Manner::of(options, way, zone), sink);
        if let Some(path) = &options.log_file {
            state.open_log(path);
        }
        Self { begin: Instant::now(), telling: state.manner.telling(), state: Mutex::new(state) }
    }

    /// Returns what the engine has to tell for these lines.
    pub(crate) fn telling(&self) -> Telling {
        self.telling
    }

    /// Prints what an event is worth.
    pub(crate) fn event(&self, event: &Event<'_>) {
        let now = u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.state().event(event, now);
    }

    /// Prints a line that is none of an event's.
    pub(crate) fn info(&self, text: &[u8]) {
        self.state().sink.info(text);
    }

    /// Prints what went wrong, in rsync's words: `rsync: [sender] ...`.
    pub(crate) fn error(&self, text: &[u8]) {
        self.state().sink.error(text);
    }

    /// Shows with `-vv` how the far program is started.
    pub(crate) fn command(&self, words: &[Vec<u8>]) {
        let mut state = self.state();
        if state.manner.verbose > 1 {
            state.sink.client(&failure::command(words));
        }
    }

    /// Prints what ended a session, as far as nobody has told it yet; [`Output::close`] follows.
    pub(crate) fn failure(&self, error: &engine::Error, broken: Broken<'_>) {
        let mut state = self.state();
        for line in failure::lines(error, broken) {
            state.sink.error(line.as_bytes());
        }
    }

    /// Tells whether the two sides have agreed and a file list was begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.state().manner.context.session.is_some()
    }

    /// Prints the numbers of a transfer that came to its end.
    pub(crate) fn totals(&self, summary: &Summary) {
        self.state().totals(summary);
    }

    /// Prints the closing line of a run, if its code is worth one. `role` is rsync's name for the
    /// part that ends: `client`, `sender`, `Receiver` before the first file list, `generator`.
    #[track_caller]
    pub(crate) fn close(&self, code: i32, role: &str) {
        let here = Location::caller();
        let mut state = self.state();
        state.sink.finish();
        if code != wire::exit::OK {
            state.sink.error(wire::exit::closing(code, here, role).as_bytes());
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells from the environment whether terminals show UTF-8.
pub(crate) fn speaks_utf8() -> bool {
    matches!(locale_charset().as_slice(), b"utf-8" | b"utf8")
}

/// Returns the name of the locale's charset; a locale without one has that of `C`.
pub(crate) fn locale_charset() -> Vec<u8> {
    let set = |name: &&str| std::env::var_os(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set).unwrap_or_default();
    let locale = locale.as_bytes().to_ascii_lowercase();
    let charset = locale.split(|byte| *byte == b'.').nth(1).unwrap_or(b"c");
    charset.split(|byte| *byte == b'@').next().unwrap_or_default().to_vec()
}

impl State {
    fn new(manner: Manner, sink: Sink) -> Self {
        let meter = Meter::new(manner.levels.progress > 1, manner.human);
        Self { manner, sink, meter, listing: false }
    }

    fn open_log(&mut self, path: &Path) {
        match OpenOptions::new().create(true).append(true).open(path) {
            Ok(file) => self.sink.log = Some(Box::new(file) as Stream),
            Err(error) => {
                let start = b"rsync: [client] failed to open log-file ".as_slice();
                let reason = engine::reason(&error);
                let path = path.as_os_str().as_bytes();
                self.sink.error(&[start, path, b": ", reason.as_bytes()].concat());
                self.sink.client(b"Ignoring \"log file\" setting.");
            }
        }
    }

    fn event(&mut self, event: &Event<'_>, now: u64) {
        match event {
            Event::Begins(session) => self.begins(*session),
            Event::Listing(entries) => self.list_grows(*entries),
            Event::ListComplete(entries) => self.list_complete(*entries),
            Event::Listed(item, atime) => {
                let Manner { atimes, human, context, .. } = &self.manner;
                let line = listing::line(item, *atime, *atimes, *human, &context.zone);
                self.sink.info(&line);
            }
            Event::Moving { offset, size, total_size } => {
                self.moving(now, *offset, *size, *total_size);
            }
            Event::Passed(standing) => self.passed(now, *standing),
            Event::Item(item) => self.item(item),
            Event::Deleted { name, is_dir } => self.deleted(name, *is_dir),
            Event::FarText { kind, text } => self.far_text(*kind, text),
            Event::Problem(problem) => self.problem(problem),
            Event::Notice { notice, name } => self.notice(*notice, name),
            Event::RuleHit(hit) if RuleHit::is_told(self.manner.levels.debug) => {
                self.sink.info(&hit.stock());
            }
            _ => {}
        }
    }

    fn begins(&mut self, session: Session) {
        self.manner.context.session = Some(session);
        let receives = self.manner.way == Way::Pull;
        let verb = if receives { "receiving" } else { "building" };
        self.sink.log(format!("{verb} file list").as_bytes());
        if self.manner.levels.flist == 0 {
            return;
        }
        if session.incremental {
            let verb = if receives { "receiving" } else { "sending" };
            self.sink.client(format!("{verb} incremental file list").as_bytes());
        } else if self.manner.lists_dirs {
            self.listing = true;
            self.sink.show(format!("{verb} file list ... ").as_bytes(), true);
        }
    }

    fn list_grows(&mut self, entries: u64) {
        let due =
            entries.is_multiple_of(LISTING_STEP) && (entries > 0 || self.manner.way != Way::Pull);
        if self.listing && self.manner.levels.flist > 1 && due {
            self.sink.show(format!(" {entries} files...\r").as_bytes(), false);
        }
    }

    fn list_complete(&mut self, entries: u64) {
        if !std::mem::take(&mut self.listing) {
            return;
        }
        let text = match self.manner.levels.flist {
            ..2 => "done\n".to_owned(),
            _ if entries == 1 => "1 file to consider\n".to_owned(),
            _ => format!("{entries} files to consider\n"),
        };
        self.sink.go_on(text.as_bytes(), false);
    }

    fn moving(&mut self, now: u64, offset: u64, size: u64, total_size: u64) {
        if self.manner.levels.progress > 0
            && let Some(line) = self.meter.moving(now, offset, size, total_size)
        {
            self.sink.go_on(line.as_bytes(), true);
        }
    }

    fn passed(&mut self, now: u64, standing: Standing) {
        let whole = self.manner.levels.progress > 1;
        // A preview moves nothing that could be shown file by file.
        if !whole && (self.manner.levels.progress == 0 || self.manner.dry_run) {
            return;
        }
        if let Some(mut line) = self.meter.passed(now, standing) {
            if !whole {
                line.push('\n');
            }
            self.sink.go_on(line.as_bytes(), whole);
        }
    }

    fn item(&mut self, item: &Item<'_>) {
        let Manner { out_format, log_format, context, .. } = &self.manner;
        let has = |bit| item.iflags & bit != 0;
        let differs = item.iflags & !NO_DIFFERENCE != 0;
        let linked = item.leader.is_some_and(|leader| !leader.is_empty());
        // Attributes alone are shown by those formats that say which; a directory's always are.
        let always = has(iflags::TRANSFER | iflags::LOCAL_CHANGE) || item.kind == Kind::Dir;
        let told = linked
            || differs && (always || self.manner.itemizes)
            || !differs && self.manner.unchanged;
        if !told {
            return;
        }
        let preview = self.manner.dry_run && has(iflags::TRANSFER);
        if let Some(format) = log_format.as_ref().filter(|_| !preview) {
            self.sink.log(&format.line(Subject::Item(item), context));
        }
        if let Some(format) = out_format {
            self.sink.client(&format.line(Subject::Item(item), context));
        }
    }

    fn deleted(&mut self, name: &[u8], is_dir: bool) {
        let Manner { out_format, log_format, context, levels, dry_run, .. } = &self.manner;
        let (kind, mode) = if is_dir { (Kind::Dir, 0o040000) } else { (Kind::Regular, 0o100000) };
        let item = Item { mode, ..Item::new(name, 0, kind, engine::Direction::Received) };
        let plain = format::Format::parse(b"deleting %n");
        let line = |format: &Option<format::Format>| {
            let format = format.as_ref().filter(|format| format.has(b"io"));
            format.unwrap_or(&plain).line(Subject::Deleted(&item), context)
        };
        if log_format.is_some() && !dry_run {
            self.sink.log(&line(log_format));
        }
        if out_format.is_some() || levels.level(Info::Del) > 0 {
            self.sink.client(&line(out_format));
        }
    }

    /// Prints what the far side says, as it says it; an empty line in front stays one.
    fn far_text(&mut self, kind: TextKind, text: &[u8]) {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        if kind != TextKind::Info {
            return self.sink.error(text);
        }
        match text.strip_prefix(b"\n") {
            Some(text) => {
                self.sink.client(b"");
                self.sink.info(text);
            }
            None => self.sink.info(text),
        }
    }

    fn problem(&mut self, problem: &Problem) {
        let line = problem.trouble.stock(problem.who, problem.path.as_os_str().as_bytes());
        if !line.is_empty() {
            self.sink.error(&line);
        }
    }

    fn notice(&mut self, notice: Notice, name: &[u8]) {
        let is_name = matches!(notice, Notice::UpToDate | Notice::Updated);
        let shown_as_item = is_name && self.manner.itemizes;
        if shown_as_item || !self.manner.levels.tells(notice) {
            return;
        }
        let line = notice.stock(name);
        match notice.is_warning() {
            true => self.sink.error(&line),
            false => self.sink.info(&line),
        }
    }

    fn totals(&mut self, summary: &Summary) {
        let Manner { levels, human, context, remark, way, .. } = &self.manner;
        // A server that sends tells it in its own words.
        if levels.debug.level(Debug::Deltasum) > 0 && *way != Way::Pull {
            self.sink.info(totals::search(summary).as_bytes());
        }
        if levels.stats > 1 {
            let protocol = context.session.map_or(32, |session| session.protocol);
            self.sink.client(b"");
            let mut summary = summary.clone();
            if *way != Way::Pull {
                // rsync counts only what has left its buffer by then.
                summary.list_bytes -= summary.list_bytes % LIST_BUFFER;
            }
            for line in totals::stats(&summary, protocol, *human) {
                self.sink.info(line.as_bytes());
            }
        }
        if levels.stats > 0 {
            self.sink.client(b"");
            for line in totals::totals(summary, *human, remark) {
                self.sink.info(line.as_bytes());
            }
        } else {
            self.sink.log(totals::logged_totals(summary).as_bytes());
        }
        self.sink.finish();
    }
}

#[cfg(test)]
mod tests;
