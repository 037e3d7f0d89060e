//! How the receiver, the finishing threads and the generator meet.
//!
//! The receiver hands over file lists and hears nothing back; the generator says what it asked
//! for, in order, so that a reply is believed only where it repeats the request.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use delta::Head;
use tree::Stat;
use wire::item::Request;

use crate::error::Result;
use crate::received::ReceivedList;
use crate::wanted::LongAttributes;

/// Requests that may be unanswered; the generator goes no further ahead.
const MAX_ASKED: usize = 2_048;

/// A file that was asked for.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) request: Request,
    pub(crate) list: Arc<ReceivedList>,
    pub(crate) index: usize,
    /// What was said of the basis.
    pub(crate) head: Head,
    pub(crate) basis: BasisAt,
    /// The destination as it was; `None` if there is none.
    pub(crate) now: Option<Stat>,
    /// Whether the file failed its checksum before.
    pub(crate) is_redo: bool,
    /// What is there is kept and only the rest comes.
    pub(crate) is_append: bool,
    /// Extended attributes and ACLs as far as they are known.
    pub(crate) long: LongAttributes,
}

/// Where the basis of a file lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BasisAt {
    /// There is none.
    Nowhere,
    /// In the destination file itself.
    Destination,
    /// In the partial dir.
    Partial,
    /// In the backup that was made before an update in place.
    Backup,
    /// In an alternative directory, under this path below it.
    Alternative(usize, Vec<u8>),
    /// In the same directory, under this name.
    Fuzzy(Vec<u8>),
    /// In the same directory of an alternative, under this name.
    AlternativeFuzzy(usize, Vec<u8>),
}

/// What the generator learns.
#[derive(Debug)]
pub(crate) enum News {
    /// A file is in its place (or already was), or will never be.
    Finished { list: Arc<ReceivedList>, index: usize, ok: bool },
    /// A file failed its checksum and is to be asked for again.
    Again { list: Arc<ReceivedList>, index: usize },
}

#[derive(Debug, Default)]
struct State {
    lists: VecDeque<Arc<ReceivedList>>,
    lists_ended: bool,
    asked: VecDeque<Asked>,
    news: VecDeque<News>,
    /// Attributes of items without content that wait for values, by index.
    waiting_values: HashMap<i32, LongAttributes>,
    /// How many phases the sender has ended.
    phases: u32,
    io_error: i32,
    end: Option<Result<()>>,
    /// Something else has changed since the generator looked last.
    nudged: bool,
    /// Whether it is settled where files go.
    site_is_known: bool,
    closed: bool,
    /// The index behind the last entry that the generator went past.
    examined: i32,
    /// How many lists and phases the generator has ended.
    ended: u32,
}

/// What the generator is to do next.
#[derive(Debug)]
pub(crate) enum Turn {
    News(VecDeque<News>),
    List(Arc<ReceivedList>),
    ListsEnded,
    /// Something else changed.
    Look,
    /// Nothing happened for as long as was given.
    Quiet,
}

/// The meeting point.
#[derive(Debug, Default)]
pub(crate) struct Board {
    /// The stream comes from a batch: it answers requests that were made when it was written.
    replays: bool,
    state: Mutex<State>,
    for_generator: Condvar,
    for_receiver: Condvar,
}

