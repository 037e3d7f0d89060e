//! What does the receiving side ask or report about an item, and how does the answer begin?
//!
//! See docs/protocol/transfer.md, "Requests and replies". What follows a head depends on options,
//! and is read by whoever knows those: xattr requests or values, block sums, tokens.

use std::io::Read;

use crate::error::{Error, Result};
use crate::int::{put_u16, put_vstring, read_u8, read_u16, read_vstring};
use crate::limits;
use crate::ndx::{
    NDX_DEL_STATS, NDX_DONE, NDX_FLIST_EOF, NDX_FLIST_OFFSET, NdxDecoder, NdxEncoder,
};
use crate::stats::read_deletion_stats;

/// The bits that say what differs and what follows.
pub mod iflags {
    /// The access time differs.
    pub const REPORT_ATIME: u16 = 0x0001;
    /// The content differs: by checksum, or the value of a symlink or device.
    pub const REPORT_CHANGE: u16 = 0x0002;
    /// The size differs; for a symlink, its time could not be set.
    pub const REPORT_SIZE: u16 = 0x0004;
    /// The modification time differs, or is set to now.
    pub const REPORT_TIME: u16 = 0x0008;
    /// The permissions differ.
    pub const REPORT_PERMS: u16 = 0x0010;
    /// The owner differs.
    pub const REPORT_OWNER: u16 = 0x0020;
    /// The group differs.
    pub const REPORT_GROUP: u16 = 0x0040;
    /// The ACL differs.
    pub const REPORT_ACL: u16 = 0x0080;
    /// The xattrs differ, and a request for their values follows.
    pub const REPORT_XATTR: u16 = 0x0100;
    /// The creation time differs.
    pub const REPORT_CRTIME: u16 = 0x0400;
    /// A byte with the type of the basis follows.
    pub const BASIS_TYPE_FOLLOWS: u16 = 0x0800;
    /// A name follows: of the basis, or of the leader of a hard link.
    pub const XNAME_FOLLOWS: u16 = 0x1000;
    /// The item did not exist.
    pub const IS_NEW: u16 = 0x2000;
    /// The receiving side made the change by itself.
    pub const LOCAL_CHANGE: u16 = 0x4000;
    /// The file's data is wanted; its block sums follow unless it is a dry run.
    pub const TRANSFER: u16 = 0x8000;
}

/// The types of a basis; a smaller byte is the number of an alternate directory.
pub mod basis {
    /// The destination file itself.
    pub const FILE: u8 = 0x80;
    /// The file in the partial dir.
    pub const PARTIAL: u8 = 0x81;
    /// The backup made before an update in place.
    pub const BACKUP: u8 = 0x82;
    /// The file that the name beside it says, in the same directory.
    pub const FUZZY: u8 = 0x83;
}

/// One item's request or report; a reply begins with the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The index, not negative; whether such an item exists is the caller's to check.
    pub ndx: i32,
    /// The bits of [`iflags`].
    pub iflags: u16,
    /// The type of the basis, given if its bit is set.
    pub basis_type: Option<u8>,
    /// The name, given if its bit is set; never to be opened by a sender.
    pub xname: Option<Vec<u8>>,
}

impl Request {
    /// Tells whether the file's data is wanted.
    pub fn is_transfer(&self) -> bool {
        self.iflags & iflags::TRANSFER != 0
    }
}

/// What comes next from the receiving side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming {
    /// A list, a phase or the session is finished.
    Done,
    /// How many files, directories, symlinks, devices and specials were deleted.
    DeletionStats([u32; 5]),
    /// A request or report.
    Item(Request),
    /// A keep-alive of an old peer at protocol 29.
    KeepAlive,
}

/// Reads the requests of a connection.
#[derive(Debug, Clone)]
pub struct RequestDecoder {
    protocol: u32,
    ndx: NdxDecoder,
}

impl RequestDecoder {
    /// Creates the decoder of a new connection.
    pub fn new(protocol: u32) -> Self {
        Self { protocol, ndx: NdxDecoder::new(protocol) }
    }

    /// Reads what comes next.
    pub fn read<R: Read + ?Sized>(&mut self, r: &mut R) -> Result<Incoming> {
        match self.ndx.read(r)? {
            NDX_DONE => Ok(Incoming::Done),
            NDX_DEL_STATS if self.protocol >= 31 => {
                Ok(Incoming::DeletionStats(read_deletion_stats(r)?))
            }
            ndx => Ok(match read_item(r, self.protocol, ndx)? {
                Some(request) => Incoming::Item(request),
                None => Incoming::KeepAlive,
            }),
        }
    }
}

