//! Does what each codec sends come out again, and does storing cost next to nothing?

use delta::Head;
use delta::codec::{CHUNK_MAX, CHUNK_OUT, CompressKind, Compressor, Decompressor, Treatment};
use proptest::prelude::*;

use super::receiver::{Item, receive};
use super::recording::lcg;

const KINDS: [CompressKind; 4] =
    [CompressKind::Zlib, CompressKind::Zlibx, CompressKind::Zstd, CompressKind::Lz4];

const TREATMENTS: [Treatment; 3] = [Treatment::Compress, Treatment::Store, Treatment::Probe];

/// What a file of the session consists of.
#[derive(Clone, Debug)]
enum Part {
    Literal(Vec<u8>),
    Block(u32),
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let len = || prop_oneof![3 => 1usize..2000, 1 => 1usize..60_000];
    prop::collection::vec(
        prop_oneof![
            (0u64..9, len()).prop_map(|(seed, len)| Part::Literal(lcg(seed, len))),
            len().prop_map(|len| Part::Literal(text(len))),
            len().prop_map(|len| Part::Literal(vec![b'-'; len])),
            // Literals that repeat a part of the basis, which the history then knows.
            (0usize..150_000, 1usize..3000)
                .prop_map(|(at, len)| Part::Literal(basis()[at..at + len].to_vec())),
            (0u32..4).prop_map(Part::Block),
        ],
        0..8,
    )
}

fn text(len: usize) -> Vec<u8> {
    let words = ["sender ", "receiver ", "token ", "block\n", "of ", "a "];
    let pick = lcg(len as u64, len);
    let text = pick.iter().flat_map(|&n| words[usize::from(n) % words.len()].bytes());
    text.take(len).collect()
}

fn basis() -> Vec<u8> {
    lcg(11, 160_000)
}

const HEAD: Head = Head { count: 4, block_len: 40_000, strong_len: 2, remainder: 0 };

fn big_blocks() -> Head {
    Head { count: 2, block_len: 80_000, ..HEAD }
}

/// Runs one file through a compressor; returns its tokens and its content.
fn send(
    compressor: &mut Compressor,
    treatment: Treatment,
    parts: &[Part],
    head: &Head,
    protocol: u32,
) -> (Vec<Item>, Vec<u8>) {
    let basis = basis();
    let mut items = Vec::new();
    let mut new = Vec::new();
    compressor.start_file(treatment);
    for part in parts {
        let mut chunk = |bytes: &[u8]| items.push(Item::Chunk(bytes.to_vec()));
        match part {
            Part::Literal(bytes) => {
                compressor.literal(bytes, &mut chunk).unwrap();
                new.extend_from_slice(bytes);
            }
            Part::Block(block) => {
                let block = block % head.count;
                compressor.end_run(&mut chunk).unwrap();
                let data = super::receiver::block_of(&basis, head, block);
                compressor.matched(data, protocol);
                items.push(Item::Block(block));
                new.extend_from_slice(data);
            }
        }
    }
    let mut chunk = |bytes: &[u8]| items.push(Item::Chunk(bytes.to_vec()));
    compressor.end_run(&mut chunk).unwrap();
    compressor.end_run(&mut chunk).unwrap();
    items.push(Item::End);
    (items, new)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_session_of_several_files_comes_out_again(
        kind in prop::sample::select(&KINDS[..]),
        protocol in 29u32..=32,
        level in prop_oneof![Just(1), Just(3), Just(6)],
        files in prop::collection::vec(
            (
                parts(),
                prop::sample::select(&TREATMENTS[..]),
            ),
            1..5,
        ),
        long_blocks: bool,
    ) {
        let head = if long_blocks { big_blocks() } else { HEAD };
        let mut compressor = Compressor::new(kind, level);
        let mut decompressor = Decompressor::new(kind);
        for (parts, treatment) in &files {
            let (items, new) = send(&mut compressor, *treatment, parts, &head, protocol);
            let received = receive(&mut decompressor, protocol, &items, &basis(), &head);
            prop_assert!(received.unwrap() == new);
        }
    }

    #[test]
    fn random_chunks_never_panic(
        kind in prop::sample::select(&KINDS[..]),
        chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..200), 1..6),
        blocks in prop::collection::vec(0u32..4, 6),
        protocol in 29u32..=32,
    ) {
        let mut decompressor = Decompressor::new(kind);
        for (chunk, block) in chunks.into_iter().zip(blocks) {
            let items = [Item::Block(block), Item::Chunk(chunk), Item::End];
            let _ = receive(&mut decompressor, protocol, &items, &basis(), &HEAD);
        }
    }

    #[test]
    fn damaged_chunks_never_panic(
        kind in prop::sample::select(&KINDS[..]),
        parts in parts(),
        at in 0usize..100_000,
        bit in 0u32..8,
    ) {
        let mut compressor = Compressor::new(kind, 3);
        let (mut items, _) = send(&mut compressor, Treatment::Compress, &parts, &HEAD, 32);
        let chunk = items.iter_mut().find_map(|item| match item {
            Item::Chunk(chunk) => Some(chunk),
            _ => None,
        });
        if let Some(chunk) = chunk {
            let at = at % chunk.len();
            chunk[at] ^= 1 << bit;
        }
        let _ = receive(&mut Decompressor::new(kind), 32, &items, &basis(), &HEAD);
    }
}

