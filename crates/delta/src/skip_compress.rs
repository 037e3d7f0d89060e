//! Which names say that their content is compressed already?
//!
//! The syntax is that of rsync's `--skip-compress`: suffixes without dots, separated by slashes,
//! in any case, where `[abc]` stands for one of these letters (docs/protocol/transfer.md, per-file
//! skip).

use crate::codec::Treatment;

/// The suffixes that are left uncompressed without being told, in the same syntax.
pub const DEFAULT_SUFFIXES: &str = "3g2/3gp/7z/aac/ace/apk/avi/bz2/deb/dmg/ear/f4v/flac/flv/gpg/gz\
/iso/jar/jpeg/jpg/lrz/lz/lz4/lzma/lzo/m1a/m1v/m2a/m2ts/m2v/m4a/m4b/m4p/m4r/m4v/mka/mkv/mov/mp1\
/mp2/mp3/mp4/mpa/mpeg/mpg/mpv/mts/odb/odf/odg/odi/odm/odp/ods/odt/oga/ogg/ogm/ogv/ogx/opus/otg\
/oth/otp/ots/ott/oxt/png/qt/rar/rpm/rz/rzip/spx/squashfs/sxc/sxd/sxg/sxm/sxw/sz/tbz/tbz2/tgz\
/tlz/ts/txz/tzo/vob/war/webm/webp/xz/z/zip/zst";

/// A list of suffixes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkipList {
    suffixes: Vec<Vec<Letter>>,
}

/// One place of a suffix.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Letter {
    One(u8),
    AnyOf(Vec<u8>),
}

impl Default for SkipList {
    fn default() -> Self {
        Self::parse(DEFAULT_SUFFIXES.as_bytes())
    }
}

impl SkipList {
    /// Reads a list; the empty list skips nothing.
    ///
    /// Every text is a list: what is no class in brackets stands for itself.
    pub fn parse(list: &[u8]) -> Self {
        let suffixes = list
            .split(|&byte| byte == b'/')
            .filter(|suffix| !suffix.is_empty())
            .map(letters)
            .collect();
        Self { suffixes }
    }

    /// Tells whether a name, with or without its directories, ends in a listed suffix.
    pub fn matches(&self, name: &[u8]) -> bool {
        let Some(suffix) = suffix(name) else {
            return false;
        };
        self.suffixes.iter().any(|listed| fits(listed, suffix))
    }

    /// Returns what to do with a file of this name; content decides on the unlisted ones.
    pub fn treatment(&self, name: &[u8]) -> Treatment {
        match self.matches(name) {
            true => Treatment::Store,
            false => Treatment::Probe,
        }
    }
}

/// Returns what follows the last dot of the base name, unless the name begins with it.
fn suffix(name: &[u8]) -> Option<&[u8]> {
    let base = name.rsplit(|&byte| byte == b'/').next()?;
    let dot = base.iter().rposition(|&byte| byte == b'.')?;
    (dot > 0).then(|| &base[dot + 1..])
}

fn letters(text: &[u8]) -> Vec<Letter> {
    let mut letters = Vec::new();
    let mut rest = text;
    while let Some((&first, later)) = rest.split_first() {
        if let Some((class, after)) = class(rest) {
            letters.push(Letter::AnyOf(class.to_ascii_lowercase()));
            rest = after;
        } else {
            letters.push(Letter::One(first.to_ascii_lowercase()));
            rest = later;
        }
    }
    letters
}

/// Splits off a bracketed class that is closed and not empty.
fn class(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = text.strip_prefix(b"[")?;
    let close = inner.iter().position(|&byte| byte == b']')?;
    (close > 0).then(|| (&inner[..close], &inner[close + 1..]))
}

fn fits(listed: &[Letter], suffix: &[u8]) -> bool {
    listed.len() == suffix.len()
        && listed.iter().zip(suffix).all(|(letter, byte)| {
            let byte = byte.to_ascii_lowercase();
            match letter {
                Letter::One(one) => *one == byte,
                Letter::AnyOf(class) => class.contains(&byte),
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suffix_is_what_follows_the_last_dot_of_the_base_name() {
        let list = SkipList::default();
        for name in ["a.gz", "dir.d/A.JPG", "a.tar.zst", "x.Mp4", ".hidden.7z"] {
            assert!(list.matches(name.as_bytes()), "{name}");
        }
        for name in ["a", "gz", ".gz", "dir/.zip", "dir.gz/file", "a.gzz", "a.g", "a.", ""] {
            assert!(!list.matches(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn brackets_are_a_class_only_when_closed_and_not_empty() {
        let list = SkipList::parse(b"mp[34]/r[0a/x[]y/[Zz]*");
        for name in ["a.mp3", "a.MP4", "a.r[0a", "a.x[]y", "a.z*", "a.Z*"] {
            assert!(list.matches(name.as_bytes()), "{name}");
        }
        for name in ["a.mp", "a.mp5", "a.mp[34]", "a.r0", "a.xy", "a.zz"] {
            assert!(!list.matches(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn the_empty_list_skips_nothing() {
        assert_eq!(SkipList::parse(b"").treatment(b"a.gz"), Treatment::Probe);
        assert_eq!(SkipList::default().treatment(b"a.gz"), Treatment::Store);
    }
}
