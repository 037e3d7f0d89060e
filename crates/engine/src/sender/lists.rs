//! Which file lists go out when, and how far the far side has come in them.

use std::io::Write;
use std::sync::atomic::Ordering::Relaxed;

use wire::mux::tag;
use wire::ndx::{NDX_FLIST_EOF, NDX_FLIST_OFFSET};

use super::Sender;
use crate::desk::{ListPart, ListWish, Scanned};
use crate::error::Result;
use crate::event::{Event, Standing};
use crate::list::SentList;
use crate::scan::ScanTotals;

/// Entries that the far side should have to look at before it waits for us.
const ENTRIES_AHEAD: i32 = 1_000;
/// Entries that it may have while nothing else is to do.
const ENTRIES_AHEAD_IDLE: i32 = 10_000;

impl<W: Write> Sender<'_, W> {
    /// Takes a list that the far side should have before more of its requests are answered.
    pub(super) fn list_that_is_due(&self) -> Option<Scanned> {
        match self.wish() {
            ListWish::Only | ListWish::First => self.desk.next_list(),
            ListWish::WhenIdle | ListWish::No => None,
        }
    }

    pub(super) fn wish(&self) -> ListWish {
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
        } else if self.rules.telling.progress {
            // Who shows how much is left must know it as well as rsync does.
            ListWish::Only
        } else {
            ListWish::First
        }
    }

    pub(super) fn scanned(&mut self, scanned: Scanned) -> Result<()> {
        match scanned {
            Scanned::Part(part) => self.list_part(part),
            Scanned::Finished(totals) => self.lists_done(&totals),
            Scanned::Failed(error) => Err(error),
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
            self.out.message(tag::IO_ERROR, &part.io_error.to_le_bytes())?;
        }
        if part.list.as_ref().is_none_or(|list| list.len() > 0) {
            self.desk.note_entry();
        }
        state.in_list = part.list.is_none();
        if let Some(list) = part.list {
            state.ndx_sent = list.ndx_end().max(1);
            state.listed += list.len() as u64;
            state.listed_size += list.total_size();
            state.lists.push(list);
            state.list_count += 1;
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
        // One for each list, the phases after the first, and the goodbye.
        let more = if self.rules.protocol >= 31 { 4 } else { 3 };
        self.desk.expect_dones(self.state.list_count + more);
        self.state.list_millis = u64::try_from(self.state.begin.elapsed().as_millis()).unwrap_or(0);
        // rsync rounds up what is shorter.
        self.state.list_millis = self.state.list_millis.max(1);
        if !self.rules.incremental {
            return Ok(());
        }
        self.put_ndx(NDX_FLIST_EOF)
    }

    /// Counts the entries of all lists up to the one before `ndx_end`.
    pub(super) fn entries_before(&self, ndx_end: i32) -> u64 {
        // With incremental recursion each list has an index more than it has entries.
        let ndx = ndx_end - 1;
        let lists = if self.rules.incremental { self.state.lists.number(ndx) } else { 0 };
        u64::try_from(ndx_end).unwrap_or(0).saturating_sub(lists as u64)
    }

    /// Tells how far the session is, after a file of this length or something else.
    pub(super) fn tell_standing(&self, file: Option<u64>, passed: u64) {
        if self.rules.telling.progress {
            (self.monitor)(Event::Passed(Standing {
                file,
                left: self.state.listed.saturating_sub(passed),
                listed: self.state.listed,
                complete: self.state.lists_done,
                total_size: self.state.listed_size,
            }));
        }
    }

    /// Counts everything before `ndx_end` as looked at.
    pub(super) fn passed(&mut self, list: &SentList, ndx_end: i32) {
        let from = self.state.ndx_passed.max(list.ndx_start());
        if ndx_end <= from {
            return;
        }
        self.state.ndx_passed = ndx_end;
        self.progress.passed_bytes.fetch_add(list.bytes_in(from..ndx_end), Relaxed);
        let files = u64::try_from(ndx_end - from).unwrap_or(0);
        self.progress.passed_files.fetch_add(files, Relaxed);
    }
}
