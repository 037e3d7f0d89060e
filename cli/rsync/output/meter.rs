//! How far is the present file (`--progress`), or the whole transfer (`--info=progress2`)?
//!
//! Times are milliseconds of any clock that only goes forward.

use std::collections::VecDeque;

use engine::Standing;

use super::number::number;

/// So many seconds the rate looks back.
const HISTORY: usize = 5;
/// Milliseconds between two lines.
const PAUSE: u64 = 1000;

/// Where the transfer was at some time.
#[derive(Clone, Copy, Debug)]
struct Mark {
    at: u64,
    offset: u64,
}

/// Makes the lines of a progress display; each begins with a carriage return.
#[derive(Debug)]
pub(super) struct Meter {
    /// The whole transfer is shown instead of each file.
    whole: bool,
    level: u8,
    start: Option<Mark>,
    marks: VecDeque<Mark>,
    file_shown: bool,
    moved: u64,
    files: u64,
    tail_len: usize,
}

impl Meter {
    /// Creates the display of one session; `level` is that of `-h`.
    pub(super) fn new(whole: bool, level: u8) -> Self {
        Self {
            whole,
            level,
            start: None,
            marks: VecDeque::new(),
            file_shown: false,
            moved: 0,
            files: 0,
            tail_len: 0,
        }
    }

    /// Returns the line of a file that is under way, if one is due.
    pub(super) fn moving(
        &mut self,
        now: u64,
        offset: u64,
        size: u64,
        total: u64,
    ) -> Option<String> {
        let (offset, size) = match self.whole {
            true => (self.moved + offset, total),
            false => (offset, size),
        };
        let begins = self.start.is_none();
        let first = begins || !self.whole && !self.file_shown;
        self.begin(now, offset);
        self.file_shown = true;
        let due = self.marks.back().is_some_and(|mark| now.saturating_sub(mark.at) >= PAUSE);
        if due {
            self.marks.push_back(Mark { at: now, offset });
            if self.marks.len() > HISTORY {
                self.marks.pop_front();
            }
        }
        if !due && !first {
            return None;
        }
        let rate = rate(self.marks.front().copied(), now, offset);
        let left = size.saturating_sub(offset) as f64;
        let seconds = if rate > 0.0 { left / rate / 1000.0 } else { 0.0 };
        Some(self.line(offset, size, rate, seconds, "  "))
    }

    /// Returns the line for something that is done with, if there is one. With the display of
    /// each file it ends the line; that of the whole transfer leaves it open.
    pub(super) fn passed(&mut self, now: u64, standing: Standing) -> Option<String> {
        if let Some(size) = standing.file {
            self.files += 1;
            self.moved += size;
        }
        let (offset, size) = match standing.file {
            _ if self.whole => (self.moved, standing.total_size),
            Some(size) => (size, size),
            None => return None,
        };
        self.begin(now, offset);
        let rate = rate(self.start, now, offset);
        let seconds = self.start.map_or(0, |start| now.saturating_sub(start.at) / 1000);
        let tail = self.tail(standing);
        let line = self.line(offset, size, rate, seconds as f64, &tail);
        if !self.whole {
            // The next file counts from the last line, not from now.
            let at = self.marks.back().map_or(now, |mark| mark.at);
            self.start = Some(Mark { at, offset: 0 });
            self.marks = VecDeque::from_iter(self.start);
            self.file_shown = false;
        }
        Some(line)
    }

    fn begin(&mut self, at: u64, offset: u64) {
        if self.start.is_none() {
            self.start = Some(Mark { at, offset });
            self.marks.extend(self.start);
        }
    }

    fn tail(&mut self, standing: Standing) -> String {
        let Standing { left, listed, complete, .. } = standing;
        let word = if complete { "to" } else { "ir" };
        let mut tail = format!(" (xfr#{}, {word}-chk={left}/{listed})", self.files);
        if self.whole {
            let longer = self.tail_len.saturating_sub(tail.len());
            self.tail_len = tail.len();
            tail.extend(std::iter::repeat_n(' ', longer));
        }
        tail
    }

