//! How one request is answered: with a report, with content, or with the word that none comes.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use tree::Kind;
use wire::item::{Request, iflags};
use wire::mux::tag;
use wire::xattr::check_wanted;

use super::{Sender, unknown};
use crate::attributes::put_values;
use crate::content::{self, Sent};
use crate::error::{Error, Result};
use crate::event::{Direction, Event, Gravity, Item, Moved, Problem};
use crate::handover::Handover;
use crate::inbox::{Basis, Incoming, ItemRequest};
use crate::list::{Place, SentList};
use crate::notice::Notice;
use crate::progress::Watch;
use crate::read_ahead::{Ready, Recipe};
use crate::small_file::{self, SMALL_FILE};
use crate::trouble::{Doing, Trouble, Who};

/// The bits that say that an item is not as it should be.
const SIGNIFICANT: u16 =
    !(iflags::BASIS_TYPE_FOLLOWS | iflags::XNAME_FOLLOWS | iflags::LOCAL_CHANGE);
/// Requests that must wait before reading ahead is thought of.
const MIN_WAITING: usize = 4;
/// With a progress display longer files are not handed over: their steps would not be seen.
const MAX_UNSEEN: u64 = 16 << 20;
/// Files that take longer than this to read, on average, come from a disk and not from memory.
const SLOW_READ: Duration = Duration::from_millis(1);

impl<'a, W: Write> Sender<'a, W> {
    pub(super) fn item(&mut self, asked: ItemRequest) -> Result<()> {
        let ndx = asked.request.ndx;
        let list = self.state.lists.find(ndx).map(Arc::clone).ok_or_else(|| unknown(ndx))?;
        self.state.ndx_reached = self.state.ndx_reached.max(list.ndx_end());
        self.state.listed_here = self.entries_before(list.ndx_end());
        self.passed(&list, ndx);
        self.dispatch(asked, &list)?;
        self.progress.current_bytes.store(0, Relaxed);
        self.passed(&list, ndx + 1);
        Ok(())
    }

    fn dispatch(&mut self, mut asked: ItemRequest, list: &SentList) -> Result<()> {
        let ndx = asked.request.ndx;
        let wants_content = asked.request.iflags & iflags::TRANSFER != 0;
        let Some(place) = list.place(ndx) else {
            if wants_content || !self.rules.incremental {
                return Err(unknown(ndx));
            }
            return self.report(&asked, list, &directory_of(list), list.dir_path());
        };
        if !wants_content {
            return self.report(&asked, list, &place, &place.path());
        }
        if place.kind != Kind::Regular || self.state.phase >= 2 {
            return Err(Error::Wire(wire::Error::Protocol(format!(
                "it asks for the content of index {ndx}, which is none that can be sent now"
            ))));
        }
        match asked.basis.take() {
            None => self.report(&asked, list, &place, &place.path()),
            Some(basis) => self.transfer(&asked, *basis, list, &place),
        }
    }

    /// Repeats a request that needs no content; a preview is nothing but that.
    fn report(
        &mut self,
        asked: &ItemRequest,
        list: &SentList,
        place: &Place<'_>,
        path: &[u8],
    ) -> Result<()> {
        self.put_head(&asked.request)?;
        self.put_values(asked, list, place)?;
        if asked.request.iflags & iflags::TRANSFER != 0 {
            self.state.summary.transferred += 1;
            self.state.summary.transferred_size += place.size;
        }
        self.tell(&asked.request, list, place, path, Moved::default());
        Ok(())
    }

    fn put_values(
        &mut self,
        asked: &ItemRequest,
        list: &SentList,
        place: &Place<'_>,
    ) -> Result<()> {
        let Some(wanted) = &asked.wanted_values else {
            return Ok(());
        };
        let names = list.long_values(asked.request.ndx);
        check_wanted(wanted, names)?;
        let dir = self.state.dirs.open(self.roots, place.root, place.dir).ok();
        self.state.record.clear();
        put_values(&mut self.state.record, dir.as_deref(), place.name, names, wanted);
        Ok(self.out.data(&self.state.record)?)
    }

