//! The run of a task: connect, copy, hear how the far side ended; again with less where it
//! cannot do everything.

use std::path::PathBuf;
use std::time::Duration;

use engine::{Destination, Progress, Receive, Role, Send, Sources, Summary, Telling};
use filter::RuleList;
use transport::{Canceller, LineSink, Place, Session};
use wire::options::Options;
use wire::server_args::Direction;

use crate::history::RunRecord;

use super::adapt::adapt;
use super::block_plan::{Pass, passes};
use super::exchange::{Part, exchange};
use super::failure::Failure;
use super::filter_rules::rules;
use super::local;
use super::route::{Callers, connect};
use super::task::{Surroundings, Task, Work};

/// How long a daemon may take to answer, where `--contimeout` does not say.
const CONNECT_LIMIT: Duration = Duration::from_secs(60);

/// What a task came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The exit code, rsync's own.
    pub code: i32,
    /// The numbers, where the sync came to its end.
    pub summary: Option<Summary>,
    /// Why it did not.
    pub failure: Option<Failure>,
}

/// Asks with some words, and returns what was typed.
pub(super) type AskPassword = fn(&str) -> std::io::Result<Vec<u8>>;

/// Who is told and asked while a task runs.
pub struct Tellers<'a> {
    /// Gets the engine's events.
    pub monitor: engine::Monitor<'a>,
    /// Gets a line about a decision of the whole session.
    pub note: &'a (dyn Fn(Note<'_>) + Sync),
    /// Is raised while it runs.
    pub progress: &'a Progress,
    /// Gets each line of the remote shell's stderr.
    pub far_stderr: &'a (dyn Fn() -> LineSink + Sync),
    /// Asks a person for a password, where there is one.
    pub prompt: Option<AskPassword>,
}

/// A line about the session as a whole.
#[derive(Clone, Copy, Debug)]
pub enum Note<'a> {
    /// Something is done otherwise than asked for.
    Warning(&'a str),
    /// The far side has refused; it is tried once more with a change.
    Retrying(&'a str),
    /// A decision that is of interest under `-vv`.
    Decision(&'a str),
    /// A line of the daemon's message of the day.
    Motd(&'a str),
}

/// Runs a task. `new_canceller` is asked for each connection's canceller before it is opened.
pub fn run(
    task: &Task,
    around: &Surroundings,
    tellers: &Tellers<'_>,
    new_canceller: &dyn Fn() -> Canceller,
) -> Outcome {
    match prepare(task, around, tellers, new_canceller) {
        Err(failure) => Outcome::failed(failure),
        // Everything that is not there was to be passed over.
        Ok(Ready { end: End::Sources(sources), .. }) if sources.is_empty() => {
            Outcome { code: wire::exit::OK, summary: Some(Summary::default()), failure: None }
        }
        Ok(ready) => match &task.way.place {
            Place::Local(_) => local::run(&ready).unwrap_or_else(Outcome::failed),
            _ => ready.all_passes(),
        },
    }
}

fn prepare<'a>(
    task: &'a Task,
    around: &'a Surroundings,
    tellers: &'a Tellers<'a>,
    new_canceller: &'a dyn Fn() -> Canceller,
) -> Result<Ready<'a>, Failure> {
    let filter = rules(&task.options, around)?;
    let end = match &task.work {
        Work::Push(paths) => End::Sources(open_sources(paths, task, tellers)?),
        Work::Pull { into, .. } => {
            // By hand a new name may be given, as to rsync.
            if task.makes_path || into.exists() {
                local::check_destination(into, around)?;
            }
            End::Destination(Destination::new(into))
        }
    };
    Ok(Ready { task, around, tellers, new_canceller, end, filter })
}

pub(super) fn open_sources(
    paths: &[PathBuf],
    task: &Task,
    tellers: &Tellers<'_>,
) -> Result<Sources, Failure> {
    let sources = Sources::open(paths, &task.options);
    if sources.is_empty() && sources.missing() > 0 {
        sources.tell(tellers.monitor);
        let error = engine::Error::NothingToSend;
        return Err(Failure::local(error.exit_code(), error));
    }
    Ok(sources)
}

/// A task whose end on this machine is open.
pub(super) struct Ready<'a> {
    pub(super) task: &'a Task,
    pub(super) around: &'a Surroundings,
    pub(super) tellers: &'a Tellers<'a>,
    pub(super) new_canceller: &'a dyn Fn() -> Canceller,
    pub(super) end: End,
    pub(super) filter: RuleList,
}

