//! How are literal data and matched blocks of a file told apart in a reply?
//!
//! See docs/protocol/transfer.md, "Tokens". Only the framing is here: the data between the
//! headers, compressed or not, is the caller's.

use std::io::Read;

use crate::error::{Error, Result};
use crate::int::{put_i32, put_u16, read_i32, read_u8, read_u16, read_u32};
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

/// What comes next in a file's tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// So many literal bytes follow, which may be far more than a piece of memory should hold.
    Literal {
        /// Their number, not 0.
        len: u32,
    },
    /// A chunk of compressed literals follows.
    Chunk {
        /// Its length in bytes, not 0.
        len: u16,
    },
    /// Adjacent blocks of the basis; whether it has them is the caller's to check.
    Blocks {
        /// The number of the first one.
        first: u32,
        /// How many, not 0; the last one's number is below 2^31.
        count: u32,
    },
    /// The end; the file's sum follows.
    End,
}

/// Reads the tokens of one file after another; the caller reads the bytes that follow a token.
#[derive(Clone, Debug)]
pub struct TokenDecoder {
    compressed: bool,
    /// The last block named in this file, initially 0.
    last: u32,
}

impl TokenDecoder {
    /// Creates the decoder of a session without compression.
    pub fn plain() -> Self {
        Self { compressed: false, last: 0 }
    }

    /// Creates the decoder of a session with any compression.
    pub fn compressed() -> Self {
        Self { compressed: true, last: 0 }
    }

    /// Begins the next file.
    pub fn start_file(&mut self) {
        self.last = 0;
    }

    /// Reads the next token.
    pub fn read<R: Read + ?Sized>(&mut self, r: &mut R) -> Result<Token> {
        if self.compressed { self.read_compressed(r) } else { read_plain(r) }
    }

    fn read_compressed<R: Read + ?Sized>(&mut self, r: &mut R) -> Result<Token> {
        let code = read_u8(r)?;
        let low = u32::from(code & 0x3f);
        match code {
            0x00 => Ok(Token::End),
            0x20 | 0x21 => {
                let first = read_u32(r)?;
                self.blocks(r, first, code == 0x21)
            }
            0x40..=0x7f => match u16::from(code & 0x3f) << 8 | u16::from(read_u8(r)?) {
                0 => Err(Error::Protocol("a compressed chunk of 0 bytes".into())),
                len => Ok(Token::Chunk { len }),
            },
            0x80..=0xff => self.blocks(r, self.last + low, code >= 0xc0),
            _ => Err(Error::Protocol(format!("unknown token {code:#04x}"))),
        }
    }

    fn blocks<R: Read + ?Sized>(&mut self, r: &mut R, first: u32, is_run: bool) -> Result<Token> {
        let extra = if is_run { u32::from(read_u16(r)?) } else { 0 };
        let last = first.checked_add(extra).filter(|&last| last <= limits::TOKEN_BLOCK);
        match last {
            Some(last) if !is_run || extra > 0 => {
                self.last = last;
                Ok(Token::Blocks { first, count: extra + 1 })
            }
            _ => Err(Error::Protocol(format!("block {first} and {extra} more in a token"))),
        }
    }
}

fn read_plain<R: Read + ?Sized>(r: &mut R) -> Result<Token> {
    Ok(match read_i32(r)? {
        0 => Token::End,
        len @ 1.. => Token::Literal { len: len.unsigned_abs() },
        // The bits turned over are the number -(n + 1), without an overflow.
        block => Token::Blocks { first: (!block).cast_unsigned(), count: 1 },
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Trickle, hex};

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

    /// The block numbers that a receiver sees.
    fn decode(decoder: &mut TokenDecoder, mut input: &[u8]) -> Vec<u32> {
        let mut blocks = Vec::new();
        decoder.start_file();
        loop {
            match decoder.read(&mut input).unwrap() {
                Token::Blocks { first, count } => blocks.extend(first..first + count),
                Token::End => break,
                data => panic!("{data:?}"),
            }
        }
        assert!(input.is_empty());
        blocks
    }

    #[test]
    fn tokens_that_name_no_block_or_chunk_are_refused() {
        let absurd = ["01", "22", "3f", "4000", "c00000", "2100000000 0000"];
        let beyond = ["20feffff7f", "20ffffffff", "21fdffff7f 0100", "20fdffff7f 81"];
        for bytes in absurd.into_iter().chain(beyond) {
            let bytes = hex(bytes);
            let mut input = bytes.as_slice();
            let mut decoder = TokenDecoder::compressed();
            let result = std::iter::repeat_with(|| decoder.read(&mut input)).find(Result::is_err);
            assert!(matches!(result, Some(Err(Error::Protocol(_)))), "{bytes:x?}: {result:?}");
        }
    }

    #[test]
    fn plain_tokens_reach_the_ends_of_their_range() {
        let bytes = hex("ffffff7f 00000080 ffffffff 00000000");
        let mut input = bytes.as_slice();
        let mut decoder = TokenDecoder::plain();
        let expected = [
            Token::Literal { len: i32::MAX as u32 },
            Token::Blocks { first: i32::MAX as u32, count: 1 },
            Token::Blocks { first: 0, count: 1 },
            Token::End,
        ];
        for expected in expected {
            assert_eq!(decoder.read(&mut input).unwrap(), expected);
        }
    }

    proptest! {
        #[test]
        fn any_sequence_of_blocks_arrives(
            runs in proptest::collection::vec((0..400_u32, 1..5_u32), 0..40),
            base in prop_oneof![Just(0_u32), Just(limits::TOKEN_BLOCK - 404)],
        ) {
            let blocks: Vec<u32> =
                runs.into_iter().flat_map(|(first, len)| base + first..base + first + len).collect();
            let pairs = [
                (TokenEncoder::compressed(), TokenDecoder::compressed()),
                (TokenEncoder::plain(), TokenDecoder::plain()),
            ];
            for (mut tokens, mut decoder) in pairs {
                for _ in 0..2 {
                    let mut out = Vec::new();
                    blocks.iter().for_each(|&block| tokens.matched(&mut out, block));
                    tokens.end(&mut out);
                    prop_assert_eq!(&decode(&mut decoder, &out), &blocks);
                }
            }
        }

        #[test]
        fn random_bytes_never_panic_and_any_split_gives_the_same(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            step in 1..9_usize,
        ) {
            for decoder in [TokenDecoder::plain(), TokenDecoder::compressed()] {
                let run = |input: &mut dyn Read| {
                    let mut decoder = decoder.clone();
                    std::iter::from_fn(|| decoder.read(input).ok()).collect::<Vec<_>>()
                };
                prop_assert_eq!(run(&mut bytes.as_slice()), run(&mut Trickle::new(&bytes, step)));
            }
        }
    }
}
