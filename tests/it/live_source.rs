//! What happens when the source changes, or hides something, while it is pushed?

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use crate::harness::program::Running;
use crate::harness::program::contents_of;
use crate::harness::random::Random;
use crate::harness::{Daemon, Outcome, Rsync, repl, stock, temp_dir, wait};
use crate::words;

/// Slow enough that a test can act between the file list and the last file.
const SLOWLY: &str = "--bwlimit=1M";

/// A source in which `a-large` takes seconds to send, and `z-*` are sent after it.
fn lay_source(root: &Path) {
    fs::create_dir(root).unwrap();
    fs::write(root.join("a-large"), Random::new(1).bytes(2 << 20)).unwrap();
    fs::write(root.join("z-small"), "small\n").unwrap();
    fs::write(root.join("z-other"), Random::new(2).bytes(600_000)).unwrap();
}

/// Pushes slowly, lets `change` do something once the first file is on its way, and returns the end.
fn push_while(change: impl Fn(&Path)) -> (Outcome, Daemon, tempfile::TempDir) {
    let folder = temp_dir();
    let source = folder.path().join("source");
    lay_source(&source);
    let daemon = Daemon::start(Rsync::Installed);
    let words = words!["push", SLOWLY, "--to", daemon.url(""), contents_of(&source)];
    let running = repl(words).within(Duration::from_secs(30)).start();
    wait_for_the_first_file(&running, daemon.root());
    change(&source);
    (running.wait(), daemon, folder)
}

fn wait_for_the_first_file(_running: &Running, root: &Path) {
    wait::eventually("the first file", Duration::from_secs(20), || {
        let mut names = fs::read_dir(root).ok()?.filter_map(Result::ok);
        names.any(|entry| entry.file_name().to_string_lossy().contains("a-large")).then_some(())
    });
}

#[test]
fn a_file_that_vanishes_is_named_and_the_code_is_24() {
    let (run, daemon, _) = push_while(|source| fs::remove_file(source.join("z-other")).unwrap());
    let run = run.expect_code(24);
    assert!(run.stderr().contains("z-other"), "{}", run.told());
    assert!(run.stderr().contains("vanished"), "{}", run.told());
    assert!(daemon.root().join("z-small").exists(), "what did not vanish has arrived");
    assert!(daemon.root().join("a-large").exists(), "what did not vanish has arrived");
}

#[test]
fn a_file_that_has_grown_since_it_was_listed_arrives_whole() {
    let (run, daemon, folder) = push_while(|source| append(&source.join("z-other"), 50_000));
    run.expect_success();
    let sent = fs::read(folder.path().join("source/z-other")).unwrap();
    assert_eq!(fs::read(daemon.root().join("z-other")).unwrap(), sent);
}

#[test]
fn a_file_that_has_shrunk_since_it_was_listed_arrives_as_it_is() {
    let (run, daemon, folder) = push_while(|source| {
        OpenOptions::new().write(true).open(source.join("z-other")).unwrap().set_len(1000).unwrap();
    });
    run.expect_success();
    let sent = fs::read(folder.path().join("source/z-other")).unwrap();
    assert_eq!(fs::read(daemon.root().join("z-other")).unwrap(), sent);
}

#[test]
fn a_file_that_grows_while_it_is_sent_arrives_with_the_length_it_had() {
    let (run, daemon, folder) = push_while(|source| append(&source.join("a-large"), 100_000));
    run.expect_success();
    let source = fs::read(folder.path().join("source/a-large")).unwrap();
    let copy = fs::read(daemon.root().join("a-large")).unwrap();
    assert!(source.starts_with(&copy) && copy.len() >= 2 << 20, "{} bytes", copy.len());
}

#[test]
fn a_file_that_shrinks_while_it_is_sent_is_named_and_the_copy_is_never_a_mix() {
    let (run, daemon, folder) = push_while(|source| {
        OpenOptions::new()
            .write(true)
            .open(source.join("a-large"))
            .unwrap()
            .set_len(1 << 19)
            .unwrap();
    });
    run.expect_no_panic();
    assert!(run.code() == 23 || run.code() == 0, "{}", run.told());
    let source = fs::read(folder.path().join("source/a-large")).unwrap();
    if let Ok(copy) = fs::read(daemon.root().join("a-large")) {
        assert!(copy == source, "{} bytes that were never in the source", copy.len());
    }
    assert!(daemon.root().join("z-other").exists(), "the files after it have arrived");
}

#[test]
fn a_file_that_is_rewritten_all_the_time_does_no_harm_to_the_others() {
    let (run, daemon, folder) = push_while(|source| {
        for round in 0..200_u64 {
            fs::write(source.join("z-other"), Random::new(round).bytes(1000 + round as usize))
                .unwrap();
        }
    });
    run.expect_success();
    let sent = fs::read(folder.path().join("source/z-other")).unwrap();
    assert_eq!(fs::read(daemon.root().join("z-other")).unwrap(), sent);
}

fn append(path: &Path, len: usize) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(&Random::new(9).bytes(len)).unwrap();
}

#[test]
fn what_cannot_be_read_is_named_the_code_is_23_and_the_rest_arrives_as_from_stock() {
    let folder = temp_dir();
    fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let source = folder.path().join("source");
    fs::create_dir_all(source.join("closed")).unwrap();
    for name in ["open", "shut", "closed/inside"] {
        fs::write(source.join(name), name).unwrap();
    }
    for name in ["shut", "closed"] {
        fs::set_permissions(source.join(name), PermissionsExt::from_mode(0o000)).unwrap();
    }
    let daemon = Daemon::start(Rsync::Installed);
    // Nothing may be deleted that only seems to be gone.
    for root in ["ours", "stock"] {
        fs::create_dir(daemon.root().join(root)).unwrap();
        fs::write(daemon.root().join(root).join("old"), "old").unwrap();
    }
    let theirs = stock(
        Rsync::Installed,
        words!["-aH", "--delete", contents_of(&source), daemon.url("stock/")],
    );
    let theirs = theirs.owning_nothing().run().expect_code(23);
    let ours = repl(words!["push", "--delete", "--to", daemon.url("ours/"), contents_of(&source)]);
    let ours = ours.owning_nothing().run().expect_code(23);
    for name in ["shut", "closed"] {
        assert!(ours.stderr().contains(name), "{}", ours.told());
    }
    assert!(ours.stderr().contains("Permission denied"), "{}", ours.told());
    for name in ["open", "old", "closed", "shut", "closed/inside"] {
        let exists = |root: &str| daemon.root().join(root).join(name).exists();
        assert_eq!(exists("ours"), exists("stock"), "{name}: {}{}", ours.told(), theirs.told());
    }
}
