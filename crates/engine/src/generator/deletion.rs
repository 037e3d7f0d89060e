//! What is deleted: names of the destination that no list has and no rule protects
//! (docs/protocol/transfer.md, "Deletion").

use std::io::{ErrorKind, Write};
use std::sync::Arc;

use filter::{Hit, Verdict};
use tree::{Dir, Kind, Listing};
use wire::flist::{DirMark, order};
use wire::options::{DeleteTiming, Options};
use wire::stats::put_deletion_stats;

use super::Generator;
use super::entry::Case;
use crate::attributes::read_merge_file;
use crate::error::Result;
use crate::event::Event;
use crate::list::join;
use crate::notice::{Notice, RuleHit};
use crate::received::{Entry, ReceivedList, split};
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
    /// Where the argument lies that is dealt with (`--one-file-system`).
    device: Option<u64>,
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
    /// It is in the way of something else: limits do not count, and it is not told.
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
            device: None,
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
            self.delete_in(entry, list)?;
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
        self.delete_in(case.entry, case.list)
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
    fn delete_in(&mut self, entry: &Entry, list: &ReceivedList) -> Result<()> {
        if self.is_skipped(&entry.name) {
            return Ok(());
        }
        let path = if *entry.name == *b"." { b"" } else { &*entry.name };
        let dir = match self.open_dir(path) {
            Ok(Some(dir)) => dir,
            Ok(None) => return Ok(()),
            Err(error) => {
                self.problem(Doing::OPEN_DIR, error);
                return Ok(());
            }
        };
        if self.is_on_other_device(entry, &dir) {
            return Ok(());
        }
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
                list.touch();
                continue;
            }
            if self.delete(&dir, listed.name, &name, is_dir, Cause::Extraneous) == Fate::Gone {
                list.touch();
            }
        }
        self.speak()
    }

    /// Tells whether `--one-file-system` keeps deletions out of a directory: it lies on another
    /// device than the argument that it belongs to.
    fn is_on_other_device(&mut self, entry: &Entry, dir: &Dir) -> bool {
        if self.rules.options.one_file_system == 0 {
            return false;
        }
        let device = dir.stat_self().ok().map(|stat| stat.dev);
        if entry.dir_mark == DirMark::Top {
            self.deletions.device = device;
        }
        device.is_none() || self.deletions.device != device
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

    /// Deletes one item, a directory with its content where that is allowed.
    fn delete(&mut self, dir: &Dir, name: &[u8], path: &[u8], is_dir: bool, cause: Cause) -> Fate {
        if is_dir && self.clear(dir, name, path, self.deletions.are_told()) == Fate::Stays {
            return Fate::Stays;
        }
        self.remove(dir, name, path, is_dir, cause)
    }

    /// Deletes what a directory holds, if `recurses`; else it only looks whether that is nothing.
    fn clear(&mut self, dir: &Dir, name: &[u8], path: &[u8], recurses: bool) -> Fate {
        if dir.is_mount_point(name) {
            self.notice(Notice::NotDeletingMountPoint, path);
            return Fate::Stays;
        }
        let fate = self.empty(dir, name, path, recurses);
        if fate == Fate::Stays {
            self.notice(Notice::NotDeletingNonEmpty, path);
        }
        fate
    }

    /// Deletes all that a directory holds and no rule protects.
    fn empty(&mut self, dir: &Dir, name: &[u8], path: &[u8], recurses: bool) -> Fate {
        let inside = match dir.open_dir(name, tree::Follow::Never) {
            Ok(inside) => inside,
            Err(error) => {
                self.problem(Doing::OPEN_DIR, error);
                return Fate::Stays;
            }
        };
        let Some(names) = self.names_in(&inside) else { return Fate::Stays };
        if !recurses {
            return if names.iter().next().is_some() { Fate::Stays } else { Fate::Gone };
        }
        self.go_to(path, &inside);
        let mut fate = Fate::Gone;
        for listed in names.iter().collect::<Vec<_>>().into_iter().rev() {
            let (below, is_dir) = (join(path, listed.name), listed.kind == Kind::Dir);
            let hit = self.filter.hit_in_doomed_dir(&below, is_dir);
            if self.is_protected(hit, &below, is_dir) {
                fate = Fate::Stays;
                continue;
            }
            // A directory that keeps something is tried all the same, as rsync does: that it is
            // not empty is told twice, and `--max-delete` counts it.
            if is_dir && self.clear(&inside, listed.name, &below, true) == Fate::Stays {
                fate = Fate::Stays;
            }
            let cause = Cause::Extraneous;
            if self.remove(&inside, listed.name, &below, is_dir, cause) == Fate::Stays {
                fate = Fate::Stays;
            }
        }
        self.go_to(split(path).0, dir);
        fate
    }

    /// Removes one item; of a directory only an empty one goes.
    fn remove(&mut self, dir: &Dir, name: &[u8], path: &[u8], is_dir: bool, cause: Cause) -> Fate {
        if cause == Cause::Extraneous && self.limit_is_reached() {
            self.deletions.left_out += 1;
            return Fate::Stays;
        }
        let kind = match is_dir {
            true => Kind::Dir,
            false => dir.stat(name).map_or(Kind::Regular, |stat| stat.kind()),
        };
        let removed = match is_dir {
            _ if self.rules.options.dry_run => Ok(()),
            true => dir.remove_dir(name),
            false if self.keeps_deleted(name) => {
                self.site.back_up((dir, name), path, self.rules.monitor)
            }
            false => dir.remove_file(name),
        };
        match removed {
            Ok(()) => {
                if is_dir {
                    self.dirs.forget(path);
                }
                self.tell_deleted(path, kind, cause);
                Fate::Gone
            }
            Err(error) if error.is_not_found() => Fate::Gone,
            Err(error) if error.reason().kind() == ErrorKind::DirectoryNotEmpty => {
                self.notice(Notice::NotDeletingNonEmpty, path);
                Fate::Stays
            }
            Err(error) => {
                let doing = match is_dir {
                    true => Doing::REMOVE_DIR,
                    false if self.keeps_deleted(name) => Doing::RENAME,
                    false => Doing::REMOVE,
                };
                self.problem(doing, error);
                Fate::Stays
            }
        }
    }

    fn is_protected(&self, hit: Option<Hit<'_>>, name: &[u8], is_dir: bool) -> bool {
        let monitor = self.rules.monitor;
        RuleHit::judged(hit, Who::Generator, (name, is_dir), monitor) == Verdict::Exclude
    }

    fn limit_is_reached(&self) -> bool {
        self.deletions.limit.is_some_and(|limit| self.deletions.total >= limit)
    }

    fn tell_deleted(&mut self, path: &[u8], kind: Kind, cause: Cause) {
        if cause == Cause::InTheWay {
            return;
        }
        self.deletions.total += 1;
        self.deletions.counts.add(kind);
        (self.rules.monitor)(Event::Deleted { name: path, is_dir: kind == Kind::Dir });
    }

    /// Tells whether a deleted file is kept as a backup; a backup itself is not.
    fn keeps_deleted(&self, name: &[u8]) -> bool {
        self.site
            .backup
            .as_ref()
            .is_some_and(|backup| backup.tree.is_some() || !name.ends_with(&backup.suffix))
    }

    /// Removes what is in the way of an item of another kind; true when the place is free.
    pub(super) fn make_way(&mut self, case: &Case<'_>, thing: &str) -> Result<bool> {
        let (Some(now), Some(dir)) = (&case.now, case.dir.as_deref()) else { return Ok(true) };
        let is_dir = now.kind() == Kind::Dir;
        let path = &case.entry.name;
        let fate = self.delete(dir, case.name, path, is_dir, Cause::InTheWay);
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
            case.list.touch();
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
