//! What is done about one listed item: the tests in the order in which rsync makes them
//! (docs/protocol/transfer.md, "Which files are requested").

use std::io::Write;
use std::sync::Arc;

use tree::{Dir, Kind, Stat};
use wire::item::iflags;
use wire::options::Append;

use super::Generator;
use super::alternatives::Choice;
use crate::error::Result;
use crate::event::{Direction, Event};
use crate::notice::Notice;
use crate::received::{Entry, ReceivedList};
use crate::trouble::Doing;
use crate::wanted::{LongAttributes, Times};

/// An item of a list and what there is in its place.
pub(super) struct Case<'c> {
    pub(super) list: &'c Arc<ReceivedList>,
    /// Its place in the list; of the list's own directory there is none.
    pub(super) index: usize,
    /// The index that it is reported under.
    pub(super) ndx: i32,
    pub(super) entry: &'c Entry,
    /// The directory that it goes into; a dry run may have none.
    pub(super) dir: Option<Arc<Dir>>,
    /// Its name there.
    pub(super) name: &'c [u8],
    pub(super) now: Option<Stat>,
}

impl<W: Write> Generator<'_, W> {
    /// Deals with one entry of a list.
    pub(super) fn entry(&mut self, list: &Arc<ReceivedList>, index: usize) -> Result<()> {
        let entry = &list.entries[index];
        if entry.is_duplicate {
            return Ok(());
        }
        self.sees_member(entry);
        if !self.is_skipped(&entry.name) {
            self.examine(list, index)?;
        }
        self.settle_group(entry)
    }

    fn examine(&mut self, list: &Arc<ReceivedList>, index: usize) -> Result<()> {
        let entry = &list.entries[index];
        let own_list_comes = entry.is_dir() && self.rules.dialect.inc_recurse();
        if self.rules.options.list_only {
            if !own_list_comes {
                self.list_entry(entry);
            }
            return Ok(());
        }
        if own_list_comes {
            return self.make_early(list, index, entry);
        }
        let site = self.site;
        let (dir_path, name) = site.place(&entry.name);
        let Some(dir) = self.parent(dir_path, entry)? else { return Ok(()) };
        let now = match self.look(dir.as_deref(), name, entry) {
            Ok(now) => now,
            Err(error) => {
                self.problem(Doing::STAT_DEST, error);
                return Ok(());
            }
        };
        let ndx = list.ndx(index);
        let case = Case { list, index, ndx, entry, dir, name, now };
        if entry.is_missing_argument() {
            return self.delete_missing_argument(&case);
        }
        if self.is_left_out(&case) {
            return Ok(());
        }
        match entry.kind() {
            Kind::Dir => self.directory(&case),
            _ if self.waits_for_link(&case)? => Ok(()),
            Kind::Regular => self.regular(&case),
            Kind::Symlink | Kind::Device | Kind::Special => self.other(&case),
            Kind::Unknown => {
                self.notice(Notice::SkippingNonRegular, &entry.name);
                Ok(())
            }
        }
    }

    /// Tells of an entry that is only listed.
    pub(super) fn list_entry(&self, entry: &Entry) {
        let atime = (self.rules.options.atimes > 0).then_some(entry.atime);
        (self.rules.monitor)(Event::Listed(entry.item(0, Direction::Received), atime));
    }

    /// Opens the directory that an entry goes into. The outer `None` says that it is passed over.
    fn parent(&mut self, path: &[u8], entry: &Entry) -> Result<Option<Option<Arc<Dir>>>> {
        match self.open_dir(path) {
            Ok(Some(dir)) => return Ok(Some(Some(dir))),
            Ok(None) if self.rules.options.dry_run || self.site.root.is_none() => {
                return Ok(Some(None));
            }
            Ok(None) if self.rules.options.relative => {
                // Directories that were not listed get the mode of any new directory.
                match self.dirs.make(self.site, path, 0o777 & !self.site.umask) {
                    Ok(Some(dir)) => return Ok(Some(Some(dir))),
                    Ok(None) => {}
                    Err(error) => self.problem(Doing::MAKE_DIR, error),
                }
            }
            Ok(None) => {
                let path = self.site.path_of(&entry.name);
                let source = std::io::ErrorKind::NotFound.into();
                let error = tree::Error::Io { op: "look at", path, source };
                self.problem(Doing::STAT_DEST, error);
            }
            Err(error) => self.problem(Doing::STAT_DEST, error),
        }
        Ok(None)
    }

    /// Looks at what there is in an entry's place.
    pub(super) fn look(
        &self,
        dir: Option<&Dir>,
        name: &[u8],
        entry: &Entry,
    ) -> tree::Result<Option<Stat>> {
        let Some(dir) = dir else { return Ok(None) };
        let found = match (name, self.rules.options.fake_super) {
            (b".", _) => dir.stat_self(),
            (_, true) => dir.stat_fake(name),
            (_, false) => dir.stat(name),
        };
        match found {
            Ok(stat)
                if stat.kind() == Kind::Symlink
                    && entry.is_dir()
                    && self.rules.options.keep_dirlinks =>
            {
                let followed = dir.stat_follow(name).ok();
                Ok(Some(followed.filter(|stat| stat.kind() == Kind::Dir).unwrap_or(stat)))
            }
            Ok(stat) => Ok(Some(stat)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Tells whether an option leaves an item alone whatever it is.
    fn is_left_out(&mut self, case: &Case<'_>) -> bool {
        let options = self.rules.options;
        let is_dir = case.entry.is_dir();
        match &case.now {
            None if options.existing => {
                let notice = if is_dir { Notice::NotCreatingDir } else { Notice::NotCreating };
                self.notice(notice, &case.entry.name);
                if is_dir {
                    self.skipped = Some(case.entry.name.to_vec());
                }
                true
            }
            Some(now) if options.ignore_existing && !(is_dir && now.kind() == Kind::Dir) => {
                if is_dir {
                    self.skipped = Some(case.entry.name.to_vec());
                }
                self.notice(Notice::Exists, &case.entry.name);
                true
            }
            _ => false,
        }
    }

    /// Deals with a regular file.
    pub(super) fn regular(&mut self, case: &Case<'_>) -> Result<()> {
        if self.is_wrong_size(case) || self.is_older(case) {
            return Ok(());
        }
        let now = case.now.filter(|now| now.kind() == Kind::Regular || self.writes_device(now));
        if now.is_none() && case.now.is_some() && !self.make_way(case, "new regular file")? {
            return Ok(());
        }
        let found = match self.take_from_alternative(case, now.as_ref())? {
            Choice::Taken => return Ok(()),
            Choice::Like(found) => Some(*found),
            Choice::Nothing => None,
        };
        if let Some(now) = &now
            && self.is_up_to_date(case, now)
        {
            return self.only_attributes(case, now);
        }
        if let (Some(now), append) = (&now, self.rules.options.append)
            && append != Append::No
            && now.size >= case.entry.size
        {
            return Ok(());
        }
        let wish = self.wish(case, now, found);
        self.request(case, wish)?;
        match self.rules.options.dry_run {
            true => self.follow(case.entry),
            false => Ok(()),
        }
    }

    fn writes_device(&self, now: &Stat) -> bool {
        self.rules.options.write_devices && now.kind() == Kind::Device
    }

    fn is_wrong_size(&self, case: &Case<'_>) -> bool {
        let options = self.rules.options;
        let notice = match case.entry.size {
            size if options.max_size.is_some_and(|max| size > max) => Notice::OverMaxSize,
            size if options.min_size.is_some_and(|min| size < min) => Notice::UnderMinSize,
            _ => return false,
        };
        self.notice(notice, &case.entry.name);
        true
    }

    fn is_older(&self, case: &Case<'_>) -> bool {
        let Some(now) = &case.now else { return false };
        let window = i64::from(self.rules.options.modify_window.unwrap_or(0).max(0));
        let behind = case.entry.mtime.saturating_sub(now.mtime);
        let is_older = match behind.checked_add(window) {
            Some(_) if window == 0 => behind < 0,
            _ => behind < window,
        };
        let older = self.rules.options.update && now.kind() == Kind::Regular && is_older;
        if older {
            self.notice(Notice::IsNewer, &case.entry.name);
        }
        older
    }

    /// The quick check.
    pub(super) fn is_up_to_date(&mut self, case: &Case<'_>, now: &Stat) -> bool {
        let options = self.rules.options;
        if now.size != case.entry.size || now.kind() != Kind::Regular {
            return false;
        }
        if options.checksum {
            return self.has_same_checksum(case.dir.as_deref(), case.name, case.entry);
        }
        options.size_only || (!options.ignore_times && self.keeps().same_time(case.entry, now))
    }

    /// Sets the attributes of a file whose content is as it should be.
    fn only_attributes(&mut self, case: &Case<'_>, now: &Stat) -> Result<()> {
        let long = self.long_of(case, Some(now));
        let mut flags = self.keeps().differences(case.entry, now, long.flags);
        if flags & iflags::REPORT_ACL != 0 && !self.rules.options.dry_run {
            // The ACL brings the permissions with it.
            flags &= !iflags::REPORT_PERMS;
        }
        let times = if self.rules.options.checksum { Times::Exact } else { Times::WhereDifferent };
        // A time that counts as equal is not told, yet an exact one is set.
        let same = (now.mtime, now.mtime_nsec) == (case.entry.mtime, case.entry.mtime_nsec);
        let inexact = times == Times::Exact && !same && self.keeps().keeps_time(Kind::Regular);
        if flags != 0 || inexact {
            self.set_attributes(case, now, &long.values, times);
        }
        let notice = if flags != 0 { Notice::Updated } else { Notice::UpToDate };
        self.notice(notice, &case.entry.name);
        self.report(case, flags, None, &long.values.wanted)?;
        self.arrived(case)
    }

    /// Sets the attributes of an item that stays.
    pub(super) fn set_attributes(
        &mut self,
        case: &Case<'_>,
        now: &Stat,
        long: &LongAttributes,
        times: Times,
    ) {
        let Some(dir) = case.dir.as_deref().filter(|_| !self.rules.options.dry_run) else { return };
        let place = (dir, case.name);
        let long = &self.at_once(case.ndx, long);
        for error in self.keeps().apply(place, case.entry, Some(now), long, times) {
            self.attribute_problem(error);
        }
    }

    /// The same content is there and nothing more is to be done for it.
    pub(super) fn arrived(&mut self, case: &Case<'_>) -> Result<()> {
        self.source_is_done_with(case)?;
        self.follow(case.entry)
    }

    /// Adds the bits of `flags` that only a change brings about: a time that becomes "now".
    pub(super) fn with_new_time(&self, entry: &Entry, flags: u16) -> u16 {
        match self.keeps().keeps_time(entry.kind()) {
            true => flags,
            false => flags | iflags::REPORT_TIME,
        }
    }
}
