//! What is told at the end: the numbers of `--stats`, the two lines of `-v`, the closing line.

use std::time::Duration;

use engine::{Counts, Summary};

use super::number::{count, decimal, number, ratio};

/// Returns the block of `--stats`.
pub(super) fn stats(summary: &Summary, protocol: u32, level: u8) -> Vec<String> {
    let bytes = |value| number(value, level);
    let plain = |value| count(value, level);
    let mut lines = vec![
        format!("Number of files: {}", counts(&summary.files, level)),
        format!("Number of created files: {}", counts(&summary.created, level)),
    ];
    if protocol >= 31 {
        let deleted = summary.deleted.unwrap_or_default();
        lines.push(format!("Number of deleted files: {}", counts(&deleted, level)));
    }
    lines.extend([
        format!("Number of regular files transferred: {}", plain(summary.transferred)),
        format!("Total file size: {} bytes", bytes(summary.total_size)),
        format!("Total transferred file size: {} bytes", bytes(summary.transferred_size)),
        format!("Literal data: {} bytes", bytes(summary.literal_bytes)),
        format!("Matched data: {} bytes", bytes(summary.matched_bytes)),
        format!("File list size: {}", bytes(summary.list_bytes)),
    ]);
    if summary.list_build.as_millis() > 0 {
        let seconds = |time: Duration| format!("{:.3} seconds", time.as_millis() as f64 / 1000.0);
        lines.push(format!("File list generation time: {}", seconds(summary.list_build)));
        lines.push(format!("File list transfer time: {}", seconds(summary.list_send)));
    }
    lines.push(format!("Total bytes sent: {}", bytes(summary.sent_bytes)));
    lines.push(format!("Total bytes received: {}", bytes(summary.received_bytes)));
    lines
}

fn counts(counts: &Counts, level: u8) -> String {
    let parts = [
        ("reg", counts.regular),
        ("dir", counts.dirs),
        ("link", counts.links),
        ("dev", counts.devices),
        ("special", counts.specials),
    ];
    let parts = parts.iter().filter(|(_, number)| *number > 0);
    let parts: Vec<_> =
        parts.map(|(name, number)| format!("{name}: {}", count(*number, level))).collect();
    match parts.as_slice() {
        [] => "0".to_owned(),
        parts => format!("{} ({})", count(counts.total(), level), parts.join(", ")),
    }
}

/// Returns the two lines that end a transfer; `remark` says that it was none.
pub(super) fn totals(summary: &Summary, level: u8, remark: &str) -> [String; 2] {
    let moved = (summary.sent_bytes + summary.received_bytes) as f64;
    let rate = moved / (0.5 + summary.elapsed.as_secs() as f64);
    let speedup = if moved > 0.0 { summary.speedup() } else { 0.0 };
    [
        format!(
            "sent {} bytes  received {} bytes  {} bytes/sec",
            number(summary.sent_bytes, level),
            number(summary.received_bytes, level),
            decimal(rate, level),
        ),
        format!(
            "total size is {}  speedup is {}{remark}",
            number(summary.total_size, level),
            ratio(speedup, level),
        ),
    ]
}

/// Returns what a log file says at the end where no numbers were asked for.
pub(super) fn logged_totals(summary: &Summary) -> String {
    let Summary { sent_bytes, received_bytes, total_size, .. } = summary;
    format!("sent {sent_bytes} bytes  received {received_bytes} bytes  total size {total_size}")
}

/// Returns what the search for blocks met.
pub(super) fn search(summary: &Summary) -> String {
    let Summary { matches, hash_hits, false_alarms, literal_bytes, .. } = summary;
    format!(
        "total: matches={matches}  hash_hits={hash_hits}  false_alarms={false_alarms} \
         data={literal_bytes}"
    )
}
