//! `--link-dest`, `--copy-dest` and `--compare-dest`: what another directory already has
//! (docs/protocol/transfer.md, "Alternate dirs").

use std::io::Write;
use std::sync::Arc;

use tree::{Dir, Kind, Stat};
use wire::item::iflags;
use wire::options::AltDestKind;

use super::Generator;
use super::entry::Case;
use super::long_attributes::Long;
use super::request::Wish;
use crate::board::BasisAt;
use crate::error::Result;
use crate::notice::Notice;
use crate::trouble::Doing;
use crate::wanted::Times;

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
pub(super) struct Found {
    number: usize,
    dir: Arc<Dir>,
    pub(super) stat: Stat,
    likeness: Likeness,
    /// What is to be done about its extended attributes and ACLs.
    pub(super) long: Long,
}

impl Found {
    /// Tells whether its content is as listed.
    pub(super) fn has_content(&self) -> bool {
        self.likeness >= Likeness::Content
    }

    /// Adds the bit for what is not the same, to what is reported of a symlink or device.
    pub(super) fn flags_of_new(&self, flags: u16) -> u16 {
        match self.likeness {
            Likeness::Everything => flags,
            Likeness::Kind | Likeness::Content => flags | iflags::REPORT_CHANGE,
        }
    }
}

/// What the alternative directories mean for an item.
pub(super) enum Choice {
    /// They have nothing like it.
    Nothing,
    /// This is the best they have.
    Like(Box<Found>),
    /// The item was taken from there.
    Taken,
}

impl<W: Write> Generator<'_, W> {
    /// Takes an item from an alternative directory where one has it. `now` is what the destination
    /// has, if it is of the right kind.
    pub(super) fn take_from_alternative(
        &mut self,
        case: &Case<'_>,
        now: Option<&Stat>,
    ) -> Result<Choice> {
        let Some(kind) = self.site.alternative_kind else { return Ok(Choice::Nothing) };
        let Some(found) = self.find(case) else { return Ok(Choice::Nothing) };
        let is_same = now.is_some_and(|now| (now.dev, now.ino) == (found.stat.dev, found.stat.ino));
        if is_same
            || (now.is_some() && kind == AltDestKind::Copy)
            || (now.is_some() && found.likeness < Likeness::Everything)
        {
            return Ok(Choice::Nothing);
        }
        match (kind, found.likeness) {
            (_, Likeness::Kind) => return Ok(Choice::Like(Box::new(found))),
            (AltDestKind::Compare, Likeness::Everything) => {
                return match self.leave_out(case, now)? {
                    true => Ok(Choice::Taken),
                    false => Ok(Choice::Nothing),
                };
            }
            (AltDestKind::Link, Likeness::Everything) => {
                if !self.link_from(case, &found)? {
                    return Ok(Choice::Like(Box::new(found)));
                }
            }
            _ if case.entry.kind() != Kind::Regular => return Ok(Choice::Like(Box::new(found))),
            _ => {
                if !self.copy_from(case, &found)? {
                    return Ok(Choice::Like(Box::new(found)));
                }
            }
        }
        if found.likeness == Likeness::Everything {
            self.notice(Notice::UpToDate, &case.entry.name);
        }
        self.arrived(case)?;
        Ok(Choice::Taken)
    }

    /// Finds the item of the alternative directories that is most like a listed one.
    pub(super) fn find(&mut self, case: &Case<'_>) -> Option<Found> {
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
        let dir = Arc::new(root.open_dir(dir_path).ok()?);
        let stat = self.look(Some(&dir), name, case.entry).ok()??;
        if stat.kind() != case.entry.kind() {
            return None;
        }
        let (list, index, ndx, entry) = (case.list, case.index, case.ndx, case.entry);
        let there =
            Case { list, index, ndx, entry, dir: Some(Arc::clone(&dir)), name, now: Some(stat) };
        let is_equal = match case.entry.kind() {
            Kind::Regular => self.is_up_to_date(&there, &stat),
            _ => self.has_same_value(&there, &stat),
        };
        let long = self.long_of(&there, Some(&stat));
        let likeness = match self.keeps().differences(case.entry, &stat, long.flags) {
            _ if !is_equal => Likeness::Kind,
            0 => Likeness::Everything,
            _ => Likeness::Content,
        };
        Some(Found { number, dir, stat, likeness, long })
    }

    /// Returns what is reported of an item that is made like one of an alternative directory.
    pub(super) fn flags_beside(&self, case: &Case<'_>, found: &Found) -> u16 {
        iflags::LOCAL_CHANGE | self.keeps().differences(case.entry, &found.stat, found.long.flags)
    }

    /// Leaves out what `--compare-dest` has unchanged.
    fn leave_out(&mut self, case: &Case<'_>, now: Option<&Stat>) -> Result<bool> {
        if let (Some(_), Some(dir), false) = (now, case.dir.as_deref(), self.rules.options.dry_run)
        {
            if let Err(error) = dir.remove_file(case.name) {
                self.problem(Doing::REMOVE, error);
                return Ok(false);
            }
            case.list.touch();
        }
        self.notice(Notice::UpToDate, &case.entry.name);
        self.report(case.ndx, 0, None, &[])?;
        self.source_is_done_with(case)?;
        Ok(true)
    }

    fn link_from(&mut self, case: &Case<'_>, found: &Found) -> Result<bool> {
        if !self.rules.options.dry_run {
            let Some(dir) = case.dir.as_deref() else { return Ok(false) };
            let (_, name) = self.site.place(&case.entry.name);
            if let Err(error) = self.put_link(&found.dir, name, dir, case) {
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
        if !self.rules.options.dry_run
            && let Err(error) = self.copy(case, found)
        {
            self.problem(Doing::MAKE_TEMP, error);
            return Ok(false);
        }
        self.report(case.ndx, self.flags_beside(case, found), None, &found.long.values.wanted)?;
        Ok(true)
    }

    fn copy(&mut self, case: &Case<'_>, found: &Found) -> tree::Result<()> {
        let Some(dir) = case.dir.as_deref() else { return Ok(()) };
        let long = self.at_once(case.ndx, &found.long.values);
        let (_, name) = self.site.place(&case.entry.name);
        let from = found.dir.open_file(name)?;
        self.note_temporary(case.list, case.entry);
        let mut staged = dir.stage(tree::temp_name(case.name, &self.site.suffix, true), 0o600)?;
        tree::copy_whole(&from, &staged.file, found.stat.size).map_err(|source| {
            tree::Error::Io { op: "copy", path: dir.path_of(case.name), source }
        })?;
        for error in self.keeps().apply_new(&staged, case.entry, None, &long, Times::Exact) {
            self.attribute_problem(error);
        }
        case.list.touch();
        staged.commit(dir, case.name)
    }

    /// Has a file built from what was found.
    pub(super) fn build_from(&self, found: &Found, case: &Case<'_>, wish: &mut Wish) {
        let (dir_path, name) = self.site.place(&case.entry.name);
        wish.file = found.dir.open_file(name).ok();
        wish.len = found.stat.size;
        wish.basis = BasisAt::Alternative(found.number, crate::list::join(dir_path, name));
    }
}
