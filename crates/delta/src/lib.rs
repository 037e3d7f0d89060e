//! The rsync algorithm: sums of blocks and files, the search for matching blocks, and the codecs.
//!
//! A sender reads the sums of the blocks that the receiver already has ([`BlockSums`]), indexes
//! them ([`Index`]) and runs through its own file once ([`Searcher::search`]). The search hands out
//! [`Event`]s in file order: literal bytes and matched blocks. Applied to the receiver's basis they
//! give the new file, whatever the two contents were. Literal bytes may then pass a
//! [`Compressor`](codec::Compressor), and which block length to ask for is answered by
//! [`block_size`] and [`block_choice`].
//!
//! A receiver describes its basis by [`signature`], and takes the literals out of a
//! [`Decompressor`](codec::Decompressor).
//!
//! Invariants:
//! - values only: no files, sockets, clock, threads or environment. Bytes come in through a read
//!   closure or reader and go out through a sink closure;
//! - memory does not grow with the size of the file, and what the sums may take is bounded by
//!   [`SUMS_MEMORY_LIMIT`];
//! - time stays near-linear in the size of the file for every basis a peer may describe.
//!
//! It does not frame tokens, parse messages, or apply a delta.
//!
//! ```
//! use delta::{Event, FileSum, Plan, Searcher, SumKind};
//!
//! let mut content: &[u8] = b"a new file";
//! let mut sent = Vec::new();
//! let outcome = Searcher::new().search(
//!     |buf| std::io::Read::read(&mut content, buf),
//!     &Plan::whole(10),
//!     FileSum::new(SumKind::Xxh128, 0),
//!     &mut |event: Event<'_>| {
//!         if let Event::Literal(bytes) = event {
//!             sent.extend_from_slice(bytes);
//!         }
//!         Ok::<(), std::io::Error>(())
//!     },
//! )?;
//! assert_eq!(sent, b"a new file");
//! assert_eq!(outcome.stats.literal_bytes, 10);
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod block_choice;
pub mod block_size;
mod block_sums;
pub mod codec;
mod digest;
mod error;
mod file_sum;
mod incompressible;
mod index;
mod matcher;
mod output;
mod search;
mod signature;
mod skip_compress;
mod strong;
mod weak;
mod window;

pub use block_sums::{BlockSums, Head, SUMS_MEMORY_LIMIT};
pub use digest::{Digest, SumKind};
pub use error::{Error, Result};
pub use file_sum::FileSum;
pub use incompressible::looks_incompressible;
pub use index::{Index, Placement};
pub use search::{Event, Outcome, Plan, Searcher, Stats};
pub use signature::{ShortBasis, signature};
pub use skip_compress::{DEFAULT_SUFFIXES, SkipList};
pub use strong::{SeedOrder, StrongSum};
pub use weak::{Rolling, weak_sum};
pub use window::{Damage, LITERAL_MAX};
