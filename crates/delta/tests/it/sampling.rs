//! Is compressed content told from other content?

use std::io::Write;

use delta::looks_incompressible;
use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::recording::lcg;

/// The program that runs this test: code, strings, tables.
fn program() -> Vec<u8> {
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    program[..program.len().min(4 << 20)].to_vec()
}

fn source_text() -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let mut text = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            text.extend(std::fs::read(path).unwrap());
        }
    }
    text
}

fn deflated(data: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn compressed_and_random_bytes_look_incompressible() {
    let archive = deflated(&program());
    let mut frame = vec![0; zstd::zstd_safe::compress_bound(program().len())];
    let len = zstd::zstd_safe::compress(frame.as_mut_slice(), &program(), 3).unwrap();
    frame.truncate(len);
    for whole in [archive, frame, lcg(1, 1 << 20)] {
        for len in [1024, 4096, 20_000, 200_000] {
            let middle = &whole[whole.len() / 2..][..len];
            assert!(looks_incompressible(middle), "{len}");
        }
    }
}

#[test]
fn picture_like_data_with_a_plain_head_looks_incompressible() {
    // Entropy-coded data as in JPEG: a zero follows every 0xff, markers return regularly.
    let mut picture = b"EXIF header ".repeat(60);
    for (place, byte) in lcg(1, 200_000).into_iter().enumerate() {
        picture.push(byte);
        if byte == 0xff {
            picture.push(0);
        }
        if place % 1000 == 0 {
            picture.extend([0xff, 0xd0 + (place / 1000 % 8) as u8]);
        }
    }
    assert!(looks_incompressible(&picture));
}

#[test]
fn text_programs_and_sparse_data_look_compressible() {
    let text = source_text();
    let base64: Vec<u8> = lcg(1, 100_000).iter().map(|byte| b'0' + byte % 64).collect();
    let mut sparse = vec![0; 256 << 10];
    sparse[..64 << 10].copy_from_slice(&lcg(1, 64 << 10));
    let repeated = lcg(1, 3000).repeat(50);
    for data in [&text, &base64, &sparse, &repeated, &vec![0; 1 << 18]] {
        assert!(!looks_incompressible(data));
    }
    let pieces = program();
    let pieces: Vec<&[u8]> = pieces.chunks_exact(256 << 10).collect();
    let wrong = pieces.iter().filter(|piece| looks_incompressible(piece)).count();
    assert_eq!(wrong, 0, "of {}", pieces.len());
}

#[test]
fn too_few_bytes_are_never_judged() {
    assert!(!looks_incompressible(&lcg(1, 1023)));
    assert!(!looks_incompressible(&[]));
}
