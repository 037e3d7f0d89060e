//! `--fuzzy`: which file of the same directory is probably an older form of a new one
//! (docs/protocol/transfer.md, "Alternate dirs, fuzzy").

use std::io::Write;

use tree::{Dir, Kind, Listing, Stat};

use super::Generator;
use super::entry::Case;
use super::request::Wish;
use crate::board::BasisAt;

/// A distance of one: the weight of one character more or less.
const UNIT: u64 = 1 << 16;
/// Names that are further apart have nothing to do with each other.
const FARTHEST: u64 = 25 * UNIT;
/// How much more the suffix counts than the name.
const SUFFIX_WEIGHT: u64 = 10;
/// Suffixes that say nothing about the kind of a file.
const SAFE_SUFFIXES: [&[u8]; 3] = [b"bak", b"old", b"orig"];

/// Names with what is known of them.
type Files = Vec<(Box<[u8]>, Stat)>;

/// The regular files of the directory in hand, and of those that stand for it elsewhere, as they
/// were when the first new file of the directory was met.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    path: Box<[u8]>,
    /// By number of the alternative directory; the destination has none.
    folders: Vec<(Option<usize>, Files)>,
}

impl Candidates {
    fn of(&mut self, number: Option<usize>, path: &[u8], dir: &Dir) -> &[(Box<[u8]>, Stat)] {
        if *self.path != *path {
            *self = Self { path: path.into(), folders: Vec::new() };
        }
        let known = self.folders.iter().position(|(known, _)| *known == number);
        let at = known.unwrap_or_else(|| {
            self.folders.push((number, regular_files(dir)));
            self.folders.len() - 1
        });
        &self.folders[at].1
    }
}

fn regular_files(dir: &Dir) -> Files {
    let mut names = Listing::default();
    if dir.read_names(&mut names, 0).is_err() {
        return Vec::new();
    }
    let regular = names.iter().filter(|listed| listed.kind == Kind::Regular);
    let looked_at =
        regular.filter_map(|listed| Some((listed.name.into(), dir.stat(listed.name).ok()?)));
    looked_at.filter(|(_, stat)| stat.size > 0).collect()
}

impl<W: Write> Generator<'_, W> {
    /// Finds a similar file in the directory, with `-yy` also in the alternative ones.
    pub(super) fn find_fuzzy(&mut self, case: &Case<'_>, wish: &mut Wish) -> bool {
        let Some(dir) = &case.dir else { return false };
        if let Some(name) = self.most_similar(None, dir, case) {
            return take(wish, dir, &name, BasisAt::Fuzzy(name.clone()));
        }
        if self.rules.options.fuzzy < 2 {
            return false;
        }
        let (dir_path, _) = self.site.place(&case.entry.name);
        for (number, root) in self.site.alternatives.iter().enumerate() {
            let Some(there) = root.as_ref().and_then(|root| root.open_dir(dir_path).ok()) else {
                continue;
            };
            if let Some(found) = self.most_similar(Some(number), &there, case) {
                let at = BasisAt::AlternativeFuzzy(number, found.clone());
                return take(wish, &there, &found, at);
            }
        }
        false
    }

    fn most_similar(
        &mut self,
        number: Option<usize>,
        dir: &Dir,
        case: &Case<'_>,
    ) -> Option<Vec<u8>> {
        let keeps = self.keeps();
        let (dir_path, name) = self.site.place(&case.entry.name);
        let mut best: Option<(u64, &[u8])> = None;
        let candidates = self.candidates.of(number, dir_path, dir).iter();
        for (candidate, stat) in candidates.filter(|(candidate, _)| **candidate != *name) {
            if stat.size == case.entry.size && keeps.same_time(case.entry, stat) {
                return Some(candidate.to_vec());
            }
            let limit = best.map_or(FARTHEST, |(distance, _)| distance);
            if let Some(distance) = name_distance(name, candidate, limit) {
                best = Some((distance, candidate));
            }
        }
        best.map(|(_, name)| name.to_vec())
    }
}

fn take(wish: &mut Wish, dir: &Dir, name: &[u8], at: BasisAt) -> bool {
    let Ok(stat) = dir.stat(name) else { return false };
    wish.file = dir.open_file(name).ok();
    (wish.len, wish.basis) = (stat.size, at);
    wish.file.is_some()
}

/// Returns how far two names are apart, if not further than `limit`.
fn name_distance(a: &[u8], b: &[u8], limit: u64) -> Option<u64> {
    let names = distance(a, b, limit)?;
    let suffixes = distance(suffix(a), suffix(b), FARTHEST)? * SUFFIX_WEIGHT;
    (names + suffixes <= limit).then_some(names + suffixes)
}

/// Returns the edit distance in which a character weighs a little by its value.
fn distance(a: &[u8], b: &[u8], limit: u64) -> Option<u64> {
    if a.len().abs_diff(b.len()) as u64 * UNIT > limit {
        return None;
    }
    let mut row: Vec<u64> = std::iter::once(0)
        .chain(b.iter().scan(0, |sum, byte| {
            *sum += UNIT + u64::from(*byte);
            Some(*sum)
        }))
        .collect();
    for x in a {
        let mut diagonal = row[0];
        row[0] += UNIT + u64::from(*x);
        for (at, y) in b.iter().enumerate() {
            let change = if x == y { 0 } else { UNIT + u64::from(x.abs_diff(*y)) };
            let best = (diagonal + change)
                .min(row[at + 1] + UNIT + u64::from(*x))
                .min(row[at] + UNIT + u64::from(*y));
            diagonal = std::mem::replace(&mut row[at + 1], best);
        }
    }
    row.last().copied().filter(|distance| *distance <= limit)
}

/// Returns the suffix that says what kind of file it is.
fn suffix(name: &[u8]) -> &[u8] {
    let start = name.iter().position(|byte| *byte != b'.').unwrap_or(name.len());
    let mut rest = &name[start..];
    rest = rest.strip_suffix(b"~").unwrap_or(rest);
    let mut digits: &[u8] = b"";
    while let Some(dot) = rest.iter().rposition(|byte| *byte == b'.') {
        let found = &rest[dot + 1..];
        let is_number = found.iter().all(u8::is_ascii_digit);
        let is_backup = found.first() == Some(&b'~') && found[1..].iter().all(u8::is_ascii_digit);
        if !SAFE_SUFFIXES.contains(&found) && !is_backup {
            if !is_number {
                return found;
            }
            if digits.is_empty() {
                digits = found;
            }
        }
        rest = &rest[..dot];
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_that_say_nothing_are_passed_over() {
        let table: [(&[u8], &[u8]); 7] = [
            (b"a.tar.gz", b"gz"),
            (b"a.c.bak", b"c"),
            (b"a.c~", b"c"),
            (b".profile", b""),
            (b"log.txt.1", b"txt"),
            (b"log.1", b"1"),
            (b"plain", b""),
        ];
        for (name, expected) in table {
            assert_eq!(suffix(name), expected, "{}", name.escape_ascii());
        }
    }

    #[test]
    fn the_nearer_name_wins_and_strangers_are_refused() {
        let near = name_distance(b"report-2.txt", b"report-1.txt", FARTHEST);
        let far = name_distance(b"report-2.txt", b"report-10.txt", FARTHEST);
        assert!(near < far && near.is_some());
        assert_eq!(
            name_distance(b"a.txt", b"an-entirely-different-name-of-a-file.bin", FARTHEST),
            None
        );
        assert_eq!(distance(b"abc", b"abc", 0), Some(0));
    }
}
