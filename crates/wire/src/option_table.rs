//! Which options does rsync have, what does each do to [`Options`], and which work here?
//!
//! The one table: the parser, the help, and the refusals all read it. An option that rsync has
//! and that cannot work here stands in it as [`Status::Never`], so that it is refused by name and
//! never ignored.

mod attributes;
mod connection;
mod deletion;
pub mod help;
mod output;
mod selection;
mod update;

use crate::options::{Ask, DeleteTiming, OptionError, Options};

/// The whole table, grouped by what the options are about.
pub const OPTION_GROUPS: [(&str, &[OptionSpec]); 6] = [
    ("which files", selection::OPTIONS),
    ("which attributes", attributes::OPTIONS),
    ("how files are updated", update::OPTIONS),
    ("what is deleted", deletion::OPTIONS),
    ("the way there", connection::OPTIONS),
    ("what is told", output::OPTIONS),
];

/// Describes one option of rsync.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// All its names without dashes, the main one first; names of one letter are short options.
    pub names: &'static [&'static str],
    /// What its value is called, if it takes one.
    pub value: Option<&'static str>,
    /// What it does, in one line.
    pub help: &'static str,
    /// Whether it works here.
    pub status: Status,
    /// Whether the `options` key of a job may hold it.
    pub in_config: InConfig,
    pub(crate) effect: Effect,
}

/// Tells whether an option works here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It works.
    Works,
    /// It works on rsync's own command line; `repl push` refuses it, for this reason.
    RsyncOnly(&'static str),
    /// It is refused with this sentence.
    Never(&'static str),
}

/// Tells whether a job of the configuration may hold an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InConfig {
    /// It may.
    Allowed,
    /// No: this key says it.
    Key(&'static str),
    /// No, for this reason.
    Refused(&'static str),
}

/// What an option does to the options.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effect {
    /// Can be turned on and, as `--no-NAME`, off.
    Switch(fn(&mut Options, bool)),
    /// Can only be turned on.
    Flag(fn(&mut Options)),
    /// Chooses when to delete.
    Delete(DeleteTiming),
    /// Takes a value; `--no-NAME`, where there is one, takes it back.
    Value(fn(&mut Options, &[u8]) -> Result<(), Rejection>, Option<fn(&mut Options)>),
    /// Asks for something else than a transfer.
    Ask(Ask),
}

/// Why an effect does not take a value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Rejection {
    /// The value is wrong; the text continues "--OPTION=VALUE ...".
    Value(String),
    /// The value is no number; the text continues "WORD: ...".
    Number(&'static str),
    /// rsync has a sentence of its own for it.
    Said(OptionError),
}

impl From<String> for Rejection {
    fn from(why: String) -> Rejection {
        Rejection::Value(why)
    }
}

impl From<OptionError> for Rejection {
    fn from(error: OptionError) -> Rejection {
        Rejection::Said(error)
    }
}

impl OptionSpec {
    /// Returns the main name as it is typed.
    pub fn spelled(&self) -> String {
        spelled(self.names[0])
    }

    /// Tells whether `--no-NAME` exists.
    pub fn negatable(&self) -> bool {
        matches!(self.effect, Effect::Switch(_) | Effect::Value(_, Some(_)))
    }

    /// Says that a key of the job does its work in the configuration.
    const fn key(mut self, key: &'static str) -> OptionSpec {
        self.in_config = InConfig::Key(key);
        self
    }

    /// Says why `repl push` does not have it, and a job neither.
    const fn rsync_only(mut self, why: &'static str) -> OptionSpec {
        self.status = Status::RsyncOnly(why);
        self.in_config = InConfig::Refused(why);
        self
    }

    /// Says that it takes a value, which nothing here reads.
    const fn takes(mut self, value: &'static str) -> OptionSpec {
        self.value = Some(value);
        self
    }

    /// Refuses it with this sentence; the negative stays.
    const fn never(mut self, why: &'static str) -> OptionSpec {
        self.status = Status::Never(why);
        self
    }

    /// Says why it cannot stand in the configuration.
    const fn not_in_config(mut self, why: &'static str) -> OptionSpec {
        self.in_config = InConfig::Refused(why);
        self
    }

    /// Adds what `--no-NAME` does.
    const fn or_no(mut self, off: fn(&mut Options)) -> OptionSpec {
        if let Effect::Value(on, _) = self.effect {
            self.effect = Effect::Value(on, Some(off));
        }
        self
    }
}

/// Finds the option with this long name.
pub fn find_long(name: &str) -> Option<&'static OptionSpec> {
    all().find(|spec| name.len() > 1 && spec.names.contains(&name))
}

/// Finds the option with this letter.
pub fn find_short(letter: char) -> Option<&'static OptionSpec> {
    all().find(|spec| spec.names.iter().any(|name| is_letter(name, letter)))
}

/// Finds the option that `--no-NAME` turns off; the name may be a letter.
pub fn find_negated(name: &str) -> Option<&'static OptionSpec> {
    let has_no_negative = matches!(name, "b" | "0");
    all().find(|spec| !has_no_negative && spec.negatable() && spec.names.contains(&name))
}

/// Iterates over all options of the table.
pub fn all() -> impl Iterator<Item = &'static OptionSpec> {
    OPTION_GROUPS.iter().flat_map(|(_, group)| group.iter())
}

/// Returns a name with its dashes.
pub(crate) fn spelled(name: &str) -> String {
    let dashes = if name.len() == 1 { "-" } else { "--" };
    format!("{dashes}{name}")
}

fn is_letter(name: &str, letter: char) -> bool {
    let mut letters = name.chars();
    letters.next() == Some(letter) && letters.next().is_none()
}

const fn spec(
    names: &'static [&'static str],
    value: Option<&'static str>,
    help: &'static str,
    status: Status,
    effect: Effect,
) -> OptionSpec {
    OptionSpec { names, value, help, status, in_config: InConfig::Allowed, effect }
}

const fn switch(
    names: &'static [&'static str],
    help: &'static str,
    set: fn(&mut Options, bool),
) -> OptionSpec {
    spec(names, None, help, Status::Works, Effect::Switch(set))
}

const fn flag(
    names: &'static [&'static str],
    help: &'static str,
    set: fn(&mut Options),
) -> OptionSpec {
    spec(names, None, help, Status::Works, Effect::Flag(set))
}

const fn delete(
    names: &'static [&'static str],
    help: &'static str,
    timing: DeleteTiming,
) -> OptionSpec {
    spec(names, None, help, Status::Works, Effect::Delete(timing))
}

const fn valued(
    names: &'static [&'static str],
    value: &'static str,
    help: &'static str,
    set: fn(&mut Options, &[u8]) -> Result<(), Rejection>,
) -> OptionSpec {
    spec(names, Some(value), help, Status::Works, Effect::Value(set, None))
}

const fn ask(
    names: &'static [&'static str],
    help: &'static str,
    what: Ask,
    why: &'static str,
) -> OptionSpec {
    spec(names, None, help, Status::Works, Effect::Ask(what)).rsync_only(why)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_name_stands_for_two_options() {
        let mut seen = HashSet::new();
        for name in all().flat_map(|spec| spec.names) {
            assert!(seen.insert(name), "{name} stands twice");
        }
        // Everything that rsync 3.5.0's help lists, and the other spellings.
        assert!(seen.len() > 200, "{}", seen.len());
    }

    #[test]
    fn every_help_is_one_short_line() {
        for spec in all() {
            assert!(!spec.help.is_empty() && spec.help.len() < 70, "{}", spec.spelled());
            assert!(!spec.help.ends_with('.'), "{}", spec.spelled());
        }
    }
}
