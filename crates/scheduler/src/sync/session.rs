//! The run of a task: connect, push, hear how the far side ended; again with less where it
//! cannot do everything.

use std::sync::Mutex;
use std::time::Duration;

use engine::{Event, Progress, Role, Sources, Summary, Telling};
use filter::RuleList;
use transport::{
    Canceller, Connection, FarArguments, Hooks, Limits, PasswordSources, Reason, Route,
};
use wire::options::Options;
use wire::server_args::{Channel, Direction, server_args};

use crate::history::RunRecord;

use super::adapt::adapt;
use super::block_plan::passes;
use super::failure::{Failure, is_loss};
use super::filter_rules::rules;
use super::task::{Surroundings, Task};

/// How long a daemon may take to answer, where `--contimeout` does not say.
const CONNECT_LIMIT: Duration = Duration::from_secs(60);

/// How long a far side with which a session has failed may take to end.
const FAILED_PATIENCE: Duration = Duration::from_secs(5);

/// Texts of the far side that are kept to find out why a run failed.
const MAX_TEXTS: usize = 64;

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
    pub far_stderr: &'a (dyn Fn() -> Box<dyn FnMut(&str) + Send> + Sync),
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
    match prepare(task, around, tellers) {
        Err(failure) => Outcome::failed(failure),
        // Everything that is not there was to be passed over.
        Ok((sources, _)) if sources.is_empty() => {
            Outcome { code: wire::exit::OK, summary: Some(Summary::default()), failure: None }
        }
        Ok((sources, filter)) => {
            let ready = Ready { task, around, tellers, new_canceller, sources, filter };
            ready.all_passes()
        }
    }
}

fn prepare(
    task: &Task,
    around: &Surroundings,
    tellers: &Tellers<'_>,
) -> Result<(Sources, RuleList), Failure> {
    let filter = rules(task, around)?;
    let sources = Sources::open(&task.sources, &task.options);
    if sources.is_empty() && sources.missing() > 0 {
        sources.tell(tellers.monitor);
        let error = engine::Error::NothingToSend;
        return Err(Failure::local(error.exit_code(), error));
    }
    Ok((sources, filter))
}

/// A task whose sources are open.
struct Ready<'a> {
    task: &'a Task,
    around: &'a Surroundings,
    tellers: &'a Tellers<'a>,
    new_canceller: &'a dyn Fn() -> Canceller,
    sources: Sources,
    filter: RuleList,
}

impl Ready<'_> {
    fn all_passes(&self) -> Outcome {
        let mut options = self.task.options.clone();
        let mut whole: Option<Outcome> = None;
        for pass in passes(self.task, &options.clone(), &self.sources) {
            (self.tellers.note)(Note::Decision(&pass.why));
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
        let canceller = (self.new_canceller)();
        let (mut connection, protocol) = self.connect(options, &canceller)?;
        let idle_limit = connection.idle_limit.clone();
        let texts = Mutex::new(Vec::new());
        let monitor = |event: Event<'_>| {
            match &event {
                Event::FarText { text, .. } => keep(&texts, text),
                Event::TimeLimit(seconds) => {
                    let limit = Duration::from_secs((*seconds).into());
                    // Without the watch the far side's own limit still ends the session.
                    let _ = idle_limit.shorten_to(limit);
                }
                _ => {}
            }
            (self.tellers.monitor)(event);
        };
        let send = engine::Send {
            role: Role::Client,
            options,
            sources: &self.sources,
            filter: &self.filter,
            umask: self.around.umask,
            telling: Telling { after_transfer: true, ..Telling::default() },
            monitor: &monitor,
            progress: self.tellers.progress,
        };
        let hang_up = || canceller.cancel(Reason::Failed);
        let (reader, writer) = (&mut connection.reader, &mut connection.writer);
        let done = send.run(reader, writer, protocol, &hang_up);
        let stopped = canceller.reason();
        if done.as_ref().is_err_and(|error| !is_loss(error)) {
            // Its end can tell nothing more, and it need not come by itself.
            canceller.cancel(Reason::Failed);
        }
        let peer = connection.peer.clone();
        let ending = match done {
            Ok(_) => connection.finish(),
            Err(_) => connection.finish_within(FAILED_PATIENCE),
        };
        let texts = texts.into_inner().unwrap_or_default();
        match done {
            Ok(summary) => {
                let code = ending.merge(summary.exit_code());
                Ok(Outcome { code, summary: Some(summary), failure: None })
            }
            Err(error) => Err(Failure::of_session(&error, stopped, &ending, &texts, &peer)),
        }
    }

    fn connect(
        &self,
        options: &Options,
        canceller: &Canceller,
    ) -> Result<(Connection, u32), Failure> {
        let failed = |error: transport::Error| Failure::of_transport(&error);
        let (route, path) = self.task.way.route(options, self.around).map_err(failed)?;
        let channel = match route {
            Route::Daemon { .. } | Route::ShellDaemon { .. } => Channel::Daemon,
            Route::Shell { .. } | Route::Pipe { .. } => Channel::Shell,
        };
        let words = server_args(options, channel, Direction::ToServer, &[&path]);
        let arguments = FarArguments::new(&words, options);
        let seconds = |limit: u32| (limit > 0).then(|| Duration::from_secs(limit.into()));
        let connect = seconds(options.contimeout).unwrap_or(CONNECT_LIMIT);
        let limits = Limits { connect: Some(connect), idle: seconds(options.timeout) };
        let mut passwords = PasswordSources {
            file: options.password_file.clone(),
            variable: self.around.rsync_password.clone(),
            prompt: self.tellers.prompt.map(|ask| Box::new(ask) as _),
        };
        let hooks = Hooks {
            stderr: (self.tellers.far_stderr)(),
            motd: &mut |line| (self.tellers.note)(Note::Motd(line)),
            passwords: &mut passwords,
        };
        let own = options.own_protocol();
        transport::open(&route, own, &arguments, &limits, hooks, canceller)
            .map(|session| (session.connection, session.protocol))
            .map_err(failed)
    }
}

impl Outcome {
    fn failed(failure: Failure) -> Self {
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

fn keep(texts: &Mutex<Vec<String>>, text: &[u8]) {
    let Ok(mut texts) = texts.lock() else { return };
    if texts.len() < MAX_TEXTS {
        texts.push(String::from_utf8_lossy(text).into_owned());
    }
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
    // Whatever is wrong with rules or sources is told by the run itself.
    let Ok(filter) = rules(task, around) else {
        return;
    };
    let sources = Sources::open(&task.sources, &task.options);
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