/// What a task reads from or writes to on this machine.
pub(super) enum End {
    Sources(Sources),
    Destination(Destination),
}

impl Ready<'_> {
    pub(super) fn sender<'s>(&'s self, options: &'s Options, sources: &'s Sources) -> Send<'s> {
        Send {
            role: Role::Client,
            options,
            sources,
            filter: &self.filter,
            umask: self.around.umask,
            telling: telling(),
            monitor: self.tellers.monitor,
            progress: self.tellers.progress,
        }
    }

    pub(super) fn receiver<'s>(
        &'s self,
        options: &'s Options,
        destination: &'s Destination,
    ) -> Receive<'s> {
        Receive {
            role: Role::Client,
            options,
            destination,
            filter: &self.filter,
            request: engine::Request::Anything,
            umask: self.around.umask,
            telling: telling(),
            monitor: self.tellers.monitor,
            progress: self.tellers.progress,
            state_dir: self.around.state_dir.as_deref(),
        }
    }

    fn all_passes(&self) -> Outcome {
        let mut options = self.task.options.clone();
        let mut whole: Option<Outcome> = None;
        let passes = match &self.end {
            End::Sources(sources) => passes(self.task, &options, sources),
            End::Destination(_) => vec![Pass::plain(&options)],
        };
        for pass in passes {
            if !pass.why.is_empty() {
                (self.tellers.note)(Note::Decision(&pass.why));
            }
            let mut pass_options = Options {
                acls: options.acls,
                xattrs: options.xattrs,
                mkpath: options.mkpath,
                ..pass.options
            };
            let outcome = self.adapting(&mut pass_options);
            (options.acls, options.xattrs) = (pass_options.acls, pass_options.xattrs);
            let outcome = whole.take().map_or(outcome.clone(), |first| first.and(outcome));
            let failed = outcome.failure.is_some();
            whole = Some(outcome);
            if failed {
                break;
            }
        }
        whole.unwrap_or_else(|| Outcome::failed(Failure::local(wire::exit::SYNTAX, "no session")))
    }

    /// Tries again with less, as long as the far side says what it cannot do.
    fn adapting(&self, options: &mut Options) -> Outcome {
        loop {
            let failure = match self.attempt(options) {
                Ok(outcome) => return outcome,
                Err(failure) => failure,
            };
            match adapt(self.task, options, &failure) {
                Some(text) => (self.tellers.note)(Note::Retrying(&text)),
                None => return Outcome::failed(failure),
            }
        }
    }

    fn attempt(&self, options: &Options) -> Result<Outcome, Failure> {
        let session = self.connect(options)?;
        let part = match &self.end {
            End::Sources(sources) => Part::Send(self.sender(options, sources)),
            End::Destination(destination) => Part::Receive(self.receiver(options, destination)),
        };
        let closed = exchange(session, &part);
        match closed.done {
            Ok(ref summary) => {
                let code = closed.ending.merge(summary.exit_code());
                Ok(Outcome { code, summary: Some(summary.clone()), failure: None })
            }
            Err(ref error) => Err(Failure::of_session(error, &closed)),
        }
    }

    fn connect(&self, options: &Options) -> Result<Session, Failure> {
        let (way, around) = (&self.task.way, self.around);
        let failed = |error: transport::Error| Failure::of_transport(&error);
        let warn = |text: &str| (self.tellers.note)(Note::Warning(text));
        let mut unknown = |name: &str| warn(&format!("unknown socket option {name}"));
        let route = way.route(options, around, &mut unknown).map_err(failed)?;
        let (direction, paths) = match &self.task.work {
            Work::Push(_) => (Direction::ToServer, vec![way.far_path(&way.path())]),
            Work::Pull { from, .. } => {
                (Direction::FromServer, from.iter().map(|path| way.far_path(path)).collect())
            }
        };
        let paths: Vec<&[u8]> = paths.iter().map(Vec::as_slice).collect();
        let callers = Callers {
            stderr: (self.tellers.far_stderr)(),
            motd: &mut |line| (self.tellers.note)(Note::Motd(line)),
            command: &mut |_| (),
            prompt: self.tellers.prompt.map(|ask| Box::new(ask) as _),
            connect_limit: Some(CONNECT_LIMIT),
        };
        let canceller = (self.new_canceller)();
        connect(&route, (options, around), direction, &paths, callers, &canceller).map_err(failed)
    }
}

