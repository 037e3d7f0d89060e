//! What a transfer tells while it runs.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use wire::charset;
use wire::dialect::SumName;
use wire::mux::TextKind;

use crate::notice::{Notice, RuleHit};
use crate::trouble::{Doing, Trouble, Who};

/// Something that a person, a log or a program may want to know at once.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Both sides have agreed; the file list comes next.
    Begins(Session),
    /// A file list that comes in one piece has so many entries by now; told from the start of its
    /// making, and at each hundred ([`Telling::progress`]).
    Listing(u64),
    /// A file list that comes in one piece is complete, with so many entries.
    ListComplete(u64),
    /// An entry of the file list (`--list-only`), with its access time where those are kept.
    Listed(Item<'a>, Option<i64>),
    /// So much of the present file is dealt with ([`Telling::progress`]); the first step of a file
    /// is told even if it is zero.
    Moving {
        /// Bytes from the start of the file.
        offset: u64,
        /// Its length.
        size: u64,
        /// The length of all files that are listed so far.
        total_size: u64,
    },
    /// A file has moved, or a list or phase is done with ([`Telling::progress`]).
    Passed(Standing),
    /// The far side has dealt with an item that was not up to date.
    Item(Item<'a>),
    /// The far side deleted something.
    Deleted {
        /// Path from the transfer root.
        name: &'a [u8],
        /// Whether it was a directory.
        is_dir: bool,
    },
    /// Text that the far side sent, with the line ends and control bytes it had.
    FarText {
        /// How the far side classed it.
        kind: TextKind,
        /// The raw text.
        text: &'a [u8],
    },
    /// Something could not be done as it should with one file; the run goes on.
    Problem(Problem),
    /// A remark that is worth a line at some level of `--info`.
    Notice {
        /// What is remarked.
        notice: Notice,
        /// The path from the transfer root that it is about; may be empty.
        name: &'a [u8],
    },
    /// A filter rule decided about a name; told under `-vv`.
    RuleHit(RuleHit<'a>),
    /// A decision that is worth a line under `-vv`.
    Decision {
        /// The file that it concerns; empty for the whole session.
        name: &'a [u8],
        /// What was decided and why.
        text: String,
    },
    /// The far side asked for a shorter limit on silence, in seconds.
    TimeLimit(u32),
}

/// What both sides have agreed on, as far as it shows.
#[derive(Clone, Copy, Debug)]
pub struct Session {
    /// The protocol version.
    pub protocol: u32,
    /// Whether the file list comes in parts.
    pub incremental: bool,
    /// The checksum in [`Moved`]: that of the file list with `-c`, else that of the transfer.
    pub sum: SumName,
}

/// How far the session is.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// The length of the file that has moved; `None` for the end of a list that came in parts,
    /// or of a phase where it came in one piece.
    pub file: Option<u64>,
    /// Entries that are not looked at yet.
    pub left: u64,
    /// All entries that are listed so far.
    pub listed: u64,
    /// Whether that is all.
    pub complete: bool,
    /// Their length.
    pub total_size: u64,
}

/// An item as the generator reported it.
///
/// The fields behind `size` are filled in as far as [`Telling`] asks for them.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// Path from the transfer root.
    pub name: &'a [u8],
    /// What differs; see `wire::item`.
    pub iflags: u16,
    /// What kind of file it is.
    pub kind: tree::Kind,
    /// The path of the file that a hard link was made to.
    pub leader: Option<&'a [u8]>,
    /// Length of a regular file in bytes.
    pub size: u64,
    /// Which way content goes.
    pub direction: Direction,
    /// Where a symlink points to.
    pub link_target: Option<&'a [u8]>,
    /// Type and permissions.
    pub mode: u32,
    /// Modification time in seconds since 1970.
    pub mtime: i64,
    /// Owner and group.
    pub owner: (u32, u32),
    /// The directory that the name is below, as the user wrote it; empty where we receive.
    pub source: &'a [u8],
    /// What moved for it, once it has.
    pub moved: Moved<'a>,
}

impl<'a> Item<'a> {
    /// Describes an item by what is always known of it.
    pub fn new(name: &'a [u8], iflags: u16, kind: tree::Kind, direction: Direction) -> Self {
        let moved = Moved::default();
        let (leader, link_target) = (None, None);
        let (size, mode, mtime, owner) = (0, 0, 0, (0, 0));
        let source: &[u8] = b"";
        Self {
            name,
            iflags,
            kind,
            leader,
            size,
            direction,
            link_target,
            mode,
            mtime,
            owner,
            source,
            moved,
        }
    }
}

/// Which way the content of files goes, seen from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the far side, or to the other half of a local copy.
    Sent,
    /// To here.
    Received,
}

/// What moved for one file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moved<'a> {
    /// Bytes on the wire for the content (`%b`).
    pub data_bytes: u64,
    /// Bytes of block sums (`%c`).
    pub sum_bytes: u64,
    /// The whole-file checksum (`%C`), bytes as on the wire.
    pub checksum: Option<&'a [u8]>,
}

/// What the receiver of events wants to know of items, so that nothing is read for nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Telling {
    /// Unchanged items are told as well.
    pub unchanged: bool,
    /// Targets of symlinks.
    pub link_targets: bool,
    /// Modes, times and owners.
    pub attributes: bool,
    /// A file is told after it has moved, with [`Moved`]; else before.
    pub after_transfer: bool,
    /// Events that tell how far it is.
    pub progress: bool,
}

/// What went wrong with one file.
#[derive(Debug)]
pub struct Problem {
    /// The absolute path, or as a person would type it.
    pub path: PathBuf,
    /// What happened.
    pub trouble: Trouble,
    /// How grave it is.
    pub gravity: Gravity,
    /// Which part of the session met it.
    pub who: Who,
}

impl Problem {
    /// Describes a step that the system refused.
    pub fn system(who: Who, doing: Doing, error: tree::Error, gravity: Gravity) -> Self {
        let path = error.path().to_owned();
        let trouble = match gravity {
            Gravity::Vanished => Trouble::Vanished,
            Gravity::Warning | Gravity::Error => Trouble::System { doing, error },
        };
        Self { path, trouble, gravity, who }
    }

    /// Describes a name that is none in the charset of `--iconv`.
    pub(crate) fn unsayable(who: Who, name: &[u8]) -> Self {
        let path = OsStr::from_bytes(name).into();
        let trouble = Trouble::Unsayable { is_target: false, reason: charset::reason(name) };
        Self { path, trouble, gravity: Gravity::Error, who }
    }

    /// Describes a symlink whose target is none.
    pub(crate) fn unsayable_target(who: Who, path: PathBuf, target: &[u8]) -> Self {
        let trouble = Trouble::Unsayable { is_target: true, reason: charset::reason(target) };
        Self { path, trouble, gravity: Gravity::Error, who }
    }

    /// Describes something else in our words alone.
    pub fn other(who: Who, path: PathBuf, ours: String, gravity: Gravity) -> Self {
        let trouble = Trouble::Other { ours, stock: String::new() };
        Self { path, trouble, gravity, who }
    }
}

/// What a problem does to the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gravity {
    /// Nothing: worth a warning.
    Warning,
    /// The file was gone when it was its turn (exit code 24).
    Vanished,
    /// The copy is incomplete (exit code 23).
    Error,
}

/// Where events go. It is called from several threads and must not block for long.
pub type Monitor<'a> = &'a (dyn Fn(Event<'_>) + Sync);
