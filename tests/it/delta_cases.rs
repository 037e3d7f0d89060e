//! Is a changed file equal afterwards, whatever the edits, and does it cost few enough bytes?

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use crate::harness::odd_tree::set_mtime;
use crate::harness::proxy::{Fault, Proxy};
use crate::harness::random::Random;
use crate::harness::{Daemon, Outcome, Rsync, daemon, program, repl, stock, temp_dir};
use crate::words;

/// Large enough for stock's rule to choose large blocks.
const SCATTERED_SIZE: usize = 256 << 20;

/// Enough for the rule to choose blocks of about 4 KiB.
const SIZE: usize = 16 << 20;

/// The bound on bytes over stock's, as a part of the longer of the two files: 0.5 %.
const ALLOWANCE: u64 = 200;

/// A pattern that makes weak sums collide must not make the search take longer than this, nor than stock does.
const SEARCH_LIMIT: Duration = Duration::from_secs(30);

#[test]
fn scattered_edits_cost_half_of_what_they_cost_stock() {
    let basis = Random::new(10).bytes(SCATTERED_SIZE);
    let mut edited = basis.clone();
    let mut random = Random::new(11);
    for _ in 0..SCATTERED_SIZE / 100 / 4096 {
        let at = random.below(SCATTERED_SIZE - 4096);
        edited[at..at + 4096].copy_from_slice(&random.bytes(4096));
    }
    let run = push_both(&basis, &edited);
    assert!(run.ours * 2 <= run.stocks, "{run:?}");
}

#[test]
fn an_insertion_near_the_start_costs_what_it_costs_stock() {
    let basis = Random::new(20).bytes(SIZE);
    let mut edited = basis.clone();
    edited.splice(1000..1000, *b"a few bytes more");
    check_against_stock(&basis, &edited);
}

#[test]
fn appended_data_costs_what_it_costs_stock() {
    let edited = Random::new(30).bytes(SIZE);
    check_against_stock(&edited[..SIZE - 700_001], &edited);
}

#[test]
fn a_truncated_file_costs_what_it_costs_stock() {
    let basis = Random::new(40).bytes(SIZE);
    check_against_stock(&basis, &basis[..SIZE / 3]);
}

#[test]
fn swapped_blocks_cost_what_they_cost_stock() {
    let basis = Random::new(50).bytes(SIZE);
    let mut edited = basis.clone();
    edited.rotate_left(SIZE / 2 + 12_345);
    edited[..SIZE / 4].rotate_right(5_000);
    check_against_stock(&basis, &edited);
}

#[test]
fn a_file_of_zeros_that_grows_costs_what_it_costs_stock() {
    check_against_stock(&vec![0; SIZE], &vec![0; SIZE + 4321]);
}

#[test]
fn a_periodic_file_whose_period_shifts_costs_what_it_costs_stock() {
    let period: Vec<u8> = (0..=250).collect();
    let basis: Vec<u8> = period.iter().copied().cycle().take(SIZE).collect();
    let mut edited = basis.clone();
    edited.splice(77..80, *b"shift");
    check_against_stock(&basis, &edited);
}

#[test]
fn blocks_of_one_weak_sum_do_not_slow_the_search_down() {
    let basis = colliding(60, SIZE / 2);
    let mut edited = colliding(61, SIZE / 2);
    edited[SIZE / 4..].copy_from_slice(&basis[SIZE / 4..]);
    check_against_stock(&basis, &edited);
}

#[test]
fn only_the_time_changed_costs_what_it_costs_stock() {
    let basis = Random::new(70).bytes(SIZE);
    check_against_stock(&basis, &basis);
}

#[test]
fn nothing_in_common_costs_what_it_costs_stock() {
    check_against_stock(&Random::new(80).bytes(SIZE / 4), &Random::new(81).bytes(SIZE / 4));
}

