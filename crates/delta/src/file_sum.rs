//! What is the sum of a whole file?

use md4::Md4;
use md5::{Digest as _, Md5};
use sha1::Sha1;
use xxhash_rust::xxh3::Xxh3Default;
use xxhash_rust::xxh64::Xxh64;

use crate::digest::{Digest, SumKind};

/// The sum of a file's new content, fed in order.
///
/// The same sum, with seed 0, serves the checksums of a file list
/// (docs/protocol/transfer.md, whole-file sum).
pub struct FileSum(State);

enum State {
    Md4(Md4),
    Md5(Md5),
    Sha1(Sha1),
    Xxh64(Xxh64),
    Xxh3(Box<Xxh3Default>),
    Xxh128(Box<Xxh3Default>),
    None,
}

impl FileSum {
    /// Starts a sum; the seed matters to [`SumKind::Md4Old`] alone.
    pub fn new(kind: SumKind, seed: i32) -> Self {
        Self(match kind {
            // The seed counts here even when it is zero, unlike in a block sum.
            SumKind::Md4Old => State::Md4(Md4::new().chain_update(seed.to_le_bytes())),
            SumKind::Md4 => State::Md4(Md4::new()),
            SumKind::Md5 => State::Md5(Md5::new()),
            SumKind::Sha1 => State::Sha1(Sha1::new()),
            SumKind::Xxh64 => State::Xxh64(Xxh64::new(0)),
            SumKind::Xxh3 => State::Xxh3(Box::default()),
            SumKind::Xxh128 => State::Xxh128(Box::default()),
            SumKind::None => State::None,
        })
    }

    /// Adds the next bytes of the file.
    pub fn update(&mut self, data: &[u8]) {
        match &mut self.0 {
            State::Md4(hasher) => hasher.update(data),
            State::Md5(hasher) => hasher.update(data),
            State::Sha1(hasher) => hasher.update(data),
            State::Xxh64(hasher) => hasher.update(data),
            State::Xxh3(hasher) | State::Xxh128(hasher) => hasher.update(data),
            State::None => {}
        }
    }

    /// Ends the sum.
    pub fn finish(self) -> Digest {
        match self.0 {
            State::Md4(hasher) => Digest::new(&hasher.finalize()),
            State::Md5(hasher) => Digest::new(&hasher.finalize()),
            State::Sha1(hasher) => Digest::new(&hasher.finalize()),
            State::Xxh64(hasher) => Digest::new(&hasher.digest().to_le_bytes()),
            State::Xxh3(hasher) => Digest::new(&hasher.digest().to_le_bytes()),
            State::Xxh128(hasher) => Digest::new(&hasher.digest128().to_le_bytes()),
            State::None => Digest::new(&[0]),
        }
    }
}
