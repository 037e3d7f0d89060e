//! Which names a sending side was asked for, where they are read, and what they are called.

use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tree::{Follow, Kind, Root, Stat};
use wire::options::Options;

use crate::error::{Error, Result};
use crate::event::{Event, Gravity, Monitor, Problem};
use crate::look::Look;
use crate::trouble::{Doing, Who};

/// One name that was asked for.
#[derive(Debug)]
pub(crate) struct Source {
    /// Index into [`Sources::roots`].
    pub(crate) root: u16,
    /// Its path below the root, which is its name in the transfer; `.` for the root itself.
    pub(crate) name: Vec<u8>,
    /// Its attributes when the session began; a mode of 0 stands for one that is missing.
    pub(crate) stat: Stat,
    /// Whether a slash at its end asks for what is in it.
    pub(crate) content: bool,
    /// Whether it only stands for a `./` in front of another.
    pub(crate) implied: bool,
}

/// All sources of a sending side, opened; in the order of their paths.
#[derive(Debug, Default)]
pub struct Sources {
    roots: Vec<Root>,
    /// The absolute path of each root, for filter rules that speak of absolute paths.
    bases: Vec<Vec<u8>>,
    /// The path of each root as it was written; empty for the working directory.
    written: Vec<Vec<u8>>,
    given: Vec<Source>,
    missing: u64,
    /// The directory that names of a list are looked for in.
    home: PathBuf,
    /// Whether the way to a source leads through a symlink.
    through_links: bool,
    /// An argument that cannot be sent at all.
    refused: Option<String>,
    /// What went wrong and was not told yet.
    problems: Mutex<Vec<Problem>>,
}

/// An argument taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    base: Vec<u8>,
    pub(crate) name: Vec<u8>,
    content: bool,
    /// Whether it begins with `./`, which is worth an entry of its own.
    dot: bool,
}

impl Sources {
    /// Opens every source. One that cannot be opened counts as missing, unless it is only not
    /// there and may be (`--ignore-missing-args`).
    pub fn open(paths: &[PathBuf], options: &Options) -> Self {
        let mut sources = Self::default();
        for path in paths {
            sources.ask(path.as_os_str().as_bytes(), options);
        }
        sources.sorted()
    }

    /// Opens what a list of names says, each looked for in `dir` (`--files-from`); without names,
    /// they come over the connection.
    pub fn open_listed(dir: &Path, names: &[Vec<u8>], options: &Options) -> Self {
        let mut sources = Self { home: dir.to_owned(), ..Self::default() };
        // Without the directory no name is worth a line.
        for name in names.iter().filter(|_| dir.is_dir()) {
            sources.ask(&inside(name), options);
        }
        sources.sorted()
    }

    /// Opens what names that came over the connection say.
    pub(crate) fn listed(&self, names: &[Vec<u8>], options: &Options) -> Self {
        Self::open_listed(&self.home, names, options)
    }

    /// Tells what went wrong, once.
    pub fn tell(&self, monitor: Monitor<'_>) {
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        for problem in problems.drain(..) {
            monitor(Event::Problem(problem));
        }
    }

    /// Refuses arguments that cannot be sent in any case.
    pub fn check(&self) -> Result<()> {
        match &self.refused {
            Some(text) => Err(Error::Argument(text.clone())),
            None if self.home.as_os_str().is_empty() => Ok(()),
            None => Root::open(&self.home).map(drop).map_err(Error::Tree),
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

    pub(crate) fn bases(&self) -> &[Vec<u8>] {
        &self.bases
    }

    pub(crate) fn written(&self) -> &[Vec<u8>] {
        &self.written
    }

    pub(crate) fn given(&self) -> &[Source] {
        &self.given
    }

    /// Tells whether directories must be opened through symlinks.
    pub(crate) fn follow(&self, look: Look) -> Follow {
        match self.through_links || look.follows_links() {
            true => Follow::DirLinks,
            false => Follow::Never,
        }
    }

    /// Narrows a range of sources to those that are `path` or lie below it.
    pub(crate) fn at_or_below(&self, range: Range<usize>, path: &[u8]) -> Range<usize> {
        let given = &self.given[range.clone()];
        let start = given.partition_point(|source| key(&source.name).lt(key(path)));
        let is_below = |source: &Source| {
            source.name.strip_prefix(path).is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
        };
        let len = given[start..].partition_point(is_below);
        range.start + start..range.start + start + len
    }

    fn ask(&mut self, path: &[u8], options: &Options) {
        let argument = match options.relative {
            true => relative_argument(path),
            false => plain_argument(path),
        };
        if options.relative && argument.name.split(|byte| *byte == b'/').any(|part| part == b"..") {
            let path = String::from_utf8_lossy(path);
            self.refused = Some(format!("found \"..\" dir in relative path: {path}"));
            return;
        }
        let base = self.home.join(OsStr::from_bytes(&argument.base));
        let (doing, error) = match self.root(&base) {
            Err(error) => (Doing::CHANGE_DIR, error),
            Ok(root) => match self.add(root, argument, options) {
                Err(error) => (Doing::LINK_STAT, error),
                Ok(()) => return,
            },
        };
        if options.ignore_missing_args && error.is_not_found() && doing == Doing::LINK_STAT {
            return;
        }
        self.missing += 1;
        let problem = Problem::system(Who::Sender, doing, error, Gravity::Error);
        self.problems.get_mut().unwrap_or_else(PoisonError::into_inner).push(problem);
    }

    /// Returns the number of the root with this path.
    fn root(&mut self, base: &Path) -> tree::Result<u16> {
        let path = std::path::absolute(base).unwrap_or_else(|_| base.to_owned());
        let path: PathBuf = path.components().collect();
        let known = self.roots.iter().rposition(|root| root.path() == path);
        let index = match known {
            Some(index) => index,
            None => {
                self.roots.push(Root::open(&path)?);
                let real = path.canonicalize().unwrap_or(path);
                self.bases.push(real.as_os_str().as_bytes().to_vec());
                let written: PathBuf = base.components().collect();
                let written = written.strip_prefix(".").unwrap_or(&written);
                self.written.push(written.as_os_str().as_bytes().to_vec());
                self.roots.len() - 1
            }
        };
        Ok(u16::try_from(index).unwrap_or(u16::MAX))
    }

    fn add(&mut self, root: u16, argument: Argument, options: &Options) -> tree::Result<()> {
        let Argument { name, content, dot, .. } = argument;
        let (parent, last) = split_last(&name);
        let tree = &self.roots[usize::from(root)];
        let dir = match tree.open_dir(parent) {
            Err(_) if options.relative => {
                let dir = tree
                    .open_dir_with(parent, Follow::DirLinks)
                    .map_err(|error| error.of_path(tree.path_of(&name)))?;
                self.through_links = true;
                dir
            }
            other => other?,
        };
        let look = Look::of(options);
        let stat = match name.as_slice() {
            b"." => dir.stat_self(),
            _ if content => {
                let seen = dir.stat_follow(last)?;
                self.through_links |= dir.stat(last)?.kind() == Kind::Symlink;
                Ok(seen)
            }
            _ => look.stat(&dir, last, &name, &mut Vec::new()),
        };
        let stat = match stat {
            Err(error) if options.delete_missing_args && error.is_not_found() => MISSING,
            other => other?,
        };
        if dot && !self.given.iter().any(|source| source.implied && source.root == root) {
            let stat = tree.open_dir(b".")?.stat_self()?;
            let name = b".".to_vec();
            self.given.push(Source { root, name, stat, content: false, implied: true });
        }
        self.given.push(Source { root, name, stat, content, implied: false });
        Ok(())
    }

    fn sorted(mut self) -> Self {
        self.given.sort_by(|a, b| key(&a.name).cmp(key(&b.name)));
        self
    }
}

/// What is sent of an argument that is to be deleted over there.
const MISSING: Stat = Stat {
    mode: 0,
    size: 0,
    mtime: 0,
    mtime_nsec: 0,
    atime: 0,
    uid: 0,
    gid: 0,
    dev: 0,
    ino: 0,
    links: 1,
    rdev: (0, 0),
};

/// Compares paths so that all below a directory stand together, `.` before all.
fn key(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|part| *part != b".")
}

fn split_last(name: &[u8]) -> (&[u8], &[u8]) {
    match name.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => (&name[..slash], &name[slash + 1..]),
        None => (b"", name),
    }
}

