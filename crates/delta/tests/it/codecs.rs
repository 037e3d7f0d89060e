//! Does what each codec sends come out again, and does storing cost next to nothing?

use delta::Head;
use delta::codec::{CHUNK_MAX, CompressKind, Compressor, Treatment};
use proptest::prelude::*;

use super::receiver::{Decoder, Item};
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
        let mut decoder = Decoder::new(kind, protocol);
        for (parts, treatment) in &files {
            let (items, new) = send(&mut compressor, *treatment, parts, &head, protocol);
            prop_assert!(decoder.file(&items, &basis(), &head) == new);
        }
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
        let mut decoder = Decoder::new(kind, 32);
        for len in (CHUNK_MAX - 12..CHUNK_MAX + 12).chain(2 * CHUNK_MAX - 70..2 * CHUNK_MAX + 3) {
            for treatment in [Treatment::Compress, Treatment::Store] {
                let parts = [Part::Literal(lcg(len as u64, len))];
                let (items, new) = send(&mut compressor, treatment, &parts, &HEAD, 32);
                assert!(decoder.file(&items, &[], &HEAD) == new, "{kind:?} {len}");
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
