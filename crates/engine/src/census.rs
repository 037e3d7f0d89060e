//! How much is there to look at? A walk beside the transfer, for whoever draws a bar.
//!
//! The scan stays only a little ahead of the far side, so it knows the total too late for a bar
//! that tells the truth from the start.

use std::sync::atomic::Ordering::Relaxed;

use filter::{ActiveFilter, RuleList, Side, Verdict};
use tree::{Kind, Listing, Root};

use crate::attributes::read_merge_file;
use crate::list::join;
use crate::progress::Progress;
use crate::sources::{Source, Sources};

/// Counts all regular files that the filter keeps, until done or no longer wanted.
pub fn census(sources: &Sources, rules: &RuleList, one_file_system: bool, progress: &Progress) {
    for source in sources.given() {
        if source.stat.kind() == Kind::Regular {
            progress.census_bytes.fetch_add(source.stat.size, Relaxed);
        }
        if source.stat.kind() != Kind::Dir {
            continue;
        }
        let root = &sources.roots()[usize::from(source.root)];
        let device = one_file_system.then_some(source.stat.dev);
        let filter =
            ActiveFilter::new(rules, Side::Sender, &sources.bases()[usize::from(source.root)]);
        if !walk(root, source, device, filter, progress) {
            return;
        }
    }
    progress.census_done.store(true, Relaxed);
}

/// Counts one source; false when nobody wants to know any more.
fn walk(
    root: &Root,
    source: &Source,
    device: Option<u64>,
    mut filter: ActiveFilter,
    progress: &Progress,
) -> bool {
    let start = if source.name == b"." { Vec::new() } else { source.name.clone() };
    let mut pending = vec![(start, 0)];
    let mut entered = 0;
    while let Some((path, depth)) = pending.pop() {
        if progress.census_unwanted.load(Relaxed) {
            return false;
        }
        // What cannot be read is reported by the scan.
        let Ok(dir) = root.open_dir(&path) else {
            continue;
        };
        let mut listing = Listing::default();
        if dir.read_names(&mut listing, 0).is_err() {
            continue;
        }
        while entered > depth {
            filter.leave_dir();
            entered -= 1;
        }
        entered += 1;
        let mut read = |name: &[u8]| read_merge_file(&dir, name);
        if filter.enter_dir(&path, &mut read).is_err() {
            continue;
        }
        let mut bytes = 0;
        for listed in listing.iter() {
            let name = join(&path, listed.name);
            if filter.check(&name, listed.kind == Kind::Dir) != Verdict::Include {
                continue;
            }
            let Ok(stat) = dir.stat(listed.name) else {
                continue;
            };
            match stat.kind() {
                Kind::Regular => bytes += stat.size,
                Kind::Dir if device.is_none_or(|device| device == stat.dev) => {
                    pending.push((name, depth + 1));
                }
                _ => {}
            }
        }
        progress.census_bytes.fetch_add(bytes, Relaxed);
    }
    true
}
