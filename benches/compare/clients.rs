//! How are the two senders called for the same work?

use std::path::Path;
use std::process::Command;

use crate::cases::Case;
use crate::far_side::FarSide;

/// A sender.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    Stock,
    Repl,
}

impl Client {
    pub(crate) const BOTH: [Client; 2] = [Client::Stock, Client::Repl];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stock => "stock",
            Self::Repl => "repl",
        }
    }

    /// Returns the command that pushes the contents of `source` to the folder `name`.
    pub(crate) fn command(self, case: &Case, far: &FarSide, source: &Path, name: &str) -> Command {
        let (reach, to) = far.reach(name);
        let mut command;
        match self {
            Self::Stock => {
                command = Command::new("rsync");
                command.args(["-aH", "--numeric-ids", "--stats"]).args(case.options).args(reach);
                command.arg(source.join("")).arg(to);
            }
            Self::Repl => {
                command = Command::new(env!("CARGO_BIN_EXE_repl"));
                command.args(["push", "--no-acls", "--no-xattrs"]).args(case.options).args(reach);
                command.arg("--to").arg(to).arg(source.join(""));
            }
        }
        command
    }
}