    fn tell(
        &mut self,
        request: &Request,
        list: &SentList,
        place: &Place<'_>,
        path: &[u8],
        moved: Moved<'_>,
    ) {
        let flags = request.iflags;
        if flags & iflags::IS_NEW != 0 {
            self.state.summary.created.add(place.kind);
        }
        let leader = request.xname.as_deref().filter(|_| flags & iflags::LOCAL_CHANGE != 0);
        if flags & SIGNIFICANT == 0 && leader.is_none() && !self.rules.telling.unchanged {
            return;
        }
        let root = &self.roots[usize::from(place.root)];
        let name = match path {
            b"" => b".".to_vec(),
            _ if self.rules.relative && root.path() == "/" => [b"/", path].concat(),
            _ => path.to_vec(),
        };
        let item = Item::new(&name, flags, place.kind, Direction::Sent);
        let source = self.written.get(usize::from(place.root)).map_or(&b""[..], Vec::as_slice);
        let mut item = Item { leader, size: place.size, source, moved, ..item };
        if let Some((detail, target)) = list.detail(request.ndx) {
            (item.mode, item.mtime, item.owner) = (detail.mode, detail.mtime, detail.owner);
            item.link_target = (!target.is_empty()).then_some(target);
        }
        (self.monitor)(Event::Item(item));
    }

    /// Sends the content of one file.
    fn transfer(
        &mut self,
        asked: &ItemRequest,
        basis: Basis,
        list: &SentList,
        place: &Place<'_>,
    ) -> Result<()> {
        let path = place.path();
        self.progress.begin_file(&path);
        if let Some(handover) = self.handover
            && basis.head.count == 0
            && !basis.is_prefix
            && !self.rules.telling.after_transfer
            && !(self.rules.telling.progress && place.size > MAX_UNSEEN)
        {
            return self.hand_over(handover, asked, &basis, list, place);
        }
        let ready = match self.open(asked.request.ndx, place) {
            Ok(ready) => ready,
            Err(Error::Tree(error)) => return self.cannot_send(asked.request.ndx, error),
            Err(error) => return Err(error),
        };
        if self.content.is_shorter_than_kept(&ready, &basis) {
            let text = "is shorter than what the far side has of it: not appended".to_owned();
            self.warn(place, text);
            return self.no_send(asked.request.ndx);
        }
        let before = self.out.data_bytes();
        self.put_head(&asked.request)?;
        self.put_values(asked, list, place)?;
        self.out.divert(self.rules.only_records);
        self.state.record.clear();
        basis.head.put(&mut self.state.record);
        self.out.data(&self.state.record)?;
        let late = self.rules.telling.after_transfer;
        if !late {
            self.tell(&asked.request, list, place, &path, Moved::default());
        }
        let sum_bytes = basis.sum_bytes();
        let kind = asked.request.basis_type;
        let watch = self.watch(place.size);
        let sent = self.content.send(&mut self.out, &path, ready, basis, kind, watch)?;
        self.out.divert(false);
        self.count(&sent, place);
        self.tell_standing(Some(sent.size), self.entries_before(asked.request.ndx + 1));
        if late {
            let checksum = Some(sent.sum.as_bytes());
            let data_bytes = self.out.data_bytes() - before;
            let moved = Moved { data_bytes, sum_bytes, checksum };
            self.tell(&asked.request, list, place, &path, moved);
        }
        Ok(())
    }

