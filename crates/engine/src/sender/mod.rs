//! How the far side's requests are answered: the thread that writes the connection.
//!
//! One loop: file lists go out while the far side should have more to look at, requests are
//! answered in their order, and the phases end one after the other
//! (docs/protocol/transfer.md, "Phases").

mod answers;
mod lists;

use std::collections::VecDeque;
use std::io::Write;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use tree::{Follow, Root};
use wire::item::{Request, iflags, put_item_head};
use wire::mux::{Message, MuxWriter, tag};
use wire::ndx::{NDX_DEL_STATS, NDX_DONE, NdxEncoder};
use wire::stats::{SessionStats, put_deletion_stats};

use crate::content::Content;
use crate::desk::{Desk, ListWish, Step};
use crate::dirs::OpenDirs;
use crate::error::{Error, Result};
use crate::event::{Monitor, Telling};
use crate::handover::Handover;
use crate::inbox::Incoming;
use crate::list::LiveLists;
use crate::look::Look;
use crate::outbox::{Outbox, give_up};
use crate::progress::Progress;
use crate::read_ahead::ReadAhead;
use crate::sources::Sources;
use crate::summary::{Counts, Summary};

/// With fewer requests in hand more are fetched, so that there is always something to do ahead.
const FEW_WAITING: usize = 32;

/// What of the session decides how requests are answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerRules {
    pub(crate) protocol: u32,
    pub(crate) incremental: bool,
    /// Half of the time limit: how long the far side may hear nothing.
    pub(crate) keep_alive: Option<Duration>,
    /// Whether the far side is our client, which knows but what we tell.
    pub(crate) is_server: bool,
    pub(crate) telling: Telling,
    /// How files are opened, and the directories that they lie in.
    pub(crate) look: Look,
    pub(crate) follow: Follow,
    /// Content goes into the batch, not to the far side.
    pub(crate) only_records: bool,
    /// Whether whole paths are names, which then begin with a slash for the eye.
    pub(crate) relative: bool,
}

/// The sending end of a session.
pub(crate) struct Sender<'a, W: Write> {
    pub(crate) out: MuxWriter<W>,
    pub(crate) rules: AnswerRules,
    pub(crate) content: Content<'a>,
    pub(crate) roots: &'a [Root],
    /// Their paths as the user wrote them.
    pub(crate) written: &'a [Vec<u8>],
    pub(crate) desk: &'a Desk,
    pub(crate) monitor: Monitor<'a>,
    /// In a copy on one machine files are handed over, not read.
    pub(crate) handover: Option<&'a Handover>,
    pub(crate) progress: &'a Progress,
    state: State,
}

/// What changes from step to step.
struct State {
    ndx: NdxEncoder,
    record: Vec<u8>,
    lists: LiveLists,
    dirs: OpenDirs,
    read_ahead: ReadAhead,
    /// Requests at the front of the queue that reading ahead was thought of for.
    considered: usize,
    /// How long it took to open and read the last small files, on average.
    reading_time: Duration,
    /// The list that is being written has more pieces.
    in_list: bool,
    lists_done: bool,
    list_count: u32,
    /// Entries that were sent so far, and the lengths of the files among them.
    listed: u64,
    listed_size: u64,
    /// Entries up to the end of the list that was asked of last.
    listed_here: u64,
    /// Content that did not go through the connection, with what would have framed it.
    handed_bytes: u64,
    /// The index behind the last entry that was sent.
    ndx_sent: i32,
    /// The index behind the list that was asked of last.
    ndx_reached: i32,
    /// The index behind the last entry that counts as passed.
    ndx_passed: i32,
    phase: u32,
    io_error: i32,
    /// What the far side deleted, as it came.
    deletion_stats: Option<[u32; 5]>,
    /// When the session began, and how long its lists took.
    begin: Instant,
    list_millis: u64,
    summary: Summary,
}

impl<'a, W: Write> Sender<'a, W> {
    /// Prepares to answer; nothing is written yet.
    pub(crate) fn new(
        out: MuxWriter<W>,
        rules: AnswerRules,
        content: Content<'a>,
        sources: &'a Sources,
        desk: &'a Desk,
        (monitor, progress): (Monitor<'a>, &'a Progress),
    ) -> Self {
        let state = State {
            ndx: NdxEncoder::new(rules.protocol),
            record: Vec::new(),
            lists: LiveLists::default(),
            dirs: OpenDirs::new(rules.follow),
            read_ahead: ReadAhead::new(rules.look, content.pack_rules()),
            considered: 0,
            reading_time: Duration::ZERO,
            in_list: false,
            lists_done: false,
            list_count: 0,
            listed: 0,
            listed_size: 0,
            listed_here: 0,
            handed_bytes: 0,
            ndx_sent: 0,
            ndx_reached: 0,
            ndx_passed: 0,
            phase: 0,
            io_error: 0,
            deletion_stats: None,
            begin: Instant::now(),
            list_millis: 0,
            summary: Summary::default(),
        };
        let (roots, written) = (sources.roots(), sources.written());
        let handover = None;
        Self { out, rules, content, roots, written, desk, monitor, handover, progress, state }
    }

