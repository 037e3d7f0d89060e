//! Hard links: which member of a group is asked for, and how the others are linked to it
//! (docs/protocol/file-list.md, "Hard links").

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use tree::{Kind, Stat};
use wire::item::iflags;
use wire::options::Append;

use super::Generator;
use super::entry::Case;
use crate::error::Result;
use crate::received::{LinkGroup, ReceivedList};
use crate::trouble::Doing;

/// One group of names for the same file.
#[derive(Debug, Default)]
struct Group {
    /// Members in the lists that have come.
    known: usize,
    /// Members that were looked at.
    seen: usize,
    /// A member is on its way.
    is_on_its_way: bool,
    /// The path of a member that is in its place.
    leader: Option<Box<[u8]>>,
    waiting: Vec<(Arc<ReceivedList>, usize)>,
}

/// All groups of the session.
#[derive(Debug, Default)]
pub(super) struct Links {
    groups: HashMap<LinkGroup, Group>,
}

impl Links {
    /// Counts the members in a list that has come.
    pub(super) fn know(&mut self, list: &ReceivedList) {
        let members = list.entries.iter().filter(|entry| !entry.is_duplicate);
        for group in members.filter_map(|entry| entry.link_group()) {
            self.groups.entry(group).or_default().known += 1;
        }
    }

    /// Counts the members that wait for another.
    pub(super) fn waiting(&self) -> usize {
        self.groups.values().map(|group| group.waiting.len()).sum()
    }
}

