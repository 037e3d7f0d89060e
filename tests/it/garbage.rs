//! Does a peer that lies, breaks off or talks nonsense ever make the client panic, hang or swell?

use std::fs;
use std::io::Write;
use std::net::Shutdown;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::harness::daemon;
use crate::harness::odd_tree::set_mtime;
use crate::harness::program::contents_of;
use crate::harness::random::Random;
use crate::harness::recording::Recording;
use crate::harness::scripted_server::ScriptedServer;
use crate::harness::{Daemon, Outcome, Program, Rsync, repl, temp_dir};
use crate::words;

/// Every one of these sessions is over at once, or the client hangs.
const LIMIT: Duration = Duration::from_secs(10);

/// No session here has more than this to keep, whatever a peer promises to send.
const DATA_LIMIT: u64 = 96 << 20;

/// The memory that may be resident in such a session.
const RESIDENT_LIMIT: u64 = 32 << 20;

/// What a daemon of protocol 32 sends before its first frame: compat flags, checksum names, seed.
const SETUP: &[u8] = b"\x81\xff\x1exxh128 xxh3 xxh64 md5 md4 sha1\x01\x02\x03\x04";

fn source() -> (TempDir, PathBuf) {
    let folder = temp_dir();
    let source = folder.path().join("source");
    fs::create_dir_all(source.join("inner")).unwrap();
    fs::write(source.join("letter"), Random::new(1).text(30_000)).unwrap();
    fs::write(source.join("inner/number"), "42\n").unwrap();
    for path in
        [source.join("letter"), source.join("inner/number"), source.join("inner"), source.clone()]
    {
        set_mtime(&path, 1_700_000_000, 0);
    }
    (folder, source)
}

fn push(source: &Path, port: u16) -> Program {
    let words = words!["push", "--delete", "--to", daemon::url(port, ""), contents_of(source)];
    repl(words).within(LIMIT).data_limit(DATA_LIMIT)
}

/// Fails when the client panicked, was ended, or swelled.
#[track_caller]
pub(crate) fn expect_calm(run: &Outcome, what: &str) {
    assert!(run.peak_bytes < RESIDENT_LIMIT, "{what}: {} bytes of memory", run.peak_bytes);
    assert!(!run.stderr().contains("memory allocation"), "{what}: {}", run.told());
    println!("{what}: {}", run.code());
    run.expect_no_panic();
}

#[test]
fn random_bytes_instead_of_a_daemon_end_the_run() {
    let (_folder, source) = source();
    for seed in 0..20 {
        let server = ScriptedServer::saying(Random::new(seed).bytes(10_000));
        let run = push(&source, server.port).run();
        expect_calm(&run, &format!("random bytes {seed}"));
        assert_ne!(run.code(), 0, "{}", run.told());
    }
}

#[test]
fn random_bytes_after_the_greeting_end_the_run() {
    let (_folder, source) = source();
    for seed in 0..60 {
        let mut words = if seed % 2 == 0 { SETUP.to_vec() } else { Vec::new() };
        words.extend(Random::new(seed).bytes(5_000));
        let server = ScriptedServer::saying_after_the_greeting(words);
        let run = push(&source, server.port).run();
        expect_calm(&run, &format!("random bytes after the greeting {seed}"));
        assert_ne!(run.code(), 0, "{}", run.told());
    }
}

#[test]
fn random_bytes_in_well_formed_frames_end_the_run() {
    let (_folder, source) = source();
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let mut words = SETUP.to_vec();
        for _ in 0..8 {
            let len = random.below(40);
            words.extend(frame(DATA, &random.bytes(len)));
        }
        let server = ScriptedServer::saying_after_the_greeting(words);
        let run = push(&source, server.port).run();
        expect_calm(&run, &format!("random frames {seed}"));
    }
}

#[test]
fn random_bytes_from_a_remote_shell_end_the_run() {
    let (folder, source) = source();
    let (noise, rsh) = (folder.path().join("noise"), folder.path().join("rsh"));
    fs::write(&rsh, format!("cat {}\ncat >/dev/null\n", noise.display())).unwrap();
    for seed in 0..20 {
        let mut words = if seed % 2 == 0 { b"\x20\0\0\0".to_vec() } else { Vec::new() };
        words.extend(Random::new(seed).bytes(5_000));
        fs::write(&noise, words).unwrap();
        let rsh = format!("sh {}", rsh.display());
        let words = words!["push", "-e", rsh, "--to", "far:/srv", contents_of(&source)];
        let run = repl(words).within(LIMIT).data_limit(DATA_LIMIT).run();
        expect_calm(&run, &format!("random bytes from a shell {seed}"));
        assert_ne!(run.code(), 0, "{}", run.told());
    }
}

#[test]
fn absurd_lengths_and_numbers_are_refused() {
    let (_folder, source) = source();
    for (what, words) in absurdities() {
        let server = ScriptedServer::saying_after_the_greeting(words);
        let run = push(&source, server.port).run();
        expect_calm(&run, what);
        assert_ne!(run.code(), 0, "{what}: {}", run.told());
    }
}

