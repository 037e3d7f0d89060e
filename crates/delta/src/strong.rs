//! What is the strong sum of a block?

use md4::Md4;
use md5::Md5;
use sha1::Sha1;
use xxhash_rust::{xxh3, xxh64};

use crate::digest::{Digest, SumKind};

/// Where the session seed stands in an MD5 block sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedOrder {
    /// Before the data: both sides announced the seed-order fix.
    First,
    /// After the data, as peers before 3.1.2 do.
    Last,
}

/// The strong sum of blocks, with the session's kind and seed.
///
/// docs/protocol/transfer.md, strong block sum per type.
#[derive(Clone, Copy, Debug)]
pub struct StrongSum {
    kind: SumKind,
    seed: i32,
    order: SeedOrder,
}

impl StrongSum {
    /// Fixes kind and seed for a session; `order` matters to MD5 alone.
    pub fn new(kind: SumKind, seed: i32, order: SeedOrder) -> Self {
        let order = match kind {
            SumKind::Md4Old | SumKind::Md4 => SeedOrder::Last,
            SumKind::Md5 => order,
            _ => SeedOrder::First,
        };
        Self { kind, seed, order }
    }

    /// Returns the sum of one block, uncut.
    pub fn block(&self, data: &[u8]) -> Digest {
        match self.kind {
            SumKind::Md4Old | SumKind::Md4 => self.seeded::<Md4>(data),
            SumKind::Md5 => self.seeded::<Md5>(data),
            SumKind::Sha1 => self.seeded::<Sha1>(data),
            SumKind::Xxh64 => Digest::new(&xxh64::xxh64(data, self.wide_seed()).to_le_bytes()),
            SumKind::Xxh3 => {
                Digest::new(&xxh3::xxh3_64_with_seed(data, self.wide_seed()).to_le_bytes())
            }
            SumKind::Xxh128 => {
                Digest::new(&xxh3::xxh3_128_with_seed(data, self.wide_seed()).to_le_bytes())
            }
            SumKind::None => Digest::new(&[]),
        }
    }

    fn seeded<H: md5::Digest>(&self, data: &[u8]) -> Digest {
        let seed = self.seed.to_le_bytes();
        let mut hasher = H::new();
        if self.seed != 0 && self.order == SeedOrder::First {
            hasher.update(seed);
        }
        hasher.update(data);
        if self.seed != 0 && self.order == SeedOrder::Last {
            hasher.update(seed);
        }
        Digest::new(&hasher.finalize())
    }

    /// The xxh family takes the seed with its sign stretched to 64 bits.
    fn wide_seed(&self) -> u64 {
        i64::from(self.seed).cast_unsigned()
    }
}
