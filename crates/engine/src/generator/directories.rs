//! Directories: made before their content, finished after it.

use std::io::Write;
use std::sync::Arc;

use tree::{Kind, Stat};
use wire::flist::DirMark;
use wire::item::iflags;
use wire::options::Options;

use super::Generator;
use super::entry::Case;
use crate::error::Result;
use crate::notice::Notice;
use crate::received::{Entry, ReceivedList};
use crate::trouble::{Doing, Trouble};
use crate::wanted::{Keeps, LongAttributes, Times};

/// Without being root we need these bits to work in a directory.
const WORKING: u32 = 0o700;
const SET_GID: u32 = 0o2000;

impl<W: Write> Generator<'_, W> {
    /// Makes a directory that is missing while its parent is in hand, so that the parent's time
    /// settles; everything else about it waits for its own list.
    pub(super) fn make_early(
        &mut self,
        list: &Arc<ReceivedList>,
        index: usize,
        entry: &Entry,
    ) -> Result<()> {
        let options = self.rules.options;
        let is_own = *entry.name == *b".";
        if is_own || options.dry_run || options.existing || self.is_passed_through(entry) {
            return Ok(());
        }
        let (dir_path, name) = self.site.place(&entry.name);
        let Ok(Some(dir)) = self.open_dir(dir_path) else { return Ok(()) };
        let Ok(now) = self.look(Some(&dir), name, entry) else { return Ok(()) };
        let is_there = now.is_some_and(|now| now.kind() == Kind::Dir);
        if is_there || now.is_some() && options.ignore_existing {
            return Ok(());
        }
        let ndx = list.ndx(index);
        let case = Case { list, index, ndx, entry, dir: Some(Arc::clone(&dir)), name, now };
        if now.is_some() && !self.make_way(&case, "new directory")? {
            self.skipped = Some(entry.name.to_vec());
        } else if dir.make_dir(name, entry.mode & WORKING | WORKING).is_ok() {
            list.touch();
            self.made_early.insert(entry.name.clone());
        }
        Ok(())
    }

    /// Deals with the directory that a list is the content of.
    pub(super) fn begin_content(&mut self, list: &Arc<ReceivedList>) -> Result<()> {
        let Some(entry) = list.own_dir().filter(|entry| !self.is_skipped(&entry.name)) else {
            return Ok(());
        };
        if self.rules.options.list_only {
            self.list_entry(entry);
            return Ok(());
        }
        let site = self.site;
        let (dir_path, name) = site.place(&entry.name);
        let dir = match self.open_dir(dir_path) {
            Ok(None) if !self.rules.options.dry_run && site.root.is_some() => {
                self.dirs.make(site, dir_path, 0o777 & !site.umask)
            }
            opened => opened,
        };
        let now = dir.and_then(|dir| Ok((self.look(dir.as_deref(), name, entry)?, dir)));
        let (now, dir) = match now {
            Ok(found) => found,
            Err(error) => {
                self.problem(Doing::STAT_DEST, error);
                self.skipped = Some(entry.name.to_vec());
                return Ok(());
            }
        };
        let ndx = list.ndx_start - 1;
        let case = Case { list, index: 0, ndx, entry, dir, name, now };
        if self.is_left_out_dir(&case) {
            return Ok(());
        }
        self.directory(&case)
    }

    /// Tells whether it only lies above an argument of `--relative` and is to be left alone.
    fn is_passed_through(&self, entry: &Entry) -> bool {
        !self.rules.options.implied_dirs && entry.dir_mark == DirMark::Implied
    }

    /// Deals with a directory: makes it or mends it, and deletes in it when it is time.
    pub(super) fn directory(&mut self, case: &Case<'_>) -> Result<()> {
        if self.is_passed_through(case.entry) {
            return Ok(());
        }
        if !self.rules.options.lists_dirs() && !self.rules.options.relative {
            self.notice(Notice::SkippingDirectory, &case.entry.name);
            return Ok(());
        }
        let was_made = self.made_early.remove(&case.entry.name);
        let present = case.now.filter(|now| now.kind() == Kind::Dir);
        if case.now.is_some() && present.is_none() && !self.make_way(case, "new directory")? {
            self.skipped = Some(case.entry.name.to_vec());
            return Ok(());
        }
        let made = match present {
            Some(now) => Some(now),
            None if self.rules.options.dry_run => None,
            None => match self.make_directory(case) {
                Some(made) => Some(made),
                None => return Ok(()),
            },
        };
        let is_new = was_made || present.is_none();
        self.mend(case, made, is_new)?;
        if is_new {
            case.list.touch();
        }
        self.delete_during(case, is_new)
    }

    fn make_directory(&mut self, case: &Case<'_>) -> Option<Stat> {
        let dir = case.dir.as_deref()?;
        let mode = case.entry.mode & 0o777 | WORKING;
        let made = dir.make_dir(case.name, mode).and_then(|()| dir.stat(case.name));
        match made {
            Ok(made) => Some(made),
            Err(error) => {
                self.problem(Doing::MAKE_DIR, error);
                let stock = "*** Skipping any contents from this failed directory ***".to_owned();
                let ours = "the content of this directory is passed over".to_owned();
                self.told_problem(&case.entry.name, Trouble::Other { ours, stock });
                self.skipped = Some(case.entry.name.to_vec());
                None
            }
        }
    }

    /// Sets the attributes of a directory and reports it.
    fn mend(&mut self, case: &Case<'_>, present: Option<Stat>, is_new: bool) -> Result<()> {
        let now = present.filter(|_| !is_new);
        let long = self.long_of(case, now.as_ref());
        let flags = match &now {
            Some(now) => self.keeps().differences(case.entry, now, long.flags),
            None => match self.find(case) {
                Some(found) => self.flags_beside(case, &found),
                None => iflags::LOCAL_CHANGE | iflags::IS_NEW | long.flags,
            },
        };
        if let Some(present) = &present {
            self.set_dir_attributes(case, present, is_new, &long.values);
        }
        self.report(case.ndx, flags, None, &long.values.wanted)
    }

    fn set_dir_attributes(
        &mut self,
        case: &Case<'_>,
        present: &Stat,
        is_new: bool,
        long: &LongAttributes,
    ) {
        let Some(dir) = case.dir.as_deref().filter(|_| !self.rules.options.dry_run) else { return };
        let long = &self.at_once(case.ndx, long);
        let keeps = self.keeps();
        let before = (!is_new).then_some(present);
        let mut entry = case.entry.clone();
        // The mode that it ends with; while we work in it we may need more.
        entry.mode = 0o040_000 | keeps.mode(case.entry, before, Some(dir));
        if is_new && !self.rules.options.perms {
            // What the directory above gives.
            entry.mode |= present.mode & SET_GID;
        }
        if !self.site.is_root && entry.mode & WORKING != WORKING {
            entry.mode |= WORKING;
            case.list.touch();
        }
        // The mode is that of the entry now, whatever is kept.
        let kept = Options { perms: true, ..self.rules.options.clone() };
        let keeps = Keeps { options: &kept, site: self.site };
        let place = (dir, case.name);
        for error in keeps.apply(place, &entry, Some(present), long, Times::WhereDifferent) {
            self.attribute_problem(error);
        }
    }

    /// Finishes the directory of a list that is done with.
    pub(super) fn leave_content(&mut self, list: &ReceivedList) {
        if list.is_touched()
            && !self.deletions.come_late()
            && let Some(entry) = list.own_dir()
        {
            self.finish_directory(entry);
        }
        if list.is_touched()
            && self.deletions.come_late()
            && let Some(entry) = list.own_dir()
        {
            self.unfinished.push(entry.clone());
        }
    }

    /// Finishes all directories whose times could not be settled before.
    pub(super) fn finish_directories(&mut self) {
        let unfinished = std::mem::take(&mut self.unfinished);
        for entry in unfinished.iter().rev() {
            self.finish_directory(entry);
        }
        let Some(list) = self.live.front().map(Arc::clone) else { return };
        for entry in list.entries.iter().rev() {
            if entry.is_dir() && !entry.is_duplicate {
                self.finish_directory(entry);
            }
        }
    }

    /// Sets mode and time of a directory in which work was done.
    fn finish_directory(&mut self, entry: &Entry) {
        if self.rules.options.dry_run
            || self.is_passed_through(entry)
            || self.is_skipped(&entry.name)
        {
            return;
        }
        let site = self.site;
        let (dir_path, name) = site.place(&entry.name);
        let Ok(Some(dir)) = self.open_dir(dir_path) else { return };
        let Ok(Some(now)) = self.look(Some(&dir), name, entry) else { return };
        let keeps = self.keeps();
        if now.kind() != Kind::Dir {
            return;
        }
        let mode = if self.rules.options.perms { entry.mode } else { now.mode };
        let has_time = match self.rules.dialect.protocol {
            ..31 => now.mtime == entry.mtime,
            _ => (now.mtime, now.mtime_nsec) == (entry.mtime, entry.mtime_nsec),
        };
        if now.mode & 0o7777 == mode & 0o7777 && (!keeps.keeps_time(Kind::Dir) || has_time) {
            return;
        }
        // What fails now has failed before, and was told.
        drop(keeps.apply(
            (&dir, name),
            entry,
            Some(&now),
            &LongAttributes::default(),
            Times::Exact,
        ));
    }

    /// Tells whether an option leaves the directory of a list alone, and all below it.
    fn is_left_out_dir(&mut self, case: &Case<'_>) -> bool {
        let options = self.rules.options;
        let notice = match &case.now {
            None if options.existing => Notice::NotCreatingDir,
            Some(now) if options.ignore_existing && now.kind() != Kind::Dir => Notice::Exists,
            _ => return false,
        };
        self.notice(notice, &case.entry.name);
        self.skipped = Some(case.entry.name.to_vec());
        true
    }
}
