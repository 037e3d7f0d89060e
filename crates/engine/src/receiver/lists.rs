//! How file lists are received, checked and handed to the generator.

use std::collections::HashSet;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use filter::Verdict;
use tree::Kind;
use wire::flist::{IdKind, ListStep, ReceivedEntry};
use wire::item::Reply;

use super::{Receiver, too_early};
use crate::error::{Error, Result};
use crate::event::{Event, Problem, Standing};
use crate::received::{Entry, ReceivedList, split};
use crate::scan::LISTING_STEP;
use crate::trouble::Who;

impl<R: Read> Receiver<'_, '_, R> {
    /// Reads the list that begins every session.
    pub(super) fn first_list(&mut self) -> Result<()> {
        self.next_ndx = if self.rules.dialect.inc_recurse() { 1 } else { 0 };
        self.list(None)?;
        if !self.rules.dialect.inc_recurse() {
            self.board.end_lists();
        }
        Ok(())
    }

    /// Reads sub-lists until the generator has made up its mind about the destination.
    ///
    /// A list of one entry does not tell whether more comes; the next thing read does.
    pub(super) fn site_is_known(&mut self) -> Result<bool> {
        let incremental = self.rules.dialect.inc_recurse();
        if incremental && self.lists.front().is_some_and(|list| list.len() == 1) {
            match self.replies.read(self.reader)? {
                Reply::List { dir } => self.sub_list(dir)?,
                Reply::ListsEnd => self.lists_end()?,
                _ => return Err(too_early()),
            }
        }
        Ok(self.board.await_site())
    }

    /// Reads the list of a directory that was listed before.
    pub(super) fn sub_list(&mut self, number: i32) -> Result<()> {
        let dir = usize::try_from(number)
            .ok()
            .and_then(|number| self.dirs_to_come.get_mut(number))
            .and_then(Option::take);
        let Some(dir) = dir.filter(|_| !self.lists.is_empty()) else {
            return Err(broken(format!("a list for directory {number}, which is not due")));
        };
        self.list(Some(dir))
    }

