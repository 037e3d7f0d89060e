//! The checksums of `-c`: every file of a directory is read before the directory is listed.
//!
//! The scan shares the work with a few threads; they take the next file that nobody has, so one
//! long file does not hold the others up.

use std::fs::File;
use std::io::{self, Read};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use delta::{FileSum, SumKind};
use tree::{Dir, Kind, Listing};

use crate::look::Look;
use crate::scan::OpenDir;

/// Files below which one thread is quicker than starting another.
const MIN_SHARED_FILES: usize = 4;
/// Threads that read at the same time.
const MAX_THREADS: usize = 4;
/// Room for one read.
const READ_BYTES: usize = 128 << 10;

/// The checksums of one directory's regular files, by their place in its listing.
#[derive(Debug)]
pub(crate) struct Digests {
    digest_len: usize,
    bytes: Vec<u8>,
}

impl Digests {
    /// Reads all regular files of `listing`. One that cannot be read has an all-zero checksum,
    /// as rsync's senders give it; it is reported when its content is asked for.
    pub(crate) fn of(kind: SumKind, look: Look, listing: &Listing, dirs: &[OpenDir]) -> Self {
        let files: Vec<usize> = listing
            .iter()
            .enumerate()
            .filter(|(_, listed)| listed.kind == Kind::Regular)
            .map(|(index, _)| index)
            .collect();
        let next = AtomicUsize::new(0);
        let work = || take_files((kind, look), listing, dirs, &files, &next);
        let mut done = Vec::new();
        std::thread::scope(|scope| {
            let helpers = if files.len() < MIN_SHARED_FILES { 0 } else { helper_count() };
            let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(work)).collect();
            done.push(work());
            done.extend(helpers.into_iter().filter_map(|helper| helper.join().ok()));
        });
        let digest_len = kind.file_len();
        let mut bytes = vec![0; listing.len() * digest_len];
        for (index, digest) in done.into_iter().flatten() {
            bytes[index * digest_len..][..digest_len].copy_from_slice(&digest);
        }
        Self { digest_len, bytes }
    }

    /// Returns the checksum of the file at `index` of the listing.
    pub(crate) fn at(&self, index: usize) -> Option<&[u8]> {
        self.bytes.get(index * self.digest_len..(index + 1) * self.digest_len)
    }
}

fn helper_count() -> usize {
    std::thread::available_parallelism().map_or(0, |cores| cores.get().min(MAX_THREADS) - 1)
}

fn take_files(
    how: (SumKind, Look),
    listing: &Listing,
    dirs: &[OpenDir],
    files: &[usize],
    next: &AtomicUsize,
) -> Vec<(usize, Vec<u8>)> {
    let mut buffer = vec![0; READ_BYTES];
    let mut done = Vec::new();
    while let Some(&index) = files.get(next.fetch_add(1, Relaxed)) {
        let Some(listed) = listing.at(index) else {
            continue;
        };
        let dir = &dirs[usize::from(listed.place)].dir;
        if let Some(digest) = digest(how, dir, listed.name, &mut buffer) {
            done.push((index, digest));
        }
    }
    done
}

fn digest(
    (kind, look): (SumKind, Look),
    dir: &Dir,
    name: &[u8],
    buffer: &mut [u8],
) -> Option<Vec<u8>> {
    of_open_file(kind, look.open(dir, name).ok()?, buffer).ok()
}

/// Returns the checksum of one file.
pub(crate) fn of_file(kind: SumKind, dir: &Dir, name: &[u8]) -> tree::Result<Vec<u8>> {
    let file = dir.open_file(name)?;
    of_open_file(kind, file, &mut vec![0; READ_BYTES]).map_err(|source| tree::Error::Io {
        op: "read",
        path: dir.path_of(name),
        source,
    })
}

fn of_open_file(kind: SumKind, mut file: File, buffer: &mut [u8]) -> io::Result<Vec<u8>> {
    let mut sum = FileSum::new(kind, 0);
    loop {
        match file.read(buffer)? {
            0 => return Ok(sum.finish().as_bytes().to_vec()),
            filled => sum.update(&buffer[..filled]),
        }
    }
}
