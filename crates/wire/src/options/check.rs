//! Which options exclude each other?

use crate::dialect::SumName;

use super::{Append, DeleteTiming, OptionError, Options};

impl Options {
    /// Checks that no two options exclude each other, as rsync does.
    ///
    /// # Errors
    ///
    /// Names the two.
    pub fn check(&self) -> Result<(), OptionError> {
        match self.conflict() {
            Some(conflict) => Err(OptionError::Conflict(conflict)),
            None => Ok(()),
        }
    }

    /// Chooses when to delete; a second choice must be the same.
    ///
    /// # Errors
    ///
    /// Says that only one `--delete-WHEN` can be given.
    pub(crate) fn set_delete_timing(&mut self, timing: DeleteTiming) -> Result<(), OptionError> {
        match (self.delete, timing) {
            (None | Some(DeleteTiming::ByProtocol), _) => self.delete = Some(timing),
            (Some(_), DeleteTiming::ByProtocol) => {}
            (Some(earlier), _) if earlier == timing => {}
            (Some(_), _) => {
                let conflict = "only one --delete-WHEN option can be given".to_string();
                return Err(OptionError::Conflict(conflict));
            }
        }
        Ok(())
    }

    fn conflict(&self) -> Option<String> {
        if self.deletes() && !self.recursive {
            return Some("--delete does not work without --recursive (-r)".to_string());
        }
        if self.checksum && matches!(self.checksum_choice, Some((_, SumName::None))) {
            return Some("--checksum cannot be used with the checksum \"none\"".to_string());
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
        if self.backup_dir.as_ref().is_some_and(Vec::is_empty) {
            return Some("--backup-dir names no directory".to_string());
        }
        None
    }

    fn in_place_option(&self) -> Option<&'static str> {
        match self.append {
            Append::No => self.inplace.then_some("--inplace"),
            Append::Trusting => Some("--append"),
            Append::Verifying => Some("--append-verify"),
        }
    }

    fn staging_option(&self) -> Option<&'static str> {
        match self.partial_dir {
            Some(_) => Some("--partial-dir"),
            None => self.delay_updates.then_some("--delay-updates"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::options::{Options, parse};

    #[test]
    fn what_rsync_refuses_to_combine_is_refused() {
        let cases = [
            ("--delete", "--delete does not work without --recursive (-r)"),
            ("-a --no-r --delete-after", "--delete does not work without --recursive (-r)"),
            ("-a --inplace --partial-dir=.p", "--inplace cannot be used with --partial-dir"),
            ("-a --append --partial-dir=.p", "--append cannot be used with --partial-dir"),
            ("-a --inplace --delay-updates", "--inplace cannot be used with --delay-updates"),
            ("-a --append -W", "--append cannot be used with --whole-file"),
            ("-a --delete-after --del", "only one --delete-WHEN option can be given"),
            ("-ab --suffix=", "--suffix cannot be empty without a --backup-dir"),
            ("-ac --cc=md5,none", "--checksum cannot be used with the checksum \"none\""),
        ];
        for (line, message) in cases {
            let words: Vec<Vec<u8>> = line.split(' ').map(|word| word.into()).collect();
            let error = parse(&words, &mut Options::default()).unwrap_err();
            assert_eq!(error.to_string(), message, "{line}");
            assert_eq!(error.exit_code(), 1, "{line}");
        }
    }
}
