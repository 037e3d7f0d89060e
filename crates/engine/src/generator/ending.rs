//! How the phases end one after the other (docs/protocol/transfer.md, "G's end game").

use std::io::Write;

use super::Generator;
use crate::board::Turn;
use crate::error::Result;

impl<W: Write> Generator<'_, W> {
    /// Ends the session, once every list was gone through.
    pub(super) fn finish(&mut self) -> Result<()> {
        let protocol = self.rules.dialect.protocol;
        let delays = self.rules.options.delay_updates;
        let late = self.deletions.come_late();
        self.board.has_examined(i32::MAX);
        if !self.rules.dialect.inc_recurse() {
            self.put_done()?;
        }
        self.await_phase(1)?;
        self.may_ask_again = true;
        self.ask_again()?;
        self.put_done()?;
        if !delays {
            self.put_done()?;
        }
        if protocol >= 31 && !late {
            self.put_deletion_stats()?;
            if !delays {
                self.put_done()?;
            }
        }
        self.await_phase(2)?;
        if delays {
            self.place_delayed_updates()?;
            self.put_done()?;
            if protocol >= 31 && !late {
                self.put_done()?;
            }
        }
        self.await_phase(3)?;
        self.delete_late()?;
        self.tell_left_out();
        if protocol >= 31 {
            if late {
                self.put_deletion_stats()?;
                self.put_done()?;
            }
            self.await_phase(4)?;
        }
        self.finish_directories();
        self.speak()?;
        self.put_done()?;
        Ok(self.out.flush()?)
    }

    /// Waits until the sender has ended a phase and everything that it sent is in its place.
    fn await_phase(&mut self, phase: u32) -> Result<()> {
        loop {
            self.retire()?;
            let is_settled = self.live.iter().all(|list| list.is_settled()) || phase == 1;
            if self.board.phases() >= phase && is_settled && self.is_quiet(phase) {
                return Ok(());
            }
            match self.next_turn(false)? {
                Turn::News(news) => self.hear(news)?,
                Turn::Quiet => self.keep_alive()?,
                Turn::Look | Turn::List(_) | Turn::ListsEnded => {}
            }
        }
    }

    /// In the first phase every file is either in its place or waits to be asked for again.
    fn is_quiet(&self, phase: u32) -> bool {
        let open: usize = self.live.iter().map(|list| list.open_count()).sum();
        phase != 1 || open == self.again.len()
    }
}
