//! How Ctrl-C and its like stop a run cleanly.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

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
                        listener.stop(Reason::Signal);
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

    /// Stops it at a time as well, in seconds since 1970.
    pub(crate) fn stop_at(&self, seconds: i64) -> std::io::Result<()> {
        let stopper = self.clone();
        let seconds = u64::try_from(seconds).unwrap_or(0);
        std::thread::Builder::new().name("stop".into()).stack_size(128 << 10).spawn(move || {
            // The clock may be set meanwhile, so it is looked at again.
            while let Ok(left) =
                (UNIX_EPOCH + Duration::from_secs(seconds)).duration_since(SystemTime::now())
                && !left.is_zero()
            {
                std::thread::sleep(left.min(Duration::from_secs(10)));
            }
            stopper.stop(Reason::StopTime);
        })?;
        Ok(())
    }

    fn stop(&self, reason: Reason) {
        let mut state = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        state.stopped = true;
        // Nothing holds anything that would have to end in order.
        if !state.canceller.cancel(reason) {
            std::process::exit(reason.exit_code().unwrap_or(wire::exit::SIGNAL));
        }
    }
}

fn open(kinds: [SignalKind; 3]) -> std::io::Result<[Signal; 3]> {
    let [a, b, c] = kinds.map(signal);
    Ok([a?, b?, c?])
}