impl Board {
    pub(crate) fn new(replays: bool) -> Self {
        Board { replays, ..Board::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a list to the generator.
    pub(crate) fn add_list(&self, list: Arc<ReceivedList>) {
        let mut state = self.lock();
        state.lists.push_back(list);
        self.for_generator.notify_one();
    }

    /// Tells that no further list comes.
    pub(crate) fn end_lists(&self) {
        self.lock().lists_ended = true;
        self.for_generator.notify_one();
    }

    /// Adds bits of what went wrong at the sender.
    pub(crate) fn add_io_error(&self, bits: i32) {
        self.lock().io_error |= bits & 7;
    }

    pub(crate) fn io_error(&self) -> i32 {
        self.lock().io_error
    }

    /// Tells the generator something about a file.
    pub(crate) fn tell(&self, news: News) {
        self.lock().news.push_back(news);
        self.for_generator.notify_one();
    }

    /// Wakes the generator, which may wait for a list to settle.
    pub(crate) fn nudge(&self) {
        self.lock().nudged = true;
        self.for_generator.notify_one();
    }

    /// Counts a phase that the sender has ended.
    pub(crate) fn end_phase(&self) {
        self.lock().phases += 1;
        self.nudge();
    }

    pub(crate) fn phases(&self) -> u32 {
        self.lock().phases
    }

    /// Tells that nothing more comes in, and why.
    pub(crate) fn end(&self, end: Result<()>) {
        self.lock().end = Some(end);
        self.for_generator.notify_one();
    }

    /// Notes what was asked for; false when the generator must wait before it asks for more.
    pub(crate) fn ask(&self, asked: Asked) -> bool {
        let mut state = self.lock();
        state.asked.push_back(asked);
        if self.replays {
            self.for_receiver.notify_one();
            return true;
        }
        state.asked.len() < MAX_ASKED
    }

    /// Keeps the attributes of an item until the values that it lacks have come.
    pub(crate) fn await_values(&self, ndx: i32, long: LongAttributes) {
        self.lock().waiting_values.insert(ndx, long);
    }

    /// Takes the attributes of an item whose values have come.
    pub(crate) fn take_awaited(&self, ndx: i32) -> Option<LongAttributes> {
        self.lock().waiting_values.remove(&ndx)
    }

    /// Tells whether more may be asked for.
    pub(crate) fn has_room(&self) -> bool {
        self.replays || self.lock().asked.len() < MAX_ASKED
    }

    /// Takes what was asked for under an index. Requests before it will not be answered any more:
    /// they are returned as well.
    pub(crate) fn take_asked(&self, ndx: i32) -> (Vec<Asked>, Option<Asked>) {
        let mut state = self.lock();
        let Some(at) = state.asked.iter().position(|asked| asked.request.ndx == ndx) else {
            return (Vec::new(), None);
        };
        let passed_over = state.asked.drain(..at).collect();
        let asked = state.asked.pop_front();
        if state.asked.len() == MAX_ASKED / 2 {
            state.nudged = true;
            self.for_generator.notify_one();
        }
        (passed_over, asked)
    }

    /// Takes what was asked for under an index and will not be answered. The word of it may come
    /// before the answers to earlier requests.
    pub(crate) fn take_unsent(&self, ndx: i32) -> Option<Asked> {
        let mut state = self.lock();
        let at = state.asked.iter().position(|asked| asked.request.ndx == ndx)?;
        state.asked.remove(at)
    }

    /// Takes everything that was asked for and will not be answered any more.
    pub(crate) fn take_all_asked(&self) -> Vec<Asked> {
        self.lock().asked.drain(..).collect()
    }

    /// Returns what there is to do, if anything; `wants_list` says whether the next list counts.
    pub(crate) fn ready(&self, wants_list: bool) -> Result<Option<Turn>> {
        Self::take(&mut self.lock(), wants_list)
    }

    /// Waits until there is something to do.
    pub(crate) fn wait(&self, wants_list: bool, patience: Option<Duration>) -> Result<Turn> {
        let mut state = self.lock();
        if let Some(turn) = Self::take(&mut state, wants_list)? {
            return Ok(turn);
        }
        if state.end.is_some() {
            let text = "it ends before it has answered everything".to_owned();
            return Err(wire::Error::Protocol(text).into());
        }
        let mut state = match patience {
            None => self.for_generator.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(patience) => {
                let (state, waited) = self
                    .for_generator
                    .wait_timeout(state, patience)
                    .unwrap_or_else(PoisonError::into_inner);
                if waited.timed_out() {
                    return Ok(Turn::Quiet);
                }
                state
            }
        };
        Ok(Self::take(&mut state, wants_list)?.unwrap_or(Turn::Look))
    }

    fn take(state: &mut State, wants_list: bool) -> Result<Option<Turn>> {
        if let Some(Err(_)) = &state.end
            && let Some(Err(error)) = state.end.take()
        {
            return Err(error);
        }
        if !state.news.is_empty() {
            return Ok(Some(Turn::News(std::mem::take(&mut state.news))));
        }
        if std::mem::take(&mut state.nudged) {
            return Ok(Some(Turn::Look));
        }
        if !wants_list {
            return Ok(None);
        }
        if let Some(list) = state.lists.pop_front() {
            return Ok(Some(Turn::List(list)));
        }
        Ok(state.lists_ended.then_some(Turn::ListsEnded))
    }

    /// Tells whether another list has come after the ones that were taken.
    pub(crate) fn has_list(&self) -> bool {
        !self.lock().lists.is_empty()
    }

    /// A file that was asked for will not come.
    pub(crate) fn not_sent(&self, asked: Asked) {
        self.tell(News::Finished { list: asked.list, index: asked.index, ok: false });
    }

    /// Waits for the first list, and returns whether more come. A list of one entry does not tell
    /// that; what follows it does.
    pub(crate) fn await_first(&self) -> Result<(Arc<ReceivedList>, bool)> {
        let mut state = self.lock();
        loop {
            if let Some(Err(_)) = &state.end
                && let Some(Err(error)) = state.end.take()
            {
                return Err(error);
            }
            let more = state.lists.len() > 1;
            if let Some(first) = state.lists.front()
                && (first.len() != 1 || more || state.lists_ended)
            {
                return Ok((Arc::clone(first), more));
            }
            state = self.for_generator.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Tells the receiver that it is settled where files go.
    pub(crate) fn site_is_known(&self) {
        self.lock().site_is_known = true;
        self.for_receiver.notify_one();
    }

    /// Waits until that is so; false when the generator has gone.
    pub(crate) fn await_site(&self) -> bool {
        let mut state = self.lock();
        while !state.site_is_known && !state.closed {
            state = self.for_receiver.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.closed
    }

    pub(crate) fn replays(&self) -> bool {
        self.replays
    }

    /// Tells a replay which entries the generator went past.
    pub(crate) fn has_examined(&self, ndx_end: i32) {
        if self.replays {
            self.lock().examined = ndx_end;
            self.for_receiver.notify_one();
        }
    }

    /// Tells a replay that the generator has ended a list or a phase.
    pub(crate) fn has_ended(&self) {
        if self.replays {
            self.lock().ended += 1;
            self.for_receiver.notify_one();
        }
    }

    /// Waits until it is settled whether the generator asks for a file, and tells so; what comes
    /// again is asked for in any case.
    pub(crate) fn await_asked(&self, ndx: i32, comes_again: bool) -> bool {
        let mut state = self.lock();
        loop {
            if state.asked.iter().any(|asked| asked.request.ndx == ndx) {
                return true;
            }
            if state.closed || (state.examined > ndx && !comes_again) {
                return false;
            }
            state = self.for_receiver.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until the generator went past an entry.
    pub(crate) fn await_examined(&self, ndx: i32) {
        let waits = |state: &mut State| state.examined <= ndx && !state.closed;
        drop(self.for_receiver.wait_while(self.lock(), waits));
    }

    /// Waits until the generator has ended so many lists and phases. What it asked for below
    /// `ndx_end` meanwhile is returned before: a batch that ends the list has nothing of it.
    pub(crate) fn await_ended(&self, number: u32, ndx_end: i32) -> Vec<Asked> {
        let mut state = self.lock();
        loop {
            if state.examined >= ndx_end {
                let asked = state.asked.drain(..);
                let (left, later): (Vec<Asked>, Vec<Asked>) =
                    asked.partition(|asked| asked.request.ndx < ndx_end);
                state.asked = later.into();
                if !left.is_empty() {
                    return left;
                }
            }
            if state.ended >= number || state.closed {
                return Vec::new();
            }
            state = self.for_receiver.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Tells the receiver that the generator has gone.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.for_receiver.notify_one();
    }

    /// Waits, but not for ever, until the receiver has read everything; tells whether it has.
    pub(crate) fn await_end(&self, patience: Duration) -> bool {
        let running = |state: &mut State| state.end.is_none();
        let (state, waited) = self
            .for_generator
            .wait_timeout_while(self.lock(), patience, running)
            .unwrap_or_else(PoisonError::into_inner);
        drop(state);
        !waited.timed_out()
    }
}
