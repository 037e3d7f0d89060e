//! What does the whole program do against real rsyncs, real ssh, and peers that lie?
//!
//! One binary for all of it. The suite needs root, the Debian packages and the older rsyncs that `tests/run.sh` brings.
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work must fail its test")]

mod bad_news;
mod codecs;
mod corners;
mod damaged_sender;
mod delete_and_filters;
mod delta_cases;
mod garbage;
mod harness;
mod kill_nine;
mod live_source;
mod lying_sender;
mod matrix;
mod odd_tree_everywhere;
mod output;
mod real_input;
mod scale;
mod signals;
mod swapped_in;
mod tidy;
mod twin;
