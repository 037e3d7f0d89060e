//! The sentences that sum a run up.

use engine::{Item, Kind, Summary};
use scheduler::sync::{Failure, Outcome, Task};
use wire::escape::printable;

use super::size::{bytes, count, grouped};

/// Returns an item's name, with a slash behind a directory's.
pub(crate) fn item_name(item: &Item<'_>) -> String {
    let slash = if item.kind == Kind::Dir { "/" } else { "" };
    format!("{}{slash}", printable(item.name))
}

/// Returns what a hard link was made to, as it is written behind the name.
pub(crate) fn leader(item: &Item<'_>) -> String {
    match item.leader {
        Some(leader) if !leader.is_empty() => format!(" => {}", printable(leader)),
        _ => String::new(),
    }
}

/// Says in one line what failed, why, and what to do.
pub(crate) fn failure(failure: &Failure) -> String {
    let Failure { code, what, hint } = failure;
    let what = printable(what.as_bytes());
    match hint {
        Some(hint) => format!("error: {what}; {hint} (code {code})"),
        None => format!("error: {what} (code {code})"),
    }
}

/// Says why a run that came to its end is not a complete copy.
pub(crate) fn incomplete(task: &Task, outcome: &Outcome) -> Option<String> {
    let why = match outcome.code {
        0 => return None,
        wire::exit::PARTIAL => "some files were not copied; the lines above say which and why",
        wire::exit::VANISHED => "some files vanished before they were copied; the rest is there",
        wire::exit::DELETE_LIMIT => "the limit of --max-delete stopped the deletions",
        code => wire::exit::describe(code),
    };
    let label = if outcome.code == wire::exit::VANISHED { "warning" } else { "error" };
    Some(format!("{label}: {}: {why} (code {})", task.name, outcome.code))
}

/// Sums up what was done, or in a preview would be.
pub(crate) fn summary(summary: &Summary, seen_deleted: u64, preview: bool) -> Vec<String> {
    let deleted = summary.deleted.map_or(seen_deleted, |counts| counts.total());
    let seconds = summary.elapsed.as_secs_f64();
    let moved = summary.sent_bytes + summary.received_bytes;
    let files = |number| count(number, "file", "files");
    let sent = format!(
        "{} of {} ({} of {})",
        grouped(summary.transferred),
        files(summary.files.regular),
        bytes(summary.transferred_size),
        bytes(summary.total_size),
    );
    if preview {
        return vec![format!(
            "would send {sent}, create {}, delete {}",
            grouped(summary.created.total()),
            grouped(deleted),
        )];
    }
    vec![
        format!(
            "sent {sent}, created {}, deleted {} in {seconds:.1} s",
            grouped(summary.created.total()),
            grouped(deleted),
        ),
        format!(
            "content: {} bytes literal, {} bytes matched",
            grouped(summary.literal_bytes),
            grouped(summary.matched_bytes),
        ),
        format!(
            "sent {} bytes  received {} bytes  {}/s",
            grouped(summary.sent_bytes),
            grouped(summary.received_bytes),
            bytes((moved as f64 / seconds.max(0.001)) as u64),
        ),
        format!(
            "total size is {}  speedup is {:.2}  errors: {}",
            grouped(summary.total_size),
            summary.speedup(),
            grouped(summary.errors + summary.vanished),
        ),
    ]
}
