//! Are sums, matches and codecs those of recorded sessions?

use delta::codec::{Compressor, Decompressor, Treatment};
use delta::{
    BlockSums, Event, FileSum, Head, Index, Placement, Plan, Searcher, SeedOrder, StrongSum,
    SumKind, signature, weak_sum,
};

use super::receiver::{Item, apply, compressed_tokens, plain_tokens, receive};
use super::recording::{RecordedFile, Recording, SEED, content, hex, load};
use super::sender::{Step, search};

const PLAIN: [&str; 5] = [
    "transfer-01-new-p32",
    "transfer-02-delta-p28-md4",
    "transfer-04-delta-p30-md5-seed-last",
    "transfer-05-delta-p31-md5-seed-first",
    "transfer-12-inplace-p32",
];

const COMPRESSED: [&str; 6] = [
    "transfer-03-delta-p29-zlib",
    "transfer-06-zlib-bigblock-p30",
    "transfer-07-zlib-bigblock-p32",
    "transfer-08-zlibx-runs-p32",
    "transfer-09-zstd-multi-p32",
    "transfer-10-lz4-multi-p32",
];

fn index_of(file: &RecordedFile, placement: Placement) -> Index {
    let mut sums = BlockSums::new(file.head);
    for record in file.sums.chunks(4 + file.head.strong_len as usize) {
        let (weak, strong) = record.split_at(4);
        sums.push(u32::from_le_bytes(weak.try_into().unwrap()), strong);
    }
    Index::new(sums, placement)
}

fn placement(recording: &Recording) -> Placement {
    match recording.options.contains("--inplace") {
        true => Placement::InPlace,
        false => Placement::Anywhere,
    }
}

