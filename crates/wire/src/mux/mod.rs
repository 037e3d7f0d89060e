//! How do data and messages share one stream?
//!
//! A stream is raw bytes, or a sequence of frames: 3 bytes of length, 1 byte `7 + tag`, payload.
//! DATA frames join to one stream of bytes; the other frames are messages that can stand between
//! any two of them. See docs/protocol/connection.md, "Multiplexing".

mod message;
mod reader;
mod writer;

pub use message::{Message, TextKind, tag};
pub use reader::{MessageHandler, MuxReader};
pub use writer::MuxWriter;

/// Where a copy of the data stream goes, without frames and messages.
pub type Record = Box<dyn std::io::Write + Send>;

/// Whether a stream is cut into frames.
///
/// From the server: frames right after the seed. From the client: frames right after the seed at
/// protocol 30 and later, raw bytes all the session below (unless the client receives with
/// `--remove-source-files`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Bytes as they are.
    Raw,
    /// Frames.
    Framed,
}

/// What is added to a tag to make the last byte of a frame's header.
const TAG_BASE: u8 = 7;
const HEADER: usize = 4;

/// The header of a frame; the length has been kept below 2^24 by the caller.
fn header(tag: u8, len: usize) -> [u8; HEADER] {
    let [b0, b1, b2, _] = (len as u32).to_le_bytes();
    [b0, b1, b2, TAG_BASE + tag]
}

#[cfg(test)]
mod tests;