    fn line(&self, offset: u64, size: u64, rate: f64, seconds: f64, tail: &str) -> String {
        let percent = match size {
            size if size == offset => 100,
            0 => 0,
            size => (u128::from(offset) * 100 / u128::from(size)) as u64,
        };
        let (rate, unit) = match rate {
            rate if rate > 1024.0 * 1024.0 => (rate / (1024.0 * 1024.0), "GB/s"),
            rate if rate > 1024.0 => (rate / 1024.0, "MB/s"),
            rate => (rate, "kB/s"),
        };
        let offset = number(offset, self.level);
        format!("\r{offset:>15} {percent:>3}% {rate:7.2}{unit} {}{tail}", clock(seconds))
    }
}

/// KiB a second since a mark.
fn rate(since: Option<Mark>, now: u64, offset: u64) -> f64 {
    let Some(mark) = since else {
        return 0.0;
    };
    let millis = now.saturating_sub(mark.at).max(1);
    offset.saturating_sub(mark.offset) as f64 * 1000.0 / millis as f64 / 1024.0
}

fn clock(seconds: f64) -> String {
    if seconds > 9999.0 * 3600.0 {
        return "  ??:??:??".to_owned();
    }
    let seconds = seconds as u64;
    format!("{:4}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(file: Option<u64>, left: u64) -> Standing {
        Standing { file, left, listed: 6, complete: true, total_size: 4_500_001 }
    }

    /// Recorded of rsync 3.5.0 at `--bwlimit=700`; the times follow from the rates it printed.
    #[test]
    fn a_file_under_way_is_shown_once_a_second() {
        let mut meter = Meter::new(false, 1);
        let mut lines = Vec::new();
        for (now, offset) in [(0, 32_768), (500, 400_000), (1096, 819_200)] {
            lines.extend(meter.moving(now, offset, 1_500_000, 0));
        }
        lines.extend(meter.passed(1919, standing(Some(1_500_000), 4)));
        for (now, offset) in [(2092, 32_768), (2228, 131_072), (3325, 917_504)] {
            lines.extend(meter.moving(now, offset, 1_500_000, 0));
        }
        lines.extend(meter.passed(4011, standing(Some(1_500_000), 3)));
        let expected = [
            "\r         32,768   2%    0.00kB/s    0:00:00  ",
            "\r        819,200  54%  700.73kB/s    0:00:00  ",
            "\r      1,500,000 100%  746.66kB/s    0:00:01 (xfr#1, to-chk=4/6)",
            "\r         32,768   2%   32.13kB/s    0:00:45  ",
            "\r        131,072   8%  113.07kB/s    0:00:12  ",
            "\r        917,504  61%  401.97kB/s    0:00:01  ",
            "\r      1,500,000 100%  502.52kB/s    0:00:02 (xfr#2, to-chk=3/6)",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn the_whole_transfer_is_one_line_that_is_written_again_and_again() {
        let mut meter = Meter::new(true, 1);
        let list = |left| Standing { left, listed: 15, total_size: 200_036, ..standing(None, 0) };
        let file = |size, left| Standing { file: Some(size), ..list(left) };
        let lines: Vec<_> = meter
            .moving(0, 1, 1, 200_036)
            .into_iter()
            .chain(meter.passed(0, file(1, 12)))
            .chain(meter.moving(0, 32_768, 200_000, 200_036))
            .chain(meter.passed(1, file(200_000, 11)))
            .chain(meter.passed(1, file(12, 9)))
            .chain(meter.passed(1, file(1, 7)))
            .chain(meter.passed(1, list(3)))
            .collect();
        let expected = [
            "\r              1   0%    0.00kB/s    0:00:00  ",
            "\r              1   0%    0.00kB/s    0:00:00 (xfr#1, to-chk=12/15)",
            "\r        200,001  99%  190.73MB/s    0:00:00 (xfr#2, to-chk=11/15)",
            "\r        200,013  99%  190.75MB/s    0:00:00 (xfr#3, to-chk=9/15) ",
            "\r        200,014  99%  190.75MB/s    0:00:00 (xfr#4, to-chk=7/15)",
            "\r        200,014  99%  190.75MB/s    0:00:00 (xfr#4, to-chk=3/15)",
        ];
        assert_eq!(lines, expected);
    }
}
