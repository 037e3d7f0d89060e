//! How far a transfer is, for whoever draws it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::event::{Event, Monitor};

/// Counters that the transfer's threads raise and a drawing thread reads.
#[derive(Debug, Default)]
pub struct Progress {
    /// Entries that the scan has found so far.
    pub scanned_files: AtomicU64,
    /// Lengths of the regular files among them, together.
    pub scanned_bytes: AtomicU64,
    /// Whether the scan has seen everything.
    pub scan_done: AtomicBool,
    /// Entries that the far side has looked at.
    pub passed_files: AtomicU64,
    /// Lengths of the regular files among them, together.
    pub passed_bytes: AtomicU64,
    /// Bytes of the present file that are dealt with.
    pub current_bytes: AtomicU64,
    /// Bytes that went to the far side.
    pub sent_bytes: AtomicU64,
    /// Files whose content was sent.
    pub sent_files: AtomicU64,
    /// Lengths of the regular files that a census has counted so far.
    pub census_bytes: AtomicU64,
    /// Whether the census has counted everything.
    pub census_done: AtomicBool,
    /// Set when nobody waits for the census any more.
    pub census_unwanted: AtomicBool,
    current: Mutex<Vec<u8>>,
}

impl Progress {
    /// Names the file that is being sent.
    pub fn begin_file(&self, name: &[u8]) {
        self.current_bytes.store(0, Relaxed);
        if let Ok(mut current) = self.current.lock() {
            current.clear();
            current.extend_from_slice(name);
        }
    }

    /// Returns the length of everything that is to be looked at, once it is known.
    pub fn total_bytes(&self) -> Option<u64> {
        if self.scan_done.load(Relaxed) {
            return Some(self.scanned_bytes.load(Relaxed));
        }
        self.census_done.load(Relaxed).then(|| self.census_bytes.load(Relaxed))
    }

    /// Returns how much of it the far side has by now.
    pub fn present_bytes(&self) -> u64 {
        self.passed_bytes.load(Relaxed) + self.current_bytes.load(Relaxed)
    }

    /// Returns the name of the file that is being sent, empty when there is none yet.
    pub fn current(&self) -> Vec<u8> {
        self.current.lock().map(|name| name.clone()).unwrap_or_default()
    }
}

/// Who sees how far the present file is.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a> {
    pub(crate) progress: &'a Progress,
    /// Where each step is told, with the length of the file and that of all listed ones.
    pub(crate) told: Option<(Monitor<'a>, u64, u64)>,
}

impl Watch<'_> {
    /// So much more of the file is dealt with.
    pub(crate) fn go_on(&self, count: u64) {
        let before = self.progress.current_bytes.fetch_add(count, Relaxed);
        self.is_at(before + count);
    }

    /// Tells how far the file is.
    pub(crate) fn is_at(&self, offset: u64) {
        if let Some((monitor, size, total_size)) = self.told {
            monitor(Event::Moving { offset, size, total_size });
        }
    }
}
