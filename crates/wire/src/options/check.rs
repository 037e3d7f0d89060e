//! Which options exclude each other?

use crate::dialect::SumName;
use crate::exit;

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

#[cfg(test)]
mod tests {
    use crate::options::{OptionError, Options, parse_line};

    fn parsed(line: &str) -> Result<Options, OptionError> {
        let words: Vec<Vec<u8>> = line.split(' ').map(|word| word.into()).collect();
        parse_line(&words, &|_| None).map(|line| line.options)
    }

    #[test]
    fn what_rsync_refuses_to_combine_is_refused_in_its_words() {
        let no_delete = "--delete does not work without --recursive (-r) or --dirs (-d).";
        let two_times = "You may not combine multiple --delete-WHEN options.";
        let cases = [
            ("--delete", no_delete, 1),
            ("-a --no-r --delete-after", no_delete, 1),
            ("-a --inplace --partial-dir=.p", "--inplace cannot be used with --partial-dir", 1),
            (
                "-a --append-verify -y --partial-dir=.p",
                "--append cannot be used with --partial-dir",
                1,
            ),
            ("-a --inplace --delay-updates", "--inplace cannot be used with --delay-updates", 1),
            (
                "-a --write-devices --delay-updates",
                "--inplace cannot be used with --delay-updates",
                1,
            ),
            ("-a --append -W", "--append cannot be used with --whole-file", 1),
            ("-a --append --cc=none", "--append cannot be used with --whole-file", 1),
            ("-a --delete-after --del", two_times, 1),
            ("-a --delete-before --delete-after", two_times, 1),
            ("-ab --suffix=", "--suffix cannot be empty without a --backup-dir", 1),
            (
                "-a --backup-dir=./",
                "--suffix cannot be empty when --backup-dir is the same as the dest dir",
                1,
            ),
            ("-ac --cc=md5,none", "Invalid checksum-choice for --checksum: none (0)", 4),
            ("-s --old-args", "--secluded-args conflicts with --old-args.", 1),
            ("--read-batch=a --files-from=b", "--read-batch cannot be used with --files-from", 1),
            (
                "--read-batch=a --write-batch=b",
                "--write-batch and --read-batch can not be used together",
                1,
            ),
        ];
        for (line, message, code) in cases {
            let error = parsed(line).unwrap_err();
            assert_eq!((error.to_string().as_str(), error.exit_code()), (message, code), "{line}");
        }
    }

    #[test]
    fn what_brings_other_options_along_does_so_at_the_end() {
        let parsed = |line| parsed(line).unwrap();
        let listed = parsed("-a --files-from=l");
        assert!(listed.relative && listed.dirs && !listed.recursive);
        let listed = parsed("-r --files-from=l -a --no-R");
        assert!(!listed.relative && !listed.dirs && listed.recursive);
        assert!(parsed("--write-devices --no-inplace").inplace);
        assert_eq!(parsed("--partial-dir=x/y/../z/").partial_dir, Some(b"x/z".to_vec()));
        let beside = parsed("--delay-updates --partial-dir=.");
        assert!(beside.partial && !beside.delay_updates && beside.partial_dir.is_none());
        let backup = parsed("--backup-dir=. --suffix=.x --no-backup");
        assert!(backup.backup && backup.backup_dir.is_none());
        assert!(parsed("-r --delete-during --delete-delay").deletes());
    }
}
