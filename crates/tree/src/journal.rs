//! Which directories may hold temporary files of a session that was killed.
//!
//! Each session has a file `STATE/journal/KEY.SUFFIX`: the key stands for the destination, the suffix
//! is the one of its temporary names, and the content is the directories it staged files in, each
//! with a NUL behind it. The file is locked while the session lives, so one whose lock is free
//! belongs to the dead. The suffix is random, so no file of a user is taken for a leftover.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::rand::{GetRandomFlags, getrandom};

use crate::{Error, Kind, Listing, Result, Root};

/// So many directories are remembered, so that one is not written down again and again.
const REMEMBERED: usize = 1024;

const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// What a session writes down of its temporary files. Its file goes when it is dropped.
#[derive(Debug)]
pub struct Journal {
    suffix: [u8; 6],
    place: Option<Place>,
}

#[derive(Debug)]
struct Place {
    path: PathBuf,
    file: File,
    noted: Mutex<HashSet<Vec<u8>>>,
}

impl Journal {
    /// Begins a session's journal below `state_dir`, and returns what dead sessions left of theirs.
    pub fn open(state_dir: &Path, root: &Root) -> io::Result<(Self, Vec<Leftover>)> {
        let folder = state_dir.join("journal");
        fs::create_dir_all(&folder)?;
        let key = key_of(root)?;
        // Nobody looks for the dead while another is between creating and locking his file.
        let gate = File::open(&folder)?;
        gate.lock()?;
        let leftovers = find_leftovers(&folder, &key)?;
        loop {
            let suffix = random_suffix()?;
            let path = folder.join(format!("{key}.{}", String::from_utf8_lossy(&suffix)));
            match OpenOptions::new().append(true).create_new(true).open(&path) {
                Ok(file) => {
                    file.lock()?;
                    let place = Place { path, file, noted: Mutex::default() };
                    return Ok((Self { suffix, place: Some(place) }, leftovers));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Only chooses a suffix; what a killed session leaves then stays.
    pub fn without_file() -> io::Result<Self> {
        Ok(Self { suffix: random_suffix()?, place: None })
    }

    /// Returns the suffix of this session's temporary names.
    pub fn suffix(&self) -> &[u8; 6] {
        &self.suffix
    }

    /// Writes down that files will be staged in the directory `rel`.
    pub fn note_dir(&self, rel: &[u8]) -> io::Result<()> {
        let Some(place) = &self.place else { return Ok(()) };
        let mut noted = place.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.contains(rel) {
            return Ok(());
        }
        (&place.file).write_all(&[rel, b"\0"].concat())?;
        if noted.len() >= REMEMBERED {
            noted.clear();
        }
        noted.insert(rel.to_vec());
        Ok(())
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if let Some(place) = &self.place {
            // One that stays is empty of meaning: the next session finds no file of it.
            let _ = fs::remove_file(&place.path);
        }
    }
}

/// What a dead session wrote down.
#[derive(Debug)]
pub struct Leftover {
    path: PathBuf,
    /// Holds the lock, so that nobody else cleans up at the same time.
    file: File,
    suffix: Vec<u8>,
}

impl Leftover {
    /// Removes the temporary files that the session left below `root`, then its journal, and returns
    /// how many files there were.
    pub fn clean(self, root: &Root) -> Result<usize> {
        let failed = |error| Error::new("read", self.path.clone(), error);
        let mut removed = 0;
        for rel in BufReader::new(&self.file).split(0) {
            removed += self.clean_dir(root, &rel.map_err(failed)?)?;
        }
        fs::remove_file(&self.path)
            .map_err(|error| Error::new("remove", self.path.clone(), error))?;
        Ok(removed)
    }

    fn clean_dir(&self, root: &Root, rel: &[u8]) -> Result<usize> {
        // A directory that went, or became something else, holds nothing of ours.
        let Ok(dir) = root.open_dir(rel) else { return Ok(0) };
        let mut listing = Listing::default();
        dir.read_names(&mut listing, 0)?;
        listing.retain(|entry| entry.kind == Kind::Regular && self.is_ours(entry.name));
        for entry in listing.iter() {
            dir.remove_file(entry.name)?;
        }
        Ok(listing.len())
    }

    fn is_ours(&self, name: &[u8]) -> bool {
        let stem =
            name.strip_suffix(self.suffix.as_slice()).and_then(|stem| stem.strip_suffix(b"."));
        stem.is_some_and(|stem| !stem.is_empty())
    }
}

fn find_leftovers(folder: &Path, key: &str) -> io::Result<Vec<Leftover>> {
    let mut leftovers = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let suffix = name.as_bytes().strip_prefix(key.as_bytes());
        let Some(suffix) = suffix.and_then(|rest| rest.strip_prefix(b".")) else { continue };
        let path = folder.join(&name);
        // Another session may have ended since the name was read.
        let Ok(file) = File::open(&path) else { continue };
        match file.try_lock() {
            Ok(()) => leftovers.push(Leftover { path, file, suffix: suffix.to_vec() }),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(leftovers)
}

/// Names a destination. A device number is no part of it, since some change when the host restarts.
fn key_of(root: &Root) -> io::Result<String> {
    let path = fs::canonicalize(root.path())?;
    let inode = rustix::fs::fstat(root)?.st_ino;
    // FNV-1a; it need not withstand anybody.
    let hash = path.as_os_str().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Ok(format!("{hash:016x}-{inode:x}"))
}

fn random_suffix() -> io::Result<[u8; 6]> {
    let mut random = [0; 8];
    // So few bytes come whole.
    getrandom(&mut random, GetRandomFlags::empty())?;
    let mut number = u64::from_le_bytes(random);
    Ok(std::array::from_fn(|_| {
        let letter = LETTERS[(number % 62) as usize];
        number /= 62;
        letter
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temp_name;

    #[test]
    fn what_a_dead_session_left_goes_and_nothing_else_does() {
        let temp = tempfile::tempdir().unwrap();
        let (state, inside) = (temp.path().join("state"), temp.path().join("in"));
        fs::create_dir_all(inside.join("a/b")).unwrap();
        let root = Root::open(&inside).unwrap();
        let (killed, leftovers) = Journal::open(&state, &root).unwrap();
        assert!(leftovers.is_empty());
        let suffix = *killed.suffix();
        for rel in [&b"a/b"[..], b".", b"gone", b"a/b"] {
            killed.note_dir(rel).unwrap();
        }
        let root_dir = root.open_dir(b".").unwrap();
        let deep_dir = root.open_dir(b"a/b").unwrap();
        for dir in [&root_dir, &deep_dir] {
            dir.stage(temp_name(b"file", &suffix, true), 0o600).unwrap().keep();
            dir.stage(temp_name(b"file", b"user01", true), 0o600).unwrap().keep();
        }
        root_dir.make_dir(&temp_name(b"dir", &suffix, true), 0o700).unwrap();
        root.open_dir(b"a").unwrap().create(&temp_name(b"x", &suffix, true), 0o600).unwrap();

        let (living, leftovers) = Journal::open(&state, &root).unwrap();
        assert!(leftovers.is_empty(), "the first session still lives");
        assert!(living.suffix() != &suffix);
        // A killed process closes its files and drops nothing.
        drop(killed.place_of_the_dead());

        let (_, leftovers) = Journal::open(&state, &root).unwrap();
        let [leftover] = <[Leftover; 1]>::try_from(leftovers).unwrap();
        assert_eq!(leftover.clean(&root).unwrap(), 2);
        assert!(root_dir.stat(b".file.user01").is_ok());
        assert_eq!(fs::read_dir(state.join("journal")).unwrap().count(), 1, "the living one's");
        assert!(Journal::without_file().unwrap().note_dir(b"a").is_ok());
    }

    impl Journal {
        fn place_of_the_dead(mut self) -> Place {
            self.place.take().unwrap()
        }
    }
}
