//! A push from the first byte of the session to the last.
//!
//! Three threads on one connection: the inbox reads it, the scan makes file lists, and the
//! sender, alone, writes it. When one of them ends in an error, the connection is hung up, which
//! ends the others.

use std::io::{Read, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use delta::codec::CompressKind;
use delta::{SeedOrder, SkipList, SumKind};
use filter::{ActiveFilter, Side};
use wire::dialect::{CompressName, Dialect, SumName};
use wire::flist::{FlistEncoder, FlistFields, IdKind, NameLookup};
use wire::mux::{Framing, MuxReader, MuxWriter};
use wire::options::{Append, Options};
use wire::setup::client_setup;

use crate::attributes::{AttributeReader, AttributeWish};
use crate::content::{Content, ContentRules};
use crate::desk::Desk;
use crate::error::{Error, Result};
use crate::event::Monitor;
use crate::inbox::{self, FarErrors, RequestShape};
use crate::progress::Progress;
use crate::scan::{Scan, ScanRules, SourceFilter};
use crate::sender::{AnswerRules, Sender};
use crate::sources::{Source, Sources};
use crate::summary::Summary;
use crate::throttle::Throttle;

/// How long the far side may take to close the connection after the last word.
const CLOSING_PATIENCE: Duration = Duration::from_secs(5);

/// What a push is to do.
#[derive(Clone, Copy)]
pub struct Push<'a> {
    /// The session's options.
    pub options: &'a Options,
    /// What is sent.
    pub sources: &'a Sources,
    /// The filter rules, in order.
    pub filter: &'a filter::RuleList,
    /// The process's file mode mask, for `--chmod`.
    pub umask: u32,
    /// Where events go.
    pub monitor: Monitor<'a>,
    /// Counters for whoever draws them.
    pub progress: &'a Progress,
}

