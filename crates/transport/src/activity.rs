//! How much has passed on a connection, and how long has it been silent?

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The length of the longest keep-alive: an empty frame, or at protocol 29 an index with flags.
const KEEP_ALIVE_BYTES: usize = 6;

/// Counters and clock of one connection, to be looked at from any thread.
#[derive(Debug)]
pub struct Activity {
    start: Instant,
    read_bytes: AtomicU64,
    written_bytes: AtomicU64,
    read_at: AtomicU64,
    written_at: AtomicU64,
    holds: AtomicU32,
}

impl Activity {
    pub(crate) fn new() -> Self {
        Activity {
            start: Instant::now(),
            read_bytes: AtomicU64::new(0),
            written_bytes: AtomicU64::new(0),
            read_at: AtomicU64::new(0),
            written_at: AtomicU64::new(0),
            holds: AtomicU32::new(0),
        }
    }

    /// Returns how many bytes came in.
    pub fn read_bytes(&self) -> u64 {
        self.read_bytes.load(Relaxed)
    }

    /// Returns how many bytes went out.
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes.load(Relaxed)
    }

    /// Returns how long nothing but keep-alives has gone out.
    pub fn write_idle(&self) -> Duration {
        self.since(self.written_at.load(Relaxed))
    }

    /// Returns how long nothing has come in or gone out.
    pub fn idle(&self) -> Duration {
        if self.holds.load(Relaxed) > 0 {
            return Duration::ZERO;
        }
        self.since(self.read_at.load(Relaxed).max(self.written_at.load(Relaxed)))
    }

    /// Lets silence not count until the guard is dropped, as while a person types a password.
    pub(crate) fn hold(&self) -> Hold<'_> {
        self.holds.fetch_add(1, Relaxed);
        Hold(self)
    }

    pub(crate) fn note_read(&self, bytes: usize) {
        self.read_bytes.fetch_add(bytes as u64, Relaxed);
        self.read_at.store(self.now(), Relaxed);
    }

    /// Counts what went out. A keep-alive is no sign of life of the far side: when it has died,
    /// the system still takes those few bytes from us.
    pub(crate) fn note_written(&self, bytes: usize) {
        self.written_bytes.fetch_add(bytes as u64, Relaxed);
        if bytes > KEEP_ALIVE_BYTES {
            self.written_at.store(self.now(), Relaxed);
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn since(&self, then: u64) -> Duration {
        Duration::from_millis(self.now().saturating_sub(then))
    }
}

/// Keeps silence from counting; see [`Activity::hold`].
pub(crate) struct Hold<'a>(&'a Activity);

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.0.written_at.store(self.0.now(), Relaxed);
        self.0.holds.fetch_sub(1, Relaxed);
    }
}
