//! The rsync wire language: bytes to values and values to bytes.
//!
//! # Purpose
//!
//! Everything that two rsyncs say to each other at protocols 29 to 32 is read and written here:
//! the set-up of a session, the multiplexed stream, integers, the file list, requests, tokens.
//! The facts behind the code are in `docs/protocol/` of the project.
//!
//! # Invariants
//!
//! - No files, sockets, clocks, threads or environment: only `impl Read`, `impl Write`, slices.
//! - The same bytes give the same values, however a reader splits them.
//! - Nothing that a peer sends panics, loops for ever without input, or makes us allocate more
//!   than a limit named in [`limits`].
//! - What a peer says is never printed raw: see [`escape::printable`].
//!
//! # What it does not do
//!
//! It does not choose what to send: which file, which block, which answer is the engine's work.
//! Both halves are here: client and server, sender and receiver.
//!
//! # Example
//!
//! ```
//! use wire::ndx::{NdxDecoder, NdxEncoder};
//!
//! let mut out = Vec::new();
//! let mut encoder = NdxEncoder::new(32);
//! encoder.put(&mut out, 4);
//! encoder.put(&mut out, wire::ndx::NDX_DONE);
//!
//! let mut input = out.as_slice();
//! let mut decoder = NdxDecoder::new(32);
//! assert_eq!(decoder.read(&mut input)?, 4);
//! assert_eq!(decoder.read(&mut input)?, wire::ndx::NDX_DONE);
//! # Ok::<(), wire::Error>(())
//! ```

pub mod acl;
pub mod auth;
pub mod batch;
pub mod charset;
pub mod dialect;
pub mod error;
pub mod escape;
pub mod exit;
pub mod files_from;
pub mod filter_list;
pub mod flist;
pub mod greeting;
pub mod int;
pub mod item;
pub mod limits;
pub mod mux;
pub mod ndx;
pub mod option_table;
pub mod options;
pub mod server_args;
pub mod setup;
pub mod stats;
pub mod sums;
pub mod token;
pub mod xattr;

#[cfg(test)]
mod recorded;
#[cfg(test)]
mod testing;

pub use dialect::{Compat, CompressName, Dialect, ServerWish, SumName};
pub use error::{Error, Result};
