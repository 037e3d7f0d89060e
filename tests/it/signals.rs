//! Does a push stop cleanly, and with rsync's code, when it is told to?

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;

use crate::harness::random::Random;
use crate::harness::{FarSide, Rsync, Way, repl, temp_dir, wait};

#[test]
fn an_interrupt_ends_a_push_to_a_daemon() {
    interrupt(Way::Daemon, Signal::INT);
}

#[test]
fn a_terminate_ends_a_push_to_a_daemon() {
    interrupt(Way::Daemon, Signal::TERM);
}

#[test]
fn an_interrupt_ends_a_push_through_ssh_and_the_ssh_with_it() {
    interrupt(Way::Ssh, Signal::INT);
}

#[test]
fn a_terminate_ends_a_push_through_a_pipe_and_the_program_in_it() {
    interrupt(Way::Pipe, Signal::TERM);
}

/// Interrupts a slow push in the middle of a file, and lets the next one complete it.
fn interrupt(way: Way, signal: Signal) {
    let folder = temp_dir();
    let source = folder.path().join("source");
    fs::create_dir(&source).unwrap();
    fs::write(source.join("a-first"), "small\n").unwrap();
    fs::write(source.join("large"), Random::new(1).bytes(8 << 20)).unwrap();
    let far = FarSide::start(way, Rsync::Installed);
    let copy = far.folder("copy");

    let running = repl(far.push(&["--bwlimit=500K"], &source, "copy")).start();
    wait::eventually("a part of the large file", Duration::from_secs(20), || {
        has_a_part(&copy).then_some(())
    });
    running.signal(signal);
    let stopped = running.within(Duration::from_secs(5)).wait().expect_code(20);
    stopped.expect_no_panic();
    assert!(stopped.stderr().contains("signal"), "{}", stopped.told());
    assert!(!copy.join("large").exists(), "half a file stands under its name");

    repl(far.push(&[], &source, "copy")).run().expect_success();
    assert_eq!(fs::read(source.join("large")).unwrap(), fs::read(copy.join("large")).unwrap());
}

/// Returns whether the receiver's temporary file for `large` is there with something in it.
fn has_a_part(copy: &Path) -> bool {
    let Ok(entries) = fs::read_dir(copy) else {
        return false;
    };
    entries.filter_map(Result::ok).any(|entry| {
        let is_part = entry.file_name().to_string_lossy().starts_with(".large.");
        is_part && entry.metadata().is_ok_and(|meta| meta.len() > 0)
    })
}
