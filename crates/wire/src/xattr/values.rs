//! Which long values does the receiver want, and how does the sender give them?
//!
//! Both lists stand in the item lines of the transfer, behind the extra name and before the
//! sums. See docs/protocol/attributes.md, "Long values".

use std::collections::HashSet;
use std::io::Read;

use super::received::{Value, bounded, bounded_total};
use super::{ItemNames, ReceivedXattrs};
use crate::dialect::Dialect;
use crate::error::{Error, Result};
use crate::int::{put_varint, read_varint};
use crate::item::iflags;
use crate::limits;

/// Tells whether an item line with these iflags has a list of wanted values, and its reply one
/// of values. It has none without `--xattrs`, and none in a dry run.
pub fn lists_follow(dialect: &Dialect, flags: u16) -> bool {
    let local_link = iflags::XNAME_FOLLOWS | iflags::LOCAL_CHANGE;
    let is_left_out = dialect.xattr_optimization() && flags & local_link == local_link;
    flags & iflags::REPORT_XATTR != 0 && !is_left_out
}

/// Reads which items of a file's set are wanted, by their numbers.
///
/// Whether the file has such items is for [`check_wanted`] to say, once the file is known.
pub fn read_wanted<R: Read + ?Sized>(r: &mut R) -> Result<Vec<u32>> {
    let mut wanted = Vec::new();
    let mut number = 0_i32;
    loop {
        let step = read_varint(r)?;
        if step == 0 {
            return Ok(wanted);
        }
        number = number.checked_add(step).ok_or_else(|| not_listed(step))?;
        if wanted.len() == limits::XATTR_COUNT {
            return Err(not_listed(number));
        }
        wanted.push(u32::try_from(number).map_err(|_| not_listed(number))?);
    }
}

/// Refuses what was not digested in the file's set, and asking twice in a list.
///
/// `names` is what [`XattrSet::requestable`](super::XattrSet::requestable) gave for the file.
pub fn check_wanted(wanted: &[u32], names: Option<&ItemNames>) -> Result<()> {
    let mut seen = HashSet::new();
    for &item in wanted {
        if names.and_then(|names| names.long(item)).is_none() || !seen.insert(item) {
            return Err(not_listed(item));
        }
    }
    Ok(())
}

fn not_listed(number: impl std::fmt::Display) -> Error {
    Error::Protocol(format!("it wants xattr number {number}, which it cannot"))
}

/// Writes the values that were wanted, in the order of [`read_wanted`].
#[derive(Debug, Default)]
pub struct XattrReplyEncoder {
    previous: u32,
}

impl XattrReplyEncoder {
    /// Appends the value of item `number`; one that cannot be read any more is sent empty.
    pub fn value(&mut self, out: &mut Vec<u8>, number: u32, value: &[u8]) {
        put_varint(out, number.wrapping_sub(self.previous) as i32);
        put_varint(out, value.len() as i32);
        out.extend_from_slice(value);
        self.previous = number;
    }

    /// Appends the end of the list.
    pub fn end(self, out: &mut Vec<u8>) {
        put_varint(out, 0);
    }
}

/// Appends which items of a set are wanted, by ascending numbers.
pub fn put_wanted(out: &mut Vec<u8>, numbers: &[u32]) {
    let mut previous = 0;
    for &number in numbers {
        put_varint(out, number.wrapping_sub(previous) as i32);
        previous = number;
    }
    put_varint(out, 0);
}

/// Reads the values of the items that were wanted of a set.
///
/// They come in the order in which they were wanted; the sender may have left some out. What is
/// kept of a value has come, whatever length was announced. It need not be of the length and digest
/// in the set: the file may have changed since ([`Value::is`] tells).
pub fn read_values<R: Read + ?Sized>(
    r: &mut R,
    wanted: &[u32],
    set: &ReceivedXattrs,
) -> Result<Vec<(u32, Vec<u8>)>> {
    let (mut values, mut number, mut total) = (Vec::new(), 0_i32, 0);
    let mut outstanding = wanted.iter();
    loop {
        let step = read_varint(r)?;
        if step == 0 {
            return Ok(values);
        }
        number = number.checked_add(step).ok_or_else(|| not_wanted(step))?;
        let item = u32::try_from(number).map_err(|_| not_wanted(number))?;
        let is_long = |value| matches!(value, Value::Long { .. });
        let is_listed = set.item(item).is_some_and(|item| is_long(item.value));
        if !is_listed || !outstanding.any(|&wanted| wanted == item) {
            return Err(not_wanted(number));
        }
        let len = bounded(read_varint(r)?, limits::XATTR_VALUE, "length of an xattr")?;
        total += len;
        bounded_total(total)?;
        let mut value = Vec::new();
        if (&mut *r).take(len as u64).read_to_end(&mut value)? < len {
            return Err(Error::Closed);
        }
        values.push((item, value));
    }
}

