//! Which names are listed because they were asked for, and which lead to those.

use std::collections::HashSet;
use std::ops::Range;

use filter::Verdict;
use tree::{Kind, Listed, Listing, Stat};
use wire::flist::DirMark;

use super::{OpenDir, Place, Scan};
use crate::attributes::Attributes;
use crate::event::Event;
use crate::list::join;
use crate::notice::{Notice, RuleHit};
use crate::sources::Source;
use crate::trouble::Who;

impl Scan<'_> {
    /// Adds the names in a directory that lead to sources, unless they are there already.
    pub(super) fn add_asked(
        &mut self,
        all: &mut Listing,
        dirs: &mut Vec<OpenDir>,
        root: u16,
        parent: &[u8],
        mut asked: Range<usize>,
    ) {
        let sources = self.sources;
        let place = u16::try_from(dirs.len()).unwrap_or(u16::MAX);
        let known: HashSet<Vec<u8>> =
            all.iter().filter(|_| !parent.is_empty()).map(|listed| listed.name.to_vec()).collect();
        let mut listing = Listing::default();
        let mut dev = 0;
        while let Some(source) = sources.given().get(asked.start).filter(|_| !asked.is_empty()) {
            if source.name == parent {
                asked.start += 1;
                continue;
            }
            let name = next_component(&source.name, parent);
            let path = join(parent, name);
            let below = sources.at_or_below(asked.clone(), &path);
            asked.start = below.end.max(asked.start + 1);
            for source in sources.given()[below.clone()].iter().filter(|found| found.root == root) {
                let is_source = source.name == path;
                let kind = if is_source { source.stat.kind() } else { Kind::Dir };
                dev = source.stat.dev;
                let leads_to_any = |scan: &Self| {
                    sources.given()[below.clone()]
                        .iter()
                        .any(|found| found.root == root && !scan.is_hidden(found))
                };
                let is_wanted = match is_source {
                    true => self.is_wanted(source),
                    false => leads_to_any(self),
                };
                if !known.contains(name) && is_wanted {
                    let _ = listing.push(name, kind, place);
                }
                if !is_source {
                    break;
                }
            }
        }
        if !listing.is_empty()
            && let Some(dir) = self.open(root, parent)
        {
            all.append(listing);
            dirs.push(OpenDir { root, dir, dev, is_read: false });
        }
    }

    /// Asks the filter about a source, and whether directories are sent at all.
    fn is_wanted(&mut self, source: &Source) -> bool {
        let is_dir = source.stat.kind() == Kind::Dir;
        if is_dir && !self.rules.recurse && !self.rules.dirs {
            self.skip_directory(&source.name);
            return false;
        }
        !self.is_hidden(source)
    }

    fn is_hidden(&self, source: &Source) -> bool {
        let filter = &self.filters[usize::from(source.root)].filter;
        let is_dir = source.stat.kind() == Kind::Dir;
        let hit = filter.hit(&source.name, is_dir).filter(|_| source.stat.mode != 0);
        let name = (source.name.as_slice(), is_dir);
        RuleHit::judged(hit, Who::Sender, name, self.monitor) == Verdict::Exclude
    }

    pub(super) fn skip_directory(&self, name: &[u8]) {
        (self.monitor)(Event::Notice { notice: Notice::SkippingDirectory, name });
    }

    /// Finds the source that a name without a kind stands for: one that is not there.
    pub(super) fn missing_source(&self, listed: Listed<'_>) -> Option<&Source> {
        if listed.kind != Kind::Unknown {
            return None;
        }
        let found = self.sources.at_or_below(0..self.sources.given().len(), &self.walk.path);
        self.sources.given().get(found.start).filter(|source| source.stat.mode == 0)
    }

    /// Decides how a directory takes part, and tells whether it is another file system's.
    pub(super) fn place_of(
        &self,
        open: &OpenDir,
        stat: &Stat,
        attributes: Attributes,
        asked: Range<usize>,
    ) -> (Place, bool) {
        let given = &self.sources.given()[asked];
        let is_it = |source: &&Source| source.root == open.root && source.name == self.walk.path;
        let source = given.iter().find(is_it);
        let dev = source.map_or(open.dev, |source| source.stat.dev);
        let is_mount = self.rules.one_file_system > 0 && dev != stat.dev;
        let content = source.is_some_and(|source| source.content);
        let (mark, scan) = match source {
            Some(_) if self.rules.recurse || content => (DirMark::Top, true),
            None if !open.is_read => (DirMark::Implied, false),
            _ if is_mount || !self.rules.recurse => (DirMark::NoContent, false),
            _ => (DirMark::Content, true),
        };
        let (root, stat) = (open.root, *stat);
        let filter_depth = self.filters[usize::from(root)].depth;
        (Place { root, stat, dev, scan, mark, attributes, filter_depth }, is_mount)
    }
}

/// Returns the component of `name` behind `parent`.
fn next_component<'n>(name: &'n [u8], parent: &[u8]) -> &'n [u8] {
    let skipped = if parent.is_empty() { 0 } else { parent.len() + 1 };
    let rest = name.get(skipped..).unwrap_or_default();
    rest.split(|byte| *byte == b'/').next().unwrap_or_default()
}
