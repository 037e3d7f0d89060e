//! Answers: what has been asked of this session? The one set of options, whoever filled it in.
//!
//! The configuration file, the native commands and the rsync-compatible words all end here; the
//! engine, the filter and the argument list for the far side start from here. Plain data: the
//! words that set it are in [`crate::option_table`], the words that the far side gets in
//! [`crate::server_args`].

mod check;
mod chmod;
mod debug;
mod default;
mod error;
mod info;
mod kinds;
mod levels;
mod line;
mod nearest;
mod parse;
mod settle;
mod stop;
mod value;

use std::path::PathBuf;

use crate::charset::Charset;
use crate::dialect::{CompressName, SumName};
use crate::limits;
use crate::setup::{CompressWish, Offer};

pub use chmod::{ChmodError, ChmodRules};
pub(crate) use debug::DEBUG_BY_VERBOSITY;
pub use debug::{Debug, DebugLevels};
pub use error::{OptionError, Side};
pub(crate) use info::INFO_BY_VERBOSITY;
pub use info::{Info, InfoLevels};
pub use kinds::{
    AltDest, AltDestKind, Append, Batch, DeleteTiming, Delimiter, FilesFrom, FilterOption,
    IpFamily, OutBuf, Said, StderrMode,
};
pub(crate) use levels::{LevelWord, level_words};
pub use line::{Ask, Line, obey_algorithm_lists, parse_line};
pub use nearest::nearest;
pub(crate) use parse::{Setting, option_words, walk};
pub use parse::{parse, parse_config, refused_in_config};
pub use stop::{Civil, Stop};
pub(crate) use value::number;
pub use value::{bandwidth_kib, size};

