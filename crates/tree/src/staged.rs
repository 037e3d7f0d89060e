//! How a new file stays out of sight until it is complete.

use std::fs::File;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::changes::single;
use crate::{Attributes, Dir, Error, Result, Stat};

/// The longest name that Linux file systems take.
const NAME_MAX: usize = 255;

/// A dot and six characters.
const SUFFIX_LEN: usize = 7;

/// How many other names are tried when the temporary one is taken.
const OTHER_NAMES: usize = 100;

/// Returns the temporary name of `name` (sheet 3, 6.2): `.name.suffix`, or without the dot in front
/// in a directory for temporary files.
pub fn temp_name(name: &[u8], suffix: &[u8; 6], dotted: bool) -> Vec<u8> {
    let mut temp = Vec::with_capacity(name.len() + 1 + SUFFIX_LEN);
    if dotted && !name.starts_with(b".") {
        temp.push(b'.');
    }
    temp.extend_from_slice(cut(name, NAME_MAX - SUFFIX_LEN - temp.len()));
    temp.push(b'.');
    temp.extend_from_slice(suffix);
    temp
}

/// Cuts `name` to `room` bytes, not inside a character, and without a dot at the end.
fn cut(name: &[u8], room: usize) -> &[u8] {
    if name.len() <= room {
        return name;
    }
    let inside_character = |at: &usize| name[*at] & 0xc0 == 0x80;
    let end = (room.saturating_sub(3)..=room).rev().find(|at| !inside_character(at));
    let kept = &name[..end.unwrap_or(room)];
    kept.strip_suffix(b".").unwrap_or(kept)
}

/// A file under a temporary name, which is removed when this is dropped before
/// [`Staged::commit`] or [`Staged::keep`].
#[derive(Debug)]
pub struct Staged<'a> {
    /// The file, open for reading and writing.
    pub file: File,
    dir: &'a Dir,
    temp: Vec<u8>,
    now: Stat,
    kept: bool,
}

impl Staged<'_> {
    /// Returns the directory that the file is made in.
    pub fn dir(&self) -> &Dir {
        self.dir
    }
}

impl Dir {
    /// Creates a file under the temporary name `temp`. When that is taken, a number is put before
    /// its suffix.
    ///
    /// What the first file gets from the directory is expected of the next, so the directory has
    /// its own attributes by then. For a directory of temporary files outside the destination,
    /// open it as a root of its own, and a journal for it.
    pub fn stage(&self, temp: Vec<u8>, mode: u32) -> Result<Staged<'_>> {
        let mut taken = match self.stage_as(temp.clone(), mode) {
            Err(error) if is_taken(&error) => error,
            other => return other,
        };
        for number in 0..OTHER_NAMES {
            match self.stage_as(numbered(&temp, number), mode) {
                Err(error) if is_taken(&error) => taken = error,
                other => return other,
            }
        }
        Err(taken)
    }

    fn stage_as(&self, temp: Vec<u8>, mode: u32) -> Result<Staged<'_>> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = single(&temp)
            .and_then(|()| {
                rustix::fs::openat(self.fd(), &temp, flags, Mode::from_raw_mode(mode & 0o7777))
            })
            .map(File::from)
            .map_err(|errno| self.failed("create", &temp, errno))?;
        let now = self.newborn(&file, mode)?;
        Ok(Staged { file, dir: self, temp, now, kept: false })
    }
}

impl Staged<'_> {
    /// Returns the name that the file has for now.
    pub fn temp_name(&self) -> &[u8] {
        &self.temp
    }

    /// Gives the file its attributes; [`Attributes::now`] and [`Attributes::is_new`] are filled in.
    pub fn apply(&self, set: &Attributes<'_>) -> Vec<Error> {
        let set = Attributes { now: Some(self.now), is_new: true, ..*set };
        self.dir.apply(&self.temp, Some(&self.file), &set)
    }

    /// Renames the file to `name` in `to`. When that fails the file stays staged, so that a
    /// caller whose directories lie on two file systems can copy it.
    pub fn commit(&mut self, to: &Dir, name: &[u8]) -> Result<()> {
        self.dir.rename(&self.temp, to, name)?;
        self.kept = true;
        Ok(())
    }

    /// Leaves the file under its temporary name, and returns that.
    pub fn keep(mut self) -> Vec<u8> {
        self.kept = true;
        std::mem::take(&mut self.temp)
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if !self.kept {
            // Nobody is left to tell of a failure; the journal knows of the directory.
            let _ = self.dir.remove_file(&self.temp);
        }
    }
}

fn is_taken(error: &Error) -> bool {
    error.reason().raw_os_error() == Some(Errno::EXIST.raw_os_error())
}

fn numbered(temp: &[u8], number: usize) -> Vec<u8> {
    let (stem, suffix) = temp.split_at(temp.len().saturating_sub(SUFFIX_LEN));
    let number = number.to_string();
    let mut other = cut(stem, NAME_MAX - SUFFIX_LEN - number.len()).to_vec();
    other.extend_from_slice(number.as_bytes());
    other.extend_from_slice(suffix);
    other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_fit_and_keep_characters_whole() {
        assert_eq!(temp_name(b"file", b"abc123", true), b".file.abc123");
        assert_eq!(temp_name(b".file", b"abc123", true), b".file.abc123");
        assert_eq!(temp_name(b"file", b"abc123", false), b"file.abc123");
        let long = [b"x".repeat(246), "\u{fc}".repeat(4).into_bytes()].concat();
        assert_eq!(temp_name(&long, b"abc123", true).len(), 254);
        let dot_at_cut = [b"x".repeat(246), b"....".to_vec()].concat();
        assert_eq!(temp_name(&dot_at_cut, b"abc123", true).len(), 254);
        assert_eq!(temp_name(&[b'x'; 255], b"abc123", false).len(), 255);
        assert_eq!(temp_name(&[0x80; 255], b"abc123", false).len(), 255);
    }
}
