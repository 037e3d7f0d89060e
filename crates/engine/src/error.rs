//! What ends a transfer, and by whose fault.

use std::io;
use std::os::unix::ffi::OsStrExt;

use wire::escape::printable;

use crate::destination::absolute;
use crate::trouble::Doing;

/// Why a transfer could not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The far side's bytes were not the protocol, or it broke a rule.
    #[error(transparent)]
    Wire(#[from] wire::Error),
    /// A source directory could not be opened at all.
    #[error(transparent)]
    Tree(#[from] tree::Error),
    /// A filter rule is wrong or cannot be sent to this peer.
    #[error(transparent)]
    Filter(#[from] filter::Error),
    /// A codec failed.
    #[error(transparent)]
    Codec(#[from] delta::Error),
    /// The connection broke while we were writing.
    #[error("connection lost while sending: {0}")]
    Send(#[source] io::Error),
    /// The far side gave up and told its exit code.
    #[error("the far side gave up with code {0} ({text})", text = wire::exit::describe(*.0))]
    FarExit(i32),
    /// The option asks for more than the negotiated protocol can carry.
    #[error("{option} requires protocol {needed} or higher (negotiated {protocol}).")]
    NeedsProtocol {
        /// The option in its long form.
        option: &'static str,
        /// The lowest protocol that carries it.
        needed: u32,
        /// The protocol of this session.
        protocol: u32,
    },
    /// The destination could not be opened or made.
    #[error(transparent)]
    Destination(tree::Error),
    /// The system gave no random bytes for temporary names.
    #[error("cannot make a random name: {0}")]
    Random(#[source] io::Error),
    /// A file could not be written to its end.
    #[error("cannot write: {0}")]
    Write(#[source] io::Error),
    /// More than one file is to be written into what is no directory.
    #[error("the destination {} is no directory, and more than one file comes", .0.display())]
    NotADirectory(std::path::PathBuf),
    /// What an option names cannot be used.
    #[error("{text}")]
    Option {
        /// rsync's line.
        text: String,
        /// rsync's exit code.
        code: i32,
    },
    /// An argument that cannot be sent in any case.
    #[error("{0}")]
    Argument(String),
    /// What went wrong was told to our client over the connection, with this exit code.
    #[error("the client was told why ({text})", text = wire::exit::describe(*.0))]
    Told(i32),
    /// The sender lists a name that it should not.
    #[error("the sender lists {}, which is {what}", printable(name))]
    Unasked {
        /// The name.
        name: Vec<u8>,
        /// `unrequested`, or `excluded` by our own rules.
        what: &'static str,
    },
    /// None of the sources is there.
    #[error("none of the sources exists: nothing to send")]
    NothingToSend,
}

/// The result of a step of a transfer.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Tells whether a receiving side met it before it went through the first file list, where
    /// rsync calls that side `Receiver`.
    pub fn is_early(&self) -> bool {
        match self {
            Self::Destination(error) => error.operation() != "write",
            Self::NotADirectory(_) | Self::Option { .. } | Self::Unasked { .. } => true,
            _ => false,
        }
    }

    /// Tells whether the connection is what failed, so that there is nobody to be told.
    pub(crate) fn is_broken_connection(&self) -> bool {
        match self {
            Self::Send(_) | Self::FarExit(_) => true,
            Self::Wire(error) => matches!(error, wire::Error::Closed | wire::Error::Io(_)),
            _ => false,
        }
    }

    /// Prefers the reason that the far side gave over the broken stream that it left.
    ///
    /// Where we gave up ourselves, its giving up is but the echo of that.
    pub(crate) fn or_far_exit(self, exit: Option<i32>) -> Self {
        match exit {
            Some(code) if self.is_broken_connection() => Self::FarExit(code),
            _ => self,
        }
    }

    /// Returns rsync's line for it, without the line end; `who` is rsync's name for the part that
    /// met it.
    pub fn stock(&self, who: &str) -> Vec<u8> {
        match self {
            Self::NotADirectory(_) => {
                b"ERROR: destination must be a directory when copying more than 1 file".to_vec()
            }
            Self::Destination(error) => {
                let who = if self.is_early() { "Receiver" } else { "receiver" };
                line(who, Doing::of_destination(error), error)
            }
            Self::Tree(error) => line("sender", Doing::CHANGE_DIR, error),
            Self::Argument(text) => text.clone().into_bytes(),
            Self::Filter(error) => error.stock().into_bytes(),
            Self::Unasked { name, what } => {
                [format!("ERROR: rejecting {what} file-list name: ").as_bytes(), name].concat()
            }
            Self::NeedsProtocol { .. } | Self::Option { .. } => self.to_string().into_bytes(),
            error => format!("rsync: [{who}] {error}").into_bytes(),
        }
    }

    /// Returns rsync's exit code for it.
    pub fn exit_code(&self) -> i32 {
        match self {
            Self::Wire(error) => error.exit_code(),
            Self::Tree(_) | Self::NotADirectory(_) => wire::exit::FILE_SELECTION,
            Self::Destination(error) if !Doing::of_destination(error).writes() => {
                wire::exit::FILE_SELECTION
            }
            Self::Unasked { .. } => wire::exit::UNSUPPORTED,
            Self::Random(_) | Self::Write(_) | Self::Destination(_) => wire::exit::FILE_IO,
            Self::Filter(error) => error.exit_code(),
            Self::NeedsProtocol { .. } => wire::exit::PROTOCOL,
            Self::Codec(_) => wire::exit::STREAM,
            Self::Send(_) => wire::exit::SOCKET,
            Self::FarExit(code) | Self::Told(code) | Self::Option { code, .. } => *code,
            Self::Argument(_) => wire::exit::SYNTAX,
            Self::NothingToSend => wire::exit::PARTIAL,
        }
    }
}

fn line(who: &str, doing: Doing, error: &tree::Error) -> Vec<u8> {
    let path = absolute(error.path());
    doing.line(who, path.as_os_str().as_bytes(), error.reason())
}
