//! What a transfer did, in numbers.

use std::time::Duration;

use tree::Kind;
use wire::mux::{Message, TextKind};
use wire::stats::SessionStats;

use crate::event::{Event, Gravity, Monitor};
use crate::receiver::Totals;

/// Entries by kind, in the order in which rsync prints them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Regular files.
    pub regular: u64,
    /// Directories.
    pub dirs: u64,
    /// Symbolic links.
    pub links: u64,
    /// Devices.
    pub devices: u64,
    /// Fifos and sockets.
    pub specials: u64,
}

impl Counts {
    /// Adds one entry.
    pub fn add(&mut self, kind: Kind) {
        let count = match kind {
            Kind::Regular | Kind::Unknown => &mut self.regular,
            Kind::Dir => &mut self.dirs,
            Kind::Symlink => &mut self.links,
            Kind::Device => &mut self.devices,
            Kind::Special => &mut self.specials,
        };
        *count += 1;
    }

    /// Adds up all kinds.
    pub fn total(&self) -> u64 {
        self.regular + self.dirs + self.links + self.devices + self.specials
    }
}

/// The totals of one transfer.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Everything in the file lists.
    pub files: Counts,
    /// Items that were new at the far side.
    pub created: Counts,
    /// Items that the far side deleted, where it tells (protocol 31 and a deleting run).
    pub deleted: Option<Counts>,
    /// Regular files whose content was sent.
    pub transferred: u64,
    /// Lengths of all regular files and symlink targets, in bytes.
    pub total_size: u64,
    /// Lengths of the files whose content was sent, in bytes.
    pub transferred_size: u64,
    /// Content that was sent as it is.
    pub literal_bytes: u64,
    /// Content that the far side already had.
    pub matched_bytes: u64,
    /// Blocks that the search found.
    pub matches: u64,
    /// Places whose weak sum was found in the table, right or not.
    pub hash_hits: u64,
    /// Places whose weak sum was right and whose strong sum was not.
    pub false_alarms: u64,
    /// Bytes of the file lists.
    pub list_bytes: u64,
    /// How long it took to make the file list; sent by a server that sends.
    pub list_build: Duration,
    /// How long it took to send it, likewise.
    pub list_send: Duration,
    /// All bytes that went out.
    pub sent_bytes: u64,
    /// All bytes that came in.
    pub received_bytes: u64,
    /// What a sending server has counted, where there is one.
    pub stats: Option<SessionStats>,
    /// How long it took.
    pub elapsed: Duration,
    /// Regular files of at least [`LARGE_FILE`] bytes.
    pub large_files: u64,
    /// The longest regular file, in bytes.
    pub largest: u64,
    /// Sources or files with an error: the copy is incomplete.
    pub errors: u64,
    /// Files that vanished before it was their turn.
    pub vanished: u64,
    /// Whether the far side stopped deleting at its limit.
    pub delete_limit: bool,
}

/// From this length on stock's rule makes blocks so long that scattered edits are costly.
pub const LARGE_FILE: u64 = 16 << 20;

impl Summary {
    /// Joins the summaries of two sessions over the same sources: what was listed counts once,
    /// what moved counts together.
    pub fn and(mut self, later: &Self) -> Self {
        self.transferred += later.transferred;
        self.transferred_size += later.transferred_size;
        self.literal_bytes += later.literal_bytes;
        self.matched_bytes += later.matched_bytes;
        self.list_bytes += later.list_bytes;
        self.sent_bytes += later.sent_bytes;
        self.received_bytes += later.received_bytes;
        self.elapsed += later.elapsed;
        self.errors = self.errors.max(later.errors);
        self.vanished = self.vanished.max(later.vanished);
        self.delete_limit |= later.delete_limit;
        self
    }

    /// Adds what a receiver has counted of the lists.
    pub(crate) fn with(self, totals: Totals) -> Self {
        let Totals { files, total_size, list_bytes, stats } = totals;
        let millis = |millis: i64| Duration::from_millis(u64::try_from(millis).unwrap_or(0));
        let (list_build, list_send) = stats.as_ref().map_or_else(Default::default, |stats| {
            (millis(stats.flist_build_ms), millis(stats.flist_send_ms))
        });
        Self { files, total_size, list_bytes, stats, list_build, list_send, ..self }
    }

    /// Notes a problem.
    pub fn note(&mut self, gravity: Gravity) {
        match gravity {
            Gravity::Warning => {}
            Gravity::Vanished => self.vanished += 1,
            Gravity::Error => self.errors += 1,
        }
    }

    /// Tells what the far side says by message, and notes what it means for the exit code.
    pub(crate) fn hear(&mut self, message: Message, monitor: Monitor<'_>) {
        match message {
            Message::Text { kind, text } => {
                self.errors += u64::from(kind == TextKind::ErrorXfer);
                monitor(Event::FarText { kind, text: &text });
            }
            Message::IoError(bits) => self.delete_limit |= bits & 4 != 0,
            Message::IoTimeout(seconds) => monitor(Event::TimeLimit(seconds)),
            Message::Deleted { name, is_dir } => monitor(Event::Deleted { name: &name, is_dir }),
            Message::ErrorExit(_) | Message::Noop | Message::Success(_) | Message::NoSend(_) => {}
        }
    }

    /// Returns rsync's exit code: 23 before 24 before 25.
    pub fn exit_code(&self) -> i32 {
        match self {
            Self { errors: 1.., .. } => wire::exit::PARTIAL,
            Self { vanished: 1.., .. } => wire::exit::VANISHED,
            Self { delete_limit: true, .. } => wire::exit::DELETE_LIMIT,
            _ => wire::exit::OK,
        }
    }

    /// Returns how many times longer the data is than what moved for it.
    pub fn speedup(&self) -> f64 {
        self.total_size as f64 / (self.sent_bytes + self.received_bytes).max(1) as f64
    }
}