fn not_wanted(number: i32) -> Error {
    Error::Protocol(format!("it sent the value of xattr number {number}, which nobody wanted"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{Compat, CompressName, SumName};
    use crate::testing::{Trickle, hex};
    use crate::xattr::{XattrCollector, XattrSet};

    fn set() -> XattrSet {
        let long = |name: &str| (name.into(), vec![b'x'; 40]);
        let mut xattrs =
            [long("user.a"), ("user.b".into(), vec![1]), long("user.c"), long("user.d")];
        XattrCollector::default().collect(&mut xattrs)
    }

    fn wanted(digits: &str) -> Result<Vec<u32>> {
        let bytes = hex(digits);
        let wanted = read_wanted(&mut Trickle::new(&bytes, 3))?;
        check_wanted(&wanted, set().requestable().map(AsRef::as_ref))?;
        Ok(wanted)
    }

    #[test]
    fn wanted_items_are_read_by_their_differences() {
        assert!(wanted("00").unwrap().is_empty());
        assert_eq!(wanted("01 02 01 00").unwrap(), [1, 3, 4]);
        assert_eq!(wanted("04 f0ffffffff 00").unwrap(), [4, 3]);
    }

    #[test]
    fn wanting_what_was_not_digested_is_refused() {
        let bad = ["02 00", "05 00", "f0ffffffff 00", "01 f0ffffff7f 00", "01 02 f0feffffff 00"];
        for digits in bad {
            assert!(matches!(wanted(digits), Err(Error::Protocol(_))), "{digits}");
        }
        assert!(matches!(wanted("01 02"), Err(Error::Closed)));
        assert!(matches!(wanted("f8"), Err(Error::Malformed(_))));
        assert!(check_wanted(&[1], None).is_err());
        let endless: Vec<u8> = [1, 0xf0, 0xff, 0xff, 0xff, 0xff].repeat(limits::XATTR_COUNT);
        assert!(matches!(read_wanted(&mut endless.as_slice()), Err(Error::Protocol(_))));
    }

    #[test]
    fn a_receiver_gets_the_values_that_it_wants() {
        let mut bytes = vec![0];
        bytes.extend_from_slice(set().wire_bytes());
        let set = crate::xattr::XattrDecoder::default().read(&mut bytes.as_slice()).unwrap();

        let mut out = Vec::new();
        put_wanted(&mut out, &[1, 3, 4]);
        assert_eq!(out, [1, 2, 1, 0]);
        assert_eq!(read_wanted(&mut out.as_slice()).unwrap(), [1, 3, 4]);

        let mut reply = XattrReplyEncoder::default();
        let mut out = Vec::new();
        reply.value(&mut out, 1, &[b'x'; 40]);
        reply.value(&mut out, 4, b"");
        reply.end(&mut out);
        let read = |wanted: &[u32]| read_values(&mut Trickle::new(&out, 7), wanted, &set);
        let values = read(&[1, 3, 4]).unwrap();
        assert_eq!(values, [(1, vec![b'x'; 40]), (4, Vec::new())]);
        assert!(set.item(1).unwrap().value.is(&values[0].1));
        assert!(!set.item(4).unwrap().value.is(&values[1].1));

        for wanted in [&[1][..], &[4, 1], &[3, 4]] {
            assert!(matches!(read(wanted), Err(Error::Protocol(_))), "{wanted:?}");
        }
        for (bad, wanted) in [("0200", 2), ("09", 9), ("f0ffffffff00", u32::MAX)] {
            let bad = hex(bad);
            assert!(matches!(
                read_values(&mut bad.as_slice(), &[wanted], &set),
                Err(Error::Protocol(_))
            ));
        }
        let announced = hex("01 f000000008 4242");
        assert!(matches!(read_values(&mut announced.as_slice(), &[1], &set), Err(Error::Closed)));
        let too_long = hex("01 f001000008 4242");
        assert!(read_values(&mut too_long.as_slice(), &[1], &set).is_err());
    }

    #[test]
    fn a_reply_is_what_a_real_sender_was_seen_to_write() {
        let mut out = Vec::new();
        let mut reply = XattrReplyEncoder::default();
        reply.value(&mut out, 1, &[0x42; 40]);
        reply.end(&mut out);
        assert_eq!(out, [&[1, 0x28][..], &[0x42; 40], &[0]].concat());
    }

    #[test]
    fn lists_are_left_out_of_local_hard_links_only_with_the_optimization() {
        let dialect = |protocol, compat| Dialect {
            protocol,
            compat,
            seed: 0,
            transfer_sum: SumName::Md5,
            file_sum: SumName::Md5,
            compress: CompressName::None,
        };
        let new = dialect(31, Compat::default());
        let always = dialect(31, Compat::NO_XATTR_OPTIMIZATION);
        let old = dialect(30, Compat::default());
        for dialect in [&new, &always, &old] {
            assert!(lists_follow(dialect, 0x8100));
            assert!(lists_follow(dialect, 0x4100));
            assert!(!lists_follow(dialect, 0x8000));
        }
        assert!(!lists_follow(&new, 0x5100));
        assert!(lists_follow(&always, 0x5100));
        assert!(lists_follow(&old, 0x5100));
    }
}
