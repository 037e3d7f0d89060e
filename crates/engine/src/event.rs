//! What a transfer tells while it runs.

use std::path::PathBuf;

use wire::mux::TextKind;

/// Something that a person, a log or a program may want to know at once.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
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
    /// A file or directory could not be sent as it should; the run goes on.
    Problem(Problem),
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

/// An item as the generator reported it.
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
}

/// Why something could not be sent.
#[derive(Debug)]
pub struct Problem {
    /// The path as a person would type it.
    pub path: PathBuf,
    /// What happened, as a clause: `cannot open: permission denied`.
    pub text: String,
    /// How grave it is.
    pub gravity: Gravity,
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
