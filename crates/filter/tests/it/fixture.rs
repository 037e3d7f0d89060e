//! A tree of files in memory, and options turned into a list of rules.

use std::collections::BTreeMap;
use std::io;

use filter::{Closing, CvsIgnore, Error, LineEnds, RuleList, Settings};

/// Files by path from `/w`, with their contents; directories are what lies above a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

impl Tree {
    /// Adds a file with its content, given below a directory; `..` leads out of it.
    pub(crate) fn add(&mut self, dir: &str, name: &str, contents: &[u8]) {
        let path = match name.strip_prefix("../") {
            Some(outside) => outside.to_owned(),
            None => join(dir, name),
        };
        self.files.insert(path, contents.to_vec());
    }

    pub(crate) fn is_dir(&self, path: &str) -> bool {
        path.is_empty() || self.files.keys().any(|file| file.starts_with(&format!("{path}/")))
    }

    /// The names in a directory.
    pub(crate) fn names(&self, dir: &str) -> Vec<String> {
        let prefix = if dir.is_empty() { String::new() } else { format!("{dir}/") };
        let below = self.files.keys().filter_map(|file| file.strip_prefix(&prefix));
        let mut names: Vec<_> =
            below.map(|rest| rest.split('/').next().unwrap().to_owned()).collect();
        names.dedup();
        names
    }

    /// Reads a file by its absolute path below `/w`, or by its path from there.
    pub(crate) fn read(&self, path: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let path = String::from_utf8(path.to_vec()).unwrap();
        let path = path.strip_prefix("/w/").unwrap_or(&path).replace("/./", "/");
        Ok(self.files.get(&path).cloned())
    }
}

pub(crate) fn join(dir: &str, name: &str) -> String {
    if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") }
}

/// The options of a recorded case that matter to filters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) rules: RuleList,
    pub(crate) relative: bool,
    pub(crate) prune_empty_dirs: bool,
    pub(crate) delete: bool,
    pub(crate) delete_after: bool,
    pub(crate) backup: bool,
    pub(crate) files_from: Option<String>,
}

/// Reads options as rsync would, with files from the tree.
pub(crate) fn options(words: &[String], tree: &Tree) -> Result<Options, Error> {
    let has = |word: &str| words.iter().any(|other| other == word);
    let delete_excluded = has("--delete-excluded");
    let settings = Settings {
        line_ends: if has("-0") { LineEnds::Nul } else { LineEnds::Newline },
        cvs_ignore: CvsIgnore::default(),
        delete_excluded,
    };
    let mut options = Options { rules: RuleList::new(settings), ..Options::default() };
    let rules = &mut options.rules;
    let mut closing = Closing::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let file = || tree.read(value.as_bytes()).unwrap().unwrap();
        match name {
            "-f" => add_filter(rules, words.next().unwrap(), tree)?,
            _ if word.starts_with("-f") => add_filter(rules, &word[2..], tree)?,
            "--exclude" => rules.add_exclude(value.as_bytes())?,
            "--include" => rules.add_include(value.as_bytes())?,
            "--exclude-from" => rules.add_exclude_from(value.as_bytes(), &file())?,
            "--include-from" => rules.add_include_from(value.as_bytes(), &file())?,
            "-F" => rules.add_rsync_filter()?,
            "-FF" => {
                rules.add_rsync_filter()?;
                rules.add_rsync_filter()?;
            }
            "-C" => closing.cvs_exclude = true,
            "-R" => options.relative = true,
            "-m" => options.prune_empty_dirs = true,
            "-r" | "-0" => {}
            "-b" => options.backup = true,
            "--delete-after" => {
                options.delete = true;
                options.delete_after = true;
            }
            "--files-from" => options.files_from = Some(value.to_owned()),
            "--partial-dir" => closing.partial_dir = Some(value.as_bytes()),
            "--delete" | "--delete-before" | "--delete-excluded" => options.delete = true,
            other => panic!("option {other} is not simulated"),
        }
    }
    if options.backup {
        closing.backup_suffix = Some(b"~");
    }
    rules.close(&closing)?;
    Ok(options)
}

fn add_filter(rules: &mut RuleList, rule: &str, tree: &Tree) -> Result<(), Error> {
    rules.add_filter(rule.as_bytes(), &mut |path| tree.read(path))
}
