//! Which statistics go over the wire?
//!
//! The receiving side tells what it deleted; a sending server tells a client what it counted
//! (docs/protocol/transfer.md, "Statistics"). A client that sends knows all its numbers itself.

use std::io::Read;

use crate::error::{Error, Result};
use crate::int::{put_varint, put_varlong30, read_varint, read_varlong30};
use crate::limits;

/// Reads the numbers of deleted files, directories, symlinks, devices and specials.
pub fn read_deletion_stats<R: Read + ?Sized>(r: &mut R) -> Result<[u32; 5]> {
    let mut counts = [0; 5];
    for count in &mut counts {
        let value = read_varint(r)?;
        *count = u32::try_from(value)
            .ok()
            .filter(|&value| value <= limits::DELETION_COUNT)
            .ok_or_else(|| Error::Protocol(format!("{value} deleted items")))?;
    }
    Ok(counts)
}

/// Appends the numbers of deleted items; each is at most [`limits::DELETION_COUNT`].
pub fn put_deletion_stats(out: &mut Vec<u8>, counts: &[u32; 5]) {
    for &count in counts {
        put_varint(out, count.min(limits::DELETION_COUNT).cast_signed());
    }
}

/// What a sending server has counted, as it sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionStats {
    /// Bytes that the server read from the connection.
    pub read_bytes: i64,
    /// Bytes that the server wrote to the connection.
    pub written_bytes: i64,
    /// The size of all files together.
    pub total_size: i64,
    /// How long building the file list took, in milliseconds.
    pub flist_build_ms: i64,
    /// How long sending the file list took, in milliseconds.
    pub flist_send_ms: i64,
}

impl SessionStats {
    /// Appends the five numbers.
    pub fn put(&self, out: &mut Vec<u8>, protocol: u32) {
        let values = [
            self.read_bytes,
            self.written_bytes,
            self.total_size,
            self.flist_build_ms,
            self.flist_send_ms,
        ];
        for value in values {
            put_varlong30(out, protocol, value, 3);
        }
    }

    /// Reads the five numbers.
    pub fn read<R: Read + ?Sized>(r: &mut R, protocol: u32) -> Result<Self> {
        let mut next = || read_varlong30(r, protocol, 3);
        Ok(Self {
            read_bytes: next()?,
            written_bytes: next()?,
            total_size: next()?,
            flist_build_ms: next()?,
            flist_send_ms: next()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::hex;

    #[test]
    fn the_recorded_statistics_of_a_server_are_reproduced() {
        let bytes = hex("003200 007600 000600 000100 000000");
        let stats = SessionStats::read(&mut bytes.as_slice(), 32).unwrap();
        let expected = SessionStats {
            read_bytes: 50,
            written_bytes: 118,
            total_size: 6,
            flist_build_ms: 1,
            flist_send_ms: 0,
        };
        assert_eq!(stats, expected);
        for protocol in [29, 32] {
            let mut out = Vec::new();
            stats.put(&mut out, protocol);
            assert_eq!(out.len(), if protocol == 29 { 20 } else { bytes.len() });
            assert_eq!(SessionStats::read(&mut out.as_slice(), protocol).unwrap(), expected);
        }
    }

    #[test]
    fn deletion_counts_beyond_the_limit_are_refused() {
        let most = hex("f0 00000010 00 00 00 00");
        let counts = read_deletion_stats(&mut most.as_slice()).unwrap();
        assert_eq!(counts, [limits::DELETION_COUNT, 0, 0, 0, 0]);
        let mut out = Vec::new();
        put_deletion_stats(&mut out, &counts);
        assert_eq!(out, most);
        for bad in ["f0 01000010", "f0 ffffffff"] {
            assert!(read_deletion_stats(&mut hex(bad).as_slice()).is_err());
        }
    }
}
