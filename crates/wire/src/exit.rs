//! Which exit codes does rsync have, and what do they mean?

use std::panic::Location;

/// Everything was done.
pub const OK: i32 = 0;
/// Wrong usage or configuration; a module that is read only.
pub const SYNTAX: i32 = 1;
/// The two sides cannot talk to each other.
pub const PROTOCOL: i32 = 2;
/// Source or destination cannot be used.
pub const FILE_SELECTION: i32 = 3;
/// Something asked for is not supported.
pub const UNSUPPORTED: i32 = 4;
/// The session could not be started.
pub const START: i32 = 5;
/// The connection failed.
pub const SOCKET: i32 = 10;
/// Reading or writing a file failed for good, such as on a full disk.
pub const FILE_IO: i32 = 11;
/// The data stream ended early or has no meaning.
pub const STREAM: i32 = 12;
/// Messages could not be written.
pub const DIAGNOSTICS: i32 = 13;
/// Processes could not talk to each other.
pub const IPC: i32 = 14;
/// A sibling process crashed.
pub const CRASHED: i32 = 15;
/// A sibling process was ended.
pub const TERMINATED: i32 = 16;
/// Ended by SIGUSR1.
pub const SIGNAL_USR1: i32 = 19;
/// Ended by SIGINT, SIGTERM or SIGHUP.
pub const SIGNAL: i32 = 20;
/// Waiting for a child failed.
pub const WAIT_CHILD: i32 = 21;
/// Memory or a limit was exhausted.
pub const MEMORY: i32 = 22;
/// Some files were not transferred.
pub const PARTIAL: i32 = 23;
/// Some files vanished before they were transferred.
pub const VANISHED: i32 = 24;
/// The limit of deletions was reached.
pub const DELETE_LIMIT: i32 = 25;
/// A time limit ran out.
pub const TIMEOUT: i32 = 30;
/// The time limit for the connection ran out.
pub const CONNECT_TIMEOUT: i32 = 35;
/// The remote shell failed.
pub const SHELL_FAILED: i32 = 124;
/// The remote shell was killed.
pub const SHELL_KILLED: i32 = 125;
/// The remote command could not be run.
pub const COMMAND_NOT_RUN: i32 = 126;
/// The remote command was not found.
pub const COMMAND_NOT_FOUND: i32 = 127;
/// ssh could not connect.
pub const SSH: i32 = 255;

/// Returns the line that rsync ends with for a code, said at a place of the program by a part of it.
pub fn closing(code: i32, here: &Location<'_>, role: &str) -> String {
    let label = if code == VANISHED { "warning" } else { "error" };
    let (text, version) = (describe(code), env!("CARGO_PKG_VERSION"));
    let file = here.file().rsplit('/').next().unwrap_or_default();
    let line = here.line();
    format!("rsync {label}: {text} (code {code}) at {file}({line}) [{role}={version}]")
}

/// Returns rsync's words for a code.
pub fn describe(code: i32) -> &'static str {
    match code {
        OK => "success",
        SYNTAX => "syntax or usage error",
        PROTOCOL => "protocol incompatibility",
        FILE_SELECTION => "errors selecting input/output files, dirs",
        UNSUPPORTED => "requested action not supported",
        START => "error starting client-server protocol",
        SOCKET => "error in socket IO",
        FILE_IO => "error in file IO",
        STREAM => "error in rsync protocol data stream",
        DIAGNOSTICS => "errors with program diagnostics",
        IPC => "error in IPC code",
        CRASHED => "sibling process crashed",
        TERMINATED => "sibling process terminated abnormally",
        SIGNAL_USR1 => "received SIGUSR1",
        SIGNAL => "received SIGINT, SIGTERM, or SIGHUP",
        WAIT_CHILD => "waitpid() failed",
        MEMORY => "error allocating core memory buffers",
        PARTIAL => "some files/attrs were not transferred (see previous errors)",
        VANISHED => "some files vanished before they could be transferred",
        DELETE_LIMIT => "the --max-delete limit stopped deletions",
        TIMEOUT => "timeout in data send/receive",
        CONNECT_TIMEOUT => "timeout waiting for daemon connection",
        SHELL_FAILED => "remote shell failed",
        SHELL_KILLED => "remote shell killed",
        COMMAND_NOT_RUN => "remote command could not be run",
        COMMAND_NOT_FOUND => "remote command not found",
        _ => "unexplained error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_line_has_the_shape_of_rsyncs() {
        let here = Location::caller();
        let (line, version) = (here.line(), env!("CARGO_PKG_VERSION"));
        assert_eq!(
            closing(VANISHED, here, "sender"),
            format!(
                "rsync warning: some files vanished before they could be transferred (code 24) \
                 at exit.rs({line}) [sender={version}]"
            )
        );
    }
}