#[test]
fn a_bomb_comes_out_in_bounded_pieces() {
    let zeros = vec![0; 1 << 24];
    for kind in [CompressKind::Zlib, CompressKind::Zlibx, CompressKind::Zstd] {
        let mut compressor = Compressor::new(kind, kind.level(None));
        let mut decompressor = Decompressor::new(kind);
        let parts = [Part::Literal(zeros.clone())];
        let (items, _) = send(&mut compressor, Treatment::Compress, &parts, &HEAD, 32);
        let mut seen = 0;
        for item in &items {
            let mut count = |piece: &[u8]| {
                assert!(piece.len() <= CHUNK_OUT);
                seen += piece.len();
                Ok::<(), delta::Error>(())
            };
            match item {
                Item::Chunk(chunk) => decompressor.chunk(chunk, &mut count).unwrap(),
                _ => decompressor.end_run(&mut count).unwrap(),
            }
        }
        assert_eq!(seen, zeros.len());
    }
}

#[test]
fn an_error_of_the_sink_ends_the_chunk() {
    let mut compressor = Compressor::new(CompressKind::Zlib, 6);
    let parts = [Part::Literal(vec![0; 1 << 20])];
    let (items, _) = send(&mut compressor, Treatment::Compress, &parts, &HEAD, 32);
    let Item::Chunk(chunk) = &items[0] else { panic!() };
    let mut calls = 0;
    let result = Decompressor::new(CompressKind::Zlib).chunk(chunk, &mut |_| {
        calls += 1;
        Err(delta::Error::Garbled { codec: "sink", reason: "full".into() })
    });
    assert!(result.is_err() && calls == 1);
}

#[test]
fn a_stream_that_ends_or_expands_too_far_is_garbled() {
    // An empty deflate block that is the last one, and a byte behind it.
    let ended = (CompressKind::Zlibx, vec![0x03, 0x00, 0x00]);
    // A frame whose window has 2^28 bytes.
    let wide = (CompressKind::Zstd, vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x90, 0x01, 0x00, 0x00]);
    // One literal that is repeated more often than a chunk may hold.
    let long = [vec![0x1f, b'a', 0x01, 0x00], vec![0xff; 300], vec![0x00]].concat();
    for (kind, chunk) in [ended, wide, (CompressKind::Lz4, long)] {
        let items = [Item::Chunk(chunk), Item::End];
        let result = receive(&mut Decompressor::new(kind), 32, &items, &[], &HEAD);
        assert!(matches!(result, Err(delta::Error::Garbled { .. })), "{kind:?}");
    }
}

