//! How much is told of which matter (`--info`, `-v`)?

use super::Options;
use super::levels::raise;

/// The matters that `--info` has words for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Info {
    /// Files that were kept as backups.
    Backup,
    /// Files that were copied at the destination.
    Copy,
    /// Deletions.
    Del,
    /// The making of the file list.
    Flist,
    /// What has no word of its own.
    Misc,
    /// Mount points.
    Mount,
    /// Names of items: 1 what changed, 2 what did not as well.
    Name,
    /// Files that are none and are skipped.
    Nonreg,
    /// How far it is: 1 each file, 2 the whole transfer.
    Progress,
    /// Files that the sender removed.
    Remove,
    /// Files that are skipped by an option.
    Skip,
    /// The numbers at the end.
    Stats,
    /// Symlinks that lead out of the tree.
    Symsafe,
}

impl Info {
    /// All of them, in the order of rsync's help.
    pub const ALL: [Info; 13] = [
        Info::Backup,
        Info::Copy,
        Info::Del,
        Info::Flist,
        Info::Misc,
        Info::Mount,
        Info::Name,
        Info::Nonreg,
        Info::Progress,
        Info::Remove,
        Info::Skip,
        Info::Stats,
        Info::Symsafe,
    ];

    /// Their words, in the same order.
    pub(crate) const WORDS: [&str; 13] = [
        "BACKUP", "COPY", "DEL", "FLIST", "MISC", "MOUNT", "NAME", "NONREG", "PROGRESS", "REMOVE",
        "SKIP", "STATS", "SYMSAFE",
    ];

    /// What each of them is about, in the same order.
    pub(crate) const ABOUT: [&str; 13] = [
        "Files that were kept as backups",
        "Files that were copied within the receiving side",
        "Deletions on the receiving side",
        "The making and sending of file lists (levels 1-2)",
        "What has no word of its own (levels 1-2)",
        "Mount points that were found or left out",
        "Names of 1) what was updated, 2) what was not as well",
        "Skipped files that are none (on by default, 0 turns it off)",
        "How far 1) each file is, 2) the whole transfer is",
        "Files that the sender removed",
        "Files that an option leaves out (levels 1-2)",
        "Numbers at the end (levels 1-3)",
        "Symlinks that lead out of the tree",
    ];
}

/// What each `-v` adds, from none on.
pub(crate) const INFO_BY_VERBOSITY: [&[(Info, u8)]; 3] = [
    &[(Info::Nonreg, 1)],
    &[
        (Info::Copy, 1),
        (Info::Del, 1),
        (Info::Flist, 1),
        (Info::Misc, 1),
        (Info::Name, 1),
        (Info::Stats, 1),
        (Info::Symsafe, 1),
    ],
    &[
        (Info::Backup, 1),
        (Info::Misc, 2),
        (Info::Mount, 1),
        (Info::Name, 2),
        (Info::Remove, 1),
        (Info::Skip, 1),
    ],
];

/// The level of each matter, 0 being silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfoLevels([u8; Info::ALL.len()]);

impl InfoLevels {
    /// Returns what the options ask for; a word of `--info` counts more than any `-v`, wherever
    /// it stands.
    pub fn of(options: &Options) -> InfoLevels {
        let mut levels = InfoLevels([0; Info::ALL.len()]);
        for raised in INFO_BY_VERBOSITY.iter().take(usize::from(options.verbose) + 1) {
            for (info, level) in *raised {
                levels.0[*info as usize] = *level;
            }
        }
        if options.progress {
            levels.at_least(Info::Flist, 2);
            levels.at_least(Info::Name, 1);
            levels.at_least(Info::Progress, 1);
        }
        if options.stats {
            levels.at_least(Info::Stats, if options.verbose > 1 { 3 } else { 2 });
        }
        raise("--info", &Info::WORDS, &options.info, &mut levels.0);
        levels
    }

    /// Returns the level of one matter.
    pub fn level(&self, info: Info) -> u8 {
        self.0[info as usize]
    }

    fn at_least(&mut self, info: Info, level: u8) {
        let present = &mut self.0[info as usize];
        *present = (*present).max(level);
    }
}
