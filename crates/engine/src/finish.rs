//! How a received file gets into its place: backup, attributes, rename
//! (docs/protocol/transfer.md, "Finish: order").

use std::io::Seek;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use tree::{Dir, Staged};
use wire::options::{Append, Options};

use crate::backup::is_other_device;
use crate::board::{Asked, BasisAt, Board, News};
use crate::event::{Event, Gravity, Monitor, Problem};
use crate::notice::Notice;
use crate::received::Entry;
use crate::site::Site;
use crate::site_dirs::SiteDirs;
use crate::trouble::{Doing, Trouble, Who};
use crate::wanted::{ComeValues, Keeps, LongAttributes, Times};

/// Files that lie finished in the partial dirs (`--delay-updates`), by the path that they get.
#[derive(Debug, Default)]
pub(crate) struct DelayedUpdates(Mutex<Vec<Box<[u8]>>>);

impl DelayedUpdates {
    fn add(&self, path: &[u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(path.into());
    }

    /// Takes all of them.
    pub(crate) fn take(&self) -> Vec<Box<[u8]>> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Sums over all received files.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) errors: AtomicU64,
    pub(crate) transferred: AtomicU64,
    pub(crate) transferred_size: AtomicU64,
    pub(crate) literal_bytes: AtomicU64,
    pub(crate) matched_bytes: AtomicU64,
}

/// What finishing needs; all threads share it.
#[derive(Clone, Copy)]
pub(crate) struct Finish<'a> {
    pub(crate) options: &'a Options,
    pub(crate) site: &'a Site,
    pub(crate) board: &'a Board,
    pub(crate) come_values: &'a ComeValues,
    pub(crate) delayed: &'a DelayedUpdates,
    pub(crate) tally: &'a Tally,
    pub(crate) monitor: Monitor<'a>,
    /// Whether the generator wants to hear of every file.
    pub(crate) tells_all: bool,
}

