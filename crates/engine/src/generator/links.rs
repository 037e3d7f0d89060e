//! Hard links: which member of a group is asked for, and how the others are linked to it
//! (docs/protocol/file-list.md, "Hard links").

use std::collections::{HashMap, VecDeque};
use std::io::Write;
use std::sync::Arc;

use tree::{Kind, Stat};
use wire::item::iflags;
use wire::options::{AltDestKind, Append};

use super::Generator;
use super::alternatives::Found;
use super::entry::Case;
use crate::error::Result;
use crate::received::{Entry, LinkGroup, ReceivedList};
use crate::trouble::Doing;

/// One group of names for the same file.
#[derive(Debug, Default)]
struct Group {
    /// Members in the lists that have come.
    known: usize,
    /// Members whose turn has come.
    seen: usize,
    /// A member is on its way.
    is_on_its_way: bool,
    /// The path of a member that is in its place.
    leader: Option<Box<[u8]>>,
    /// Members to be linked once one is in its place, in the order in which that happens.
    waiting: VecDeque<Member>,
}

type Member = (Arc<ReceivedList>, usize);

/// All groups of the session.
#[derive(Debug, Default)]
pub(super) struct Links {
    groups: HashMap<LinkGroup, Group>,
    /// How many members wait, in all groups.
    pub(super) waiting: usize,
    /// Members that were asked for, oldest first, and what has become of them. The others are
    /// linked in this order, whichever file comes first.
    asked: VecDeque<(Member, Option<bool>)>,
    /// Leaders that wait for `--delay-updates`.
    delayed: Vec<Member>,
}

impl Links {
    /// Counts the members in a list that has come.
    pub(super) fn know(&mut self, list: &ReceivedList) {
        let members = list.entries.iter().filter(|entry| !entry.is_duplicate && !entry.is_dir());
        for group in members.filter_map(|entry| entry.link_group()) {
            self.groups.entry(group).or_default().known += 1;
        }
    }
}