/// What comes next from the sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The echo of a DONE: a list was dropped, a phase or the session is finished.
    Done,
    /// The list of a directory follows (incremental recursion).
    List {
        /// The directory's number, not negative; whether it is due is the caller's to check.
        dir: i32,
    },
    /// No more lists follow (incremental recursion).
    ListsEnd,
    /// The counts of deleted items, which a server repeats to its client.
    DeletionStats([u32; 5]),
    /// The answer to a request or report, whose head it repeats.
    Item(Request),
    /// A keep-alive of an old peer at protocol 29.
    KeepAlive,
}

/// Reads the heads of the replies of a connection.
#[derive(Debug, Clone)]
pub struct ReplyDecoder {
    protocol: u32,
    incremental: bool,
    ndx: NdxDecoder,
}

impl ReplyDecoder {
    /// Creates the decoder of a new connection; without `incremental` no lists may follow.
    pub fn new(protocol: u32, incremental: bool) -> Self {
        Self { protocol, incremental, ndx: NdxDecoder::new(protocol) }
    }

    /// Reads what comes next.
    pub fn read<R: Read + ?Sized>(&mut self, r: &mut R) -> Result<Reply> {
        match self.ndx.read(r)? {
            NDX_DONE => Ok(Reply::Done),
            NDX_FLIST_EOF if self.incremental => Ok(Reply::ListsEnd),
            NDX_DEL_STATS if self.protocol >= 31 => {
                Ok(Reply::DeletionStats(read_deletion_stats(r)?))
            }
            // The least index is -(2^31 - 1), so that no difference overflows.
            ndx if self.incremental && ndx <= NDX_FLIST_OFFSET => {
                Ok(Reply::List { dir: NDX_FLIST_OFFSET - ndx })
            }
            ndx => Ok(match read_item(r, self.protocol, ndx)? {
                Some(head) => Reply::Item(head),
                None => Reply::KeepAlive,
            }),
        }
    }
}

/// Reads what follows an index; `None` is a keep-alive.
fn read_item<R: Read + ?Sized>(r: &mut R, protocol: u32, ndx: i32) -> Result<Option<Request>> {
    if ndx < 0 {
        return Err(Error::Protocol(format!("unexpected file index {ndx}")));
    }
    let iflags = read_u16(r)?;
    // A new item always has a second bit; this one alone is how old peers keep alive.
    if protocol < 30 && iflags == iflags::IS_NEW {
        return Ok(None);
    }
    let has = |bit| iflags & bit != 0;
    let basis_type = match has(iflags::BASIS_TYPE_FOLLOWS) {
        true => Some(read_u8(r)?),
        false => None,
    };
    let xname = match has(iflags::XNAME_FOLLOWS) {
        true => Some(read_vstring(r, limits::PATH)?),
        false => None,
    };
    Ok(Some(Request { ndx, iflags, basis_type, xname }))
}

