//! How the far side's requests are answered: the thread that writes the connection.
//!
//! One loop: file lists go out while the far side should have more to look at, requests are
//! answered in their order, and the phases end one after the other
//! (docs/protocol/transfer.md, "Phases").

use std::collections::VecDeque;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use tree::{Kind, Root};
use wire::item::{Request, iflags, put_reply_head};
use wire::mux::{MuxWriter, tag};
use wire::ndx::{NDX_DONE, NDX_FLIST_EOF, NDX_FLIST_OFFSET, NdxEncoder};
use wire::xattr::check_wanted;

use crate::attributes::put_values;
use crate::content::{Content, Sent};
use crate::desk::{Desk, ListPart, ListWish, Scanned, Step};
use crate::dirs::OpenDirs;
use crate::error::{Error, Result};
use crate::event::{Event, Gravity, Item, Monitor, Problem};
use crate::inbox::{Basis, Incoming, ItemRequest};
use crate::list::{LiveLists, Place, SentList};
use crate::progress::Progress;
use crate::read_ahead::ReadAhead;
use crate::scan::ScanTotals;
use crate::small_file::{self, Opened, SMALL_FILE};
use crate::summary::{Counts, Summary};

/// Entries that the far side should have to look at before it waits for us.
const ENTRIES_AHEAD: i32 = 1_000;
/// Entries that it may have while nothing else is to do.
const ENTRIES_AHEAD_IDLE: i32 = 10_000;
/// Requests that must wait before reading ahead is thought of.
const MIN_WAITING: usize = 4;
/// Files that take longer than this to read, on average, come from a disk and not from memory.
const SLOW_READ: Duration = Duration::from_millis(1);

/// What of the session decides how requests are answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerRules {
    pub(crate) protocol: u32,
    pub(crate) incremental: bool,
    /// Half of the time limit: how long the far side may hear nothing.
    pub(crate) keep_alive: Option<Duration>,
}

/// The sending end of a push.
pub(crate) struct Sender<'a, W: Write> {
    pub(crate) out: MuxWriter<W>,
    pub(crate) rules: AnswerRules,
    pub(crate) content: Content<'a>,
    pub(crate) roots: &'a [Root],
    pub(crate) desk: &'a Desk,
    pub(crate) monitor: Monitor<'a>,
    pub(crate) progress: &'a Progress,
    state: State,
}

/// What changes from step to step.
#[derive(Debug)]
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
    /// The index behind the last entry that was sent.
    ndx_sent: i32,
    /// The index behind the list that was asked of last.
    ndx_reached: i32,
    /// The index behind the last entry that counts as passed.
    ndx_passed: i32,
    phase: u32,
    io_error: i32,
    summary: Summary,
}

impl<'a, W: Write> Sender<'a, W> {
    /// Prepares to answer; nothing is written yet.
    pub(crate) fn new(
        out: MuxWriter<W>,
        rules: AnswerRules,
        content: Content<'a>,
        roots: &'a [Root],
        desk: &'a Desk,
        (monitor, progress): (Monitor<'a>, &'a Progress),
    ) -> Self {
        let state = State {
            ndx: NdxEncoder::new(rules.protocol),
            record: Vec::new(),
            lists: LiveLists::default(),
            dirs: OpenDirs::default(),
            read_ahead: ReadAhead::default(),
            considered: 0,
            reading_time: Duration::ZERO,
            in_list: false,
            lists_done: false,
            ndx_sent: 0,
            ndx_reached: 0,
            ndx_passed: 0,
            phase: 0,
            io_error: 0,
            summary: Summary::default(),
        };
        Self {
            out,
            rules,
            content,
            roots,
            desk,
            monitor,
            progress,
            state,
        }
    }

