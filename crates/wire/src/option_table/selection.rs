//! Which options choose the files?

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::{OptionSpec, Rejection, flag, switch, valued};
use crate::options::{Delimiter, FilesFrom, FilterOption, OptionError, Options, number, size};

pub(super) const OPTIONS: &[OptionSpec] = &[
    flag(&["archive", "a"], "archive mode is -rlptgoD", Options::set_archive),
    switch(&["recursive", "r"], "recurse into directories", |o, on| {
        o.recursive = on;
        o.said.recursive_by_archive = false;
    }),
    switch(&["inc-recursive", "i-r"], "send the file list in parts", |o, on| o.inc_recursive = on),
    switch(&["dirs", "d"], "transfer directories without recursing", |o, on| {
        o.dirs = on;
        o.said.dirs = Some(on);
    }),
    flag(&["old-dirs", "old-d"], "--dirs for old versions of rsync", |o| {
        o.recursive = true;
        o.filters.push(FilterOption::Exclude(b"/*/*".to_vec()));
    }),
    switch(&["relative", "R"], "use relative path names", |o, on| {
        o.relative = on;
        o.said.relative = Some(on);
    })
    .not_in_config("a job's sources lie side by side in its directory"),
    switch(&["implied-dirs", "i-d"], "send the parents of --relative names", |o, on| {
        o.implied_dirs = on;
    }),
    valued(&["files-from"], "FILE", "read the list of source names from FILE", files_from)
        .not_in_config("the job's key `sources` says it"),
    switch(&["one-file-system", "x"], "stay on one file system", |o, on| {
        o.one_file_system = raised(o.one_file_system, on, 2);
    }),
    flag(&["ignore-missing-args"], "a missing source is no error", |o| {
        o.ignore_missing_args = true;
    }),
    flag(&["delete-missing-args"], "delete missing sources from the destination", |o| {
        o.delete_missing_args = true;
    }),
    flag(&["copy-links", "L"], "send what symlinks point to", |o| o.copy_links = true),
    flag(&["copy-unsafe-links"], "send what symlinks out of the tree point to", |o| {
        o.copy_unsafe_links = true;
    }),
    flag(&["safe-links"], "leave symlinks out of the tree alone", |o| o.safe_links = true),
    flag(&["copy-dirlinks", "k"], "send directories that symlinks point to", |o| {
        o.copy_dirlinks = true;
    }),
    switch(&["munge-links"], "make symlinks safe and unusable", |o, on| o.munge_links = on),
    switch(&["insecure-links"], "follow foreign symlinks in operator paths", |o, on| {
        o.insecure_links = on;
    }),
    valued(&["confine-root"], "DIR", "refuse operator paths outside DIR", |o, text| {
        if !text.starts_with(b"/") {
            let text = "--confine-root must be an absolute path".to_string();
            return Err(OptionError::Invalid(text).into());
        }
        o.confine_root = Some(local_path(text)?);
        Ok(())
    }),
    flag(&["copy-devices"], "send the content of devices as files", |o| o.copy_devices = true),
    switch(&["prune-empty-dirs", "m"], "leave empty directories out", |o, on| {
        o.prune_empty_dirs = on;
    }),
    switch(&["checksum", "c"], "compare by checksum, not by time and size", |o, on| {
        o.checksum = on;
    }),
    flag(&["update", "u"], "skip files that are newer on the receiver", |o| o.update = true),
    flag(&["existing", "ignore-non-existing"], "create nothing", |o| o.existing = true),
    flag(&["ignore-existing"], "update nothing that exists", |o| o.ignore_existing = true),
    flag(&["size-only"], "equal size is equal enough", |o| o.size_only = true),
    flag(&["ignore-times", "I"], "look into files of equal size and time", |o| {
        o.ignore_times = true;
    }),
    valued(&["modify-window", "@"], "NUM", "seconds that times may differ", |o, text| {
        o.modify_window = Some(number(text)?);
        Ok(())
    }),
    valued(&["max-size"], "SIZE", "skip files larger than SIZE", |o, text| {
        o.max_size = Some(size(text)?);
        Ok(())
    }),
    valued(&["min-size"], "SIZE", "skip files smaller than SIZE", |o, text| {
        o.min_size = Some(size(text)?);
        Ok(())
    }),
    valued(&["exclude"], "PATTERN", "leave out what matches PATTERN", |o, text| {
        o.filters.push(FilterOption::Exclude(text.to_vec()));
        Ok(())
    })
    .key("exclude"),
    valued(&["include"], "PATTERN", "do not leave out what matches PATTERN", |o, text| {
        o.filters.push(FilterOption::Include(text.to_vec()));
        Ok(())
    })
    .key("filter"),
    valued(&["filter", "f"], "RULE", "add a filter rule", |o, text| {
        o.filters.push(FilterOption::Filter(text.to_vec()));
        Ok(())
    })
    .key("filter"),
    valued(&["exclude-from"], "FILE", "read exclude patterns from FILE", |o, text| {
        o.filters.push(FilterOption::ExcludeFrom(local_path(text)?, o.from0));
        Ok(())
    }),
    valued(&["include-from"], "FILE", "read include patterns from FILE", |o, text| {
        o.filters.push(FilterOption::IncludeFrom(local_path(text)?, o.from0));
        Ok(())
    }),
    flag(&["cvs-exclude", "C"], "leave out what CVS would", |o| o.cvs_exclude = true),
    flag(&["F"], "obey .rsync-filter files; twice: and hide them", |o| {
        o.filters.push(FilterOption::RsyncFilter);
    }),
    switch(&["from0", "0"], "rule files hold records that end in NUL", |o, on| {
        o.from0 = if on { Delimiter::Nul } else { Delimiter::Line };
    }),
    flag(&["qsort", "use-qsort"], "send the file list as one", |o| o.inc_recursive = false),
];

/// Takes a file of this machine, or behind a colon one of the far side; what stands before the
/// colon has to be the far side's name.
fn files_from(options: &mut Options, text: &[u8]) -> Result<(), Rejection> {
    if text.is_empty() {
        let text = "failed to open files-from file : Invalid argument".to_string();
        return Err(OptionError::Invalid(text).into());
    }
    let colon = text.iter().position(|byte| *byte == b':');
    let is_host = colon.filter(|at| !text[..*at].contains(&b'/'));
    options.files_from = Some(match is_host {
        Some(at) => {
            options.said.files_from_host = text[..at].to_vec();
            FilesFrom::Remote(text[at + 1..].to_vec())
        }
        None => FilesFrom::Local(local_path(text)?),
    });
    Ok(())
}

/// Counts an option that can be given more than once, up to `most`.
pub(super) fn raised(count: u8, on: bool, most: u8) -> u8 {
    if on { count.saturating_add(1).min(most) } else { 0 }
}

/// Takes the path of a file on this machine.
pub(super) fn local_path(text: &[u8]) -> Result<PathBuf, Rejection> {
    if text.is_empty() {
        return Err(Rejection::Value("names no file".to_string()));
    }
    Ok(PathBuf::from(OsStr::from_bytes(text)))
}
