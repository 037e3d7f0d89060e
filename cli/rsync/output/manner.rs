//! What is told at all, decided once from the options?

use engine::{Notice, Telling};
use jiff::tz::TimeZone;
use wire::options::{Batch, DebugLevels, Info, InfoLevels, Options};

use super::Way;
use super::format::{Context, Format};
use crate::itemize::Itemizing;

/// Formats, levels and switches of one run.
#[derive(Debug)]
pub(super) struct Manner {
    pub(super) way: Way,
    pub(super) out_format: Option<Format>,
    pub(super) log_format: Option<Format>,
    pub(super) context: Context,
    pub(super) levels: Levels,
    /// The level of `-h`.
    pub(super) human: u8,
    /// Each change has a line, not only those that make or move a file: the format says which.
    pub(super) itemizes: bool,
    /// Unchanged items have lines too.
    pub(super) unchanged: bool,
    /// `-v`, counted.
    pub(super) verbose: u8,
    /// A list that comes in one piece is worth a line.
    pub(super) lists_dirs: bool,
    pub(super) atimes: bool,
    pub(super) dry_run: bool,
    /// What is said behind the speedup where nothing was changed.
    pub(super) remark: &'static str,
    list_only: bool,
}

/// The levels of `--info`, with what other options imply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Levels {
    info: InfoLevels,
    pub(super) debug: DebugLevels,
    pub(super) name: u8,
    pub(super) progress: u8,
    pub(super) flist: u8,
    pub(super) stats: u8,
}

impl Levels {
    fn of(options: &Options) -> Self {
        let info = InfoLevels::of(options);
        let at_least = |matter, asked, level| info.level(matter).max(if asked { level } else { 0 });
        let formatted = options.itemize > 0 || options.out_format.is_some();
        Self {
            info,
            debug: DebugLevels::of(options),
            name: at_least(Info::Name, formatted || options.progress, 1),
            progress: at_least(Info::Progress, options.progress, 1),
            flist: at_least(Info::Flist, options.progress, 2),
            stats: at_least(Info::Stats, options.stats, 2),
        }
    }

    /// Tells whether a notice is told.
    pub(super) fn tells(&self, notice: Notice) -> bool {
        notice.is_told(|matter| self.level(matter), self.debug)
    }

    pub(super) fn level(&self, matter: Info) -> u8 {
        match matter {
            Info::Name => self.name,
            matter => self.info.level(matter),
        }
    }
}

impl Manner {
    pub(super) fn of(options: &Options, way: Way, zone: TimeZone) -> Self {
        let levels = Levels::of(options);
        let out_format = match &options.out_format {
            Some(format) => Some(Format::parse(format)),
            None if options.itemize > 0 => Some(Format::parse(b"%i %n%L")),
            None if levels.name > 0 => Some(Format::parse(b"%n%L")),
            None => None,
        };
        let log_format = options.log_file.as_ref().map(|_| options.log_file_format.as_deref());
        let log_format = log_format.map(|format| format.unwrap_or(b"%i %n%L"));
        let itemizing = Itemizing { local_copy: way == Way::Local, times: options.times };
        let itemizes = out_format.as_ref().is_some_and(|format| format.has(b"i"));
        Self {
            way,
            log_format: log_format.filter(|format| !format.is_empty()).map(Format::parse),
            context: Context {
                itemizing,
                owner: options.owner,
                group: options.group,
                receives: way == Way::Pull,
                zone,
                session: None,
            },
            levels,
            human: options.human_readable,
            itemizes,
            unchanged: itemizes && (options.itemize > 1 || levels.name > 1),
            verbose: options.verbose,
            lists_dirs: options.recursive || options.dirs || options.list_only,
            atimes: options.atimes > 0,
            dry_run: options.dry_run,
            remark: match options.batch {
                _ if options.dry_run => " (DRY RUN)",
                Some(Batch::OnlyWrite(_)) => " (BATCH ONLY)",
                _ => "",
            },
            list_only: options.list_only,
            out_format,
        }
    }

    /// Returns what the engine should find out for these lines.
    pub(super) fn telling(&self) -> Telling {
        let has = |letters: &[u8]| {
            let mut formats = self.out_format.iter().chain(&self.log_format);
            formats.any(|format| format.has(letters))
        };
        Telling {
            unchanged: self.unchanged,
            link_targets: self.list_only || has(b"L"),
            attributes: self.list_only || has(b"BMUG"),
            after_transfer: has(b"bcC"),
            progress: self.levels.progress > 0 || self.levels.flist > 1,
        }
    }
}
