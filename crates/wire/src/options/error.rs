//! Why could a word not become an option, and how does rsync say so?

use crate::exit;

/// Is a word of the command line or the configuration that cannot be obeyed.
///
/// The text is what rsync prints behind `rsync: `; for the whole line see
/// [`OptionError::stock_line`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionError {
    /// No rsync has such an option.
    #[error("{option}: unknown option{}", suggestion(.nearest))]
    Unknown {
        /// The word as typed.
        option: String,
        /// The option that was probably meant.
        nearest: Option<String>,
    },
    /// The value is missing.
    #[error("{option}: missing argument")]
    MissingValue {
        /// The word as typed.
        option: String,
    },
    /// A value is too much.
    #[error("{option}: option does not take an argument")]
    UnexpectedValue {
        /// The word as typed.
        option: String,
    },
    /// The value is no number.
    #[error("{word}: {why}")]
    BadNumber {
        /// The word that holds the number, as typed.
        word: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// It will not be done here.
    #[error("{option} cannot be used here: {why}")]
    Refused {
        /// The option's name.
        option: String,
        /// Why not, and what to do instead.
        why: String,
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
    /// Options exclude each other, or a value makes no sense, in rsync's own words.
    #[error("{0}")]
    Invalid(String),
    /// The same, where rsync does not begin with its name.
    #[error("{text}")]
    Plain {
        /// What is wrong.
        text: String,
        /// rsync's exit code for it.
        code: i32,
    },
}

/// Tells who found the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The process that the user started.
    Client,
    /// The one that runs with `--server`.
    Server,
}

impl OptionError {
    /// Returns rsync's exit code for it.
    pub fn exit_code(&self) -> i32 {
        match self {
            OptionError::Plain { code, .. } => *code,
            _ => exit::SYNTAX,
        }
    }

    /// Leaves the guess out: rsync makes none.
    pub(crate) fn without_guess(self) -> OptionError {
        match self {
            OptionError::Unknown { option, .. } => OptionError::Unknown { option, nearest: None },
            other => other,
        }
    }

    /// Returns the line that rsync prints for it, without its LF.
    pub fn stock_line(&self, side: Side) -> String {
        let by_its_syntax = matches!(
            self,
            OptionError::Unknown { .. }
                | OptionError::MissingValue { .. }
                | OptionError::UnexpectedValue { .. }
                | OptionError::BadNumber { .. }
        );
        match (self, side) {
            (OptionError::Plain { text, .. }, _) => text.clone(),
            (_, Side::Server) if by_its_syntax => format!("rsync: on remote machine: {self}"),
            _ => format!("rsync: {self}"),
        }
    }
}

fn suggestion(nearest: &Option<String>) -> String {
    match nearest {
        Some(nearest) => format!(", did you mean {nearest}?"),
        None => String::new(),
    }
}
