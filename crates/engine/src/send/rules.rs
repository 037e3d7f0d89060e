//! What of a session's options each of its parts needs to know.

use std::time::Duration;

use delta::codec::CompressKind;
use delta::{SeedOrder, SkipList, SumKind};
use filter::{ActiveFilter, RuleList, Side};
use wire::dialect::{CompressName, Dialect, SumName};
use wire::flist::{FlistEncoder, FlistFields, IdKind, NameLookup};
use wire::options::Append;

use super::Send;
use super::set_up::Agreed;
use crate::attributes::{AttributeReader, AttributeWish};
use crate::content::{Content, ContentRules};
use crate::desk::Desk;
use crate::error::Result;
use crate::inbox::RequestShape;
use crate::look::Look;
use crate::role::Role;
use crate::scan::{Scan, ScanRules, SourceFilter};
use crate::sender::AnswerRules;
use crate::sources::Sources;

impl Send<'_> {
    /// Returns what is sent.
    pub(super) fn sources<'s>(&'s self, agreed: &'s Agreed<'_>) -> &'s Sources {
        agreed.listed.as_ref().unwrap_or(self.sources)
    }

    pub(super) fn request_shape(&self, dialect: &Dialect) -> RequestShape {
        RequestShape {
            dialect: dialect.clone(),
            dry_run: self.options.dry_run,
            append: self.options.append != Append::No,
            xattrs: self.options.xattrs > 0,
            is_server: self.is_server(),
        }
    }

    pub(super) fn scan<'s>(&'s self, agreed: &'s Agreed<'_>, desk: &'s Desk) -> Result<Scan<'s>> {
        let options = self.options;
        let dialect = &agreed.dialect;
        let sources = self.sources(agreed);
        let checksum = options.checksum.then(|| sum_kind(dialect.file_sum));
        let rules = ScanRules {
            recurse: options.recursive,
            dirs: options.dirs,
            implied_dirs: options.implied_dirs || dialect.protocol >= 30,
            munge_links: options.munge_links,
            look: Look::of(options),
            follow: sources.follow(Look::of(options)),
            incremental: dialect.inc_recurse(),
            hard_links: options.hard_links > 0,
            one_file_system: options.one_file_system,
            checksum,
            chmod: options.chmod.clone(),
            umask: self.umask,
            ignore_errors: options.ignore_errors,
            keeps_details: self.telling.link_targets
                || self.telling.attributes
                || options.remove_source_files,
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
            missing_args: options.delete_missing_args,
            recursive: options.recursive,
            relative: options.relative,
        };
        Ok(Scan {
            sources,
            rules,
            filters: source_filters(sources, &agreed.filter),
            has_rules: !agreed.filter.is_empty(),
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

    pub(super) fn content<'s>(&'s self, dialect: &Dialect, desk: &'s Desk) -> Content<'s> {
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

    fn is_server(&self) -> bool {
        matches!(self.role, Role::Server(_))
    }

    pub(super) fn answer_rules(&self, agreed: &Agreed<'_>) -> AnswerRules {
        let dialect = &agreed.dialect;
        AnswerRules {
            protocol: dialect.protocol,
            incremental: dialect.inc_recurse(),
            keep_alive: self.keep_alive(),
            is_server: self.is_server(),
            telling: self.telling,
            look: Look::of(self.options),
            follow: self.sources(agreed).follow(Look::of(self.options)),
            relative: self.options.relative,
        }
    }

    /// Half of the time limit: so often the far side hears of us.
    fn keep_alive(&self) -> Option<Duration> {
        let seconds = u64::from(self.options.timeout.div_ceil(2));
        (seconds > 0).then(|| Duration::from_secs(seconds))
    }
}

fn source_filters(sources: &Sources, rules: &RuleList) -> Vec<SourceFilter> {
    let filter = |base: &Vec<u8>| ActiveFilter::new(rules, Side::Sender, base);
    sources.bases().iter().map(filter).map(SourceFilter::new).collect()
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
