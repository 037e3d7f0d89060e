//! The bar on a terminal: how much of the sources the far side has, how fast it goes, how long
//! it will still take.
//!
//! It speaks of time left only once it is known how much there is.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use engine::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use wire::escape::printable;

use super::size::{bytes, count};

/// Time between two looks at the counters.
const TICK: Duration = Duration::from_millis(100);
/// How much of the rate of the last tick goes into the rate shown.
const FRESHNESS: f64 = 0.05;

/// A bar on stderr.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
}

/// A rate that forgets slowly.
#[derive(Debug, Default)]
struct Rate {
    last: u64,
    per_second: Option<f64>,
}

impl Rate {
    fn look(&mut self, now: u64, seconds: f64) -> f64 {
        let fresh = now.saturating_sub(self.last) as f64 / seconds.max(0.001);
        self.last = now;
        let known = self.per_second.unwrap_or(fresh);
        let rate = known + (fresh - known) * FRESHNESS;
        self.per_second = Some(rate);
        rate
    }
}

impl Bar {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr_with_hz(10));
        Self { bar }
    }

    /// Lets something else be printed without the bar in it.
    pub(crate) fn aside(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    /// Draws until `done`.
    pub(crate) fn follow(&self, progress: &Progress, done: &AtomicBool) {
        let (mut wire, mut passing) = (Rate::default(), Rate::default());
        let mut last = Instant::now();
        while !done.load(Relaxed) {
            std::thread::sleep(TICK);
            let seconds = last.elapsed().as_secs_f64();
            last = Instant::now();
            let passed = progress.present_bytes();
            let wire_rate = wire.look(progress.sent_bytes.load(Relaxed), seconds);
            let passing_rate = passing.look(passed, seconds);
            self.draw(progress, passed, wire_rate, passing_rate);
        }
        self.bar.finish_and_clear();
    }

    fn draw(&self, progress: &Progress, passed: u64, wire_rate: f64, passing_rate: f64) {
        let name = printable(&progress.current());
        let rate = format!("{}/s", bytes(wire_rate as u64));
        match progress.total_bytes() {
            None => {
                self.bar.set_style(style("{spinner} {msg}"));
                let files = progress.passed_files.load(Relaxed);
                let files = count(files, "file", "files");
                self.bar.set_message(format!("{files}  {}  {rate}  {name}", bytes(passed)));
                self.bar.tick();
            }
            Some(total) => {
                self.bar.set_style(style("[{bar:24}] {percent:>3} %  {wide_msg}"));
                self.bar.set_length(total.max(1));
                self.bar.set_position(passed.min(total));
                let left = total.saturating_sub(passed) as f64 / passing_rate.max(1.0);
                self.bar.set_message(format!("{rate}  {} left  {name}", clock(left)));
            }
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ")
}

/// Writes seconds as hours, minutes and seconds.
fn clock(seconds: f64) -> String {
    if seconds > 359_999.0 {
        return "very long".to_owned();
    }
    let seconds = seconds as u64;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_reads_like_a_clock() {
        assert_eq!(
            [0.0, 61.9, 7325.0, 1e9].map(clock),
            ["0:00:00", "0:01:01", "2:02:05", "very long"]
        );
    }

    #[test]
    fn a_rate_follows_slowly() {
        let mut rate = Rate::default();
        assert_eq!(rate.look(1000, 1.0), 1000.0);
        assert!((rate.look(1000, 1.0) - 950.0).abs() < 1e-9);
    }
}