fn sent_bytes(kind: CompressKind, treatment: Treatment, data: &[u8]) -> usize {
    let mut compressor = Compressor::new(kind, kind.level(None));
    let parts = [Part::Literal(data.to_vec())];
    let (items, _) = send(&mut compressor, treatment, &parts, &HEAD, 32);
    let len = |item: &Item| match item {
        Item::Chunk(bytes) => bytes.len() + 2,
        _ => 0,
    };
    items.iter().map(len).sum()
}

#[test]
fn stored_bytes_cost_less_than_half_a_percent() {
    let data = lcg(5, 1 << 20);
    for kind in KINDS {
        for treatment in [Treatment::Store, Treatment::Probe] {
            let sent = sent_bytes(kind, treatment, &data);
            assert!(sent < data.len() + data.len() / 200, "{kind:?}: {sent}");
        }
    }
}

#[test]
fn text_shrinks_unless_it_is_to_be_stored() {
    let data = text(1 << 20);
    for kind in KINDS {
        assert!(sent_bytes(kind, Treatment::Compress, &data) < data.len() / 2, "{kind:?}");
        assert!(sent_bytes(kind, Treatment::Probe, &data) < data.len() / 2, "{kind:?}");
        assert!(sent_bytes(kind, Treatment::Store, &data) > data.len(), "{kind:?}");
    }
}

#[test]
fn zlib_finds_literals_that_repeat_a_matched_block() {
    let block = &basis()[..40_000];
    let parts = [Part::Block(0), Part::Literal(block[39_000..].to_vec())];
    let sent = |kind| {
        let mut compressor = Compressor::new(kind, 6);
        let (items, _) = send(&mut compressor, Treatment::Compress, &parts, &HEAD, 32);
        items.iter().any(|item| matches!(item, Item::Chunk(bytes) if bytes.len() > 100))
    };
    assert!(!sent(CompressKind::Zlib));
    assert!(sent(CompressKind::Zlibx));
}

#[test]
fn a_later_file_of_a_zstd_session_knows_the_earlier_one() {
    let data = lcg(5, 5000);
    let mut compressor = Compressor::new(CompressKind::Zstd, 3);
    let parts = [Part::Literal(data)];
    send(&mut compressor, Treatment::Compress, &parts, &HEAD, 32);
    let (items, _) = send(&mut compressor, Treatment::Compress, &parts, &HEAD, 32);
    assert!(matches!(&items[..], [Item::Chunk(bytes), Item::End] if bytes.len() < 100));
}

#[test]
fn an_empty_run_sends_nothing() {
    for kind in KINDS {
        let mut compressor = Compressor::new(kind, kind.level(None));
        let (items, _) = send(&mut compressor, Treatment::Compress, &[Part::Block(1)], &HEAD, 32);
        assert_eq!(items, [Item::Block(1), Item::End]);
        compressor.literal(&[], &mut |_| panic!("a chunk of nothing")).unwrap();
        compressor.end_run(&mut |_| panic!("a chunk of nothing")).unwrap();
    }
}

#[test]
fn runs_of_awkward_lengths_fill_chunks_exactly() {
    for kind in KINDS {
        let mut compressor = Compressor::new(kind, kind.level(None));
        let mut decompressor = Decompressor::new(kind);
        for len in (CHUNK_MAX - 12..CHUNK_MAX + 12).chain(2 * CHUNK_MAX - 70..2 * CHUNK_MAX + 3) {
            for treatment in [Treatment::Compress, Treatment::Store] {
                let parts = [Part::Literal(lcg(len as u64, len))];
                let (items, new) = send(&mut compressor, treatment, &parts, &HEAD, 32);
                let received = receive(&mut decompressor, 32, &items, &[], &HEAD);
                assert!(received.unwrap() == new, "{kind:?} {len}");
            }
        }
    }
}

#[test]
fn levels_are_cut_to_what_the_codec_knows() {
    assert_eq!(CompressKind::Zlib.level(None), 6);
    assert_eq!(CompressKind::Zlibx.level(Some(99)), 9);
    assert_eq!(CompressKind::Zstd.level(Some(0)), 3);
    assert_eq!(CompressKind::Zstd.level(Some(99)), 22);
    assert_eq!(CompressKind::Zstd.level(Some(-5)), -5);
}
