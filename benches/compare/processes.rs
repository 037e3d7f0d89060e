//! What does the kernel tell about a process and its descendants?

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

/// Linux counts processor time in hundredths of a second towards user space.
const TICKS_A_SECOND: u64 = 100;

/// Returns the processor time of a process itself; it may have ended, but not been waited for.
pub(crate) fn used(pid: u32) -> Duration {
    ticks(pid, 13)
}

/// Returns the processor time of all children that a process has waited for, and of theirs.
pub(crate) fn used_by_children(pid: u32) -> Duration {
    ticks(pid, 15)
}

/// Adds the field at `first` of `/proc/PID/stat`, counted from 0, to the one behind it.
fn ticks(pid: u32, first: usize) -> Duration {
    let fields = stat(pid).unwrap_or_default();
    let ticks: u64 =
        fields.iter().skip(first).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 1000 / TICKS_A_SECOND)
}

/// Returns the most memory that a process has had resident, 0 once it has ended.
pub(crate) fn resident_peak(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// Returns the descendants of a process that are alive.
pub(crate) fn descendants(root: u32) -> BTreeSet<u32> {
    let mut pairs: Vec<(u32, u32)> = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| {
            let pid = entry.ok()?.file_name().to_str()?.parse().ok()?;
            Some((pid, stat(pid)?.get(3)?.parse().ok()?))
        })
        .collect();
    pairs.sort_unstable();
    let mut found = BTreeSet::new();
    loop {
        let before = found.len();
        let is_one = |parent: u32, found: &BTreeSet<u32>| parent == root || found.contains(&parent);
        for (pid, parent) in &pairs {
            if is_one(*parent, &found) {
                found.insert(*pid);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Returns the fields of `/proc/PID/stat`; the name, which can hold blanks, is one of them.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (head, tail) = text.rsplit_once(')')?;
    let (number, name) = head.split_once('(')?;
    let mut fields = vec![number.trim().to_owned(), name.to_owned()];
    fields.extend(tail.split_whitespace().map(str::to_owned));
    Some(fields)
}
