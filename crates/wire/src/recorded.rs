//! Are recorded transfers of a real rsync read to their last byte, and written back the same?

use std::io::Read;

use serde_json::Value;

use crate::item::{Incoming, Reply, ReplyDecoder, Request, RequestDecoder, put_item_head};
use crate::mux::{Framing, MuxReader, MuxWriter};
use crate::ndx::NdxEncoder;
use crate::sums::{SumHead, put_block_sum, read_block_sum};
use crate::testing::{Trickle, hex};
use crate::token::{Token, TokenDecoder, TokenEncoder};

const VECTORS: [&str; 10] = [
    "01-new-p32",
    "03-delta-p29-zlib",
    "04-delta-p30-md5-seed-last",
    "05-delta-p31-md5-seed-first",
    "06-zlib-bigblock-p30",
    "07-zlib-bigblock-p32",
    "08-zlibx-runs-p32",
    "09-zstd-multi-p32",
    "10-lz4-multi-p32",
    "12-inplace-p32",
];

struct Session {
    protocol: u32,
    files: Vec<Value>,
}

fn load(name: &str) -> Session {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors");
    let text = std::fs::read(format!("{folder}/transfer-{name}.json")).unwrap();
    let json: Value = serde_json::from_slice(&text).unwrap();
    let protocol = json["protocol"].as_u64().unwrap() as u32;
    Session { protocol, files: json["files"].as_array().unwrap().clone() }
}

fn bytes(file: &Value, key: &str) -> Vec<u8> {
    hex(file[key].as_str().unwrap())
}

fn words<'a>(file: &'a Value, key: &str) -> Vec<(&'a str, u32)> {
    let items = file[key].as_array().unwrap().iter().map(|item| item.as_str().unwrap());
    items
        .map(|item| item.split_once(' ').unwrap_or((item, "0")))
        .map(|(word, number)| (word, number.parse().unwrap()))
        .collect()
}

fn blocks(file: &Value) -> impl Iterator<Item = u32> {
    words(file, "tokens_decoded").into_iter().filter(|(word, _)| *word == "blk").map(|(_, n)| n)
}

/// Reads one request with its sums; returns it, its head, and how many sums there were.
fn read_request(
    decoder: &mut RequestDecoder,
    protocol: u32,
    sums: bool,
    mut input: impl Read,
) -> (Request, SumHead, Vec<u8>) {
    let Incoming::Item(request) = decoder.read(&mut input).unwrap() else { panic!("no item") };
    let head = SumHead::read(&mut input, protocol).unwrap();
    let mut records = Vec::new();
    for _ in 0..if sums { head.count } else { 0 } {
        let mut strong = [0; 16];
        let strong_len = head.strong_len as usize;
        let weak = read_block_sum(&mut input, strong_len, &mut strong).unwrap();
        put_block_sum(&mut records, weak, &strong[..strong_len]);
    }
    assert_eq!(input.read(&mut [0]).unwrap_or(0), 0, "nothing is left of the request");
    (request, head, records)
}

fn check_numbers(file: &Value, request: &Request, head: SumHead) {
    assert_eq!(u64::from(request.ndx as u32), file["index"].as_u64().unwrap());
    assert_eq!(format!("{:#06x}", request.iflags), file["iflags"].as_str().unwrap());
    let number = |key: &str| file["sum_head"][key].as_u64().unwrap() as u32;
    let recorded = SumHead {
        count: number("count"),
        block_len: number("blength"),
        strong_len: number("s2length"),
        remainder: number("remainder"),
    };
    assert_eq!(head, recorded);
}

#[test]
fn recorded_requests_are_read_whole_and_written_back() {
    for name in VECTORS.into_iter().chain(["11-append-verify-p32"]) {
        let session = load(name);
        let mut decoder = RequestDecoder::new(session.protocol);
        let mut ndx = NdxEncoder::new(session.protocol);
        for file in &session.files {
            let recorded = bytes(file, "generator_to_sender");
            let sums = !name.starts_with("11-append");
            let input = Trickle::new(&recorded, 3);
            let (request, head, records) =
                read_request(&mut decoder, session.protocol, sums, input);
            check_numbers(file, &request, head);
            let mut out = Vec::new();
            put_item_head(&mut out, &mut ndx, &request).unwrap();
            head.put(&mut out);
            out.extend(records);
            assert_eq!(out, recorded, "{name}");
        }
    }
}

