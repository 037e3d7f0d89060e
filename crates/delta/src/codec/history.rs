//! Which matched bytes does the deflate window still reach?
//!
//! Both sides put matched blocks into the window, but only its last 32 KiB count, and only when
//! another literal follows. So the blocks are gathered here and given to the compressor in one go.

/// The reach of a deflate window.
const WINDOW: usize = 1 << 15;

/// The longest piece that the receiver inserts at once.
const PIECE: usize = 0xffff;

/// The first protocol at which long blocks are inserted piece after piece.
const PIECES_ADVANCE: u32 = 31;

/// The matched bytes since the last literal, as far as they matter.
#[derive(Default)]
pub(crate) struct History {
    bytes: Vec<u8>,
}

impl History {
    /// Adds a matched block as a receiver of this protocol version inserts it.
    ///
    /// Below protocol 31 every piece of a long block repeats its beginning
    /// (docs/protocol/transfer.md, zlib).
    pub(crate) fn push(&mut self, block: &[u8], protocol: u32) {
        if protocol >= PIECES_ADVANCE || block.len() <= PIECE {
            return self.push_bytes(block);
        }
        for piece in block.chunks(PIECE) {
            self.push_bytes(&block[..piece.len()]);
        }
    }

    /// Returns what the window gains, and forgets it with [`clear`](Self::clear).
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.bytes.len().saturating_sub(WINDOW)..]
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        let tail = &bytes[bytes.len().saturating_sub(WINDOW)..];
        if tail.len() == WINDOW {
            self.bytes.clear();
        }
        // Twice the window before the old half is moved out, so that short blocks stay cheap.
        if self.bytes.len() + tail.len() > 2 * WINDOW {
            self.bytes.drain(..self.bytes.len() - WINDOW);
        }
        self.bytes.extend_from_slice(tail);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_window_of_many_blocks_is_kept() {
        let content: Vec<u8> = (0..200_000u32).map(|n| (n * 7 / 3) as u8).collect();
        let mut history = History::default();
        for block in content.chunks(700) {
            history.push(block, 32);
            assert!(history.bytes.len() <= 2 * WINDOW);
        }
        assert_eq!(history.bytes(), &content[content.len() - WINDOW..]);
    }

    #[test]
    fn below_protocol_31_the_pieces_of_a_long_block_repeat_its_beginning() {
        let block: Vec<u8> = (0..100_000u32).map(|n| (n / 300) as u8).collect();
        let mut history = History::default();
        history.push(&block, 30);
        let inserted = [&block[..PIECE], &block[..100_000 - PIECE]].concat();
        assert_eq!(history.bytes(), &inserted[inserted.len() - WINDOW..]);
        history.push(&block, 31);
        assert_eq!(history.bytes(), &block[100_000 - WINDOW..]);
    }
}