#[test]
fn every_recorded_sum_is_reproduced() {
    let json = load("transfer-00-checksums");
    let kinds = |name: &str| match name {
        "md4" | "md4post" => (SumKind::Md4, SeedOrder::Last),
        "md5" | "md5pre" => (SumKind::Md5, SeedOrder::First),
        "md5post" => (SumKind::Md5, SeedOrder::Last),
        "sha1" => (SumKind::Sha1, SeedOrder::First),
        "xxh64" => (SumKind::Xxh64, SeedOrder::First),
        "xxh3" => (SumKind::Xxh3, SeedOrder::First),
        "xxh128" => (SumKind::Xxh128, SeedOrder::First),
        "none" => (SumKind::None, SeedOrder::First),
        other => panic!("unknown sum {other}"),
    };
    let mut compared = 0;
    for vector in json["vectors"].as_array().unwrap() {
        let data = content(&vector["data"], &[]);
        let rolling = hex(vector["rolling_wire"].as_str().unwrap());
        assert_eq!(weak_sum(&data).to_le_bytes(), *rolling);
        for (seed, sums) in vector["block"].as_object().unwrap() {
            let seed = seed.parse().unwrap();
            for (name, sum) in sums.as_object().unwrap() {
                // Seed first is what no session of ours agrees on for MD4.
                if name == "md4pre" {
                    continue;
                }
                let (kind, order) = kinds(name);
                let ours = StrongSum::new(kind, seed, order).block(&data);
                assert_eq!(ours.as_bytes(), hex(sum.as_str().unwrap()), "{name} {seed}");
                compared += 1;
            }
        }
        for (name, sum) in vector["file"].as_object().unwrap() {
            let mut ours = match name.strip_prefix("md4old seed ") {
                Some(seed) => FileSum::new(SumKind::Md4Old, seed.parse().unwrap()),
                None => FileSum::new(kinds(name).0, SEED),
            };
            data.chunks(61).for_each(|piece| ours.update(piece));
            let ours = ours.finish();
            assert_eq!(ours.as_bytes(), hex(sum.as_str().unwrap()), "{name}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn the_old_md4_of_a_block_puts_the_seed_last() {
    let sum = StrongSum::new(SumKind::Md4Old, SEED, SeedOrder::First).block(b"abc");
    assert_eq!(sum.as_bytes(), hex("8cd2a284db9442cfb9fabc070bf1bc28"));
}

#[test]
fn the_recorded_block_sums_are_those_of_the_basis() {
    for name in PLAIN.iter().chain(&COMPRESSED) {
        let recording = Recording::open(name);
        for file in recording.files.iter().filter(|file| file.head.count > 0) {
            let mut sums = Vec::new();
            let mut put = |weak: u32, strong: &[u8]| {
                sums.extend(weak.to_le_bytes());
                sums.extend_from_slice(strong);
                Ok::<(), std::io::Error>(())
            };
            signature(file.basis.as_slice(), &file.head, &recording.strong, &mut put).unwrap();
            assert_eq!(sums, file.sums, "{name}");
        }
    }
}

#[test]
fn the_search_finds_what_the_recorded_sender_found() {
    for name in PLAIN.iter().chain(&COMPRESSED) {
        let recording = Recording::open(name);
        for file in &recording.files {
            let index = index_of(file, placement(&recording));
            let plan = Plan {
                basis: Some((&index, recording.strong)),
                ..Plan::whole(file.new.len() as u64)
            };
            let (steps, outcome) = search(&file.new, usize::MAX, &plan, recording.sum);
            assert_eq!(outcome.file_sum.as_bytes(), file.file_sum, "{name}");
            assert_eq!(names(&steps), joined(&file.tokens_decoded), "{name}");
            if recording.compress.is_none() {
                assert_eq!(steps, plain_tokens(&file.tokens), "{name}");
            }
            assert_eq!(apply(&steps, &file.basis, &file.head), file.new, "{name}");
        }
    }
}

#[test]
fn an_append_sends_the_tail_and_sums_the_prefix_only_when_verifying() {
    let recording = Recording::open("transfer-11-append-verify-p32");
    let file = &recording.files[0];
    let held = file.head.basis_len();
    let verify = Plan { held_prefix: held, ..Plan::whole(file.new.len() as u64) };
    let (steps, outcome) = search(&file.new, 300, &verify, recording.sum);
    assert_eq!(steps, plain_tokens(&file.tokens));
    assert_eq!(outcome.file_sum.as_bytes(), file.file_sum);
    assert_eq!(outcome.stats.literal_bytes, 1000);

    let tail = &file.new[held as usize..];
    let (steps, outcome) = search(tail, 300, &Plan::whole(1000), recording.sum);
    assert_eq!(steps, [Step::Literal(tail.to_vec())]);
    assert_ne!(outcome.file_sum.as_bytes(), file.file_sum);
}

#[test]
fn the_recorded_replies_give_the_new_files() {
    for name in COMPRESSED {
        let recording = Recording::open(name);
        let mut decompressor = Decompressor::new(recording.compress.unwrap());
        for file in &recording.files {
            let items = compressed_tokens(&file.tokens);
            assert_eq!(received(&mut decompressor, &recording, file, &items), file.new, "{name}");
        }
    }
}

#[test]
fn our_own_replies_to_the_recorded_requests_are_understood_and_no_longer() {
    for name in COMPRESSED {
        let recording = Recording::open(name);
        let kind = recording.compress.unwrap();
        for treatment in [Treatment::Compress, Treatment::Store, Treatment::Probe] {
            let mut compressor = Compressor::new(kind, kind.level(None));
            let mut decompressor = Decompressor::new(kind);
            for file in &recording.files {
                let items = reply(&mut compressor, file, &recording, treatment);
                assert_eq!(
                    received(&mut decompressor, &recording, file, &items),
                    file.new,
                    "{name}"
                );
                let theirs = chunk_bytes(&compressed_tokens(&file.tokens));
                if treatment == Treatment::Compress {
                    let ours = chunk_bytes(&items);
                    assert!(ours <= theirs + theirs / 10 + 4, "{name}: {ours} > {theirs}");
                }
            }
        }
    }
}

fn received(
    decompressor: &mut Decompressor,
    recording: &Recording,
    file: &RecordedFile,
    items: &[Item],
) -> Vec<u8> {
    receive(decompressor, recording.protocol, items, &file.basis, &file.head).unwrap()
}

/// Searches and compresses as an engine would.
fn reply(
    compressor: &mut Compressor,
    file: &RecordedFile,
    recording: &Recording,
    treatment: Treatment,
) -> Vec<Item> {
    let index = index_of(file, placement(recording));
    let plan =
        Plan { basis: Some((&index, recording.strong)), ..Plan::whole(file.new.len() as u64) };
    let mut items = Vec::new();
    let mut content = file.new.as_slice();
    compressor.start_file(treatment);
    Searcher::new()
        .search(
            |buf| std::io::Read::read(&mut content, buf),
            &plan,
            FileSum::new(recording.sum, SEED),
            &mut |event: Event<'_>| {
                let mut chunk = |bytes: &[u8]| items.push(Item::Chunk(bytes.to_vec()));
                match event {
                    Event::Literal(bytes) => compressor.literal(bytes, &mut chunk)?,
                    Event::Match { block, data } => {
                        compressor.end_run(&mut chunk)?;
                        compressor.matched(data, recording.protocol);
                        items.push(Item::Block(block));
                    }
                }
                Ok::<(), delta::Error>(())
            },
        )
        .unwrap();
    let end = compressor.end_run(&mut |bytes: &[u8]| items.push(Item::Chunk(bytes.to_vec())));
    end.unwrap();
    items.push(Item::End);
    items
}

fn chunk_bytes(items: &[Item]) -> usize {
    let len = |item: &Item| match item {
        Item::Chunk(bytes) => bytes.len(),
        _ => 0,
    };
    items.iter().map(len).sum()
}

/// Writes steps as the recordings do.
fn names(steps: &[Step]) -> Vec<String> {
    let name = |step: &Step| match step {
        Step::Literal(bytes) => format!("lit {}", bytes.len()),
        Step::Match(block) => format!("blk {block}"),
    };
    steps.iter().map(name).collect()
}

/// Joins neighbouring literals, which the recorded sender cut.
fn joined(tokens: &[String]) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for token in tokens {
        let len = |token: &String| token.strip_prefix("lit ")?.parse::<usize>().ok();
        match joined.last_mut().map(|last| (len(last), last)) {
            Some((Some(before), last)) if len(token).is_some() => {
                *last = format!("lit {}", before + len(token).unwrap());
            }
            _ => joined.push(token.clone()),
        }
    }
    joined
}

#[test]
fn a_head_without_blocks_has_no_basis() {
    assert_eq!(Head::default().basis_len(), 0);
}
