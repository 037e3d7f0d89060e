//! A receiving side from the first byte of the session to the last.
//!
//! The receiver thread reads the connection, the generator writes it, and a few threads put small
//! files into their places. When one of them ends in an error, the connection is hung up, which
//! ends the others.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use filter::{ActiveFilter, RuleList, Settings, Side};
use wire::batch::BatchHead;
use wire::dialect::Dialect;
use wire::filter_list::{put_filter_list, read_filter_list};
use wire::flist::FlistDecoder;
use wire::mux::{Framing, Message, MuxReader, MuxWriter};
use wire::options::{Batch, Options};

use crate::board::Board;
use crate::destination::{Destination, Leave, trimmed};
use crate::error::Result;
use crate::event::{Event, Monitor, Telling};
use crate::finish::{DelayedUpdates, Tally};
use crate::generator::{Generator, GeneratorRules};
use crate::handover::Handover;
use crate::ids::IdMap;
use crate::notice::Notice;
use crate::outbox::{Outbox, give_up};
use crate::progress::Progress;
use crate::received::ReceivedList;
use crate::receiver::{Receiver, ReceiverRules};
use crate::requested::{Request, Requested};
use crate::role::Role;
use crate::session::{self, Duty};
use crate::site::Site;
use crate::summary::Summary;
use crate::throttle::Throttle;
use crate::wanted::ComeValues;

/// How long the far side may take to close the connection after the last word.
const CLOSING_PATIENCE: Duration = Duration::from_secs(5);

/// What a receiving side is to do.
#[derive(Clone, Copy)]
pub struct Receive<'a> {
    /// Which end of the connection it is.
    pub role: Role<'a>,
    /// The session's options.
    pub options: &'a Options,
    /// Where files go.
    pub destination: &'a Destination,
    /// The filter rules, in order; a server gets them from its client.
    pub filter: &'a RuleList,
    /// What the sender is asked for; a list of names that lies here is sent to it.
    pub request: Request<'a>,
    /// The process's file mode mask.
    pub umask: u32,
    /// What is to be told of items.
    pub telling: Telling,
    /// Where events go; those of a server go to its client.
    pub monitor: Monitor<'a>,
    /// Counters for whoever draws them.
    pub progress: &'a Progress,
    /// Where it is noted which temporary files there are, so that the next run removes what a
    /// killed one left.
    pub state_dir: Option<&'a Path>,
}

/// By which means content comes.
#[derive(Clone, Copy)]
pub(crate) enum Means<'a> {
    Connection,
    /// As open files, where the sender is in the same process.
    Handover(&'a Handover),
    /// From a batch, behind this head.
    Batch(&'a BatchHead),
}

/// What the sender said beside the stream.
#[derive(Debug, Default)]
struct Heard {
    summary: Summary,
    /// The code that it gave up with.
    exit: Option<i32>,
}

/// What all threads of a session share.
struct Shared<'a> {
    dialect: Dialect,
    board: &'a Board,
    outbox: Option<&'a Outbox>,
    monitor: Monitor<'a>,
    site: OnceLock<Site>,
    ids: IdMap,
    come_values: ComeValues,
    delayed: DelayedUpdates,
    tally: Tally,
    handover: Option<&'a Handover>,
}

