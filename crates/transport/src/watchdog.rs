//! When has a connection been silent for too long?

use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::activity::Activity;
use crate::canceller::{Canceller, Reason};

/// The I/O time limit of a connection: silence of that length cancels it.
///
/// There is no thread as long as there is no limit.
#[derive(Clone, Debug)]
pub struct IdleLimit {
    watch: Arc<Mutex<Option<Watch>>>,
    canceller: Canceller,
    activity: Arc<Activity>,
}

#[derive(Debug)]
struct Watch {
    limit_ms: Arc<AtomicU64>,
    wake: mpsc::Sender<()>,
}

impl IdleLimit {
    pub(crate) fn new(canceller: Canceller, activity: Arc<Activity>) -> Self {
        IdleLimit { watch: Arc::default(), canceller, activity }
    }

    /// Sets the limit where there is none, or a longer one; a daemon may ask for that at any time.
    pub fn shorten_to(&self, limit: Duration) -> io::Result<()> {
        let limit_ms = milliseconds(limit);
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        match &*watch {
            Some(running) => {
                running.limit_ms.fetch_min(limit_ms, Relaxed);
                // The thread is gone once it has cancelled, and then the limit has done its work.
                let _ = running.wake.send(());
            }
            None => *watch = Some(self.start(limit_ms)?),
        }
        Ok(())
    }

    /// Ends the watch; silence does not matter any more.
    pub(crate) fn lift(&self) {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn start(&self, limit_ms: u64) -> io::Result<Watch> {
        let (wake, woken) = mpsc::channel();
        let limit_ms = Arc::new(AtomicU64::new(limit_ms));
        let (limit, canceller) = (Arc::clone(&limit_ms), self.canceller.clone());
        let activity = Arc::clone(&self.activity);
        thread::Builder::new().name("io-limit".into()).spawn(move || {
            watch_silence(&activity, &limit, &woken, &canceller);
        })?;
        Ok(Watch { limit_ms, wake })
    }
}

fn watch_silence(
    activity: &Activity,
    limit_ms: &AtomicU64,
    woken: &mpsc::Receiver<()>,
    canceller: &Canceller,
) {
    loop {
        let limit = Duration::from_millis(limit_ms.load(Relaxed));
        let left = limit.saturating_sub(activity.idle());
        if left.is_zero() {
            canceller.cancel(Reason::TimedOut { seconds: whole_seconds(limit) });
            return;
        }
        if let Err(RecvTimeoutError::Disconnected) = woken.recv_timeout(left) {
            return;
        }
    }
}

/// A moment by which the start of a session has to be over; cancels unless it is dropped before.
pub(crate) struct Deadline {
    _alive: mpsc::Sender<()>,
}

impl Deadline {
    /// Starts to wait for `limit` counted from `start`.
    pub(crate) fn start(
        start: Instant,
        limit: Duration,
        canceller: &Canceller,
    ) -> io::Result<Self> {
        let (alive, dropped) = mpsc::channel();
        let canceller = canceller.clone();
        thread::Builder::new().name("connect-limit".into()).spawn(move || {
            let left = limit.saturating_sub(start.elapsed());
            if dropped.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                canceller.cancel(Reason::ConnectTimedOut { seconds: whole_seconds(limit) });
            }
        })?;
        Ok(Deadline { _alive: alive })
    }
}

/// A part of a second counts as a whole one, so that no limit reads as 0 s.
pub(crate) fn whole_seconds(limit: Duration) -> u64 {
    limit.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX)
}

fn milliseconds(limit: Duration) -> u64 {
    limit.as_millis().try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_connection_is_cancelled_and_the_limit_can_be_shortened_meanwhile() {
        let canceller = Canceller::new();
        let limit = IdleLimit::new(canceller.clone(), Arc::new(Activity::new()));
        let start = Instant::now();
        limit.shorten_to(Duration::from_secs(3600)).unwrap();
        limit.shorten_to(Duration::from_millis(100)).unwrap();
        limit.shorten_to(Duration::from_secs(7200)).unwrap();
        while canceller.reason().is_none() && start.elapsed() < Duration::from_secs(5) {
            thread::yield_now();
        }
        assert_eq!(canceller.reason(), Some(Reason::TimedOut { seconds: 1 }));
        assert!(start.elapsed() >= Duration::from_millis(100));
    }

    #[test]
    fn a_deadline_that_was_met_cancels_nothing() {
        let canceller = Canceller::new();
        let met = Deadline::start(Instant::now(), Duration::from_millis(30), &canceller).unwrap();
        drop(met);
        let other = Canceller::new();
        let _missed = Deadline::start(Instant::now(), Duration::from_millis(60), &other).unwrap();
        while other.reason().is_none() {
            thread::yield_now();
        }
        assert_eq!(other.reason(), Some(Reason::ConnectTimedOut { seconds: 1 }));
        assert_eq!(canceller.reason(), None);
    }
}
