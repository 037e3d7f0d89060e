//! How are the trees made, the same ones on every machine?

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

const MIB: usize = 1 << 20;

/// Writes `files` files of 1 to 8 KiB, 100 a folder.
pub(crate) fn small(root: &Path, files: usize) {
    let mut random = Random(1);
    for number in 0..files {
        let folder = folder_of(root, number, 100);
        let len = 1024 + random.below(7 * 1024);
        fs::write(folder.join(format!("file-{number}")), random.text(len)).unwrap();
    }
}

/// Writes `files` empty files, 1000 a folder.
pub(crate) fn empty(root: &Path, files: usize) {
    for number in 0..files {
        let folder = folder_of(root, number, 1000);
        File::create(folder.join(format!("empty-{number}"))).unwrap();
    }
}

/// Writes `files` files of 100 KiB to 2 MiB, of which every other one is text; no name tells which.
pub(crate) fn mixed(root: &Path, files: usize) {
    let mut random = Random(2);
    for number in 0..files {
        let folder = folder_of(root, number, 100);
        let len = 100 * 1024 + random.below(1948 * 1024);
        let content = if number % 2 == 0 { random.text(len) } else { random.bytes(len) };
        fs::write(folder.join(format!("file-{number}")), content).unwrap();
    }
}

/// Writes one file of random bytes.
pub(crate) fn large(path: &Path, bytes: u64) {
    let mut random = Random(3);
    let mut file = BufWriter::new(File::create(path).unwrap());
    for _ in 0..bytes / MIB as u64 {
        file.write_all(&random.bytes(MIB)).unwrap();
    }
    file.flush().unwrap();
}

/// Copies a file with an insertion near the start, and with 1 % of it replaced in pieces of 4 KiB.
pub(crate) fn edited(from: &Path, to: &Path) {
    let mut random = Random(4);
    let mut reader = BufReader::new(File::open(from).unwrap());
    let mut writer = BufWriter::new(File::create(to).unwrap());
    let mut piece = vec![0; MIB];
    let mut first = true;
    let mut owed = 0.0;
    while let Ok(()) = reader.read_exact(&mut piece) {
        owed += MIB as f64 / 100.0 / 4096.0;
        while owed >= 1.0 {
            let at = random.below(MIB - 4096);
            piece[at..at + 4096].copy_from_slice(&random.bytes(4096));
            owed -= 1.0;
        }
        if first {
            writer.write_all(&piece[..5000]).unwrap();
            writer.write_all(b"inserted near the start").unwrap();
            writer.write_all(&piece[5000..]).unwrap();
            first = false;
        } else {
            writer.write_all(&piece).unwrap();
        }
    }
    writer.flush().unwrap();
}

fn folder_of(root: &Path, number: usize, a_folder: usize) -> PathBuf {
    let folder = root.join(format!("folder-{}", number / a_folder));
    if number.is_multiple_of(a_folder) {
        fs::create_dir(&folder).unwrap();
    }
    folder
}

/// Returns the regular files below `root`.
pub(crate) fn regular_files(root: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = walkdir::WalkDir::new(root).into_iter().map(Result::unwrap);
    entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path)
}

/// A small generator (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> =
            (0..len.div_ceil(8)).flat_map(|_| self.next().to_le_bytes()).collect();
        bytes.truncate(len);
        bytes
    }

    fn text(&mut self, len: usize) -> Vec<u8> {
        const WORDS: [&str; 8] = [
            "the ",
            "backup ",
            "of ",
            "a night ",
            "is sent ",
            "to the ",
            "receiver ",
            "as blocks.\n",
        ];
        let mut text = Vec::with_capacity(len + 16);
        while text.len() < len {
            let number = self.next();
            text.extend_from_slice(WORDS[(number % 8) as usize].as_bytes());
            if number >> 61 == 0 {
                text.extend_from_slice(format!("{number:x} ").as_bytes());
            }
        }
        text.truncate(len);
        text
    }
}
