//! How a file goes out of which the far side has nothing, uncompressed: straight from the read
//! buffer to the connection.
//!
//! The buffer keeps room for the head of each token between the pieces of content, so that one
//! scattered read and one write move up to 256 KiB, and no byte is copied in between.

use std::fs::File;
use std::io::{IoSliceMut, Read, Write};

use delta::{Digest, FileSum};
use wire::mux::MuxWriter;

use crate::content::Damaged;
use crate::error::Result;

/// The longest literal that every stock receiver takes.
const PIECE: usize = 32 << 10;
/// Length of a token's head.
const HEAD: usize = 4;
/// Pieces in the buffer.
const PIECES: usize = 8;
const SLOT: usize = HEAD + PIECE;

/// Sends whole files in the plain token form.
#[derive(Debug, Default)]
pub(crate) struct WholeFile {
    buffer: Vec<u8>,
}

impl WholeFile {
    /// Sends the content that is in memory already, with its end and its sum.
    pub(crate) fn send_bytes<W: Write>(
        out: &mut MuxWriter<W>,
        content: &[u8],
        mut sum: FileSum,
    ) -> Result<Digest> {
        sum.update(content);
        for piece in content.chunks(PIECE) {
            out.data(&head(piece.len()))?;
            out.data(piece)?;
        }
        out.data(&head(0))?;
        let sum = sum.finish();
        out.data(sum.as_bytes())?;
        Ok(sum)
    }

    /// Sends `size` bytes of `file`. What is missing at its end is filled with zeros, and the
    /// sum then made wrong, so that the far side keeps nothing of it.
    pub(crate) fn send_file<W: Write>(
        &mut self,
        out: &mut MuxWriter<W>,
        file: &mut File,
        size: u64,
        mut sum: FileSum,
        mut between: impl FnMut(u64) -> Result<()>,
    ) -> Result<(Digest, Option<Damaged>)> {
        self.buffer.resize(PIECES * SLOT, 0);
        let mut left = size;
        let mut damaged = None;
        while left > 0 {
            let room = PIECES * PIECE;
            let wanted = usize::try_from(left).unwrap_or(room).min(room);
            if damaged.is_none() {
                let filled = match self.fill(file, wanted) {
                    Ok(filled) => filled,
                    Err((filled, damage)) => {
                        damaged = Some(damage);
                        filled
                    }
                };
                self.zero(filled, wanted);
            } else {
                self.zero(0, wanted);
            }
            out.data_large(self.frame(wanted, &mut sum))?;
            left -= wanted as u64;
            between(wanted as u64)?;
        }
        out.data(&head(0))?;
        let sum = match damaged {
            None => sum.finish(),
            Some(_) => sum.finish().spoiled(),
        };
        out.data(sum.as_bytes())?;
        Ok((sum, damaged))
    }

    /// Reads `wanted` bytes into the pieces; on trouble tells how many there were.
    fn fill(
        &mut self,
        file: &mut File,
        wanted: usize,
    ) -> std::result::Result<usize, (usize, Damaged)> {
        let mut filled = 0;
        while filled < wanted {
            let mut slots: Vec<IoSliceMut<'_>> = Vec::with_capacity(PIECES);
            for (slot, first) in self.buffer.chunks_mut(SLOT).zip((0..wanted).step_by(PIECE)) {
                let end = PIECE.min(wanted - first);
                let begin = filled.saturating_sub(first).min(end);
                if begin < end {
                    slots.push(IoSliceMut::new(&mut slot[HEAD + begin..HEAD + end]));
                }
            }
            match file.read_vectored(&mut slots) {
                Ok(0) => return Err((filled, Damaged::Shrank)),
                Ok(count) => filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err((filled, Damaged::Unreadable(error))),
            }
        }
        Ok(filled)
    }

    fn zero(&mut self, from: usize, to: usize) {
        for (slot, first) in self.buffer.chunks_mut(SLOT).zip((0..to).step_by(PIECE)) {
            let end = PIECE.min(to - first);
            let begin = from.saturating_sub(first).min(end);
            slot[HEAD + begin..HEAD + end].fill(0);
        }
    }

    /// Writes the heads of the first `len` bytes and adds the bytes to the sum.
    fn frame(&mut self, len: usize, sum: &mut FileSum) -> &[u8] {
        let mut end = 0;
        for (slot, first) in self.buffer.chunks_mut(SLOT).zip((0..len).step_by(PIECE)) {
            let piece = PIECE.min(len - first);
            slot[..HEAD].copy_from_slice(&head(piece));
            sum.update(&slot[HEAD..HEAD + piece]);
            end += HEAD + piece;
        }
        &self.buffer[..end]
    }
}

fn head(len: usize) -> [u8; HEAD] {
    u32::try_from(len).unwrap_or(0).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use delta::SumKind;
    use wire::mux::Framing;

    fn sent(content: &[u8], size: u64) -> (Vec<u8>, bool) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        std::io::Seek::rewind(&mut file).unwrap();
        let mut out = MuxWriter::new(Vec::new(), Framing::Raw);
        let sum = FileSum::new(SumKind::Md5, 0);
        let mut whole = WholeFile::default();
        let (_, damaged) = whole.send_file(&mut out, &mut file, size, sum, |_| Ok(())).unwrap();
        out.flush().unwrap();
        (out.into_inner(), damaged.is_some())
    }

    /// Takes the tokens apart: content, and the sum behind it.
    fn received(mut bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let mut content = Vec::new();
        loop {
            let (head, rest) = bytes.split_at(HEAD);
            let len = u32::from_le_bytes(head.try_into().unwrap()) as usize;
            if len == 0 {
                return (content, rest.to_vec());
            }
            assert!(len <= PIECE);
            content.extend_from_slice(&rest[..len]);
            bytes = &rest[len..];
        }
    }

    #[test]
    fn any_length_arrives_with_the_right_sum() {
        for len in [0, 1, PIECE - 1, PIECE, PIECE + 1, PIECES * PIECE, 3 * PIECES * PIECE + 7] {
            let content: Vec<u8> = (0..len).map(|n| (n * 7 % 251) as u8).collect();
            let (bytes, damaged) = sent(&content, len as u64);
            let mut sum = FileSum::new(SumKind::Md5, 0);
            sum.update(&content);
            assert_eq!(received(&bytes), (content, sum.finish().as_bytes().to_vec()));
            assert!(!damaged);
        }
    }

    #[test]
    fn a_file_that_shrinks_is_filled_up_and_its_sum_is_wrong() {
        for (there, promised) in [(0, 10), (PIECE + 5, 2 * PIECE), (10, 20 * PIECE)] {
            let (bytes, damaged) = sent(&vec![1; there], promised as u64);
            let (content, sum) = received(&bytes);
            let mut expected = vec![1; there];
            expected.resize(promised, 0);
            assert!(damaged && content == expected && sum == [0; 16]);
        }
    }
}
