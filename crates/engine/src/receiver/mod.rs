//! What comes in: the thread that reads the connection of a receiving side.
//!
//! It takes file lists apart for the generator, puts files together, and counts the phases. It
//! never writes to the connection.

mod content;
mod lists;
mod replies;
mod workers;

use std::collections::{HashSet, VecDeque};
use std::io::Read;
use std::sync::{Arc, OnceLock};

use delta::SumKind;
use delta::codec::CompressKind;
use filter::ActiveFilter;
use wire::dialect::Dialect;
use wire::flist::FlistDecoder;
use wire::item::{Reply, ReplyDecoder, iflags};
use wire::mux::MuxReader;
use wire::options::Options;
use wire::stats::SessionStats;

use crate::board::Board;
use crate::error::{Error, Result};
use crate::event::{Monitor, Telling};
use crate::finish::{DelayedUpdates, Finish, Tally};
use crate::handover::Handover;
use crate::ids::IdMap;
use crate::progress::Progress;
use crate::received::{Entry, ReceivedList};
use crate::requested::Requested;
use crate::site::Site;
use crate::site_dirs::SiteDirs;
use crate::summary::Counts;
use crate::wanted::ComeValues;

use content::Decoding;
use workers::Workers;

/// What of the session decides how the receiver reads.
pub(crate) struct ReceiverRules<'a> {
    pub(crate) options: &'a Options,
    /// What a client checks the names of its sender against.
    pub(crate) requested: Option<Requested>,
    /// Empty directories are left out, but for those that these rules protect.
    pub(crate) pruning: Option<ActiveFilter>,
    pub(crate) dialect: &'a Dialect,
    pub(crate) telling: Telling,
    pub(crate) monitor: Monitor<'a>,
    pub(crate) progress: &'a Progress,
    pub(crate) umask: u32,
    /// A client prints what a server does not.
    pub(crate) is_client: bool,
    pub(crate) sum: SumKind,
    pub(crate) codec: Option<CompressKind>,
    pub(crate) ids: &'a IdMap,
    pub(crate) come_values: &'a ComeValues,
    pub(crate) delayed: &'a DelayedUpdates,
    pub(crate) tally: &'a Tally,
    /// In a copy on one machine the sources come as open files.
    pub(crate) handover: Option<&'a Handover>,
}

/// The receiver of one session.
pub(crate) struct Receiver<'a, 'r, R> {
    reader: &'a mut MuxReader<'r, R>,
    rules: ReceiverRules<'a>,
    board: &'a Board,
    /// Known once the generator has seen the first list.
    site: &'a OnceLock<Site>,
    decoder: FlistDecoder,
    replies: ReplyDecoder,
    decoding: Decoding,
    lists: VecDeque<Arc<ReceivedList>>,
    /// The directories whose lists have not come, by number.
    dirs_to_come: Vec<Option<Box<Entry>>>,
    next_ndx: i32,
    site_dirs: SiteDirs,
    lists_ended: bool,
    /// Lists that are done with.
    retired: usize,
    /// Entries up to the end of the list that was answered from last.
    listed_here: u64,
    phase: u32,
    /// How many lists and phases the sender has ended.
    ended: u32,
    /// Files of a batch that failed their checksums and may come again.
    failed: HashSet<i32>,
    pub(crate) totals: Totals,
}

/// What was counted of the lists.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub(crate) files: Counts,
    pub(crate) total_size: u64,
    pub(crate) list_bytes: u64,
    pub(crate) stats: Option<SessionStats>,
}

impl<'a, 'r, R: Read> Receiver<'a, 'r, R> {
    /// Prepares to read; nothing is read yet.
    pub(crate) fn new(
        reader: &'a mut MuxReader<'r, R>,
        rules: ReceiverRules<'a>,
        board: &'a Board,
        site: &'a OnceLock<Site>,
        decoder: FlistDecoder,
    ) -> Self {
        let dialect = rules.dialect;
        let decoding = Decoding::new(dialect.protocol, rules.sum, dialect.seed, rules.codec);
        let replies = ReplyDecoder::new(dialect.protocol, dialect.inc_recurse());
        Self {
            reader,
            rules,
            board,
            site,
            decoder,
            replies,
            decoding,
            lists: VecDeque::new(),
            dirs_to_come: Vec::new(),
            next_ndx: 0,
            site_dirs: SiteDirs::default(),
            lists_ended: false,
            retired: 0,
            listed_here: 0,
            phase: 0,
            ended: 0,
            failed: HashSet::new(),
            totals: Totals::default(),
        }
    }

