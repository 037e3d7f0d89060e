//! Which sums describe a basis file to the sender?

use std::io::{self, Read};

use crate::block_sums::Head;
use crate::strong::StrongSum;
use crate::weak::weak_sum;

/// Bytes that are read at once, unless a block is longer: they stay in the cache for both sums.
const READ_AHEAD: usize = 1 << 18;

/// A basis that ended before its head said so; it was cut while it was read.
///
/// It travels inside an [`io::Error`].
#[derive(Debug, thiserror::Error)]
#[error("the file shrank while its blocks were summed up: {missing} bytes are missing")]
pub struct ShortBasis {
    /// How many bytes the head promised beyond the end.
    pub missing: u64,
}

/// Computes the sums of a basis, block by block in order, as the generator sends them.
///
/// `each` gets the weak sum and the first [`Head::strong_len`] bytes of the strong one. No more
/// than [`Head::basis_len`] bytes are read. If there are fewer, the blocks that are whole are
/// handed out before the error, which holds a [`ShortBasis`].
pub fn signature<R: Read, E: From<io::Error>>(
    mut basis: R,
    head: &Head,
    strong: &StrongSum,
    each: &mut impl FnMut(u32, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let block_len = head.block_len as usize;
    let mut left = head.basis_len();
    if block_len == 0 || left == 0 {
        return Ok(());
    }
    let room = left.min(((READ_AHEAD / block_len).max(1) * block_len) as u64);
    let mut blocks = Vec::with_capacity(room as usize);
    while left > 0 {
        blocks.clear();
        let wanted = left.min(room);
        basis.by_ref().take(wanted).read_to_end(&mut blocks)?;
        left -= blocks.len() as u64;
        let is_short = (blocks.len() as u64) < wanted;
        if is_short {
            blocks.truncate(blocks.len() / block_len * block_len);
        }
        for block in blocks.chunks(block_len) {
            let digest = strong.block(block);
            let sum = digest.as_bytes();
            each(weak_sum(block), &sum[..sum.len().min(head.strong_len as usize)])?;
        }
        if is_short {
            return Err(io::Error::other(ShortBasis { missing: left }).into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::block_size::{Certainty, head};
    use crate::digest::SumKind;
    use crate::strong::SeedOrder;

    fn strong() -> StrongSum {
        StrongSum::new(SumKind::Xxh128, 7, SeedOrder::First)
    }

    /// The sums of the blocks, and how many bytes were missing in the end.
    fn sums(basis: impl Read, head: &Head) -> (Vec<(u32, Vec<u8>)>, Option<u64>) {
        let mut sums = Vec::new();
        let result = signature(basis, head, &strong(), &mut |weak, strong| {
            sums.push((weak, strong.to_vec()));
            Ok::<(), io::Error>(())
        });
        let missing = result.err().map(|error| {
            let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ShortBasis>());
            inner.expect("a short basis").missing
        });
        (sums, missing)
    }

    proptest! {
        #[test]
        fn each_block_has_its_sums_and_a_cut_is_told(
            len in 0usize..900_000,
            cut in prop_oneof![Just(0usize), 1usize..900_000],
            block_len in prop_oneof![Just(700u32), 1000u32..400_000],
        ) {
            let basis: Vec<u8> = (0..len).map(|at| (at * at / 700) as u8).collect();
            let head = head(len as u64, Some(block_len), SumKind::Xxh128, Certainty::Normal, 32);
            let kept = &basis[..len.saturating_sub(cut)];
            let missing = len - kept.len();
            let expected: Vec<_> = kept
                .chunks(block_len as usize)
                .filter(|block| missing == 0 || block.len() == block_len as usize)
                .map(|block| {
                    let digest = strong().block(block);
                    (weak_sum(block), digest.as_bytes()[..head.strong_len as usize].to_vec())
                })
                .collect();
            let (found, told) = sums(kept, &head);
            prop_assert_eq!(found, expected);
            prop_assert_eq!(told, (missing > 0).then_some(missing as u64));
        }
    }

    #[test]
    fn no_byte_beyond_the_head_is_read() {
        let head = Head { count: 2, block_len: 700, strong_len: 2, remainder: 100 };
        let mut basis = io::Cursor::new(vec![1; 5000]);
        assert_eq!(sums(&mut basis, &head).0.len(), 2);
        assert_eq!(basis.position(), 800);
        assert_eq!(sums(io::empty(), &Head::default()), (Vec::new(), None));
    }
}
