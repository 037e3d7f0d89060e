//! The work of a transfer: what is sent, in which order, and how requests are answered.
//!
//! Purpose: [`Send`] runs the sending side of one session over the two halves of any
//! connection. It joins the four crates below it: `tree` reads the disk, `filter` says what is
//! kept, `delta` finds what the far side lacks, `wire` speaks.
//!
//! Invariants: one thread owns each half of the connection; the one that reads never waits for
//! the one that writes while the far side may wait for us. Memory is bounded whatever the size of
//! the tree, but for sessions without incremental recursion, which keep one small record an entry.
//!
//! What it does not do: it opens no connection, prints nothing and reads no environment. A file
//! that cannot be sent is an [`Event`] and counts in the [`Summary`]; only what ends the session
//! is an [`Error`].

mod attributes;
mod backup;
mod board;
mod census;
mod content;
mod desk;
mod destination;
mod digests;
mod dirs;
mod error;
mod event;
mod finish;
mod generator;
mod handover;
mod ids;
mod inbox;
mod list;
mod local_copy;
mod look;
mod notice;
mod outbox;
mod pack;
mod progress;
mod quick_look;
mod read_ahead;
mod receive;
mod received;
mod receiver;
mod requested;
mod role;
mod scan;
mod send;
mod sender;
mod session;
mod site;
mod site_dirs;
mod small_file;
mod sources;
mod summary;
mod throttle;
mod trouble;
mod unsafe_link;
mod wanted;
mod whole_file;

pub use census::census;
pub use delta::block_choice;
pub use destination::Destination;
pub use error::{Error, Result};
pub use event::{
    Direction, Event, Gravity, Item, Monitor, Moved, Problem, Session, Standing, Telling,
};
pub use local_copy::{Stop, copy_locally};
pub use notice::{Notice, RuleHit};
pub use progress::Progress;
pub use quick_look::QuickLook;
pub use receive::Receive;
pub use requested::Request;
pub use role::Role;
pub use send::Send;
pub use sources::Sources;
pub use summary::{Counts, LARGE_FILE, Summary};
pub use tree::Kind;
pub use trouble::{Doing, Trouble, Who, reason};
