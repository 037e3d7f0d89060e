//! What a person, a log file or a program is told of a run.

mod bar;
mod human;
mod json;
mod log_file;
mod size;
mod words;

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use engine::{Event, Progress};
use scheduler::sync::{Note, Outcome, Task};
use serde_json::Value;

use bar::Bar;
use human::Human;
pub(crate) use log_file::LogFile;
pub(crate) use size::grouped;

/// How much is told, and in which form.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manner {
    pub(crate) verbose: u8,
    pub(crate) quiet: bool,
    pub(crate) itemize: bool,
    /// Nothing is changed: what would be done is the whole point.
    pub(crate) preview: bool,
    /// One JSON object a line instead of words.
    pub(crate) json: bool,
}

/// Where a line goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    Out,
    Err,
}

/// A line for a person.
pub(crate) type Line = (Channel, String);

/// Turns events into words, JSON lines and log lines. All threads of a run share it.
pub(crate) struct Reporter {
    manner: Manner,
    human: Mutex<Human>,
    log: Option<Mutex<LogFile>>,
    bar: Mutex<Option<Bar>>,
}

impl Reporter {
    pub(crate) fn new(manner: Manner, log: Option<LogFile>) -> Self {
        let human = Mutex::new(Human::new(manner));
        Self { manner, human, log: log.map(Mutex::new), bar: Mutex::new(None) }
    }

    /// Tells that a task begins.
    pub(crate) fn begin(&self, task: &Task) {
        self.tell(|| json::start(task), |human| human.begin(task));
        self.log(&task.to_string());
    }

    /// Tells an event of the engine.
    pub(crate) fn event(&self, event: &Event<'_>) {
        if self.log.is_some()
            && let Some(text) = log_file::event(event)
        {
            self.log(&text);
        }
        self.tell(|| json::event(event), |human| human.event(event));
    }

    /// Tells a line about the session as a whole.
    pub(crate) fn note(&self, note: Note<'_>) {
        let (Note::Warning(text) | Note::Retrying(text) | Note::Decision(text) | Note::Motd(text)) =
            note;
        self.log(text);
        self.tell(|| json::note(note), |human| human.note(note));
    }

    /// Tells what a program in between, such as ssh, wrote to its stderr.
    pub(crate) fn far_stderr(&self, line: &str) {
        self.log(line);
        self.tell(|| json::far_stderr(line), |human| human.far_line(line));
    }

    /// Tells how a task ended.
    pub(crate) fn outcome(&self, task: &Task, outcome: &Outcome) {
        self.tell(|| json::outcome(task, outcome), |human| human.outcome(task, outcome));
        for line in log_file::outcome(outcome) {
            self.log(&line);
        }
    }

    /// Draws a bar while `work` runs, where somebody looks at the terminal. `count` finds out how
    /// much there is to do.
    pub(crate) fn with_bar<T>(
        &self,
        progress: &Progress,
        count: impl FnOnce() + Send,
        work: impl FnOnce() -> T,
    ) -> T {
        let silent = self.manner.json || self.manner.quiet;
        if silent || !io::stderr().is_terminal() {
            return work();
        }
        let bar = Bar::new();
        *lock(&self.bar) = Some(bar.clone());
        let done = AtomicBool::new(false);
        let result = std::thread::scope(|scope| {
            scope.spawn(count);
            scope.spawn(|| bar.follow(progress, &done));
            let result = work();
            progress.census_unwanted.store(true, Relaxed);
            done.store(true, Relaxed);
            result
        });
        *lock(&self.bar) = None;
        result
    }

    fn tell(
        &self,
        json: impl FnOnce() -> Option<Value>,
        words: impl FnOnce(&mut Human) -> Vec<Line>,
    ) {
        if self.manner.json {
            if let Some(value) = json() {
                print(&[(Channel::Out, value.to_string())]);
            }
            return;
        }
        // Lines of several threads do not mix: the lock is held until they are printed.
        let mut human = lock(&self.human);
        let lines = words(&mut human);
        if lines.is_empty() {
            return;
        }
        match lock(&self.bar).as_ref() {
            Some(bar) => bar.aside(|| print(&lines)),
            None => print(&lines),
        }
    }

    fn log(&self, text: &str) {
        if let Some(log) = &self.log {
            lock(log).write(text);
        }
    }
}

/// Prints lines. A closed output is not worth losing a backup for.
fn print(lines: &[Line]) {
    let (mut out, mut err) = (io::stdout().lock(), io::stderr().lock());
    for (channel, text) in lines {
        let _ = match channel {
            Channel::Out => writeln!(out, "{text}"),
            Channel::Err => writeln!(err, "{text}"),
        };
    }
    let _ = out.flush();
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
