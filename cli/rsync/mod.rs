//! `repl rsync`, or the program called by the name `rsync`: rsync's own command line.

mod batch;
mod glob;
mod operands;
mod output;
mod remote;
mod run;
mod server;
mod stock_words;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use wire::option_table::help;
use wire::options::{Ask, Line, Side, parse_line};

use crate::surroundings::variable;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Does what the words ask for and returns rsync's exit code.
pub(crate) fn run(words: &[OsString]) -> i32 {
    let words: Vec<Vec<u8>> = words.iter().cloned().map(OsString::into_vec).collect();
    // A client names the server first of all, and what follows is no command line of a person.
    if let Some((first, rest)) = words.split_first()
        && first == b"--server"
    {
        return server::run(rest);
    }
    let found = |name: &str| variable(name).map(OsStringExt::into_vec);
    let line = match parse_line(&words, &found) {
        Ok(line) => line,
        Err(error) => {
            eprintln!("{}", error.stock_line(Side::Client));
            return run::refused(error.exit_code(), "client");
        }
    };
    match line.ask {
        Ask::Transfer if !has_operands(&line) => {
            eprint!("{}", help::help("rsync", VERSION));
            run::refused(wire::exit::SYNTAX, "client")
        }
        Ask::Transfer => run::transfer(line, &words),
        Ask::Server => server::run(&words),
        Ask::Daemon => {
            eprintln!("rsync: this version is no daemon yet");
            run::refused(wire::exit::UNSUPPORTED, "client")
        }
        Ask::Help => shown(&help::help("rsync", VERSION)),
        Ask::Version => shown(&help::version(VERSION)),
        Ask::VersionJson => shown(&help::version_json(VERSION)),
        Ask::InfoHelp => shown(&help::info_help()),
        Ask::DebugHelp => shown(&help::debug_help()),
    }
}

/// A list of names is about one source.
fn has_operands(line: &Line) -> bool {
    let most = if line.options.files_from.is_some() { 2 } else { usize::MAX };
    (1..=most).contains(&line.operands.len())
}

fn shown(text: &str) -> i32 {
    print!("{text}");
    wire::exit::OK
}
