//! Would these bytes shrink at all?
//!
//! Two cheap tests on a few samples. Bytes that are already coded are nearly equally frequent:
//! the chance that two of them are equal is 1/256 for random data, a little more for pictures and
//! films, and several times that for text, programs and sound. And they repeat nothing, which a
//! trial with LZ4 shows.

/// Fewer bytes than this tell nothing, and cost nothing to compress.
pub(crate) const SAMPLE_MIN: usize = 1 << 10;

const PIECES: usize = 8;
const PIECE_LEN: usize = 2 << 10;

/// Tells whether compressing the bytes would be a waste of time.
///
/// Samples are spread over the whole slice, so give all that is at hand, up to a few hundred KiB:
/// the head of a file is often no picture of its rest. Fewer than 1 KiB always look compressible.
pub fn looks_incompressible(data: &[u8]) -> bool {
    if data.len() < SAMPLE_MIN {
        return false;
    }
    let sample = sample(data);
    is_flat(&sample) && repeats_nothing(&sample)
}

fn sample(data: &[u8]) -> Vec<u8> {
    if data.len() <= PIECES * PIECE_LEN {
        return data.to_vec();
    }
    // From the middle of each part, so that a plain head does not count for more than it is.
    let part = data.len() / PIECES;
    let before = (part - PIECE_LEN) / 2;
    data.chunks_exact(part).flat_map(|part| &part[before..before + PIECE_LEN]).copied().collect()
}

/// Tells whether two bytes are equal less often than 1.5 times in 256.
fn is_flat(sample: &[u8]) -> bool {
    let mut counts = [0u64; 256];
    for &byte in sample {
        counts[usize::from(byte)] += 1;
    }
    let pairs = (sample.len() as u64) * (sample.len() as u64).saturating_sub(1);
    let equal_pairs: u64 = counts.iter().map(|n| n * n.saturating_sub(1)).sum();
    equal_pairs * 256 * 2 < pairs * 3
}

/// Tells whether LZ4 saves less than a thirty-second part.
fn repeats_nothing(sample: &[u8]) -> bool {
    let mut block = vec![0; lz4_flex::block::get_maximum_output_size(sample.len())];
    match lz4_flex::block::compress_into(sample, &mut block) {
        Ok(len) => len > sample.len() - sample.len() / 32,
        Err(_) => true,
    }
}
