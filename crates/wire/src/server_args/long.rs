//! Which long options does the far side get, in which order?

use crate::dialect::CompressName;
use crate::options::{
    Append, Batch, DeleteTiming, Delimiter, FilesFrom, Info, InfoLevels, Options, StderrMode,
};

use super::{Direction, levels};

/// Collects the long options in the order in which rsync sends them.
struct LongArgs(Vec<Vec<u8>>);

/// Returns the long options, those of `-M` last.
pub(super) fn long_options(options: &Options, direction: Direction) -> Vec<Vec<u8>> {
    let push = direction == Direction::ToServer;
    let mut args = LongArgs(Vec::new());
    args.listing(options, push);
    args.transfer(options);
    if push {
        args.deletion(options);
    } else {
        args.joined("--skip-compress=", options.skip_compress.as_ref());
    }
    args.files(options, push);
    args.links_and_ids(options, push);
    if push {
        args.placement(options);
    }
    args.joined("--info=", levels::info_words(options, direction));
    args.in_place(options, push);
    args.sources(options, push);
    args.0.extend(options.remote_options.iter().cloned());
    args.0
}

impl LongArgs {
    fn flag(&mut self, wanted: bool, word: &str) {
        if wanted {
            self.0.push(word.into());
        }
    }

    fn joined(&mut self, start: &str, value: Option<impl AsRef<[u8]>>) {
        if let Some(value) = value {
            self.0.push([start.as_bytes(), value.as_ref()].concat());
        }
    }

    fn two_words(&mut self, option: &str, value: Option<&Vec<u8>>) {
        if let Some(value) = value {
            self.0.push(option.into());
            self.0.push(value.clone());
        }
    }

    fn listing(&mut self, o: &Options, push: bool) {
        self.flag(o.said.list_only, "--list-only");
        self.flag(push && o.deletes() && !o.recursive, "--no-r");
        self.joined("--compress-level=", o.compress_level.map(|level| level.to_string()));
        self.flag(o.devices && !o.specials, "--no-specials");
        self.flag(o.specials && !o.devices, "--specials");
        self.joined("--log-format=", log_format(o).filter(|_| push));
        self.flag(o.stderr == StderrMode::All, "--msgs2stderr");
        self.flag(o.stderr == StderrMode::Client, "--no-msgs2stderr");
    }

    fn transfer(&mut self, o: &Options) {
        self.joined("-B", o.block_size.map(|size| size.to_string()));
        self.joined("--timeout=", nonzero(o.timeout.into()));
        self.joined("--bwlimit=", nonzero(o.bwlimit.into()));
        self.two_words("--backup-dir", o.backup_dir.as_ref());
        self.joined("--suffix=", unusual_suffix(o));
        self.joined("--checksum-choice=", checksum_choice(o));
        self.compression(o);
    }

    fn compression(&mut self, o: &Options) {
        match o.compress_name() {
            None => {}
            Some(CompressName::Zlibx) => self.flag(true, "--new-compress"),
            Some(CompressName::Zlib) => self.flag(true, "--old-compress"),
            Some(name) => self.joined("--compress-choice=", Some(name.name())),
        }
    }

    fn deletion(&mut self, o: &Options) {
        let max_delete = o.max_delete.map(|max| match max {
            0 => "-1".to_string(),
            _ => max.to_string(),
        });
        self.joined("--max-delete=", max_delete);
        self.joined("--min-size=", o.min_size.map(|size| size.to_string()));
        self.joined("--max-size=", o.max_size.map(|size| size.to_string()));
        match o.delete {
            None => {}
            Some(DeleteTiming::ByProtocol) => self.flag(!o.delete_excluded, "--delete"),
            Some(DeleteTiming::Before) => self.flag(true, "--delete-before"),
            Some(DeleteTiming::During) => self.flag(true, "--delete-during"),
            Some(DeleteTiming::Delay) => self.flag(true, "--delete-delay"),
            Some(DeleteTiming::After) => self.flag(true, "--delete-after"),
        }
        self.flag(o.delete_excluded, "--delete-excluded");
        self.flag(o.force, "--force");
        let writes_alone = matches!(o.batch, Some(Batch::OnlyWrite(_))) && !o.dry_run;
        self.flag(writes_alone, "--only-write-batch=X");
        self.flag(o.super_user == Some(true), "--super");
        self.flag(o.size_only, "--size-only");
        self.flag(o.stats, "--stats");
    }

    fn files(&mut self, o: &Options, push: bool) {
        self.joined("--max-alloc=", o.max_alloc.and_then(unusual_allocation));
        self.flag(o.delete_missing_args, "--delete-missing-args");
        let ignores = o.ignore_missing_args && !o.delete_missing_args;
        self.flag(ignores && !push, "--ignore-missing-args");
        if push {
            let (by_letter, window) = match o.modify_window {
                Some(window) if window < 0 => (Some(window), None),
                window => (None, window),
            };
            self.joined("-@", by_letter.map(|window| window.to_string()));
            self.joined("--modify-window=", window.map(|window| window.to_string()));
        }
        self.joined("--checksum-seed=", nonzero(o.checksum_seed.into()));
        if push {
            self.two_words("--partial-dir", o.partial_dir.as_ref());
            self.flag(o.delay_updates, "--delay-updates");
            self.flag(sends_partial(o), "--partial");
        }
    }