/// Splits an argument into the directory to read from and the name in it: a slash, `.` or `..`
/// at the end asks for the content alone (docs/protocol/file-list.md).
pub(crate) fn plain_argument(path: &[u8]) -> Argument {
    let last = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let content = matches!(last, b"" | b"." | b"..");
    let (base, name) = match path.len() - last.len() {
        _ if path.is_empty() => (&b"."[..], &b"."[..]),
        _ if content => (path, &b"."[..]),
        0 => (&b"."[..], last),
        1 => (&b"/"[..], last),
        before => (&path[..before - 1], last),
    };
    Argument { base: base.to_vec(), name: name.to_vec(), content, dot: false }
}

/// Splits an argument of `--relative`: what stands behind `/./`, or all of it, is the name.
pub(crate) fn relative_argument(path: &[u8]) -> Argument {
    let cut = path.windows(3).position(|part| part == b"/./");
    let (base, rest) = match cut {
        Some(0) => (&b"/"[..], &path[2..]),
        Some(cut) => (&path[..cut], &path[cut + 2..]),
        None if path.starts_with(b"/") => (&b"/"[..], path),
        None => (&b"."[..], path),
    };
    let name = clean(rest);
    let content = matches!(rest.rsplit(|byte| *byte == b'/').next(), None | Some(b"" | b"."));
    let dot = cut.is_none() && path.starts_with(b"./") && name != b".";
    Argument { base: base.to_vec(), name, content, dot }
}

/// Takes out what means nothing in a path; the empty one is `.`.
fn clean(path: &[u8]) -> Vec<u8> {
    let parts = path.split(|byte| *byte == b'/').filter(|part| !matches!(*part, b"" | b"."));
    let name = parts.collect::<Vec<_>>().join(&b'/');
    if name.is_empty() { b".".to_vec() } else { name }
}

/// Keeps a name of a list inside the directory that the list is about.
pub(crate) fn inside(name: &[u8]) -> Vec<u8> {
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in name.split(|byte| *byte == b'/') {
        match part {
            b".." => drop(parts.pop()),
            _ if parts.is_empty() && part.is_empty() => {}
            _ => parts.push(part),
        }
    }
    parts.join(&b'/')
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
        for (text, base, name) in table {
            let argument = plain_argument(text);
            let expected = (base.to_vec(), name.to_vec(), name == b".");
            assert_eq!((argument.base, argument.name, argument.content), expected);
        }
    }

    #[test]
    fn a_relative_argument_is_its_own_name() {
        let table = [
            ("a//b/./../c", "a//b", "../c", false, false),
            ("/a/b", "/", "a/b", false, false),
            ("./a/b/", ".", "a/b", true, true),
            ("a/b/.", ".", "a/b", true, false),
            (".", ".", ".", true, false),
            ("/./a", "/", "a", false, false),
            ("/", "/", ".", true, false),
        ];
        for (text, base, name, content, dot) in table {
            let expected = Argument { base: base.into(), name: name.into(), content, dot };
            assert_eq!(relative_argument(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(inside(b"//a/../../b/./c/"), b"b/./c/");
    }
}
