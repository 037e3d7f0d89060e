//! Where does the password for a daemon's module come from?

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::error::Error;

/// Asks a person for the password; gets the words to ask with.
pub type Prompt = Box<dyn FnMut(&str) -> io::Result<Vec<u8>>>;

/// The places that may have the password; the first that is given is used.
#[derive(Default)]
pub struct PasswordSources {
    /// A file whose first line it is; `-` is stdin.
    pub file: Option<PathBuf>,
    /// The value of `RSYNC_PASSWORD`.
    pub variable: Option<Vec<u8>>,
    /// A person at a terminal.
    pub prompt: Option<Prompt>,
}

/// The longest password that rsync reads from a file.
const LONGEST: usize = 511;

impl PasswordSources {
    /// Gets the password for a user of a module.
    pub(crate) fn obtain(&mut self, module: &str, user: &str) -> Result<Vec<u8>, Error> {
        if let Some(path) = &self.file {
            return read_file(path);
        }
        if let Some(password) = &self.variable {
            return Ok(password.clone());
        }
        let missing = || Error::NoPassword { module: module.to_owned(), user: user.to_owned() };
        let prompt = self.prompt.as_mut().ok_or_else(missing)?;
        let words = format!("Password for {user} at module {module}: ");
        prompt(&words).map_err(|source| Error::Io { action: "ask for the password", source })
    }
}

impl fmt::Debug for PasswordSources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PasswordSources").field("file", &self.file).finish_non_exhaustive()
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    let bad = |why: String| Error::PasswordFile { path: path.to_owned(), why };
    if path == Path::new("-") {
        return first_line(io::stdin().lock()).map_err(bad);
    }
    check_link(path).map_err(bad)?;
    let file = File::open(path).map_err(|error| bad(error.to_string()))?;
    // The open file is asked, so that no other can be put in its place after the check.
    let meta = file.metadata().map_err(|error| bad(error.to_string()))?;
    check(meta.mode(), meta.uid(), geteuid().as_raw()).map_err(|why| bad(why.to_owned()))?;
    first_line(file).map_err(bad)
}

/// Somebody else's symlink could lead to a file that is not meant as the password.
fn check_link(path: &Path) -> Result<(), String> {
    let meta = fs::symlink_metadata(path).map_err(|error| error.to_string())?;
    if meta.is_symlink() && ![0, geteuid().as_raw()].contains(&meta.uid()) {
        return Err("it is another user's symlink".into());
    }
    Ok(())
}

/// The rule of rsync: other users may neither read nor write it, and root trusts root's alone.
fn check(mode: u32, owner: u32, me: u32) -> Result<(), &'static str> {
    if mode & 0o006 != 0 {
        return Err("other users may read or write it");
    }
    if me == 0 && owner != 0 {
        return Err("it must belong to root when root runs this");
    }
    Ok(())
}

fn first_line(file: impl Read) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    // One byte more than the limit, and room for the end of the line.
    file.take(LONGEST as u64 + 1).read_to_end(&mut text).map_err(|error| error.to_string())?;
    let end = text.iter().position(|byte| matches!(byte, b'\n' | b'\r' | 0));
    text.truncate(end.unwrap_or(text.len()));
    match text.len() {
        0 => Err("its first line is empty".into()),
        length if length > LONGEST => Err(format!("its first line is longer than {LONGEST} bytes")),
        _ => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn from_file(path: &Path) -> Result<Vec<u8>, Error> {
        PasswordSources { file: Some(path.to_owned()), ..Default::default() }.obtain("m", "me")
    }

    #[test]
    fn only_the_first_line_counts_and_other_users_may_not_see_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret");
        fs::write(&path, "pass word \r\nmore\n").unwrap();
        for (mode, fine) in
            [(0o600, true), (0o640, true), (0o400, true), (0o644, false), (0o602, false)]
        {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            match from_file(&path) {
                Ok(password) => assert!(fine && password == b"pass word ", "{mode:o}"),
                Err(error) => {
                    assert!(!fine, "{mode:o}: {error}");
                    assert_eq!(error.exit_code(), 1);
                    assert!(error.hint().unwrap().contains("chmod 600"));
                }
            }
        }
    }

    #[test]
    fn an_empty_a_missing_and_an_endless_file_are_errors_with_code_1() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret");
        assert_eq!(from_file(&path).unwrap_err().exit_code(), 1);
        for content in ["", "\nsecond\n", &"x".repeat(600)] {
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
            assert_eq!(from_file(&path).unwrap_err().exit_code(), 1);
        }
        fs::write(&path, "x".repeat(511)).unwrap();
        assert_eq!(from_file(&path).unwrap().len(), 511);
    }

    #[test]
    fn root_trusts_only_files_of_root() {
        assert!(check(0o100_600, 1000, 0).is_err());
        assert!(check(0o100_600, 1000, 1000).is_ok());
        assert!(check(0o100_640, 0, 1000).is_ok());
    }

    #[test]
    fn an_own_symlink_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("secret"), dir.path().join("link"));
        fs::write(&path, "pw").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        symlink(&path, &link).unwrap();
        assert_eq!(from_file(&link).unwrap(), b"pw");
    }

    #[test]
    fn the_file_comes_before_the_variable_and_that_before_the_person() {
        let prompt: Prompt = Box::new(|_| Ok(b"typed".to_vec()));
        let mut sources =
            PasswordSources { file: None, variable: Some(b"var".to_vec()), prompt: Some(prompt) };
        assert_eq!(sources.obtain("m", "me").unwrap(), b"var");
        sources.variable = None;
        assert_eq!(sources.obtain("m", "me").unwrap(), b"typed");
        sources.prompt = None;
        let error = sources.obtain("m", "me").unwrap_err();
        assert!(error.to_string().contains("wants a password for user \"me\""), "{error}");
    }
}
