//! What is wanted of each listed item: the thread that writes the connection of a receiving side.
//!
//! It walks the lists in order, makes what it can make by itself, and asks for the rest. It never
//! reads the connection; what has become of a request it learns at the board.

mod alternatives;
mod backups;
mod delayed;
mod deletion;
mod directories;
mod ending;
mod entry;
mod fuzzy;
mod links;
mod long_attributes;
mod others;
mod request;

use std::collections::{HashSet, VecDeque};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use delta::{StrongSum, SumKind};
use filter::ActiveFilter;
use tree::Dir;
use wire::dialect::Dialect;
use wire::mux::MuxWriter;
use wire::ndx::{NDX_DONE, NdxEncoder};
use wire::options::{Append, Batch, Options};

use crate::board::{Board, News, Turn};
use crate::error::Result;
use crate::event::{Event, Gravity, Monitor, Problem, Telling};
use crate::finish::DelayedUpdates;
use crate::ids::IdMap;
use crate::notice::Notice;
use crate::outbox::Outbox;
use crate::received::{Entry, ReceivedList};
use crate::site::Site;
use crate::summary::Counts;
use crate::trouble::{Doing, Who};
use crate::wanted::{ComeValues, Keeps};

use deletion::Deletions;
use fuzzy::Candidates;
use links::Links;

/// With `-H`, so many entries should be known before a list is begun, so that groups are mostly
/// complete.
const LINK_LOOK_AHEAD: usize = 500;

/// What of the session decides how the generator speaks.
pub(crate) struct GeneratorRules<'a> {
    pub(crate) options: &'a Options,
    pub(crate) dialect: &'a Dialect,
    pub(crate) telling: Telling,
    pub(crate) monitor: Monitor<'a>,
    /// What a server has to tell its client.
    pub(crate) outbox: Option<&'a Outbox>,
    /// Half of the time limit: how long the far side may hear nothing.
    pub(crate) keep_alive: Option<Duration>,
    pub(crate) sum: SumKind,
    pub(crate) file_sum: SumKind,
    pub(crate) strong: StrongSum,
    pub(crate) ids: &'a IdMap,
    pub(crate) come_values: &'a ComeValues,
    /// Files that lie finished in the partial dirs until all have come.
    pub(crate) delayed: &'a DelayedUpdates,
}

impl GeneratorRules<'_> {
    /// Tells whether nothing is asked for, only told. A batch is written from what is asked for.
    fn is_preview(&self) -> bool {
        self.options.dry_run && !matches!(self.options.batch, Some(Batch::OnlyWrite(_)))
    }
}

/// The generator of one session.
pub(crate) struct Generator<'a, W: Write> {
    pub(crate) out: MuxWriter<W>,
    rules: GeneratorRules<'a>,
    site: &'a Site,
    board: &'a Board,
    filter: ActiveFilter,
    ndx: NdxEncoder,
    record: Vec<u8>,
    dirs: crate::site_dirs::SiteDirs,
    /// Lists that were taken and are not retired, oldest first.
    live: VecDeque<Arc<ReceivedList>>,
    /// Lists behind the one in hand, taken early because of hard links.
    upcoming: VecDeque<Arc<ReceivedList>>,
    lists_ended: bool,
    /// How many of the live lists were gone through.
    examined: usize,
    /// Everything below it is passed over, because it could not be made or is not wanted.
    skipped: Option<Vec<u8>>,
    links: Links,
    candidates: Candidates,
    deletions: Deletions,
    /// Files to be asked for again once that is allowed.
    again: Vec<(Arc<ReceivedList>, usize)>,
    may_ask_again: bool,
    pub(crate) created: Counts,
    pub(crate) errors: u64,
    /// Directories that are finished only after everything else.
    unfinished: Vec<Entry>,
    /// Directories that were made before their own list was begun.
    made_early: HashSet<Box<[u8]>>,
}

