//! How the sender of a copy on one machine hands its files to the receiver: opened, not read.

use std::collections::VecDeque;
use std::fs::File;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Files that may be open and not taken.
const MAX_OPEN: usize = 64;

#[derive(Debug, Default)]
struct State {
    files: VecDeque<(i32, File)>,
    closed: bool,
}

/// The files on their way.
#[derive(Debug, Default)]
pub(crate) struct Handover {
    state: Mutex<State>,
    taken: Condvar,
}

impl Handover {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the file of an index, before the reply that announces it is written.
    pub(crate) fn give(&self, ndx: i32, file: File) {
        let mut state = self.lock();
        while state.files.len() >= MAX_OPEN && !state.closed {
            state = self.taken.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.files.push_back((ndx, file));
    }

    /// Tells whether giving another one would wait.
    pub(crate) fn is_full(&self) -> bool {
        self.lock().files.len() >= MAX_OPEN
    }

    /// Takes the file of an index, if it was given.
    pub(crate) fn take(&self, ndx: i32) -> Option<File> {
        let mut state = self.lock();
        state.files.front().filter(|(given, _)| *given == ndx)?;
        let (_, file) = state.files.pop_front()?;
        self.taken.notify_one();
        Some(file)
    }

    /// Tells whether it is over, be it before all is done.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Tells that nobody takes any more.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.taken.notify_all();
    }
}
