//! What can go wrong before and after a run, and whose fault is it?

use std::io;
use std::path::PathBuf;

use crate::config::Problem;

/// The exit code for a wrong configuration, rsync's for wrong usage.
const WRONG_USAGE: i32 = wire::exit::SYNTAX;

/// Is a failure of the configuration or of what is kept between runs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration says something that cannot be obeyed.
    #[error("{}", drawn(.problems))]
    Config {
        /// What is wrong, in the order of the file; never empty.
        problems: Vec<Problem>,
    },
    /// There is no configuration.
    #[error(
        "no configuration found: {} not there; write one, or name one with --config",
        tried_places(.tried)
    )]
    NoConfig {
        /// Where it was looked for.
        tried: Vec<PathBuf>,
    },
    /// A name that the configuration does not have.
    #[error("no {what} is called \"{name}\"{}", instead(.nearest, .known))]
    Unknown {
        /// `job` or `target`.
        what: &'static str,
        /// The name, made printable.
        name: String,
        /// The name that was probably meant.
        nearest: Option<String>,
        /// All names there are.
        known: Vec<String>,
    },
    /// A file could not be read or written.
    #[error("cannot {op} {}: {source}", path.display())]
    Io {
        /// What was tried.
        op: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// Returns rsync's exit code for it.
    pub fn exit_code(&self) -> i32 {
        match self {
            Error::Config { .. } | Error::NoConfig { .. } | Error::Unknown { .. } => WRONG_USAGE,
            Error::Io { op: "read", .. } => WRONG_USAGE,
            Error::Io { .. } => wire::exit::FILE_IO,
        }
    }

    pub(crate) fn io(op: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Error {
        let path = path.into();
        Error::Io { op, path, source }
    }
}

fn drawn(problems: &[Problem]) -> String {
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n\n")
}

fn tried_places(tried: &[PathBuf]) -> String {
    let places: Vec<String> = tried.iter().map(|path| path.display().to_string()).collect();
    let verb = if places.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", places.join(" and "))
}

fn instead(nearest: &Option<String>, known: &[String]) -> String {
    match nearest {
        Some(nearest) => format!(", did you mean \"{nearest}\"?"),
        None if known.is_empty() => "; the configuration has none".to_string(),
        None => format!("; there are {}", known.join(", ")),
    }
}
