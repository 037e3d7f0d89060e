//! Everything that is known of the place where files are written.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tree::{Dir, Follow, Journal, Root};
use wire::options::{AltDest, AltDestKind, Options};

use crate::destination::{Settled, absolute};
use crate::error::{Error, Result};
use crate::event::{Event, Gravity, Monitor, Problem};
use crate::list::join;
use crate::received::split;
use crate::site_dirs::SiteDirs;
use crate::trouble::{Doing, Trouble, Who};

/// Where partial files are kept without `--partial-dir`, when updates are delayed.
const DELAY_DIR: &[u8] = b".~tmp~";
/// Directories of partial files are nobody else's business.
const PARTIAL_DIR_MODE: u32 = 0o700;
/// The suffix of backups in the same directory.
const BACKUP_SUFFIX: &[u8] = b"~";

/// The destination with all the directories that options add to it.
#[derive(Debug)]
pub(crate) struct Site {
    /// `None` where a dry run would have made it.
    pub(crate) root: Option<Root>,
    pub(crate) path: PathBuf,
    /// Whether the directory was made for this transfer.
    pub(crate) made: bool,
    /// The name that the only file gets.
    pub(crate) new_name: Option<Vec<u8>>,
    pub(crate) follow: Follow,
    /// `--link-dest` and its like, in order; `None` for one that is not there.
    pub(crate) alternatives: Vec<Option<Root>>,
    pub(crate) alternative_kind: Option<AltDestKind>,
    pub(crate) backup: Option<Backup>,
    pub(crate) partial_dir: Option<Vec<u8>>,
    pub(crate) temp_dir: Option<Dir>,
    pub(crate) journal: Journal,
    pub(crate) suffix: [u8; 6],
    pub(crate) is_root: bool,
    pub(crate) umask: u32,
}

/// Where replaced and deleted files are kept.
#[derive(Debug)]
pub(crate) struct Backup {
    /// The tree of `--backup-dir`; without it a backup lies beside its file.
    pub(crate) tree: Option<BackupTree>,
    /// How the user named that; empty without it.
    pub(crate) dir: Vec<u8>,
    pub(crate) suffix: Vec<u8>,
}

/// The tree of `--backup-dir`, which is made when something is kept.
#[derive(Debug)]
pub(crate) struct BackupTree {
    path: PathBuf,
    root: OnceLock<Root>,
}

impl BackupTree {
    /// Returns its root, made where it is missing.
    pub(crate) fn root(&self) -> tree::Result<&Root> {
        if let Some(root) = self.root.get() {
            return Ok(root);
        }
        Root::make_path(&self.path, 0o777)?;
        let root = Root::open(&self.path)?;
        Ok(self.root.get_or_init(|| root))
    }
}

impl Site {
    /// Opens what the options name.
    pub(crate) fn new(
        settled: Settled,
        options: &Options,
        umask: u32,
        state_dir: Option<&Path>,
        monitor: Monitor<'_>,
    ) -> Result<Self> {
        let base = absolute(&settled.path);
        if let Some(dir) = options.backup_dir.as_ref().filter(|_| options.backup) {
            check_backup_dir(&below(&base, dir), dir)?;
        }
        let follow = if options.keep_dirlinks { Follow::DirLinks } else { Follow::Never };
        let alternatives = match &options.alt_dest {
            Some(alt) => alt.dirs.iter().map(|dir| alternative(alt, &base, dir, monitor)).collect(),
            None => Vec::new(),
        };
        let temp_dir = match &options.temp_dir {
            Some(dir) if !options.dry_run => Some(temp_dir(&below(&base, dir), dir)?),
            _ => None,
        };
        let journal = match (&settled.root, state_dir) {
            (Some(root), Some(state)) if !options.dry_run => journal(state, root, monitor),
            _ => None,
        };
        let journal = match journal {
            Some(journal) => journal,
            None => Journal::without_file().map_err(Error::Random)?,
        };
        let suffix = *journal.suffix();
        Ok(Self {
            backup: options.backup.then(|| Backup::new(&base, options)),
            partial_dir: partial_dir(options),
            root: settled.root,
            path: base,
            made: settled.made,
            new_name: settled.new_name,
            follow,
            alternatives,
            alternative_kind: options.alt_dest.as_ref().map(|alt| alt.kind),
            temp_dir,
            journal,
            suffix,
            is_root: options.super_user.unwrap_or_else(tree::is_root),
            umask,
        })
    }

    /// Returns the path of a name of the transfer, for messages.
    pub(crate) fn path_of(&self, rel: &[u8]) -> PathBuf {
        self.path.join(OsStr::from_bytes(rel))
    }