/// Appends the head of a request, or of the reply that repeats it.
///
/// Behind it go the xattrs asked for or their values, then the sum head.
pub fn put_item_head(out: &mut Vec<u8>, ndx: &mut NdxEncoder, request: &Request) -> Result<()> {
    ndx.put(out, request.ndx);
    put_u16(out, request.iflags);
    // The bits decide, so that the peer always finds what they promise.
    if request.iflags & iflags::BASIS_TYPE_FOLLOWS != 0 {
        out.push(request.basis_type.unwrap_or(basis::FILE));
    }
    if request.iflags & iflags::XNAME_FOLLOWS != 0 {
        put_vstring(out, request.xname.as_deref().unwrap_or_default())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Trickle, hex};

    fn read_all(protocol: u32, bytes: &[u8]) -> Vec<Incoming> {
        let mut decoder = RequestDecoder::new(protocol);
        let mut input = bytes;
        let mut seen = Vec::new();
        while !input.is_empty() {
            seen.push(decoder.read(&mut input).unwrap());
        }
        seen
    }

    fn item(ndx: i32, iflags: u16) -> Incoming {
        Incoming::Item(Request { ndx, iflags, basis_type: None, xname: None })
    }

    #[test]
    fn the_recorded_tails_of_a_session_are_understood() {
        let tail = read_all(31, &hex("00 00 00 00 00"));
        assert_eq!(tail, vec![Incoming::Done; 5]);
        let tail = read_all(32, &hex("00 00 ff02 0200010000 00"));
        let stats = Incoming::DeletionStats([2, 0, 1, 0, 0]);
        assert_eq!(tail, [Incoming::Done, Incoming::Done, stats, Incoming::Done]);
        let tail = read_all(29, &hex("00000000 0060 05000000 0020 ffffffff"));
        assert_eq!(tail, [item(0, 0x6000), Incoming::KeepAlive, Incoming::Done]);
    }

    #[test]
    fn type_and_name_are_read_as_the_bits_say_and_written_back() {
        let bytes = hex("01 00b8 83 03 6f6c64   01 0070 00   01 0088 02");
        let seen = read_all(32, &bytes);
        let mut ndx = NdxEncoder::new(32);
        let mut out = Vec::new();
        for incoming in &seen {
            let Incoming::Item(request) = incoming else { panic!("{incoming:?}") };
            put_item_head(&mut out, &mut ndx, request).unwrap();
        }
        assert_eq!(out, bytes);
        let Incoming::Item(first) = &seen[0] else { panic!() };
        assert_eq!(first.basis_type, Some(basis::FUZZY));
        assert_eq!(first.xname.as_deref(), Some(&b"old"[..]));
        assert!(first.is_transfer());
    }

    #[test]
    fn marks_that_only_a_sender_may_send_are_refused() {
        for (protocol, bytes) in [(32, "ff01"), (32, "ff64"), (30, "ff02"), (29, "fdffffff")] {
            let bytes = hex(bytes);
            let result = RequestDecoder::new(protocol).read(&mut bytes.as_slice());
            assert!(matches!(result, Err(Error::Protocol(_))), "{result:?}");
        }
    }

    #[test]
    fn lists_and_answers_come_mixed_and_end_as_recorded() {
        let bytes = hex("ff64 01 0060 ff03 ff fe80020000 00 00 ff 01 0201000000 00");
        let mut input = bytes.as_slice();
        let mut decoder = ReplyDecoder::new(32, true);
        let Incoming::Item(head) = item(0, 0x6000) else { panic!() };
        let expected = [
            Reply::List { dir: 0 },
            Reply::Item(head),
            Reply::List { dir: 3 },
            Reply::ListsEnd,
            Reply::Done,
            Reply::Done,
            Reply::DeletionStats([2, 1, 0, 0, 0]),
            Reply::Done,
        ];
        for expected in expected {
            assert_eq!(decoder.read(&mut input).unwrap(), expected);
        }
        assert!(input.is_empty());
        let old = hex("05000000 0020");
        let alive = ReplyDecoder::new(29, false).read(&mut old.as_slice()).unwrap();
        assert_eq!(alive, Reply::KeepAlive);
    }

    #[test]
    fn lists_are_refused_where_there_is_one_only() {
        for (bytes, incremental) in [("ff01", false), ("ff64", false), ("ff02", true)] {
            let protocol = if incremental { 30 } else { 32 };
            let bytes = hex(bytes);
            let result = ReplyDecoder::new(protocol, incremental).read(&mut bytes.as_slice());
            assert!(matches!(result, Err(Error::Protocol(_))), "{result:?}");
        }
        let least = hex("ff fe ff ffffff");
        let list = ReplyDecoder::new(32, true).read(&mut least.as_slice()).unwrap();
        assert_eq!(list, Reply::List { dir: i32::MAX - 101 });
    }

    #[test]
    fn absurd_deletion_statistics_are_refused() {
        let bytes = hex("ff02 f0ffffff7f 00 00 00 00");
        assert!(RequestDecoder::new(32).read(&mut bytes.as_slice()).is_err());
    }

    #[test]
    fn a_request_cut_anywhere_is_an_error() {
        let whole = hex("01 00b8 83 03 6f6c64");
        for end in 0..whole.len() {
            let result = RequestDecoder::new(32).read(&mut &whole[..end]);
            assert!(matches!(result, Err(Error::Closed)), "cut at {end}: {result:?}");
        }
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic_and_any_split_gives_the_same(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            step in 1..9_usize,
            protocol in 29..=32_u32,
            incremental: bool,
        ) {
            let requests = |input: &mut dyn Read| {
                let mut decoder = RequestDecoder::new(protocol);
                std::iter::from_fn(|| decoder.read(input).ok()).collect::<Vec<_>>()
            };
            let replies = |input: &mut dyn Read| {
                let mut decoder = ReplyDecoder::new(protocol, incremental);
                std::iter::from_fn(|| decoder.read(input).ok()).collect::<Vec<_>>()
            };
            let split = || Trickle::new(&bytes, step);
            prop_assert_eq!(requests(&mut bytes.as_slice()), requests(&mut split()));
            prop_assert_eq!(replies(&mut bytes.as_slice()), replies(&mut split()));
        }
    }
}
