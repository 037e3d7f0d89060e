//! How is a command line of rsync carried out as the client?

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use engine::{Destination, Event, Progress, Receive, Request, Role, Send, Sources, copy_locally};
use filter::RuleList;
use jiff::tz::TimeZone;
use scheduler::sync::{RuleError, Surroundings, listed_names, rules};
use transport::Reason;
use wire::charset::{Charset, far_half, local_half};
use wire::options::{Append, Batch, Civil, Line, OptionError, Options, Side};

use super::batch;
use super::operands::{Misuse, Plan, plan};
use super::output::{Broken, Output, Way, locale_charset, speaks_utf8};
use super::remote;
use crate::signals::Stopper;
use crate::surroundings::surroundings;

/// Transfers or lists, and returns the exit code.
pub(crate) fn transfer(line: Line, words: &[Vec<u8>]) -> i32 {
    let Line { mut options, operands, .. } = line;
    let plan = match plan(&operands, &options) {
        Ok(plan) => plan,
        Err(Misuse { text, code, role }) => {
            eprintln!("{text}");
            return refused(code, role);
        }
    };
    if options.own_protocol() > wire::limits::PROTOCOL_MAX {
        eprintln!("--protocol must be no more than {} on the Client.", wire::limits::PROTOCOL_MAX);
        return refused(wire::exit::PROTOCOL, "sender");
    }
    if let Err(error) = set_stop(&mut options) {
        eprintln!("{}", error.stock_line(Side::Client));
        return refused(error.exit_code(), "client");
    }
    let role = if matches!(plan, Plan::Pull { .. }) { "Receiver" } else { "sender" };
    if let Err(text) = set_charset(&mut options) {
        eprintln!("{text}");
        return refused(wire::exit::UNSUPPORTED, role);
    }
    if let (Plan::Local { .. }, Err(text)) = (&plan, far_charset(&options)) {
        eprintln!("{text}");
        return refused(wire::exit::UNSUPPORTED, "Receiver");
    }
    let way = match &plan {
        Plan::Local { dest, .. } => {
            options.list_only |= dest.is_none();
            let whole = options.append == Append::No && options.batch.is_none();
            options.whole_file = options.whole_file.or(whole.then_some(true));
            Way::Local
        }
        Plan::Push { .. } => Way::Push,
        Plan::Pull { dest, .. } => {
            options.list_only |= dest.is_none();
            Way::Pull
        }
        Plan::Modules(_) | Plan::Batch { .. } => Way::Pull,
    };
    if (options.dry_run || options.list_only) && !matches!(options.batch, Some(Batch::Read(_))) {
        options.batch = None;
    }
    let stored = match batch::open(&mut options) {
        Ok(stored) => stored,
        Err(trouble) => {
            eprintln!("{}", trouble.text);
            return refused(trouble.code, "Receiver");
        }
    };
    let output = Output::new(&options, way, speaks_utf8());
    let around = surroundings();
    let sends_on = matches!(plan, Plan::Pull { .. });
    let read =
        rules(&options, &around).and_then(|filter| Ok((filter, listed_names(&options, sends_on)?)));
    let (filter, names) = match read {
        Ok(read) => read,
        Err(error) => {
            output.error(rule_words(&error).as_bytes());
            output.close(error.exit_code(), "client");
            return error.exit_code();
        }
    };
    let stopper = match listen(&options) {
        Ok(stopper) => stopper,
        Err(error) => {
            output.error(format!("rsync: cannot listen for signals: {error}").as_bytes());
            output.close(wire::exit::IPC, "client");
            return wire::exit::IPC;
        }
    };
    let names = names.as_deref();
    let run = Run { options: &options, around: &around, filter: &filter, names, output: &output };
    if let Err(trouble) = batch::create(&run, words, operands.last().map_or(b"", Vec::as_slice)) {
        output.error(trouble.text.as_bytes());
        output.close(trouble.code, "Receiver");
        return trouble.code;
    }
    if let (Some(stored), Plan::Batch { dest }) = (stored, &plan) {
        stored.lines.iter().for_each(|line| output.info(line.as_bytes()));
        return batch::apply(&run, stored, dest);
    }
    match plan {
        Plan::Batch { .. } => wire::exit::SYNTAX,
        Plan::Local { sources, dest } => run.local(&sources, dest.as_deref(), &stopper),
        Plan::Push { sources, place } => remote::push(&run, &sources, place, &stopper),
        Plan::Pull { place, paths, dest } => {
            remote::pull(&run, place, &paths, dest.as_deref(), &stopper)
        }
        Plan::Modules(place) => remote::modules(&run, place, &stopper),
    }
}

