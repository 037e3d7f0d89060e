//! `repl push`: the jobs of a target, or some paths, to another machine.

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use clap::ArgMatches;
use engine::Progress;
use scheduler::config::{Config, DefaultExcludes, Target};
use scheduler::history::{History, RunRecord};
use scheduler::sync::{self, Surroundings, Task, Tellers, Way, Wishes};
use transport::Place;
use wire::options::{Options, parse};

use crate::args::rsync_words;
use crate::report::{LogFile, Manner, Reporter};
use crate::signals::Stopper;

/// Runs the command and returns its exit code.
pub(crate) fn run(matches: &ArgMatches) -> Result<i32> {
    let request = Request::read(matches)?;
    let (tasks, history) = request.tasks()?;
    let manner = request.manner(&tasks);
    let reporter = Arc::new(Reporter::new(manner, request.log_file(&tasks)?));
    let stopper = Stopper::listen().context("cannot listen for signals")?;
    let mut codes = Vec::new();
    for task in tasks {
        if stopper.stopped() {
            codes.push(wire::exit::SIGNAL);
            break;
        }
        codes.push(one(task, history.as_ref(), &reporter, &stopper));
    }
    Ok(sync::gravest(codes))
}

fn one(
    mut task: Task,
    history: Option<&History>,
    reporter: &Arc<Reporter>,
    stopper: &Stopper,
) -> i32 {
    task.last_run = history.and_then(|history| history.last_run(&task.name).ok().flatten());
    let progress = Progress::default();
    let around = surroundings();
    let far_stderr = || -> Box<dyn FnMut(&str) + Send> {
        let reporter = Arc::clone(reporter);
        Box::new(move |line| reporter.far_stderr(line))
    };
    let monitor = |event: engine::Event<'_>| reporter.event(&event);
    let note = |note: sync::Note<'_>| reporter.note(note);
    let tellers = Tellers {
        monitor: &monitor,
        note: &note,
        progress: &progress,
        far_stderr: &far_stderr,
        prompt: around.terminal.then_some(crate::ask::password as _),
    };
    reporter.begin(&task);
    let start = now();
    let count = || sync::census(&task, &around, &progress);
    let work = || sync::run(&task, &around, &tellers, &|| stopper.canceller());
    let outcome = reporter.with_bar(&progress, count, work);
    reporter.outcome(&task, &outcome);
    if let Some(history) = history.filter(|_| !task.options.dry_run) {
        let record = RunRecord { start, end: now(), ..outcome.record(&task) };
        if let Err(error) = history.append(&record) {
            reporter.note(sync::Note::Warning(&format!("{error}: the run is not in the history")));
        }
    }
    outcome.code
}

/// What was asked for on the command line.
struct Request {
    to: OsString,
    config: Option<PathBuf>,
    json: bool,
    excludes: DefaultExcludes,
    words: Vec<Vec<u8>>,
    names: Vec<OsString>,
}

impl Request {
    fn read(matches: &ArgMatches) -> Result<Self> {
        let one = |id| matches.get_one::<OsString>(id).cloned();
        let names = matches.get_many::<OsString>("names").into_iter().flatten().cloned();
        let excludes = match matches.get_flag("no-default-excludes") {
            true => DefaultExcludes::TakenIn,
            false => DefaultExcludes::LeftOut,
        };
        Ok(Self {
            to: one("to").context("--to is missing")?,
            config: one("config").map(PathBuf::from),
            json: matches.get_flag("json"),
            excludes,
            words: rsync_words(matches),
            names: names.collect(),
        })
    }

    /// Finds out what to run; with the history, where jobs of a target are run.
    fn tasks(&self) -> Result<(Vec<Task>, Option<History>)> {
        let place = Place::parse(self.to.as_bytes()).map_err(|error| match error.hint() {
            Some(hint) => anyhow::anyhow!("{error}; {hint}"),
            None => error.into(),
        })?;
        let tasks = match place {
            Place::Local(_) => return self.tasks_of_target(),
            place => vec![self.by_hand(Way { place, ssh: Default::default() }, &self.names)?],
        };
        Ok((tasks, None))
    }

    fn tasks_of_target(&self) -> Result<(Vec<Task>, Option<History>)> {
        let Some(name) = self.to.to_str().filter(|name| !name.contains('/')) else {
            bail!(
                "--to {}: it is on this machine, and this version copies to other machines only; \
                 write host:path for another machine",
                self.to.display()
            );
        };
        let around = places();
        let file = around.config_file(self.config.as_deref())?;
        let config = Config::read(&file)?;
        let target = config.target(name)?;
        let (paths, jobs): (Vec<_>, Vec<_>) =
            self.names.iter().cloned().partition(|name| is_path(name));
        if !paths.is_empty() {
            if !jobs.is_empty() {
                bail!("jobs and paths cannot be mixed: {} is a job's name", jobs[0].display());
            }
            let below = format!("{}/", target.path).into_bytes();
            return Ok((vec![self.by_hand(Way::to(target, below), &paths)?], None));
        }
        let tasks = self.tasks_of_jobs(&config, target, &jobs)?;
        Ok((tasks, Some(History::in_state_dir(&around.state_dir()))))
    }