impl<'a, W: Write> Generator<'a, W> {
    /// Prepares to go through the lists; nothing is written yet.
    pub(crate) fn new(
        out: MuxWriter<W>,
        rules: GeneratorRules<'a>,
        site: &'a Site,
        board: &'a Board,
        filter: ActiveFilter,
    ) -> Self {
        let ndx = NdxEncoder::new(rules.dialect.protocol);
        let deletions = Deletions::new(rules.options, rules.dialect.protocol);
        let may_ask_again = rules.dialect.inc_recurse();
        Self {
            out,
            rules,
            site,
            board,
            filter,
            ndx,
            record: Vec::new(),
            dirs: crate::site_dirs::SiteDirs::default(),
            live: VecDeque::new(),
            upcoming: VecDeque::new(),
            lists_ended: false,
            examined: 0,
            skipped: None,
            links: Links::default(),
            candidates: Candidates::default(),
            deletions,
            again: Vec::new(),
            may_ask_again,
            created: Counts::default(),
            errors: 0,
            unfinished: Vec::new(),
            made_early: if site.made {
                HashSet::from([Box::from(&b"."[..])])
            } else {
                HashSet::new()
            },
        }
    }

    /// Goes through all lists, waits for what was asked, and says goodbye.
    pub(crate) fn run(&mut self) -> Result<()> {
        if self.rules.dialect.inc_recurse() {
            self.tell_way();
        }
        while let Some(list) = self.next_list()? {
            self.live.push_back(Arc::clone(&list));
            self.go_through(&list)?;
            self.examined += 1;
            self.retire()?;
        }
        self.finish()
    }

    /// Returns the next list, after whatever comes first was dealt with.
    fn next_list(&mut self) -> Result<Option<Arc<ReceivedList>>> {
        loop {
            if let Some(list) = self.list_in_hand() {
                return Ok(Some(list));
            }
            if self.lists_ended {
                return Ok(None);
            }
            match self.next_turn(true)? {
                Turn::News(news) => self.hear(news)?,
                Turn::List(list) => {
                    self.links.know(&list);
                    self.upcoming.push_back(list);
                }
                Turn::ListsEnded => self.lists_ended = true,
                Turn::Look => {}
                Turn::Quiet => self.keep_alive()?,
            }
            self.retire()?;
        }
    }

    /// Returns the next list if enough is known to begin it.
    fn list_in_hand(&mut self) -> Option<Arc<ReceivedList>> {
        if self.rules.options.hard_links > 0 && !self.lists_ended && !self.board.replays() {
            let known: usize = self.live.iter().chain(&self.upcoming).map(|list| list.len()).sum();
            if known < LINK_LOOK_AHEAD {
                return None;
            }
        }
        self.upcoming.pop_front()
    }

    /// Waits for something to do, after everything written so far is on its way.
    fn next_turn(&mut self, wants_list: bool) -> Result<Turn> {
        if let Some(turn) = self.board.ready(wants_list)? {
            return Ok(turn);
        }
        self.speak()?;
        self.out.flush()?;
        self.board.wait(wants_list, self.rules.keep_alive)
    }

    /// Deals with what the receiver found out, without waiting.
    fn catch_up(&mut self) -> Result<()> {
        while let Some(turn) = self.board.ready(false)? {
            if let Turn::News(news) = turn {
                self.hear(news)?;
            }
        }
        self.speak()
    }

    fn hear(&mut self, news: VecDeque<News>) -> Result<()> {
        for news in news {
            match news {
                News::Finished { list, index, ok } => self.finished(&list, index, ok)?,
                News::Again { list, index } => {
                    self.comes_later(&list, index)?;
                    self.again.push((list, index));
                }
            }
        }
        if self.may_ask_again {
            self.ask_again()?;
        }
        Ok(())
    }

    fn ask_again(&mut self) -> Result<()> {
        for (list, index) in std::mem::take(&mut self.again) {
            self.redo(&list, index)?;
        }
        Ok(())
    }

