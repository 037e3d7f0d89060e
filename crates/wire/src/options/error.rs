//! Why could a word not become an option, and what is to be done?

use crate::exit;

/// Is a word of the command line or the configuration that cannot be obeyed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionError {
    /// No rsync has such an option.
    #[error("unknown option {option}{}", suggestion(.nearest))]
    Unknown {
        /// The option as typed.
        option: String,
        /// The option that was probably meant.
        nearest: Option<String>,
    },
    /// rsync has it, this version does not do it.
    #[error("{option} is known from rsync but this version does not do it yet; leave it out")]
    NotYet {
        /// The option's name.
        option: String,
    },
    /// It will not be done here.
    #[error("{option} cannot be used here: {why}")]
    Refused {
        /// The option's name.
        option: String,
        /// Why not, and what to do instead.
        why: String,
    },
    /// The value is missing.
    #[error("{option} needs a value ({placeholder})")]
    MissingValue {
        /// The option's name.
        option: String,
        /// What the value is called in the help.
        placeholder: &'static str,
    },
    /// A value is too much.
    #[error("{option} does not take a value")]
    UnexpectedValue {
        /// The option's name.
        option: String,
    },
    /// The value makes no sense.
    #[error("{option}={value} {why}")]
    BadValue {
        /// The option's name.
        option: String,
        /// The value, made printable.
        value: String,
        /// What is wrong with it.
        why: String,
    },
    /// The checksum or the compression is one that nobody here knows.
    #[error("{option}={value} is not known here; known are {known}")]
    UnknownAlgorithm {
        /// The option's name.
        option: String,
        /// The value, made printable.
        value: String,
        /// All names that would do.
        known: String,
    },
    /// Two options exclude each other.
    #[error("{0}")]
    Conflict(String),
}

impl OptionError {
    /// Returns rsync's exit code for it.
    pub fn exit_code(&self) -> i32 {
        match self {
            OptionError::UnknownAlgorithm { .. } => exit::UNSUPPORTED,
            _ => exit::SYNTAX,
        }
    }
}

fn suggestion(nearest: &Option<String>) -> String {
    match nearest {
        Some(nearest) => format!(", did you mean {nearest}?"),
        None => String::new(),
    }
}