    /// Returns where an entry of the list goes: its directory and its name in it.
    pub(crate) fn place<'a>(&'a self, name: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        match &self.new_name {
            Some(new_name) => (b"", new_name),
            None if name == b"." => (b"", b"."),
            None => split(name),
        }
    }

    /// Opens the directory that keeps the partial files of `dir`, if it is there.
    pub(crate) fn open_partial(&self, dirs: &mut SiteDirs, dir: &[u8]) -> Option<Arc<Dir>> {
        let partial = self.partial_dir.as_ref()?;
        if partial.starts_with(b"/") {
            let root = Root::open(Path::new(OsStr::from_bytes(partial))).ok()?;
            return root.open_dir(b".").ok().map(Arc::new);
        }
        dirs.open(self, &join(dir, partial)).ok()?
    }

    /// The same, made where it is missing.
    pub(crate) fn make_partial(
        &self,
        dirs: &mut SiteDirs,
        dir: &[u8],
    ) -> tree::Result<Option<Arc<Dir>>> {
        let Some(partial) = &self.partial_dir else { return Ok(None) };
        if let Some(found) = self.open_partial(dirs, dir) {
            return Ok(Some(found));
        }
        if partial.starts_with(b"/") {
            Root::make_path(Path::new(OsStr::from_bytes(partial)), PARTIAL_DIR_MODE)?;
            return Ok(self.open_partial(dirs, dir));
        }
        dirs.make(self, &join(dir, partial), PARTIAL_DIR_MODE)
    }

    /// Removes the directory of partial files where it is empty.
    pub(crate) fn leave_partial(&self, dirs: &mut SiteDirs, dir: &[u8]) {
        let Some(partial) = self.partial_dir.as_ref().filter(|dir| !dir.starts_with(b"/")) else {
            return;
        };
        let path = join(dir, partial);
        let (parent, name) = split(&path);
        if let Ok(Some(parent)) = dirs.open(self, parent)
            && parent.remove_dir(name).is_ok()
        {
            dirs.forget(&path);
        }
    }

    /// Has the journal know that a temporary name may lie in a directory.
    pub(crate) fn note_temporary(&self, dir: &[u8]) {
        // Without a note only a run that is killed leaves something behind.
        let _ = self.journal.note_dir(dir);
    }
}

impl Backup {
    fn new(base: &Path, options: &Options) -> Self {
        let tree = options.backup_dir.as_ref();
        let tree = tree.map(|dir| BackupTree { path: below(base, dir), root: OnceLock::new() });
        let suffix = match (&options.suffix, &options.backup_dir) {
            (Some(suffix), _) => suffix.clone(),
            (None, Some(_)) => Vec::new(),
            (None, None) => BACKUP_SUFFIX.to_vec(),
        };
        let dir = options.backup_dir.as_deref().unwrap_or_default();
        let dir = dir.strip_suffix(b"/").unwrap_or(dir).to_vec();
        Self { tree, dir, suffix }
    }

    /// Returns the name of a file's backup.
    pub(crate) fn name(&self, name: &[u8]) -> Vec<u8> {
        [name, &self.suffix].concat()
    }
}

/// Opens another folder to compare with; one that is not there is only told.
fn alternative(alt: &AltDest, base: &Path, dir: &[u8], monitor: Monitor<'_>) -> Option<Root> {
    let path = below(base, dir);
    match Root::open(&path) {
        Ok(root) => Some(root),
        Err(_) => {
            let option = match alt.kind {
                AltDestKind::Compare => "--compare-dest",
                AltDestKind::Copy => "--copy-dest",
                AltDestKind::Link => "--link-dest",
            };
            let whole = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
            let stock = format!("{option} arg does not exist: {}", whole.display());
            let trouble = Trouble::Other { ours: format!("{option}: no such directory"), stock };
            let (gravity, who) = (Gravity::Warning, Who::Receiver);
            monitor(Event::Problem(Problem { path, trouble, gravity, who }));
            None
        }
    }
}

/// A relative directory of an option lies below the destination.
fn below(base: &Path, dir: &[u8]) -> PathBuf {
    base.join(OsStr::from_bytes(dir))
}

fn partial_dir(options: &Options) -> Option<Vec<u8>> {
    match &options.partial_dir {
        Some(dir) => Some(dir.strip_suffix(b"/").unwrap_or(dir).to_vec()),
        None => options.delay_updates.then(|| DELAY_DIR.to_vec()),
    }
}

fn temp_dir(path: &Path, given: &[u8]) -> Result<Dir> {
    // An empty name would be the destination itself.
    let path = if given.is_empty() { Path::new("") } else { path };
    let open = Root::open(path).and_then(|root| root.open_dir(b"."));
    open.map_err(|error| unusable("temp-dir", given, &error))
}

/// A backup dir is made when it is needed, where nothing is in its way.
fn check_backup_dir(path: &Path, given: &[u8]) -> Result<()> {
    let source = match std::fs::metadata(path) {
        Ok(found) if !found.is_dir() => ErrorKind::NotADirectory.into(),
        Err(error) if error.kind() != ErrorKind::NotFound => error,
        _ => return Ok(()),
    };
    let error = tree::Error::Io { op: "look at", path: path.to_owned(), source };
    Err(unusable("backup-dir", given, &error))
}

/// Puts it as rsync does that the directory of an option cannot be used.
fn unusable(option: &str, given: &[u8], error: &tree::Error) -> Error {
    let given = String::from_utf8_lossy(given);
    let reason = error.reason();
    let (text, code) = match reason.kind() {
        ErrorKind::NotFound => {
            (format!("The {option} does not exist: {given}"), wire::exit::SYNTAX)
        }
        ErrorKind::NotADirectory if error.path().exists() => {
            (format!("The {option} is not a directory: {given}"), wire::exit::SYNTAX)
        }
        _ => {
            let named = if option == "temp-dir" { "temp-dir " } else { "" };
            let text = format!("Failed to stat {named}{given}: {}", plain(reason));
            (text, wire::exit::FILE_IO)
        }
    };
    Error::Option { text, code }
}

/// Returns what the system said without its number.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Begins the record of temporary files, after those of a run that was killed are removed.
fn journal(state: &Path, root: &Root, monitor: Monitor<'_>) -> Option<Journal> {
    let (journal, leftovers) = Journal::open(state, root).ok()?;
    for leftover in leftovers {
        if let Err(error) = leftover.clean(root) {
            let problem = Problem::system(Who::Receiver, Doing::REMOVE, error, Gravity::Warning);
            monitor(Event::Problem(problem));
        }
    }
    Some(journal)
}
