//! Which part of the file is in memory, and what happens when the file ends too soon?
//!
//! The window moves forward only. What enters it is summed at once, while it is in the processor's
//! cache. The length of the file was promised to the peer, so that a file which cannot be read so
//! far is filled up with zeros, and one that has grown is read no further.

use std::io::{self, ErrorKind};

use crate::digest::Digest;
use crate::file_sum::FileSum;

/// Bytes that one filling of the window reads at least, while a block is kept.
pub(crate) const READ_LEN: usize = 128 << 10;

/// The longest slice of literal bytes that a search hands out at once.
pub const LITERAL_MAX: usize = 256 << 10;

/// Why a file could not be read to its promised end.
#[derive(Debug)]
pub enum Damage {
    /// The file ended early; it has shrunk since its size was taken.
    Shrank {
        /// How many bytes there were.
        at: u64,
    },
    /// Reading failed.
    Failed {
        /// How many bytes were read before.
        at: u64,
        /// The error of the read closure.
        error: io::Error,
    },
}

/// A buffer that slides along a file.
pub(crate) struct Window<'a, R> {
    buf: &'a mut Vec<u8>,
    filled: usize,
    read: R,
    size: u64,
    unread: u64,
    file_sum: FileSum,
    damage: Option<Damage>,
}

impl<'a, R: FnMut(&mut [u8]) -> io::Result<usize>> Window<'a, R> {
    /// Starts at the beginning of a file of `size` bytes, with room for `room` of them.
    pub(crate) fn new(
        buf: &'a mut Vec<u8>,
        room: usize,
        read: R,
        size: u64,
        file_sum: FileSum,
    ) -> Self {
        if buf.len() != room {
            buf.resize(room, 0);
        }
        Self { buf, filled: 0, read, size, unread: size, file_sum, damage: None }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buf[..self.filled]
    }

    /// Tells whether the window reaches the end of the file.
    pub(crate) fn at_end(&self) -> bool {
        self.unread == 0
    }

    /// Returns the offset in the file of the window's first byte.
    pub(crate) fn offset(&self) -> u64 {
        self.size - self.unread - self.filled as u64
    }

    /// Drops the first `used` bytes and fills the room at the end, at most `limit` bytes.
    pub(crate) fn advance(&mut self, used: usize, limit: u64) {
        self.buf.copy_within(used..self.filled, 0);
        self.filled -= used;
        let room = (self.buf.len() - self.filled) as u64;
        // The least of the three fits the buffer, hence a usize.
        let more = room.min(self.unread).min(limit) as usize;
        let fresh = self.filled..self.filled + more;
        self.read_or_zero(fresh.clone());
        self.file_sum.update(&self.buf[fresh]);
        self.filled += more;
        self.unread -= more as u64;
    }

    /// Ends the sum; it is spoiled when the file was damaged.
    pub(crate) fn finish(self) -> (Digest, Option<Damage>) {
        let sum = self.file_sum.finish();
        match self.damage {
            None => (sum, None),
            damage => (sum.spoiled(), damage),
        }
    }

    fn read_or_zero(&mut self, place: std::ops::Range<usize>) {
        let begin = self.size - self.unread;
        let mut done = place.start;
        while done < place.end && self.damage.is_none() {
            let at = begin + (done - place.start) as u64;
            match (self.read)(&mut self.buf[done..place.end]) {
                Ok(0) => self.damage = Some(Damage::Shrank { at }),
                // A closure that claims more than it had room for is not believed.
                Ok(count) => done = (done + count).min(place.end),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => self.damage = Some(Damage::Failed { at, error }),
            }
        }
        self.buf[done..place.end].fill(0);
    }
}
