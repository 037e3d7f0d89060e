//! Which words `repl` understands: its own, and those of rsync's that a push or a pull takes.
//!
//! rsync's options come from the one table of them; their order is kept, for filter rules mean
//! nothing without it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use clap::{Arg, ArgAction, ArgMatches, Command};
use wire::option_table::{OPTION_GROUPS, OptionSpec, Status};

use crate::exit;
use crate::request::Verb;

/// Options of rsync that mean something else here.
const OWN: [&str; 2] = ["config", "help"];

/// Describes the whole command line.
pub(crate) fn command() -> Command {
    Command::new("repl")
        .about("Keeps a second machine a faithful copy of the first, over the rsync protocol")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(copy(Verb::Push))
        .subcommand(copy(Verb::Pull))
        .subcommand(
            Command::new("rsync")
                .about("Does what rsync does, with rsync's own command line")
                .override_usage("repl rsync [OPTION]... SRC [SRC]... DEST")
                .disable_help_flag(true),
        )
}

fn copy(verb: Verb) -> Command {
    let (name, about, usage, place, names) = match verb {
        Verb::Push => (
            "push",
            "Copies sources, or the jobs of a target, to another machine or a disk",
            "repl push [OPTIONS] --to TARGET [JOB...]\n       \
             repl push [OPTIONS] --to HOST:PATH|HOST::MODULE/PATH|rsync://HOST/MODULE/PATH|/PATH \
             SOURCE...",
            "Where to: a target of the configuration, host:path, host::module/path, rsync:// or a path",
            "Jobs of the target; or paths, which have a slash or stand behind --",
        ),
        Verb::Pull => (
            "pull",
            "Fetches a path, or the jobs of a target, from another machine or a disk",
            "repl pull [OPTIONS] --from TARGET [JOB...]\n       \
             repl pull [OPTIONS] --from HOST:PATH|HOST::MODULE/PATH|rsync://HOST/MODULE/PATH|/PATH \
             DEST",
            "Where from: a target of the configuration, host:path, host::module/path, rsync:// or a path",
            "Jobs of the target; or the directory that gets the copy",
        ),
    };
    let mut command = Command::new(name)
        .about(about)
        .override_usage(usage)
        .after_help(exit_codes())
        .disable_help_flag(true)
        .arg(
            Arg::new(verb.option())
                .long(verb.option())
                .value_name("PLACE")
                .value_parser(clap::value_parser!(OsString))
                .required(true)
                .help(place),
        )
        .arg(
            Arg::new("config")
                .long("config")
                .value_name("FILE")
                .value_parser(clap::value_parser!(OsString))
                .help("The configuration to read"),
        )
        .arg(flag("json", "Tells everything as JSON, one object a line"))
        .arg(flag("no-default-excludes", "Takes in @eaDir/, #recycle/, #snapshot/ and .repl/"))
        .arg(Arg::new("help").long("help").action(ArgAction::Help).help("Shows this help"))
        .arg(
            Arg::new("names")
                .value_name(if verb == Verb::Push { "JOB or SOURCE" } else { "JOB or DEST" })
                .num_args(0..)
                .value_parser(clap::value_parser!(OsString))
                .help(names),
        );
    for (group, options) in OPTION_GROUPS {
        for spec in options.iter().filter(|spec| is_rsyncs(spec)) {
            command = command.args(rsync_args(group, spec));
        }
    }
    command
}