/// Tells why a session broke, as far as nobody has told it, and returns the code. `merge` makes of
/// our own code that of the run.
#[track_caller]
pub(crate) fn broken(
    output: &Output,
    error: &engine::Error,
    stopped: Option<Reason>,
    broken: Broken<'_>,
    merge: impl Fn(i32) -> i32,
) -> i32 {
    let role = if error.is_early() { "Receiver" } else { broken.role };
    if let Some((reason, code)) = stopped.and_then(|reason| Some((reason, reason.exit_code()?))) {
        if let Reason::TimedOut { seconds } = reason {
            let text = format!("[{role}] io timeout after {seconds} seconds -- exiting");
            output.error(text.as_bytes());
        }
        if reason == Reason::StopTime {
            output.error(reason.to_string().as_bytes());
        }
        output.close(code, role);
        return code;
    }
    output.failure(error, Broken { role, ..broken });
    let code = merge(error.exit_code());
    // A side that has told its code has said why as well.
    if !matches!(error, engine::Error::FarExit(_) | engine::Error::Told(_)) {
        output.close(code, role);
    }
    code
}

/// Prints the closing line of a run that never began, and returns its code.
#[track_caller]
pub(crate) fn refused(code: i32, role: &str) -> i32 {
    Output::new(&Options::default(), Way::Local, speaks_utf8()).close(code, role);
    code
}

/// Listens for signals, and for the clock where `--stop-at` says so.
fn listen(options: &Options) -> std::io::Result<Stopper> {
    let stopper = Stopper::listen()?;
    options.stop_at.map_or(Ok(()), |seconds| stopper.stop_at(seconds))?;
    Ok(stopper)
}

pub(crate) fn rule_words(error: &RuleError) -> String {
    match error {
        RuleError::File { kind: kind @ "files-from", path, source } => {
            let reason = engine::reason(source);
            let reason = reason.rsplit_once(" (").map_or(&*reason, |(text, _)| text);
            format!("rsync: failed to open {kind} file {}: {reason}", path.display())
        }
        RuleError::File { kind, path, source } => format!(
            "rsync: [client] failed to open {kind} file {}: {}",
            path.display(),
            engine::reason(source)
        ),
        RuleError::Rule(error) => error.stock(),
    }
}

/// Finds out which charset names have on this side (`--iconv`).
pub(crate) fn set_charset(options: &mut Options) -> Result<(), String> {
    options.charset = options.iconv.as_deref().map(|spec| charset(local_half(spec))).transpose()?;
    Ok(())
}

/// The same of the other side of a local copy.
fn far_charset(options: &Options) -> Result<Option<Charset>, String> {
    options.iconv.as_deref().map(|spec| charset(far_half(spec))).transpose()
}

fn charset(name: &[u8]) -> Result<Charset, String> {
    let name = match name {
        b"." | b"" => locale_charset(),
        name => name.to_vec(),
    };
    let shown = String::from_utf8_lossy(&name);
    Charset::find(&name).ok_or_else(|| format!("iconv_open(\"UTF-8\", \"{shown}\") failed"))
}

/// Finds out when `--stop-at` and `--stop-after` end it.
pub(crate) fn set_stop(options: &mut Options) -> Result<(), OptionError> {
    let Some(stop) = &options.stop else {
        return Ok(());
    };
    let zone = TimeZone::system();
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    let civil = |seconds: i64| {
        let time = jiff::Timestamp::from_second(seconds).unwrap_or_default();
        let time = time.to_zoned_datetime(zone.clone());
        Civil {
            year: time.year().into(),
            month: time.month().into(),
            day: time.day().into(),
            hour: time.hour().into(),
            minute: time.minute().into(),
        }
    };
    let seconds = |civil: Civil| {
        let small = |number: i32| i8::try_from(number).ok();
        let year = i16::try_from(civil.year).ok()?;
        let (month, day) = (small(civil.month)?, small(civil.day)?);
        let date = jiff::civil::Date::new(year, month, day).ok()?;
        let time = date.at(small(civil.hour)?, small(civil.minute)?, 0, 0);
        Some(zone.to_timestamp(time).ok()?.as_second())
    };
    options.stop_at = Some(stop.seconds(now, &civil, &seconds)?);
    Ok(())
}

