//! Which bounds does everything that comes from a peer have to meet?
//!
//! Each length is compared with one of these before anything is allocated for it
//! (docs/protocol/connection.md, "Bounds"; docs/protocol/transfer.md, "Bounds").

use std::ops::RangeInclusive;

/// The oldest protocol that this implementation speaks (rsync 2.6.4).
pub const PROTOCOL_MIN: u32 = 29;
/// The newest protocol that this implementation speaks (rsync 3.4.0 and later).
pub const PROTOCOL_MAX: u32 = 32;
/// The values that a peer's version can have; anything else is not rsync talking.
pub const VERSION_WORD: RangeInclusive<u32> = 20..=40;

/// How many bytes of noise before the protocol are kept to be shown.
pub const NOISE_SHOWN: usize = 256;
/// How many bytes of a peer's one-line text are kept in an error.
pub const TEXT_SHOWN: usize = 1024;

/// The longest line of a daemon's text protocol, its LF included.
pub const DAEMON_LINE: usize = 5120;
/// The longest argument of a server, in bytes.
pub const ARGUMENT: usize = 5120;
/// The most arguments of a server.
pub const ARGUMENTS: usize = 16_000;
/// How many bytes of a daemon's message of the day are passed on.
pub const MOTD_SHOWN: usize = 1 << 14;
/// How many bytes of text a daemon may send before it says OK.
pub const MOTD_TOTAL: usize = 1 << 20;

/// The longest list of algorithm names in the negotiation.
pub const ALGORITHM_LIST: usize = 255;
/// The longest vstring that the encoding can hold.
pub const VSTRING: usize = 0x7fff;

/// The largest payload of one frame; the length has 24 bits.
pub const FRAME: usize = 0x00ff_ffff;
/// One more than the longest text frame.
pub const TEXT_FRAME: usize = 5120;
/// The longest name in a DELETED frame, its trailing NUL included.
pub const DELETED_NAME: usize = PATH + 1;
/// The largest time limit, in seconds, that a daemon may ask for.
pub const IO_TIMEOUT_MAX: u32 = 86_400;

/// The longest path or name on the wire, in bytes.
pub const PATH: usize = 4095;
/// The most names of users and groups in a session.
pub const ID_NAMES: usize = 1 << 20;
/// The most files with several names in a session.
pub const LINKED_FILES: usize = 1 << 27;
/// The most bytes that the ACLs of a session, or its sets of xattrs, may take.
pub const ATTRIBUTE_MEMORY: usize = 1 << 30;
/// The most named users and groups of an ACL.
pub const ACL_NAMES: usize = 1 << 16;
/// The most extended attributes of a file.
pub const XATTR_COUNT: usize = 1 << 16;
/// The longest name of an extended attribute, its trailing NUL included.
pub const XATTR_NAME: usize = 4096;
/// The longest value of an extended attribute.
pub const XATTR_VALUE: usize = 1 << 27;
/// The most bytes of names and values of a file's extended attributes.
pub const XATTR_SET: usize = 1 << 29;
/// The length that a filter rule has to stay below.
pub const FILTER_RULE: usize = 5120;
/// The largest number of filter rules in one list.
pub const FILTER_RULES: usize = 1 << 20;
/// The length of all filter rules of one list together, in bytes.
pub const FILTER_BYTES: usize = 1 << 26;

/// The largest number of blocks in a sum head.
pub const SUM_COUNT: u32 = i32::MAX as u32;
/// The largest block length from protocol 30 on.
pub const BLOCK_LEN: u32 = 1 << 17;
/// The largest block length below protocol 30.
pub const BLOCK_LEN_OLD: u32 = 1 << 29;
/// The longest strong sum of a block.
pub const STRONG_LEN: u32 = 16;
/// The longest checksum of a whole file (sha1).
pub const DIGEST_LEN: usize = 20;
/// The largest of the five numbers of deletion statistics.
pub const DELETION_COUNT: u32 = 1 << 28;

/// The largest piece of literal data in an uncompressed token that every receiver takes.
pub const LITERAL: usize = 32_768;
/// The largest chunk of compressed literals; the length has 14 bits.
pub const CHUNK: usize = 16_383;
/// The largest block number that a compressed token can name with every receiver.
pub const TOKEN_BLOCK: u32 = 0x7fff_fffd;
