//! What can go wrong in a conversation, by whose fault?

use std::io;

use crate::escape::{printable, printable_start};
use crate::{exit, limits};

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure of the conversation, grouped by whose fault it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Bytes that have no meaning: a bad length, an unknown frame.
    #[error("garbled data from the far side: {0}")]
    Malformed(String),
    /// Well-formed values that the rules do not allow at this point.
    #[error("the far side broke the protocol: {0}")]
    Protocol(String),
    /// Something else than a protocol version came first on a remote shell.
    #[error("{}", not_rsync(seen))]
    NotRsync {
        /// The first bytes that came.
        seen: Vec<u8>,
    },
    /// Something else than a daemon's greeting came first on a daemon's port.
    #[error("{}", not_daemon(seen))]
    NotDaemon {
        /// The first line that came, or what there was of it.
        seen: Vec<u8>,
    },
    /// The far side's rsync is older than what this program speaks.
    #[error(
        "the far side's rsync is too old: it speaks protocol {peer}, and at least {min} is needed; \
         install rsync 2.6.4 or later there",
        min = limits::PROTOCOL_MIN
    )]
    TooOld {
        /// The peer's protocol version.
        peer: u32,
    },
    /// No algorithm that both sides have.
    #[error(
        "no {what} in common with the far side: here \"{ours}\", there \"{theirs}\"; \
         choose one that both have"
    )]
    NoCommon {
        /// What was negotiated.
        what: &'static str,
        /// The names offered here.
        ours: String,
        /// The names offered there, made printable.
        theirs: String,
    },
    /// Something that this side will not do.
    #[error("{0}")]
    Refused(String),
    /// The daemon refused; its own words, made printable.
    #[error("the rsync daemon refused: {0}")]
    Daemon(String),
    /// The daemon did not accept user and password; its own words, made printable.
    #[error("the rsync daemon did not accept user and password: {0}")]
    Auth(String),
    /// The connection ended in the middle.
    #[error("the far side closed the connection before the end of the session")]
    Closed,
    /// Reading from or writing to the connection failed.
    #[error("connection failed: {0}")]
    Io(#[source] io::Error),
}

impl Error {
    /// Returns the exit code that rsync has for such a failure (see [`exit`]).
    pub fn exit_code(&self) -> i32 {
        match self {
            Error::Malformed(_) | Error::Closed => exit::STREAM,
            Error::Protocol(_) | Error::NotRsync { .. } | Error::TooOld { .. } => exit::PROTOCOL,
            Error::NoCommon { .. } | Error::Refused(_) => exit::UNSUPPORTED,
            Error::Daemon(_) | Error::Auth(_) | Error::NotDaemon { .. } => exit::START,
            Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => exit::TIMEOUT,
            Error::Io(_) => exit::SOCKET,
        }
    }
}

/// Takes back an [`Error`] that travelled through `impl Read` as an `io::Error`.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof {
            return Error::Closed;
        }
        match error.downcast::<Error>() {
            Ok(ours) => ours,
            Err(error) => Error::Io(error),
        }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Io(error) => error,
            Error::Closed => io::ErrorKind::UnexpectedEof.into(),
            other => io::Error::other(other),
        }
    }
}

fn not_rsync(seen: &[u8]) -> String {
    format!(
        "the far side sent text instead of an rsync protocol version: \"{}\"; \
         its shell start-up files print something (`ssh HOST true` must print nothing), \
         or no rsync was started there",
        printable_start(seen, limits::NOISE_SHOWN)
    )
}

fn not_daemon(seen: &[u8]) -> String {
    if seen.is_empty() {
        return "the far side closed the connection without a greeting; is an rsync daemon \
                listening on that port?"
            .into();
    }
    format!(
        "the far side did not greet as an rsync daemon does, but sent \"{}\"; check host and port",
        printable(seen)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_before_the_protocol_is_shown_escaped_with_what_to_do() {
        let seen = b"Welcome to \x1b[1mnas\n".to_vec();
        let text = Error::NotRsync { seen }.to_string();
        assert!(text.contains("\"Welcome to \\x1b[1mnas\\n\""), "{text}");
        assert!(text.contains("start-up files"), "{text}");
    }

    #[test]
    fn an_error_survives_the_way_through_a_reader() {
        let there = io::Error::from(Error::Malformed("frame".into()));
        assert!(matches!(Error::from(there), Error::Malformed(text) if text == "frame"));
        assert!(matches!(Error::from(io::Error::from(Error::Closed)), Error::Closed));
    }

    #[test]
    fn the_exit_codes_are_those_of_rsync() {
        let timed_out = Error::Io(io::ErrorKind::TimedOut.into());
        assert_eq!(timed_out.exit_code(), 30);
        assert_eq!(Error::Io(io::ErrorKind::ConnectionReset.into()).exit_code(), 10);
        assert_eq!(Error::TooOld { peer: 27 }.exit_code(), 2);
        assert_eq!(Error::Daemon(String::new()).exit_code(), 5);
        assert_eq!(Error::Closed.exit_code(), 12);
    }
}