    fn tasks_of_jobs(
        &self,
        config: &Config,
        target: &Target,
        names: &[OsString],
    ) -> Result<Vec<Task>> {
        let mut jobs = Vec::new();
        for name in names {
            let job = config.job(&name.to_string_lossy())?;
            if job.target != target.name {
                bail!(
                    "the job {} goes to {}, not to {}; leave it out, or say --to {}",
                    job.name,
                    job.target,
                    target.name,
                    job.target
                );
            }
            jobs.push(job);
        }
        if names.is_empty() {
            jobs.extend(config.jobs_of(target));
        }
        if jobs.is_empty() {
            bail!("no job goes to {}; write [jobs.NAME] with target = \"{0}\"", target.name);
        }
        jobs.iter()
            .map(|job| {
                let mut task = Task::of_job(target, job, self.excludes);
                self.obey(&mut task.options)?;
                Ok(task)
            })
            .collect()
    }

    /// A push of paths, with the same options that a job has by default.
    fn by_hand(&self, way: Way, names: &[OsString]) -> Result<Task> {
        if names.is_empty() {
            bail!("nothing to push: give the paths that go to {way}");
        }
        let mut task = Task::by_hand(way, names.iter().map(PathBuf::from).collect());
        self.obey(&mut task.options)?;
        if self.excludes == DefaultExcludes::LeftOut {
            task.options.filters.extend(scheduler::config::default_excludes());
        }
        task.wishes = Wishes {
            acls: !self.asked(&["--acls", "-A"]),
            xattrs: !self.asked(&["--xattrs", "-X"]),
        };
        Ok(task)
    }

    /// Obeys rsync's words; they come after what the configuration says.
    fn obey(&self, options: &mut Options) -> Result<()> {
        parse(&self.words, options)?;
        // The far side reports deletions only to those who list changes.
        options.itemize = options.itemize.max(1);
        Ok(())
    }

    /// Tells whether one of rsync's words was given in one of its spellings.
    fn asked(&self, spellings: &[&str]) -> bool {
        let is_it = |word: &Vec<u8>| spellings.iter().any(|spelling| word == spelling.as_bytes());
        self.words.iter().any(is_it)
    }

    fn manner(&self, tasks: &[Task]) -> Manner {
        let options = tasks.first().map(|task| &task.options);
        Manner {
            verbose: options.map_or(0, |options| options.verbose),
            quiet: options.is_some_and(|options| options.quiet),
            itemize: self.asked(&["--itemize-changes", "-i"]),
            preview: options.is_some_and(|options| options.dry_run),
            json: self.json,
        }
    }

    fn log_file(&self, tasks: &[Task]) -> Result<Option<LogFile>> {
        let Some(path) = tasks.first().and_then(|task| task.options.log_file.as_ref()) else {
            return Ok(None);
        };
        let opened = LogFile::open(path);
        opened.map(Some).with_context(|| format!("cannot open the log file {}", path.display()))
    }
}

/// A name with a slash is a path, and so are `.` and `..`; any other is a job's.
fn is_path(name: &OsStr) -> bool {
    name.as_bytes().contains(&b'/') || matches!(name.as_bytes(), b"." | b"..")
}

fn places() -> scheduler::places::Surroundings {
    scheduler::places::Surroundings {
        xdg_config_home: variable("XDG_CONFIG_HOME").map(PathBuf::from),
        xdg_state_home: variable("XDG_STATE_HOME").map(PathBuf::from),
        home: variable("HOME").map(PathBuf::from),
        is_root: rustix::process::geteuid().is_root(),
    }
}

fn surroundings() -> Surroundings {
    let bytes = |name| variable(name).map(OsStringExt::into_vec);
    let user = ["USER", "LOGNAME"].into_iter().find_map(variable);
    Surroundings {
        user: user.map_or_else(|| "nobody".into(), |name| name.to_string_lossy().into_owned()),
        rsync_rsh: bytes("RSYNC_RSH"),
        rsync_password: bytes("RSYNC_PASSWORD"),
        home: variable("HOME").map(PathBuf::from),
        cvsignore: bytes("CVSIGNORE"),
        terminal: std::io::stdin().is_terminal(),
        umask: umask(),
    }
}

/// Reads the mask from what the kernel tells of us: asking for it by `umask` would change it.
fn umask() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    line.and_then(|text| u32::from_str_radix(text.trim(), 8).ok()).unwrap_or(0o022)
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
