//! `repl`: arguments in, words and colours out, exit codes.

mod args;
mod ask;
mod exit;
mod itemize;
mod report;
mod request;
mod rsync;
mod run;
mod signals;
mod surroundings;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use request::Verb;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let code = match rsync_words(&words) {
        Some(words) => rsync::run(words),
        None => native(&words),
    };
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

/// Returns rsync's own words, where the program is called by the name `rsync` or as `repl rsync`.
fn rsync_words(words: &[OsString]) -> Option<&[OsString]> {
    let (program, rest) = words.split_first()?;
    if Path::new(program).file_name().is_some_and(|name| name == "rsync") {
        return Some(rest);
    }
    let (command, rest) = rest.split_first()?;
    (command == "rsync").then_some(rest)
}

fn native(words: &[OsString]) -> i32 {
    let matches = match args::command().try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) => {
            // Help and version go to stdout and are a success; wrong usage is rsync's code 1.
            let _ = error.print();
            return if error.use_stderr() { wire::exit::SYNTAX } else { wire::exit::OK };
        }
    };
    let done = match matches.subcommand() {
        Some(("push", matches)) => run::run(Verb::Push, matches),
        Some(("pull", matches)) => run::run(Verb::Pull, matches),
        _ => Ok(wire::exit::SYNTAX),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#} (code {})", wire::exit::SYNTAX);
        wire::exit::SYNTAX
    })
}
