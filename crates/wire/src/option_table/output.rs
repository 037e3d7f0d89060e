//! Which options choose what a person gets to see?

use super::selection::{local_path, raised};
use super::{OptionSpec, Rejection, ask, flag, switch, valued};
use crate::escape::printable;
use crate::options::{Ask, Debug, Info, OptionError, Options, OutBuf, StderrMode, level_words};

/// rsync tells the far side no more than this.
const VERBOSE_MAX: u8 = 9;

const COMMAND_LINE: &str = "it belongs on the command line";

pub(super) const OPTIONS: &[OptionSpec] = &[
    switch(&["verbose", "v"], "say more", |o, on| {
        o.verbose = raised(o.verbose, on, VERBOSE_MAX);
    }),
    flag(&["quiet", "q"], "say errors only", |o| o.quiet = true),
    switch(&["motd"], "show the daemon's message of the day", |o, on| o.no_motd = !on),
    valued(&["info"], "FLAGS", "choose what is said", |o, text| {
        level_words("--info", &Info::WORDS, text)?;
        o.info.push(text.to_vec());
        Ok(())
    })
    .not_in_config(COMMAND_LINE),
    valued(&["debug"], "FLAGS", "choose what is said for debugging", |o, text| {
        level_words("--debug", &Debug::WORDS, text)?;
        o.debug.push(text.to_vec());
        Ok(())
    })
    .not_in_config(COMMAND_LINE),
    valued(&["stderr"], "e|a|c", "choose what goes to stderr", stderr).not_in_config(COMMAND_LINE),
    switch(&["msgs2stderr"], "all messages go to stderr", |o, on| {
        o.stderr = if on { StderrMode::All } else { StderrMode::Client };
    })
    .not_in_config(COMMAND_LINE),
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
    valued(&["log-file-format"], "FMT", "the form of its lines", |o, text| {
        o.log_file_format = Some(text.to_vec());
        Ok(())
    }),
    valued(&["out-format", "log-format"], "FORMAT", "the form of the output's lines", |o, text| {
        o.out_format = Some(text.to_vec());
        Ok(())
    })
    .not_in_config(COMMAND_LINE),
    switch(&["progress"], "show progress", |o, on| o.progress = on).not_in_config(COMMAND_LINE),
    flag(&["P"], "same as --partial --progress", |o| {
        o.partial = true;
        o.progress = true;
    })
    .not_in_config(COMMAND_LINE),
    switch(&["8-bit-output", "8"], "do not escape letters beyond ASCII", |o, on| {
        o.eight_bit_output = on;
    }),
    valued(&["outbuf"], "N|L|B", "the buffering of the output", outbuf).not_in_config(COMMAND_LINE),
    flag(&["list-only"], "list the files and copy nothing", |o| {
        o.list_only = true;
        o.said.list_only = true;
    })
    .rsync_only("a push copies"),
    ask(&["version", "V"], "show the version", Ask::Version, "`repl --version` shows it")
        .not_in_config(COMMAND_LINE),
    ask(&["help"], "show this help", Ask::Help, "`repl --help` shows it")
        .not_in_config(COMMAND_LINE),
];

/// Takes the first letters of a mode's name.
fn stderr(options: &mut Options, text: &[u8]) -> Result<(), Rejection> {
    let begins = |mode: &str| !text.is_empty() && mode.as_bytes().starts_with(text);
    options.stderr = match () {
        () if begins("errors") => StderrMode::Errors,
        () if begins("all") => StderrMode::All,
        () if begins("client") => StderrMode::Client,
        () => {
            let shown = printable(text);
            let text = format!("--stderr mode \"{shown}\" is not one of errors, all, or client");
            return Err(OptionError::Invalid(text).into());
        }
    };
    Ok(())
}

fn outbuf(options: &mut Options, text: &[u8]) -> Result<(), Rejection> {
    options.outbuf = Some(match text.first() {
        Some(b'N' | b'n' | b'U' | b'u') => OutBuf::None,
        Some(b'L' | b'l') => OutBuf::Line,
        Some(b'B' | b'b' | b'F' | b'f') => OutBuf::Block,
        _ => {
            let text = "Invalid --outbuf setting -- specify N, L, or B.".to_string();
            return Err(OptionError::Invalid(text).into());
        }
    });
    Ok(())
}
