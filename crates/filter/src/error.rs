//! What can be wrong with a rule, and where does it stand?

use std::fmt;
use std::io;

use bstr::{BStr, BString, ByteSlice};

/// A rule or a file of rules that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A rule breaks the grammar.
    #[error("filter rule {rule:?} in {origin}: {reason}")]
    Syntax {
        /// The rule as it was written.
        rule: BString,
        /// Where it stands.
        origin: Origin,
        /// What is wrong with it.
        reason: Reason,
    },
    /// A file of rules is missing or cannot be read.
    #[error("cannot read the filter file {path:?} named in {origin}: {source}")]
    Merge {
        /// The file.
        path: BString,
        /// Where it is named.
        origin: Origin,
        /// Why it cannot be read.
        source: io::Error,
    },
    /// A per-directory file of rules cannot be read.
    #[error("cannot read the filter file {path:?}: {source}")]
    Read {
        /// The file.
        path: BString,
        /// Why it cannot be read.
        source: io::Error,
    },
    /// More per-directory merge files than can be in force at once.
    #[error("filter file {path:?} adds to more than 256 per-directory merge files")]
    TooManyMerges {
        /// The file that asked for the last one.
        path: BString,
    },
    /// Merge files include each other without end.
    #[error("filter file {path:?} named in {origin} is included more than 32 files deep")]
    TooDeep {
        /// The file that was not read any more.
        path: BString,
        /// Where it is named.
        origin: Origin,
    },
    /// A rule cannot be expressed in the protocol that the far side speaks.
    #[error(
        "filter rule {rule:?} needs protocol 30 and the far side speaks {protocol}; \
         leave out its \"p\" modifier"
    )]
    TooNew {
        /// The rule as it would be sent.
        rule: BString,
        /// The protocol of this session.
        protocol: u32,
    },
}

impl Error {
    /// Gives rsync's line for this error.
    pub fn stock(&self) -> String {
        let Error::Syntax { rule, origin, reason } = self else {
            return match self {
                Error::Merge { path, source, .. } if source.kind() == io::ErrorKind::NotFound => {
                    let reason = "No such file or directory (2)";
                    format!("rsync: [client] failed to open exclude file {path}: {reason}")
                }
                error => error.to_string(),
            };
        };
        let place = match origin {
            Origin::File { path, line: 0 } => format!("<rule from {path}>"),
            Origin::File { path, line } => format!("<rule from {path} line {line}>"),
            Origin::Option | Origin::FarSide => rule.to_string(),
        };
        match reason {
            Reason::UnknownRule => format!("Unknown filter rule: {place}"),
            Reason::MissingPattern => format!("unexpected end of filter rule: {place}"),
            Reason::TrailingText => format!("'!' rule has trailing characters: {place}"),
            Reason::BadModifier(byte) => {
                let at = rule.find_byte(*byte).unwrap_or_default();
                let byte = char::from(*byte);
                format!("invalid modifier '{byte}' at position {at} in filter rule: {place}")
            }
            Reason::SideTwice | Reason::TooLong => self.to_string(),
        }
    }

    /// Gives rsync's exit code for this error.
    pub fn exit_code(&self) -> i32 {
        match self {
            Error::Syntax { .. } | Error::TooManyMerges { .. } => 1,
            Error::TooNew { .. } => 2,
            Error::Merge { .. } | Error::Read { .. } | Error::TooDeep { .. } => 11,
        }
    }
}

/// Where a rule stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An option.
    Option,
    /// The list that the far side sent.
    FarSide,
    /// A line of a file.
    File {
        /// The file's path.
        path: BString,
        /// The line, counted from 1; 0 where rules stand by the word.
        line: usize,
    },
}

impl Origin {
    pub(crate) fn line_of(path: &[u8], line: usize) -> Self {
        Origin::File { path: path.into(), line }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Option => f.write_str("an option"),
            Origin::FarSide => f.write_str("the far side's list"),
            Origin::File { path, line } => {
                let path: &BStr = path.as_bstr();
                match line {
                    0 => write!(f, "{path:?}"),
                    line => write!(f, "{path:?} line {line}"),
                }
            }
        }
    }
}

/// What is wrong with a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// It begins with no known rule name.
    #[error("no such rule; one of - + . : ! H S P R or its long name must stand first")]
    UnknownRule,
    /// A modifier does not exist or does not fit this rule.
    #[error("modifier {:?} is unknown or does not fit here", char::from(*.0))]
    BadModifier(u8),
    /// The pattern or file name is missing.
    #[error("the pattern is missing; it follows one blank or underscore")]
    MissingPattern,
    /// Something follows a rule that takes nothing.
    #[error("\"!\" takes no pattern")]
    TrailingText,
    /// A rule names a side although its file was merged for given sides.
    #[error("it names a side, and so does the rule that merges its file")]
    SideTwice,
    /// The rule or its pattern is longer than any rsync takes.
    #[error("it is too long")]
    TooLong,
}
