//! How the scan, the inbox and the sender meet.
//!
//! Two queues with bounds under one lock: lists that the scan has ready, and requests that the
//! inbox has read. The sender waits for either. A full queue makes its producer wait, so memory
//! stays bounded whatever the other end does.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::inbox::Incoming;
use crate::list::SentList;
use crate::scan::ScanTotals;

/// Entries of lists that may wait to be sent; one list may go beyond.
const MAX_WAITING_ENTRIES: usize = 2_000;
/// Encoded bytes of lists that may wait; one part may go beyond.
const MAX_WAITING_LIST_BYTES: usize = 256 << 10;
/// Requests that may wait to be answered.
const MAX_WAITING_REQUESTS: usize = 1_024;
/// Bytes of block sums that may wait; the sums of one file may go beyond.
const MAX_WAITING_SUM_BYTES: usize = 4 << 20;
/// How long a full request queue holds the inbox up while the sender does not move. The far
/// side may need us to read before it reads what blocks the sender.
const STALL: Duration = Duration::from_secs(1);

/// A piece of a file list, ready for the wire.
#[derive(Debug)]
pub(crate) struct ListPart {
    /// On the first piece of a sub-list: the number of the directory that it belongs to.
    pub(crate) dir: Option<i32>,
    /// Encoded entries.
    pub(crate) bytes: Vec<u8>,
    /// On the last piece: the list as a whole.
    pub(crate) list: Option<SentList>,
    /// What went wrong, where the encoded end cannot say it.
    pub(crate) io_error: i32,
}

/// What the scan hands over.
#[derive(Debug)]
pub(crate) enum Scanned {
    Part(ListPart),
    Finished(Box<ScanTotals>),
}

/// Whether the sender has a use for another list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListWish {
    /// Nothing else can be written before the next piece.
    Only,
    /// The far side should have more entries to look at.
    First,
    /// The far side has enough for now.
    WhenIdle,
    /// The far side has plenty, or there are no more.
    No,
}

/// What the sender does next.
#[derive(Debug)]
pub(crate) enum Step {
    Scanned(Scanned),
    Requests(VecDeque<Incoming>),
    /// Nothing came within the time given.
    Quiet,
    /// Nothing more will come in; all requests were handed out.
    InboxEnded(Result<()>),
}

#[derive(Debug, Default)]
struct State {
    scanned: VecDeque<Scanned>,
    waiting_entries: usize,
    waiting_list_bytes: usize,
    requests: VecDeque<Incoming>,
    waiting_sum_bytes: usize,
    inbox_end: Option<Result<()>>,
    /// Whether the sender was told of the end.
    inbox_told: bool,
    closed: bool,
}

/// The meeting point.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    state: Mutex<State>,
    for_sender: Condvar,
    for_scan: Condvar,
    for_inbox: Condvar,
    failed: AtomicBool,
}

/// The sender has gone; there is nobody to work for.
#[derive(Debug)]
pub(crate) struct SenderGone;

impl Desk {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands over what the scan made, waiting while too much lies there.
    pub(crate) fn offer(&self, scanned: Scanned) -> std::result::Result<(), SenderGone> {
        let (entries, bytes) = weight(&scanned);
        let mut state = self.lock();
        while !state.closed
            && (state.waiting_entries >= MAX_WAITING_ENTRIES
                || state.waiting_list_bytes >= MAX_WAITING_LIST_BYTES)
        {
            state = self.for_scan.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return Err(SenderGone);
        }
        state.waiting_entries += entries;
        state.waiting_list_bytes += bytes;
        state.scanned.push_back(scanned);
        self.for_sender.notify_one();
        Ok(())
    }

    /// Hands over requests, waiting while too many lie there.
    pub(crate) fn submit(
        &self,
        requests: &mut VecDeque<Incoming>,
    ) -> std::result::Result<(), SenderGone> {
        let mut state = self.lock();
        while !state.closed
            && (state.requests.len() >= MAX_WAITING_REQUESTS
                || state.waiting_sum_bytes >= MAX_WAITING_SUM_BYTES)
        {
            let (next, waited) =
                self.for_inbox.wait_timeout(state, STALL).unwrap_or_else(PoisonError::into_inner);
            state = next;
            if waited.timed_out() {
                break;
            }
        }
        if state.closed {
            return Err(SenderGone);
        }
        state.waiting_sum_bytes += requests.iter().map(Incoming::sum_bytes).sum::<usize>();
        state.requests.append(requests);
        self.for_sender.notify_one();
        Ok(())
    }

