//! How does a test wait for something without guessing how long it takes?

use std::time::{Duration, Instant};

const STEP: Duration = Duration::from_millis(3);

/// Asks again until there is an answer, or fails with `what` when `limit` has passed.
pub(crate) fn eventually<T>(what: &str, limit: Duration, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + limit;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < end, "waited {limit:?} in vain for {what}");
        std::thread::sleep(STEP);
    }
}
