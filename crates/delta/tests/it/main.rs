//! Does the crate speak the algorithm as recorded sessions of rsync do, and survive the rest?

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod codecs;
mod damage;
mod hostile;
mod receiver;
mod recording;
mod recordings;
mod sampling;
mod searches;
mod sender;
