//! Which options exclude each other?

use crate::dialect::SumName;
use crate::exit;
use crate::limits;

use super::{Append, Batch, DeleteTiming, OptionError, Options};

impl Options {
    /// Checks that no two options exclude each other, as rsync does.
    ///
    /// # Errors
    ///
    /// Names the two in rsync's words.
    pub fn check(&self) -> Result<(), OptionError> {
        if self.checksum && matches!(self.checksum_choice, Some((_, SumName::None))) {
            let text = "Invalid checksum-choice for --checksum: none (0)".to_string();
            return Err(OptionError::Plain { text, code: exit::UNSUPPORTED });
        }
        let spoken = limits::PROTOCOL_MIN..=limits::PROTOCOL_MAX;
        if let Some(version) = self.protocol.filter(|version| !spoken.contains(version)) {
            let (bound, nearest) = match version < *spoken.start() {
                true => ("at least", spoken.start()),
                false => ("no more than", spoken.end()),
            };
            let text = format!("--protocol must be {bound} {nearest} on the Client.");
            return Err(OptionError::Plain { text, code: exit::PROTOCOL });
        }
        match self.conflict() {
            Some(conflict) => Err(OptionError::Invalid(conflict)),
            None => Ok(()),
        }
    }

    /// Chooses when to delete; before and after go with nothing else.
    ///
    /// # Errors
    ///
    /// Says that only one `--delete-WHEN` can be given.
    pub(crate) fn set_delete_timing(&mut self, timing: DeleteTiming) -> Result<(), OptionError> {
        let alone = |timing| matches!(timing, DeleteTiming::Before | DeleteTiming::After);
        match (self.delete, timing) {
            (None | Some(DeleteTiming::ByProtocol), _) => self.delete = Some(timing),
            (Some(_), DeleteTiming::ByProtocol) => {}
            (Some(earlier), _) if earlier == timing => {}
            (Some(earlier), _) if alone(earlier) || alone(timing) => {
                let conflict = "You may not combine multiple --delete-WHEN options.".to_string();
                return Err(OptionError::Invalid(conflict));
            }
            (Some(_), _) => self.delete = Some(timing),
        }
        Ok(())
    }

    fn conflict(&self) -> Option<String> {
        if self.deletes() && !self.lists_dirs() {
            let text = "--delete does not work without --recursive (-r) or --dirs (-d).";
            return Some(text.to_string());
        }
        if self.secluded_args && self.old_args > 0 {
            return Some("--secluded-args conflicts with --old-args.".to_string());
        }
        if self.insecure_links && self.confine_root.is_some() {
            return Some("--insecure-links cannot be combined with --confine-root".to_string());
        }
        if let Some(Batch::Read(_)) = self.batch
            && let Some(other) = self.no_batch_option()
        {
            return Some(format!("--read-batch cannot be used with {other}"));
        }
        if self.append != Append::No && self.sends_whole_files() {
            return Some("--append cannot be used with --whole-file".to_string());
        }
        if let Some(in_place) = self.in_place_option()
            && let Some(staged) = self.staging_option()
        {
            return Some(format!("{in_place} cannot be used with {staged}"));
        }
        if self.suffix.as_ref().is_some_and(Vec::is_empty) && self.backup_dir.is_none() {
            return Some("--suffix cannot be empty without a --backup-dir".to_string());
        }
        None
    }

    /// Returns the option that a recorded transfer cannot obey.
    fn no_batch_option(&self) -> Option<&'static str> {
        match self.files_from {
            Some(_) => Some("--files-from"),
            None => self.remove_source_files.then_some("--remove-source-files"),
        }
    }

    fn in_place_option(&self) -> Option<&'static str> {
        match self.append {
            Append::No => self.inplace.then_some("--inplace"),
            Append::Trusting | Append::Verifying => Some("--append"),
        }
    }

    fn staging_option(&self) -> Option<&'static str> {
        match self.partial_dir {
            Some(_) => Some("--partial-dir"),
            None => self.delay_updates.then_some("--delay-updates"),
        }
    }
}