    /// Sends the lists, answers every request, and says goodbye.
    pub(crate) fn run(&mut self) -> Result<Summary> {
        let mut waiting = VecDeque::new();
        loop {
            while let Some(Step::Scanned(scanned)) = self.list_that_is_due() {
                self.scanned(scanned)?;
            }
            if !self.state.in_list
                && let Some(incoming) = waiting.pop_front() {
                    self.state.considered = self.state.considered.saturating_sub(1);
                    if !self.answer(incoming)? {
                        break;
                    }
                    self.read_ahead(&waiting);
                    continue;
                }
            match self.wait()? {
                Step::Scanned(scanned) => self.scanned(scanned)?,
                Step::Requests(requests) => waiting = requests,
                Step::Quiet => self.keep_alive()?,
                Step::InboxEnded(end) => return Err(end.err().unwrap_or_else(closed)),
            }
        }
        self.leave(waiting)?;
        self.state.summary.sent_bytes = self.out.bytes_written();
        Ok(self.state.summary.clone())
    }

    /// Tells the far side why nothing more comes, where it may still listen.
    pub(crate) fn give_up(&mut self, error: &Error) {
        let far_side_is_gone = match error {
            Error::Send(_) | Error::FarExit(_) => true,
            Error::Wire(error) => matches!(error, wire::Error::Closed | wire::Error::Io(_)),
            _ => false,
        };
        if self.rules.protocol >= 31 && !far_side_is_gone {
            // The connection ends in any case; a failure to say why changes nothing.
            let code = error.exit_code().to_le_bytes();
            let _ = self
                .out
                .message(tag::ERROR_EXIT, &code)
                .and_then(|()| self.out.flush());
        }
    }

    /// Takes a list that the far side should have before more of its requests are answered.
    fn list_that_is_due(&self) -> Option<Step> {
        match self.wish() {
            ListWish::Only | ListWish::First => self.desk.next_list(),
            ListWish::WhenIdle | ListWish::No => None,
        }
    }

    fn wish(&self) -> ListWish {
        let state = &self.state;
        // Whatever the far side asked for last, it is past all lists that it has retired.
        let reached = state.ndx_reached.max(state.lists.oldest_end());
        let ahead = state.ndx_sent.saturating_sub(reached);
        if state.in_list || state.ndx_sent == 0 {
            ListWish::Only
        } else if state.lists_done || ahead >= ENTRIES_AHEAD_IDLE {
            ListWish::No
        } else if ahead >= ENTRIES_AHEAD {
            ListWish::WhenIdle
        } else {
            ListWish::First
        }
    }

