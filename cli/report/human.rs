//! What a person reads while a run goes on.

use engine::{Event, Gravity, Item, Kind};
use scheduler::sync::{Note, Outcome, Task};
use wire::escape::printable;
use wire::item::iflags;
use wire::mux::TextKind;

use super::{Channel, Line, Manner, size, words};
use crate::itemize::{NATIVE, itemize};

/// Lines of the far side that are held back until it is known whether the run fails: then they
/// are in the one line that says why.
const MAX_HELD: usize = 20;

/// Puts events into words.
#[derive(Debug)]
pub(crate) struct Human {
    manner: Manner,
    held: Vec<String>,
    deleted: u64,
}

impl Human {
    pub(crate) fn new(manner: Manner) -> Self {
        Self { manner, held: Vec::new(), deleted: 0 }
    }

    pub(crate) fn begin(&mut self, task: &Task) -> Vec<Line> {
        self.deleted = 0;
        match self.manner {
            Manner { quiet: true, .. } => Vec::new(),
            Manner { preview: true, .. } => out(format!("preview of {task} (nothing is changed)")),
            _ => out(task.to_string()),
        }
    }

    pub(crate) fn event(&mut self, event: &Event<'_>) -> Vec<Line> {
        match event {
            Event::Item(item) => self.item(item),
            Event::Deleted { name, is_dir } => self.deletion(name, *is_dir),
            Event::FarText { kind, text } => self.far_text(*kind, &String::from_utf8_lossy(text)),
            Event::Problem(problem) => {
                let label = match problem.gravity {
                    Gravity::Warning => "warning",
                    Gravity::Vanished => "vanished",
                    Gravity::Error => "error",
                };
                let text = problem.trouble.to_string();
                let path = problem.path.display().to_string();
                let named = text.contains(&path) || path.is_empty();
                let path = printable(path.as_bytes());
                let text = printable(text.as_bytes());
                match named {
                    true => err(format!("{label}: {text}")),
                    false => err(format!("{label}: {path}: {text}")),
                }
            }
            Event::Decision { name, text } if self.manner.verbose >= 2 => match name.is_empty() {
                true => out(text.clone()),
                false => out(format!("{}: {text}", printable(name))),
            },
            _ => Vec::new(),
        }
    }

    fn item(&self, item: &Item<'_>) -> Vec<Line> {
        let name = || format!("{}{}", words::item_name(item), words::leader(item));
        match self.manner {
            Manner { itemize: true, .. } => out(format!("{} {}", itemize(item, NATIVE), name())),
            Manner { preview: true, .. } => out(preview(item)),
            Manner { verbose: 1.., .. } => out(name()),
            _ => Vec::new(),
        }
    }

    fn deletion(&mut self, name: &[u8], is_dir: bool) -> Vec<Line> {
        self.deleted += 1;
        let slash = if is_dir { "/" } else { "" };
        let name = format!("{}{slash}", printable(name));
        match self.manner {
            Manner { itemize: true, .. } => out(format!("*deleting   {name}")),
            Manner { preview: true, .. } => out(format!("delete   {name}")),
            Manner { verbose: 1.., .. } => out(format!("deleting {name}")),
            _ => Vec::new(),
        }
    }

    pub(crate) fn note(&mut self, note: Note<'_>) -> Vec<Line> {
        match note {
            Note::Warning(text) => err(format!("warning: {}", printable(text.as_bytes()))),
            Note::Retrying(text) => {
                // What the far side said of the first attempt is what the change mends.
                self.held.clear();
                err(format!("note: {}", printable(text.as_bytes())))
            }
            Note::Decision(text) if self.manner.verbose >= 2 => out(text.to_owned()),
            Note::Motd(text) if self.manner.verbose >= 1 => out(printable(text.as_bytes())),
            Note::Decision(_) | Note::Motd(_) => Vec::new(),
        }
    }

    fn far_text(&mut self, kind: TextKind, text: &str) -> Vec<Line> {
        let lines = text.lines().filter(|line| !line.is_empty());
        match kind {
            TextKind::Info if self.manner.quiet => Vec::new(),
            TextKind::Info => {
                lines.map(|line| (Channel::Out, printable(line.as_bytes()))).collect()
            }
            _ => lines.flat_map(|line| self.far_line(line)).collect(),
        }
    }

    /// Takes an error line of the far side; its own last line only repeats the exit code.
    pub(crate) fn far_line(&mut self, line: &str) -> Vec<Line> {
        if line.starts_with("rsync error:") || line.starts_with("rsync warning:") {
            return Vec::new();
        }
        let line = format!("far side: {}", printable(line.as_bytes()));
        if self.held.len() < MAX_HELD {
            self.held.push(line);
            return Vec::new();
        }
        let mut lines = self.release();
        lines.extend(err(line));
        lines
    }

    fn release(&mut self) -> Vec<Line> {
        self.held.drain(..).flat_map(err).collect()
    }

    pub(crate) fn outcome(&mut self, task: &Task, outcome: &Outcome) -> Vec<Line> {
        if let Some(failure) = &outcome.failure {
            let mut lines = match self.manner.verbose {
                0 => Vec::new(),
                _ => self.release(),
            };
            self.held.clear();
            lines.extend(err(words::failure(failure)));
            return lines;
        }
        let mut lines = self.release();
        if let Some(summary) = &outcome.summary
            && !self.manner.quiet
        {
            let text = words::summary(summary, self.deleted, self.manner.preview);
            lines.extend(text.into_iter().map(|line| (Channel::Out, line)));
        }
        if let Some(text) = words::incomplete(task, outcome) {
            lines.extend(err(text));
        }
        lines
    }
}

/// What would be done with an item.
fn preview(item: &Item<'_>) -> String {
    let name = words::item_name(item);
    let is_new = item.iflags & iflags::IS_NEW != 0;
    if item.iflags & iflags::TRANSFER != 0 {
        let what = if is_new { "new" } else { "changed" };
        return format!("send     {name} ({}, {what})", size::bytes(item.size));
    }
    let verb = match (is_new, item.kind) {
        (true, Kind::Dir) => "make    ",
        (true, _) => "create  ",
        (false, _) => "update  ",
    };
    format!("{verb} {name}{}", words::leader(item))
}

fn out(text: String) -> Vec<Line> {
    vec![(Channel::Out, text)]
}

fn err(text: String) -> Vec<Line> {
    vec![(Channel::Err, text)]
}
