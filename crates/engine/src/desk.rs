//! How the scan, the inbox and the sender meet.
//!
//! Two queues with bounds under one lock: lists that the scan has ready, and requests that the
//! inbox has read. The sender waits for either. A full queue makes its producer wait, so memory
//! stays bounded whatever the other end does.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::inbox::Incoming;
use crate::list::SentList;
use crate::scan::ScanTotals;
use wire::mux::Message;

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
    /// Nothing more can be listed.
    Failed(Error),
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
    /// Whether the far side has got an entry that it can ask for.
    has_entries: bool,
    /// Whether messages still count although nobody answers requests any more.
    hears_last_words: bool,
    /// The code that the far side gave up with.
    far_exit: Option<i32>,
}

/// The meeting point.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    state: Mutex<State>,
    /// What the inbox has read and not handed over yet.
    batch: Mutex<VecDeque<Incoming>>,
    /// Whether the far side may say that a file has arrived.
    takes_success: bool,
    /// How much the inbox has read.
    read_bytes: AtomicU64,
    /// How often the far side says "done" in all; 0 while that is not known.
    expected_dones: AtomicU32,
    for_sender: Condvar,
    for_scan: Condvar,
    for_inbox: Condvar,
    failed: AtomicBool,
}

/// The sender has gone; there is nobody to work for.
#[derive(Debug)]
pub(crate) struct SenderGone;

impl Desk {
    /// Creates a desk on which nothing lies.
    pub(crate) fn new(takes_success: bool) -> Self {
        Self { takes_success, ..Self::default() }
    }

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

    fn batch(&self) -> MutexGuard<'_, VecDeque<Incoming>> {
        self.batch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a request to those that are handed over next, and counts them.
    pub(crate) fn gather(&self, request: Incoming) -> usize {
        let mut batch = self.batch();
        batch.push_back(request);
        batch.len()
    }

    /// Takes a message at its place among the requests; the far side's giving up ends the reading.
    pub(crate) fn hear(&self, message: Message) -> wire::Result<()> {
        let is_out_of_place = match message {
            Message::ErrorExit(code) => {
                let mut state = self.lock();
                state.far_exit = code.or(state.far_exit);
                return Err(wire::Error::Closed);
            }
            Message::Success(_) => !self.takes_success,
            Message::NoSend(_) => true,
            _ => false,
        };
        if is_out_of_place {
            let text = "a message that only a sender or a removing receiver may send";
            return Err(wire::Error::Protocol(text.to_owned()));
        }
        self.gather(Incoming::Message(message));
        // Once the sender has gone, messages stay here for the end of the session.
        let _ = self.submit();
        Ok(())
    }

    /// Once the sender has gone: tells whether messages are still to be read, and keeps but those.
    pub(crate) fn hears_last_words(&self) -> bool {
        self.batch().retain(|incoming| matches!(incoming, Incoming::Message(_)));
        self.lock().hears_last_words
    }

    /// Gives out all messages that the sender has not heard.
    pub(crate) fn take_messages(&self, mut hear: impl FnMut(Message)) {
        let waiting = std::mem::take(&mut self.lock().requests);
        let unread = std::mem::take(&mut *self.batch());
        for incoming in waiting.into_iter().chain(unread) {
            if let Incoming::Message(message) = incoming {
                hear(message);
            }
        }
    }

    /// Puts requests back that were taken and not answered.
    pub(crate) fn put_back(&self, mut waiting: VecDeque<Incoming>) {
        let mut state = self.lock();
        waiting.append(&mut state.requests);
        state.requests = waiting;
    }

    /// Prefers the reason that the far side gave over the broken stream that it left.
    ///
    /// Where we gave up ourselves, its giving up is but the echo of that.
    pub(crate) fn explain(&self, error: Error) -> Error {
        error.or_far_exit(self.lock().far_exit)
    }

    /// Notes how much was read from the connection.
    pub(crate) fn note_read(&self, bytes: u64) {
        self.read_bytes.store(bytes, Relaxed);
    }

    /// Returns how much was read from the connection.
    pub(crate) fn read_bytes(&self) -> u64 {
        self.read_bytes.load(Relaxed)
    }

    /// Hands over what was gathered, waiting while too much lies there.
    pub(crate) fn submit(&self) -> std::result::Result<(), SenderGone> {
        let mut requests = self.batch();
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
        state.requests.append(&mut requests);
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

    /// Notes that the far side has an entry to ask for.
    pub(crate) fn note_entry(&self) {
        let mut state = self.lock();
        if !state.has_entries {
            state.has_entries = true;
            self.for_inbox.notify_all();
        }
    }

    /// Waits until the far side has something to ask for; false when the sender goes before.
    pub(crate) fn await_entry(&self) -> bool {
        let waits = |state: &mut State| !state.has_entries && !state.closed;
        let state = self.for_inbox.wait_while(self.lock(), waits);
        state.unwrap_or_else(PoisonError::into_inner).has_entries
    }

    /// Notes how often the far side will say that something is done.
    pub(crate) fn expect_dones(&self, count: u32) {
        self.expected_dones.store(count, Relaxed);
    }

    /// Tells whether the far side has said the last of what it has to say.
    pub(crate) fn is_last_done(&self, count: u32) -> bool {
        count > 0 && self.expected_dones.load(Relaxed) == count
    }

    /// Tells the scan and the inbox to stop; the inbox may go on for the sake of messages.
    pub(crate) fn close(&self, hears_last_words: bool) {
        let mut state = self.lock();
        state.closed = true;
        state.hears_last_words = hears_last_words;
        state.scanned.clear();
        self.for_scan.notify_all();
        self.for_inbox.notify_all();
    }
}

fn weight(scanned: &Scanned) -> (usize, usize) {
    match scanned {
        Scanned::Part(part) => (part.list.as_ref().map_or(0, SentList::len), part.bytes.len()),
        Scanned::Finished(_) | Scanned::Failed(_) => (0, 0),
    }
}

impl From<SenderGone> for Error {
    fn from(_: SenderGone) -> Self {
        Self::Send(std::io::ErrorKind::BrokenPipe.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_keep_their_place_and_none_is_lost_when_the_sender_goes() {
        let desk = Desk::new(true);
        desk.hear(Message::Success(1)).unwrap();
        desk.gather(Incoming::Done);
        desk.hear(Message::Success(2)).unwrap();
        let Step::Requests(mut waiting) = desk.next(ListWish::No, None) else { panic!() };
        assert!(matches!(waiting.pop_front(), Some(Incoming::Message(Message::Success(1)))));
        assert!(matches!(waiting.front(), Some(Incoming::Done)));
        desk.put_back(waiting);
        desk.close(true);
        desk.hear(Message::Success(3)).unwrap();
        assert!(desk.hear(Message::NoSend(4)).is_err());
        let mut heard = Vec::new();
        desk.take_messages(|message| heard.push(message));
        assert_eq!(heard, [Message::Success(2), Message::Success(3)]);
    }
}
