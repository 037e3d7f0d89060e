//! How much is told of which matter for those who look for an error (`--debug`, `-vv`)?

use super::Options;
use super::levels::raise;

/// The matters that `--debug` has words for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "rsync's own words")]
pub enum Debug {
    Acl,
    Backup,
    Bind,
    Chdir,
    Connect,
    Cmd,
    Del,
    Deltasum,
    Dup,
    Exit,
    Filter,
    Flist,
    Fuzzy,
    Genr,
    Hash,
    Hlink,
    Iconv,
    Io,
    Nstr,
    Own,
    Proto,
    Recv,
    Send,
    Time,
}

impl Debug {
    /// Their words, in the order of rsync's help.
    pub(crate) const WORDS: [&str; 24] = [
        "ACL", "BACKUP", "BIND", "CHDIR", "CONNECT", "CMD", "DEL", "DELTASUM", "DUP", "EXIT",
        "FILTER", "FLIST", "FUZZY", "GENR", "HASH", "HLINK", "ICONV", "IO", "NSTR", "OWN", "PROTO",
        "RECV", "SEND", "TIME",
    ];

    /// What each of them is about, in the same order.
    pub(crate) const ABOUT: [&str; 24] = [
        "ACLs",
        "Backups (levels 1-2)",
        "The binding of sockets",
        "Changes of the current directory",
        "Connections (levels 1-2)",
        "Commands that are run, with their options (levels 1-2)",
        "Deletions (levels 1-3)",
        "Block sums and matches (levels 1-4)",
        "Names that are listed twice",
        "The end of the program (levels 1-3)",
        "Filter rules (levels 1-3)",
        "File lists (levels 1-4)",
        "The search for similar files (levels 1-2)",
        "The generator",
        "Hash tables",
        "Hard links (levels 1-3)",
        "Conversion of charsets (levels 1-2)",
        "Reading and writing (levels 1-4)",
        "The choice of algorithms",
        "Changes of owner and group (levels 1-2)",
        "The protocol",
        "The receiver",
        "The sender",
        "The setting of modification times (levels 1-2)",
    ];
}

/// What each `-v` adds, from the second on, as `--debug` would say it.
pub(crate) const DEBUG_BY_VERBOSITY: [&str; 4] = [
    "BIND,CONNECT,CMD,DEL,DELTASUM,DUP,FILTER,FLIST,ICONV",
    "ACL,BACKUP,CONNECT2,DEL2,DELTASUM2,EXIT,FILTER2,FLIST2,FUZZY,GENR,OWN,RECV,SEND,TIME",
    "CMD2,DEL3,DELTASUM3,EXIT2,FLIST3,ICONV2,OWN2,PROTO,TIME2",
    "CHDIR,DELTASUM4,FLIST4,FUZZY2,HASH,HLINK",
];

/// The level of each matter, 0 being silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DebugLevels([u8; Debug::WORDS.len()]);

impl DebugLevels {
    /// Returns what the options ask for; a word of `--debug` counts more than any `-v`.
    pub fn of(options: &Options) -> DebugLevels {
        let mut levels = DebugLevels([0; Debug::WORDS.len()]);
        let steps = usize::from(options.verbose).saturating_sub(1);
        let implied: Vec<Vec<u8>> =
            DEBUG_BY_VERBOSITY.iter().take(steps).map(|words| words.as_bytes().to_vec()).collect();
        for values in [&implied, &options.debug] {
            raise("--debug", &Debug::WORDS, values, &mut levels.0);
        }
        levels
    }

    /// Returns the level of one matter.
    pub fn level(&self, debug: Debug) -> u8 {
        self.0[debug as usize]
    }
}
