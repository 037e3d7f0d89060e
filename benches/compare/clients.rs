//! How are the two programs called for the same work?

use std::path::Path;
use std::process::Command;

use crate::cases::Case;
use crate::far_side::{FarSide, Way};

/// A program that is compared.
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

    /// Returns the command that brings the contents of `source` to the folder `name`, the way that `far` is for.
    pub(crate) fn command(self, case: &Case, far: &FarSide, folder: &Path, name: &str) -> Command {
        let source = case.source(folder).join("");
        let pushes_alone = self == Self::Repl && matches!(far.way, Way::Daemon | Way::Pipe);
        let mut command;
        if pushes_alone {
            command = Command::new(env!("CARGO_BIN_EXE_repl"));
            command.args(["push", "--no-acls", "--no-xattrs"]).args(case.options);
        } else {
            let is_ours = self == Self::Repl && far.way != Way::Serve;
            command = Command::new(if is_ours { env!("CARGO_BIN_EXE_repl") } else { "rsync" });
            command.args(is_ours.then_some("rsync"));
            command.args(["-aH", "--numeric-ids", "--stats"]).args(case.options);
        }
        if self == Self::Repl && matches!(far.way, Way::Serve | Way::Both) {
            command.arg(concat!("--rsync-path=", env!("CARGO_BIN_EXE_repl"), " rsync"));
        }
        if !matches!(far.way, Way::Daemon | Way::Local) {
            command.args(far.shell());
        }
        match far.way {
            _ if pushes_alone => command.arg("--to").arg(far.address(name)).arg(source),
            Way::Pull => command.arg(far.address("source")).arg(folder.join(name).join("")),
            _ => command.arg(source).arg(far.address(name)),
        };
        command
    }
}
