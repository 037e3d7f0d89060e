//! What is deleted: names of the destination that no list has and no rule protects
//! (docs/protocol/transfer.md, "Deletion").

use std::io::Write;
use std::sync::Arc;

use filter::{Hit, Verdict};
use tree::{Dir, Kind, Listing};
use wire::flist::order;
use wire::options::{DeleteTiming, Options};
use wire::stats::put_deletion_stats;

use super::Generator;
use super::entry::Case;
use crate::attributes::read_merge_file;
use crate::error::Result;
use crate::event::Event;
use crate::list::join;
use crate::notice::{Notice, RuleHit};
use crate::received::{ReceivedList, split};
use crate::summary::Counts;
use crate::trouble::{Doing, Trouble, Who};
use wire::ndx::NDX_DEL_STATS;

/// The bit that says that the sender could not read everything.
const IO_ERROR_GENERAL: i32 = 1;
/// The bit that says that deletions were left out.
const IO_ERROR_LIMIT: i32 = 4;

/// When things are deleted, and how many were.
#[derive(Debug)]
pub(super) struct Deletions {
    timing: Option<DeleteTiming>,
    limit: Option<u32>,
    force: bool,
    pub(super) counts: Counts,
    total: u32,
    left_out: u32,
    /// What `--delete-delay` found.
    delayed: Vec<(Vec<u8>, bool)>,
    /// The directories that the filter has entered, outermost first.
    entered: Vec<Vec<u8>>,
    is_held_back: bool,
}

/// How a deletion came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Gone,
    /// Something in it is protected, or it could not be removed.
    Stays,
}

/// Why something is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// No list has it.
    Extraneous,
    /// It is in the way of something else; limits do not count.
    InTheWay,
}

impl Deletions {
    pub(super) fn new(options: &Options, protocol: u32) -> Self {
        let timing = options.delete.or(options.delete_excluded.then_some(DeleteTiming::ByProtocol));
        let timing = timing.map(|timing| match timing {
            DeleteTiming::ByProtocol if protocol < 30 => DeleteTiming::Before,
            DeleteTiming::ByProtocol => DeleteTiming::During,
            timing => timing,
        });
        Self {
            timing,
            limit: options.max_delete,
            force: options.force,
            counts: Counts::default(),
            total: 0,
            left_out: 0,
            delayed: Vec::new(),
            entered: Vec::new(),
            is_held_back: false,
        }
    }

    /// Tells whether something is deleted after everything else.
    pub(super) fn come_late(&self) -> bool {
        matches!(self.timing, Some(DeleteTiming::Delay | DeleteTiming::After))
    }

    /// Tells whether the sender is told how much was deleted.
    fn are_told(&self) -> bool {
        self.timing.is_some() || self.force
    }
}