    /// Waits for work, after everything written so far is on its way.
    fn wait(&mut self) -> Result<Step> {
        if let Some(step) = self.desk.next_ready(self.wish()) {
            return Ok(step);
        }
        self.out.flush()?;
        self.progress
            .sent_bytes
            .store(self.out.bytes_written(), Relaxed);
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

    fn scanned(&mut self, scanned: Scanned) -> Result<()> {
        match scanned {
            Scanned::Part(part) => self.list_part(part),
            Scanned::Finished(totals) => self.lists_done(&totals),
        }
    }

    fn list_part(&mut self, part: ListPart) -> Result<()> {
        let state = &mut self.state;
        if let Some(dir) = part.dir {
            state.record.clear();
            state.ndx.put(&mut state.record, NDX_FLIST_OFFSET - dir);
            self.out.data(&state.record)?;
        }
        self.out.data(&part.bytes)?;
        state.summary.list_bytes += part.bytes.len() as u64;
        if part.io_error != 0 {
            self.out
                .message(tag::IO_ERROR, &part.io_error.to_le_bytes())?;
        }
        state.in_list = part.list.is_none();
        if let Some(list) = part.list {
            state.ndx_sent = list.ndx_end().max(1);
            state.lists.push(list);
        }
        Ok(())
    }

    fn lists_done(&mut self, totals: &ScanTotals) -> Result<()> {
        let summary = &mut self.state.summary;
        summary.files = totals.files;
        summary.total_size = totals.total_size;
        summary.large_files = totals.large_files;
        summary.largest = totals.largest;
        summary.errors += totals.errors;
        summary.vanished += totals.vanished;
        self.state.lists_done = true;
        if !self.rules.incremental {
            return Ok(());
        }
        self.put_ndx(NDX_FLIST_EOF)
    }

    fn put_ndx(&mut self, ndx: i32) -> Result<()> {
        self.state.record.clear();
        self.state.ndx.put(&mut self.state.record, ndx);
        Ok(self.out.data(&self.state.record)?)
    }

    fn put_head(&mut self, request: &Request) -> Result<()> {
        let State { record, ndx, .. } = &mut self.state;
        record.clear();
        put_reply_head(record, ndx, request)?;
        Ok(self.out.data(record)?)
    }

    /// Answers one step of the far side; false when it has come to the end.
    fn answer(&mut self, incoming: Incoming) -> Result<bool> {
        match incoming {
            Incoming::Done => return self.phase_done(),
            Incoming::Item(request) => self.item(request)?,
            Incoming::KeepAlive => self.keep_alive()?,
            Incoming::DeletionStats(stats) => self.deletion_stats(stats),
        }
        Ok(true)
    }

    fn phase_done(&mut self) -> Result<bool> {
        if self.rules.incremental
            && let Some(retired) = self.state.lists.retire_oldest() {
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

    fn deletion_stats(&mut self, [regular, dirs, links, devices, specials]: [u32; 5]) {
        let [regular, dirs, links, devices, specials] =
            [regular, dirs, links, devices, specials].map(u64::from);
        let counts = Counts {
            regular,
            dirs,
            links,
            devices,
            specials,
        };
        self.state.summary.deleted = Some(counts);
    }

    /// Counts everything before `ndx_end` as looked at.
    fn passed(&mut self, list: &SentList, ndx_end: i32) {
        let from = self.state.ndx_passed.max(list.ndx_start());
        if ndx_end <= from {
            return;
        }
        self.state.ndx_passed = ndx_end;
        self.progress
            .passed_bytes
            .fetch_add(list.bytes_in(from..ndx_end), Relaxed);
        let files = u64::try_from(ndx_end - from).unwrap_or(0);
        self.progress.passed_files.fetch_add(files, Relaxed);
    }

    fn item(&mut self, asked: ItemRequest) -> Result<()> {
        let ndx = asked.request.ndx;
        let list = self
            .state
            .lists
            .find(ndx)
            .map(Arc::clone)
            .ok_or_else(|| unknown(ndx))?;
        self.state.ndx_reached = self.state.ndx_reached.max(list.ndx_end());
        self.passed(&list, ndx);
        self.dispatch(asked, &list)?;
        self.progress.current_bytes.store(0, Relaxed);
        self.passed(&list, ndx + 1);
        Ok(())
    }

    fn dispatch(&mut self, mut asked: ItemRequest, list: &SentList) -> Result<()> {
        let ndx = asked.request.ndx;
        let wants_content = asked.request.iflags & iflags::TRANSFER != 0;
        let Some(place) = list.place(ndx) else {
            if wants_content || !self.rules.incremental {
                return Err(unknown(ndx));
            }
            return self.report(&asked, list, &directory_of(list), list.dir_path());
        };
        if !wants_content {
            return self.report(&asked, list, &place, &place.path());
        }
        if place.kind != Kind::Regular || self.state.phase >= 2 {
            return Err(Error::Wire(wire::Error::Protocol(format!(
                "it asks for the content of index {ndx}, which is none that can be sent now"
            ))));
        }
        match asked.basis.take() {
            None => self.report(&asked, list, &place, &place.path()),
            Some(basis) => self.transfer(&asked, *basis, list, &place),
        }
    }

    /// Repeats a request that needs no content; a preview is nothing but that.
    fn report(
        &mut self,
        asked: &ItemRequest,
        list: &SentList,
        place: &Place<'_>,
        path: &[u8],
    ) -> Result<()> {
        self.put_head(&asked.request)?;
        self.put_values(asked, list, place)?;
        if asked.request.iflags & iflags::TRANSFER != 0 {
            self.state.summary.transferred += 1;
            self.state.summary.transferred_size += place.size;
        }
        self.tell(&asked.request, place, path);
        Ok(())
    }

    fn put_values(
        &mut self,
        asked: &ItemRequest,
        list: &SentList,
        place: &Place<'_>,
    ) -> Result<()> {
        let Some(wanted) = &asked.wanted_values else {
            return Ok(());
        };
        let names = list.long_values(asked.request.ndx);
        check_wanted(wanted, names)?;
        let dir = self.state.dirs.open(self.roots, place.root, place.dir).ok();
        self.state.record.clear();
        put_values(
            &mut self.state.record,
            dir.as_deref(),
            place.name,
            names,
            wanted,
        );
        Ok(self.out.data(&self.state.record)?)
    }

    fn tell(&mut self, request: &Request, place: &Place<'_>, path: &[u8]) {
        let flags = request.iflags;
        if flags & iflags::IS_NEW != 0 {
            self.state.summary.created.add(place.kind);
        }
        let leader = request
            .xname
            .as_deref()
            .filter(|_| request.iflags & iflags::LOCAL_CHANGE != 0);
        let (kind, size) = (place.kind, place.size);
        let name = if path.is_empty() { b"." } else { path };
        (self.monitor)(Event::Item(Item {
            name,
            iflags: flags,
            kind,
            leader,
            size,
        }));
    }

    /// Sends the content of one file.
    fn transfer(
        &mut self,
        asked: &ItemRequest,
        basis: Basis,
        list: &SentList,
        place: &Place<'_>,
    ) -> Result<()> {
        let path = place.path();
        self.progress.begin_file(&path);
        let opened = match self.open(asked.request.ndx, place) {
            Ok(opened) => opened,
            Err(error) => return self.cannot_send(asked.request.ndx, &error),
        };
        if self.content.is_shorter_than_kept(&opened, &basis) {
            let text = "is shorter than what the far side has of it: not appended".to_owned();
            self.warn(place, text);
            return self.no_send(asked.request.ndx);
        }
        self.put_head(&asked.request)?;
        self.put_values(asked, list, place)?;
        self.state.record.clear();
        basis.head.put(&mut self.state.record);
        self.out.data(&self.state.record)?;
        let kind = asked.request.basis_type;
        let sent = self
            .content
            .send(&mut self.out, &path, opened, basis, kind, self.progress)?;
        self.count(&sent, place);
        self.tell(&asked.request, place, &path);
        Ok(())
    }

    fn count(&mut self, sent: &Sent, place: &Place<'_>) {
        let summary = &mut self.state.summary;
        summary.transferred += 1;
        summary.transferred_size += sent.size;
        summary.literal_bytes += sent.literal_bytes;
        summary.matched_bytes += sent.matched_bytes;
        self.progress.sent_files.fetch_add(1, Relaxed);
        self.progress
            .sent_bytes
            .store(self.out.bytes_written(), Relaxed);
        if let Some(text) = &sent.damage {
            self.problem(place, text.clone(), Gravity::Error);
        }
    }

    fn open(&mut self, ndx: i32, place: &Place<'_>) -> tree::Result<Opened> {
        if let Some(opened) = self.state.read_ahead.take(ndx) {
            return opened;
        }
        let dir = self.state.dirs.open(self.roots, place.root, place.dir)?;
        let begin = Instant::now();
        let opened = small_file::open(&dir, place.name, place.size);
        self.state.reading_time = (self.state.reading_time * 7 + begin.elapsed()) / 8;
        opened
    }

    /// Has small files read that are asked for next, where the disk makes us wait.
    fn read_ahead(&mut self, waiting: &VecDeque<Incoming>) {
        let state = &mut self.state;
        if state.reading_time < SLOW_READ || waiting.len() < MIN_WAITING {
            return;
        }
        for incoming in waiting.iter().skip(state.considered) {
            if !state.read_ahead.has_room() {
                return;
            }
            state.considered += 1;
            let Incoming::Item(ItemRequest {
                request,
                basis: Some(_),
                ..
            }) = incoming
            else {
                continue;
            };
            let Some(list) = state.lists.find(request.ndx) else {
                continue;
            };
            let Some(place) = list.place(request.ndx) else {
                continue;
            };
            if place.kind != Kind::Regular || place.size > SMALL_FILE {
                continue;
            }
            if let Ok(dir) = state.dirs.open(self.roots, place.root, place.dir) {
                state
                    .read_ahead
                    .plan(request.ndx, dir, place.name, place.size);
            }
        }
    }

    fn cannot_send(&mut self, ndx: i32, error: &tree::Error) -> Result<()> {
        let gravity = if error.is_not_found() {
            Gravity::Vanished
        } else {
            Gravity::Error
        };
        let text = match gravity {
            Gravity::Vanished => "file has vanished".to_owned(),
            Gravity::Warning | Gravity::Error => error.to_string(),
        };
        self.note(gravity);
        let path = error.path().to_owned();
        (self.monitor)(Event::Problem(Problem {
            path,
            text,
            gravity,
        }));
        self.no_send(ndx)
    }

    /// Tells the far side not to wait for a file; old ones notice by the next index.
    fn no_send(&mut self, ndx: i32) -> Result<()> {
        if self.rules.protocol >= 30 {
            self.out.message(tag::NO_SEND, &ndx.to_le_bytes())?;
        }
        Ok(())
    }

    fn warn(&self, place: &Place<'_>, text: String) {
        let path = self.roots[usize::from(place.root)].path_of(&place.path());
        (self.monitor)(Event::Problem(Problem {
            path,
            text,
            gravity: Gravity::Warning,
        }));
    }

    fn problem(&mut self, place: &Place<'_>, text: String, gravity: Gravity) {
        self.note(gravity);
        let path = self.roots[usize::from(place.root)].path_of(&place.path());
        (self.monitor)(Event::Problem(Problem {
            path,
            text,
            gravity,
        }));
    }

    fn note(&mut self, gravity: Gravity) {
        self.state.summary.note(gravity);
        self.state.io_error |= match gravity {
            Gravity::Warning => 0,
            Gravity::Vanished => 2,
            Gravity::Error => 1,
        };
    }

    /// Ends the session (docs/protocol/transfer.md, "Goodbye").
    fn leave(&mut self, mut waiting: VecDeque<Incoming>) -> Result<()> {
        if self.state.io_error != 0 && self.rules.protocol >= 30 {
            self.out
                .message(tag::IO_ERROR, &self.state.io_error.to_le_bytes())?;
        }
        self.put_ndx(NDX_DONE)?;
        self.await_done(&mut waiting)?;
        if self.rules.protocol >= 31 {
            self.put_ndx(NDX_DONE)?;
            self.await_done(&mut waiting)?;
        }
        Ok(self.out.flush()?)
    }

    fn await_done(&mut self, waiting: &mut VecDeque<Incoming>) -> Result<()> {
        loop {
            match waiting.pop_front() {
                Some(Incoming::Done) => return Ok(()),
                Some(Incoming::DeletionStats(stats)) => self.deletion_stats(stats),
                Some(Incoming::KeepAlive) => {}
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

/// The directory that a list is the content of, as far as a report needs it.
fn directory_of(list: &SentList) -> Place<'_> {
    Place {
        root: list.root(),
        dir: list.dir_path(),
        name: b".",
        kind: Kind::Dir,
        size: 0,
    }
}
