//! `repl`: arguments in, words and colours out, exit codes.

mod args;
mod ask;
mod exit;
mod itemize;
mod push;
mod report;
mod rsync;
mod signals;

use std::process::ExitCode;

fn main() -> ExitCode {
    let matches = match args::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => {
            // Help and version go to stdout and are a success; wrong usage is rsync's code 1.
            let code = u8::from(error.use_stderr());
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let done = match matches.subcommand() {
        Some(("push", matches)) => push::run(matches),
        _ => Ok(wire::exit::SYNTAX),
    };
    let code = done.unwrap_or_else(|error| {
        eprintln!("error: {error:#} (code {})", wire::exit::SYNTAX);
        wire::exit::SYNTAX
    });
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}
