//! Is writing and reading a large list cheap?

use std::time::{Duration, Instant};

use super::{dialect, encoder, read_list};
use crate::flist::{FileEntry, FlistDecoder, FlistFields};

/// Seen: 19 ms to write and 80 ms to read on one core of a small server, in a test build. The bound leaves room for others.
const BOUND: Duration = Duration::from_secs(2);

#[test]
fn three_hundred_thousand_entries_take_little_time_and_space() {
    let fields =
        FlistFields { owner: true, group: true, hard_links: true, ..FlistFields::default() };
    let names: Vec<String> = (0..300_000)
        .map(|n| format!("photo/{}/album-{}/image-{n:06}.jpg", n / 10_000, n / 200))
        .collect();
    let mut encoder = encoder(&dialect(32, 0x1fe), fields, Box::new(|_, _| None));
    let mut out = Vec::with_capacity(16 << 20);
    let start = Instant::now();
    for (name, n) in names.iter().zip(0u32..) {
        let entry = FileEntry {
            name: name.as_bytes(),
            mode: 0o100644,
            size: u64::from(n) * 1000,
            mtime: 1_700_000_000 + i64::from(n),
            mtime_nsec: n,
            uid: 1000 + n / 1000 % 2,
            gid: 100,
            ..FileEntry::default()
        };
        encoder.entry(&mut out, &entry);
    }
    let took = start.elapsed();
    println!("{took:?}, {} bytes", out.len());
    assert!(took < BOUND, "{took:?}");
    assert!(out.len() < 300_000 * 30, "{} bytes", out.len());

    encoder.end_list(&mut out, 0);
    let mut decoder = FlistDecoder::new(&dialect(32, 0x1fe), fields).unwrap();
    let start = Instant::now();
    let (read, _) = read_list(&mut decoder, &mut out.as_slice()).unwrap();
    let took = start.elapsed();
    println!("{took:?}");
    assert_eq!(read.len(), names.len());
    assert!(took < BOUND, "{took:?}");
}
