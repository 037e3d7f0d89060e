//! Who ends the processes that a test started, when the test fails in the middle?

use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus};

use rustix::process::{Pid, Signal, kill_process_group};

/// A process that is killed, with the children that stayed in its group, when this value goes.
pub(crate) struct OwnedChild(Child);

impl OwnedChild {
    pub(crate) fn spawn(command: &mut Command) -> Self {
        match command.process_group(0).spawn() {
            Ok(child) => Self(child),
            Err(error) => panic!("{}: {error}", command.get_program().display()),
        }
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    pub(crate) fn stdout(&mut self) -> ChildStdout {
        self.0.stdout.take().unwrap()
    }

    pub(crate) fn stderr(&mut self) -> ChildStderr {
        self.0.stderr.take().unwrap()
    }

    /// Returns how the process ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().unwrap()
    }

    pub(crate) fn kill(&mut self) {
        if self.ended().is_none() {
            kill_process_group(self.pid(), Signal::KILL).unwrap();
            self.0.wait().unwrap();
        }
    }
}

impl Drop for OwnedChild {
    fn drop(&mut self) {
        self.kill();
    }
}
