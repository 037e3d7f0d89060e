//! Does every codec carry the mixed tree at every protocol, and is what cannot shrink left alone?

use std::fs;
use std::path::Path;

use crate::harness::compare::{self, Look};
use crate::harness::odd_tree::{self, Odd};
use crate::harness::random::Random;
use crate::harness::{FarSide, Rsync, Way, repl, stock, temp_dir};

const PROTOCOLS: [u32; 4] = [29, 30, 31, 32];

#[test]
fn no_codec_carries_the_tree() {
    carry(&["--compress-choice=none"]);
}

#[test]
fn zlib_carries_the_tree() {
    carry(&["-z", "--compress-choice=zlib"]);
}

#[test]
fn zlibx_carries_the_tree() {
    carry(&["-z", "--compress-choice=zlibx"]);
}

#[test]
fn zstd_carries_the_tree() {
    carry(&["-z", "--compress-choice=zstd"]);
}

#[test]
fn lz4_carries_the_tree() {
    carry(&["-z", "--compress-choice=lz4"]);
}

#[test]
fn the_negotiated_codec_carries_the_tree() {
    carry(&["-z"]);
    carry(&["-z", "--compress-level=1"]);
}

/// Pushes a tree and its next state at every protocol; where stock refuses, the code must be stock's.
fn carry(options: &[&str]) {
    let folder = temp_dir();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let odd = Odd { far_times: false, attributes: false };
    odd_tree::build(&first, odd);
    odd_tree::build(&second, odd);
    odd_tree::live_in(&second);
    lay_long_files(&second);
    for protocol in PROTOCOLS {
        for rsync in [Rsync::Installed, Rsync::V3_2_3] {
            println!("{options:?}, protocol {protocol}, {rsync:?}");
            carry_at(protocol, rsync, options, [&first, &second]);
        }
    }
}

/// Files that several threads compress, text and noise by turns, with short ones in between.
fn lay_long_files(root: &Path) {
    let folder = root.join("long");
    fs::create_dir(&folder).unwrap();
    for (number, len) in [90, 100, 300, 2, 700, 2_000, 40, 5_000].into_iter().enumerate() {
        let mut random = Random::new(number as u64);
        let lines = random.text(len << 10);
        let noise = random.bytes(len << 10);
        fs::write(folder.join(format!("{number}-text")), lines).unwrap();
        fs::write(folder.join(format!("{number}-noise")), noise).unwrap();
    }
}

fn carry_at(protocol: u32, rsync: Rsync, options: &[&str], [first, second]: [&Path; 2]) {
    let far = FarSide::start(Way::Pipe, rsync);
    let protocol_option = format!("--protocol={protocol}");
    let mut both = vec![protocol_option.as_str(), "--delete"];
    both.extend(options);
    let theirs = stock(Rsync::Installed, far.stock_push(&both, first, "stock")).run();
    both.extend(["--no-acls", "--no-xattrs"]);
    let ours = repl(far.push(&both, first, "copy")).run().expect_code(theirs.code());
    if ours.code() != 0 {
        return;
    }
    repl(far.push(&both, second, "copy")).run().expect_success();
    let mut look = Look::for_protocol(protocol.min(rsync.newest_protocol()));
    look.attributes = false;
    compare::assert_equal(second, &far.folder("copy"), look);
}

#[test]
fn a_video_is_not_compressed_and_the_run_says_so() {
    for (name, content) in [
        ("film.mkv", Random::new(1).bytes(4 << 20)),
        ("no-suffix-but-random", Random::new(2).bytes(4 << 20)),
        // The list decides by the name alone.
        ("text-in-disguise.mp4", Random::new(3).text(1 << 20)),
    ] {
        let told = told_about(name, &content);
        let line = told.lines().find(|line| line.contains(name) && line.contains("not compressed"));
        assert!(line.is_some(), "{told}");
    }
    let told = told_about("letter.txt", &Random::new(4).text(1 << 20));
    assert!(!told.contains("not compressed"), "{told}");
}

#[test]
fn the_list_of_suffixes_can_be_replaced() {
    let text = Random::new(5).text(1 << 20);
    let told = told_by(&["-z", "-vv", "--skip-compress=abc/t[xy]t"], "letter.txt", &text);
    assert!(told.contains("not compressed"), "{told}");
    let told = told_by(&["-z", "-vv", "--skip-compress=abc"], "letter.mp4", &text);
    assert!(!told.contains("not compressed"), "{told}");
}

fn told_about(name: &str, content: &[u8]) -> String {
    told_by(&["-z", "-vv"], name, content)
}

fn told_by(options: &[&str], name: &str, content: &[u8]) -> String {
    let folder = temp_dir();
    let source = folder.path().join("source");
    std::fs::create_dir(&source).unwrap();
    std::fs::write(source.join(name), content).unwrap();
    let far = FarSide::start(Way::Daemon, Rsync::Installed);
    let run = repl(far.push(options, &source, "copy")).run().expect_success();
    assert_same(&source.join(name), &far.folder("copy").join(name));
    run.stdout() + &run.stderr()
}

#[track_caller]
fn assert_same(one: &Path, other: &Path) {
    assert!(
        std::fs::read(one).unwrap() == std::fs::read(other).unwrap(),
        "{} differs",
        other.display()
    );
}