    /// Reads until the sender has ended all phases, and what it has to say after that.
    pub(crate) fn run(&mut self) {
        let end = self.read_all();
        self.board.end(end);
    }

    fn read_all(&mut self) -> Result<()> {
        self.first_list()?;
        let before_requests = self.site_is_known()?;
        if before_requests {
            std::thread::scope(|scope| {
                let site = self.site.get().ok_or_else(too_early)?;
                let workers = Workers::start(scope, self.finish(site), self.rules.handover);
                self.read_replies(&workers)
            })?;
        }
        if self.rules.is_client && before_requests {
            self.drain();
        }
        Ok(self.reader.finish_record()?)
    }

    fn finish<'s>(&self, site: &'s Site) -> Finish<'s>
    where
        'a: 's,
    {
        let rules = &self.rules;
        Finish {
            options: rules.options,
            site,
            board: self.board,
            come_values: rules.come_values,
            delayed: rules.delayed,
            tally: rules.tally,
            monitor: rules.monitor,
            tells_all: rules.options.remove_source_files,
        }
    }

    fn read_replies(&mut self, workers: &Workers) -> Result<()> {
        let last = if self.rules.dialect.protocol >= 31 { 4 } else { 3 };
        while self.phase < last {
            match self.replies.read(self.reader)? {
                Reply::Done => self.done()?,
                Reply::List { dir } => self.sub_list(dir)?,
                Reply::ListsEnd => self.lists_end()?,
                Reply::DeletionStats(_) | Reply::KeepAlive => {}
                Reply::Item(request) if request.iflags & iflags::TRANSFER != 0 => {
                    self.file(request, workers)?;
                }
                Reply::Item(request) => self.item(&request)?,
            }
        }
        Ok(())
    }

    /// Deals with the end of a list or a phase.
    fn done(&mut self) -> Result<()> {
        if self.board.replays() {
            self.await_generator();
        }
        self.tell_standing(None, self.listed_here);
        if self.rules.dialect.inc_recurse() && !self.lists.is_empty() {
            self.lists.pop_front();
            self.retired += 1;
            if !self.lists.is_empty() {
                return Ok(());
            }
        }
        if !self.rules.dialect.inc_recurse() || self.phase > 0 {
            self.give_up_unanswered();
        }
        self.phase += 1;
        if self.phase == 3 && self.rules.is_client {
            let stats = SessionStats::read(self.reader, self.rules.dialect.protocol)?;
            self.totals.stats = Some(stats);
        }
        self.board.end_phase();
        Ok(())
    }

    /// Waits until the generator is as far as it was when a batch was written.
    fn await_generator(&mut self) {
        self.ended += 1;
        let list = self.lists.front().filter(|_| self.rules.dialect.inc_recurse());
        let ndx_end = list.map_or(i32::MAX, |list| list.ndx_end());
        let Some(site) = self.site.get() else { return };
        let finish = self.finish(site);
        loop {
            let left = self.board.await_ended(self.ended, ndx_end);
            if left.is_empty() {
                return;
            }
            left.iter().for_each(|asked| finish.unanswered(asked));
        }
    }

    /// Old senders pass over what they cannot send without a word.
    fn give_up_unanswered(&mut self) {
        let Some(site) = self.site.get() else { return };
        let finish = self.finish(site);
        for asked in self.board.take_all_asked() {
            finish.unanswered(&asked);
        }
    }

    /// Reads what a server still says before it closes the connection.
    fn drain(&mut self) {
        let mut rest = [0; 1024];
        // Everything is in its place; an end that comes the hard way changes nothing.
        while matches!(self.reader.read(&mut rest), Ok(1..)) {}
    }
}

fn too_early() -> Error {
    wire::Error::Protocol("it answers before it was asked".to_owned()).into()
}