impl Push<'_> {
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
        let begin = Instant::now();
        let far = Mutex::new(FarErrors::default());
        let note = |message| {
            let mut far = far.lock().unwrap_or_else(PoisonError::into_inner);
            far.message(message, self.monitor)
        };
        let mut reader = MuxReader::new(reader, Framing::Raw, Box::new(note));
        let rate = u64::from(self.options.bwlimit) << 10;
        let throttle = Throttle::new(writer, (rate > 0).then_some(rate));
        let mut out = MuxWriter::new(throttle, Framing::Raw);
        let done = self
            .set_up(&mut reader, &mut out, protocol)
            .and_then(|dialect| self.session(&mut reader, out, &dialect, hang_up));
        let received_bytes = reader.bytes_read();
        drop(reader);
        let far = far.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut summary = done.map_err(|error| far.explain(error))?;
        summary.received_bytes = received_bytes;
        summary.errors += far.errors + self.sources.missing();
        summary.delete_limit |= far.delete_limit;
        summary.elapsed = begin.elapsed();
        Ok(summary)
    }

    /// Agrees with the far side, and sends the filter rules where it deletes.
    fn set_up<R: Read, W: Write>(
        &self,
        reader: &mut MuxReader<'_, R>,
        out: &mut MuxWriter<W>,
        protocol: u32,
    ) -> Result<Dialect> {
        self.check(protocol)?;
        let dialect = client_setup(reader, out, protocol, &self.options.offer())?;
        reader.set_framing(Framing::Framed);
        if protocol >= 30 {
            out.set_framing(Framing::Framed);
        }
        if self.options.deletes() {
            let rules = self.filter.wire_rules(protocol)?;
            let mut list = Vec::new();
            wire::filter_list::put_filter_list(&mut list, &rules)?;
            out.data(&list)?;
        }
        Ok(dialect)
    }

    /// Refuses what this protocol cannot carry, as rsync does.
    fn check(&self, protocol: u32) -> Result<()> {
        let asked = [(self.options.acls, "--acls"), (self.options.xattrs > 0, "--xattrs")];
        for (wanted, option) in asked {
            if wanted && protocol < 30 {
                return Err(Error::NeedsProtocol { option, needed: 30, protocol });
            }
        }
        Ok(())
    }

    fn session<R, W>(
        &self,
        reader: &mut MuxReader<'_, R>,
        out: MuxWriter<W>,
        dialect: &Dialect,
        hang_up: &(dyn Fn() + Sync),
    ) -> Result<Summary>
    where
        R: Read + Send,
        W: Write + Send,
    {
        let desk = Desk::default();
        let shape = self.request_shape(dialect);
        let scan = self.scan(dialect, &desk)?;
        let content = self.content(dialect, &desk);
        let about = (self.monitor, self.progress);
        let rules = self.answer_rules(dialect);
        let roots = self.sources.roots();
        let mut sender = Sender::new(out, rules, content, roots, &desk, about);
        std::thread::scope(|scope| {
            scope.spawn(|| inbox::run(reader, &shape, &desk));
            scope.spawn(|| scan.run());
            let done = sender.run();
            desk.close();
            if let Err(error) = &done {
                sender.give_up(error);
            }
            // Mostly the far side closes its end at once; its exit code is worth a moment.
            if !desk.await_end(CLOSING_PATIENCE) {
                hang_up();
            }
            done
        })
    }

    fn request_shape(&self, dialect: &Dialect) -> RequestShape {
        RequestShape {
            dialect: dialect.clone(),
            dry_run: self.options.dry_run,
            append: self.options.append != Append::No,
            xattrs: self.options.xattrs > 0,
        }
    }

    fn scan<'s>(&'s self, dialect: &Dialect, desk: &'s Desk) -> Result<Scan<'s>> {
        let options = self.options;
        let checksum = options.checksum.then(|| sum_kind(dialect.file_sum));
        let rules = ScanRules {
            recurse: options.recursive,
            incremental: dialect.inc_recurse(),
            links: options.links,
            hard_links: options.hard_links > 0,
            one_file_system: options.one_file_system,
            checksum,
            chmod: options.chmod.clone(),
            umask: self.umask,
            ignore_errors: options.ignore_errors,
        };
        let fields = FlistFields {
            links: options.links,
            devices: options.devices,
            specials: options.specials,
            owner: options.owner,
            group: options.group,
            hard_links: options.hard_links > 0,
            checksum_len: checksum.map(SumKind::file_len),
            atimes: options.atimes > 0,
            acls: options.acls,
            xattrs: options.xattrs > 0,
            numeric_ids: options.numeric_ids,
            recursive: options.recursive,
            relative: options.relative,
            missing_args: options.delete_missing_args,
        };
        Ok(Scan {
            sources: self.sources,
            rules,
            filters: self.source_filters(),
            has_rules: !self.filter.is_empty(),
            attributes: AttributeReader::new(AttributeWish {
                acls: options.acls,
                xattrs: options.xattrs,
                links: options.links,
                devices: options.devices,
                specials: options.specials,
            }),
            encoder: FlistEncoder::new(dialect, fields, id_lookup())?,
            desk,
            monitor: self.monitor,
            progress: self.progress,
            walk: Default::default(),
        })
    }

    fn source_filters(&self) -> Vec<SourceFilter> {
        let filter = |source: &Source| ActiveFilter::new(self.filter, Side::Sender, &source.base);
        self.sources.given().iter().map(filter).map(SourceFilter::new).collect()
    }

    fn content<'s>(&'s self, dialect: &Dialect, desk: &'s Desk) -> Content<'s> {
        let options = self.options;
        let sum = match dialect.protocol {
            ..30 => SumKind::Md4Old,
            _ => sum_kind(dialect.transfer_sum),
        };
        let append = match options.append {
            // Below protocol 30 every append verifies.
            Append::Trusting if dialect.protocol < 30 => Append::Verifying,
            append => append,
        };
        let rules = ContentRules {
            protocol: dialect.protocol,
            sum,
            seed: dialect.seed,
            seed_order: match dialect.seed_first() || options.checksum_choice.is_some() {
                true => SeedOrder::First,
                false => SeedOrder::Last,
            },
            append,
            inplace: options.inplace || append != Append::No,
            inplace_partial: dialect.inplace_partial(),
            keep_alive: self.keep_alive(),
        };
        let codec = codec(dialect.compress, options.compress_level);
        let skip = match &options.skip_compress {
            Some(list) => SkipList::parse(list),
            None => SkipList::default(),
        };
        Content::new(rules, codec, skip, desk, self.monitor)
    }

    fn answer_rules(&self, dialect: &Dialect) -> AnswerRules {
        AnswerRules {
            protocol: dialect.protocol,
            incremental: dialect.inc_recurse(),
            keep_alive: self.keep_alive(),
        }
    }

    /// Half of the time limit: so often the far side hears of us.
    fn keep_alive(&self) -> Option<Duration> {
        let seconds = u64::from(self.options.timeout.div_ceil(2));
        (seconds > 0).then(|| Duration::from_secs(seconds))
    }
}

fn id_lookup() -> NameLookup {
    let names = tree::IdNames::of_system();
    Box::new(move |kind, id| {
        let name = match kind {
            IdKind::User => names.user(id),
            IdKind::Group => names.group(id),
        };
        name.map(<[u8]>::to_vec)
    })
}

fn sum_kind(name: SumName) -> SumKind {
    match name {
        SumName::Md4 => SumKind::Md4,
        SumName::Md5 => SumKind::Md5,
        SumName::Sha1 => SumKind::Sha1,
        SumName::Xxh64 => SumKind::Xxh64,
        SumName::Xxh3 => SumKind::Xxh3,
        SumName::Xxh128 => SumKind::Xxh128,
        SumName::None => SumKind::None,
    }
}

/// Returns the session's codec with its level. Level 0 of deflate is none at all, for both sides.
fn codec(name: CompressName, level: Option<i32>) -> Option<(CompressKind, i32)> {
    let kind = match name {
        CompressName::None => return None,
        CompressName::Zlib | CompressName::Zlibx if level == Some(0) => return None,
        CompressName::Zlib => CompressKind::Zlib,
        CompressName::Zlibx => CompressKind::Zlibx,
        CompressName::Zstd => CompressKind::Zstd,
        CompressName::Lz4 => CompressKind::Lz4,
    };
    Some((kind, kind.level(level)))
}