    /// Tells that nothing more comes in, and why.
    pub(crate) fn end_inbox(&self, end: Result<()>) {
        self.failed.store(end.is_err(), Relaxed);
        self.lock().inbox_end = Some(end);
        self.for_sender.notify_one();
    }

    /// Fails once the connection has, so that a long file can be left.
    pub(crate) fn still_wanted(&self) -> Result<()> {
        match self.failed.load(Relaxed) {
            true => Err(Error::Wire(wire::Error::Closed)),
            false => Ok(()),
        }
    }

    /// Waits for the next thing to do.
    pub(crate) fn next(&self, wish: ListWish, patience: Option<Duration>) -> Step {
        let mut state = self.lock();
        loop {
            if let Some(step) = self.take(&mut state, wish) {
                return step;
            }
            let Some(patience) = patience else {
                state = self.for_sender.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let (next, waited) = self
                .for_sender
                .wait_timeout(state, patience)
                .unwrap_or_else(PoisonError::into_inner);
            state = next;
            if waited.timed_out() {
                return self.take(&mut state, wish).unwrap_or(Step::Quiet);
            }
        }
    }

    /// Returns the next thing to do, if it lies there already.
    pub(crate) fn next_ready(&self, wish: ListWish) -> Option<Step> {
        self.take(&mut self.lock(), wish)
    }

    /// Returns the next piece of a list, if it lies there already.
    pub(crate) fn next_list(&self) -> Option<Scanned> {
        self.take_scanned(&mut self.lock())
    }

    /// Adds the requests that lie there already to those in hand.
    pub(crate) fn add_requests(&self, waiting: &mut VecDeque<Incoming>) {
        let mut state = self.lock();
        if !state.requests.is_empty() {
            waiting.append(&mut state.requests);
            state.waiting_sum_bytes = 0;
            self.for_inbox.notify_one();
        }
    }

    fn take_scanned(&self, state: &mut State) -> Option<Scanned> {
        let scanned = state.scanned.pop_front()?;
        let (entries, bytes) = weight(&scanned);
        state.waiting_entries -= entries;
        state.waiting_list_bytes -= bytes;
        self.for_scan.notify_one();
        Some(scanned)
    }

    /// Waits, but not for ever, until the far side has closed the connection or it has failed;
    /// tells whether that was so.
    pub(crate) fn await_end(&self, patience: Duration) -> bool {
        let running = |state: &mut State| state.inbox_end.is_none() && !state.inbox_told;
        let (state, waited) = self
            .for_sender
            .wait_timeout_while(self.lock(), patience, running)
            .unwrap_or_else(PoisonError::into_inner);
        drop(state);
        !waited.timed_out()
    }

    /// Takes what lies there already, without waiting.
    fn take(&self, state: &mut State, wish: ListWish) -> Option<Step> {
        if matches!(state.inbox_end, Some(Err(_))) {
            return Self::tell_end(state);
        }
        let idle = state.requests.is_empty();
        let list_now = match wish {
            ListWish::Only | ListWish::First => true,
            ListWish::WhenIdle => idle,
            ListWish::No => false,
        };
        if list_now && let Some(scanned) = self.take_scanned(state) {
            return Some(Step::Scanned(scanned));
        }
        if wish == ListWish::Only {
            return None;
        }
        if !idle {
            state.waiting_sum_bytes = 0;
            self.for_inbox.notify_one();
            return Some(Step::Requests(std::mem::take(&mut state.requests)));
        }
        Self::tell_end(state)
    }

    fn tell_end(state: &mut State) -> Option<Step> {
        state.inbox_told |= state.inbox_end.is_some();
        state.inbox_end.take().map(Step::InboxEnded)
    }

    /// Tells the scan and the inbox to stop.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.scanned.clear();
        self.for_scan.notify_all();
        self.for_inbox.notify_all();
    }
}

fn weight(scanned: &Scanned) -> (usize, usize) {
    match scanned {
        Scanned::Part(part) => (part.list.as_ref().map_or(0, SentList::len), part.bytes.len()),
        Scanned::Finished(_) => (0, 0),
    }
}

impl From<SenderGone> for Error {
    fn from(_: SenderGone) -> Self {
        Self::Send(std::io::ErrorKind::BrokenPipe.into())
    }
}
