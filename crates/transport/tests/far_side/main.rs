//! Does the way to a real rsync work, and is each trouble on it told for what it is?

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod caller;
mod over_daemon;
mod over_shell;
mod over_ssh;
mod sshd;
mod stock_daemon;
