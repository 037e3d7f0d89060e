//! Which names the filter keeps, and where in the tree its per-directory rules stand.

use std::os::unix::ffi::OsStrExt;

use filter::{ActiveFilter, Origin, Verdict};
use tree::{Dir, Kind, Listing};

use super::{Scan, set_path};
use crate::attributes;
use crate::desk::{Scanned, SenderGone};
use crate::event::Gravity;
use crate::notice::RuleHit;
use crate::received::split;
use crate::trouble::Who;

/// The filter of one source: each has rules of its own from the merge files that it holds.
pub(crate) struct SourceFilter {
    pub(super) filter: ActiveFilter,
    /// How many directories it has entered.
    pub(super) depth: usize,
}

impl SourceFilter {
    pub(crate) fn new(filter: ActiveFilter) -> Self {
        Self { filter, depth: 0 }
    }
}

impl Scan<'_> {
    /// Brings the filter of a source back to where `depth` directories were entered.
    pub(super) fn leave_filter(&mut self, root: u16, depth: usize) {
        let standing = &mut self.filters[usize::from(root)];
        while standing.depth > depth {
            standing.filter.leave_dir();
            standing.depth -= 1;
        }
    }

    /// Has the filter of a source read the merge files of a directory. A rule that makes no sense
    /// ends everything: nobody knows what it was to keep away.
    pub(super) fn enter_filter(
        &mut self,
        root: u16,
        path: &[u8],
        dir: &Dir,
    ) -> Result<(), SenderGone> {
        let standing = &mut self.filters[usize::from(root)];
        standing.depth += 1;
        let mut read = |name: &[u8]| attributes::read_merge_file(dir, name);
        match standing.filter.enter_dir(path, &mut read) {
            Ok(()) => {}
            Err(error @ filter::Error::Read { .. }) => {
                self.report(dir, b"", error.to_string(), Gravity::Error);
            }
            Err(mut error) => {
                if let filter::Error::Syntax { origin: Origin::File { path, .. }, .. } = &mut error
                {
                    let file = dir.path_of(split(path).1);
                    *path = file.as_os_str().as_bytes().into();
                }
                self.desk.offer(Scanned::Failed(error.into()))?;
                return Err(SenderGone);
            }
        }
        Ok(())
    }

    /// Takes out of a listing what the filter of its source leaves out.
    pub(super) fn keep_wanted(&mut self, listing: &mut Listing, root: u16, parent: &[u8]) {
        if !self.has_rules {
            return;
        }
        let filter = &self.filters[usize::from(root)].filter;
        let path = &mut self.walk.path;
        listing.retain(|listed| {
            set_path(path, parent, listed.name);
            let is_dir = listed.kind == Kind::Dir;
            let (hit, monitor) = (filter.hit(path, is_dir), self.monitor);
            RuleHit::judged(hit, Who::Sender, (path, is_dir), monitor) == Verdict::Include
        });
    }
}