/// A bar wants to know of a file once it has been copied.
fn telling() -> Telling {
    Telling { after_transfer: true, ..Telling::default() }
}

impl Outcome {
    pub(super) fn failed(failure: Failure) -> Self {
        Self { code: failure.code, summary: None, failure: Some(failure) }
    }

    /// Joins two sessions of one run: what was listed counts once, what moved counts together.
    fn and(self, later: Outcome) -> Outcome {
        let code = gravest([self.code, later.code]);
        let summary = match (self.summary, later.summary) {
            (Some(first), Some(second)) => Some(first.and(&second)),
            (first, second) => second.or(first),
        };
        Outcome { code, summary, failure: later.failure }
    }
}

/// Of several codes the gravest: a failure before a partial copy, that before success.
pub fn gravest(codes: impl IntoIterator<Item = i32>) -> i32 {
    let gravity = |code: &i32| match *code {
        wire::exit::OK => 0,
        wire::exit::VANISHED => 1,
        wire::exit::DELETE_LIMIT => 2,
        wire::exit::PARTIAL => 3,
        wire::exit::SIGNAL => 5,
        _ => 4,
    };
    codes.into_iter().max_by_key(gravity).unwrap_or(wire::exit::OK)
}

impl Outcome {
    /// Returns the history's record of it, but for the times.
    pub fn record(&self, task: &Task) -> RunRecord {
        let mut record = RunRecord {
            job: task.name.clone(),
            target: task.way.to_string(),
            exit_code: self.code,
            ..RunRecord::default()
        };
        if let Some(summary) = &self.summary {
            record.files = summary.files.total();
            record.transferred_files = summary.transferred;
            record.created_files = summary.created.total();
            record.deleted_files = summary.deleted.map_or(0, |counts| counts.total());
            record.errors = summary.errors + summary.vanished;
            record.sent_bytes = summary.sent_bytes;
            record.received_bytes = summary.received_bytes;
            record.literal_bytes = summary.literal_bytes;
            record.matched_bytes = summary.matched_bytes;
            record.total_size = summary.total_size;
            record.large_files = summary.large_files;
            record.largest_size = summary.largest;
        }
        record
    }
}

/// Counts what there is to look at, for a bar; see [`engine::census`].
pub fn census(task: &Task, around: &Surroundings, progress: &Progress) {
    let Work::Push(paths) = &task.work else { return };
    // Whatever is wrong with rules or sources is told by the run itself.
    let Ok(filter) = rules(&task.options, around) else {
        return;
    };
    let sources = Sources::open(paths, &task.options);
    engine::census(&sources, &filter, task.options.one_file_system > 0, progress);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_codes_the_gravest_counts() {
        assert_eq!(gravest([]), 0);
        assert_eq!(gravest([0, 24, 23, 0]), 23);
        assert_eq!(gravest([23, 12, 24]), 12);
        assert_eq!(gravest([12, 20]), 20);
    }
}