/// Holds everything that a session was asked to do.
///
/// `Options::default()` is rsync without any option; [`Options::archive`] is rsync with `-a`.
/// Paths on this machine are [`PathBuf`]; paths on the far side are bytes, as they go there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// `-r`: descends into directories.
    pub recursive: bool,
    /// `-d`: lists directories without descending into them.
    pub dirs: bool,
    /// `-R`: keeps the whole path of each source.
    pub relative: bool,
    /// Whether the directories above a source of `-R` keep their attributes
    /// (`--no-implied-dirs` clears it).
    pub implied_dirs: bool,
    /// `--files-from`: where the names of the sources stand.
    pub files_from: Option<FilesFrom>,
    /// `-m`: leaves out directories in which nothing is kept.
    pub prune_empty_dirs: bool,
    /// `--list-only`: lists the sources and changes nothing.
    pub list_only: bool,
    /// Whether the file list may be sent in parts (`--no-inc-recursive` clears it).
    pub inc_recursive: bool,
    /// `-x`: stays on the file system of each source; 2 leaves the mount points out as well.
    pub one_file_system: u8,
    /// `--ignore-missing-args`: a source that does not exist is no error.
    pub ignore_missing_args: bool,
    /// `--delete-missing-args`: a source that does not exist is deleted at the far side.
    pub delete_missing_args: bool,
    /// `--remove-source-files`: the sender deletes what has arrived.
    pub remove_source_files: bool,
    /// The filter options in the order they were given.
    pub filters: Vec<FilterOption>,
    /// `-C`: appends the rules of CVS behind all others.
    pub cvs_exclude: bool,
    /// `-0`: rule files read from here on hold records that end in NUL.
    pub from0: Delimiter,

    /// `-l`: sends symlinks as symlinks.
    pub links: bool,
    /// `-L`: sends what a symlink points to.
    pub copy_links: bool,
    /// `-k`: the same for symlinks to directories alone.
    pub copy_dirlinks: bool,
    /// `--copy-unsafe-links`: the same for symlinks that lead out of the tree.
    pub copy_unsafe_links: bool,
    /// `--safe-links`: leaves out symlinks that lead out of the tree.
    pub safe_links: bool,
    /// `--insecure-links`: follows symlinks of other owners in the paths of options.
    pub insecure_links: bool,
    /// `--confine-root`: refuses paths of options that lead out of this directory.
    pub confine_root: Option<PathBuf>,
    /// `--munge-links`: stores symlinks so that they lead nowhere.
    pub munge_links: bool,
    /// `-p`: keeps permissions.
    pub perms: bool,
    /// `-E`: keeps executability, where permissions are not kept.
    pub executability: bool,
    /// `-t`: keeps modification times.
    pub times: bool,
    /// `-g`: keeps groups.
    pub group: bool,
    /// `-o`: keeps owners.
    pub owner: bool,
    /// `--devices`: sends device files.
    pub devices: bool,
    /// `--specials`: sends sockets and fifos.
    pub specials: bool,
    /// `-H`: keeps hard links; 2 is what `-HH` tells the far side.
    pub hard_links: u8,
    /// `-A`: keeps ACLs.
    pub acls: bool,
    /// `-X`: keeps extended attributes; 2 takes rsync's own along.
    pub xattrs: u8,
    /// `-U`: keeps access times; 2 is what `-UU` tells the far side: `--open-noatime` too.
    pub atimes: u8,
    /// `--open-noatime`: opens files without touching their access times.
    pub open_noatime: bool,
    /// `-O`: leaves the times of directories alone.
    pub omit_dir_times: bool,
    /// `-J`: leaves the times of symlinks alone.
    pub omit_link_times: bool,
    /// `-K`: the far side takes a symlink to a directory for a directory.
    pub keep_dirlinks: bool,
    /// `--super` (`Some(true)`): the receiver tries what only root may do; `--no-super`: it does
    /// not, even as root.
    pub super_user: Option<bool>,
    /// `--fake-super`: keeps what only root may set in an extended attribute.
    pub fake_super: bool,
    /// `--drop-D`: the receiver creates no devices and no special files.
    pub drop_devices: bool,
    /// `--copy-devices`: sends the content of devices.
    pub copy_devices: bool,
    /// `--write-devices`: writes content into devices.
    pub write_devices: bool,
    /// `--iconv`: the charset of names here and there, in rsync's own syntax.
    pub iconv: Option<Vec<u8>>,
    /// `--numeric-ids`: sends numbers without names.
    pub numeric_ids: bool,
    /// `--usermap`, in rsync's own syntax.
    pub usermap: Option<Vec<u8>>,
    /// `--groupmap`, in rsync's own syntax.
    pub groupmap: Option<Vec<u8>>,
    /// `--chmod`: what is done to each mode before it is sent.
    pub chmod: ChmodRules,

    /// `-u`: leaves files alone that are newer on the far side.
    pub update: bool,
    /// `--existing`: creates nothing.
    pub existing: bool,
    /// `--ignore-existing`: updates nothing.
    pub ignore_existing: bool,
    /// `--size-only`: equal size is equal enough.
    pub size_only: bool,
    /// `-I`: equal size and time is not equal enough.
    pub ignore_times: bool,
    /// `-c`: compares by whole-file checksum.
    pub checksum: bool,
    /// `--modify-window`, seconds; negative compares nanoseconds too.
    pub modify_window: Option<i32>,
    /// `--max-size`, bytes.
    pub max_size: Option<u64>,
    /// `--min-size`, bytes.
    pub min_size: Option<u64>,

    /// When extraneous files are deleted; `None` without any `--delete-WHEN` or `--delete`.
    pub delete: Option<DeleteTiming>,
    /// `--delete-excluded`, which asks for deletion by itself.
    pub delete_excluded: bool,
    /// `--max-delete`; 0 deletes nothing but says so.
    pub max_delete: Option<u32>,
    /// `--force`: a directory that is in the way is deleted with its content.
    pub force: bool,
    /// `--ignore-errors`: deletes although something could not be read.
    pub ignore_errors: bool,

    /// `-W` (`Some(true)`), `--no-W` (`Some(false)`), or rsync's own choice.
    pub whole_file: Option<bool>,
    /// `-B`, bytes.
    pub block_size: Option<u32>,
    /// `--checksum-choice`: transfer and pre-transfer checksum; `None` negotiates.
    pub checksum_choice: Option<(SumName, SumName)>,
    /// `--checksum-seed`; 0 lets the far side choose.
    pub checksum_seed: i32,
    /// Whether and how file data is compressed.
    pub compress: CompressWish,
    /// `--compress-level`; `None` is the codec's own.
    pub compress_level: Option<i32>,
    /// `--compress-threads`.
    pub compress_threads: u32,
    /// `--skip-compress` in rsync's own syntax; `None` is the built-in list.
    pub skip_compress: Option<Vec<u8>>,
    /// `--inplace`: writes into the files of the far side.
    pub inplace: bool,
    /// `--append` and `--append-verify`.
    pub append: Append,
    /// `-S`: makes holes of zeros.
    pub sparse: bool,
    /// `--preallocate`: allocates before writing.
    pub preallocate: bool,
    /// `--partial`: keeps what was received of an interrupted file.
    pub partial: bool,
    /// `--partial-dir`: and where.
    pub partial_dir: Option<Vec<u8>>,
    /// `--delay-updates`: renames all files at the end.
    pub delay_updates: bool,
    /// `-T`: where the far side stages files.
    pub temp_dir: Option<Vec<u8>>,
    /// `--fsync`: the far side syncs each file.
    pub fsync: bool,
    /// `-b`: keeps what is replaced or deleted.
    pub backup: bool,
    /// `--backup-dir`: and where.
    pub backup_dir: Option<Vec<u8>>,
    /// `--suffix`: and by what name.
    pub suffix: Option<Vec<u8>>,
    /// `--link-dest`, `--copy-dest` or `--compare-dest` with their directories.
    pub alt_dest: Option<AltDest>,
    /// `-y`: looks for a similar file as basis; 2 looks into the alternative directories too.
    pub fuzzy: u8,
    /// `--mkpath`: creates the whole path of the destination.
    pub mkpath: bool,

    /// `-e`: the remote shell, words as typed.
    pub rsh: Option<Vec<u8>>,
    /// `--rsync-path`: the far side's program, left to its shell to split.
    pub rsync_path: Option<Vec<u8>>,
    /// `-M`: words for the far side alone.
    pub remote_options: Vec<Vec<u8>>,
    /// `-s`: sends the arguments inside the protocol.
    pub secluded_args: bool,
    /// `--protocol`: the highest version to speak.
    pub protocol: Option<u32>,
    /// `--port` of the daemon.
    pub port: Option<u16>,
    /// `--password-file` for the daemon.
    pub password_file: Option<PathBuf>,
    /// `--address`: the local address to connect from.
    pub address: Option<Vec<u8>>,
    /// `-4` or `-6`.
    pub ip_family: Option<IpFamily>,
    /// `--timeout`: seconds without traffic; 0 is none.
    pub timeout: u32,
    /// `--contimeout`: seconds to reach a daemon; 0 is none.
    pub contimeout: u32,
    /// `--stop-after` and `--stop-at` as given; [`Stop::seconds`] makes `stop_at` of it.
    pub stop: Option<Stop>,
    /// When the transfer stops, in seconds since 1970.
    pub stop_at: Option<i64>,
    /// `--sockopts`, in rsync's own syntax.
    pub sockopts: Option<Vec<u8>>,
    /// `--blocking-io` for the remote shell, or its opposite.
    pub blocking_io: Option<bool>,
    /// `--early-input`: what a daemon's early exec gets.
    pub early_input: Option<PathBuf>,
    /// `--old-args`, counted; 2 escapes no option either.
    pub old_args: u8,
    /// `--trust-sender`: takes the far side's list without checking it against what was asked.
    pub trust_sender: bool,
    /// `--max-alloc`, bytes; 0 is no limit.
    pub max_alloc: Option<u64>,
    /// `--write-batch`, `--only-write-batch` and `--read-batch`.
    pub batch: Option<Batch>,
    /// `--copy-as`: USER and, behind a colon, GROUP.
    pub copy_as: Option<Vec<u8>>,
    /// `--bwlimit` in KiB a second; 0 is none.
    pub bwlimit: u32,

    /// `-v`, counted.
    pub verbose: u8,
    /// `-q`: errors only.
    pub quiet: bool,
    /// `-n`: changes nothing.
    pub dry_run: bool,
    /// `-i`, counted: 2 lists unchanged files too.
    pub itemize: u8,
    /// `--stats`: tells numbers at the end.
    pub stats: bool,
    /// `-h`, counted. rsync starts at 1.
    pub human_readable: u8,
    /// `--progress`: shows how far each file is.
    pub progress: bool,
    /// `--info`, in rsync's own syntax, in the order given.
    pub info: Vec<Vec<u8>>,
    /// `--debug`, likewise.
    pub debug: Vec<Vec<u8>>,
    /// `--out-format`.
    pub out_format: Option<Vec<u8>>,
    /// `--log-file-format`.
    pub log_file_format: Option<Vec<u8>>,
    /// `-8`: names are printed as they are.
    pub eight_bit_output: bool,
    /// `--outbuf`: how stdout is buffered.
    pub outbuf: Option<OutBuf>,
    /// `--stderr`: where messages go.
    pub stderr: StderrMode,
    /// `--no-motd`: leaves a daemon's greeting out.
    pub no_motd: bool,
    /// `--log-file` on this side.
    pub log_file: Option<PathBuf>,
    /// The charset of names on this side, which `iconv` names.
    pub charset: Option<Charset>,
    /// `RSYNC_CHECKSUM_LIST`: the checksums that can be agreed to, best first.
    pub sums: Option<Vec<SumName>>,
    /// `RSYNC_COMPRESS_LIST`: the same of compression.
    pub compressions: Option<Vec<CompressName>>,
    /// What the words said outright, where silence has a meaning of its own.
    pub said: Said,
}