/// What every way of running shares.
pub(crate) struct Run<'a> {
    pub(crate) options: &'a Options,
    pub(crate) around: &'a Surroundings,
    pub(crate) filter: &'a RuleList,
    /// The names of `--files-from` that stand here.
    pub(crate) names: Option<&'a [Vec<u8>]>,
    pub(crate) output: &'a Output,
}

impl Run<'_> {
    pub(crate) fn sender<'s>(
        &'s self,
        sources: &'s Sources,
        monitor: engine::Monitor<'s>,
        progress: &'s Progress,
    ) -> Send<'s> {
        Send {
            role: Role::Client,
            options: self.options,
            sources,
            filter: self.filter,
            umask: self.around.umask,
            telling: self.output.telling(),
            monitor,
            progress,
        }
    }

    pub(crate) fn receiver<'s>(
        &'s self,
        destination: &'s Destination,
        monitor: engine::Monitor<'s>,
        progress: &'s Progress,
    ) -> Receive<'s> {
        Receive {
            role: Role::Client,
            options: self.options,
            destination,
            filter: self.filter,
            request: match self.names {
                Some(names) => Request::Names(names),
                None => Request::Anything,
            },
            umask: self.around.umask,
            telling: self.output.telling(),
            monitor,
            progress,
            state_dir: self.around.state_dir.as_deref(),
        }
    }

    pub(crate) fn sources(&self, paths: &[Vec<u8>]) -> Sources {
        sources(paths, self.names, self.options)
    }

    fn local(&self, sources: &[Vec<u8>], dest: Option<&[u8]>, stopper: &Stopper) -> i32 {
        let monitor = |event: Event<'_>| self.output.event(&event);
        let progress = Progress::default();
        let sources = self.sources(sources);
        let destination = destination(dest);
        let send = self.sender(&sources, &monitor, &progress);
        let theirs = match self.far_options() {
            Ok(options) => options,
            Err(error) => {
                self.output.error(error.stock_line(Side::Client).as_bytes());
                self.output.close(error.exit_code(), "client");
                return error.exit_code();
            }
        };
        let receive = Receive {
            options: &theirs,
            request: Request::Anything,
            ..self.receiver(&destination, &monitor, &progress)
        };
        let canceller = stopper.canceller();
        let protocol = self.options.own_protocol();
        let code = match copy_locally(&send, &receive, protocol, &|stop| canceller.on_cancel(stop))
        {
            Ok(summary) => {
                self.output.totals(&summary);
                summary.exit_code()
            }
            Err(error) => {
                let timeout = self.options.timeout;
                let parts = Broken { role: "sender", received_bytes: 0, timeout };
                return broken(self.output, &error, canceller.reason(), parts, |code| code);
            }
        };
        self.output.close(code, "sender");
        code
    }
}

impl Run<'_> {
    /// What the receiving side of a local copy obeys: what a far side would not be told is left
    /// out, and `-M` counts.
    fn far_options(&self) -> Result<Options, OptionError> {
        let charset = far_charset(self.options).unwrap_or(self.options.charset);
        let mut options = Options { munge_links: false, charset, ..self.options.clone() };
        wire::options::parse(&self.options.remote_options, &mut options)?;
        Ok(options)
    }
}

/// Opens what is named, or what a list says of what is named.
pub(crate) fn sources(paths: &[Vec<u8>], names: Option<&[Vec<u8>]>, options: &Options) -> Sources {
    if options.files_from.is_some() {
        let dir = path_of(paths.first().map_or(b".", Vec::as_slice));
        return Sources::open_listed(&dir, names.unwrap_or_default(), options);
    }
    let paths: Vec<PathBuf> = paths.iter().map(|path| path_of(path)).collect();
    Sources::open(&paths, options)
}

/// Where a copy goes; what is only listed goes nowhere.
pub(crate) fn destination(dest: Option<&[u8]>) -> Destination {
    Destination::new(&path_of(dest.unwrap_or(b".")))
}

pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    Path::new(&OsString::from_vec(bytes.to_vec())).to_owned()
}
