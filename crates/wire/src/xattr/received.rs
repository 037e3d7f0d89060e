//! Which extended attributes has a received entry, and which long values are still missing?
//!
//! See docs/protocol/attributes.md, "A set in the file list".

use std::io::Read;
use std::sync::Arc;

use md5::{Digest, Md5};

use super::set::LITERAL;
use crate::error::{Error, Result};
use crate::flist::back_references::Received;
use crate::int::read_varint;
use crate::limits;

/// The length of the digest that stands for a long value.
const DIGEST: usize = 16;

/// The extended attributes of one file as they came with its entry.
///
/// Files with equal sets share one, so what becomes known of a set serves all of them.
#[derive(Debug, PartialEq, Eq)]
pub struct ReceivedXattrs {
    /// For each item its name, and then its value or the digest.
    bytes: Box<[u8]>,
    items: Box<[Item]>,
}

#[derive(Debug, PartialEq, Eq)]
struct Item {
    start: u32,
    name_len: u16,
    len: u32,
}

/// One attribute of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedXattr<'a> {
    /// The number that requests use, from 1.
    pub number: u32,
    /// The name as the sender has it.
    pub name: &'a [u8],
    /// What is known of the value.
    pub value: Value<'a>,
}

/// What a set says of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// The value itself.
    Whole(&'a [u8]),
    /// A value of which only this much came.
    Long {
        /// Its length in bytes.
        len: usize,
        /// Its MD5.
        digest: &'a [u8],
    },
}

impl Value<'_> {
    /// Tells whether `local` is this value, as far as it is known.
    pub fn is(&self, local: &[u8]) -> bool {
        match *self {
            Value::Whole(value) => value == local,
            Value::Long { len, digest } => len == local.len() && Md5::digest(local)[..] == *digest,
        }
    }
}

impl ReceivedXattrs {
    /// Returns the attributes in the order in which they were sent.
    pub fn iter(&self) -> impl Iterator<Item = ReceivedXattr<'_>> {
        (1..).zip(&self.items).map(|(number, item)| self.at(number, item))
    }

    /// Returns attribute `number`, counted from 1.
    pub fn item(&self, number: u32) -> Option<ReceivedXattr<'_>> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        self.items.get(at).map(|item| self.at(number, item))
    }

    fn at(&self, number: u32, item: &Item) -> ReceivedXattr<'_> {
        let bytes = &self.bytes[item.start as usize..];
        let (name, body) = bytes.split_at(item.name_len.into());
        let len = item.len as usize;
        let value = match len {
            0..=LITERAL => Value::Whole(&body[..len]),
            _ => Value::Long { len, digest: &body[..DIGEST] },
        };
        ReceivedXattr { number, name, value }
    }
}

/// Reads the sets of one connection.
#[derive(Debug, Default)]
pub(crate) struct XattrDecoder {
    received: Received<ReceivedXattrs>,
}

impl XattrDecoder {
    /// Reads the set of an entry.
    pub(crate) fn read<R: Read + ?Sized>(&mut self, r: &mut R) -> Result<Arc<ReceivedXattrs>> {
        self.received.read(r, read_set)
    }
}

fn read_set<R: Read + ?Sized>(r: &mut R) -> Result<(ReceivedXattrs, usize)> {
    let count = bounded(read_varint(r)?, limits::XATTR_COUNT, "number of xattrs")?;
    let (mut bytes, mut items, mut total) = (Vec::new(), Vec::new(), 0);
    for _ in 0..count {
        let name_len = bounded(read_varint(r)?, limits::XATTR_NAME, "length of an xattr's name")?;
        let len = bounded(read_varint(r)?, limits::XATTR_VALUE, "length of an xattr")?;
        total += name_len + len;
        bounded_total(total)?;
        let start = bytes.len();
        read_onto(r, &mut bytes, name_len)?;
        let name = &bytes[start..];
        if name.len() < 2 || name.iter().position(|&byte| byte == 0) != Some(name.len() - 1) {
            return Err(Error::Malformed("name of an xattr".into()));
        }
        bytes.pop();
        read_onto(r, &mut bytes, if len <= LITERAL { len } else { DIGEST })?;
        items.push(Item { start: start as u32, name_len: name_len as u16 - 1, len: len as u32 });
    }
    let size = bytes.len() + items.len() * size_of::<Item>();
    Ok((ReceivedXattrs { bytes: bytes.into(), items: items.into() }, size))
}

/// Appends `len` bytes, which a caller has held against a limit.
fn read_onto<R: Read + ?Sized>(r: &mut R, bytes: &mut Vec<u8>, len: usize) -> Result<()> {
    let start = bytes.len();
    bytes.resize(start + len, 0);
    Ok(r.read_exact(&mut bytes[start..])?)
}

/// Checks how much the attributes of one file are together.
pub(super) fn bounded_total(total: usize) -> Result<()> {
    if total > limits::XATTR_SET {
        return Err(Error::Malformed("xattrs of one file beyond all bounds".into()));
    }
    Ok(())
}

/// Takes a number that has to be within 0 and `limit`.
pub(super) fn bounded(number: i32, limit: usize, what: &str) -> Result<usize> {
    let fitting = usize::try_from(number).ok().filter(|number| *number <= limit);
    fitting.ok_or_else(|| Error::Malformed(format!("{what}: {number}, at most {limit} allowed")))
}