impl Options {
    /// Returns rsync's `-a`: `-rlptgoD`.
    pub fn archive() -> Options {
        let mut options = Options::default();
        options.set_archive();
        options
    }

    /// Adds what `-a` stands for.
    pub fn set_archive(&mut self) {
        self.said.recursive_by_archive |= !self.recursive;
        self.recursive = true;
        self.links = true;
        self.perms = true;
        self.times = true;
        self.group = true;
        self.owner = true;
        self.devices = true;
        self.specials = true;
    }

    /// Tells whether anything asks the far side to delete.
    pub fn deletes(&self) -> bool {
        self.delete.is_some() || self.delete_excluded
    }

    /// Tells whether the file list of a push may go out in parts.
    pub fn may_inc_recurse(&self) -> bool {
        self.recursive && self.inc_recursive
    }

    /// Tells the same of a pull, where the receiver may need the whole list first.
    pub fn may_receive_in_parts(&self) -> bool {
        let early_or_late = matches!(self.delete, Some(DeleteTiming::Before | DeleteTiming::After));
        let whole_list = early_or_late || self.delay_updates || self.prune_empty_dirs;
        self.may_inc_recurse() && !whole_list
    }

    /// Tells whether directories are listed, be it without descending into them.
    pub fn lists_dirs(&self) -> bool {
        self.recursive || self.dirs || (self.list_only && self.said.dirs != Some(false))
    }