impl Receive<'_> {
    /// Runs the whole session over the two halves of a connection, on which both sides have
    /// agreed on `protocol` and the far side has its arguments.
    ///
    /// `hang_up` breaks both halves at once, from any thread; it is called only when the session
    /// has failed or the far side does not close its end.
    pub fn run<R, W>(
        &self,
        reader: R,
        writer: W,
        protocol: u32,
        hang_up: &(dyn Fn() + Sync),
    ) -> Result<Summary>
    where
        R: Read + Send,
        W: Write + Send,
    {
        self.run_with(reader, writer, protocol, hang_up, Means::Connection)
    }

    /// Does what a batch says, whose head was read and whose options ours fit to.
    pub fn replay<R: Read + Send>(&self, head: &BatchHead, batch: R) -> Result<Summary> {
        self.run_with(batch, std::io::sink(), head.protocol, &|| {}, Means::Batch(head))
    }

    pub(crate) fn run_with<R, W>(
        &self,
        reader: R,
        writer: W,
        protocol: u32,
        hang_up: &(dyn Fn() + Sync),
        means: Means<'_>,
    ) -> Result<Summary>
    where
        R: Read + Send,
        W: Write + Send,
    {
        if matches!(self.options.batch, Some(Batch::OnlyWrite(_))) && !self.options.dry_run {
            let options = Options { dry_run: true, ..self.options.clone() };
            let unchanging = Receive { options: &options, ..*self };
            return unchanging.run_with(reader, writer, protocol, hang_up, means);
        }
        let begin = Instant::now();
        let board = Board::new(matches!(means, Means::Batch(_)));
        let far = Mutex::new(Heard::default());
        let outbox = match self.role {
            Role::Client => None,
            Role::Server(_) => Some(Outbox::new(self.options, protocol)),
        };
        let to_client = |event: Event<'_>| {
            if let Some(outbox) = &outbox {
                outbox.tell(&event);
            }
        };
        let monitor: Monitor<'_> = if outbox.is_some() { &to_client } else { self.monitor };
        let note = |message| hear(message, &board, &far, self.monitor);
        let mut reader = MuxReader::new(reader, Framing::Raw, Box::new(note));
        let rate = u64::from(self.options.bwlimit) << 10;
        let mut out =
            MuxWriter::new(Throttle::new(writer, (rate > 0).then_some(rate)), Framing::Raw);
        let agreed = match means {
            Means::Batch(head) => Ok(head.dialect(self.options)),
            _ => session::set_up(
                &mut reader,
                &mut out,
                protocol,
                self.options,
                (self.role, Duty::Receives),
                self.options.may_receive_in_parts(),
            ),
        };
        let done = agreed.and_then(|dialect| {
            let ids = IdMap::new(self.options, monitor)?;
            let shared = Shared {
                dialect,
                board: &board,
                outbox: outbox.as_ref(),
                monitor,
                site: OnceLock::new(),
                ids,
                come_values: ComeValues::default(),
                delayed: DelayedUpdates::default(),
                tally: Tally::default(),
                handover: match means {
                    Means::Handover(handover) => Some(handover),
                    _ => None,
                },
            };
            self.session(&mut reader, out, &shared, hang_up)
        });
        let received_bytes = reader.bytes_read();
        drop(reader);
        let far = far.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut summary = done.map_err(|error| error.or_far_exit(far.exit))?;
        let io_error = board.io_error();
        summary.received_bytes = received_bytes;
        summary.errors += far.summary.errors + u64::from(io_error & 1 != 0);
        summary.vanished += u64::from(io_error & 2 != 0);
        summary.delete_limit |= far.summary.delete_limit || io_error & 4 != 0;
        summary.elapsed = begin.elapsed();
        Ok(summary)
    }

    /// Exchanges the filter rules.
    fn filter_rules<R: Read, W: Write>(
        &self,
        reader: &mut MuxReader<'_, R>,
        out: &mut MuxWriter<W>,
        dialect: &Dialect,
    ) -> Result<RuleList> {
        match self.role {
            Role::Client => {
                let rules = self.filter.wire_rules_for_pull(dialect.protocol);
                let mut list = Vec::new();
                put_filter_list(&mut list, &rules)?;
                out.data(&list)?;
                out.flush()?;
                Ok(self.filter.clone())
            }
            Role::Server(_) if self.options.deletes() || self.options.prune_empty_dirs => {
                let rules = read_filter_list(reader)?;
                Ok(RuleList::from_wire(&rules, self.settings())?)
            }
            Role::Server(_) => Ok(self.filter.clone()),
        }
    }

    fn settings(&self) -> Settings {
        Settings { delete_excluded: self.options.delete_excluded, ..Settings::default() }
    }

    fn session<R, W>(
        &self,
        reader: &mut MuxReader<'_, R>,
        mut out: MuxWriter<W>,
        shared: &Shared<'_>,
        hang_up: &(dyn Fn() + Sync),
    ) -> Result<Summary>
    where
        R: Read + Send,
        W: Write + Send,
    {
        session::tell_begin(&shared.dialect, self.options, shared.monitor);
        let filter = self.filter_rules(reader, &mut out, &shared.dialect)?;
        if let Some(record) = session::record(self.role, self.options, &shared.dialect)? {
            reader.record(record);
        }
        let fields = session::fields(self.role, self.options, &shared.dialect);
        let decoder = FlistDecoder::new(&shared.dialect, fields)?;
        let rules = self.receiver_rules(shared, &filter);
        let mut receiver = Receiver::new(reader, rules, shared.board, &shared.site, decoder);
        let mut summary = std::thread::scope(|scope| {
            let reading = scope.spawn(|| {
                receiver.run();
                std::mem::take(&mut receiver.totals)
            });
            let done = self.generate(out, &filter, shared);
            if done.is_err() {
                shared.board.close();
                hang_up();
            } else if matches!(self.role, Role::Client) && !shared.board.await_end(CLOSING_PATIENCE)
            {
                hang_up();
            }
            if let Some(handover) = shared.handover {
                handover.close();
            }
            let totals = reading.join().unwrap_or_default();
            done.map(|summary| summary.with(totals))
        })?;
        let tally = &shared.tally;
        summary.errors += tally.errors.load(Relaxed);
        summary.transferred = tally.transferred.load(Relaxed);
        summary.transferred_size = tally.transferred_size.load(Relaxed);
        summary.literal_bytes = tally.literal_bytes.load(Relaxed);
        summary.matched_bytes = tally.matched_bytes.load(Relaxed);
        Ok(summary)
    }

    /// Goes through the lists, after the first one has told where files go.
    fn generate<W: Write>(
        &self,
        mut out: MuxWriter<W>,
        filter: &RuleList,
        shared: &Shared<'_>,
    ) -> Result<Summary> {
        let protocol = shared.dialect.protocol;
        if let Request::Names(names) = self.request {
            // Lists come meanwhile, so the receiver must be reading by now.
            session::put_names(&mut out, names, protocol)?;
        }
        let (first, more) = shared.board.await_first()?;
        if matches!(self.role, Role::Client) && first.len() == 0 {
            // A sender without anything to send has gone by now.
            shared.board.close();
            return Ok(Summary { sent_bytes: out.bytes_written(), ..Summary::default() });
        }
        let settled = self.settle(&first, more, shared);
        let rules_for = |site: &Site| {
            let base = site.path.canonicalize().unwrap_or_else(|_| site.path.clone());
            let base = std::os::unix::ffi::OsStrExt::as_bytes(base.as_os_str());
            ActiveFilter::new(filter, Side::Receiver, base)
        };
        let site = match settled {
            Ok(mut site) => {
                site.xattr_filter = filter.has_xattr_rules().then(|| rules_for(&site));
                shared.site.get_or_init(|| site)
            }
            Err(error) => {
                return Err(give_up(&mut out, protocol, shared.outbox, error, "Receiver"));
            }
        };
        if let Some(outbox) = shared.outbox {
            outbox.empty_into(&mut out)?;
        }
        shared.board.site_is_known();
        let filter = rules_for(site);
        let rules = self.generator_rules(shared);
        let mut generator = Generator::new(out, rules, site, shared.board, filter);
        if let Err(error) = generator.run() {
            let out = &mut generator.out;
            return Err(give_up(out, protocol, shared.outbox, error, "generator"));
        }
        Ok(Summary {
            created: generator.created,
            deleted: generator.deleted(),
            errors: generator.errors,
            sent_bytes: generator.out.bytes_written(),
            ..Summary::default()
        })
    }

    fn settle(&self, first: &ReceivedList, more: bool, shared: &Shared<'_>) -> Result<Site> {
        let leave = Leave {
            dry_run: self.options.dry_run || self.options.list_only,
            make_path: self.options.mkpath,
            lists: self.options.list_only || first.len() == 0,
        };
        let settled = self.destination.settle(first, more, leave)?;
        if session::tells_of_destination(self.options) {
            let tell = |notice, name| (shared.monitor)(Event::Notice { notice, name });
            if let Some((name, count)) = &settled.made_path {
                tell(Notice::CreatedPath(*count), name);
            }
            if settled.made {
                tell(Notice::CreatedDirectory, trimmed(&settled.path));
            }
        }
        Site::new(settled, self.options, self.umask, self.state_dir, shared.monitor)
    }

    fn generator_rules<'s>(&'s self, shared: &'s Shared<'_>) -> GeneratorRules<'s> {
        let dialect = &shared.dialect;
        GeneratorRules {
            options: self.options,
            dialect,
            telling: self.telling,
            monitor: shared.monitor,
            outbox: shared.outbox,
            keep_alive: session::keep_alive(self.options),
            sum: session::transfer_sum(dialect),
            file_sum: session::sum_kind(dialect.file_sum),
            strong: session::strong_sum(self.options, dialect),
            ids: &shared.ids,
            come_values: &shared.come_values,
            delayed: &shared.delayed,
        }
    }

    fn receiver_rules<'s>(
        &'s self,
        shared: &'s Shared<'_>,
        filter: &RuleList,
    ) -> ReceiverRules<'s> {
        let dialect = &shared.dialect;
        let trusts = self.options.trust_sender || self.options.old_args > 0;
        let requested = match self.role {
            Role::Client if !trusts => Requested::new(self.request, filter, self.options),
            _ => None,
        };
        ReceiverRules {
            options: self.options,
            requested,
            pruning: (self.options.prune_empty_dirs)
                .then(|| ActiveFilter::new(filter, Side::Receiver, b"")),
            dialect,
            telling: self.telling,
            monitor: shared.monitor,
            progress: self.progress,
            umask: self.umask,
            is_client: matches!(self.role, Role::Client),
            sum: session::transfer_sum(dialect),
            codec: session::codec(dialect.compress, self.options.compress_level),
            ids: &shared.ids,
            come_values: &shared.come_values,
            delayed: &shared.delayed,
            tally: &shared.tally,
            handover: shared.handover,
        }
    }
}

/// Deals with a message of the sender.
fn hear(
    message: Message,
    board: &Board,
    far: &Mutex<Heard>,
    monitor: Monitor<'_>,
) -> wire::Result<()> {
    match message {
        Message::IoError(bits) => board.add_io_error(bits),
        Message::NoSend(ndx) => {
            if let Some(asked) = board.take_unsent(ndx) {
                board.not_sent(asked);
            }
        }
        Message::ErrorExit(code) => {
            let mut far = far.lock().unwrap_or_else(PoisonError::into_inner);
            far.exit = code.or(far.exit);
            return Err(wire::Error::Closed);
        }
        message => {
            let mut far = far.lock().unwrap_or_else(PoisonError::into_inner);
            far.summary.hear(message, monitor);
        }
    }
    Ok(())
}
