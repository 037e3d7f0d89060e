//! Which arguments does the far side's rsync get from this client?
//!
//! The letters, the long options and their order are those that rsync 3.5.0 sends
//! (docs/protocol/connection.md, "Server arguments"). Only what was asked for is sent: an old
//! server refuses options that it does not know.

use crate::dialect::CompressName;
use crate::options::{Append, DeleteTiming, Options};
use crate::setup::CompressWish;

/// What the far side's `--server` is reached by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// A remote shell, which takes the words apart once more.
    Shell,
    /// The daemon protocol, which does not.
    Daemon,
}

/// The characters that a remote shell would not leave alone.
const SHELL_SPECIAL: &[u8] = b"!#$&;<>(){}\"'`\\| \t\n\r";
/// And those that it would expand; in a path they are left to it.
const WILDCARDS: &[u8] = b"*?[]";

/// The capabilities of this client as rsync spells them; `i` for the file list in parts is
/// added where the options permit it.
const CAPABILITIES: &[u8] = b"LsfxCIvu";

/// Returns the whole argument list for a push to `path`, from `--server` to the path.
///
/// Over the daemon protocol `path` starts with the module's name. With
/// [`Options::secluded_args`] see [`split_secluded`].
pub fn server_args(options: &Options, channel: Channel, path: &[u8]) -> Vec<Vec<u8>> {
    let letters = letters(options);
    let mut args = vec![b"--server".to_vec()];
    if !letters.is_empty() {
        args.push([b"-", letters.as_slice()].concat());
    }
    let escape = |word: Vec<u8>| match options.secluded_args {
        true => word,
        false => escaped_option(&word),
    };
    args.extend(LongArgs::of(options).into_iter().map(escape));
    args.push(b".".to_vec());
    args.push(match channel {
        Channel::Daemon => module_path(path),
        Channel::Shell if options.secluded_args => undashed(path),
        Channel::Shell => escaped_path(path),
    });
    args
}

/// Splits an argument list at the point from where secluded arguments go over the data channel.
///
/// The second half is what follows the word `rsync` there; the first is sent as it always is.
pub fn split_secluded(args: &[Vec<u8>]) -> (&[Vec<u8>], &[Vec<u8>]) {
    let is_letters = |word: &Vec<u8>| word.starts_with(b"-") && !word.starts_with(b"--");
    let letters_at = args.iter().position(is_letters);
    args.split_at(letters_at.map_or(args.len(), |at| at + 1))
}

/// Returns the cluster of letters without its dash.
fn letters(options: &Options) -> Vec<u8> {
    let o = options;
    let fuzzy = if o.alt_dest.is_some() { o.fuzzy } else { o.fuzzy.min(1) };
    let counted: [(u8, u8); 29] = [
        (b's', o.secluded_args.into()),
        (b'v', o.verbose),
        (b'q', o.quiet.into()),
        (b'b', o.backup.into()),
        (b'u', o.update.into()),
        (b'n', o.dry_run.into()),
        (b'l', o.links.into()),
        (b'K', o.keep_dirlinks.into()),
        (b'O', o.omit_dir_times.into()),
        (b'J', o.omit_link_times.into()),
        (b'y', fuzzy),
        (b'W', o.sends_whole_files().into()),
        (b'H', o.hard_links),
        (b'o', o.owner.into()),
        (b'g', o.group.into()),
        (b'D', o.devices.into()),
        (b't', o.times.into()),
        (b'U', o.atimes),
        (b'p', o.perms.into()),
        (b'E', (o.executability && !o.perms).into()),
        (b'A', o.acls.into()),
        (b'X', o.xattrs),
        (b'r', o.recursive.into()),
        (b'c', o.checksum.into()),
        (b'C', o.cvs_exclude.into()),
        (b'I', o.ignore_times.into()),
        (b'x', o.one_file_system),
        (b'S', o.sparse.into()),
        (b'z', compresses_by_letter(o).into()),
    ];
    let mut letters = Vec::new();
    for (letter, count) in counted {
        letters.extend(std::iter::repeat_n(letter, count.into()));
    }
    if o.own_protocol() >= 30 {
        letters.extend_from_slice(if o.may_inc_recurse() { b"e.i" } else { b"e." });
        letters.extend_from_slice(CAPABILITIES);
    }
    letters
}

/// Tells whether `z` is sent: for the negotiated codec, and for zlib, which old servers take it for.
fn compresses_by_letter(options: &Options) -> bool {
    matches!(options.compress, CompressWish::Negotiate | CompressWish::Named(CompressName::Zlib))
}

/// Collects the long options in the order in which rsync sends them.
struct LongArgs(Vec<Vec<u8>>);

