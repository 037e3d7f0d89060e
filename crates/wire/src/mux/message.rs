//! Which messages are there beside the data, and which of them are well-formed?

use crate::error::{Error, Result};
use crate::{exit, limits};

/// The tags of frames.
pub mod tag {
    /// Bytes of the data stream.
    pub const DATA: u8 = 0;
    /// An error text about a file; the session ends with "partial".
    pub const ERROR_XFER: u8 = 1;
    /// A text for standard output.
    pub const INFO: u8 = 2;
    /// An error text (protocol 30 on).
    pub const ERROR: u8 = 3;
    /// A warning text (protocol 30 on).
    pub const WARNING: u8 = 4;
    /// I/O error bits of the sender (protocol 30 on).
    pub const IO_ERROR: u8 = 22;
    /// A daemon's time limit in seconds (protocol 31 on).
    pub const IO_TIMEOUT: u8 = 33;
    /// A keep-alive of rsync 3.0.
    pub const NOOP: u8 = 42;
    /// The peer ends with an exit code (protocol 31 on).
    pub const ERROR_EXIT: u8 = 86;
    /// A file has arrived, so that the sender may remove it.
    pub const SUCCESS: u8 = 100;
    /// The receiving server deleted something.
    pub const DELETED: u8 = 101;
    /// The sender cannot send a file that was asked for (protocol 30 on).
    pub const NO_SEND: u8 = 102;
}

/// Something said beside the data stream.
///
/// `IoError` and `NoSend` come from a sender only, `Success` and `Deleted` from a receiver only;
/// whoever handles a message refuses what its peer's role does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// A text for the user, raw bytes of the peer: escape it before it is shown.
    Text {
        /// What kind of text it is.
        kind: TextKind,
        /// The bytes, mostly with a LF at the end.
        text: Vec<u8>,
    },
    /// I/O error bits: 1 general, 2 vanished, 4 limit of deletions; other bits are masked away.
    IoError(i32),
    /// The peer's time limit in seconds, 1 to 86,400.
    IoTimeout(u32),
    /// A keep-alive; a sender answers it with its own.
    Noop,
    /// The peer ends with this exit code (1 to 255), or has answered our own ending.
    ErrorExit(Option<i32>),
    /// The file of this index is safe at the receiver.
    Success(i32),
    /// The receiver deleted this name.
    Deleted {
        /// The name relative to the destination, not empty, without NUL.
        name: Vec<u8>,
        /// Whether it was a directory.
        is_dir: bool,
    },
    /// The file of this index does not come.
    NoSend(i32),
}

/// The kinds of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// Goes to standard output.
    Info,
    /// Goes to standard error.
    Warning,
    /// Goes to standard error.
    Error,
    /// Goes to standard error, and makes the session a partial one.
    ErrorXfer,
}

impl Message {
    /// Checks a frame's tag and length before its payload is read.
    pub(super) fn check(tag: u8, len: usize) -> Result<()> {
        let fits = match tag {
            tag::ERROR_XFER | tag::INFO | tag::ERROR | tag::WARNING => len < limits::TEXT_FRAME,
            tag::IO_ERROR | tag::IO_TIMEOUT | tag::SUCCESS | tag::NO_SEND => len == 4,
            tag::NOOP => len == 0,
            tag::ERROR_EXIT => len == 0 || len == 4,
            tag::DELETED => (1..=limits::DELETED_NAME).contains(&len),
            _ => return Err(Error::Malformed(format!("unexpected frame with tag {tag}"))),
        };
        if !fits {
            return Err(Error::Malformed(format!("frame with tag {tag} has {len} bytes")));
        }
        Ok(())
    }

    /// Decodes the payload of a frame that [`Message::check`] let pass; `None` when it means
    /// nothing, such as a time limit out of range.
    pub(super) fn decode(tag: u8, payload: &[u8]) -> Result<Option<Message>> {
        let text = |kind| Some(Message::Text { kind, text: payload.to_vec() });
        let number = payload.try_into().map(i32::from_le_bytes).ok();
        Ok(match (tag, number) {
            (tag::ERROR_XFER, _) => text(TextKind::ErrorXfer),
            (tag::INFO, _) => text(TextKind::Info),
            (tag::ERROR, _) => text(TextKind::Error),
            (tag::WARNING, _) => text(TextKind::Warning),
            (tag::NOOP, _) => Some(Message::Noop),
            (tag::DELETED, _) => Some(deleted(payload)?),
            (tag::ERROR_EXIT, code) => Some(Message::ErrorExit(code.map(sane_exit_code))),
            (tag::IO_ERROR, Some(bits)) => Some(Message::IoError(bits & 7)),
            (tag::IO_TIMEOUT, Some(seconds)) => io_timeout(seconds),
            (tag::SUCCESS, Some(ndx)) => Some(Message::Success(index(ndx)?)),
            (tag::NO_SEND, Some(ndx)) => Some(Message::NoSend(index(ndx)?)),
            _ => return Err(Error::Malformed(format!("unexpected frame with tag {tag}"))),
        })
    }
}

fn deleted(payload: &[u8]) -> Result<Message> {
    let (name, is_dir) = match payload {
        [name @ .., 0] => (name, true),
        name => (name, false),
    };
    if name.is_empty() || name.contains(&0) {
        return Err(Error::Malformed("name of a deleted file".into()));
    }
    Ok(Message::Deleted { name: name.to_vec(), is_dir })
}

fn io_timeout(seconds: i32) -> Option<Message> {
    let seconds = u32::try_from(seconds).ok()?;
    (1..=limits::IO_TIMEOUT_MAX).contains(&seconds).then_some(Message::IoTimeout(seconds))
}

fn index(ndx: i32) -> Result<i32> {
    if ndx < 0 {
        return Err(Error::Malformed(format!("file index {ndx} in a message")));
    }
    Ok(ndx)
}

/// A peer that ends with "success" or a number that is no exit code has broken the stream.
fn sane_exit_code(code: i32) -> i32 {
    if (1..=255).contains(&code) { code } else { exit::STREAM }
}