    /// Goes through one list.
    fn go_through(&mut self, list: &Arc<ReceivedList>) -> Result<()> {
        match self.rules.dialect.inc_recurse() {
            true => self.begin_content(list)?,
            false => {
                self.delete_before(list)?;
                self.tell_way();
            }
        }
        for index in 0..list.len() {
            if self.rules.options.charset.is_none() {
                self.board.has_examined(list.ndx(index));
            }
            self.entry(list, index)?;
            if index % 64 == 0 || !self.board.has_room() {
                self.make_room()?;
            }
        }
        self.board.has_examined(list.ndx_end());
        Ok(())
    }

    /// Tells how files come.
    fn tell_way(&self) {
        let options = self.rules.options;
        let by_block = !options.sends_whole_files() || options.append != Append::No;
        self.notice(Notice::DeltaTransmission(by_block), b"");
    }

    /// Waits until more may be asked for.
    fn make_room(&mut self) -> Result<()> {
        self.catch_up()?;
        while self.rules.dialect.protocol >= 30 && !self.board.has_room() {
            match self.next_turn(false)? {
                Turn::News(news) => self.hear(news)?,
                Turn::Quiet => self.keep_alive()?,
                Turn::Look | Turn::List(_) | Turn::ListsEnded => {}
            }
        }
        Ok(())
    }

    /// Tells the sender which lists are done with, oldest first. The last one ends the phase.
    fn retire(&mut self) -> Result<()> {
        if !self.rules.dialect.inc_recurse() {
            return Ok(());
        }
        while self.examined > 0 {
            let Some(oldest) = self.live.front() else { return Ok(()) };
            let follows = self.live.len() > 1 || !self.upcoming.is_empty() || self.board.has_list();
            if !oldest.is_settled() || !(follows || self.lists_ended) {
                return Ok(());
            }
            if let Some(oldest) = self.live.pop_front() {
                self.examined -= 1;
                self.put_done()?;
                self.leave_content(&oldest);
            }
        }
        Ok(())
    }

    fn put_done(&mut self) -> Result<()> {
        self.record.clear();
        self.ndx.put(&mut self.record, NDX_DONE);
        self.board.has_ended();
        Ok(self.out.data(&self.record)?)
    }

    fn keep_alive(&mut self) -> Result<()> {
        Ok(self.out.keep_alive()?)
    }

    /// Writes what a server has to tell.
    fn speak(&mut self) -> Result<()> {
        match self.rules.outbox {
            Some(outbox) => outbox.empty_into(&mut self.out),
            None => Ok(()),
        }
    }

    fn keeps(&self) -> Keeps<'a> {
        Keeps { options: self.rules.options, site: self.site }
    }

    /// Returns the directory `path` of the destination, if it is there.
    fn open_dir(&mut self, path: &[u8]) -> tree::Result<Option<Arc<Dir>>> {
        self.dirs.open(self.site, path)
    }

    fn is_skipped(&self, name: &[u8]) -> bool {
        self.skipped.as_ref().is_some_and(|skipped| is_below(name, skipped))
    }

    fn notice(&self, notice: Notice, name: &[u8]) {
        (self.rules.monitor)(Event::Notice { notice, name });
    }

    fn problem(&mut self, doing: Doing, error: tree::Error) {
        self.errors += 1;
        let problem = Problem::system(Who::Generator, doing, error, Gravity::Error);
        (self.rules.monitor)(Event::Problem(problem));
    }

    fn other_problem(&mut self, name: &[u8], ours: String, stock: String) {
        self.errors += 1;
        let path = self.site.path_of(name);
        let trouble = crate::trouble::Trouble::Other { ours, stock };
        let problem = Problem { path, trouble, gravity: Gravity::Error, who: Who::Generator };
        (self.rules.monitor)(Event::Problem(problem));
    }
}

/// Tells whether a path is `dir` itself or lies below it.
fn is_below(path: &[u8], dir: &[u8]) -> bool {
    dir.is_empty()
        || path.strip_prefix(dir).is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
}
