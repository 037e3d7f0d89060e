//! How content is asked for, and how everything else is reported.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use delta::Head;
use delta::block_size::{Certainty, head};
use tree::{Kind, Stat};
use wire::item::{Request, basis, iflags, put_item_head};
use wire::mux::tag;
use wire::options::Append;
use wire::sums::{SumHead, put_block_sum};
use wire::xattr::{lists_follow, put_wanted};

use super::Generator;
use super::alternatives::Found;
use super::entry::Case;
use crate::board::{Asked, BasisAt};
use crate::error::{Error, Result};
use crate::received::ReceivedList;

/// Sums are written in pieces of about this length.
const PIECE: usize = 32 << 10;

/// What a file is to be built from.
pub(super) struct Wish {
    pub(super) basis: BasisAt,
    /// The basis, open for reading.
    pub(super) file: Option<File>,
    /// Its length.
    pub(super) len: u64,
    pub(super) now: Option<Stat>,
    /// What an alternative directory has instead.
    pub(super) found: Option<Found>,
    pub(super) is_redo: bool,
}

/// Why the sums of a basis are not complete.
enum Cut {
    Read,
    Write(Error),
}

impl From<io::Error> for Cut {
    fn from(_: io::Error) -> Self {
        Cut::Read
    }
}

impl<W: Write> Generator<'_, W> {
    /// Finds what a file is to be built from.
    pub(super) fn wish(
        &mut self,
        case: &Case<'_>,
        now: Option<Stat>,
        found: Option<Found>,
    ) -> Wish {
        let mut wish =
            Wish { basis: BasisAt::Nowhere, file: None, len: 0, now, found, is_redo: false };
        if self.rules.is_preview() || case.dir.is_none() {
            return wish;
        }
        let in_place = self.rules.options.append != Append::No;
        if !in_place && self.find_partial(case, &mut wish) {
            return wish;
        }
        if let (Some(now), Some(dir)) = (&now, &case.dir) {
            wish.file = dir.open_file(case.name).ok();
            if wish.file.is_some() {
                (wish.basis, wish.len) = (BasisAt::Destination, now.size);
                if now.kind() == Kind::Device {
                    wish.len = device_len(wish.file.as_mut());
                }
            }
            return wish;
        }
        if let Some(found) = wish.found.take() {
            self.build_from(&found, case, &mut wish);
            wish.found = Some(found);
        }
        if wish.file.is_none() && self.rules.options.fuzzy > 0 {
            self.find_fuzzy(case, &mut wish);
        }
        wish
    }

    fn find_partial(&mut self, case: &Case<'_>, wish: &mut Wish) -> bool {
        let (dir_path, name) = self.site.place(&case.entry.name);
        let Some(partial) = self.site.open_partial(&mut self.dirs, dir_path) else { return false };
        let Ok(stat) = partial.stat(name) else { return false };
        if stat.kind() != Kind::Regular || stat.size == 0 {
            return false;
        }
        wish.file = partial.open_file(name).ok();
        (wish.basis, wish.len) = (BasisAt::Partial, stat.size);
        wish.file.is_some()
    }

    /// Asks for the content of a file.
    pub(super) fn request(&mut self, case: &Case<'_>, mut wish: Wish) -> Result<()> {
        let long = match wish.found.as_mut() {
            Some(found) => std::mem::take(&mut found.long),
            None => self.long_of(case, wish.now.as_ref()),
        };
        let flags = self.transfer_flags(case, &wish, long.flags);
        if self.backs_up_in_place(&wish) && !self.copy_to_backup(case, &mut wish) {
            return Ok(());
        }
        let (basis_type, xname) = basis_on_the_wire(&wish.basis);
        let request = Request {
            ndx: case.ndx,
            iflags: flags
                | if basis_type.is_some() { iflags::BASIS_TYPE_FOLLOWS } else { 0 }
                | if xname.is_some() { iflags::XNAME_FOLLOWS } else { 0 },
            basis_type,
            xname,
        };
        let is_append = self.rules.options.append != Append::No
            && !wish.is_redo
            && wish.basis == BasisAt::Destination;
        let head =
            if self.rules.is_preview() { Head::default() } else { self.head(&wish, is_append) };
        if !wish.is_redo {
            self.count_created(case, flags);
        }
        self.is_on_its_way(case);
        case.list.opened();
        self.board.ask(Asked {
            request: request.clone(),
            list: Arc::clone(case.list),
            index: case.index,
            head,
            basis: wish.basis,
            now: wish.now,
            is_redo: wish.is_redo,
            is_append,
            long: long.values.clone(),
        });
        self.put_head(&request, &long.values.wanted)?;
        if self.rules.is_preview() {
            return Ok(());
        }
        self.put_sums(head, wish.file.filter(|_| !is_append), is_append)
    }

    fn transfer_flags(&self, case: &Case<'_>, wish: &Wish, long: u16) -> u16 {
        let beside = wish.found.as_ref().map(|found| &found.stat);
        let Some(now) = wish.now.as_ref().or(beside) else {
            return iflags::TRANSFER | iflags::IS_NEW | long;
        };
        let differs = self.keeps().differences(case.entry, now, long);
        let size = if now.size != case.entry.size { iflags::REPORT_SIZE } else { 0 };
        let sum = if self.rules.options.checksum { iflags::REPORT_CHANGE } else { 0 };
        self.with_new_time(case.entry, iflags::TRANSFER | differs | size | sum)
    }

    fn head(&self, wish: &Wish, is_append: bool) -> Head {
        let options = self.rules.options;
        if wish.file.is_none() || (options.sends_whole_files() && !is_append) {
            return Head::default();
        }
        let certainty = if wish.is_redo { Certainty::Full } else { Certainty::Normal };
        head(wish.len, options.block_size, self.rules.sum, certainty, self.rules.dialect.protocol)
    }

    fn put_sums(&mut self, head: Head, basis: Option<File>, is_append: bool) -> Result<()> {
        self.record.clear();
        SumHead {
            count: head.count,
            block_len: head.block_len,
            strong_len: head.strong_len,
            remainder: head.remainder,
        }
        .put(&mut self.record);
        let mut left = if is_append { 0 } else { head.count };
        if let Some(basis) = basis.filter(|_| left > 0) {
            tree::advise_sequential(&basis);
            let (out, record) = (&mut self.out, &mut self.record);
            let mut each = |weak, strong: &[u8]| {
                put_block_sum(record, weak, strong);
                left -= 1;
                if record.len() >= PIECE {
                    out.data(record).map_err(|error| Cut::Write(error.into()))?;
                    record.clear();
                }
                Ok(())
            };
            if let Err(Cut::Write(error)) =
                delta::signature(basis, &head, &self.rules.strong, &mut each)
            {
                return Err(error);
            }
        }
        // A basis that got shorter meanwhile: blocks that nothing is like make up for it.
        let nothing = vec![0; head.strong_len as usize];
        for _ in 0..left {
            put_block_sum(&mut self.record, 0, &nothing);
        }
        Ok(self.out.data(&self.record)?)
    }

    fn put_head(&mut self, request: &Request, wanted: &[u32]) -> Result<()> {
        // What was remarked before comes before.
        self.speak()?;
        self.record.clear();
        put_item_head(&mut self.record, &mut self.ndx, request)?;
        let options = self.rules.options;
        if options.xattrs > 0
            && !self.rules.is_preview()
            && lists_follow(self.rules.dialect, request.iflags)
        {
            put_wanted(&mut self.record, wanted);
        }
        Ok(self.out.data(&self.record)?)
    }

    fn count_created(&mut self, case: &Case<'_>, flags: u16) {
        if flags & iflags::IS_NEW != 0 {
            self.created.add(case.entry.kind());
        }
    }

    /// Reports what was done about an item without its content, if it is worth a word.
    pub(super) fn report(
        &mut self,
        case: &Case<'_>,
        flags: u16,
        xname: Option<&[u8]>,
        wanted: &[u32],
    ) -> Result<()> {
        self.count_created(case, flags);
        let silent = iflags::BASIS_TYPE_FOLLOWS | iflags::XNAME_FOLLOWS | iflags::LOCAL_CHANGE;
        let has_name = xname.is_some_and(|name| !name.is_empty());
        if flags & !silent == 0 && !has_name && !self.rules.telling.unchanged {
            return Ok(());
        }
        let xname = xname.map(<[u8]>::to_vec);
        let request = Request { ndx: case.ndx, iflags: flags, basis_type: None, xname };
        self.put_head(&request, wanted)
    }

    /// Asks for a file again whose checksum was wrong, with all that can make it right.
    pub(super) fn redo(&mut self, list: &Arc<ReceivedList>, index: usize) -> Result<()> {
        let entry = &list.entries[index];
        self.does_not_come(entry);
        let site = self.site;
        let (dir_path, name) = site.place(&entry.name);
        let found = self
            .open_dir(dir_path)
            .and_then(|dir| Ok((self.look(dir.as_deref(), name, entry)?, dir)));
        if let Ok((now, dir)) = found {
            let case = Case { list, index, ndx: list.ndx(index), entry, dir, name, now };
            let now = now.filter(|now| now.kind() == Kind::Regular);
            let found = if now.is_none() { self.find(&case) } else { None };
            let wish = Wish { is_redo: true, ..self.wish(&case, now, found) };
            self.request(&case, wish)?;
        }
        self.settle_group(entry)?;
        list.closed();
        Ok(())
    }

    /// Tells a sender that removes its files that one has arrived.
    pub(super) fn success(&mut self, ndx: i32) -> Result<()> {
        if self.rules.options.remove_source_files && !self.rules.options.dry_run {
            self.out.message(tag::SUCCESS, &ndx.to_le_bytes())?;
        }
        Ok(())
    }

    /// The same for an item that did not need to be asked for.
    pub(super) fn source_is_done_with(&mut self, case: &Case<'_>) -> Result<()> {
        match case.entry.is_dir() {
            true => Ok(()),
            false => self.success(case.ndx),
        }
    }
}

fn basis_on_the_wire(at: &BasisAt) -> (Option<u8>, Option<Vec<u8>>) {
    match at {
        BasisAt::Nowhere | BasisAt::Destination => (None, None),
        BasisAt::Partial => (Some(basis::PARTIAL), None),
        BasisAt::Backup => (Some(basis::BACKUP), None),
        // There are at most 20 of them.
        BasisAt::Alternative(number, _) => (Some(u8::try_from(*number).unwrap_or(0)), None),
        BasisAt::Fuzzy(name) => (Some(basis::FUZZY), Some(name.clone())),
        BasisAt::AlternativeFuzzy(number, name) => {
            let number = u8::try_from(*number).unwrap_or(0);
            (Some(basis::FUZZY + 1 + number), Some(name.clone()))
        }
    }
}

fn device_len(file: Option<&mut File>) -> u64 {
    use std::io::{Seek, SeekFrom};
    let Some(file) = file else { return 0 };
    let len = file.seek(SeekFrom::End(0)).unwrap_or(0);
    match file.seek(SeekFrom::Start(0)) {
        Ok(_) => len,
        Err(_) => 0,
    }
}
