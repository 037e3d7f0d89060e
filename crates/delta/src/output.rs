//! What of the file was handed out, and what is still to be?

use std::io;
use std::ops::Range;

use crate::search::{Event, Outcome, Stats};
use crate::window::{LITERAL_MAX, Window};

/// The window together with what of it was not handed out yet: the bytes from `unsent` on.
pub(crate) struct Output<'a, R, S> {
    pub(crate) window: Window<'a, R>,
    pub(crate) unsent: usize,
    pub(crate) stats: Stats,
    sink: &'a mut S,
}

impl<'a, R, S, E> Output<'a, R, S>
where
    R: FnMut(&mut [u8]) -> io::Result<usize>,
    S: FnMut(Event<'_>) -> Result<(), E>,
{
    pub(crate) fn new(window: Window<'a, R>, sink: &'a mut S) -> Self {
        Self { window, unsent: 0, stats: Stats::default(), sink }
    }

    /// Passes the first bytes of the file without handing them out.
    pub(crate) fn skip(&mut self, mut count: u64) {
        while count > 0 {
            self.window.advance(self.window.bytes().len(), count);
            count -= self.window.bytes().len() as u64;
        }
        self.unsent = self.window.bytes().len();
    }

    /// Hands out everything to the end of the file as literals.
    pub(crate) fn rest(&mut self) -> Result<(), E> {
        loop {
            let end = self.window.bytes().len();
            self.literal_until(end)?;
            if self.window.at_end() {
                return Ok(());
            }
            self.slide(end)?;
        }
    }

    /// Moves the window so that it begins at `pos`; everything before goes out as literals.
    pub(crate) fn slide(&mut self, pos: usize) -> Result<(), E> {
        self.literal_until(pos)?;
        self.window.advance(pos, u64::MAX);
        self.unsent = 0;
        Ok(())
    }

    fn literal_until(&mut self, pos: usize) -> Result<(), E> {
        let literal = &self.window.bytes()[self.unsent..pos];
        self.stats.literal_bytes += literal.len() as u64;
        self.unsent = pos;
        literal.chunks(LITERAL_MAX).try_for_each(|piece| (self.sink)(Event::Literal(piece)))
    }

    pub(crate) fn matched(&mut self, block: u32, place: Range<usize>) -> Result<(), E> {
        self.literal_until(place.start)?;
        self.stats.matches += 1;
        self.stats.matched_bytes += place.len() as u64;
        self.unsent = place.end;
        let data = &self.window.bytes()[place];
        (self.sink)(Event::Match { block, data })
    }

    pub(crate) fn finish(self) -> Outcome {
        let (file_sum, damage) = self.window.finish();
        Outcome { stats: self.stats, file_sum, damage }
    }
}
