//! `--link-dest`, `--copy-dest` and `--compare-dest`: what another directory already has
//! (docs/protocol/transfer.md, "Alternate dirs").

use std::io::Write;
use std::sync::Arc;

use tree::{Dir, Kind, Stat};
use wire::item::iflags;
use wire::options::AltDestKind;

use super::Generator;
use super::entry::Case;
use super::request::Wish;
use crate::board::BasisAt;
use crate::error::Result;
use crate::trouble::Doing;
use crate::wanted::{LongAttributes, Times};

/// How alike an item of an alternative directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    /// It is of the same kind.
    Kind,
    /// The quick check finds its content equal.
    Content,
    /// All attributes are equal as well.
    Everything,
}

/// The best item found.
struct Found {
    number: usize,
    dir: Dir,
    stat: Stat,
    likeness: Likeness,
}

impl<W: Write> Generator<'_, W> {
    /// Takes an item from an alternative directory where one has it; true when nothing is left to
    /// do for it. `now` is what the destination has, if it is of the right kind.
    pub(super) fn take_from_alternative(
        &mut self,
        case: &Case<'_>,
        now: Option<&Stat>,
    ) -> Result<bool> {
        let Some(kind) = self.site.alternative_kind else { return Ok(false) };
        let Some(found) = self.find(case) else { return Ok(false) };
        if now.is_some() && (kind == AltDestKind::Copy || found.likeness < Likeness::Everything) {
            return Ok(false);
        }
        if found.likeness == Likeness::Kind {
            return Ok(false);
        }
        let is_same = now.is_some_and(|now| (now.dev, now.ino) == (found.stat.dev, found.stat.ino));
        if is_same {
            return Ok(false);
        }
        match (kind, found.likeness) {
            (AltDestKind::Compare, Likeness::Everything) => self.leave_out(case, now)?,
            (AltDestKind::Link, Likeness::Everything) => {
                if !self.link_from(case, &found, now)? {
                    return Ok(false);
                }
            }
            _ if case.entry.kind() != Kind::Regular => return Ok(false),
            _ => {
                if !self.copy_from(case, &found)? {
                    return Ok(false);
                }
            }
        }
        self.arrived(case)?;
        Ok(true)
    }

    /// Tells whether an alternative directory has an item of this kind.
    pub(super) fn finds_alternative(&mut self, case: &Case<'_>) -> bool {
        self.site.alternative_kind.is_some() && self.find(case).is_some()
    }

    fn find(&mut self, case: &Case<'_>) -> Option<Found> {
        let mut best: Option<Found> = None;
        for number in 0..self.site.alternatives.len() {
            let Some(found) = self.look_in(number, case) else { continue };
            let is_better = best.as_ref().is_none_or(|best| found.likeness > best.likeness);
            if is_better {
                best = Some(found);
            }
            if best.as_ref().is_some_and(|best| best.likeness == Likeness::Everything) {
                break;
            }
        }
        best
    }

    fn look_in(&mut self, number: usize, case: &Case<'_>) -> Option<Found> {
        let root = self.site.alternatives.get(number)?.as_ref()?;
        let (dir_path, name) = self.site.place(&case.entry.name);
        let dir = root.open_dir(dir_path).ok()?;
        let stat = match self.rules.options.fake_super {
            true => dir.stat_fake(name).ok()?,
            false => dir.stat(name).ok()?,
        };
        if stat.kind() != case.entry.kind() {
            return None;
        }
        let (list, index, ndx, entry) = (case.list, case.index, case.ndx, case.entry);
        let dir = Some(Arc::new(dir));
        let there = Case { list, index, ndx, entry, dir, name, now: Some(stat) };
        let is_equal = match case.entry.kind() {
            Kind::Regular => self.is_up_to_date(&there, &stat),
            _ => self.has_same_value(&there, &stat),
        };
        let likeness = match is_equal {
            false => Likeness::Kind,
            true => {
                let long = self.long_of(&there, Some(&stat));
                match self.keeps().differences(case.entry, &stat, long.flags) {
                    0 => Likeness::Everything,
                    _ => Likeness::Content,
                }
            }
        };
        let dir = there.dir.and_then(Arc::into_inner)?;
        Some(Found { number, dir, stat, likeness })
    }

    /// Leaves out what `--compare-dest` has unchanged.
    fn leave_out(&mut self, case: &Case<'_>, now: Option<&Stat>) -> Result<()> {
        if now.is_some() {
            self.make_way(case, "new regular file")?;
        }
        Ok(())
    }

    fn link_from(&mut self, case: &Case<'_>, found: &Found, now: Option<&Stat>) -> Result<bool> {
        if !self.rules.options.dry_run {
            let Some(dir) = case.dir.as_deref() else { return Ok(false) };
            let (_, name) = self.site.place(&case.entry.name);
            if now.is_some() && !self.make_way(case, "new regular file")? {
                return Ok(false);
            }
            if let Err(error) = found.dir.hard_link(name, dir, case.name) {
                if case.entry.kind() != Kind::Regular {
                    self.problem(Doing::HARD_LINK, error);
                    return Ok(false);
                }
                return self.copy_from(case, found);
            }
            case.list.touch();
        }
        let flags = iflags::LOCAL_CHANGE | iflags::XNAME_FOLLOWS;
        self.report(case.ndx, flags, Some(b""), &[])?;
        Ok(true)
    }

    /// Copies a file from an alternative directory, and gives it the attributes that were listed.
    fn copy_from(&mut self, case: &Case<'_>, found: &Found) -> Result<bool> {
        let long = self.long_of(case, None);
        if !self.rules.options.dry_run
            && let Err(error) = self.copy(case, found, &long.values)
        {
            self.problem(Doing::MAKE_TEMP, error);
            return Ok(false);
        }
        let differs = self.keeps().differences(case.entry, &found.stat, 0);
        self.report(case.ndx, iflags::LOCAL_CHANGE | differs, None, &[])?;
        Ok(true)
    }

    fn copy(&mut self, case: &Case<'_>, found: &Found, long: &LongAttributes) -> tree::Result<()> {
        let Some(dir) = case.dir.as_deref() else { return Ok(()) };
        let (_, name) = self.site.place(&case.entry.name);
        let from = found.dir.open_file(name)?;
        self.note_temporary(case.list, case.entry);
        let mut staged = dir.stage(tree::temp_name(case.name, &self.site.suffix, true), 0o600)?;
        tree::copy_whole(&from, &staged.file, found.stat.size).map_err(|source| {
            tree::Error::Io { op: "copy", path: dir.path_of(case.name), source }
        })?;
        for error in self.keeps().apply_new(&staged, case.entry, None, long, Times::Exact) {
            self.attribute_problem(error);
        }
        case.list.touch();
        staged.commit(dir, case.name)
    }

    /// Finds a basis for a file that is to be sent.
    pub(super) fn find_alternative_basis(&mut self, case: &Case<'_>, wish: &mut Wish) -> bool {
        if self.site.alternative_kind.is_none() {
            return false;
        }
        let Some(found) = self.find(case) else { return false };
        let (dir_path, name) = self.site.place(&case.entry.name);
        wish.file = found.dir.open_file(name).ok();
        wish.len = found.stat.size;
        wish.basis = BasisAt::Alternative(found.number, crate::list::join(dir_path, name));
        wish.file.is_some()
    }
}