fn is_rsyncs(spec: &OptionSpec) -> bool {
    OWN.iter().all(|own| !spec.names.contains(own))
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// One option of rsync, and `--no-NAME` where there is such a thing.
fn rsync_args(group: &'static str, spec: &'static OptionSpec) -> Vec<Arg> {
    let mut args = vec![rsync_arg(group, spec)];
    if spec.negatable() {
        let mut negated = occurrence(Arg::new(format!("no-{}", spec.names[0])).hide(true));
        let names = spec.names.iter().map(|name| format!("no-{name}"));
        let mut names = names.filter(|name| !is_taken(name));
        if let Some(first) = names.next() {
            negated = negated.long(first).aliases(names);
            args.push(negated);
        }
    }
    args
}

/// A name that begins with `no-` in the table itself.
fn is_taken(name: &str) -> bool {
    let mut all = OPTION_GROUPS.iter().flat_map(|(_, options)| options.iter());
    all.any(|spec| spec.names.contains(&name))
}

fn rsync_arg(group: &'static str, spec: &'static OptionSpec) -> Arg {
    // What does not work yet is known all the same, so that it is refused by name.
    let hidden = spec.status != Status::Works;
    let mut arg = Arg::new(spec.names[0]).help(spec.help).hide(hidden);
    arg = arg.help_heading(format!("rsync: {group}"));
    arg = match spec.value {
        Some(value) => arg
            .value_name(value)
            .action(ArgAction::Append)
            .value_parser(clap::value_parser!(OsString))
            .allow_hyphen_values(true)
            .num_args(1),
        None => occurrence(arg),
    };
    let (letters, words): (Vec<&str>, Vec<&str>) =
        spec.names.iter().partition(|name| name.chars().count() == 1);
    let mut letters = letters.iter().filter_map(|letter| letter.chars().next());
    if let Some(letter) = letters.next() {
        arg = arg.short(letter).short_aliases(letters);
    }
    let mut words = words.into_iter();
    if let Some(word) = words.next() {
        arg = arg.long(word).aliases(words);
    }
    arg
}

/// An option without a value whose every occurrence counts.
fn occurrence(arg: Arg) -> Arg {
    arg.action(ArgAction::Append)
        .num_args(0)
        .default_missing_value("")
        .value_parser(clap::value_parser!(OsString))
}

/// Returns rsync's options as words, in the order in which they were given.
pub(crate) fn rsync_words(matches: &ArgMatches) -> Vec<Vec<u8>> {
    let mut words = Vec::new();
    let specs = OPTION_GROUPS.iter().flat_map(|(_, options)| options.iter());
    for spec in specs.filter(|spec| is_rsyncs(spec)) {
        collect(matches, spec.names[0], &spelled(spec.names[0]), &mut words);
        let negated = format!("no-{}", spec.names[0]);
        collect(matches, &negated, &format!("--{negated}"), &mut words);
    }
    words.sort_by_key(|(index, _)| *index);
    words.into_iter().flat_map(|(_, words)| words).collect()
}

fn spelled(name: &str) -> String {
    let dashes = if name.chars().count() == 1 { "-" } else { "--" };
    format!("{dashes}{name}")
}

fn collect(matches: &ArgMatches, id: &str, spelled: &str, words: &mut Vec<(usize, Vec<Vec<u8>>)>) {
    let Ok(Some(values)) = matches.try_get_many::<OsString>(id) else {
        return;
    };
    let indices = matches.indices_of(id).into_iter().flatten();
    for (index, value) in indices.zip(values) {
        let value = value.clone().into_vec();
        let mut pair = vec![spelled.as_bytes().to_vec()];
        if !value.is_empty() || has_value(id) {
            pair.push(value);
        }
        words.push((index, pair));
    }
}

fn has_value(id: &str) -> bool {
    let mut all = OPTION_GROUPS.iter().flat_map(|(_, options)| options.iter());
    all.any(|spec| spec.names[0] == id && spec.value.is_some())
}

fn exit_codes() -> String {
    let lines = exit::CODES.iter().map(|code| format!("  {:>3}  {}", code.code, code.meaning));
    let lines: Vec<String> = lines.collect();
    format!("Exit codes, those of rsync:\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(arguments: &[&str]) -> Vec<String> {
        let all = ["repl", "push", "--to", "t"].iter().chain(arguments);
        let matches = command().try_get_matches_from(all).unwrap();
        let (_, push) = matches.subcommand().unwrap();
        let words = rsync_words(push).into_iter();
        words.map(|word| String::from_utf8(word).unwrap()).collect()
    }

    #[test]
    fn the_description_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn the_order_of_rsync_words_is_kept() {
        let seen = words(&["--exclude=a", "-vn", "--include", "b", "--exclude", "c", "-v"]);
        let expected = "--exclude a --verbose --dry-run --include b --exclude c --verbose";
        assert_eq!(seen.join(" "), expected);
    }

    #[test]
    fn what_begins_with_a_dash_can_be_a_value() {
        assert_eq!(
            words(&["--filter", "- *.o", "--no-xattrs"]).join("|"),
            "--filter|- *.o|--no-xattrs"
        );
    }
}
