//! Which filter rules and names the files of options give a session, and in which order.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use filter::{Closing, CvsIgnore, LineEnds, RuleList, Settings};
use wire::options::{Delimiter, FilesFrom, FilterOption, Options};

use super::failure::Failure;
use super::task::Surroundings;

/// The suffix of backup files where `--suffix` names none.
const BACKUP_SUFFIX: &[u8] = b"~";
/// Where `--delay-updates` keeps files if `--partial-dir` does not say.
const DELAY_DIR: &[u8] = b".~tmp~";

/// Reads all filter options into one list.
///
/// # Errors
///
/// Says which rule or file is wrong.
pub fn rules(options: &Options, around: &Surroundings) -> Result<RuleList, RuleError> {
    let mut rules = RuleList::new(Settings {
        line_ends: line_ends(options.from0),
        cvs_ignore: cvs_ignore(around),
        delete_excluded: options.delete_excluded,
    });
    for option in &options.filters {
        add(&mut rules, option)?;
    }
    rules.set_line_ends(line_ends(options.from0));
    rules.close(&closing(options))?;
    Ok(rules)
}

fn add(rules: &mut RuleList, option: &FilterOption) -> Result<(), RuleError> {
    match option {
        FilterOption::Exclude(pattern) => rules.add_exclude(pattern),
        FilterOption::Include(pattern) => rules.add_include(pattern),
        FilterOption::Filter(rule) => rules.add_filter(rule, &mut read_merge_file),
        FilterOption::RsyncFilter => rules.add_rsync_filter(),
        FilterOption::ExcludeFrom(path, ends) => {
            rules.set_line_ends(line_ends(*ends));
            rules.add_exclude_from(path.as_os_str().as_bytes(), &read_rule_file("exclude", path)?)
        }
        FilterOption::IncludeFrom(path, ends) => {
            rules.set_line_ends(line_ends(*ends));
            rules.add_include_from(path.as_os_str().as_bytes(), &read_rule_file("include", path)?)
        }
    }
    .map_err(Into::into)
}

/// Reads the names of `--files-from` where they stand in a file of this machine.
///
/// Who sends them on leaves it to the far side to make sense of `#` and `;`.
pub fn listed_names(options: &Options, sends_on: bool) -> Result<Option<Vec<Vec<u8>>>, RuleError> {
    let Some(FilesFrom::Local(path)) = &options.files_from else { return Ok(None) };
    let contents = read_rule_file("files-from", path)?;
    let is_end = |byte: &u8| match options.from0 {
        Delimiter::Line => matches!(byte, b'\n' | b'\r' | 0),
        Delimiter::Nul => *byte == 0,
    };
    let is_name = |name: &&[u8]| match name.first() {
        None => false,
        Some(b'#' | b';') => sends_on,
        Some(_) => true,
    };
    Ok(Some(contents.split(is_end).filter(is_name).map(<[u8]>::to_vec).collect()))
}

fn line_ends(delimiter: Delimiter) -> LineEnds {
    match delimiter {
        Delimiter::Line => LineEnds::Newline,
        Delimiter::Nul => LineEnds::Nul,
    }
}

fn closing(options: &Options) -> Closing<'_> {
    let suffix = options.suffix.as_deref().unwrap_or(BACKUP_SUFFIX);
    let backups_lie_beside = options.backup && options.backup_dir.is_none() && options.deletes();
    let delay_dir = options.delay_updates.then_some(DELAY_DIR);
    Closing {
        backup_suffix: backups_lie_beside.then_some(suffix),
        partial_dir: options.partial_dir.as_deref().or(delay_dir),
        cvs_exclude: options.cvs_exclude,
    }
}

fn cvs_ignore(around: &Surroundings) -> CvsIgnore {
    let home = around.home.as_ref().map(|home| home.join(".cvsignore"));
    CvsIgnore {
        home_file: home.and_then(|path| fs::read(path).ok()).unwrap_or_default(),
        variable: around.cvsignore.clone().unwrap_or_default(),
    }
}

fn read_merge_file(path: &[u8]) -> io::Result<Option<Vec<u8>>> {
    match fs::read(Path::new(OsStr::from_bytes(path))) {
        Ok(contents) => Ok(Some(contents)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn read_rule_file(kind: &'static str, path: &Path) -> Result<Vec<u8>, RuleError> {
    let read = match path == Path::new("-") {
        true => {
            let mut contents = Vec::new();
            io::stdin().lock().read_to_end(&mut contents).map(|_| contents)
        }
        false => fs::read(path),
    };
    read.map_err(|source| RuleError::File { kind, path: path.to_owned(), source })
}

/// Why there is no list of rules.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// A file of rules cannot be read.
    #[error("cannot read the filter file {}: {source}", path.display())]
    File {
        /// `exclude`, `include` or `files-from`.
        kind: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// A rule makes no sense.
    #[error(transparent)]
    Rule(#[from] filter::Error),
}

impl RuleError {
    /// Returns rsync's exit code for it.
    pub fn exit_code(&self) -> i32 {
        match self {
            RuleError::File { kind: "files-from", .. } => wire::exit::SYNTAX,
            RuleError::File { .. } => wire::exit::FILE_IO,
            RuleError::Rule(error) => error.exit_code(),
        }
    }
}

impl From<RuleError> for Failure {
    fn from(error: RuleError) -> Self {
        Failure::local(error.exit_code(), error)
    }
}
