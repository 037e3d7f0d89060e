//! `repl push` and `repl pull`: the jobs of a target, or some paths, one after the other.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use clap::ArgMatches;
use engine::Progress;
use scheduler::history::{History, RunRecord};
use scheduler::sync::{self, Task, Tellers};

use crate::report::Reporter;
use crate::request::{Request, Verb};
use crate::signals::Stopper;
use crate::surroundings::surroundings;

/// Runs the command and returns its exit code.
pub(crate) fn run(verb: Verb, matches: &ArgMatches) -> Result<i32> {
    let request = Request::read(verb, matches)?;
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

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
