//! Which sums exist, and how long is each on the wire?

/// The longest digest of any kind: SHA-1.
pub(crate) const DIGEST_MAX: usize = 20;

/// A kind of strong sum, as the two sides agreed on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SumKind {
    /// MD4 as protocols 27 to 29 use it: the seed follows a block and precedes a file.
    Md4Old,
    /// MD4 chosen by name from protocol 30 on: the seed follows a block, files have none.
    Md4,
    /// MD5; where the seed of a block stands is told by [`SeedOrder`](crate::SeedOrder).
    Md5,
    /// SHA-1, seed first.
    Sha1,
    /// XXH64.
    Xxh64,
    /// The 64-bit form of XXH3.
    Xxh3,
    /// The 128-bit form of XXH3.
    Xxh128,
    /// No sum: one zero byte for a file, and no block sums at all.
    None,
}

impl SumKind {
    /// Returns the length in bytes of a whole-file sum of this kind.
    pub fn file_len(self) -> usize {
        match self {
            Self::Md4Old | Self::Md4 | Self::Md5 | Self::Xxh128 => 16,
            Self::Sha1 => 20,
            Self::Xxh64 | Self::Xxh3 => 8,
            Self::None => 1,
        }
    }

    /// Returns the greatest strong length of a block sum of this kind.
    pub fn block_len(self) -> usize {
        match self {
            Self::None => 0,
            other => other.file_len().min(16),
        }
    }
}

/// A finished sum in wire order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest {
    bytes: [u8; DIGEST_MAX],
    len: usize,
}

impl Digest {
    /// Takes a sum of at most 20 bytes; longer input is cut.
    pub fn new(sum: &[u8]) -> Self {
        let len = sum.len().min(DIGEST_MAX);
        let mut bytes = [0; DIGEST_MAX];
        bytes[..len].copy_from_slice(&sum[..len]);
        Self { bytes, len }
    }

    /// Returns the bytes as they go over the wire.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Returns a sum of the same length that is certainly not this one.
    ///
    /// A sender that could not read its file to the end sends it, so that the receiver discards
    /// what it got (docs/protocol/transfer.md, whole-file sum).
    pub fn spoiled(&self) -> Self {
        let mut wrong = Self { bytes: [0; DIGEST_MAX], len: self.len };
        if self.as_bytes().iter().all(|&byte| byte == 0) && self.len > 0 {
            wrong.bytes[self.len - 1] = 1;
        }
        wrong
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spoiled_sum_always_differs_and_keeps_its_length() {
        assert_eq!(Digest::new(&[7; 16]).spoiled(), Digest::new(&[0; 16]));
        assert_eq!(Digest::new(&[0; 8]).spoiled().as_bytes(), [0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(Digest::new(&[0]).spoiled().as_bytes(), [1]);
    }
}
