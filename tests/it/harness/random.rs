//! Where do repeatable random numbers and contents come from?

/// A small generator (splitmix64): the same seed gives the same tree on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Returns bytes that no codec makes smaller.
    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(len + 8);
        while bytes.len() < len {
            bytes.extend_from_slice(&self.next().to_le_bytes());
        }
        bytes.truncate(len);
        bytes
    }

    /// Returns lines of words, which a codec makes about four times smaller.
    pub(crate) fn text(&mut self, len: usize) -> Vec<u8> {
        const WORDS: [&str; 16] = [
            "backup", "night", "target", "the", "of", "a", "snapshot", "block", "sum", "is",
            "wake", "file", "and", "list", "receiver", "sender",
        ];
        let mut text = Vec::with_capacity(len + 16);
        while text.len() < len {
            let number = self.next();
            text.extend_from_slice(WORDS[(number % 16) as usize].as_bytes());
            text.push(if number >> 60 == 0 { b'\n' } else { b' ' });
        }
        text.truncate(len);
        text
    }
}
