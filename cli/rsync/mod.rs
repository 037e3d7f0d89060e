//! rsync's own command line.

#[allow(dead_code, reason = "the commands that use it follow")]
mod output;
