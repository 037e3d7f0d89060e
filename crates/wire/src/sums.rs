//! How does the receiving side describe the basis file that it has?
//!
//! A head of four numbers, then one record a block: weak sum and the start of the strong sum
//! (docs/protocol/transfer.md, "Requests and replies").

use std::io::Read;

use crate::error::{Error, Result};
use crate::int::{put_u32, read_u32};
use crate::limits;

/// The head of a file's block sums; all zero without a basis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SumHead {
    /// The number of blocks.
    pub count: u32,
    /// The length of each block but the last.
    pub block_len: u32,
    /// How many bytes of the strong sum are sent with each block.
    pub strong_len: u32,
    /// The length of the last block, 0 if it is a full one.
    pub remainder: u32,
}

impl SumHead {
    /// Reads a head and checks it for the protocol.
    pub fn read<R: Read + ?Sized>(r: &mut R, protocol: u32) -> Result<Self> {
        let head = Self {
            count: read_u32(r)?,
            block_len: read_u32(r)?,
            strong_len: read_u32(r)?,
            remainder: read_u32(r)?,
        };
        let longest = if protocol < 30 { limits::BLOCK_LEN_OLD } else { limits::BLOCK_LEN };
        let sane = head.count <= limits::SUM_COUNT
            && head.block_len <= longest
            && (head.block_len > 0 || head.count == 0)
            && head.strong_len <= limits::STRONG_LEN
            && head.remainder <= head.block_len;
        if !sane {
            let Self { count, block_len, strong_len, remainder } = head;
            return Err(Error::Protocol(format!(
                "block sums of {count} blocks of {block_len} bytes, \
                 strong length {strong_len}, remainder {remainder}"
            )));
        }
        Ok(head)
    }

    /// Appends the head.
    pub fn put(&self, out: &mut Vec<u8>) {
        for value in [self.count, self.block_len, self.strong_len, self.remainder] {
            put_u32(out, value);
        }
    }

    /// Returns the length of the basis file that the head describes.
    pub fn basis_len(&self) -> u64 {
        let full = u64::from(self.count) * u64::from(self.block_len);
        match self.remainder {
            0 => full,
            remainder => full.saturating_sub(u64::from(self.block_len - remainder)),
        }
    }
}

/// Reads one block's record: returns the weak sum, and puts the strong one into `strong`.
///
/// `strong_len` is that of the head; `strong` has at least that length.
pub fn read_block_sum<R: Read + ?Sized>(
    r: &mut R,
    strong_len: usize,
    strong: &mut [u8],
) -> Result<u32> {
    const WEAK: usize = 4;
    let mut record = [0; WEAK + limits::STRONG_LEN as usize];
    let (Some(record), Some(strong)) =
        (record.get_mut(..WEAK + strong_len), strong.get_mut(..strong_len))
    else {
        return Err(Error::Malformed(format!("strong sum of {strong_len} bytes")));
    };
    r.read_exact(record)?;
    let (weak, rest) = record.split_at(WEAK);
    strong.copy_from_slice(rest);
    Ok(weak.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte)))
}

/// Appends one block's record; `strong` has the length that the head says.
pub fn put_block_sum(out: &mut Vec<u8>, weak: u32, strong: &[u8]) {
    put_u32(out, weak);
    out.extend_from_slice(strong);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(count: u32, block_len: u32, strong_len: u32, remainder: u32) -> SumHead {
        SumHead { count, block_len, strong_len, remainder }
    }

    fn read(values: SumHead, protocol: u32) -> Result<SumHead> {
        let mut bytes = Vec::new();
        values.put(&mut bytes);
        SumHead::read(&mut bytes.as_slice(), protocol)
    }

    #[test]
    fn heads_within_the_bounds_pass_and_others_do_not() {
        let good = [head(0, 0, 0, 0), head(5, 700, 2, 200), head(1, 131_072, 16, 131_072)];
        for good in good {
            assert_eq!(read(good, 32).unwrap(), good);
        }
        let bad = [
            head(1 << 31, 700, 2, 0),
            head(1, 0, 2, 0),
            head(1, 131_073, 2, 0),
            head(1, 700, 17, 0),
            head(1, 700, 2, 701),
            head(0, 0, 0, 1),
        ];
        for bad in bad {
            assert!(matches!(read(bad, 32), Err(Error::Protocol(_))), "{bad:?}");
        }
        assert!(read(head(1, 1 << 29, 2, 0), 29).is_ok());
        assert!(read(head(1, (1 << 29) + 1, 2, 0), 29).is_err());
    }

    #[test]
    fn the_length_of_the_basis_follows_from_the_head() {
        assert_eq!(head(5, 700, 2, 200).basis_len(), 3000);
        assert_eq!(head(1000, 1000, 2, 0).basis_len(), 1_000_000);
        assert_eq!(head(0, 700, 2, 10).basis_len(), 0);
        let most = head(i32::MAX as u32, 1 << 29, 2, 0);
        assert_eq!(most.basis_len(), u64::from(u32::MAX >> 1) << 29);
    }

    #[test]
    fn a_record_is_read_to_its_last_byte_and_not_beyond() {
        let mut input = &b"\x8b\x07\x8e\xf7\x43\xc9next"[..];
        let mut strong = [0; 16];
        assert_eq!(read_block_sum(&mut input, 2, &mut strong).unwrap(), 0xf78e_078b);
        assert_eq!(strong[..3], [0x43, 0xc9, 0]);
        assert_eq!(input, b"next");
        let mut out = Vec::new();
        put_block_sum(&mut out, 0xf78e_078b, &strong[..2]);
        assert_eq!(out, b"\x8b\x07\x8e\xf7\x43\xc9");
        assert!(read_block_sum(&mut input, 17, &mut [0; 20]).is_err());
        assert!(matches!(read_block_sum(&mut input, 2, &mut strong), Err(Error::Closed)));
    }
}
