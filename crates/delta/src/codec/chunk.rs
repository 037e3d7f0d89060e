//! Where do the bytes of a chunk gather?

/// The longest chunk that the compressed framing can carry.
pub const CHUNK_MAX: usize = 16383;

/// A chunk in the making, with a few bytes that may be held back for the end of a run.
pub(crate) struct ChunkBuffer {
    bytes: Vec<u8>,
    len: usize,
    held_back: usize,
}

impl ChunkBuffer {
    /// Makes a buffer that keeps its last `held_back` bytes for [`finish`](Self::finish).
    pub(crate) fn new(held_back: usize) -> Self {
        Self { bytes: vec![0; CHUNK_MAX + held_back], len: 0, held_back }
    }

    /// Returns the room that is left, never empty.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        &mut self.bytes[self.len..]
    }

    /// Counts bytes that were written into the room; a full chunk goes out.
    pub(crate) fn wrote(&mut self, count: usize, out: &mut impl FnMut(&[u8])) {
        self.len += count;
        if self.len == self.bytes.len() {
            out(&self.bytes[..CHUNK_MAX]);
            self.bytes.copy_within(CHUNK_MAX.., 0);
            self.len = self.held_back;
        }
    }

    /// Appends bytes that surely fit the room.
    pub(crate) fn append(&mut self, bytes: &[u8], out: &mut impl FnMut(&[u8])) {
        self.room()[..bytes.len()].copy_from_slice(bytes);
        self.wrote(bytes.len(), out);
    }

    /// Hands out the rest but for the bytes held back, which it returns.
    pub(crate) fn finish(&mut self, out: &mut impl FnMut(&[u8])) -> &[u8] {
        let end = self.len.saturating_sub(self.held_back);
        let held = end..std::mem::take(&mut self.len);
        if end > 0 {
            out(&self.bytes[..end]);
        }
        &self.bytes[held]
    }
}