impl<W: Write> Generator<'_, W> {
    /// Decides about a member of a group; true when nothing more is to be done for it now.
    pub(super) fn waits_for_link(&mut self, case: &Case<'_>) -> Result<bool> {
        let Some(group_id) = self.group_of(case) else { return Ok(false) };
        let is_complete = !self.rules.dialect.inc_recurse();
        let Some(group) = self.links.groups.get_mut(&group_id) else { return Ok(false) };
        if is_complete && group.known == 1 {
            return Ok(false);
        }
        group.seen += 1;
        if let Some(leader) = group.leader.clone() {
            self.link(case, &leader)?;
            return Ok(true);
        }
        let is_last = group.seen >= group.known;
        let waits = group.is_on_its_way
            || (case.entry.kind() == Kind::Regular && !is_last && !self.has_basis(case));
        if waits {
            self.wait(case, group_id);
        }
        Ok(waits)
    }

    fn group_of(&self, case: &Case<'_>) -> Option<LinkGroup> {
        match self.rules.options.hard_links {
            0 => None,
            _ => case.entry.link_group().filter(|_| !case.entry.is_dir()),
        }
    }

    fn wait(&mut self, case: &Case<'_>, group: LinkGroup) {
        if let Some(group) = self.links.groups.get_mut(&group) {
            case.list.opened();
            group.waiting.push((Arc::clone(case.list), case.index));
        }
    }

    /// Tells whether a member has something to start from, so that it leads its group.
    fn has_basis(&mut self, case: &Case<'_>) -> bool {
        case.now.is_some_and(|now| now.kind() == Kind::Regular)
            || (self.rules.options.append == Append::No && self.finds_alternative(case))
    }

    /// A member was asked for; the others wait for it.
    pub(super) fn is_on_its_way(&mut self, case: &Case<'_>) {
        if let Some(group) = self.group_of(case)
            && let Some(group) = self.links.groups.get_mut(&group)
        {
            group.is_on_its_way = true;
        }
    }

    /// A member is in its place: the others are linked to it.
    pub(super) fn leads(&mut self, case: &Case<'_>) -> Result<()> {
        match self.group_of(case) {
            Some(group) => self.lead(group, &case.entry.name),
            None => Ok(()),
        }
    }

    fn lead(&mut self, group: LinkGroup, leader: &[u8]) -> Result<()> {
        let Some(group) = self.links.groups.get_mut(&group) else { return Ok(()) };
        group.is_on_its_way = false;
        group.leader.get_or_insert_with(|| leader.into());
        let waiting = std::mem::take(&mut group.waiting);
        for (list, index) in waiting.into_iter().rev() {
            if let Some(case) = self.look_again(&list, index) {
                self.link(&case, leader)?;
            }
            list.closed();
        }
        Ok(())
    }

    /// A member will not lead; the one that waited last is tried.
    pub(super) fn not_linked(&mut self, case: &Case<'_>) -> Result<()> {
        match self.group_of(case) {
            Some(group) => self.next_leader(group),
            None => Ok(()),
        }
    }

    fn next_leader(&mut self, group: LinkGroup) -> Result<()> {
        let Some(group) = self.links.groups.get_mut(&group) else { return Ok(()) };
        group.is_on_its_way = false;
        if group.seen < group.known {
            return Ok(());
        }
        let Some((list, index)) = group.waiting.pop() else { return Ok(()) };
        if let Some(case) = self.look_again(&list, index) {
            self.regular(&case)?;
        }
        list.closed();
        Ok(())
    }

    /// Hears that a file which was asked for is in its place, or will not be.
    pub(super) fn finished(
        &mut self,
        list: &Arc<ReceivedList>,
        index: usize,
        ok: bool,
    ) -> Result<()> {
        let entry = &list.entries[index];
        if ok {
            self.success(list.ndx(index))?;
        }
        let group = entry.link_group().filter(|_| self.rules.options.hard_links > 0);
        match group {
            Some(group) if ok => self.lead(group, &entry.name),
            Some(group) => self.next_leader(group),
            None => Ok(()),
        }?;
        list.closed();
        Ok(())
    }

    /// Looks at a member that waited.
    fn look_again<'l>(&mut self, list: &'l Arc<ReceivedList>, index: usize) -> Option<Case<'l>>
    where
        Self: 'l,
    {
        let entry = &list.entries[index];
        let (dir_path, name) = crate::received::split(&entry.name);
        let dir = self.open_dir(dir_path).ok()?;
        let now = self.look(dir.as_deref(), name, entry).ok()?;
        Some(Case { list, index, ndx: list.ndx(index), entry, dir, name, now })
    }

    /// Links an item to the leader of its group.
    fn link(&mut self, case: &Case<'_>, leader: &[u8]) -> Result<()> {
        let (leader_dir, leader_name) = crate::received::split(leader);
        let leader_dir = match self.open_dir(leader_dir) {
            Ok(dir) => dir,
            Err(error) => {
                self.problem(Doing::HARD_LINK, error);
                return Ok(());
            }
        };
        let leader_stat = leader_dir.as_deref().and_then(|dir| dir.stat(leader_name).ok());
        let is_same = |now: &Stat| {
            leader_stat.is_some_and(|leader| (leader.dev, leader.ino) == (now.dev, now.ino))
        };
        let flags = iflags::LOCAL_CHANGE | iflags::XNAME_FOLLOWS;
        if case.now.as_ref().is_some_and(is_same) {
            self.report(case.ndx, flags, Some(b""), &[])?;
            return self.source_is_done_with(case);
        }
        let is_new = if case.now.is_none() { iflags::IS_NEW } else { 0 };
        if !self.rules.options.dry_run {
            if case.now.is_some_and(|now| now.kind() == Kind::Dir)
                && !self.make_way(case, "new regular file")?
            {
                return Ok(());
            }
            let (Some(from), Some(to)) = (leader_dir.as_deref(), case.dir.as_deref()) else {
                return Ok(());
            };
            if let Err(error) = self.put_link(from, leader_name, to, case) {
                self.problem(Doing::HARD_LINK, error);
                return Ok(());
            }
            case.list.touch();
        }
        let differs = match &case.now {
            Some(now) => self.keeps().differences(case.entry, now, 0),
            None => 0,
        };
        self.report(case.ndx, flags | is_new | differs, Some(leader), &[])?;
        self.source_is_done_with(case)
    }

    fn put_link(
        &mut self,
        from: &tree::Dir,
        leader: &[u8],
        to: &tree::Dir,
        case: &Case<'_>,
    ) -> tree::Result<()> {
        if case.now.is_none() {
            return from.hard_link(leader, to, case.name);
        }
        if self.rules.options.backup {
            self.back_up(case);
        }
        self.note_temporary(case.list, case.entry);
        let temp = tree::temp_name(case.name, &self.site.suffix, true);
        from.hard_link(leader, to, &temp)?;
        to.rename(&temp, to, case.name).inspect_err(|_| {
            // What could not be put in its place is not left lying about.
            let _ = to.remove_file(&temp);
        })
    }
}
