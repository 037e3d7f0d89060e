//! What `--log-file` keeps: a line an event, with the time in front, as rsync writes it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use engine::Event;
use scheduler::sync::Outcome;
use wire::escape::printable;

use super::words;
use crate::itemize::{NATIVE, itemize};

/// A log that is only ever appended to.
#[derive(Debug)]
pub(crate) struct LogFile {
    file: File,
}

impl LogFile {
    /// Opens the log, which is made if it is not there.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        OpenOptions::new().create(true).append(true).open(path).map(|file| Self { file })
    }

    /// Appends one line. A full disk must not end a backup, so a failure is passed over.
    pub(crate) fn write(&mut self, text: &str) {
        let now = jiff::ZonedDateTime::now().strftime("%Y/%m/%d %H:%M:%S");
        let line = format!("{now} [{}] {}\n", std::process::id(), printable(text.as_bytes()));
        let _ = self.file.write_all(line.as_bytes());
    }
}

/// Returns the line of an event, if it has one.
pub(crate) fn event(event: &Event<'_>) -> Option<String> {
    Some(match event {
        Event::Item(item) => {
            format!("{} {}{}", itemize(item, NATIVE), words::item_name(item), words::leader(item))
        }
        Event::Deleted { name, is_dir } => {
            let slash = if *is_dir { "/" } else { "" };
            format!("*deleting   {}{slash}", printable(name))
        }
        Event::FarText { text, .. } => {
            format!("far side: {}", String::from_utf8_lossy(text).trim_end())
        }
        Event::Problem(problem) => format!("{}: {}", problem.path.display(), problem.trouble),
        Event::Decision { name, text } => format!("{}: {text}", printable(name)),
        _ => return None,
    })
}

/// Returns the lines of the end.
pub(crate) fn outcome(outcome: &Outcome) -> Vec<String> {
    match (&outcome.failure, &outcome.summary) {
        (Some(failure), _) => vec![words::failure(failure)],
        (None, Some(summary)) => words::summary(summary, 0, false),
        (None, None) => Vec::new(),
    }
}
