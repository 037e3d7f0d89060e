//! Is the disk there on which a directory is to be?
//!
//! Two things tell of a disk that is not: `/etc/fstab` names a mount point above the directory at
//! which nothing is mounted, or the directory lay on a mounted disk the last time and does not now.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The mount point at which nothing is mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotMounted {
    /// Where the disk should be.
    pub point: PathBuf,
}

/// Mount points: those that are in use, and those that should be.
#[derive(Clone, Debug, Default)]
pub struct Mounts {
    mounted: Vec<PathBuf>,
    wanted: Vec<PathBuf>,
}

/// The file in the state directory: a directory and its mount point on each line, both quoted.
const FILE_NAME: &str = "mounts.json";

impl Mounts {
    /// Checks that the disk of a directory is mounted, as far as that can be told.
    ///
    /// # Errors
    ///
    /// Names the mount point.
    pub fn check(dir: &Path, state_dir: Option<&Path>) -> Result<(), NotMounted> {
        let Ok(dir) = dir.canonicalize() else { return Ok(()) };
        let mut mounts = Mounts::of_system();
        mounts.wanted.extend(
            remembered(state_dir)
                .into_iter()
                .find_map(|(known, point)| (known == dir).then_some(point)),
        );
        mounts.find_missing(&dir)
    }

    /// Remembers on which mounted disk a directory lies.
    pub fn remember(dir: &Path, state_dir: Option<&Path>) {
        let (Some(state_dir), Ok(dir)) = (state_dir, dir.canonicalize()) else { return };
        let point = Mounts::of_system().point_of(&dir);
        let mut known = remembered(Some(state_dir));
        if known.iter().any(|(path, old)| *path == dir && *old == point) {
            return;
        }
        known.retain(|(path, _)| *path != dir);
        known.push((dir, point));
        // Without it the next run knows less; that is no reason not to copy.
        if let Ok(text) = serde_json::to_vec(&known) {
            let new = state_dir.join(format!("{FILE_NAME}.new"));
            let _ = fs::create_dir_all(state_dir)
                .and_then(|()| fs::write(&new, text))
                .and_then(|()| fs::rename(&new, state_dir.join(FILE_NAME)));
        }
    }

    fn of_system() -> Mounts {
        let mounted = fs::read("/proc/self/mountinfo").unwrap_or_default();
        let wanted = fs::read("/etc/fstab").unwrap_or_default();
        Mounts { mounted: column(&mounted, 4), wanted: column(&wanted, 1) }
    }

    /// Finds a mount point at or above `dir` that is wanted and not mounted.
    fn find_missing(&self, dir: &Path) -> Result<(), NotMounted> {
        let missing = |point: &&PathBuf| dir.starts_with(point) && !self.mounted.contains(point);
        match self.wanted.iter().filter(|point| point.is_absolute()).find(missing) {
            Some(point) => Err(NotMounted { point: point.clone() }),
            None => Ok(()),
        }
    }

    fn point_of(&self, dir: &Path) -> PathBuf {
        let above = self.mounted.iter().filter(|point| dir.starts_with(point));
        let nearest = above.max_by_key(|point| point.components().count());
        nearest.cloned().unwrap_or_else(|| PathBuf::from("/"))
    }
}

fn remembered(state_dir: Option<&Path>) -> Vec<(PathBuf, PathBuf)> {
    let text = state_dir.and_then(|dir| fs::read(dir.join(FILE_NAME)).ok());
    text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

/// Takes the paths of one column, in which blanks and their like are written as `\040`.
fn column(text: &[u8], number: usize) -> Vec<PathBuf> {
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"#"));
    let fields = lines.filter_map(|line| {
        let words = line.split(|byte| matches!(byte, b' ' | b'\t'));
        words.filter(|word| !word.is_empty()).nth(number)
    });
    fields.map(|field| PathBuf::from(OsString::from_vec(unescaped(field)))).collect()
}

fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, tail)) = rest.split_first() {
        let code = tail.get(..3).filter(|_| *first == b'\\');
        let code = code.and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                plain.push(byte);
                rest = &tail[3..];
            }
            None => {
                plain.push(*first);
                rest = tail;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_of_fstab_that_is_not_mounted_is_told_and_every_other_is_not() {
        let fstab = b"# disks\nUUID=1 / ext4 defaults 0 1\n/dev/sdb1\t/mnt/my\\040disk ext4 noauto 0 0\n/dev/sdc1 none swap sw 0 0\n";
        let mountinfo = b"21 1 8:1 / / rw - ext4 /dev/sda1 rw\n";
        let mut mounts = Mounts { mounted: column(mountinfo, 4), wanted: column(fstab, 1) };
        let dir = Path::new("/mnt/my disk/backup");
        let point = PathBuf::from("/mnt/my disk");
        assert_eq!(mounts.find_missing(dir), Err(NotMounted { point: point.clone() }));
        assert_eq!(mounts.find_missing(Path::new("/mnt/my disks")), Ok(()));
        mounts.mounted.push(point.clone());
        assert_eq!(mounts.find_missing(dir), Ok(()));
        assert_eq!(mounts.point_of(dir), point);
    }

    #[test]
    fn a_directory_that_has_lain_on_a_mounted_disk_is_missed_there() {
        let state = tempfile::tempdir().unwrap();
        let dir = tempfile::tempdir().unwrap();
        Mounts::remember(dir.path(), Some(state.path()));
        assert_eq!(Mounts::check(dir.path(), Some(state.path())), Ok(()));
        let path = dir.path().canonicalize().unwrap();
        let known = vec![(path.clone(), path.clone())];
        fs::write(state.path().join(FILE_NAME), serde_json::to_vec(&known).unwrap()).unwrap();
        let missing = Mounts::check(dir.path(), Some(state.path()));
        assert_eq!(missing, Err(NotMounted { point: path }));
    }
}
