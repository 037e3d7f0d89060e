//! How is the index of a file written?
//!
//! Below protocol 30 it is 4 bytes; from 30 on a difference to the index before, with one
//! memory for indexes and one for the negative marks, in each direction of a connection.
//! See docs/protocol/connection.md, "File index".

use std::io::Read;

use crate::error::{Error, Result};
use crate::int::{put_i32, read_i32, read_u8};

/// The end of a list, of a phase, of the session.
pub const NDX_DONE: i32 = -1;
/// No more file lists follow (incremental recursion, from the sender).
pub const NDX_FLIST_EOF: i32 = -2;
/// Deletion statistics follow (protocol 31 on).
pub const NDX_DEL_STATS: i32 = -3;
/// This minus `d` announces the file list of directory number `d` (from the sender).
pub const NDX_FLIST_OFFSET: i32 = -101;

/// Writes the indexes of one direction of a connection.
#[derive(Debug, Clone)]
pub struct NdxEncoder {
    memory: Memory,
}

impl NdxEncoder {
    /// Creates the encoder of a new connection.
    pub fn new(protocol: u32) -> Self {
        Self { memory: Memory::new(protocol) }
    }

    /// Appends an index or a mark.
    pub fn put(&mut self, out: &mut Vec<u8>, ndx: i32) {
        if !self.memory.coded {
            return put_i32(out, ndx);
        }
        if ndx == NDX_DONE {
            return out.push(0);
        }
        if ndx < 0 {
            out.push(0xff);
        }
        let value = ndx.unsigned_abs();
        let previous = std::mem::replace(self.memory.of(ndx < 0), i64::from(value));
        match i64::from(value) - previous {
            step @ 1..=253 => out.push(step as u8),
            step @ (0 | 254..=0x7fff) => {
                out.extend_from_slice(&[0xfe, (step >> 8) as u8, step as u8])
            }
            _ => {
                let [b0, b1, b2, b3] = value.to_le_bytes();
                out.extend_from_slice(&[0xfe, 0x80 | b3, b0, b1, b2]);
            }
        }
    }
}

/// Reads the indexes of one direction of a connection.
#[derive(Debug, Clone)]
pub struct NdxDecoder {
    memory: Memory,
}

impl NdxDecoder {
    /// Creates the decoder of a new connection.
    pub fn new(protocol: u32) -> Self {
        Self { memory: Memory::new(protocol) }
    }

    /// Reads an index or a mark; whether it makes sense here is the caller's to decide.
    pub fn read<R: Read + ?Sized>(&mut self, r: &mut R) -> Result<i32> {
        if !self.memory.coded {
            return read_i32(r);
        }
        let mut code = read_u8(r)?;
        if code == 0 {
            return Ok(NDX_DONE);
        }
        let negative = code == 0xff;
        if negative {
            code = read_u8(r)?;
        }
        let previous = *self.memory.of(negative);
        let value = match code {
            0xfe => read_wide(r, previous)?,
            step => previous + i64::from(step),
        };
        let ndx = i32::try_from(value)
            .map_err(|_| Error::Protocol(format!("file index {value} is out of range")))?;
        *self.memory.of(negative) = value;
        Ok(if negative { -ndx } else { ndx })
    }
}

/// Reads what follows the `fe` byte: a 15-bit difference or a 31-bit value.
fn read_wide<R: Read + ?Sized>(r: &mut R, previous: i64) -> Result<i64> {
    let high = read_u8(r)?;
    let low = read_u8(r)?;
    if high & 0x80 == 0 {
        return Ok(previous + i64::from(u16::from_be_bytes([high, low])));
    }
    let middle = read_u8(r)?;
    let upper = read_u8(r)?;
    Ok(i64::from(u32::from_le_bytes([low, middle, upper, high & 0x7f])))
}

/// The last index and the last mark, both as positive numbers.
#[derive(Debug, Clone)]
struct Memory {
    coded: bool,
    index: i64,
    mark: i64,
}

impl Memory {
    fn new(protocol: u32) -> Self {
        Self { coded: protocol >= 30, index: -1, mark: 1 }
    }

    fn of(&mut self, negative: bool) -> &mut i64 {
        if negative { &mut self.mark } else { &mut self.index }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Trickle, hex};

    fn encode(protocol: u32, values: &[i32]) -> Vec<u8> {
        let mut encoder = NdxEncoder::new(protocol);
        let mut out = Vec::new();
        values.iter().for_each(|&value| encoder.put(&mut out, value));
        out
    }

    fn decode(protocol: u32, mut input: impl Read) -> Vec<i32> {
        let mut decoder = NdxDecoder::new(protocol);
        let mut values = Vec::new();
        while let Ok(value) = decoder.read(&mut input) {
            values.push(value);
        }
        values
    }

    #[test]
    fn one_connection_codes_the_recorded_sequence() {
        let sequence = [
            (0, "01"),
            (1, "01"),
            (2, "01"),
            (255, "fd"),
            (256, "01"),
            (510, "fe 00 fe"),
            (764, "fe 00 fe"),
            (33_531, "fe 7f ff"),
            (66_298, "fe 7f ff"),
            (66_299, "01"),
            (5, "fe 80 05 00 00"),
            (5, "fe 00 00"),
            (305_419_896, "fe 92 78 56 34"),
            (-1, "00"),
            (-2, "ff 01"),
            (-1, "00"),
            (-101, "ff 63"),
            (-102, "ff 01"),
            (-3, "ff fe 80 03 00 00"),
            (-101, "ff 62"),
            (-201, "ff 64"),
            (305_419_897, "01"),
        ];
        let values: Vec<i32> = sequence.iter().map(|(value, _)| *value).collect();
        let bytes = hex(&sequence.map(|(_, bytes)| bytes).concat());
        assert_eq!(encode(32, &values), bytes);
        assert_eq!(decode(32, bytes.as_slice()), values);
    }

    #[test]
    fn below_protocol_30_an_index_has_4_bytes() {
        let bytes = hex("05000000 ffffffff");
        assert_eq!(encode(29, &[5, NDX_DONE]), bytes);
        assert_eq!(decode(29, bytes.as_slice()), [5, NDX_DONE]);
    }

    #[test]
    fn an_index_beyond_31_bits_is_refused() {
        let beyond = hex("fe ff ffffff 01");
        let mut input = beyond.as_slice();
        let mut decoder = NdxDecoder::new(32);
        assert_eq!(decoder.read(&mut input).unwrap(), i32::MAX);
        assert!(matches!(decoder.read(&mut input), Err(Error::Protocol(_))));
    }

    proptest! {
        #[test]
        fn any_sequence_comes_back_at_any_split(
            values in proptest::collection::vec(
                prop_oneof![-300..70_000_i32, 0..=i32::MAX, -i32::MAX..0],
                0..60,
            ),
            step in 1..6_usize,
            protocol in 29..=32_u32,
        ) {
            let bytes = encode(protocol, &values);
            prop_assert_eq!(decode(protocol, Trickle::new(&bytes, step)), values);
        }

        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            decode(30, bytes.as_slice());
        }
    }
}
