//! What does one run of a client cost?

use std::collections::BTreeMap;
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
    pub(crate) sender_cpu: Duration,
    pub(crate) receiver_cpu: Duration,
    pub(crate) sender_peak: u64,
    /// Of all processes of the receiver together, though they share some of it.
    pub(crate) receiver_peak: u64,
    /// Both ways, by the client's own count.
    pub(crate) wire_bytes: u64,
}

/// Runs a client to its end; the disk is quiet when it starts.
pub(crate) fn run(mut command: Command, far: &FarSide, folder: &Path) -> Cost {
    let output = folder.join("output");
    command.stdin(Stdio::null()).stdout(File::create(&output).unwrap());
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
    let sender_cpu = processes::used(pid);
    let status = client.wait().unwrap();
    let text = fs::read_to_string(&output).unwrap();
    assert!(status.success(), "{command:?} ended with {status}\n{text}");
    Cost {
        wall,
        sender_cpu,
        receiver_cpu: far.used() - used_before,
        sender_peak: peaks.0,
        receiver_peak: peaks.1,
        wire_bytes: wire_bytes(&text),
    }
}

/// Looks at the memory of both ends until the client has ended.
fn sample(client: u32, far: &FarSide, ended: &AtomicBool) -> (u64, u64) {
    let mut sender_peak = 0;
    let mut receivers = BTreeMap::new();
    while !ended.load(Ordering::SeqCst) {
        sender_peak = sender_peak.max(processes::resident_peak(client));
        for pid in processes::descendants(far.parent(client)) {
            let peak = receivers.entry(pid).or_insert(0);
            *peak = processes::resident_peak(pid).max(*peak);
        }
        std::thread::sleep(SAMPLING);
    }
    (sender_peak, receivers.values().sum())
}

/// Reads "sent N bytes  received N bytes" out of a summary.
fn wire_bytes(text: &str) -> u64 {
    let is_meant = |line: &&str| line.starts_with("sent ") && line.contains(" bytes  received ");
    let line = text.lines().find(is_meant).unwrap();
    let words: Vec<_> = line.split_whitespace().collect();
    let numbers = words.windows(2).filter(|pair| pair[1] == "bytes");
    numbers.filter_map(|pair| pair[0].replace(',', "").parse::<u64>().ok()).sum()
}