    /// Hands an open file to the receiver of the same process.
    fn hand_over(
        &mut self,
        handover: &Handover,
        asked: &ItemRequest,
        basis: &Basis,
        list: &SentList,
        place: &Place<'_>,
    ) -> Result<()> {
        let opened = self
            .state
            .dirs
            .open(self.roots, place.root, place.dir)
            .and_then(|dir| self.rules.look.open(&dir, place.name));
        let file = match opened {
            Ok(file) => file,
            Err(error) => return self.cannot_send(asked.request.ndx, error),
        };
        let size = file.metadata().map_or(place.size, |metadata| metadata.len());
        if handover.is_full() {
            // The receiver takes a file only when it has read the reply that announces it.
            self.out.flush()?;
        }
        handover.give(asked.request.ndx, file);
        self.put_head(&asked.request)?;
        self.put_values(asked, list, place)?;
        self.state.record.clear();
        basis.head.put(&mut self.state.record);
        self.out.data(&self.state.record)?;
        self.tell(&asked.request, list, place, &place.path(), Moved::default());
        let summary = &mut self.state.summary;
        summary.transferred += 1;
        summary.transferred_size += size;
        summary.literal_bytes += size;
        self.state.handed_bytes += self.content.framed(size);
        content::begin(self.watch(size), size);
        self.tell_standing(Some(size), self.entries_before(asked.request.ndx + 1));
        self.progress.sent_files.fetch_add(1, Relaxed);
        Ok(())
    }

