//! Which block length and strong length does rsync's own rule give?
//!
//! docs/protocol/transfer.md, block size and strong length.

use crate::block_sums::Head;
use crate::digest::SumKind;

/// The shortest block of the rule.
const BLOCK_LEN_MIN: u64 = 700;

/// Blocks from protocol 30 on are no longer than this.
const BLOCK_LEN_MAX: u64 = 1 << 17;

/// Blocks of older protocols are no longer than this.
const OLD_BLOCK_LEN_MAX: u64 = 1 << 29;

/// How sure a match must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// Enough for the first attempt; the whole-file sum has the last word.
    Normal,
    /// All bytes of the digest: the file failed its sum before.
    Full,
}

/// Returns the block length of the rule: about the square root of the basis length.
pub fn block_len(basis_len: u64, protocol: u32) -> u32 {
    let max = match protocol {
        30.. => BLOCK_LEN_MAX,
        _ => OLD_BLOCK_LEN_MAX,
    };
    let root = basis_len.isqrt() & !7;
    // Both bounds fit in 32 bits.
    root.clamp(BLOCK_LEN_MIN, max) as u32
}

/// Returns how many bytes of each strong sum are sent.
pub fn strong_len(basis_len: u64, block_len: u32, kind: SumKind, certainty: Certainty) -> u32 {
    // A digest is no longer than 16 bytes here.
    let digest_len = kind.block_len() as u32;
    if certainty == Certainty::Full {
        return digest_len;
    }
    let log = |value: u64| value.checked_ilog2().unwrap_or_default();
    let bits = (10 + 2 * log(basis_len)).saturating_sub(log(block_len.into()));
    (bits.saturating_sub(24) / 8).max(2).min(digest_len)
}

/// Describes a basis; a count that the wire cannot carry gives the head of no basis at all.
pub fn head(
    basis_len: u64,
    wish: Option<u32>,
    kind: SumKind,
    certainty: Certainty,
    protocol: u32,
) -> Head {
    let block_len = wish.filter(|&wish| wish > 0).unwrap_or_else(|| block_len(basis_len, protocol));
    let count = basis_len.div_ceil(block_len.into());
    if count == 0 || count > i32::MAX as u64 {
        return Head::default();
    }
    Head {
        count: count as u32,
        block_len,
        strong_len: strong_len(basis_len, block_len, kind, certainty),
        remainder: (basis_len % u64::from(block_len)) as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Length of the basis, then count, block length, strong length, remainder.
    const RECORDED: [(u64, [u32; 4]); 8] = [
        (0, [0, 0, 0, 0]),
        (1, [1, 700, 2, 1]),
        (490_001, [701, 700, 2, 1]),
        (1_000_000, [1000, 1000, 2, 0]),
        (1 << 24, [4096, 4096, 2, 0]),
        (100_000_000, [10_000, 10_000, 3, 0]),
        (1 << 34, [131_072, 131_072, 4, 0]),
        (1_000_000_000_000, [7_629_395, 131_072, 5, 69_632]),
    ];

    fn numbers(head: Head) -> [u32; 4] {
        [head.count, head.block_len, head.strong_len, head.remainder]
    }

    #[test]
    fn the_rule_gives_the_recorded_heads() {
        for (len, expected) in RECORDED {
            let head = head(len, None, SumKind::Xxh128, Certainty::Normal, 32);
            assert_eq!(numbers(head), expected, "{len}");
            assert_eq!(head.basis_len(), len);
        }
        let billion = head(1_000_000_000, None, SumKind::Md5, Certainty::Normal, 30);
        assert_eq!(numbers(billion), [31_630, 31_616, 3, 17_536]);
        let old = head(1_000_000_000_000, None, SumKind::Md4Old, Certainty::Normal, 29);
        assert_eq!(numbers(old), [1_000_000, 1_000_000, 5, 0]);
    }

    #[test]
    fn a_strong_sum_is_never_longer_than_the_digest() {
        assert_eq!(strong_len(1 << 60, 700, SumKind::Xxh64, Certainty::Normal), 8);
        assert_eq!(strong_len(1, 700, SumKind::Xxh3, Certainty::Full), 8);
        assert_eq!(strong_len(1, 700, SumKind::Sha1, Certainty::Full), 16);
        assert_eq!(strong_len(1, 700, SumKind::None, Certainty::Full), 0);
    }

    #[test]
    fn a_count_beyond_the_wire_means_no_basis() {
        let head = head(u64::MAX, Some(700), SumKind::Md5, Certainty::Normal, 32);
        assert_eq!(head, Head::default());
    }
}
