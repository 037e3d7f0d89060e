//! How does any thread stop a connection at once, and who was first to say why?

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::Notify;

use crate::far_program::FarProgram;
use crate::stream::Stream;

/// Why a connection was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The user asked for it: Ctrl-C, SIGTERM, SIGHUP.
    Signal,
    /// Nothing was read or written for so long.
    TimedOut {
        /// The limit.
        seconds: u64,
    },
    /// The daemon did not answer in time.
    ConnectTimedOut {
        /// The limit.
        seconds: u64,
    },
    /// The time has come at which the user wanted it to end (`--stop-at`).
    StopTime,
    /// The far side is gone, so that the other half of the connection has no use any more.
    PeerGone,
    /// The run failed for a reason of its own, which is reported elsewhere.
    Failed,
}

impl Reason {
    /// Returns rsync's exit code, or `None` where another error is the one to report.
    pub fn exit_code(self) -> Option<i32> {
        match self {
            Reason::Signal => Some(wire::exit::SIGNAL),
            Reason::TimedOut { .. } | Reason::StopTime => Some(wire::exit::TIMEOUT),
            Reason::ConnectTimedOut { .. } => Some(wire::exit::CONNECT_TIMEOUT),
            Reason::PeerGone => Some(wire::exit::STREAM),
            Reason::Failed => None,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Signal => f.write_str("stopped by a signal"),
            Reason::TimedOut { seconds } => {
                write!(f, "time limit: nothing was read or written for {seconds} s")
            }
            Reason::ConnectTimedOut { seconds } => write!(f, "no answer within {seconds} s"),
            Reason::StopTime => f.write_str("stopping at requested limit"),
            Reason::PeerGone => f.write_str("the far side is gone"),
            Reason::Failed => f.write_str("stopped after a failure"),
        }
    }
}

impl std::error::Error for Reason {}

/// Stops a connection from any thread: both halves return at once and the program in between ends.
///
/// It exists before the connection does, so that connecting can be stopped as well, and serves one
/// connection: once cancelled, it stays so.
#[derive(Clone, Debug, Default)]
pub struct Canceller {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    reason: Option<Reason>,
    targets: Vec<Target>,
}

/// What a cancellation has to break.
pub(crate) enum Target {
    Stream(Weak<Stream>),
    Program(Weak<FarProgram>),
    Waiter(Weak<Notify>),
    Call(Arc<dyn Fn() + Send + Sync>),
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Target::Stream(_) => "Stream",
            Target::Program(_) => "Program",
            Target::Waiter(_) => "Waiter",
            Target::Call(_) => "Call",
        })
    }
}

impl Canceller {
    /// Creates a canceller that nothing hangs on yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the connection, and tells whether there was anything to stop; only the first reason is
    /// kept.
    pub fn cancel(&self, reason: Reason) -> bool {
        let targets = {
            let mut state = self.lock();
            state.reason.get_or_insert(reason);
            std::mem::take(&mut state.targets)
        };
        let any = targets.iter().any(Target::is_alive);
        targets.iter().for_each(Target::stop);
        any
    }

    /// Has `stop` called at the cancellation, for work that needs no connection.
    pub fn on_cancel(&self, stop: Arc<dyn Fn() + Send + Sync>) {
        self.add(Target::Call(stop));
    }

    /// Returns why the connection was stopped, if it was.
    pub fn reason(&self) -> Option<Reason> {
        self.lock().reason
    }

    /// Adds something to be stopped, which happens now if the cancellation came first.
    pub(crate) fn add(&self, target: Target) {
        let mut state = self.lock();
        if state.reason.is_some() {
            drop(state);
            target.stop();
        } else {
            state.targets.retain(Target::is_alive);
            state.targets.push(target);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is whole between any two statements, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Target {
    fn stop(&self) {
        match self {
            Target::Stream(stream) => {
                if let Some(stream) = stream.upgrade() {
                    stream.shut_down();
                }
            }
            Target::Program(program) => {
                if let Some(program) = program.upgrade() {
                    program.terminate();
                }
            }
            Target::Waiter(waiter) => {
                if let Some(waiter) = waiter.upgrade() {
                    waiter.notify_one();
                }
            }
            Target::Call(stop) => stop(),
        }
    }

    fn is_alive(&self) -> bool {
        match self {
            Target::Stream(stream) => stream.strong_count() > 0,
            Target::Program(program) => program.strong_count() > 0,
            Target::Waiter(waiter) => waiter.strong_count() > 0,
            Target::Call(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_is_the_one_that_is_kept() {
        let canceller = Canceller::new();
        assert_eq!(canceller.reason(), None);
        let other = canceller.clone();
        other.cancel(Reason::TimedOut { seconds: 5 });
        canceller.cancel(Reason::Signal);
        assert_eq!(canceller.reason(), Some(Reason::TimedOut { seconds: 5 }));
    }
}
