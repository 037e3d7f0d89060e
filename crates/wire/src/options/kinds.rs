//! Which values do options have that are more than a number or a switch?

use std::path::PathBuf;

/// Is one filter option of the command line or the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterOption {
    /// `--exclude=PATTERN`.
    Exclude(Vec<u8>),
    /// `--include=PATTERN`.
    Include(Vec<u8>),
    /// `--filter=RULE`.
    Filter(Vec<u8>),
    /// `-F`: the first obeys `.rsync-filter` files, the second hides them.
    RsyncFilter,
    /// `--exclude-from=FILE`.
    ExcludeFrom(PathBuf, Delimiter),
    /// `--include-from=FILE`.
    IncludeFrom(PathBuf, Delimiter),
}

/// Tells what ends a record of a rule file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delimiter {
    /// A line end.
    #[default]
    Line,
    /// A NUL byte (`--from0`).
    Nul,
}

/// Tells when the far side deletes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteTiming {
    /// Plain `--delete`: before the transfer below protocol 30, during it from there on.
    ByProtocol,
    /// `--delete-before`.
    Before,
    /// `--delete-during`.
    During,
    /// `--delete-delay`.
    Delay,
    /// `--delete-after`.
    After,
}

/// Tells whether files only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Append {
    /// Neither option.
    #[default]
    No,
    /// `--append`: what is there is trusted.
    Trusting,
    /// `--append-verify`: what is there counts in the whole-file checksum.
    Verifying,
}

/// Holds the alternative destination directories, all of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AltDest {
    /// What happens to a file that is found there unchanged.
    pub kind: AltDestKind,
    /// The directories in the order given.
    pub dirs: Vec<Vec<u8>>,
}

/// Tells what happens to a file that an alternative directory holds unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AltDestKind {
    /// Nothing.
    Compare,
    /// It is copied.
    Copy,
    /// It is hard-linked.
    Link,
}

impl AltDestKind {
    /// Returns the option that asks for it.
    pub fn option(self) -> &'static str {
        match self {
            AltDestKind::Compare => "--compare-dest",
            AltDestKind::Copy => "--copy-dest",
            AltDestKind::Link => "--link-dest",
        }
    }
}

/// Tells which kind of address is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpFamily {
    /// IPv4 (`-4`).
    V4,
    /// IPv6 (`-6`).
    V6,
}

/// Tells where the names of `--files-from` stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilesFrom {
    /// In a file of this machine; `-` is standard input.
    Local(PathBuf),
    /// In a file of the far side.
    Remote(Vec<u8>),
    /// In the connection itself: what a server is told when its client sends the names.
    Connection,
}

/// Tells how stdout is buffered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutBuf {
    /// Not at all.
    None,
    /// By the line.
    Line,
    /// In blocks.
    Block,
}

/// Tells where messages go (`--stderr`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StderrMode {
    /// Errors to stderr, the rest to stdout.
    #[default]
    Errors,
    /// All messages to stderr.
    All,
    /// Errors through the client's connection.
    Client,
}

/// Tells what is done with a batch file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Batch {
    /// `--write-batch`: the transfer is done and recorded.
    Write(PathBuf),
    /// `--only-write-batch`: it is recorded alone.
    OnlyWrite(PathBuf),
    /// `--read-batch`: a recording is played.
    Read(PathBuf),
}

/// Holds what was said of options whose default depends on others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Recursion comes from `-a` alone, which `--files-from` takes back.
    pub recursive_by_archive: bool,
    /// `-R` or `--no-R`.
    pub relative: Option<bool>,
    /// `-d` or `--no-d`.
    pub dirs: Option<bool>,
    /// `--list-only`, which only then is told to the far side.
    pub list_only: bool,
    /// What stood before the colon of `--files-from`: it has to be the far side's name.
    pub files_from_host: Vec<u8>,
    /// `-s` or its opposite: the environment has no say in it then.
    pub secluded_args: bool,
    /// `--old-args` or its opposite, likewise.
    pub old_args: bool,
}
