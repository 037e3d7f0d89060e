//! How does `lz4` compress?
//!
//! Every chunk is an LZ4 block of its own, without frame, state or level
//! (docs/protocol/transfer.md, lz4).

use lz4_flex::block::{CompressTable, compress_into_with_table, get_maximum_output_size};

use super::chunk::CHUNK_MAX;

/// The longest input whose block of nothing but literals still fits a chunk: one token and, past
/// the first 15 bytes, a length byte for every 255.
const INPUT_MAX: usize = 16318;

pub(crate) struct Lz4 {
    table: Option<CompressTable>,
    block: Vec<u8>,
}

impl Lz4 {
    pub(crate) fn new() -> Self {
        Self { table: None, block: vec![0; get_maximum_output_size(INPUT_MAX).max(CHUNK_MAX)] }
    }

    pub(crate) fn compress(&mut self, data: &[u8], out: &mut impl FnMut(&[u8])) {
        for piece in data.chunks(INPUT_MAX) {
            let table = self.table.get_or_insert_default();
            match compress_into_with_table(piece, &mut self.block, table) {
                Ok(len) if len <= stored_len(piece.len()) => out(&self.block[..len]),
                _ => self.store(piece, out),
            }
        }
    }

    pub(crate) fn store(&mut self, data: &[u8], out: &mut impl FnMut(&[u8])) {
        for piece in data.chunks(INPUT_MAX) {
            self.block.clear();
            self.block.push((piece.len().min(15) as u8) << 4);
            if let Some(beyond) = piece.len().checked_sub(15) {
                self.block.resize(1 + beyond / 255, 0xff);
                self.block.push((beyond % 255) as u8);
            }
            self.block.extend_from_slice(piece);
            out(&self.block);
        }
        self.block.resize(get_maximum_output_size(INPUT_MAX), 0);
    }
}

/// Returns the length of a block of nothing but this many literals.
fn stored_len(literals: usize) -> usize {
    let len_bytes = literals.checked_sub(15).map_or(0, |beyond| beyond / 255 + 1);
    1 + len_bytes + literals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_stored_input_just_fits_a_chunk() {
        assert!(stored_len(INPUT_MAX) <= CHUNK_MAX);
        assert!(stored_len(INPUT_MAX + 1) > CHUNK_MAX);
    }
}
