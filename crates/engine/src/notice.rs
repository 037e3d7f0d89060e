//! What is worth a line although nothing went wrong, in rsync's words.

use filter::{Hit, Verdict};
use wire::options::{Debug, DebugLevels, Info};

use crate::event::{Event, Monitor};
use crate::trouble::Who;

/// A remark about one name, or about the session where the name is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// The item is as it should be.
    UpToDate,
    /// Its attributes were not, and are now.
    Updated,
    /// `--ignore-existing` left it alone.
    Exists,
    /// `--update` left it alone.
    IsNewer,
    /// `--max-size` left it out.
    OverMaxSize,
    /// `--min-size` left it out.
    UnderMinSize,
    /// `--existing` did not create this file.
    NotCreating,
    /// `--existing` did not create this directory.
    NotCreatingDir,
    /// It is neither file, directory nor symlink that may be sent.
    SkippingNonRegular,
    /// A directory without `-r` or `-d`.
    SkippingDirectory,
    /// The destination directory was made.
    CreatedDirectory,
    /// `--mkpath` made so many directories, the last of which is named.
    CreatedPath(usize),
    /// Nothing is deleted because something could not be read.
    NotDeleting,
    /// A directory that holds what is not to be deleted stays.
    NotDeletingNonEmpty,
    /// A mount point stays.
    NotDeletingMountPoint,
    /// So many deletions were left out by `--max-delete`.
    DeletionsStopped(u32),
    /// The first try of a file failed its checksum; it comes again.
    VerificationFailed {
        /// What became of the data: `discarded`, `retained`, `put into partial-dir`.
        fate: &'static str,
    },
    /// A symlink that leads out of the tree was left out; the name is `"NAME" -> "TARGET"`.
    UnsafeSymlink,
    /// One was copied as what it leads to; the name is the same.
    CopyingUnsafeSymlink,
    /// The sender removed a source file.
    SourceRemoved,
    /// A file was kept as a backup; the name is `NAME to BACKUP`.
    BackedUp,
    /// A batch has content for a file that needs none.
    SkippedUpdate,
    /// Whether files are compared block by block, for the whole session.
    DeltaTransmission(bool),
}

impl Notice {
    /// Returns rsync's line, without the line end.
    pub fn stock(self, name: &[u8]) -> Vec<u8> {
        let (before, after): (&str, String) = match self {
            Notice::UpToDate => ("", " is uptodate".into()),
            Notice::Updated => ("", String::new()),
            Notice::Exists => ("", " exists".into()),
            Notice::IsNewer => ("", " is newer".into()),
            Notice::OverMaxSize => ("", " is over max-size".into()),
            Notice::UnderMinSize => ("", " is under min-size".into()),
            Notice::NotCreating => ("not creating new file \"", "\"".into()),
            Notice::NotCreatingDir => ("not creating new directory \"", "\"".into()),
            Notice::SkippingNonRegular => ("skipping non-regular file \"", "\"".into()),
            Notice::SkippingDirectory => ("skipping directory ", String::new()),
            Notice::CreatedDirectory => ("created directory ", String::new()),
            Notice::CreatedPath(1) => ("created 1 directory for ", String::new()),
            Notice::CreatedPath(count) => {
                return [format!("created {count} directories for ").as_bytes(), name].concat();
            }
            Notice::NotDeleting => {
                ("IO error encountered -- skipping file deletion", String::new())
            }
            Notice::NotDeletingNonEmpty => ("cannot delete non-empty directory: ", String::new()),
            Notice::NotDeletingMountPoint => ("cannot delete mount point: ", String::new()),
            Notice::DeletionsStopped(skipped) => {
                ("", format!("Deletions stopped due to --max-delete limit ({skipped} skipped)"))
            }
            Notice::VerificationFailed { fate } => {
                ("WARNING: ", format!(" failed verification -- update {fate} (will try again)."))
            }
            Notice::UnsafeSymlink => ("ignoring unsafe symlink ", String::new()),
            Notice::CopyingUnsafeSymlink => ("copying unsafe symlink ", String::new()),
            Notice::SourceRemoved => ("sender removed ", String::new()),
            Notice::BackedUp => ("backed up ", String::new()),
            Notice::SkippedUpdate => ("(Skipping batched update for \"", "\")".into()),
            Notice::DeltaTransmission(true) => ("delta-transmission enabled", String::new()),
            Notice::DeltaTransmission(false) => {
                ("delta-transmission disabled for local transfer or --whole-file", String::new())
            }
        };
        [before.as_bytes(), name, after.as_bytes()].concat()
    }

