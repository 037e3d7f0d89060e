//! What sizes do the files of the sources have? A look that costs next to nothing.
//!
//! The block length is one number for a session and must be said before the first file is
//! listed. So a bounded part of the sources is looked at first; small sources are seen whole.

use delta::block_choice::{SPLIT_SIZE, Sizes};
use tree::{Dir, Kind, Listing, Root};

use crate::sources::Sources;

/// Names that are looked at.
const MAX_NAMES: usize = 3_000;

/// What a look has shown.
#[derive(Clone, Debug, Default)]
pub struct QuickLook {
    /// The sizes of the regular files seen.
    pub sizes: Sizes,
    /// Whether everything was seen.
    pub complete: bool,
    /// Large files that were modified since the given time.
    pub changed_large: u64,
}

impl QuickLook {
    /// Looks at the sources; `since` is a time in seconds, for instance of the last run.
    pub fn at(sources: &Sources, since: Option<i64>) -> Self {
        let mut look = Self { complete: true, ..Self::default() };
        let mut left = MAX_NAMES;
        for source in sources.given() {
            let root = &sources.roots()[usize::from(source.root)];
            match source.stat.kind() {
                Kind::Dir => look.walk(root, source.name.clone(), &mut left, since),
                _ => look.note(&source.stat, since),
            }
        }
        look
    }

    fn walk(&mut self, root: &Root, path: Vec<u8>, left: &mut usize, since: Option<i64>) {
        let mut pending = vec![path];
        while let Some(path) = pending.pop() {
            // What cannot be read is reported by the scan.
            let Ok(dir) = root.open_dir(&path) else {
                continue;
            };
            let mut listing = Listing::default();
            if dir.read_names(&mut listing, 0).is_err() {
                continue;
            }
            for listed in listing.iter() {
                if *left == 0 {
                    self.complete = false;
                    return;
                }
                *left -= 1;
                match listed.kind {
                    Kind::Dir => pending.push(below(&path, listed.name)),
                    Kind::Regular => self.look_at(&dir, listed.name, since),
                    _ => {}
                }
            }
        }
    }

    fn look_at(&mut self, dir: &Dir, name: &[u8], since: Option<i64>) {
        if let Ok(stat) = dir.stat(name) {
            self.note(&stat, since);
        }
    }

    fn note(&mut self, stat: &tree::Stat, since: Option<i64>) {
        if stat.kind() != Kind::Regular {
            return;
        }
        self.sizes.add(stat.size);
        let is_changed = since.is_some_and(|since| stat.mtime >= since);
        self.changed_large += u64::from(is_changed && stat.size >= SPLIT_SIZE);
    }
}

fn below(path: &[u8], name: &[u8]) -> Vec<u8> {
    match path {
        b"." => name.to_vec(),
        _ => crate::list::join(path, name),
    }
}
