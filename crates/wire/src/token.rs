//! How are literal data and matched blocks of a file told apart in a reply?
//!
//! See docs/protocol/transfer.md, "Tokens". Only the framing is here: the data between the
//! headers, compressed or not, is the caller's.

use crate::int::{put_i32, put_u16};
use crate::limits;

/// Writes the tokens of one file after another.
///
/// In the compressed form a run of adjacent blocks is one token, so the last block is held back
/// until it is known what follows. Whoever compresses brings the chunks of a literal out before
/// the next block: a run must not reach over a literal.
#[derive(Clone, Debug)]
pub struct TokenEncoder {
    compressed: bool,
    /// The last block written in this file, initially 0.
    last: u32,
    /// The run that is held back.
    run: Option<Run>,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    first: u32,
    /// How many blocks follow the first one.
    extra: u16,
}

impl TokenEncoder {
    /// Creates the encoder of a session without compression.
    pub fn plain() -> Self {
        Self { compressed: false, last: 0, run: None }
    }

    /// Creates the encoder of a session with any compression.
    pub fn compressed() -> Self {
        Self { compressed: true, last: 0, run: None }
    }

    /// Appends the header of a literal; without compression, and before its data.
    ///
    /// The literal has 1 to [`limits::LITERAL`] bytes.
    pub fn literal_plain(&mut self, out: &mut Vec<u8>, literal: &[u8]) {
        debug_assert!(!self.compressed && (1..=limits::LITERAL).contains(&literal.len()));
        put_i32(out, literal.len() as i32);
    }

    /// Appends the header of a chunk of 1 to [`limits::CHUNK`] compressed bytes.
    pub fn chunk_header(&mut self, out: &mut Vec<u8>, len: usize) {
        debug_assert!(self.compressed && (1..=limits::CHUNK).contains(&len));
        self.flush_run(out);
        out.extend_from_slice(&[0x40 | (len >> 8 & 0x3f) as u8, (len & 0xff) as u8]);
    }

    /// Appends a matched block, or holds it back; its number is below 2^31 - 1.
    pub fn matched(&mut self, out: &mut Vec<u8>, block: u32) {
        debug_assert!(block <= limits::TOKEN_BLOCK);
        if !self.compressed {
            return put_i32(out, -1 - block as i32);
        }
        if let Some(run) = &mut self.run
            && run.extra < u16::MAX
            && run.first + u32::from(run.extra) + 1 == block
        {
            run.extra += 1;
            return;
        }
        self.flush_run(out);
        self.run = Some(Run { first: block, extra: 0 });
    }

    /// Appends the run that is held back, if there is one.
    pub fn flush_run(&mut self, out: &mut Vec<u8>) {
        let Some(Run { first, extra }) = self.run.take() else {
            return;
        };
        let is_run = extra > 0;
        match first.checked_sub(self.last) {
            Some(step @ 0..=63) => out.push(if is_run { 0xc0 } else { 0x80 } | step as u8),
            _ => {
                out.push(0x20 | u8::from(is_run));
                put_i32(out, first as i32);
            }
        }
        if is_run {
            put_u16(out, extra);
        }
        self.last = first + u32::from(extra);
    }

    /// Appends the end of a file's tokens; the next file starts afresh.
    pub fn end(&mut self, out: &mut Vec<u8>) {
        if self.compressed {
            self.flush_run(out);
            out.push(0);
        } else {
            put_i32(out, 0);
        }
        self.last = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::hex;

    #[test]
    fn the_recorded_token_forms_are_reproduced() {
        let mut tokens = TokenEncoder::compressed();
        let mut out = Vec::new();
        (0..5).for_each(|block| tokens.matched(&mut out, block));
        tokens.chunk_header(&mut out, 3);
        out.extend_from_slice(&hex("8a0000"));
        let blocks = [5].into_iter().chain(100..110).chain([0, 1, 199, 199]);
        blocks.for_each(|block| tokens.matched(&mut out, block));
        tokens.end(&mut out);
        let recorded = "c00400 40038a0000 81 21640000000900 21000000000100 20c7000000 80 00";
        assert_eq!(out, hex(recorded));
    }

    #[test]
    fn a_sequence_beyond_65536_blocks_is_cut_as_recorded() {
        let mut tokens = TokenEncoder::compressed();
        let mut out = Vec::new();
        (0..70_000).for_each(|block| tokens.matched(&mut out, block));
        tokens.end(&mut out);
        assert_eq!(out, hex("c0ffff c16f11 00"));
    }

    #[test]
    fn each_file_starts_afresh() {
        let mut tokens = TokenEncoder::compressed();
        let mut out = Vec::new();
        for _ in 0..2 {
            tokens.matched(&mut out, 50);
            tokens.end(&mut out);
        }
        assert_eq!(out, hex("b2 00 b2 00"));
    }

    /// The block numbers that a receiver would see.
    fn decode(mut input: &[u8]) -> Vec<u32> {
        let mut last = 0;
        let mut blocks = Vec::new();
        while input[0] != 0 {
            let code = input[0];
            let absolute = code & 0xc0 == 0;
            let (first, used) = match absolute {
                true => (u32::from_le_bytes(input[1..5].try_into().unwrap()), 5),
                false => (last + u32::from(code & 0x3f), 1),
            };
            input = &input[used..];
            let mut extra = 0;
            if code & 0xc0 == 0xc0 || code == 0x21 {
                extra = u32::from(u16::from_le_bytes([input[0], input[1]]));
                assert!(extra > 0);
                input = &input[2..];
            }
            last = first + extra;
            blocks.extend(first..=last);
        }
        assert_eq!(input, [0]);
        blocks
    }

    proptest! {
        #[test]
        fn any_sequence_of_blocks_arrives(
            runs in proptest::collection::vec((0..400_u32, 1..5_u32), 0..40),
            base in prop_oneof![Just(0_u32), Just(limits::TOKEN_BLOCK - 404)],
        ) {
            let blocks: Vec<u32> =
                runs.into_iter().flat_map(|(first, len)| base + first..base + first + len).collect();
            let mut tokens = TokenEncoder::compressed();
            let mut out = Vec::new();
            blocks.iter().for_each(|&block| tokens.matched(&mut out, block));
            tokens.end(&mut out);
            prop_assert_eq!(decode(&out), blocks);
        }
    }
}