    /// Sends the lists, answers every request, and says goodbye.
    pub(crate) fn run(&mut self, outbox: &Outbox) -> Result<Summary> {
        let mut waiting = VecDeque::new();
        let done = self.converse(&mut waiting, outbox);
        self.desk.put_back(waiting);
        done?;
        self.state.summary.list_build = Duration::from_millis(self.state.list_millis);
        self.state.summary.sent_bytes = self.out.bytes_written() + self.state.handed_bytes;
        Ok(self.state.summary.clone())
    }

    fn converse(&mut self, waiting: &mut VecDeque<Incoming>, outbox: &Outbox) -> Result<()> {
        loop {
            outbox.empty_into(&mut self.out)?;
            while let Some(scanned) = self.list_that_is_due() {
                // A client that gets an empty list reads nothing behind it.
                outbox.empty_into(&mut self.out)?;
                self.scanned(scanned)?;
            }
            if self.wish() != ListWish::Only
                && let Some(incoming) = waiting.pop_front()
            {
                self.state.considered = self.state.considered.saturating_sub(1);
                if !self.answer(incoming)? {
                    break;
                }
                if waiting.len() < FEW_WAITING {
                    self.desk.add_requests(waiting);
                }
                self.read_ahead(waiting);
                continue;
            }
            if self.has_nothing_to_send() {
                return Ok(self.out.flush()?);
            }
            match self.wait()? {
                Step::Scanned(scanned) => {
                    outbox.empty_into(&mut self.out)?;
                    self.scanned(scanned)?;
                }
                Step::Requests(requests) => *waiting = requests,
                Step::Quiet => self.keep_alive()?,
                Step::InboxEnded(end) => return Err(end.err().unwrap_or_else(closed)),
            }
        }
        while !self.rules.incremental && !self.state.lists_done {
            match self.desk.next(ListWish::Only, None) {
                Step::Scanned(scanned) => self.scanned(scanned)?,
                _ => return Err(closed()),
            }
        }
        self.leave(waiting)?;
        outbox.empty_into(&mut self.out)?;
        Ok(self.out.flush()?)
    }

    /// A client that gets an empty list asks for nothing, and says nothing any more.
    fn has_nothing_to_send(&self) -> bool {
        let state = &self.state;
        self.rules.is_server && state.lists_done && state.summary.files.total() == 0
    }

    /// Tells the far side why nothing more comes; returns what is left to be told here.
    #[track_caller]
    pub(crate) fn give_up(&mut self, error: Error, outbox: &Outbox) -> Error {
        let server = self.rules.is_server.then_some(outbox);
        give_up(&mut self.out, self.rules.protocol, server, error, "sender")
    }

    /// Waits for work, after everything written so far is on its way.
    fn wait(&mut self) -> Result<Step> {
        if let Some(step) = self.desk.next_ready(self.wish()) {
            return Ok(step);
        }
        self.out.flush()?;
        self.progress.sent_bytes.store(self.out.bytes_written(), Relaxed);
        Ok(self.desk.next(self.wish(), self.rules.keep_alive))
    }

    fn keep_alive(&mut self) -> Result<()> {
        if self.rules.protocol >= 30 {
            return Ok(self.out.keep_alive()?);
        }
        // Old peers take an index behind the list, with a flag that means nothing else.
        if !self.state.in_list && self.state.phase == 0 && self.state.ndx_sent > 0 {
            self.state.record.clear();
            let keep_alive = Request {
                ndx: self.state.ndx_sent,
                iflags: iflags::IS_NEW,
                basis_type: None,
                xname: None,
            };
            self.put_head(&keep_alive)?;
            self.out.flush()?;
        }
        Ok(())
    }

    fn put_ndx(&mut self, ndx: i32) -> Result<()> {
        self.state.record.clear();
        self.state.ndx.put(&mut self.state.record, ndx);
        Ok(self.out.data(&self.state.record)?)
    }

    fn put_head(&mut self, request: &Request) -> Result<()> {
        let State { record, ndx, .. } = &mut self.state;
        record.clear();
        put_item_head(record, ndx, request)?;
        Ok(self.out.data(record)?)
    }

