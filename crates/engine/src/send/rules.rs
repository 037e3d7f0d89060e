//! What of a session's options each of its parts needs to know.

use delta::SkipList;
use filter::{ActiveFilter, RuleList, Side};
use wire::dialect::Dialect;
use wire::flist::{FlistEncoder, IdKind, NameLookup};
use wire::options::{Append, Batch};

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
use crate::session;
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
        let checksum = options.checksum.then(|| session::sum_kind(dialect.file_sum));
        let rules = ScanRules {
            recurse: options.recursive,
            dirs: options.lists_dirs(),
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
            charset: options.charset,
            keeps_details: self.telling.link_targets
                || self.telling.attributes
                || options.remove_source_files,
        };
        let fields = session::fields(self.role, options, dialect);
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
                fake: options.fake_super,
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
        let append = match options.append {
            // Below protocol 30 every append verifies.
            Append::Trusting if dialect.protocol < 30 => Append::Verifying,
            append => append,
        };
        let rules = ContentRules {
            protocol: dialect.protocol,
            sum: session::transfer_sum(dialect),
            seed: dialect.seed,
            seed_order: session::seed_order(options, dialect),
            append,
            inplace: options.inplace || append != Append::No,
            inplace_partial: dialect.inplace_partial(),
            keep_alive: session::keep_alive(self.options),
        };
        let codec = session::codec(dialect.compress, options.compress_level)
            .map(|kind| (kind, kind.level(options.compress_level)));
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
            keep_alive: session::keep_alive(self.options),
            is_server: self.is_server(),
            telling: self.telling,
            look: Look::of(self.options),
            follow: self.sources(agreed).follow(Look::of(self.options)),
            only_records: matches!(self.options.batch, Some(Batch::OnlyWrite(_))),
            relative: self.options.relative,
        }
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
