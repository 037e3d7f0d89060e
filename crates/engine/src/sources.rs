//! Which directories a push reads, and under which names their content appears.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tree::{Root, Stat};
use wire::options::Options;

use crate::event::{Event, Gravity, Monitor, Problem};
use crate::trouble::{Doing, Who};

/// One argument of a push: where to read and what it is called over there.
#[derive(Debug)]
pub(crate) struct Source {
    /// Index into [`Sources::roots`].
    pub(crate) root: u16,
    /// Its name below the root; `.` when the content alone was asked for.
    pub(crate) name: Vec<u8>,
    /// The absolute path of the root, for filter rules that speak of absolute paths.
    pub(crate) base: Vec<u8>,
    /// Its attributes when the push began.
    pub(crate) stat: Stat,
}

/// All sources of a sending side, opened.
#[derive(Debug, Default)]
pub struct Sources {
    roots: Vec<Root>,
    given: Vec<Source>,
    missing: u64,
    /// What went wrong and was not told yet.
    problems: Mutex<Vec<Problem>>,
}

impl Sources {
    /// Opens every source. One that cannot be opened counts as missing, unless it is only not
    /// there and may be (`--ignore-missing-args`).
    pub fn open(paths: &[PathBuf], options: &Options) -> Self {
        let mut sources = Self::default();
        let mut problems = Vec::new();
        for path in paths {
            let Err(error) = sources.add(path) else { continue };
            let content_wanted = split(path.as_os_str().as_bytes()).1 == b".";
            if options.ignore_missing_args && error.is_not_found() && !content_wanted {
                continue;
            }
            sources.missing += 1;
            problems.push(Problem::system(Who::Sender, Doing::LINK_STAT, error, Gravity::Error));
        }
        sources.problems = Mutex::new(problems);
        sources
    }

    /// Opens what a list of names says, each looked for in `dir` (`--files-from`).
    pub fn open_listed(_dir: &Path, _names: &[Vec<u8>], _options: &Options) -> Self {
        Self::default()
    }

    /// Opens what a list of names says, each looked for in the directory of the one source.
    pub(crate) fn listed(&self, _names: &[Vec<u8>], _options: &Options) -> Self {
        Self::default()
    }

    /// Tells what went wrong, once.
    pub fn tell(&self, monitor: Monitor<'_>) {
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        for problem in problems.drain(..) {
            monitor(Event::Problem(problem));
        }
    }

    /// Tells whether there is nothing to send, and nothing wrong with that.
    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// Counts the arguments that could not be found.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    pub(crate) fn roots(&self) -> &[Root] {
        &self.roots
    }

    pub(crate) fn given(&self) -> &[Source] {
        &self.given
    }

    fn add(&mut self, path: &Path) -> tree::Result<()> {
        let (base, name) = split(path.as_os_str().as_bytes());
        let base = Path::new(OsStr::from_bytes(base));
        let root = Root::open(base)?;
        let absolute = base.canonicalize().unwrap_or_else(|_| base.to_owned());
        let dir = root.open_dir(b".")?;
        let stat = if name == b"." { dir.stat_self()? } else { dir.stat(name)? };
        let index = u16::try_from(self.roots.len()).unwrap_or(u16::MAX);
        self.roots.push(root);
        let base = absolute.as_os_str().as_bytes().to_vec();
        self.given.push(Source { root: index, name: name.to_vec(), base, stat });
        Ok(())
    }
}

/// Splits an argument into the directory to read from and the name in it: a slash, `.` or `..`
/// at the end asks for the content alone (docs/protocol/file-list.md).
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    let last = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    if matches!(last, b"" | b"." | b"..") {
        let base = if path.is_empty() { b".".as_slice() } else { path };
        return (base, b".");
    }
    match path.len() - last.len() {
        0 => (b".", last),
        1 => (b"/", last),
        before => (&path[..before - 1], last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_at_the_end_asks_for_the_content() {
        let table: [(&[u8], &[u8], &[u8]); 8] = [
            (b"d/x", b"d", b"x"),
            (b"x", b".", b"x"),
            (b"/x", b"/", b"x"),
            (b"x/", b"x/", b"."),
            (b"d/..", b"d/..", b"."),
            (b".", b".", b"."),
            (b"", b".", b"."),
            (b"d//x", b"d/", b"x"),
        ];
        for (argument, base, name) in table {
            assert_eq!(split(argument), (base, name), "{}", argument.escape_ascii());
        }
    }
}
