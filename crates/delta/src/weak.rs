//! What is the weak sum of a block, and how does it roll along a file?
//!
//! Bytes count as signed and nothing is added to them: `s1` is the sum of the bytes, `s2` the sum
//! of the bytes each times its distance from the block's end, both modulo 2^16
//! (docs/protocol/transfer.md, rolling sum).

/// Bytes that one step of the block sum takes; the compiler makes vector code of a step.
const LANES: usize = 32;

/// Returns the weak sum of a block.
pub fn weak_sum(block: &[u8]) -> u32 {
    Rolling::over(block).value()
}

/// A weak sum that can move along a file byte by byte.
#[derive(Clone, Copy, Debug)]
pub struct Rolling {
    s1: u32,
    s2: u32,
    len: u32,
}

impl Rolling {
    /// Starts with the sum of a whole window.
    pub fn over(window: &[u8]) -> Self {
        let (chunks, tail) = window.as_chunks::<LANES>();
        let (sums, sums_of_sums) = sum_lanes(chunks);
        let (mut s1, mut s2) = (0u32, 0u32);
        for lane in 0..LANES {
            s1 = s1.wrapping_add(u32::from(sums[lane]));
            // A byte's weight is the distance of its chunk in bytes, less its place in the chunk.
            s2 = s2
                .wrapping_add(u32::from(sums_of_sums[lane]).wrapping_mul(LANES as u32))
                .wrapping_sub(u32::from(sums[lane]).wrapping_mul(lane as u32));
        }
        for &byte in tail {
            s1 = s1.wrapping_add(signed(byte));
            s2 = s2.wrapping_add(s1);
        }
        // Only the length modulo 2^16 counts.
        let len = window.len() as u32;
        Self { s1, s2, len }
    }

    /// Returns the sum in its wire form: `s1` in the low half, `s2` in the high half.
    pub fn value(&self) -> u32 {
        (self.s1 & 0xffff) | (self.s2 << 16)
    }

    /// Moves the window by one byte.
    pub fn roll(&mut self, leaving: u8, entering: u8) {
        let leaving = signed(leaving);
        self.s1 = self.s1.wrapping_add(signed(entering)).wrapping_sub(leaving);
        self.s2 = self.s2.wrapping_add(self.s1).wrapping_sub(self.len.wrapping_mul(leaving));
    }

    /// Moves the window at least once and then on until its sum is wanted.
    ///
    /// Returns how many bytes it moved and whether the last sum was wanted; unwanted it stops where
    /// the shorter of the two slices ends.
    // A function of its own, so that all of the loop stays in registers.
    #[inline(never)]
    pub(crate) fn roll_until(
        &mut self,
        leaving: &[u8],
        entering: &[u8],
        wanted: impl Fn(u32) -> bool,
    ) -> (usize, bool) {
        let mut rolling = *self;
        let mut moved = 0;
        let mut hit = false;
        for (&out, &into) in leaving.iter().zip(entering) {
            rolling.roll(out, into);
            moved += 1;
            if wanted(rolling.value()) {
                hit = true;
                break;
            }
        }
        *self = rolling;
        (moved, hit)
    }
}

/// Sums up the chunks lane by lane, and these sums again after every chunk.
///
/// Sixteen bits a lane are enough, because both halves are taken modulo 2^16 anyway.
// Inlined, the sums would be taken apart for the final addition and the loop lose its shape.
#[inline(never)]
fn sum_lanes(chunks: &[[u8; LANES]]) -> ([u16; LANES], [u16; LANES]) {
    let mut sums = [0u16; LANES];
    let mut sums_of_sums = [0u16; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            sums[lane] = sums[lane].wrapping_add(signed(chunk[lane]) as u16);
            sums_of_sums[lane] = sums_of_sums[lane].wrapping_add(sums[lane]);
        }
    }
    (sums, sums_of_sums)
}

fn signed(byte: u8) -> u32 {
    i32::from(byte.cast_signed()).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn by_definition(block: &[u8]) -> u32 {
        let (mut s1, mut s2) = (0i64, 0i64);
        for (place, &byte) in block.iter().enumerate() {
            let value = i64::from(byte.cast_signed());
            s1 += value;
            s2 += (block.len() - place) as i64 * value;
        }
        (s1 & 0xffff) as u32 | ((s2 & 0xffff) as u32) << 16
    }

    proptest! {
        #[test]
        fn the_block_sum_obeys_the_definition(block in prop::collection::vec(any::<u8>(), 0..5000)) {
            prop_assert_eq!(weak_sum(&block), by_definition(&block));
        }

        #[test]
        fn rolling_gives_the_sum_of_every_window(
            data in prop::collection::vec(any::<u8>(), 2..400),
            len in 1usize..200,
        ) {
            let len = len.min(data.len() - 1);
            let mut rolling = Rolling::over(&data[..len]);
            for start in 1..=data.len() - len {
                rolling.roll(data[start - 1], data[start + len - 1]);
                prop_assert_eq!(rolling.value(), weak_sum(&data[start..start + len]));
            }
        }
    }

    #[test]
    fn extreme_bytes_wrap_like_the_definition() {
        for byte in [0x80, 0x7f, 0xff] {
            let block = vec![byte; 131_072];
            assert_eq!(weak_sum(&block), by_definition(&block));
        }
    }
}
