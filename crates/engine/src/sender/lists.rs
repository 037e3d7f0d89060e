//! Which file lists go out when, and how far the far side has come in them.

use std::io::Write;
use std::sync::atomic::Ordering::Relaxed;

use wire::mux::tag;
use wire::ndx::{NDX_FLIST_EOF, NDX_FLIST_OFFSET};

use super::Sender;
use crate::desk::{ListPart, ListWish, Scanned};
use crate::error::Result;
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
        if !self.rules.incremental {
            return Ok(());
        }
        self.put_ndx(NDX_FLIST_EOF)
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
