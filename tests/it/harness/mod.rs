//! Which servers, trees and checks do the tests share?

pub(crate) mod child;
pub(crate) mod compare;
pub(crate) mod daemon;
pub(crate) mod far_side;
pub(crate) mod liar;
pub(crate) mod odd_tree;
pub(crate) mod program;
pub(crate) mod proxy;
pub(crate) mod random;
pub(crate) mod recording;
pub(crate) mod rsyncs;
pub(crate) mod scripted_server;
pub(crate) mod sshd;
pub(crate) mod wait;

pub(crate) use daemon::Daemon;
pub(crate) use far_side::{FarSide, Way};
pub(crate) use program::{Outcome, Program, repl, stock};
pub(crate) use rsyncs::Rsync;
pub(crate) use sshd::Sshd;

/// Returns a fresh folder that is removed with the value.
pub(crate) fn temp_dir() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("repl-it-").tempdir().unwrap()
}