impl<'a> Finish<'a> {
    fn keeps(&self) -> Keeps<'a> {
        Keeps { options: self.options, site: self.site }
    }

    /// Creates the temporary file for what was asked.
    pub(crate) fn stage<'d>(
        &self,
        asked: &Asked,
        dir: &'d Dir,
        name: &[u8],
    ) -> tree::Result<Staged<'d>>
    where
        'a: 'd,
    {
        let suffix = &self.site.suffix;
        asked.list.touch();
        match &self.site.temp_dir {
            Some(temp_dir) => temp_dir.stage(tree::temp_name(name, suffix, false), 0o600),
            None => {
                self.site.note_temporary(self.site.place(&self.entry(asked).name).0);
                dir.stage(tree::temp_name(name, suffix, true), 0o600)
            }
        }
    }

    fn entry<'b>(&self, asked: &'b Asked) -> &'b Entry {
        &asked.list.entries[asked.index]
    }

    /// Puts a complete file into its place. `dirs` are the directories that the caller has open.
    pub(crate) fn place(
        &self,
        asked: &Asked,
        staged: Staged<'_>,
        (dir, name): (&Dir, &[u8]),
        dirs: &mut SiteDirs,
    ) -> bool {
        match self.try_place(asked, staged, (dir, name), dirs) {
            Ok(()) => true,
            Err((doing, error)) => {
                self.problem(doing, error);
                false
            }
        }
    }

    fn try_place(
        &self,
        asked: &Asked,
        mut staged: Staged<'_>,
        (dir, name): (&Dir, &[u8]),
        dirs: &mut SiteDirs,
    ) -> Result<(), (Doing, tree::Error)> {
        let entry = self.entry(asked);
        if self.options.fsync {
            staged.file.sync_all().map_err(|source| {
                let path = dir.path_of(name);
                (Doing::WRITE, tree::Error::Io { op: "sync", path, source })
            })?;
        }
        let long = self.long(asked);
        let set = |staged: &Staged<'_>| {
            let mode_of = asked.now.as_ref();
            self.keeps().apply_new(staged, entry, mode_of, &long, Times::Exact)
        };
        for error in set(&staged) {
            self.problem(Doing::of_attribute(&error), error);
        }
        let (dir_path, _) = self.site.place(&entry.name);
        if self.options.delay_updates
            && let Ok(Some(partial)) = self.site.make_partial(dirs, dir_path)
        {
            staged.commit(&partial, name).map_err(|error| (Doing::RENAME, error))?;
            self.delayed.add(&entry.name);
            return Ok(());
        }
        if asked.now.is_some() && !asked.is_redo {
            self.site
                .back_up_replaced((dir, name), &entry.name, self.monitor)
                .map_err(|error| (Doing::RENAME, error))?;
        }
        match staged.commit(dir, name) {
            Ok(()) => {}
            Err(error) if is_other_device(&error) => {
                let mut near = self.copied(asked, &mut staged, dir, name)?;
                for error in set(&near) {
                    self.problem(Doing::of_attribute(&error), error);
                }
                near.commit(dir, name).map_err(|error| (Doing::RENAME, error))?;
            }
            Err(error) => return Err((Doing::RENAME, error)),
        }
        if asked.basis == BasisAt::Partial {
            self.remove_partial(dirs, dir_path, name);
        }
        Ok(())
    }

    /// Copies a file that was staged on another file system.
    fn copied<'d>(
        &self,
        asked: &Asked,
        staged: &mut Staged<'_>,
        dir: &'d Dir,
        name: &[u8],
    ) -> Result<Staged<'d>, (Doing, tree::Error)> {
        let failed = |source| {
            let path = dir.path_of(name);
            (Doing::WRITE, tree::Error::Io { op: "copy", path, source })
        };
        let temp = tree::temp_name(name, &self.site.suffix, true);
        self.site.note_temporary(self.site.place(&self.entry(asked).name).0);
        let near = dir.stage(temp, 0o600).map_err(|error| (Doing::MAKE_TEMP, error))?;
        staged.file.rewind().map_err(failed)?;
        let len = staged.file.metadata().map_err(failed)?.len();
        tree::copy_whole(&staged.file, &near.file, len).map_err(failed)?;
        Ok(near)
    }

    /// Sets the attributes of a file that was written in its place.
    pub(crate) fn mend(&self, asked: &Asked, (dir, name): (&Dir, &[u8]), times: Times) {
        let entry = self.entry(asked);
        let long = self.long(asked);
        // What it had is stale: writing has changed its time, maybe its set-id bits.
        let now = match self.options.fake_super {
            true => dir.stat_fake(name).ok(),
            false => dir.stat(name).ok(),
        };
        for error in self.keeps().apply((dir, name), entry, now.as_ref(), &long, times) {
            self.problem(Doing::of_attribute(&error), error);
        }
        asked.list.touch();
    }

    fn long(&self, asked: &Asked) -> LongAttributes {
        let mut long = asked.long.clone();
        if !self.come_values.complete(&mut long) {
            let name = &self.entry(asked).name;
            let ours = "the sender left out a value of an extended attribute".to_owned();
            let stock =
                format!("Missing abbreviated xattr value for {}", String::from_utf8_lossy(name));
            self.other_problem(name, ours, stock);
        }
        long
    }

    /// Sets the extended attributes of an item whose values have come.
    pub(crate) fn set_come_values(
        &self,
        (dir, name): (&Dir, &[u8]),
        entry: &Entry,
        mut long: LongAttributes,
    ) {
        self.come_values.complete(&mut long);
        let now = dir.stat(name).ok();
        let only = LongAttributes { access_acl: None, default_acl: None, ..long };
        let keeps = self.keeps();
        for error in keeps.apply((dir, name), entry, now.as_ref(), &only, Times::Exact) {
            self.problem(Doing::of_attribute(&error), error);
        }
    }

    /// Gives up a file that will not come; only that it is not in a batch has to be told.
    pub(crate) fn unanswered(&self, asked: &Asked) {
        if self.board.replays() {
            let name = &self.entry(asked).name;
            let stock = format!("(No batched update for \"{}\")", String::from_utf8_lossy(name));
            self.other_problem(name, "the batch has no update for it".to_owned(), stock);
        }
        self.done(asked, false);
    }

    /// Deals with a file whose checksum was wrong: it is asked for again, once.
    pub(crate) fn failed_verification(&self, asked: &Asked, fate: &'static str) {
        let name = &self.entry(asked).name;
        if !asked.is_redo {
            (self.monitor)(Event::Notice { notice: Notice::VerificationFailed { fate }, name });
            let news = News::Again { list: Arc::clone(&asked.list), index: asked.index };
            self.board.tell(news);
            return;
        }
        let shown = String::from_utf8_lossy(name);
        let ours = format!("its checksum is wrong even after a second try: update {fate}");
        let stock = format!("ERROR: {shown} failed verification -- update {fate}.");
        self.other_problem(name, ours, stock);
        self.done(asked, false);
    }

    /// Says where a file that is not complete goes, and takes it there.
    pub(crate) fn keep_partial(
        &self,
        asked: &Asked,
        staged: Staged<'_>,
        (dir, name): (&Dir, &[u8]),
        dirs: &mut SiteDirs,
    ) -> &'static str {
        if !self.options.partial && self.site.partial_dir.is_none() {
            return "discarded";
        }
        let (dir_path, _) = self.site.place(&self.entry(asked).name);
        let mut staged = staged;
        // Its time shows that it is not what was listed.
        drop(staged.apply(&tree::Attributes { mtime: Some((0, 0)), ..Default::default() }));
        if self.site.partial_dir.is_some() {
            return match self.site.make_partial(dirs, dir_path) {
                Ok(Some(partial)) if staged.commit(&partial, name).is_ok() => {
                    "put into partial-dir"
                }
                _ => "discarded",
            };
        }
        let entry = self.entry(asked);
        let keeps = self.keeps();
        let long = LongAttributes::default();
        drop(keeps.apply_new(&staged, entry, asked.now.as_ref(), &long, Times::Never));
        drop(staged.apply(&tree::Attributes { mtime: Some((0, 0)), ..Default::default() }));
        match staged.commit(dir, name) {
            Ok(()) => "retained",
            Err(_) => "discarded",
        }
    }

    pub(crate) fn remove_partial(&self, dirs: &mut SiteDirs, dir_path: &[u8], name: &[u8]) {
        if let Some(partial) = self.site.open_partial(dirs, dir_path) {
            // It may be gone: an update from it was written into it and then renamed.
            let _ = partial.remove_file(name);
        }
        self.site.leave_partial(dirs, dir_path);
    }

    /// Tells the generator that nothing more happens to a file.
    pub(crate) fn done(&self, asked: &Asked, ok: bool) {
        let is_linked = self.options.hard_links > 0 && self.entry(asked).link_group().is_some();
        if self.tells_all || is_linked {
            let (list, index) = (Arc::clone(&asked.list), asked.index);
            self.board.tell(News::Finished { list, index, ok });
            return;
        }
        asked.list.closed();
        // Once all replies have come, files that are asked for again may be all that is open.
        if asked.list.is_settled() || self.board.phases() > 0 {
            self.board.nudge();
        }
    }

    pub(crate) fn problem(&self, doing: Doing, error: tree::Error) {
        self.tally.errors.fetch_add(1, Relaxed);
        let problem = Problem::system(Who::Receiver, doing, error, Gravity::Error);
        (self.monitor)(Event::Problem(problem));
    }

    pub(crate) fn other_problem(&self, name: &[u8], ours: String, stock: String) {
        self.tally.errors.fetch_add(1, Relaxed);
        let path = self.site.path_of(name);
        let trouble = Trouble::Other { ours, stock };
        let problem = Problem { path, trouble, gravity: Gravity::Error, who: Who::Receiver };
        (self.monitor)(Event::Problem(problem));
    }

    /// Tells whether files are written where they lie.
    pub(crate) fn writes_in_place(&self) -> bool {
        self.options.inplace || self.options.append != Append::No || self.options.write_devices
    }
}
