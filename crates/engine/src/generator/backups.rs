//! What is kept of an item before the generator replaces it, and where temporary names are noted.

use std::io::Write;

use wire::options::Append;

use super::Generator;
use super::entry::Case;
use super::request::Wish;
use crate::board::BasisAt;
use crate::received::{Entry, ReceivedList};
use crate::trouble::Doing;

impl<W: Write> Generator<'_, W> {
    /// Keeps an item that is about to be replaced; false when that failed.
    pub(super) fn back_up(&mut self, case: &Case<'_>) -> bool {
        let Some(dir) = case.dir.as_deref() else { return true };
        match self.site.back_up_replaced((dir, case.name), &case.entry.name, self.rules.monitor) {
            Ok(()) => true,
            Err(error) => {
                self.problem(Doing::RENAME, error);
                false
            }
        }
    }

    /// Tells whether a file is copied before it is updated in place.
    pub(super) fn backs_up_in_place(&self, wish: &Wish) -> bool {
        let options = self.rules.options;
        let in_place = options.inplace || options.append != Append::No;
        in_place
            && self.site.backup.is_some()
            && wish.basis == BasisAt::Destination
            && !wish.is_redo
            && !options.dry_run
    }

    /// Copies a file to its backup and takes that as the basis; false when that failed.
    pub(super) fn copy_to_backup(&mut self, case: &Case<'_>, wish: &mut Wish) -> bool {
        let (Some(backup), Some(dir)) = (&self.site.backup, case.dir.as_deref()) else {
            return true;
        };
        match self.site.copy_to_backup(
            backup,
            (dir, case.name),
            &case.entry.name,
            self.rules.monitor,
        ) {
            Ok(copy) if self.rules.options.append == Append::No => {
                (wish.file, wish.basis) = (Some(copy), BasisAt::Backup);
                true
            }
            Ok(_) => true,
            Err(error) => {
                self.problem(Doing::MAKE_TEMP, error);
                false
            }
        }
    }

    /// Has the journal know that a temporary name may lie in a directory.
    pub(super) fn note_temporary(&self, list: &ReceivedList, entry: &Entry) {
        list.touch();
        self.site.note_temporary(self.site.place(&entry.name).0);
    }
}
