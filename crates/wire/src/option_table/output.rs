//! Which options choose what a person gets to see?

use super::selection::{local_path, raised};
use super::{OptionSpec, flag, never, not_yet, not_yet_valued, switch, valued};

/// rsync tells the far side no more than this.
const VERBOSE_MAX: u8 = 9;

const COMMAND_LINE: &str = "it belongs on the command line";

pub(super) const OPTIONS: &[OptionSpec] = &[
    switch(&["verbose", "v"], "say more", |o, on| {
        o.verbose = raised(o.verbose, on, VERBOSE_MAX);
    }),
    flag(&["quiet", "q"], "say errors only", |o| o.quiet = true),
    not_yet(&["motd"], "show the daemon's message of the day"),
    not_yet_valued(&["info"], "FLAGS", "choose what is said"),
    not_yet_valued(&["debug"], "FLAGS", "choose what is said for debugging"),
    not_yet_valued(&["stderr"], "MODE", "choose what goes to stderr"),
    not_yet(&["msgs2stderr"], "all messages go to stderr"),
    flag(&["dry-run", "n"], "change nothing", |o| o.dry_run = true).not_in_config(COMMAND_LINE),
    switch(&["itemize-changes", "i"], "list all changes", |o, on| {
        o.itemize = raised(o.itemize, on, 2);
    }),
    flag(&["stats"], "tell numbers at the end", |o| o.stats = true),
    switch(&["human-readable", "h"], "numbers that people can read", |o, on| {
        o.human_readable = raised(o.human_readable, on, 4);
    }),
    valued(&["log-file"], "FILE", "write a log to FILE", |o, text| {
        o.log_file = Some(local_path(text)?);
        Ok(())
    }),
    not_yet_valued(&["log-file-format"], "FMT", "the form of its lines"),
    not_yet_valued(&["out-format", "log-format"], "FORMAT", "the form of the output's lines"),
    not_yet(&["progress"], "show progress"),
    not_yet(&["P"], "same as --partial --progress"),
    not_yet(&["8-bit-output", "8"], "do not escape letters beyond ASCII"),
    not_yet_valued(&["outbuf"], "N|L|B", "the buffering of the output"),
    not_yet(&["list-only"], "list the files and copy nothing"),
    never(&["version", "V"], None, "show the version", "`repl --version` shows it")
        .not_in_config(COMMAND_LINE),
    never(&["help"], None, "show the help", "`repl --help` shows it").not_in_config(COMMAND_LINE),
];
