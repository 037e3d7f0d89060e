//! Does a peer that lies, breaks off or talks nonsense ever make the client panic, hang or swell?

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::harness::daemon;
use crate::harness::odd_tree::set_mtime;
use crate::harness::program::contents_of;
use crate::harness::proxy::{Answer, Fault, Proxy};
use crate::harness::random::Random;
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
fn expect_calm(run: &Outcome, what: &str) {
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
    let session = Session::record(&source);
    let run = session.play_to(&source, session.len(), |_| {});
    expect_calm(&run, "the whole session");
    assert_eq!(run.code(), 0, "a recording that does not play proves nothing: {}", run.told());
    for cut in session.cuts() {
        let run = session.play_to(&source, cut, |_| {});
        expect_calm(&run, &format!("cut at {cut} of {}", session.len()));
        assert_ne!(run.code(), 0, "cut at {cut} of {}: {}", session.len(), run.told());
    }
}

#[test]
fn a_session_with_wrong_bytes_ends_the_run() {
    let (_folder, source) = source();
    let session = Session::record(&source);
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let at = session.text_len() + random.below(session.len() - session.text_len());
        let value = random.next() as u8;
        let run = session.play_to(&source, session.len(), move |bytes| match seed % 3 {
            0 => bytes[at] ^= 1 << (value % 8),
            1 => bytes[at] = value,
            _ => bytes[at..].iter_mut().take(4).for_each(|byte| *byte = 0xff),
        });
        expect_calm(&run, &format!("wrong byte at {at}, seed {seed}"));
    }
}

/// What a real daemon said to a push of the source over an older copy of it.
struct Session {
    answers: Vec<Answer>,
}

impl Session {
    fn record(source: &Path) -> Self {
        let daemon = Daemon::start(Rsync::Installed);
        fs::write(daemon.root().join("letter"), Random::new(1).text(25_000)).unwrap();
        fs::write(daemon.root().join("surplus"), "to be deleted").unwrap();
        let proxy = Proxy::to(daemon.port, Fault::None);
        push(source, proxy.port).run().expect_success();
        Self { answers: proxy.answers() }
    }

    fn bytes(&self) -> Vec<u8> {
        self.answers.iter().flat_map(|answer| answer.bytes.iter().copied()).collect()
    }

    fn len(&self) -> usize {
        self.bytes().len()
    }

    /// Returns how many bytes come before the binary part.
    fn text_len(&self) -> usize {
        let (bytes, ok) = (self.bytes(), b"@RSYNCD: OK\n");
        bytes.windows(ok.len()).position(|window| window == ok).unwrap() + ok.len()
    }

    /// Returns where to break off: in the text, at each byte of the setup, at and in each frame.
    fn cuts(&self) -> Vec<usize> {
        let bytes = self.bytes();
        let setup = self.text_len();
        let names = setup + 2;
        let frames = names + 1 + usize::from(bytes[names]) + 4;
        let mut cuts: Vec<usize> = (0..setup).step_by(9).chain(setup..frames).collect();
        let mut at = frames;
        while at < bytes.len() {
            let len = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], 0]) as usize;
            cuts.extend([at, at + 2, at + 4, at + 4 + len / 2]);
            at += 4 + len;
        }
        assert_eq!(at, bytes.len(), "the recording ends inside a frame");
        cuts.retain(|cut| *cut < bytes.len());
        cuts.dedup();
        cuts
    }

    /// Plays the session, changed by `damage`, up to byte `end`, to a new push of the same source.
    fn play_to(&self, source: &Path, end: usize, damage: impl Fn(&mut [u8])) -> Outcome {
        let mut bytes = self.bytes();
        damage(&mut bytes);
        bytes.truncate(end);
        let pauses: Vec<_> =
            self.answers.iter().map(|answer| (answer.after, answer.bytes.len())).collect();
        let server = ScriptedServer::start(move |client| {
            let mut heard = 0;
            let mut rest = &bytes[..];
            for (after, len) in &pauses {
                let (piece, later) = rest.split_at((*len).min(rest.len()));
                if piece.is_empty() {
                    break;
                }
                hear(client, &mut heard, *after);
                let _ = client.write_all(piece);
                rest = later;
            }
            let _ = client.shutdown(Shutdown::Write);
        });
        push(source, server.port).run()
    }
}

/// Listens until the client has said as much as it had said in the recording, but not for ever.
fn hear(client: &mut TcpStream, heard: &mut u64, wanted: u64) {
    let end = Instant::now() + Duration::from_millis(200);
    client.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let mut piece = [0; 1 << 16];
    while *heard < wanted && Instant::now() < end {
        match client.read(&mut piece) {
            Ok(len @ 1..) => *heard += len as u64,
            Ok(0) => return,
            Err(_) => {}
        }
    }
}