    /// Returns the matter and the level from which it is told; `None` is told always.
    fn info(self) -> Option<(Info, u8)> {
        match self {
            Notice::UpToDate | Notice::Updated => Some((Info::Name, 2)),
            Notice::Exists
            | Notice::IsNewer
            | Notice::OverMaxSize
            | Notice::UnderMinSize
            | Notice::NotCreating
            | Notice::NotCreatingDir => Some((Info::Skip, 1)),
            Notice::SkippingNonRegular => Some((Info::Nonreg, 1)),
            Notice::UnsafeSymlink | Notice::CopyingUnsafeSymlink => Some((Info::Symsafe, 1)),
            Notice::SourceRemoved => Some((Info::Remove, 1)),
            Notice::BackedUp => Some((Info::Backup, 1)),
            Notice::NotDeletingMountPoint => Some((Info::Mount, 1)),
            Notice::SkippingDirectory
            | Notice::SkippedUpdate
            | Notice::CreatedDirectory
            | Notice::CreatedPath(_)
            | Notice::DeltaTransmission(_)
            | Notice::NotDeleting
            | Notice::NotDeletingNonEmpty
            | Notice::DeletionsStopped(_)
            | Notice::VerificationFailed { .. } => None,
        }
    }

    /// Tells whether it is told at these levels of `--info` and `--debug`.
    pub fn is_told(self, level: impl Fn(Info) -> u8, debug: DebugLevels) -> bool {
        match self {
            Notice::DeltaTransmission(_) => debug.level(Debug::Flist) > 0,
            notice => notice.info().is_none_or(|(matter, least)| level(matter) >= least),
        }
    }

    /// Tells whether rsync classes it as a warning, which goes to stderr.
    pub fn is_warning(self) -> bool {
        matches!(self, Notice::DeletionsStopped(_) | Notice::VerificationFailed { .. })
    }
}

/// A filter rule that decided about a name.
#[derive(Clone, Copy, Debug)]
pub struct RuleHit<'a> {
    /// Which part of the session asked.
    pub who: Who,
    /// The rule keeps the name in, or lets it be deleted.
    pub includes: bool,
    /// Whether the name is a directory's.
    pub is_dir: bool,
    /// Path from the transfer root.
    pub name: &'a [u8],
    /// The pattern and where it came from, as rsync shows it: `*.o [per-dir .rules]`.
    pub rule: &'a [u8],
}

impl RuleHit<'_> {
    /// Tells which rule has decided about a name, if any, and returns what.
    pub(crate) fn judged(
        hit: Option<Hit<'_>>,
        who: Who,
        (name, is_dir): (&[u8], bool),
        monitor: Monitor<'_>,
    ) -> Verdict {
        let Some(hit) = hit else { return Verdict::Include };
        let includes = hit.verdict() == Verdict::Include;
        let rule = &hit.shown();
        monitor(Event::RuleHit(RuleHit { who, includes, is_dir, name, rule }));
        hit.verdict()
    }

    /// Tells whether it is told at these levels.
    pub fn is_told(debug: DebugLevels) -> bool {
        debug.level(Debug::Filter) > 0
    }

    /// Returns rsync's line, without the line end.
    pub fn stock(&self) -> Vec<u8> {
        let verb = match (self.who, self.includes) {
            (Who::Sender, true) => "showing",
            (Who::Sender, false) => "hiding",
            (Who::Generator | Who::Receiver, true) => "risking",
            (Who::Generator | Who::Receiver, false) => "protecting",
        };
        let kind = if self.is_dir { "directory" } else { "file" };
        let start = format!("[{}] {verb} {kind} ", self.who.name());
        [start.as_bytes(), self.name, b" because of pattern ", self.rule].concat()
    }
}