impl<W: Write> Generator<'_, W> {
    /// Counts a member whose turn it is, whatever becomes of it.
    pub(super) fn sees_member(&mut self, entry: &Entry) {
        if let Some(group) = self.group_of(entry)
            && let Some(group) = self.links.groups.get_mut(&group)
        {
            group.seen += 1;
        }
    }

    /// Decides about a member of a group; true when nothing more is to be done for it now.
    pub(super) fn waits_for_link(&mut self, case: &Case<'_>) -> Result<bool> {
        let Some(group_id) = self.group_of(case.entry) else { return Ok(false) };
        let is_complete = !self.rules.dialect.inc_recurse();
        let Some(group) = self.links.groups.get_mut(&group_id) else { return Ok(false) };
        if is_complete && group.known == 1 {
            return Ok(false);
        }
        if let Some(leader) = group.leader.clone() {
            self.link(case, &leader)?;
            return Ok(true);
        }
        let is_last = group.seen >= group.known;
        let waits = case.entry.kind() == Kind::Regular
            && (group.is_on_its_way || (!is_last && !self.has_basis(case)));
        if waits {
            self.wait(case, group_id);
        }
        Ok(waits)
    }

    fn group_of(&self, entry: &Entry) -> Option<LinkGroup> {
        match self.rules.options.hard_links {
            0 => None,
            _ => entry.link_group().filter(|_| !entry.is_dir()),
        }
    }

    fn wait(&mut self, case: &Case<'_>, group: LinkGroup) {
        if let Some(group) = self.links.groups.get_mut(&group) {
            case.list.opened();
            let member = (Arc::clone(case.list), case.index);
            match group.is_on_its_way {
                true => group.waiting.push_back(member),
                false => group.waiting.push_front(member),
            }
            self.links.waiting += 1;
        }
    }

    /// Tells whether a member has something to start from, so that it leads its group.
    fn has_basis(&mut self, case: &Case<'_>) -> bool {
        case.now.is_some_and(|now| now.kind() == Kind::Regular)
            || (self.rules.options.append == Append::No && self.find(case).is_some())
    }

    /// Notes that a member was asked for, and the others wait for it.
    pub(super) fn is_on_its_way(&mut self, case: &Case<'_>) {
        if let Some(group) = self.group_of(case.entry)
            && let Some(group) = self.links.groups.get_mut(&group)
        {
            group.is_on_its_way = true;
            let member = (Arc::clone(case.list), case.index);
            self.links.asked.push_back((member, None));
        }
    }

    /// Notes that a member does not come.
    pub(super) fn does_not_come(&mut self, entry: &Entry) {
        if let Some(group) = self.group_of(entry)
            && let Some(group) = self.links.groups.get_mut(&group)
        {
            group.is_on_its_way = false;
        }
    }

    /// A member that was asked for comes later, and holds up nobody but its group.
    pub(super) fn comes_later(&mut self, list: &Arc<ReceivedList>, index: usize) -> Result<()> {
        self.links.asked.retain(|((asked, at), _)| !Arc::ptr_eq(asked, list) || *at != index);
        self.settle_asked()
    }

    /// A member is in its place: the others are linked to it.
    pub(super) fn follow(&mut self, leader: &Entry) -> Result<()> {
        let Some(group) = self.group_of(leader) else { return Ok(()) };
        let Some(group) = self.links.groups.get_mut(&group) else { return Ok(()) };
        let leader = &leader.name;
        group.is_on_its_way = false;
        group.leader.get_or_insert_with(|| leader.clone());
        let waiting = std::mem::take(&mut group.waiting);
        self.links.waiting -= waiting.len();
        for (list, index) in waiting {
            if let Some(case) = self.look_again(&list, index) {
                self.link(&case, leader)?;
            }
            list.closed();
        }
        Ok(())
    }

    /// Where no member is on its way or still to be looked at, tries those that wait: the one that
    /// came last first.
    pub(super) fn settle_group(&mut self, entry: &Entry) -> Result<()> {
        let Some(id) = self.group_of(entry) else { return Ok(()) };
        while let Some(group) = self.links.groups.get_mut(&id)
            && !group.is_on_its_way
            && group.seen >= group.known
            && let Some((list, index)) = group.waiting.pop_front()
        {
            self.links.waiting -= 1;
            if let Some(case) = self.look_again(&list, index) {
                self.regular(&case)?;
            }
            list.closed();
        }
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
        if self.group_of(entry).is_none() {
            list.closed();
            return Ok(());
        }
        let is_it = |(asked, at): &Member| Arc::ptr_eq(asked, list) && *at == index;
        if let Some(it) = self.links.asked.iter_mut().find(|(member, _)| is_it(member)) {
            it.1 = Some(ok);
        }
        self.settle_asked()
    }

    fn settle_asked(&mut self) -> Result<()> {
        while let Some((_, Some(ok))) = self.links.asked.front()
            && let ok = *ok
            && let Some(((list, index), _)) = self.links.asked.pop_front()
        {
            match ok {
                true if self.rules.options.delay_updates => {
                    self.links.delayed.push((Arc::clone(&list), index));
                }
                true => self.follow(&list.entries[index])?,
                false => {
                    self.does_not_come(&list.entries[index]);
                    self.settle_group(&list.entries[index])?;
                }
            }
            list.closed();
        }
        Ok(())
    }

    /// Links what waits for files that are in their places only now.
    pub(super) fn link_delayed(&mut self) -> Result<()> {
        for (list, index) in std::mem::take(&mut self.links.delayed) {
            self.follow(&list.entries[index])?;
        }
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
            self.report(case, flags, Some(b""), &[])?;
            return self.source_is_done_with(case);
        }
        let found = self.found_for_link(case);
        let is_silent = self.site.alternative_kind == Some(AltDestKind::Link)
            && found.as_ref().is_some_and(|found| is_same(&found.stat));
        if !self.rules.options.dry_run {
            if case.now.is_some_and(|now| now.kind() == Kind::Dir)
                && !self.make_way(case, "new regular file")?
            {
                return Ok(());
            }
            let (Some(from), Some(to)) = (leader_dir.as_deref(), case.dir.as_deref()) else {
                return Ok(());
            };
            if self.rules.options.backup && case.now.is_some() {
                self.back_up(case);
            }
            if let Err(error) = self.put_link(from, leader_name, to, case) {
                self.problem(Doing::HARD_LINK, error);
                return Ok(());
            }
            case.list.touch();
        }
        let differs = match (case.now, found) {
            (None, Some(_)) if is_silent => 0,
            (None, None) => iflags::IS_NEW,
            (Some(now), _) => {
                let size = if now.size != case.entry.size { iflags::REPORT_SIZE } else { 0 };
                self.keeps().differences(case.entry, &now, 0) | size
            }
            (None, Some(found)) => self.flags_beside(case, &found),
        };
        if !is_silent || self.rules.telling.unchanged {
            self.report(case, flags | differs, Some(leader), &[])?;
        }
        self.source_is_done_with(case)
    }

    /// Finds what an alternative directory has in the place of a member that is to be linked.
    fn found_for_link(&mut self, case: &Case<'_>) -> Option<Found> {
        let counts = match self.site.alternative_kind? {
            AltDestKind::Link => true,
            AltDestKind::Copy => case.entry.kind() == Kind::Regular,
            AltDestKind::Compare => false,
        };
        if !counts || case.now.is_some() {
            return None;
        }
        self.find(case).filter(Found::has_content)
    }

    /// Makes an item another name of `name` in `from`, whatever it was.
    pub(super) fn put_link(
        &mut self,
        from: &tree::Dir,
        name: &[u8],
        to: &tree::Dir,
        case: &Case<'_>,
    ) -> tree::Result<()> {
        if case.now.is_none() {
            return from.hard_link(name, to, case.name);
        }
        self.note_temporary(case.list, case.entry);
        let temp = tree::temp_name(case.name, &self.site.suffix, true);
        from.hard_link(name, to, &temp)?;
        to.rename(&temp, to, case.name).inspect_err(|_| {
            // What could not be put in its place is not left lying about.
            let _ = to.remove_file(&temp);
        })
    }
}