/// Writes a reply's tokens; literals and compressed chunks are taken from the recording.
fn put_tokens(out: &mut Vec<u8>, tokens: &mut TokenEncoder, file: &Value, recorded: &[u8]) {
    let mut next_block = blocks(file);
    let compressed = file.get("compressed_items").is_some();
    let key = if compressed { "compressed_items" } else { "tokens_decoded" };
    for (word, number) in words(file, key) {
        let matched = match word {
            "D" | "lit" => 0,
            "R" | "L" | "blk" => 1,
            // "RR" and "LR" begin a run; the item that follows has its length.
            "run" => number + 1,
            _ => continue,
        };
        for block in next_block.by_ref().take(matched as usize) {
            tokens.matched(out, block);
        }
        let len = if matched == 0 {
            number as usize
        } else {
            continue;
        };
        if compressed {
            tokens.chunk_header(out, len);
        } else {
            tokens.literal_plain(out, &recorded[out.len() + 4..][..len]);
        }
        let start = out.len();
        out.extend_from_slice(&recorded[start..start + len]);
    }
    assert_eq!(next_block.next(), None);
    tokens.end(out);
}

#[test]
fn recorded_replies_are_written_byte_for_byte() {
    for name in VECTORS.into_iter().chain(["11-append-verify-p32"]) {
        let session = load(name);
        let compressed = session.files[0].get("compressed_items").is_some();
        let mut tokens = match compressed {
            true => TokenEncoder::compressed(),
            false => TokenEncoder::plain(),
        };
        let mut decoder = RequestDecoder::new(session.protocol);
        let mut ndx = NdxEncoder::new(session.protocol);
        for file in &session.files {
            let recorded = bytes(file, "sender_to_receiver");
            let asked = bytes(file, "generator_to_sender");
            let (request, head, _) =
                read_request(&mut decoder, session.protocol, !name.starts_with("11"), &asked[..]);
            let mut out = Vec::new();
            put_item_head(&mut out, &mut ndx, &request).unwrap();
            head.put(&mut out);
            put_tokens(&mut out, &mut tokens, file, &recorded);
            out.extend(bytes(file, "file_sum"));
            assert_eq!(out, recorded, "{name}");
        }
    }
}

/// Names the tokens of a reply as the recordings do, and reads what follows them.
fn token_names(tokens: &mut TokenDecoder, mut input: &mut dyn Read) -> Vec<String> {
    let mut names = Vec::new();
    tokens.start_file();
    loop {
        let len = match tokens.read(input).unwrap() {
            Token::End => return names,
            Token::Blocks { first, count } => {
                names.extend((first..first + count).map(|block| format!("blk {block}")));
                continue;
            }
            Token::Literal { len } => {
                names.push(format!("lit {len}"));
                len.into()
            }
            Token::Chunk { len } => len.into(),
        };
        let copied = std::io::copy(&mut Read::take(&mut input, len), &mut std::io::sink());
        assert_eq!(copied.unwrap(), len);
    }
}

#[test]
fn recorded_replies_are_read_to_the_last_byte() {
    for name in VECTORS.into_iter().chain(["11-append-verify-p32"]) {
        let session = load(name);
        let compressed = session.files[0].get("compressed_items").is_some();
        let mut tokens = match compressed {
            true => TokenDecoder::compressed(),
            false => TokenDecoder::plain(),
        };
        let mut decoder = ReplyDecoder::new(session.protocol, false);
        for file in &session.files {
            let recorded = bytes(file, "sender_to_receiver");
            let mut input = Trickle::new(&recorded, 3);
            let Reply::Item(head) = decoder.read(&mut input).unwrap() else { panic!("{name}") };
            check_numbers(file, &head, SumHead::read(&mut input, session.protocol).unwrap());
            let names = token_names(&mut tokens, &mut input);
            let expected = file["tokens_decoded"].as_array().unwrap().iter();
            let expected = expected.map(|token| token.as_str().unwrap());
            let expected = expected.filter(|token| !compressed || token.starts_with("blk"));
            assert_eq!(names, expected.collect::<Vec<_>>(), "{name}");
            let mut sum = Vec::new();
            input.read_to_end(&mut sum).unwrap();
            assert_eq!(sum, bytes(file, "file_sum"), "{name}");
        }
    }
}

#[test]
fn a_recorded_request_cut_at_any_byte_is_an_error_and_never_a_panic() {
    let session = load("12-inplace-p32");
    let recorded = bytes(&session.files[0], "generator_to_sender");
    let mut framed = MuxWriter::new(Vec::new(), Framing::Framed);
    recorded.chunks(7).for_each(|part| {
        framed.data(part).unwrap();
        framed.flush().unwrap();
    });
    let framed = framed.into_inner();
    for end in 0..framed.len() {
        let mut input = MuxReader::new(&framed[..end], Framing::Framed, Box::new(|_| Ok(())));
        let mut decoder = RequestDecoder::new(32);
        let result = decoder.read(&mut input).and_then(|_| {
            let head = SumHead::read(&mut input, 32)?;
            for _ in 0..head.count {
                read_block_sum(&mut input, head.strong_len as usize, &mut [0; 16])?;
            }
            Ok(())
        });
        assert!(result.is_err(), "cut at {end}");
    }
}
