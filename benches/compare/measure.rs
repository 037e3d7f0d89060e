//! What does one run of a client cost?

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::far_side::FarSide;
use crate::processes;

/// Often enough to see a peak, seldom enough not to be one.
const SAMPLING: Duration = Duration::from_millis(20);

/// The cost of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) wall: Duration,
    pub(crate) client_cpu: Duration,
    pub(crate) server_cpu: Duration,
    /// Of all processes of an end together, though they share some of it.
    pub(crate) client_peak: u64,
    pub(crate) server_peak: u64,
    /// Both ways, by the client's own count.
    pub(crate) wire_bytes: u64,
}

/// Runs a client to its end; the disk is quiet when it starts.
pub(crate) fn run(mut command: Command, far: &FarSide, folder: &Path) -> Cost {
    let output = folder.join("output");
    command.stdin(Stdio::null()).stdout(File::create(&output).unwrap());
    far.forget();
    rustix::fs::sync();
    let used_before = if far.adds_up() { far.used() } else { Duration::ZERO };
    let started = Instant::now();
    let mut client = command.spawn().unwrap();
    let pid = client.id();
    let ended = AtomicBool::new(false);
    let (wall, peaks) = std::thread::scope(|scope| {
        let sampler = scope.spawn(|| sample(pid, far, &ended));
        // It stays as a zombie for now, so that the kernel still tells what it used.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(Pid::from_child(&client)), options).unwrap();
        let wall = started.elapsed();
        ended.store(true, Ordering::SeqCst);
        (wall, sampler.join().unwrap())
    });
    let server_cpu = far.used() - used_before;
    let mut client_cpu = processes::used(pid);
    if !far.adds_up() {
        // Its children are its own, but for the shell with what that has waited for.
        client_cpu += processes::used_by_children(pid).saturating_sub(server_cpu);
    }
    let status = client.wait().unwrap();
    let text = fs::read_to_string(&output).unwrap();
    assert!(status.success(), "{command:?} ended with {status}\n{text}");
    Cost {
        wall,
        client_cpu,
        server_cpu,
        client_peak: peaks.0,
        server_peak: peaks.1,
        wire_bytes: wire_bytes(&text),
    }
}

/// Looks at the memory of both ends until the client has ended.
fn sample(client: u32, far: &FarSide, ended: &AtomicBool) -> (u64, u64) {
    let (mut clients, mut servers) = (BTreeMap::new(), BTreeMap::new());
    while !ended.load(Ordering::SeqCst) {
        let parent = far.parent();
        let behind = parent.map(processes::descendants).unwrap_or_default();
        let mut near = processes::descendants(client);
        near.retain(|pid| Some(*pid) != parent && !behind.contains(pid));
        near.insert(client);
        note_peaks(near, &mut clients);
        note_peaks(behind, &mut servers);
        std::thread::sleep(SAMPLING);
    }
    // The shell is seen before it says which one it is.
    clients.retain(|pid, _| !servers.contains_key(pid) && Some(*pid) != far.parent());
    (clients.values().sum(), servers.values().sum())
}

fn note_peaks(pids: BTreeSet<u32>, peaks: &mut BTreeMap<u32, u64>) {
    for pid in pids {
        let peak = peaks.entry(pid).or_insert(0);
        *peak = processes::resident_peak(pid).max(*peak);
    }
}

/// Reads "sent N bytes  received N bytes" out of a summary.
fn wire_bytes(text: &str) -> u64 {
    let is_meant = |line: &&str| line.starts_with("sent ") && line.contains(" bytes  received ");
    let line = text.lines().find(is_meant).unwrap();
    let words: Vec<_> = line.split_whitespace().collect();
    let numbers = words.windows(2).filter(|pair| pair[1] == "bytes");
    numbers.filter_map(|pair| pair[0].replace(',', "").parse::<u64>().ok()).sum()
}