impl LongArgs {
    fn of(options: &Options) -> Vec<Vec<u8>> {
        let mut args = LongArgs(Vec::new());
        args.transfer(options);
        args.deletion(options);
        args.receiver(options);
        args.placement(options);
        args.0.extend(options.remote_options.iter().cloned());
        args.0
    }

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

    fn transfer(&mut self, o: &Options) {
        self.joined("--compress-level=", o.compress_level.map(|level| level.to_string()));
        self.flag(o.devices && !o.specials, "--no-specials");
        self.flag(o.specials && !o.devices, "--specials");
        self.joined("--log-format=", itemize_format(o.itemize));
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
    }

    fn receiver(&mut self, o: &Options) {
        self.flag(o.super_user == Some(true), "--super");
        self.flag(o.size_only, "--size-only");
        self.flag(o.stats, "--stats");
        let (by_letter, window) = match o.modify_window {
            Some(window) if window < 0 => (Some(window), None),
            window => (None, window),
        };
        self.joined("-@", by_letter.map(|window| window.to_string()));
        self.joined("--modify-window=", window.map(|window| window.to_string()));
        self.joined("--checksum-seed=", nonzero(o.checksum_seed.into()));
        self.two_words("--partial-dir", o.partial_dir.as_ref());
        self.flag(o.delay_updates, "--delay-updates");
        self.flag(sends_partial(o), "--partial");
        self.flag(o.ignore_errors, "--ignore-errors");
        self.flag(o.numeric_ids, "--numeric-ids");
        self.joined("--usermap=", o.usermap.as_ref());
        self.joined("--groupmap=", o.groupmap.as_ref());
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
        match o.append {
            Append::No => self.flag(o.inplace, "--inplace"),
            Append::Trusting => self.flag(true, "--append"),
            Append::Verifying => self.0.extend([b"--append".to_vec(), b"--append".to_vec()]),
        }
        let in_place_holes = o.append == Append::No && o.inplace && o.sparse;
        self.flag(in_place_holes && o.whole_file == Some(false), "--no-W");
        self.flag(o.preallocate, "--preallocate");
        self.flag(o.mkpath, "--mkpath");
    }
}

/// Tells the receiver how chatty its itemizing must be.
fn itemize_format(itemize: u8) -> Option<&'static str> {
    match itemize {
        0 => None,
        1 => Some("%i"),
        _ => Some("%i%I"),
    }
}

fn nonzero(number: i64) -> Option<String> {
    (number != 0).then(|| number.to_string())
}

/// The suffix, unless it is the one that rsync takes anyway.
fn unusual_suffix(options: &Options) -> Option<&Vec<u8>> {
    let usual: &[u8] = if options.backup_dir.is_some() { b"" } else { b"~" };
    options.suffix.as_ref().filter(|suffix| suffix.as_slice() != usual)
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

/// Puts a backslash before everything in an option that a shell would not leave alone.
fn escaped_option(word: &[u8]) -> Vec<u8> {
    let special = |byte: u8| SHELL_SPECIAL.contains(&byte) || WILDCARDS.contains(&byte);
    let mut escaped = Vec::with_capacity(word.len());
    for byte in word {
        if special(*byte) {
            escaped.push(b'\\');
        }
        escaped.push(*byte);
    }
    escaped
}

/// Does the same with a path, where wildcards and backslashes before them keep their meaning.
fn escaped_path(path: &[u8]) -> Vec<u8> {
    let path = undashed(path);
    let mut escaped = Vec::with_capacity(path.len());
    for (at, byte) in path.iter().enumerate() {
        let next_is_wild = path.get(at + 1).is_some_and(|next| WILDCARDS.contains(next));
        let keeps_meaning = *byte == b'\\' && next_is_wild;
        if SHELL_SPECIAL.contains(byte) && !keeps_meaning {
            escaped.push(b'\\');
        }
        escaped.push(*byte);
    }
    escaped
}

/// Keeps a path from being taken for an option.
fn undashed(path: &[u8]) -> Vec<u8> {
    match path.first() {
        Some(b'-') => [b"./", path].concat(),
        _ => path.to_vec(),
    }
}

/// Makes a path for a daemon, which splits it at each ` MODULE/` unless the blank is bracketed.
fn module_path(path: &[u8]) -> Vec<u8> {
    let Some(module_len) = path.iter().position(|byte| *byte == b'/') else {
        return [&undashed(path), b"/".as_slice()].concat();
    };
    let splitter = [b" ", &path[..=module_len]].concat();
    let mut whole = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some(byte) = rest.first() {
        if rest.starts_with(&splitter) {
            whole.extend_from_slice(b"[ ]");
        } else {
            whole.push(*byte);
        }
        rest = &rest[1..];
    }
    undashed(&whole)
}
