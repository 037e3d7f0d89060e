//! Symlinks, devices, fifos and sockets: what the generator makes by itself.

use std::io::Write;

use tree::{Dir, Kind, Stat};
use wire::item::iflags;

use super::Generator;
use super::alternatives::{Choice, Found};
use super::entry::Case;
use crate::error::Result;
use crate::notice::Notice;
use crate::received::Entry;
use crate::trouble::Doing;
use crate::wanted::{LongAttributes, Times};

/// What a munged symlink starts with, so that it leads nowhere.
pub(crate) const MUNGED: &[u8] = b"/rsyncd-munged/";

impl<W: Write> Generator<'_, W> {
    /// Deals with an item that is neither a file nor a directory.
    pub(super) fn other(&mut self, case: &Case<'_>) -> Result<()> {
        if !self.is_kept(case.entry) {
            self.notice(Notice::SkippingNonRegular, &case.entry.name);
            return Ok(());
        }
        if self.is_unsafe(case.entry) {
            self.unsafe_symlink(case.entry);
            return Ok(());
        }
        let now = case.now.filter(|now| now.kind() == case.entry.kind());
        if case.now.is_some() && now.is_none() && !self.make_way(case, thing(case.entry.kind()))? {
            return Ok(());
        }
        if let Some(now) = &now
            && self.has_same_value(case, now)
        {
            return self.keep(case, now);
        }
        let found = match now {
            Some(_) => None,
            None => match self.take_from_alternative(case, None)? {
                Choice::Taken => return Ok(()),
                Choice::Like(found) => Some(*found),
                Choice::Nothing => None,
            },
        };
        self.make(case, now, found)
    }

    fn is_kept(&self, entry: &Entry) -> bool {
        let options = self.rules.options;
        match entry.kind() {
            Kind::Symlink => options.links && entry.link_target().is_some(),
            Kind::Device => options.devices,
            Kind::Special => options.specials,
            _ => false,
        }
    }

    fn is_unsafe(&self, entry: &Entry) -> bool {
        let target = entry.link_target().unwrap_or_default();
        self.rules.options.safe_links
            && entry.kind() == Kind::Symlink
            && crate::unsafe_link::leads_out(target, &entry.name)
    }

    fn unsafe_symlink(&mut self, entry: &Entry) {
        self.notice(Notice::UnsafeSymlink, &entry.name);
    }

    /// Returns the target as it is stored here.
    fn target(&self, entry: &Entry) -> Vec<u8> {
        let target = entry.link_target().unwrap_or_default();
        match self.rules.options.munge_links {
            true => [MUNGED, target].concat(),
            false => target.to_vec(),
        }
    }

    pub(super) fn has_same_value(&self, case: &Case<'_>, now: &Stat) -> bool {
        match (case.entry.kind(), case.dir.as_deref()) {
            (Kind::Symlink, Some(dir)) => {
                let mut present = Vec::new();
                self.read_link(dir, case.name, &mut present) && present == self.target(case.entry)
            }
            (Kind::Device, _) => {
                now.rdev == case.entry.rdev() && now.mode & 0o170_000 == case.entry.mode & 0o170_000
            }
            _ => now.mode & 0o170_000 == case.entry.mode & 0o170_000,
        }
    }

    fn read_link(&self, dir: &Dir, name: &[u8], target: &mut Vec<u8>) -> bool {
        match self.rules.options.fake_super {
            true => dir.read_link_fake(name, target).is_ok(),
            false => dir.read_link(name, target).is_ok(),
        }
    }

    fn keep(&mut self, case: &Case<'_>, now: &Stat) -> Result<()> {
        let long = self.long_of(case, Some(now));
        let flags = self.keeps().differences(case.entry, now, long.flags);
        if flags != 0 {
            self.set_attributes(case, now, &long.values, Times::WhereDifferent);
            self.notice(Notice::Updated, &case.entry.name);
        } else {
            self.notice(Notice::UpToDate, &case.entry.name);
        }
        self.report(case.ndx, flags, None, &long.values.wanted)?;
        self.arrived(case)
    }

    fn make(&mut self, case: &Case<'_>, now: Option<Stat>, found: Option<Found>) -> Result<()> {
        let long = self.long_of(case, now.as_ref());
        let flags = match (&now, &found) {
            (None, Some(found)) => found.flags_of_new(self.flags_beside(case, found)),
            (None, None) => {
                iflags::LOCAL_CHANGE | iflags::REPORT_CHANGE | iflags::IS_NEW | long.flags
            }
            (Some(now), _) => {
                let differs = self.keeps().differences(case.entry, now, long.flags);
                self.with_new_time(
                    case.entry,
                    iflags::LOCAL_CHANGE | iflags::REPORT_CHANGE | differs,
                )
            }
        };
        if !self.rules.options.dry_run && !self.put_in_place(case, now.as_ref(), &long.values) {
            return Ok(());
        }
        if flags == iflags::LOCAL_CHANGE {
            self.notice(Notice::UpToDate, &case.entry.name);
        }
        self.report(case.ndx, flags, None, &long.values.wanted)?;
        self.arrived(case)
    }

    /// Makes the item under a temporary name where something is in its place, and renames it.
    fn put_in_place(&mut self, case: &Case<'_>, now: Option<&Stat>, long: &LongAttributes) -> bool {
        let Some(dir) = case.dir.as_deref() else { return false };
        if now.is_some() && self.rules.options.backup && !self.back_up(case) {
            return false;
        }
        let temp = now.map(|_| tree::temp_name(case.name, &self.site.suffix, true));
        let name = temp.as_deref().unwrap_or(case.name);
        if temp.is_some() {
            self.note_temporary(case.list, case.entry);
        }
        let long = &self.at_once(case.ndx, long);
        let doing =
            if case.entry.kind() == Kind::Symlink { Doing::SYMLINK } else { Doing::MAKE_NODE };
        if let Err(error) = self.create(dir, name, case.entry) {
            self.problem(doing, error);
            return false;
        }
        for error in self.keeps().apply((dir, name), case.entry, None, long, Times::Exact) {
            self.attribute_problem(error);
        }
        case.list.touch();
        if temp.is_some()
            && let Err(error) = dir.rename(name, dir, case.name)
        {
            // What could not be put in its place is not left lying about.
            let _ = dir.remove_file(name);
            self.problem(Doing::RENAME, error);
            return false;
        }
        true
    }

    /// Makes a symlink, device, fifo or socket.
    pub(super) fn create(&self, dir: &Dir, name: &[u8], entry: &Entry) -> tree::Result<()> {
        let fake = self.rules.options.fake_super;
        match entry.kind() {
            Kind::Symlink if fake => write_new(dir, name, &self.target(entry)),
            Kind::Symlink => dir.make_symlink(&self.target(entry), name),
            _ if fake => write_new(dir, name, b""),
            _ => dir.make_node(name, entry.mode, entry.rdev()),
        }
    }
}

/// Makes the file that stands for what only root may make.
fn write_new(dir: &Dir, name: &[u8], content: &[u8]) -> tree::Result<()> {
    let mut file = dir.create(name, 0o600)?;
    file.write_all(content).map_err(|source| tree::Error::Io {
        op: "write",
        path: dir.path_of(name),
        source,
    })
}

/// Returns what rsync calls an item that something is in the way of.
fn thing(kind: Kind) -> &'static str {
    match kind {
        Kind::Symlink => "new symlink",
        Kind::Device => "new device file",
        _ => "new special file",
    }
}
