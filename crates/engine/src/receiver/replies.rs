//! How one reply is dealt with: a report that is told, or a file that is put together.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use delta::Head;
use tree::{Dir, Kind, Reserve};
use wire::item::{Request, iflags};
use wire::options::{Append, Batch};
use wire::sums::SumHead;
use wire::xattr::{lists_follow, read_values};

use super::content::{Outcome, Output, Sink, Work};
use super::lists::broken;
use super::workers::{Content, Job, Workers};
use super::{Receiver, too_early};
use crate::board::{Asked, BasisAt};
use crate::error::{Error, Result};
use crate::event::{Direction, Event, Item, Moved};
use crate::finish::Finish;
use crate::notice::Notice;
use crate::progress::Watch;
use crate::received::Entry;
use crate::site::Site;
use crate::trouble::Doing;
use crate::wanted::Times;

/// Files up to this length are put together in memory.
const SMALL_FILE: u64 = 64 << 10;

/// Where a file goes.
struct Spot<'s> {
    dir: Arc<Dir>,
    name: &'s [u8],
}

impl<'a, R: Read> Receiver<'a, '_, R> {
    /// Deals with a report that no content belongs to.
    pub(super) fn item(&mut self, request: &Request) -> Result<()> {
        let list = self.lists.iter().find(|list| list.at(request.ndx).is_some()).map(Arc::clone);
        let entry = list.as_ref().and_then(|list| list.at(request.ndx));
        let Some(entry) = entry else {
            return Err(broken(format!("a report on index {}, which no list has", request.ndx)));
        };
        if self.board.replays() {
            self.board.await_examined(request.ndx);
        }
        if let Some(list) = &list {
            self.listed_here = self.entries_before(list, list.ndx_end());
        }
        let awaited = self.board.take_awaited(request.ndx);
        let wanted = awaited.as_ref().map(|long| long.wanted.as_slice()).unwrap_or_default();
        self.read_values(request, entry, wanted)?;
        if let Some(long) = awaited
            && let Some(site) = self.site.get()
        {
            let (dir_path, name) = site.place(&entry.name);
            if let Ok(Some(dir)) = self.site_dirs.open(site, dir_path) {
                self.finish(site).set_come_values((&dir, name), entry, long);
            }
        }
        self.tell(request, entry, Moved::default());
        Ok(())
    }

    /// Reads the long attribute values that were asked for with an item.
    fn read_values(&mut self, request: &Request, entry: &Entry, wanted: &[u32]) -> Result<()> {
        let is_asked = !self.rules.options.dry_run || self.only_records();
        if self.rules.options.xattrs == 0
            || !(is_asked || self.board.replays())
            || !lists_follow(self.rules.dialect, request.iflags)
        {
            return Ok(());
        }
        let Some(set) = entry.xattrs() else {
            return Err(broken("values of extended attributes for an item without any".to_owned()));
        };
        // What a batch was asked for when it was written is not known.
        let any: Vec<u32> = set.iter().map(|xattr| xattr.number).collect();
        let wanted = if self.board.replays() { &any } else { wanted };
        for (number, value) in read_values(self.reader, wanted, set)? {
            self.rules.come_values.know(set, number, &value);
        }
        Ok(())
    }

    fn tell(&self, request: &Request, entry: &Entry, moved: Moved<'_>) {
        if !self.rules.is_client {
            return;
        }
        let is_link = request.iflags & iflags::LOCAL_CHANGE != 0;
        let leader = request.xname.as_deref().filter(|_| is_link);
        let item = entry.item(request.iflags, Direction::Received);
        (self.rules.monitor)(Event::Item(Item { leader, moved, ..item }));
    }

    /// Deals with a reply that content belongs to.
    pub(super) fn file(&mut self, request: Request, workers: &Workers) -> Result<()> {
        let site = self.site.get().ok_or_else(too_early)?;
        let finish = self.finish(site);
        let replays = self.board.replays();
        if replays && !self.board.await_asked(request.ndx, self.failed.contains(&request.ndx)) {
            return self.skip(&request);
        }
        let (passed_over, asked) = self.board.take_asked(request.ndx);
        for unanswered in passed_over {
            finish.unanswered(&unanswered);
        }
        let Some(mut asked) = asked.filter(|asked| replays || asked.request == request) else {
            let text =
                format!("content for index {}, which was not asked for like that", request.ndx);
            return Err(broken(text));
        };
        let list = Arc::clone(&asked.list);
        self.listed_here = self.entries_before(&list, list.ndx_end());
        let entry = &list.entries[asked.index];
        self.read_values(&request, entry, &asked.long.wanted)?;
        let tells_after = self.rules.telling.after_transfer;
        if !tells_after || self.rules.options.dry_run {
            self.tell(&request, entry, Moved::default());
        }
        let tally = self.rules.tally;
        tally.transferred.fetch_add(1, Relaxed);
        tally.transferred_size.fetch_add(entry.size, Relaxed);
        if self.rules.options.dry_run {
            let content_comes = replays || (self.only_records() && self.rules.is_client);
            if content_comes {
                self.pass_content()?;
            }
            finish.done(&asked, true);
            return Ok(());
        }
        self.check_head(&mut asked)?;
        self.rules.progress.begin_file(&entry.name);
        let sum_bytes = u64::from(asked.head.count) * u64::from(4 + asked.head.strong_len);
        let outcome = self.receive(asked, site, workers)?;
        tally.literal_bytes.fetch_add(outcome.literal_bytes, Relaxed);
        tally.matched_bytes.fetch_add(outcome.matched_bytes, Relaxed);
        self.rules.progress.sent_files.fetch_add(1, Relaxed);
        let passed = self.entries_before(&list, request.ndx + 1);
        self.tell_standing(Some(entry.size), passed);
        if tells_after {
            let checksum = Some(outcome.sum.as_slice()).filter(|sum| !sum.is_empty());
            let moved = Moved { data_bytes: outcome.wire_bytes, sum_bytes, checksum };
            self.tell(&request, entry, moved);
        }
        Ok(())
    }

    fn watch(&self, asked: &Asked) -> Watch<'a> {
        let size = asked.list.entries[asked.index].size;
        let told = self.tells_progress();
        let told = told.then_some((self.rules.monitor, size, self.totals.total_size));
        Watch { progress: self.rules.progress, told }
    }

    /// Passes over content of a batch that nobody asked for.
    fn skip(&mut self, request: &Request) -> Result<()> {
        let list = self.lists.iter().find(|list| list.at(request.ndx).is_some()).map(Arc::clone);
        let Some(entry) = list.as_ref().and_then(|list| list.at(request.ndx)) else {
            return Err(broken(format!("content for index {}, which no list has", request.ndx)));
        };
        self.read_values(request, entry, &[])?;
        let (notice, name) = (Notice::SkippedUpdate, &*entry.name);
        (self.rules.monitor)(Event::Notice { notice, name });
        self.pass_content()
    }

    /// Reads content that goes nowhere.
    fn pass_content(&mut self) -> Result<()> {
        let (head, sink) = (self.read_head()?, Sink::Nothing);
        let watch = Watch { progress: self.rules.progress, told: None };
        let work = Work { basis: None, head, sink, prefix: 0, prefix_counts: false, watch };
        self.decoding.read(self.reader, work, false)?;
        Ok(())
    }

    /// Tells whether the session changes nothing here but is recorded.
    fn only_records(&self) -> bool {
        matches!(self.rules.options.batch, Some(Batch::OnlyWrite(_)))
    }

    fn read_head(&mut self) -> Result<Head> {
        let SumHead { count, block_len, strong_len, remainder } =
            SumHead::read(self.reader, self.rules.dialect.protocol)?;
        Ok(Head { count, block_len, strong_len, remainder })
    }

    /// The sender repeats what was said of the basis; that of a batch was told by another.
    fn check_head(&mut self, asked: &mut Asked) -> Result<()> {
        let sent = self.read_head()?;
        if self.board.replays() {
            asked.head = sent;
        }
        match sent == asked.head {
            true => Ok(()),
            false => Err(broken("another description of the basis than it was given".to_owned())),
        }
    }

    fn receive(&mut self, asked: Asked, site: &Site, workers: &Workers) -> Result<Outcome> {
        let finish = self.finish(site);
        let list = Arc::clone(&asked.list);
        let entry = &list.entries[asked.index];
        let (dir_path, name) = site.place(&entry.name);
        let dir = match self.site_dirs.open(site, dir_path) {
            Ok(Some(dir)) => dir,
            Ok(None) => return self.drop_content(&asked, finish, gone(site, dir_path)),
            Err(error) => return self.drop_content(&asked, finish, error),
        };
        let spot = Spot { dir, name };
        if let Some(handover) = self.rules.handover
            && let Some(source) = handover.take(asked.request.ndx)
        {
            return self.copy(asked, spot, source, workers);
        }
        if finish.writes_in_place() && (asked.now.is_some() || self.rules.options.inplace) {
            return self.in_place(&asked, site, &spot);
        }
        let is_small = entry.size <= SMALL_FILE && asked.head.count == 0 && !asked.is_redo;
        if is_small && !self.rules.options.sparse && !self.rules.options.preallocate {
            return self.small(asked, site, spot, workers);
        }
        self.staged(&asked, site, &spot)
    }

    /// Takes a file of this machine; the thread of its directory copies it.
    fn copy(
        &mut self,
        asked: Asked,
        spot: Spot<'_>,
        source: File,
        workers: &Workers,
    ) -> Result<Outcome> {
        let len = source.metadata().map_or(0, |metadata| metadata.len());
        let name = spot.name.to_vec();
        workers.give(Job { asked, dir: spot.dir, name, content: Content::Source(source) });
        Ok(Outcome { len, literal_bytes: len, is_verified: true, ..Outcome::default() })
    }

    fn small(
        &mut self,
        asked: Asked,
        site: &Site,
        spot: Spot<'_>,
        workers: &Workers,
    ) -> Result<Outcome> {
        let room = usize::try_from(asked.list.entries[asked.index].size).unwrap_or(0);
        let sink = Sink::Memory(Vec::with_capacity(room));
        let head = asked.head;
        let watch = self.watch(&asked);
        let work = Work { basis: None, head, sink, prefix: 0, prefix_counts: false, watch };
        let mut outcome = self.decoding.read(self.reader, work, false)?;
        if !outcome.is_verified {
            self.failed_verification(&asked, site, "discarded");
            return Ok(outcome);
        }
        let content = Content::Bytes(std::mem::take(&mut outcome.data));
        workers.give(Job { asked, dir: spot.dir, name: spot.name.to_vec(), content });
        Ok(outcome)
    }

    fn staged(&mut self, asked: &Asked, site: &Site, spot: &Spot<'_>) -> Result<Outcome> {
        let finish = self.finish(site);
        let basis = self.open_basis(asked, site, spot);
        let staged = match finish.stage(asked, &spot.dir, spot.name) {
            Ok(staged) => staged,
            Err(error) => return self.drop_content_of(asked, finish, Doing::MAKE_TEMP, error),
        };
        let options = self.rules.options;
        let size = asked.list.entries[asked.index].size;
        if options.preallocate {
            let reserve = if options.sparse { Reserve::Grow } else { Reserve::KeepSize };
            // A file system that cannot is no reason not to write.
            let _ = tree::preallocate(&staged.file, size, reserve);
        }
        let output = Output::new(&staged.file, false, options.sparse);
        let (head, sink) = (asked.head, Sink::File(output));
        let (basis, watch) = (basis.as_ref(), self.watch(asked));
        let work = Work { basis, head, sink, prefix: 0, prefix_counts: false, watch };
        let place = (&*spot.dir, spot.name);
        let outcome = match self.decoding.read(self.reader, work, false) {
            Ok(outcome) => outcome,
            Err(error) => {
                finish.keep_partial(asked, staged, place, &mut self.site_dirs);
                return Err(self.write_error(error, spot));
            }
        };
        if options.preallocate {
            staged.file.set_len(outcome.len).map_err(Error::Write)?;
        }
        if outcome.is_verified {
            let ok = finish.place(asked, staged, place, &mut self.site_dirs);
            finish.done(asked, ok);
        } else {
            let fate = finish.keep_partial(asked, staged, place, &mut self.site_dirs);
            self.failed_verification(asked, site, fate);
        }
        Ok(outcome)
    }

    fn failed_verification(&mut self, asked: &Asked, site: &Site, fate: &'static str) {
        if self.board.replays() && !asked.is_redo {
            self.failed.insert(asked.request.ndx);
        }
        self.finish(site).failed_verification(asked, fate);
    }

    /// Names the file that could not be written.
    fn write_error(&self, error: Error, spot: &Spot<'_>) -> Error {
        match error {
            Error::Write(source) => {
                let path = spot.dir.path_of(spot.name);
                Error::Destination(tree::Error::Io { op: "write", path, source })
            }
            error => error,
        }
    }

    /// Writes into the destination file.
    fn in_place(&mut self, asked: &Asked, site: &Site, spot: &Spot<'_>) -> Result<Outcome> {
        let finish = self.finish(site);
        let is_device = asked.now.is_some_and(|now| now.kind() == Kind::Device);
        let opened = match &asked.now {
            Some(_) if is_device => spot.dir.open_device(spot.name),
            Some(now) => open_writable(&spot.dir, spot.name, now.mode),
            None => spot.dir.create(spot.name, 0o600),
        };
        let file = match opened {
            Ok(file) => file,
            Err(error) => return self.drop_content_of(asked, finish, Doing::OPEN_INPLACE, error),
        };
        let basis = self.open_basis(asked, site, spot);
        let prefix = if asked.is_append { asked.head.basis_len() } else { 0 };
        let verifies =
            self.rules.options.append == Append::Verifying || self.rules.dialect.protocol < 30;
        let mut output = Output::new(&file, true, self.rules.options.sparse && !is_device);
        if asked.basis == BasisAt::Destination && asked.head.count > 0 {
            output.keep_blocks();
        }
        let work = Work {
            basis: basis.as_ref(),
            head: asked.head,
            sink: Sink::File(output),
            prefix,
            prefix_counts: asked.is_append && verifies,
            watch: self.watch(asked),
        };
        let outcome = self.decoding.read(self.reader, work, is_device);
        let place = (&*spot.dir, spot.name);
        let outcome = outcome.map_err(|error| {
            finish.mend(asked, place, Times::Never);
            self.write_error(error, spot)
        })?;
        let times = if outcome.is_verified { Times::Exact } else { Times::Never };
        if self.rules.options.fsync {
            file.sync_all().map_err(Error::Write)?;
        }
        drop(file);
        finish.mend(asked, place, times);
        match outcome.is_verified {
            true => finish.done(asked, true),
            false => self.failed_verification(asked, site, "retained"),
        }
        Ok(outcome)
    }

    fn open_basis(&mut self, asked: &Asked, site: &Site, spot: &Spot<'_>) -> Option<File> {
        let (dir_path, _) = site.place(&asked.list.entries[asked.index].name);
        let alternative = |number: usize, dir: &[u8], name: &[u8]| {
            site.alternatives.get(number)?.as_ref()?.open_dir(dir).ok()?.open_file(name).ok()
        };
        match &asked.basis {
            BasisAt::Nowhere => None,
            BasisAt::Destination => match asked.now {
                Some(now) if now.kind() == Kind::Device => spot.dir.open_device(spot.name).ok(),
                _ => spot.dir.open_file(spot.name).ok(),
            },
            BasisAt::Partial => {
                let partial = site.open_partial(&mut self.site_dirs, dir_path)?;
                partial.open_file(spot.name).ok()
            }
            BasisAt::Backup => {
                let backup = site.backup.as_ref()?;
                let kept = backup.name(spot.name);
                match &backup.tree {
                    Some(tree) => tree.root().ok()?.open_dir(dir_path).ok()?.open_file(&kept).ok(),
                    None => spot.dir.open_file(&kept).ok(),
                }
            }
            BasisAt::Alternative(number, path) => {
                let (dir, name) = crate::received::split(path);
                alternative(*number, dir, name)
            }
            BasisAt::Fuzzy(name) => spot.dir.open_file(name).ok(),
            BasisAt::AlternativeFuzzy(number, name) => alternative(*number, dir_path, name),
        }
    }

    fn drop_content(
        &mut self,
        asked: &Asked,
        finish: Finish<'_>,
        error: tree::Error,
    ) -> Result<Outcome> {
        self.drop_content_of(asked, finish, Doing::MAKE_TEMP, error)
    }

    /// Reads a file that cannot be written, and tells why.
    fn drop_content_of(
        &mut self,
        asked: &Asked,
        finish: Finish<'_>,
        doing: Doing,
        error: tree::Error,
    ) -> Result<Outcome> {
        finish.problem(doing, error);
        if let Some(handover) = self.rules.handover
            && handover.take(asked.request.ndx).is_some()
        {
            finish.done(asked, false);
            return Ok(Outcome::default());
        }
        let (head, sink) = (asked.head, Sink::Nothing);
        let watch = self.watch(asked);
        let work = Work { basis: None, head, sink, prefix: 0, prefix_counts: false, watch };
        let outcome = self.decoding.read(self.reader, work, false)?;
        finish.done(asked, false);
        Ok(outcome)
    }
}

fn gone(site: &Site, dir_path: &[u8]) -> tree::Error {
    let path = site.path_of(dir_path);
    tree::Error::Io { op: "open directory", path, source: std::io::ErrorKind::NotFound.into() }
}

/// Opens a file for writing, giving its owner the right to for a moment.
fn open_writable(dir: &Dir, name: &[u8], mode: u32) -> tree::Result<File> {
    match dir.open_rw(name) {
        Err(error) if error.reason().kind() == std::io::ErrorKind::PermissionDenied => {
            let set = tree::Attributes { mode: Some(mode & 0o7777 | 0o200), ..Default::default() };
            drop(dir.apply(name, None, &set));
            dir.open_rw(name)
        }
        opened => opened,
    }
}
