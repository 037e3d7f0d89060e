//! How `--bwlimit` holds the outgoing bytes back.

use std::io::{self, IoSlice, Write};
use std::time::{Duration, Instant};

/// A pause is worth its cost from this length on.
const MIN_PAUSE: Duration = Duration::from_millis(20);
/// Time that a quiet spell may be made up for.
const MAX_CREDIT: Duration = Duration::from_millis(200);

/// A writer that lets so many bytes through a second, on average.
#[derive(Debug)]
pub(crate) struct Throttle<W> {
    inner: W,
    bytes_per_second: Option<u64>,
    /// When everything written so far would be through at the permitted rate.
    due: Instant,
}

impl<W: Write> Throttle<W> {
    /// Limits `inner`; `None` lets everything through.
    pub(crate) fn new(inner: W, bytes_per_second: Option<u64>) -> Self {
        Self { inner, bytes_per_second, due: Instant::now() }
    }

    /// The longest piece written at once: a tenth of a second's worth.
    fn piece(&self, len: usize) -> usize {
        let Some(rate) = self.bytes_per_second else {
            return len;
        };
        let piece = usize::try_from(rate / 10).unwrap_or(usize::MAX).clamp(512, 256 << 10);
        len.min(piece)
    }

    fn account(&mut self, written: usize) {
        let Some(rate) = self.bytes_per_second else {
            return;
        };
        let now = Instant::now();
        let cost = Duration::from_secs_f64(written as f64 / rate.max(1) as f64);
        let earliest = now.checked_sub(MAX_CREDIT).unwrap_or(now);
        self.due = self.due.max(earliest) + cost;
        let pause = self.due.saturating_duration_since(now);
        if pause >= MIN_PAUSE {
            std::thread::sleep(pause);
        }
    }
}

impl<W: Write> Write for Throttle<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = self.piece(bytes.len());
        let written = self.inner.write(&bytes[..piece])?;
        self.account(written);
        Ok(written)
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        if self.bytes_per_second.is_none() {
            return self.inner.write_vectored(slices);
        }
        match slices.iter().find(|slice| !slice.is_empty()) {
            Some(slice) => self.write(slice),
            None => Ok(0),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_kept_on_average_and_no_byte_is_lost() {
        let begin = Instant::now();
        let mut throttle = Throttle::new(Vec::new(), Some(100_000));
        throttle.write_all(&[7; 50_000]).unwrap();
        let took = begin.elapsed().as_secs_f64();
        assert!((0.25..1.5).contains(&took), "{took}");
        assert_eq!(throttle.inner, [7; 50_000]);
    }
}