fn absurdities() -> Vec<(&'static str, Vec<u8>)> {
    let after_setup = |bytes: &[u8]| [SETUP, bytes].concat();
    let in_data = |bytes: &[u8]| after_setup(&frame(DATA, bytes));
    // File 2 of the list (the first is 1), to be transferred, with these four numbers as sum head.
    let with_head = |head: [i32; 4]| {
        let numbers = head.iter().flat_map(|number| number.to_le_bytes());
        in_data(&[0x03, 0x00, 0x80].into_iter().chain(numbers).collect::<Vec<_>>())
    };
    vec![
        ("compat flags of five bytes", vec![0xff; 64]),
        ("a list of checksum names of 32767 bytes", b"\x81\xff\xff\xff".to_vec()),
        ("no common checksum", b"\x81\xff\x04blub\x01\x02\x03\x04".to_vec()),
        ("a data frame of 16 MiB that does not come", after_setup(b"\xff\xff\xff\x07abc")),
        ("a text frame of 16 MiB", after_setup(&frame(INFO, &vec![b'x'; 0xff_ffff]))),
        ("an unknown tag", after_setup(&frame(77, b"what"))),
        ("a tag below the lowest", after_setup(b"\x01\x00\x00\x02x")),
        ("an end with five bytes", after_setup(&frame(ERROR_EXIT, b"12345"))),
        ("a deleted name of 16 MiB", after_setup(&frame(DELETED, &vec![b'd'; 0xff_ffff]))),
        ("the largest index", in_data(&[0xfe, 0xff, 0xff, 0xff, 0xff, 0x00, 0x80])),
        ("an index that no list has", in_data(&[0xfe, 0x7f, 0xff, 0x00, 0x80])),
        ("a negative index of no meaning", in_data(&[0xff, 0x32, 0x00, 0x80])),
        ("the transfer of a folder", in_data(&[&[0x02, 0x00, 0x80][..], &[0; 16]].concat())),
        ("2^31-1 blocks", with_head([i32::MAX, 700, 2, 0])),
        ("a negative count of blocks", with_head([-1, 700, 2, 0])),
        ("blocks of 2^31-1 bytes", with_head([1, i32::MAX, 2, 0])),
        ("blocks without bytes", with_head([5, 0, 2, 0])),
        ("a strong sum of 2^31-1 bytes", with_head([1, 700, i32::MAX, 0])),
        ("a remainder larger than a block", with_head([1, 700, 2, 701])),
        ("a negative remainder", with_head([1, 700, 2, -1])),
        ("sums that do not come", with_head([1_000_000, 131_072, 16, 0])),
        ("a name of 32767 bytes", in_data(&[0x03, 0x00, 0x90, 0xff, 0xff])),
    ]
}

const DATA: u8 = 0;
const INFO: u8 = 2;
const ERROR_EXIT: u8 = 86;
const DELETED: u8 = 101;

fn frame(tag: u8, payload: &[u8]) -> Vec<u8> {
    let head = u32::from(tag + 7) << 24 | payload.len() as u32;
    [&head.to_le_bytes()[..], payload].concat()
}

#[test]
fn a_greeting_without_end_is_cut_off() {
    let (_folder, source) = source();
    for (what, line) in
        [("one line", vec![b'x'; 1 << 16]), ("lines", b"hello there\n".repeat(5000))]
    {
        let server = ScriptedServer::start(move |client| {
            let _ = client.write_all(b"@RSYNCD: 32.0 sha512 sha256 sha1 md5 md4\n");
            let sent = (0..1000).take_while(|_| client.write_all(&line).is_ok()).count();
            println!("{sent} pieces of {} bytes", line.len());
            let _ = client.shutdown(Shutdown::Write);
        });
        let run = push(&source, server.port).run();
        expect_calm(&run, what);
        assert_ne!(run.code(), 0, "{what}: {}", run.told().len());
    }
}

#[test]
fn a_session_that_breaks_off_anywhere_ends_the_run() {
    let (_folder, source) = source();
    let session = record(&source);
    let play_to = |end| session.play_to(end, |_| {}, |port| push(&source, port));
    let run = play_to(session.len());
    expect_calm(&run, "the whole session");
    assert_eq!(run.code(), 0, "a recording that does not play proves nothing: {}", run.told());
    for cut in session.cuts(1) {
        let run = play_to(cut);
        expect_calm(&run, &format!("cut at {cut} of {}", session.len()));
        assert_ne!(run.code(), 0, "cut at {cut} of {}: {}", session.len(), run.told());
    }
}

#[test]
fn a_session_with_wrong_bytes_ends_the_run() {
    let (_folder, source) = source();
    let session = record(&source);
    for seed in 0..150 {
        let (at, damage) = session.damage(seed);
        let run = session.play_to(session.len(), damage, |port| push(&source, port));
        expect_calm(&run, &format!("wrong byte at {at}, seed {seed}"));
    }
}

/// Records what a real daemon says to a push of the source over an older copy of it.
fn record(source: &Path) -> Recording {
    let daemon = Daemon::start(Rsync::Installed);
    fs::write(daemon.root().join("letter"), Random::new(1).text(25_000)).unwrap();
    fs::write(daemon.root().join("surplus"), "to be deleted").unwrap();
    Recording::of(&daemon, |port| push(source, port))
}
