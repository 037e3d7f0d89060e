//! What do options mean for each other once all of them were said?

use super::{OptionError, Options};

impl Options {
    /// Does what rsync does behind the last word: some options bring others along, and some
    /// paths are written in another way. Doing it twice changes nothing.
    ///
    /// # Errors
    ///
    /// As [`Options::check`], which it ends with.
    pub fn settle(&mut self) -> Result<(), OptionError> {
        if self.files_from.is_some() {
            self.recursive &= !self.said.recursive_by_archive;
            self.relative = self.said.relative.unwrap_or(true);
            self.dirs = self.said.dirs.unwrap_or(!self.recursive);
        }
        self.inplace |= self.write_devices;
        self.settle_backup_dir()?;
        self.settle_partial_dir();
        self.check()
    }

    /// A backup dir that is the destination itself is none.
    fn settle_backup_dir(&mut self) -> Result<(), OptionError> {
        let Some(dir) = &self.backup_dir else {
            return Ok(());
        };
        self.backup = true;
        if clean(dir) != b"." {
            return Ok(());
        }
        if self.suffix.as_ref().is_none_or(Vec::is_empty) {
            let text = "--suffix cannot be empty when --backup-dir is the same as the dest dir";
            return Err(OptionError::Invalid(text.to_string()));
        }
        self.backup_dir = None;
        Ok(())
    }

    /// A partial dir that is the file's own directory is none either.
    fn settle_partial_dir(&mut self) {
        let Some(dir) = self.partial_dir.take() else {
            return;
        };
        let dir = clean(&dir);
        if dir == b"." {
            self.partial = true;
            self.delay_updates = false;
        } else {
            self.partial_dir = Some(dir);
        }
    }
}

/// Takes `.`, `..` and double slashes out of a path; `.` is what may be left of it.
fn clean(path: &[u8]) -> Vec<u8> {
    let mut parts: Vec<&[u8]> = Vec::new();
    let absolute = path.starts_with(b"/");
    for part in path.split(|byte| *byte == b'/') {
        match (part, parts.last()) {
            (b"" | b".", _) => {}
            (b"..", Some(last)) if *last != b".." => _ = parts.pop(),
            (b"..", None) if absolute => {}
            _ => parts.push(part),
        }
    }
    let joined = parts.join(b"/".as_slice());
    match (absolute, joined.is_empty()) {
        (true, _) => [b"/", joined.as_slice()].concat(),
        (false, true) => b".".to_vec(),
        (false, false) => joined,
    }
}

#[cfg(test)]
mod tests {
    use crate::options::{Options, parse_line};

    fn parsed(line: &str) -> Options {
        let words: Vec<Vec<u8>> = line.split(' ').map(|word| word.into()).collect();
        parse_line(&words, &|_| None).unwrap().options
    }

    #[test]
    fn what_brings_other_options_along_does_so_at_the_end() {
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
