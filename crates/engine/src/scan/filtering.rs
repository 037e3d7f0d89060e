//! Which names the filter keeps, and where in the tree its per-directory rules stand.

use filter::Verdict;
use tree::{Dir, Kind, Listing};

use super::{Pending, Scan, set_path};
use crate::attributes;
use crate::event::Gravity;
use crate::sources::Source;

impl Scan<'_> {
    /// Has the filter begin anew for the names of one source.
    pub(super) fn turn_filter_to(&mut self, source: &Source, dir: &Dir) {
        if self.walk.filter_source == Some(source.root) {
            return;
        }
        self.leave_filter(0);
        self.filter.set_base(&source.base);
        self.walk.filter_source = Some(source.root);
        // The directory that a source is named in is not part of the transfer.
        if source.name == b"." {
            self.enter_filter(b"", dir);
        }
    }

    pub(super) fn leave_filter(&mut self, depth: usize) {
        while self.walk.filter_depth > depth {
            self.filter.leave_dir();
            self.walk.filter_depth -= 1;
        }
    }

    /// Brings the filter to where it was when the directory was found.
    pub(super) fn back_to_parent(&mut self, pending: &Pending) {
        let sources = self.sources;
        let root = pending.places[0].root;
        if self.filters && self.walk.filter_source != Some(root) {
            let source = sources.given().iter().find(|source| source.root == root);
            let dir = sources.roots()[usize::from(root)].open_dir(b".");
            if let (Some(source), Ok(dir)) = (source, dir) {
                self.turn_filter_to(source, &dir);
            }
        }
        self.leave_filter(pending.depth);
    }

    pub(super) fn enter_filter(&mut self, path: &[u8], dir: &Dir) {
        self.walk.filter_depth += 1;
        let mut read = |name: &[u8]| attributes::read_merge_file(dir, name);
        if let Err(error) = self.filter.enter_dir(path, &mut read) {
            let text = error.to_string();
            self.report(dir, b"", text, Gravity::Error);
        }
    }

    pub(super) fn keep_wanted(&mut self, listing: &mut Listing, parent: &[u8]) {
        let Self { filter, walk, rules, .. } = self;
        if !self.filters && rules.recurse {
            return;
        }
        listing.retain(|listed| {
            set_path(&mut walk.path, parent, listed.name);
            let is_dir = listed.kind == Kind::Dir;
            filter.check(&walk.path, is_dir) == Verdict::Include && (rules.recurse || !is_dir)
        });
    }
}