    fn watch(&self, size: u64) -> Watch<'a> {
        let told = (self.monitor, size, self.state.listed_size);
        Watch { progress: self.progress, told: self.rules.telling.progress.then_some(told) }
    }

    fn count(&mut self, sent: &Sent, place: &Place<'_>) {
        let summary = &mut self.state.summary;
        summary.transferred += 1;
        summary.transferred_size += sent.size;
        summary.literal_bytes += sent.stats.literal_bytes;
        summary.matched_bytes += sent.stats.matched_bytes;
        summary.matches += sent.stats.matches;
        summary.hash_hits += sent.stats.hash_hits;
        summary.false_alarms += sent.stats.false_alarms;
        self.progress.sent_files.fetch_add(1, Relaxed);
        self.progress.sent_bytes.store(self.out.bytes_written(), Relaxed);
        if let Some(text) = &sent.damage {
            self.problem(place, text.clone(), Gravity::Error);
        }
    }

    fn open(&mut self, ndx: i32, place: &Place<'_>) -> Result<Ready> {
        if let Some(ready) = self.state.read_ahead.take(ndx) {
            return ready;
        }
        let dir = self.state.dirs.open(self.roots, place.root, place.dir)?;
        let begin = Instant::now();
        let opened = small_file::open(self.rules.look, &dir, place.name, place.size);
        self.state.reading_time = (self.state.reading_time * 7 + begin.elapsed()) / 8;
        Ok(Ready::Opened(opened?))
    }

    /// Has files made ready that are asked for next.
    pub(super) fn read_ahead(&mut self, waiting: &VecDeque<Incoming>) {
        for incoming in waiting.iter().skip(self.state.considered) {
            if !self.state.read_ahead.has_room() {
                return;
            }
            self.state.considered += 1;
            if let Incoming::Item(ItemRequest { request, basis: Some(basis), .. }) = incoming {
                self.plan(request.ndx, basis, waiting.len());
            }
        }
    }

    fn plan(&mut self, ndx: i32, basis: &Basis, waiting: usize) {
        let state = &mut self.state;
        let Some(list) = state.lists.find(ndx) else {
            return;
        };
        let Some(place) = list.place(ndx).filter(|place| place.kind == Kind::Regular) else {
            return;
        };
        let disk_is_slow = state.reading_time >= SLOW_READ && waiting >= MIN_WAITING;
        let recipe = if state.read_ahead.packs() && self.content.packs(&place, basis) {
            Recipe::Pack
        } else if disk_is_slow && place.size <= SMALL_FILE {
            Recipe::Read
        } else {
            return;
        };
        if let Ok(dir) = state.dirs.open(self.roots, place.root, place.dir) {
            let (name, size) = (place.name, place.size);
            state.read_ahead.plan(ndx, recipe, dir, name, size);
        }
    }

    fn cannot_send(&mut self, ndx: i32, error: tree::Error) -> Result<()> {
        let gravity = if error.is_not_found() { Gravity::Vanished } else { Gravity::Error };
        self.note(gravity);
        let problem = Problem::system(Who::Sender, Doing::OPEN_SOURCE, error, gravity);
        (self.monitor)(Event::Problem(problem));
        self.no_send(ndx)
    }

    /// Tells the far side not to wait for a file; old ones notice by the next index.
    fn no_send(&mut self, ndx: i32) -> Result<()> {
        if self.rules.protocol >= 30 {
            self.out.message(tag::NO_SEND, &ndx.to_le_bytes())?;
        }
        Ok(())
    }

    /// Removes a source file whose content has arrived, unless it has changed since
    /// (`--remove-source-files`).
    pub(super) fn remove_source(&mut self, ndx: i32) -> Result<()> {
        let list = self.state.lists.find(ndx).map(Arc::clone).ok_or_else(|| unknown(ndx))?;
        let (Some(place), Some((listed, _))) = (list.place(ndx), list.detail(ndx)) else {
            return Err(unknown(ndx));
        };
        let path = place.path();
        let done = self.state.dirs.open(self.roots, place.root, place.dir).and_then(|dir| {
            let now = dir.stat(place.name)?;
            let is_same = (now.size, now.mtime) == (place.size, listed.mtime)
                && (listed.mtime_nsec == 0 || now.mtime_nsec == listed.mtime_nsec);
            if is_same {
                dir.remove_file(place.name)?;
            }
            Ok(is_same)
        });
        match done {
            Ok(true) => {
                let notice = Notice::SourceRemoved;
                (self.monitor)(Event::Notice { notice, name: &path });
            }
            Ok(false) => {
                let stock = "ERROR: Skipping sender remove for changed file: ";
                let stock = format!("{stock}{}", String::from_utf8_lossy(&path));
                let ours = "has changed since it was listed: not removed".to_owned();
                let path = self.roots[usize::from(place.root)].path_of(&path);
                let trouble = Trouble::Other { ours, stock };
                self.note(Gravity::Error);
                let (who, gravity) = (Who::Sender, Gravity::Error);
                (self.monitor)(Event::Problem(Problem { path, trouble, gravity, who }));
            }
            Err(error) => {
                self.note(Gravity::Error);
                let reason = crate::trouble::reason(error.reason());
                let name = String::from_utf8_lossy(&path);
                let stock = format!("rsync: [sender] sender failed to remove {name}: {reason}");
                let trouble = Trouble::Other { ours: error.to_string(), stock };
                let (path, who, gravity) = (error.path().to_owned(), Who::Sender, Gravity::Error);
                (self.monitor)(Event::Problem(Problem { path, trouble, gravity, who }));
            }
        }
        Ok(())
    }

    fn warn(&self, place: &Place<'_>, text: String) {
        let path = self.roots[usize::from(place.root)].path_of(&place.path());
        let problem = Problem::other(Who::Sender, path, text, Gravity::Warning);
        (self.monitor)(Event::Problem(problem));
    }

    fn problem(&mut self, place: &Place<'_>, text: String, gravity: Gravity) {
        self.note(gravity);
        let path = self.roots[usize::from(place.root)].path_of(&place.path());
        (self.monitor)(Event::Problem(Problem::other(Who::Sender, path, text, gravity)));
    }

    fn note(&mut self, gravity: Gravity) {
        self.state.summary.note(gravity);
        self.state.io_error |= match gravity {
            Gravity::Warning => 0,
            Gravity::Vanished => 2,
            Gravity::Error => 1,
        };
    }
}

/// The directory that a list is the content of, as far as a report needs it.
fn directory_of(list: &SentList) -> Place<'_> {
    let (root, dir, size) = (list.root(), list.dir_path(), list.dir_size());
    Place { root, dir, name: b".", kind: Kind::Dir, size }
}