    /// Answers one step of the far side; false when it has come to the end.
    fn answer(&mut self, incoming: Incoming) -> Result<bool> {
        match incoming {
            Incoming::Done => return self.phase_done(),
            Incoming::Item(request) => self.item(request)?,
            Incoming::KeepAlive => self.keep_alive()?,
            Incoming::DeletionStats(stats) => self.deletion_stats(stats),
            Incoming::Message(message) => self.hear(message)?,
        }
        Ok(true)
    }

    fn phase_done(&mut self) -> Result<bool> {
        self.tell_standing(None, self.state.listed_here);
        if self.rules.incremental
            && let Some(retired) = self.state.lists.retire_oldest()
        {
            self.passed(&retired, retired.ndx_end());
            if !self.state.lists.is_empty() {
                self.put_ndx(NDX_DONE)?;
                return Ok(true);
            }
        }
        self.state.phase += 1;
        if self.state.phase > 2 {
            return Ok(false);
        }
        self.put_ndx(NDX_DONE)?;
        Ok(true)
    }

    fn hear(&mut self, message: Message) -> Result<()> {
        if let Message::Success(ndx) = message {
            return self.remove_source(ndx);
        }
        self.state.summary.hear(message, self.monitor);
        Ok(())
    }

    fn deletion_stats(&mut self, stats: [u32; 5]) {
        self.state.deletion_stats = Some(stats);
        let [regular, dirs, links, devices, specials] = stats;
        let [regular, dirs, links, devices, specials] =
            [regular, dirs, links, devices, specials].map(u64::from);
        let counts = Counts { regular, dirs, links, devices, specials };
        self.state.summary.deleted = Some(counts);
    }

    /// Ends the session (docs/protocol/transfer.md, "Goodbye").
    fn leave(&mut self, waiting: &mut VecDeque<Incoming>) -> Result<()> {
        if self.state.io_error != 0 && self.rules.protocol >= 30 {
            self.out.message(tag::IO_ERROR, &self.state.io_error.to_le_bytes())?;
        }
        self.put_ndx(NDX_DONE)?;
        if self.rules.is_server {
            self.put_stats()?;
        } else if self.out.is_recorded() {
            self.out.divert(true);
            self.put_stats()?;
            self.out.divert(false);
        }
        self.await_done(waiting)?;
        if self.rules.protocol >= 31 {
            self.repeat_deletion_stats()?;
            self.put_ndx(NDX_DONE)?;
            self.await_done(waiting)?;
        }
        Ok(())
    }

    /// Tells the client what only we have counted.
    fn put_stats(&mut self) -> Result<()> {
        let signed = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let stats = SessionStats {
            read_bytes: signed(self.desk.read_bytes()),
            written_bytes: signed(self.out.bytes_written()),
            total_size: signed(self.state.summary.total_size),
            flist_build_ms: signed(self.state.list_millis),
            flist_send_ms: 0,
        };
        self.state.record.clear();
        stats.put(&mut self.state.record, self.rules.protocol);
        Ok(self.out.data(&self.state.record)?)
    }

    /// The client has them from its own receiving half, but waits for them to come back.
    fn repeat_deletion_stats(&mut self) -> Result<()> {
        let State { record, ndx, deletion_stats, .. } = &mut self.state;
        let (true, Some(counts)) = (self.rules.is_server, deletion_stats) else {
            return Ok(());
        };
        record.clear();
        ndx.put(record, NDX_DEL_STATS);
        put_deletion_stats(record, counts);
        Ok(self.out.data(record)?)
    }

    fn await_done(&mut self, waiting: &mut VecDeque<Incoming>) -> Result<()> {
        loop {
            match waiting.pop_front() {
                Some(Incoming::Done) => return Ok(()),
                Some(Incoming::DeletionStats(stats)) => self.deletion_stats(stats),
                Some(Incoming::KeepAlive) => {}
                Some(Incoming::Message(message)) => self.hear(message)?,
                Some(Incoming::Item(asked)) => return Err(unknown(asked.request.ndx)),
                None => match self.wait()? {
                    Step::Requests(requests) => *waiting = requests,
                    Step::Quiet => self.keep_alive()?,
                    Step::Scanned(_) => {}
                    Step::InboxEnded(end) => return Err(end.err().unwrap_or_else(closed)),
                },
            }
        }
    }
}

fn closed() -> Error {
    Error::Wire(wire::Error::Closed)
}

fn unknown(ndx: i32) -> Error {
    let text = format!("it asks for index {ndx}, which stands in no file list");
    Error::Wire(wire::Error::Protocol(text))
}