/// Returns data in which every stretch of a multiple of four bytes has the same weak sum, but other bytes.
///
/// Adding 1, -2, 1 (or 1, -1, -1, 1 here) to neighbours changes neither the sum nor the weighted sum.
fn colliding(seed: u64, len: usize) -> Vec<u8> {
    let mut random = Random::new(seed);
    // Bytes count as signed, so they must stay below 128.
    let mut data = vec![64_u8; len];
    for group in data.chunks_exact_mut(4) {
        let step = (random.next() % 64) as u8;
        group[0] += step;
        group[1] -= step;
        group[2] -= step;
        group[3] += step;
    }
    data
}

/// What the same change cost each client, both ways together.
#[derive(Debug)]
struct Cost {
    ours: u64,
    stocks: u64,
}

#[track_caller]
fn check_against_stock(basis: &[u8], edited: &[u8]) {
    let cost = push_both(basis, edited);
    let allowed = cost.stocks + basis.len().max(edited.len()) as u64 / ALLOWANCE;
    assert!(cost.ours <= allowed, "{cost:?}, at most {allowed}");
}

/// Pushes `edited` over `basis` by each client, and checks the results.
fn push_both(basis: &[u8], edited: &[u8]) -> Cost {
    let folder = temp_dir();
    let source = folder.path().join("file");
    write_aged(&source, edited, 1_700_000_000);
    let daemon = Daemon::start(Rsync::Installed);
    let of_stock = push(&daemon, basis, |to| {
        stock(Rsync::Installed, words!["-a", "--no-whole-file", &source, to]).run()
    });
    assert_same(&source, &daemon.root().join("file"));
    let ours = push(&daemon, basis, |to| {
        repl(words!["push", "--to", to, "--", &source]).within(SEARCH_LIMIT).run()
    });
    assert_same(&source, &daemon.root().join("file"));
    Cost { ours, stocks: of_stock }
}

/// Lays the basis at the far side, pushes through a proxy, and returns the bytes that it saw.
fn push(daemon: &Daemon, basis: &[u8], client: impl Fn(String) -> Outcome) -> u64 {
    write_aged(&daemon.root().join("file"), basis, 1_600_000_000);
    let proxy = Proxy::to(daemon.port, Fault::None);
    client(daemon::url(proxy.port, "")).expect_success();
    proxy.traffic()
}

fn write_aged(path: &Path, content: &[u8], seconds: i64) {
    fs::write(path, content).unwrap();
    set_mtime(path, seconds, 0);
}

#[track_caller]
fn assert_same(one: &Path, other: &Path) {
    let same = fs::read(one).unwrap() == fs::read(other).unwrap();
    assert!(same, "the result differs");
}

#[test]
fn a_file_of_holes_larger_than_memory_limits_is_searched_within_them() {
    let folder = temp_dir();
    let source = folder.path().join("image");
    sparse(&source, &[(0, b"start"), (1 << 30, b"middle")]);
    let daemon = Daemon::start(Rsync::Installed);
    let copy = daemon.root().join("image");
    sparse(&copy, &[(0, b"start"), (1 << 29, b"other")]);
    set_mtime(&copy, 1_600_000_000, 0);
    let words = words!["push", "--sparse", "--to", daemon.url(""), &source];
    let run = repl(words).within(Duration::from_secs(120)).run().expect_success();
    assert!(run.peak_bytes < 64 << 20, "{} bytes of memory", run.peak_bytes);
    let looked = stock(
        Rsync::Installed,
        words!["-anic", program::contents_of(folder.path()), program::contents_of(daemon.root())],
    );
    let differences = looked.run().expect_success().stdout();
    assert!(!differences.contains("image"), "{differences}");
}

/// Makes a file of 1 GiB and a little that is nearly all hole.
fn sparse(path: &Path, pieces: &[(u64, &[u8])]) {
    let file = File::create(path).unwrap();
    file.set_len((1 << 30) + 12_345).unwrap();
    for (at, bytes) in pieces {
        file.write_all_at(bytes, *at).unwrap();
    }
}