    fn links_and_ids(&mut self, o: &Options, push: bool) {
        self.flag(o.ignore_errors, "--ignore-errors");
        self.flag(o.copy_unsafe_links, "--copy-unsafe-links");
        self.flag(o.safe_links, "--safe-links");
        self.flag(o.numeric_ids, "--numeric-ids");
        if push {
            self.joined("--usermap=", o.usermap.as_ref());
            self.joined("--groupmap=", o.groupmap.as_ref());
        }
    }

    fn placement(&mut self, o: &Options) {
        self.flag(o.ignore_existing, "--ignore-existing");
        self.flag(o.existing, "--existing");
        self.two_words("--temp-dir", o.temp_dir.as_ref());
        self.flag(o.fsync, "--fsync");
        if let Some(alt) = &o.alt_dest {
            for dir in &alt.dirs {
                self.two_words(alt.kind.option(), Some(dir));
            }
        }
    }

    fn in_place(&mut self, o: &Options, push: bool) {
        match o.append {
            Append::No => self.flag(o.inplace, "--inplace"),
            Append::Trusting => self.flag(true, "--append"),
            Append::Verifying => self.0.extend([b"--append".to_vec(), b"--append".to_vec()]),
        }
        let in_place_holes = o.append == Append::No && o.inplace && o.sparse;
        self.flag(push && in_place_holes && o.whole_file == Some(false), "--no-W");
    }

    fn sources(&mut self, o: &Options, push: bool) {
        let named_there = match &o.files_from {
            None => false,
            Some(FilesFrom::Remote(path)) => {
                self.two_words("--files-from", Some(path));
                self.flag(o.from0 == Delimiter::Nul, "--from0");
                true
            }
            // A server that sends gets the names of a list that lives here, one by one.
            Some(FilesFrom::Local(_) | FilesFrom::Connection) => {
                self.flag(!push, "--files-from=-");
                self.flag(!push, "--from0");
                !push
            }
        };
        self.flag(named_there && !o.relative, "--no-relative");
        let knows_implied = !push || o.own_protocol() >= 30;
        self.flag(o.relative && !o.implied_dirs && knows_implied, "--no-implied-dirs");
        self.flag(push && o.write_devices, "--write-devices");
        self.flag(o.remove_source_files, "--remove-source-files");
        self.flag(!push && o.copy_devices, "--copy-devices");
        self.flag(push && o.preallocate, "--preallocate");
        self.flag(o.open_noatime, "--open-noatime");
        self.flag(push && o.mkpath, "--mkpath");
    }
}

/// Tells the receiver how chatty its itemizing must be.
fn log_format(o: &Options) -> Option<&'static str> {
    let holds = |letter: &[u8; 2]| {
        o.out_format.as_ref().is_some_and(|format| format.windows(2).any(|two| two == letter))
    };
    let tells_names = InfoLevels::of(o).level(Info::Name) > 0;
    match o.itemize {
        0 if holds(b"%i") => Some("%i"),
        1 if holds(b"%i") || o.out_format.is_none() => Some("%i"),
        2.. if holds(b"%i") || o.out_format.is_none() => Some("%i%I"),
        _ if holds(b"%o") => Some("%o"),
        _ if o.verbose > 0 => None,
        itemize => (itemize > 0 || o.out_format.is_some() || tells_names).then_some("X"),
    }
}

/// The limit of `--max-alloc` in its shortest form, unless it is the one that rsync has anyway.
fn unusual_allocation(bytes: u64) -> Option<String> {
    let units = [(1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    let fitting = units.into_iter().find(|(unit, _)| bytes > 0 && bytes.is_multiple_of(*unit));
    let (count, letter) = fitting.map_or((bytes, ""), |(unit, letter)| (bytes / unit, letter));
    (bytes != 1 << 30).then(|| format!("{count}{letter}"))
}

fn nonzero(number: i64) -> Option<String> {
    (number != 0).then(|| number.to_string())
}

/// The suffix, unless it is the one that rsync takes anyway.
fn unusual_suffix(options: &Options) -> Option<&[u8]> {
    let usual: &[u8] = if options.backup_dir.is_some() { b"" } else { b"~" };
    Some(options.backup_suffix()).filter(|suffix| *suffix != usual)
}

fn checksum_choice(options: &Options) -> Option<String> {
    let (transfer, file) = options.checksum_choice?;
    Some(match transfer == file {
        true => transfer.name().to_string(),
        false => format!("{},{}", transfer.name(), file.name()),
    })
}

/// Partial files are kept anyway where files grow in place or wait in a directory.
fn sends_partial(options: &Options) -> bool {
    let kept_anyway = options.partial_dir.is_some() || options.delay_updates;
    let in_place = options.inplace || options.append != Append::No;
    options.partial && !kept_anyway && !in_place
}
