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
        if self.links.waiting > 0 && !delays {
            // They may yet have to be asked for, which is too late after the next word.
            self.await_that(Self::is_settled)?;
        }
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
            self.link_delayed()?;
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
        self.await_that(|this| {
            let quiet = if phase == 1 { this.is_quiet() } else { this.is_settled() };
            this.board.phases() >= phase && quiet
        })
    }

    fn await_that(&mut self, is_so: impl Fn(&Self) -> bool) -> Result<()> {
        loop {
            self.retire()?;
            if is_so(self) {
                return Ok(());
            }
            match self.next_turn(false)? {
                Turn::News(news) => self.hear(news)?,
                Turn::Quiet => self.keep_alive()?,
                Turn::Look | Turn::List(_) | Turn::ListsEnded => {}
            }
        }
    }

    /// All is in its place; with `--delay-updates` links are only made after that.
    fn is_settled(&self) -> bool {
        match self.rules.options.delay_updates {
            true => self.open_count() == self.links.waiting,
            false => self.open_count() == 0,
        }
    }

    fn open_count(&self) -> usize {
        self.live.iter().map(|list| list.open_count()).sum()
    }

    /// In the first phase every file is in its place, or waits to be asked for again, or waits for
    /// one that does.
    fn is_quiet(&self) -> bool {
        self.open_count() == self.again.len() + self.links.waiting
    }
}