impl<W: Write> Generator<'_, W> {
    /// Deletes in all directories of the list, before anything else is done.
    pub(super) fn delete_before(&mut self, list: &ReceivedList) -> Result<()> {
        match self.deletions.timing {
            Some(DeleteTiming::Before) => self.delete_in_all(list),
            _ => Ok(()),
        }
    }

    fn delete_in_all(&mut self, list: &ReceivedList) -> Result<()> {
        for entry in list.entries.iter().filter(|entry| entry.has_content() && !entry.is_duplicate)
        {
            self.delete_in(&entry.name, list)?;
        }
        Ok(())
    }

    /// Deletes in a directory that is about to be filled, or notes what is to be deleted later.
    pub(super) fn delete_during(&mut self, case: &Case<'_>, is_new: bool) -> Result<()> {
        let is_now =
            matches!(self.deletions.timing, Some(DeleteTiming::During | DeleteTiming::Delay));
        if !is_now || is_new || !case.entry.has_content() {
            return Ok(());
        }
        self.delete_in(&case.entry.name, case.list)
    }

    /// Deletes what was to be deleted last.
    pub(super) fn delete_late(&mut self) -> Result<()> {
        match self.deletions.timing {
            Some(DeleteTiming::Delay) => {
                for (path, is_dir) in std::mem::take(&mut self.deletions.delayed) {
                    self.delete_path(&path, is_dir);
                    self.speak()?;
                }
            }
            Some(DeleteTiming::After) => {
                for list in self.live.iter().map(Arc::clone).collect::<Vec<_>>() {
                    self.delete_in_all(&list)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Deletes in one directory what the list does not have.
    fn delete_in(&mut self, path: &[u8], list: &ReceivedList) -> Result<()> {
        if self.is_held_back() || self.is_skipped(path) {
            return Ok(());
        }
        let path = if path == b"." { b"" } else { path };
        let dir = match self.open_dir(path) {
            Ok(Some(dir)) => dir,
            Ok(None) => return Ok(()),
            Err(error) => {
                self.problem(Doing::OPEN_DIR, error);
                return Ok(());
            }
        };
        self.go_to(path, &dir);
        if self.is_held_back() {
            return Ok(());
        }
        let Some(names) = self.names_in(&dir) else { return Ok(()) };
        for listed in names.iter().collect::<Vec<_>>().into_iter().rev() {
            let name = join(path, listed.name);
            let is_dir = listed.kind == Kind::Dir;
            if list.has(&name) || self.is_protected(self.filter.hit(&name, is_dir), &name, is_dir) {
                continue;
            }
            if self.deletions.timing == Some(DeleteTiming::Delay) {
                self.deletions.delayed.push((name, is_dir));
                continue;
            }
            if self.delete(&dir, listed.name, &name, is_dir, Cause::Extraneous) == Fate::Gone {
                list.touch();
            }
        }
        self.speak()
    }

    /// Tells whether nothing is deleted because the sender could not read everything.
    fn is_held_back(&mut self) -> bool {
        if self.board.io_error() & IO_ERROR_GENERAL == 0 || self.rules.options.ignore_errors {
            return false;
        }
        if !self.deletions.is_held_back {
            self.deletions.is_held_back = true;
            self.notice(Notice::NotDeleting, b"");
        }
        true
    }

    /// Has the filter stand in a directory, with the merge files on the way to it.
    fn go_to(&mut self, path: &[u8], dir: &Dir) {
        while let Some(last) = self.deletions.entered.last()
            && !(last.is_empty() || super::is_below(path, last))
        {
            self.leave();
        }
        if self.deletions.entered.is_empty() && !path.is_empty() {
            self.enter_by_path(b"");
        }
        let from = self.deletions.entered.last().map_or(0, Vec::len);
        let between: Vec<usize> =
            (from..path.len()).filter(|&at| path[at] == b'/' && at > from).collect();
        for at in between {
            self.enter_by_path(&path[..at]);
        }
        if self.deletions.entered.last().is_none_or(|last| last != path) {
            self.enter(path, dir);
        }
    }

    fn enter_by_path(&mut self, path: &[u8]) {
        if let Ok(Some(dir)) = self.open_dir(path) {
            self.enter(path, &dir);
        }
    }

    fn enter(&mut self, path: &[u8], dir: &Dir) {
        let mut read = |name: &[u8]| read_merge_file(dir, name);
        if let Err(error) = self.filter.enter_dir(path, &mut read) {
            // Nobody knows what a rule that makes no sense was to protect.
            self.board.add_io_error(IO_ERROR_GENERAL);
            self.other_problem(path, error.to_string(), error.stock());
        }
        self.deletions.entered.push(path.to_vec());
    }

    fn leave(&mut self) {
        self.filter.leave_dir();
        self.deletions.entered.pop();
    }

    /// Reads the names of a directory in the order of a list.
    fn names_in(&mut self, dir: &Dir) -> Option<Listing> {
        let mut names = Listing::default();
        if let Err(error) = dir.read_names(&mut names, 0) {
            self.problem(Doing::READ_DIR, error);
            return None;
        }
        names.sort_by(|a, b| {
            order::compare_siblings(a.name, a.kind == Kind::Dir, b.name, b.kind == Kind::Dir)
        });
        Some(names)
    }

    fn delete_path(&mut self, path: &[u8], is_dir: bool) {
        let (dir_path, name) = split(path);
        if let Ok(Some(dir)) = self.open_dir(dir_path) {
            self.go_to(dir_path, &dir);
            self.delete(&dir, name, path, is_dir, Cause::Extraneous);
        }
    }

    /// Deletes one item, a directory with its content.
    fn delete(&mut self, dir: &Dir, name: &[u8], path: &[u8], is_dir: bool, cause: Cause) -> Fate {
        if is_dir {
            if dir.is_mount_point(name) {
                self.notice(Notice::NotDeletingMountPoint, path);
                return Fate::Stays;
            }
            if self.empty(dir, name, path, cause) == Fate::Stays {
                self.notice(Notice::NotDeletingNonEmpty, path);
                return Fate::Stays;
            }
        }
        if cause == Cause::Extraneous && self.limit_is_reached() {
            self.deletions.left_out += 1;
            return Fate::Stays;
        }
        if self.rules.options.dry_run {
            self.count_deleted(dir, name, path, is_dir, cause);
            return Fate::Gone;
        }
        let kind = dir.stat(name).map(|stat| stat.kind());
        let removed = match is_dir {
            true => dir.remove_dir(name),
            false if self.keeps_deleted(name) => {
                return self.back_up_deleted(dir, name, path, kind);
            }
            false => dir.remove_file(name),
        };
        match removed {
            Ok(()) => {
                if is_dir {
                    self.dirs.forget(path);
                }
                self.tell_deleted(path, kind.unwrap_or(Kind::Regular), cause);
                Fate::Gone
            }
            Err(error) if error.is_not_found() => Fate::Gone,
            Err(error) => {
                let doing = if is_dir { Doing::REMOVE_DIR } else { Doing::REMOVE };
                self.problem(doing, error);
                Fate::Stays
            }
        }
    }

    fn count_deleted(&mut self, dir: &Dir, name: &[u8], path: &[u8], is_dir: bool, cause: Cause) {
        let kind = if is_dir {
            Kind::Dir
        } else {
            dir.stat(name).map_or(Kind::Regular, |stat| stat.kind())
        };
        self.tell_deleted(path, kind, cause);
    }

    /// Deletes all that a directory holds and no rule protects.
    fn empty(&mut self, dir: &Dir, name: &[u8], path: &[u8], cause: Cause) -> Fate {
        let inside = match dir.open_dir(name, tree::Follow::Never) {
            Ok(inside) => inside,
            Err(error) => {
                self.problem(Doing::OPEN_DIR, error);
                return Fate::Stays;
            }
        };
        self.go_to(path, &inside);
        let Some(names) = self.names_in(&inside) else { return Fate::Stays };
        let mut fate = Fate::Gone;
        for listed in names.iter().collect::<Vec<_>>().into_iter().rev() {
            let (below, is_dir) = (join(path, listed.name), listed.kind == Kind::Dir);
            let hit = self.filter.hit_in_doomed_dir(&below, is_dir);
            let is_kept = self.is_protected(hit, &below, is_dir);
            if is_kept || self.delete(&inside, listed.name, &below, is_dir, cause) == Fate::Stays {
                fate = Fate::Stays;
            }
        }
        self.go_to(split(path).0, dir);
        fate
    }

    fn is_protected(&self, hit: Option<Hit<'_>>, name: &[u8], is_dir: bool) -> bool {
        let monitor = self.rules.monitor;
        RuleHit::judged(hit, Who::Generator, (name, is_dir), monitor) == Verdict::Exclude
    }

    fn limit_is_reached(&self) -> bool {
        self.deletions.limit.is_some_and(|limit| self.deletions.total >= limit)
    }

    fn tell_deleted(&mut self, path: &[u8], kind: Kind, cause: Cause) {
        if cause == Cause::Extraneous {
            self.deletions.total += 1;
        }
        self.deletions.counts.add(kind);
        (self.rules.monitor)(Event::Deleted { name: path, is_dir: kind == Kind::Dir });
    }

    /// Tells whether a deleted file is kept as a backup; a backup itself is not.
    fn keeps_deleted(&self, name: &[u8]) -> bool {
        self.site
            .backup
            .as_ref()
            .is_some_and(|backup| backup.root.is_some() || !name.ends_with(&backup.suffix))
    }

    fn back_up_deleted(
        &mut self,
        dir: &Dir,
        name: &[u8],
        path: &[u8],
        kind: tree::Result<Kind>,
    ) -> Fate {
        match self.site.back_up((dir, name), path, self.rules.monitor) {
            Ok(()) => {
                self.tell_deleted(path, kind.unwrap_or(Kind::Regular), Cause::Extraneous);
                Fate::Gone
            }
            Err(error) => {
                self.problem(Doing::RENAME, error);
                Fate::Stays
            }
        }
    }

    /// Removes what is in the way of an item of another kind; true when the place is free.
    pub(super) fn make_way(&mut self, case: &Case<'_>, thing: &str) -> Result<bool> {
        let (Some(now), Some(dir)) = (&case.now, case.dir.as_deref()) else { return Ok(true) };
        let is_dir = now.kind() == Kind::Dir;
        let may_empty = self.deletions.are_told();
        let path = &case.entry.name;
        let fate = match is_dir {
            false if self.rules.options.dry_run => Fate::Gone,
            false => self.delete(dir, case.name, path, false, Cause::InTheWay),
            true if may_empty => self.delete(dir, case.name, path, true, Cause::InTheWay),
            true if self.rules.options.dry_run => Fate::Gone,
            true => match dir.remove_dir(case.name) {
                Ok(()) => Fate::Gone,
                Err(_) => {
                    self.notice(Notice::NotDeletingNonEmpty, path);
                    Fate::Stays
                }
            },
        };
        if fate == Fate::Gone {
            self.dirs.forget(path);
            case.list.touch();
            return Ok(true);
        }
        let shown = String::from_utf8_lossy(path).into_owned();
        let stock = format!("could not make way for {thing}: {shown}");
        self.other_problem(path, format!("cannot make way for a {thing}"), stock);
        Ok(false)
    }

    /// Deletes what an argument that is missing at the sender stands for.
    pub(super) fn delete_missing_argument(&mut self, case: &Case<'_>) -> Result<()> {
        if let (Some(now), Some(dir)) = (&case.now, case.dir.as_deref()) {
            let is_dir = now.kind() == Kind::Dir;
            self.delete(dir, case.name, &case.entry.name, is_dir, Cause::Extraneous);
        }
        self.speak()
    }

    /// Tells the sender how much was deleted, where it expects that.
    pub(super) fn put_deletion_stats(&mut self) -> Result<()> {
        if !self.deletions.are_told() || self.rules.dialect.protocol < 31 {
            return Ok(());
        }
        let Counts { regular, dirs, links, devices, specials } = self.deletions.counts;
        let counts = [regular, dirs, links, devices, specials]
            .map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        self.record.clear();
        self.ndx.put(&mut self.record, NDX_DEL_STATS);
        put_deletion_stats(&mut self.record, &counts);
        Ok(self.out.data(&self.record)?)
    }

    /// Returns what was deleted, if anything could be.
    pub(crate) fn deleted(&self) -> Option<Counts> {
        self.deletions.are_told().then_some(self.deletions.counts)
    }

    /// Says how many deletions the limit left out.
    pub(super) fn tell_left_out(&mut self) {
        if self.deletions.left_out > 0 {
            self.notice(Notice::DeletionsStopped(self.deletions.left_out), b"");
            self.board.add_io_error(IO_ERROR_LIMIT);
        }
    }

    /// Tells of trouble that has been counted already.
    pub(super) fn told_problem(&mut self, name: &[u8], trouble: Trouble) {
        if let Trouble::Other { ours, stock } = trouble {
            self.other_problem(name, ours, stock);
        }
    }
}
