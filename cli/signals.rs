//! How Ctrl-C and its like stop a run cleanly.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::signal::unix::{Signal, SignalKind, signal};
use transport::{Canceller, Reason};

/// Stops whatever connection there is when a signal comes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stopper {
    present: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    canceller: Canceller,
    stopped: bool,
}

impl Stopper {
    /// Begins to listen for SIGINT, SIGTERM and SIGHUP.
    pub(crate) fn listen() -> std::io::Result<Self> {
        let stopper = Self::default();
        let listener = stopper.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let _guard = runtime.enter();
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let [mut interrupt, mut terminate, mut hangup] = open(kinds)?;
        std::thread::Builder::new().name("signals".into()).stack_size(128 << 10).spawn(
            move || {
                runtime.block_on(async {
                    loop {
                        tokio::select! {
                            _ = interrupt.recv() => {}
                            _ = terminate.recv() => {}
                            _ = hangup.recv() => {}
                        }
                        listener.stop();
                    }
                });
            },
        )?;
        Ok(stopper)
    }

    /// Makes the canceller of the next connection; after a signal it is a cancelled one.
    pub(crate) fn canceller(&self) -> Canceller {
        let canceller = Canceller::new();
        let mut state = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        if state.stopped {
            canceller.cancel(Reason::Signal);
        }
        state.canceller = canceller.clone();
        canceller
    }

    /// Tells whether a signal has come.
    pub(crate) fn stopped(&self) -> bool {
        self.present.lock().unwrap_or_else(PoisonError::into_inner).stopped
    }

    fn stop(&self) {
        let mut state = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        state.stopped = true;
        // Nothing holds anything that would have to end in order.
        if !state.canceller.cancel(Reason::Signal) {
            std::process::exit(wire::exit::SIGNAL);
        }
    }
}

fn open(kinds: [SignalKind; 3]) -> std::io::Result<[Signal; 3]> {
    let [a, b, c] = kinds.map(signal);
    Ok([a?, b?, c?])
}