    /// Tells whether files go whole whatever the far side has: asked for, or no sum to compare by.
    pub fn sends_whole_files(&self) -> bool {
        let no_transfer_sum = matches!(self.checksum_choice, Some((SumName::None, _)));
        self.whole_file == Some(true) || no_transfer_sum
    }

    /// Returns what names of backups end in.
    pub fn backup_suffix(&self) -> &[u8] {
        let usual: &[u8] = if self.backup_dir.is_some() { b"" } else { b"~" };
        self.suffix.as_deref().unwrap_or(usual)
    }

    /// Returns the highest protocol version to speak.
    pub fn own_protocol(&self) -> u32 {
        self.protocol.unwrap_or(limits::PROTOCOL_MAX)
    }

    /// Returns what the set-up of the session offers to the far side.
    pub fn offer(&self) -> Offer {
        Offer {
            protocol: self.own_protocol(),
            checksum_choice: self.checksum_choice,
            compress: match (self.compress, self.compress_level) {
                // A level asks for compression by itself, on both sides.
                (CompressWish::Off, Some(_)) => CompressWish::Negotiate,
                (wish, _) => wish,
            },
            sums: self.algorithms(self.sums.as_deref(), &SumName::OFFERED, SumName::Md5),
            compressions: self.algorithms(
                self.compressions.as_deref(),
                &CompressName::OFFERED,
                CompressName::Zlib,
            ),
            may_inc_recurse: self.may_inc_recurse(),
        }
    }

    /// Returns the algorithms that can be agreed to; a batch has none that its reader may lack.
    fn algorithms<T: Copy>(&self, wished: Option<&[T]>, all: &[T], of_batches: T) -> Vec<T> {
        match &self.batch {
            Some(Batch::Write(_) | Batch::OnlyWrite(_)) => vec![of_batches],
            _ => wished.unwrap_or(all).to_vec(),
        }
    }

    /// Returns the codec that was asked for by name.
    pub fn compress_name(&self) -> Option<CompressName> {
        match self.compress {
            CompressWish::Named(name) => Some(name),
            CompressWish::Off | CompressWish::Negotiate => None,
        }
    }
}
