//! What can go wrong with one file, in our words and in rsync's.
//!
//! A server speaks rsync's words to whatever client it has, and so does the rsync-compatible
//! command line; the native commands speak ours.

use std::fmt;
use std::io;

/// Which part of a session met the trouble; rsync names it in its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The side that reads the source.
    Sender,
    /// The part that decides what is wanted.
    Generator,
    /// The part that writes files.
    Receiver,
}

impl Who {
    /// Returns rsync's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Who::Sender => "sender",
            Who::Generator => "generator",
            Who::Receiver => "receiver",
        }
    }
}

/// A step that the system may refuse, in rsync's words; `{}` stands for the quoted path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doing(pub &'static str);

impl Doing {
    /// Looking at an argument or an entry of the source.
    pub const LINK_STAT: Doing = Doing("link_stat {} failed");
    /// Reading an entry of a source directory.
    pub const READLINK_STAT: Doing = Doing("readlink_stat({}) failed");
    /// Opening a source directory.
    pub const OPEN_DIR: Doing = Doing("opendir {} failed");
    /// Reading a source directory.
    pub const READ_DIR: Doing = Doing("readdir({})");
    /// Opening a source file.
    pub const OPEN_SOURCE: Doing = Doing("send_files failed to open {}");
    /// Reading a source file.
    pub const READ_SOURCE: Doing = Doing("read errors mapping {}");
    /// Entering the directory of an argument.
    pub const CHANGE_DIR: Doing = Doing("change_dir {} failed");
    /// Reading the extended attributes or the ACL of a source.
    pub const XATTR_READ: Doing = Doing("rsync_xal_get: llistxattr({}) failed");
    /// Making a temporary file.
    pub const MAKE_TEMP: Doing = Doing("mkstemp {} failed");
    /// Opening a destination file to write into it.
    pub const OPEN_INPLACE: Doing = Doing("open {} failed");
    /// Writing a file.
    pub const WRITE: Doing = Doing("write failed on {}");
    /// Moving a finished file into its place.
    pub const RENAME: Doing = Doing("rename {} failed");
    /// Making a directory.
    pub const MAKE_DIR: Doing = Doing("recv_generator: mkdir {} failed");
    /// Making a symlink.
    pub const SYMLINK: Doing = Doing("symlink {} failed");
    /// Making a device or special file.
    pub const MAKE_NODE: Doing = Doing("mknod {} failed");
    /// Making a hard link.
    pub const HARD_LINK: Doing = Doing("link {} failed");
    /// Setting times.
    pub const TIMES: Doing = Doing("failed to set times on {}");
    /// Setting permissions.
    pub const MODE: Doing = Doing("failed to set permissions on {}");
    /// Setting owner and group.
    pub const OWNER: Doing = Doing("chown {} failed");
    /// Setting extended attributes.
    pub const XATTR: Doing = Doing("rsync_xal_set: lsetxattr({}) failed");
    /// Setting an ACL.
    pub const ACL: Doing = Doing("set_acl: sys_acl_set_file({}) failed");
    /// Removing a file.
    pub const REMOVE: Doing = Doing("delete_file: unlink({}) failed");
    /// Removing a directory.
    pub const REMOVE_DIR: Doing = Doing("delete_file: rmdir({}) failed");
    /// Looking at a destination.
    pub const STAT_DEST: Doing = Doing("recv_generator: failed to stat {}");
    /// Entering the destination.
    const ENTER_DEST: Doing = Doing("change_dir#3 {} failed");
    /// Making the destination.
    const MAKE_DEST: Doing = Doing("mkdir {} failed");
}

impl Doing {
    /// Returns rsync's words for what failed with the destination itself.
    pub(crate) fn of_destination(error: &tree::Error) -> Doing {
        match error.operation() {
            "write" => Doing::WRITE,
            op if op.starts_with("make") => Doing::MAKE_DEST,
            op if op.starts_with("look") => Doing("ERROR: cannot stat destination {}"),
            _ => Doing::ENTER_DEST,
        }
    }

    /// Tells whether the destination was being changed.
    pub(crate) fn writes(self) -> bool {
        self == Doing::WRITE || self == Doing::MAKE_DEST
    }

    /// Returns rsync's line: who, what, where and why.
    pub(crate) fn line(self, who: &str, path: &[u8], error: &io::Error) -> Vec<u8> {
        let (before, after) = self.0.split_once("{}").unwrap_or((self.0, ""));
        let start = format!("rsync: [{who}] {before}\"");
        let end = format!("\"{after}: {}", reason(error));
        [start.as_bytes(), path, end.as_bytes()].concat()
    }

    /// Returns rsync's words for an attribute that could not be set.
    pub(crate) fn of_attribute(error: &tree::Error) -> Doing {
        match error.operation() {
            op if op.contains("times") => Doing::TIMES,
            op if op.contains("owner") => Doing::OWNER,
            op if op.contains("attribute") => Doing::XATTR,
            op if op.contains("ACL") => Doing::ACL,
            _ => Doing::MODE,
        }
    }
}

/// What went wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum Trouble {
    /// The system refused a step.
    System {
        /// The step.
        doing: Doing,
        /// What the system said, of which path.
        error: tree::Error,
    },
    /// A source file was gone when it was its turn.
    Vanished,
    /// The name, or the target of the symlink, is none in the charset of `--iconv`, for this reason.
    Unsayable {
        /// Whether the target is meant.
        is_target: bool,
        /// What the system says.
        reason: &'static str,
    },
    /// Something else.
    Other {
        /// In our words, a clause.
        ours: String,
        /// rsync's whole line, the path included; empty where rsync says nothing.
        stock: String,
    },
}

impl Trouble {
    /// Returns rsync's line for it, without the line end.
    pub fn stock(&self, who: Who, path: &[u8]) -> Vec<u8> {
        match self {
            Trouble::System { doing, error } => doing.line(who.name(), path, error.reason()),
            Trouble::Vanished => [b"file has vanished: \"", path, b"\""].concat(),
            Trouble::Unsayable { is_target, reason } => {
                // So early rsync's receiver does not know yet that it is one.
                let who = if who == Who::Receiver { "Receiver" } else { who.name() };
                let (what, quote) =
                    if *is_target { ("symlink data for", "\"") } else { ("filename", "") };
                let start = format!("[{who}] cannot convert {what}: {quote}");
                [start.as_bytes(), path, format!("{quote} ({reason})").as_bytes()].concat()
            }
            Trouble::Other { stock, .. } => stock.clone().into_bytes(),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::System { error, .. } => error.fmt(f),
            Trouble::Vanished => f.write_str("file has vanished"),
            Trouble::Unsayable { .. } => {
                f.write_str("its name or target is none in the charset: not sent")
            }
            Trouble::Other { ours, .. } => f.write_str(ours),
        }
    }
}

/// Returns the system's text and number as rsync prints them: `Permission denied (13)`.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match error.raw_os_error() {
        Some(number) => text.replace(&format!("(os error {number})"), &format!("({number})")),
        None => text,
    }
}