    pub(super) fn lists_end(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.lists_ended, true) {
            return Err(broken("the lists end twice".to_owned()));
        }
        self.board.end_lists();
        Ok(())
    }

    fn list(&mut self, dir: Option<Box<Entry>>) -> Result<()> {
        if self.lists_ended {
            return Err(broken("a list after the last one".to_owned()));
        }
        let begin = self.reader.bytes_read();
        self.decoder.begin_list(self.next_ndx);
        let mut entries = Vec::new();
        self.tell_growth(0);
        let io_error = loop {
            match self.decoder.next(self.reader)? {
                ListStep::Entry(mut entry) => {
                    self.check_place(&entry, dir.as_deref())?;
                    self.check_charset(&entry);
                    if let Some(requested) = &self.rules.requested {
                        requested.check(&mut entry)?;
                    }
                    entries.push(entry);
                    self.tell_growth(entries.len() as u64);
                }
                ListStep::End { io_error } => break io_error,
            }
        };
        for (kind, id, name) in self.decoder.take_names() {
            self.rules.ids.learn(kind, id, &name);
        }
        entries.iter_mut().for_each(|entry| self.adapt(entry));
        let mut list =
            ReceivedList::new(self.next_ndx, entries, dir, self.rules.options.charset.is_some());
        if let Some(filter) = &self.rules.pruning {
            list.prune(|dir| filter.check(dir, true) == Verdict::Exclude);
        }
        self.check_symlinks(&list)?;
        self.settle_groups(&mut list);
        self.count(&list);
        if self.tells_growth() {
            (self.rules.monitor)(Event::ListComplete(self.totals.files.total()));
        }
        self.totals.list_bytes += self.reader.bytes_read() - begin;
        self.next_ndx =
            list.ndx_end().checked_add(1).ok_or_else(|| broken("too many entries".into()))?;
        self.board.add_io_error(io_error);
        self.note_dirs(&list);
        let list = Arc::new(list);
        self.lists.push_back(Arc::clone(&list));
        self.board.add_list(list);
        Ok(())
    }

    fn tells_growth(&self) -> bool {
        self.rules.is_client && !self.rules.dialect.inc_recurse()
    }

    fn tell_growth(&self, entries: u64) {
        if self.tells_growth() && entries.is_multiple_of(LISTING_STEP) {
            (self.rules.monitor)(Event::Listing(entries));
        }
    }

    pub(super) fn tells_progress(&self) -> bool {
        self.rules.is_client && self.rules.telling.progress
    }

    /// Counts the entries of all lists up to the one of `list` before `ndx_end`.
    pub(super) fn entries_before(&self, list: &ReceivedList, ndx_end: i32) -> u64 {
        let before = self.lists.partition_point(|other| other.ndx_start <= list.ndx_start);
        // With incremental recursion each list has an index more than it has entries.
        let lists = if self.rules.dialect.inc_recurse() { self.retired + before } else { 0 };
        u64::try_from(ndx_end).unwrap_or(0).saturating_sub(lists as u64)
    }

    /// Tells how far the session is, after a file of this length or something else.
    pub(super) fn tell_standing(&self, file: Option<u64>, passed: u64) {
        if self.tells_progress() {
            let listed = self.totals.files.total();
            (self.rules.monitor)(Event::Passed(Standing {
                file,
                left: listed.saturating_sub(passed),
                listed,
                complete: self.lists_ended || !self.rules.dialect.inc_recurse(),
                total_size: self.totals.total_size,
            }));
        }
    }

    /// Tells of a name that cannot be said here; nothing is deleted then.
    fn check_charset(&self, entry: &ReceivedEntry) {
        if entry.is_unsayable {
            self.board.add_io_error(1);
            self.rules.tally.errors.fetch_add(1, Relaxed);
            let problem = Problem::unsayable(Who::Receiver, &entry.name);
            (self.rules.monitor)(Event::Problem(problem));
        }
    }

    /// Every name of a sub-list lies directly in its directory.
    fn check_place(&self, entry: &ReceivedEntry, dir: Option<&Entry>) -> Result<()> {
        let (parent, _) = split(&entry.name);
        let fits = match dir {
            Some(dir) if *dir.name == *b"." => parent.is_empty(),
            Some(dir) => parent == &*dir.name,
            None => !self.rules.dialect.inc_recurse() || parent.is_empty(),
        };
        match fits {
            true => Ok(()),
            false => Err(broken(format!(
                "\"{}\" stands in the list of another directory",
                wire::escape::printable(&entry.name)
            ))),
        }
    }

    /// No name lies below a symlink of its own list, which `-K` would follow to anywhere.
    fn check_symlinks(&self, list: &ReceivedList) -> Result<()> {
        if !self.rules.options.keep_dirlinks {
            return Ok(());
        }
        let entries = list.entries.iter().filter(|entry| !entry.is_duplicate);
        let is_link = |entry: &&Entry| entry.kind() == Kind::Symlink;
        let links: HashSet<&[u8]> =
            entries.clone().filter(is_link).map(|link| &*link.name).collect();
        let is_below_link = |entry: &&Entry| {
            let slashes = entry.name.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            slashes.map(|(at, _)| &entry.name[..at]).any(|path| links.contains(path))
        };
        match entries.filter(|_| !links.is_empty()).find(is_below_link) {
            None => Ok(()),
            Some(entry) => {
                let name = wire::escape::printable(&entry.name);
                Err(broken(format!("\"{name}\" lies below a symlink of the same list")))
            }
        }
    }

    /// Changes what this side wants different.
    fn adapt(&self, entry: &mut ReceivedEntry) {
        let options = self.rules.options;
        if options.owner {
            entry.uid = self.rules.ids.map(IdKind::User, entry.uid);
        }
        if options.group {
            entry.gid = self.rules.ids.map(IdKind::Group, entry.gid);
        }
        if self.rules.is_client && entry.mode != 0 && Kind::from_mode(entry.mode) != Kind::Symlink {
            entry.mode = options.chmod.apply(entry.mode, entry.is_dir(), self.rules.umask);
        }
    }

    fn settle_groups(&self, list: &mut ReceivedList) {
        if self.rules.options.group {
            for entry in &mut list.entries {
                entry.keeps_group = !self.rules.ids.may_set_group(entry.gid);
            }
        }
    }

    fn count(&mut self, list: &ReceivedList) {
        for entry in list.entries.iter().filter(|entry| !entry.is_duplicate) {
            self.totals.files.add(entry.kind());
            match entry.kind() {
                Kind::Regular => self.totals.total_size += entry.size,
                Kind::Symlink => {
                    self.totals.total_size += entry.link_target().map_or(0, <[u8]>::len) as u64;
                }
                _ => {}
            }
        }
    }

    /// Numbers the directories of a list: their own lists may follow.
    fn note_dirs(&mut self, list: &ReceivedList) {
        if !self.rules.dialect.inc_recurse() {
            return;
        }
        for entry in list.numbered().filter(|entry| entry.is_dir()) {
            let comes = !entry.is_duplicate && *entry.name != *b".";
            self.dirs_to_come.push(comes.then(|| Box::new(entry.clone())));
        }
    }
}

pub(super) fn broken(text: String) -> Error {
    wire::Error::Protocol(text).into()
}
