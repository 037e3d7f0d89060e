//! Which jobs or paths does a command line of `push` or `pull` mean?

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::ArgMatches;
use scheduler::config::{Config, DefaultExcludes, Job, JobWork, Target};
use scheduler::history::History;
use scheduler::sync::{Task, Way, Wishes, Work};
use transport::Place;
use wire::options::{Options, parse};

use crate::args::rsync_words;
use crate::report::{LogFile, Manner};
use crate::surroundings::places;

/// The direction of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Push,
    Pull,
}

impl Verb {
    /// Returns the option that names the other place.
    pub(crate) fn option(self) -> &'static str {
        match self {
            Verb::Push => "to",
            Verb::Pull => "from",
        }
    }

    fn does(self, job: &Job) -> bool {
        match (self, &job.work) {
            (Verb::Push, JobWork::Push { .. }) | (Verb::Pull, JobWork::Pull { .. }) => true,
            (Verb::Push, JobWork::Pull { .. }) | (Verb::Pull, JobWork::Push { .. }) => false,
        }
    }
}

/// What was asked for on the command line.
pub(crate) struct Request {
    verb: Verb,
    place: OsString,
    config: Option<PathBuf>,
    json: bool,
    excludes: DefaultExcludes,
    words: Vec<Vec<u8>>,
    names: Vec<OsString>,
}

impl Request {
    pub(crate) fn read(verb: Verb, matches: &ArgMatches) -> Result<Self> {
        let one = |id| matches.get_one::<OsString>(id).cloned();
        let names = matches.get_many::<OsString>("names").into_iter().flatten().cloned();
        let excludes = match matches.get_flag("no-default-excludes") {
            true => DefaultExcludes::TakenIn,
            false => DefaultExcludes::LeftOut,
        };
        Ok(Self {
            verb,
            place: one(verb.option()).context("the other place is missing")?,
            config: one("config").map(PathBuf::from),
            json: matches.get_flag("json"),
            excludes,
            words: rsync_words(matches),
            names: names.collect(),
        })
    }

    /// Finds out what to run; with the history, where jobs of a target are run.
    pub(crate) fn tasks(&self) -> Result<(Vec<Task>, Option<History>)> {
        let place = Place::parse(self.place.as_bytes()).map_err(|error| match error.hint() {
            Some(hint) => anyhow::anyhow!("{error}; {hint}"),
            None => error.into(),
        })?;
        let is_target = !self.place.as_bytes().contains(&b'/');
        match place {
            Place::Local(_) if is_target => self.tasks_of_target(),
            place => {
                let task = self.by_hand(Way { place, ssh: Default::default() }, &self.names)?;
                Ok((vec![task], None))
            }
        }
    }

    fn tasks_of_target(&self) -> Result<(Vec<Task>, Option<History>)> {
        let name = self.place.to_string_lossy();
        let around = places();
        let file = around.config_file(self.config.as_deref())?;
        let config = Config::read(&file)?;
        let target = config.target(&name)?;
        let (paths, jobs): (Vec<_>, Vec<_>) =
            self.names.iter().cloned().partition(|name| is_path(name));
        if !paths.is_empty() {
            if !jobs.is_empty() {
                bail!("jobs and paths cannot be mixed: {} is a job's name", jobs[0].display());
            }
            let below = [target.below("").as_slice(), b"/"].concat();
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
            self.check_job(job, target)?;
            jobs.push(job);
        }
        if names.is_empty() {
            jobs.extend(config.jobs_of(target).filter(|job| self.verb.does(job)));
        }
        if jobs.is_empty() {
            bail!("{}", self.no_job(config, target));
        }
        jobs.iter()
            .map(|job| {
                let mut task = Task::of_job(target, job, self.excludes);
                self.obey(&mut task.options)?;
                Ok(task)
            })
            .collect()
    }

    fn check_job(&self, job: &Job, target: &Target) -> Result<()> {
        let (name, option) = (&job.name, self.verb.option());
        if job.target != target.name {
            bail!(
                "the target of the job {name} is {}, not {}; leave it out, or say --{option} {0}",
                job.target,
                target.name,
            );
        }
        if self.verb.does(job) {
            return Ok(());
        }
        match self.verb {
            Verb::Push => bail!("the job {name} is fetched: run repl pull --from {}", target.name),
            Verb::Pull => bail!("{}", no_pull(job)),
        }
    }

    fn no_job(&self, config: &Config, target: &Target) -> String {
        let other = config.jobs_of(target).next();
        match (self.verb, other) {
            (Verb::Pull, Some(job)) => no_pull(job),
            (Verb::Pull, None) => format!(
                "no job comes from {0}; write [jobs.NAME] with target = \"{0}\" and \
                 direction = \"pull\"",
                target.name
            ),
            (Verb::Push, _) => {
                format!("no job goes to {0}; write [jobs.NAME] with target = \"{0}\"", target.name)
            }
        }
    }

    /// A copy of paths, with the same options that a job has by default.
    fn by_hand(&self, way: Way, names: &[OsString]) -> Result<Task> {
        let work = match (self.verb, names) {
            (Verb::Push, []) => bail!("nothing to push: give the paths that go to {way}"),
            (Verb::Push, names) => Work::Push(names.iter().map(PathBuf::from).collect()),
            (Verb::Pull, [into]) => Work::Pull { from: vec![way.path()], into: into.into() },
            (Verb::Pull, _) => bail!("give one directory that gets what comes from {way}"),
        };
        let mut task = Task::by_hand(way, work);
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

    pub(crate) fn manner(&self, tasks: &[Task]) -> Manner {
        let options = tasks.first().map(|task| &task.options);
        Manner {
            verbose: options.map_or(0, |options| options.verbose),
            quiet: options.is_some_and(|options| options.quiet),
            itemize: self.asked(&["--itemize-changes", "-i"]),
            preview: options.is_some_and(|options| options.dry_run),
            json: self.json,
        }
    }

    pub(crate) fn log_file(&self, tasks: &[Task]) -> Result<Option<LogFile>> {
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

/// Why a job that pushes is not pulled.
fn no_pull(job: &Job) -> String {
    format!(
        "the job {} pushes: pulling it would overwrite its live sources; to get files back, name \
         them and another directory, as in repl pull --from HOST:PATH DEST",
        job.name
    )
}
