//! What of an output may differ between two runs of the same work?

use jiff::{Timestamp, ToSpan};

/// An output without what the moment decides, and the byte counts that may differ a little.
#[derive(Debug, PartialEq)]
pub(crate) struct Normal {
    pub(crate) text: String,
    /// What went over the connection, which the cutting into packets changes slightly, and what follows from it.
    pub(crate) traffic: Vec<f64>,
}

/// A pattern and what stands for it.
///
/// In a pattern `9` is a run of digits, commas and dots, `_` a run of blanks, `@` a run of anything but
/// blanks, brackets and slashes; every other character is itself. In what stands for it `%` is the text of the first `9`
/// and moves it to the traffic.
const RULES: [(&str, &str); 24] = [
    (" at @(9) [", " at FILE(LINE) ["),
    ("=9]", "=VERSION]"),
    ("_9B/s_9:9:9", " RATE TIME"),
    ("_9kB/s_9:9:9", " RATE TIME"),
    ("_9MB/s_9:9:9", " RATE TIME"),
    ("_9GB/s_9:9:9", " RATE TIME"),
    (" generation time: 9 ", " generation time: SECONDS "),
    (" transfer time: 9 ", " transfer time: SECONDS "),
    ("sent 9 bytes", "sent % bytes"),
    ("received 9 bytes", "received % bytes"),
    ("sent 9K bytes", "sent %K bytes"),
    ("received 9K bytes", "received %K bytes"),
    ("9K bytes/sec", "RATE bytes/sec"),
    ("9M bytes/sec", "RATE bytes/sec"),
    ("9 bytes/sec", "RATE bytes/sec"),
    ("Total bytes sent: 9", "Total bytes sent: %"),
    ("Total bytes received: 9", "Total bytes received: %"),
    ("speedup is 9", "speedup is %"),
    ("TODAY 9:9:9 [9] ", "TODAY TIME [PID] "),
    ("TODAY 9:9:9", "TODAY TIME"),
    ("TODAY-9:9:9", "TODAY-TIME"),
    ("/.@.??????\"", "/.TEMP\""),
    ("[9] ", "[PID] "),
    ("version 9", "version NUMBER"),
];

/// Returns an output without what differs from run to run.
pub(crate) fn normal(output: &[u8]) -> Normal {
    let mut text = String::from_utf8_lossy(output).into_owned();
    for days in 0..2 {
        let day = Timestamp::now().checked_sub((24 * days).hours()).unwrap();
        text = text.replace(&day.strftime("%Y/%m/%d").to_string(), "TODAY");
    }
    let mut traffic = Vec::new();
    for (pattern, stands) in RULES {
        text = replaced(&text, pattern, stands, &mut traffic);
    }
    Normal { text, traffic }
}

fn replaced(text: &str, pattern: &str, stands: &str, traffic: &mut Vec<f64>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        // A number is only met at its start.
        let inside = pattern.starts_with('9') && out.ends_with(is_numeric);
        match matched(rest, pattern).filter(|_| !inside) {
            Some((after, number)) => {
                out.push_str(stands);
                if stands.contains('%') {
                    traffic.push(
                        number.replace(',', "").trim_end_matches('.').parse().unwrap_or(-1.0),
                    );
                }
                rest = after;
            }
            None => {
                out.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    out
}

/// Matches `pattern` at the start of `text`; returns what follows, and the first number.
fn matched<'t>(text: &'t str, pattern: &str) -> Option<(&'t str, &'t str)> {
    let mut rest = text;
    let mut number = "";
    for wanted in pattern.chars() {
        let len = match wanted {
            '9' => run(rest, is_numeric)?,
            '_' => run(rest, |c| c == ' ')?,
            '@' => name_run(rest)?,
            '?' => run(rest, |c| c.is_ascii_alphanumeric()).map(|_| 1)?,
            other => rest.starts_with(other).then_some(other.len_utf8())?,
        };
        if wanted == '9' && number.is_empty() {
            number = &rest[..len];
        }
        rest = &rest[len..];
    }
    Some((rest, number))
}

fn is_numeric(c: char) -> bool {
    c.is_ascii_digit() || c == ',' || c == '.'
}

fn run(text: &str, wanted: impl Fn(char) -> bool) -> Option<usize> {
    let len = text.find(|c| !wanted(c)).unwrap_or(text.len());
    (len > 0).then_some(len)
}

/// Returns the length of a name, without the suffix of seven characters that a temporary file has before a quote.
fn name_run(text: &str) -> Option<usize> {
    let len = run(text, |c| !" ()[]/\"\n".contains(c))?;
    if text[len..].starts_with('"') {
        len.checked_sub(7).filter(|len| text.is_char_boundary(*len))
    } else {
        Some(len)
    }
}

/// Whether two amounts of traffic are as good as equal.
pub(crate) fn about_equal(one: &[f64], other: &[f64]) -> bool {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 64.0 + 0.1 * a.max(*b);
    one.len() == other.len() && one.iter().zip(other).all(near)
}

#[test]
fn only_what_the_moment_decides_is_taken_out() {
    let line = "rsync error: x (code 23) at main.c(1347) [sender=3.5.0]\n";
    assert_eq!(
        normal(line.as_bytes()).text,
        "rsync error: x (code 23) at FILE(LINE) [sender=VERSION]\n"
    );
    let line = "sent 1,234 bytes  received 5 bytes  826.00 bytes/sec\n";
    let told = normal(line.as_bytes());
    assert_eq!(told.text, "sent % bytes  received % bytes  RATE bytes/sec\n");
    assert_eq!(told.traffic, [1234.0, 5.0]);
    let line = "         70,000 100%   66.76MB/s    0:00:00 (xfr#1, to-chk=0/1)\n";
    assert_eq!(
        normal(line.as_bytes()).text,
        "         70,000 100% RATE TIME (xfr#1, to-chk=0/1)\n"
    );
    let line = "rsync: [receiver] mkstemp \"/d/.na.me.Ab12Cd\" failed: x\n";
    assert_eq!(normal(line.as_bytes()).text, "rsync: [receiver] mkstemp \"/d/.TEMP\" failed: x\n");
    let line = "2020/02/02-02:02:02 3 files, 5 dirs /a.b/c.def \"/x/y.backup\"\n";
    assert_eq!(normal(line.as_bytes()).text, line);
}
