//! What a program reads: one JSON object a line, each with its kind under `event`.

use engine::{Counts, Event, Gravity, Item, Kind, Summary};
use scheduler::sync::{Note, Outcome, Task, Work};
use serde_json::{Value, json};
use wire::mux::TextKind;

use crate::itemize::{NATIVE, itemize};

pub(crate) fn start(task: &Task) -> Option<Value> {
    let place = task.way.to_string();
    Some(match &task.work {
        Work::Push(_) => json!({ "event": "start", "task": task.name, "to": place }),
        Work::Pull { .. } => json!({ "event": "start", "task": task.name, "from": place }),
    })
}

pub(crate) fn event(event: &Event<'_>) -> Option<Value> {
    Some(match event {
        Event::Item(item) => item_value(item),
        Event::Deleted { name, is_dir } => {
            with_name(json!({ "event": "deleted", "dir": is_dir }), "name", name)
        }
        Event::FarText { kind, text } => {
            let level = match kind {
                TextKind::Info => "info",
                TextKind::Warning => "warning",
                TextKind::Error | TextKind::ErrorXfer => "error",
            };
            let text = String::from_utf8_lossy(text);
            json!({ "event": "far_text", "level": level, "text": text.trim_end() })
        }
        Event::Problem(problem) => {
            let level = match problem.gravity {
                Gravity::Warning => "warning",
                Gravity::Vanished => "vanished",
                Gravity::Error => "error",
            };
            let path = problem.path.as_os_str().as_encoded_bytes();
            let value =
                json!({ "event": "problem", "level": level, "text": problem.trouble.to_string() });
            with_name(value, "path", path)
        }
        Event::Decision { name, text } => {
            with_name(json!({ "event": "decision", "text": text }), "name", name)
        }
        _ => return None,
    })
}

pub(crate) fn note(note: Note<'_>) -> Option<Value> {
    let (kind, text) = match note {
        Note::Warning(text) => ("warning", text),
        Note::Retrying(text) => ("retrying", text),
        Note::Decision(text) => ("decision", text),
        Note::Motd(text) => ("motd", text),
    };
    Some(json!({ "event": kind, "text": text }))
}

pub(crate) fn far_stderr(line: &str) -> Option<Value> {
    Some(json!({ "event": "far_text", "level": "error", "text": line }))
}

pub(crate) fn outcome(task: &Task, outcome: &Outcome) -> Option<Value> {
    let mut value = json!({ "event": "end", "task": task.name, "code": outcome.code });
    if let Some(summary) = &outcome.summary {
        value["summary"] = summary_value(summary);
    }
    if let Some(failure) = &outcome.failure {
        value["error"] = json!({ "what": failure.what, "hint": failure.hint });
    }
    Some(value)
}

fn item_value(item: &Item<'_>) -> Value {
    let kind = match item.kind {
        Kind::Dir => "dir",
        Kind::Symlink => "symlink",
        Kind::Device => "device",
        Kind::Special => "special",
        Kind::Regular | Kind::Unknown => "file",
    };
    let value = json!({
        "event": "item", "kind": kind, "itemize": itemize(item, NATIVE), "size": item.size,
    });
    let value = with_name(value, "name", item.name);
    match item.leader {
        Some(leader) if !leader.is_empty() => with_name(value, "link_to", leader),
        _ => value,
    }
}

/// Adds a name; one that is not UTF-8 is given in hex as well, for JSON cannot hold its bytes.
fn with_name(mut value: Value, key: &str, name: &[u8]) -> Value {
    match std::str::from_utf8(name) {
        Ok(text) => value[key] = text.into(),
        Err(_) => {
            value[key] = String::from_utf8_lossy(name).into();
            let hex: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
            value[format!("{key}_hex")] = hex.into();
        }
    }
    value
}

fn summary_value(summary: &Summary) -> Value {
    json!({
        "files": counts_value(&summary.files),
        "created": counts_value(&summary.created),
        "deleted": summary.deleted.as_ref().map(counts_value),
        "transferred": summary.transferred,
        "total_size": summary.total_size,
        "transferred_size": summary.transferred_size,
        "literal_bytes": summary.literal_bytes,
        "matched_bytes": summary.matched_bytes,
        "list_bytes": summary.list_bytes,
        "sent_bytes": summary.sent_bytes,
        "received_bytes": summary.received_bytes,
        "elapsed_seconds": summary.elapsed.as_secs_f64(),
        "speedup": summary.speedup(),
        "errors": summary.errors,
        "vanished": summary.vanished,
    })
}

fn counts_value(counts: &Counts) -> Value {
    json!({
        "total": counts.total(), "regular": counts.regular, "dirs": counts.dirs,
        "links": counts.links, "devices": counts.devices, "specials": counts.specials,
    })
}
