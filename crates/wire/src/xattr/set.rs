//! What are the extended attributes of one file?
//!
//! See docs/protocol/attributes.md, "A set in the file list".

use std::collections::HashSet;
use std::sync::Arc;

use md5::{Digest, Md5};

use crate::int::put_varint;

/// The longest value that is sent as it is; of a longer one only the digest is.
pub(super) const LITERAL: usize = 32;
/// How many different lists of names are shared; beyond it they are forgotten.
const SHARED_LISTS: usize = 1 << 12;

/// The extended attributes of one file as they go with its entry.
///
/// Long values are digested already, so a set is small however large the values are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XattrSet {
    wire: Vec<u8>,
    names: Arc<ItemNames>,
}

impl XattrSet {
    /// Returns the names that a later request can be about; `None` if no value is long.
    ///
    /// A sender keeps them with the file: requests give numbers, whatever the file has by then.
    pub fn requestable(&self) -> Option<&Arc<ItemNames>> {
        let has_long = self.names.items.iter().any(|item| item.is_long);
        has_long.then_some(&self.names)
    }

    /// Returns count and items as they are sent.
    pub(super) fn wire_bytes(&self) -> &[u8] {
        &self.wire
    }
}

/// The names of a set in the order in which they were sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ItemNames {
    items: Box<[Item]>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Item {
    name: Box<[u8]>,
    is_long: bool,
}

impl ItemNames {
    /// Returns the name of item `number`, counted from 1, if its value was not sent in the list.
    pub fn long(&self, number: u32) -> Option<&[u8]> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        let item = self.items.get(at)?;
        item.is_long.then_some(&item.name)
    }
}

/// Makes the sets of many files, which share their lists of names.
#[derive(Debug, Default)]
pub struct XattrCollector {
    lists: HashSet<Arc<ItemNames>>,
}

impl XattrCollector {
    /// Makes the set of a file from names and values, which it sorts by name.
    pub fn collect(&mut self, xattrs: &mut [(Vec<u8>, Vec<u8>)]) -> XattrSet {
        xattrs.sort_unstable();
        let mut wire = Vec::new();
        put_varint(&mut wire, xattrs.len() as i32);
        for (name, value) in xattrs.iter() {
            put_item(&mut wire, name, value);
        }
        XattrSet { wire, names: self.share(xattrs) }
    }

    fn share(&mut self, xattrs: &[(Vec<u8>, Vec<u8>)]) -> Arc<ItemNames> {
        let items = xattrs.iter().map(|(name, value)| Item {
            name: name.as_slice().into(),
            is_long: value.len() > LITERAL,
        });
        let names = ItemNames { items: items.collect() };
        if let Some(known) = self.lists.get(&names) {
            return Arc::clone(known);
        }
        if self.lists.len() >= SHARED_LISTS {
            self.lists.clear();
        }
        let names = Arc::new(names);
        self.lists.insert(Arc::clone(&names));
        names
    }
}

/// Appends one item; the length of the name counts the NUL that ends it.
fn put_item(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    put_varint(out, name.len() as i32 + 1);
    put_varint(out, value.len() as i32);
    out.extend_from_slice(name);
    out.push(0);
    if value.len() <= LITERAL {
        out.extend_from_slice(value);
    } else {
        out.extend_from_slice(&Md5::digest(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::hex;

    fn xattr(name: &str, value: &[u8]) -> (Vec<u8>, Vec<u8>) {
        (name.into(), value.to_vec())
    }

    #[test]
    fn a_set_is_sorted_and_its_long_values_are_digested() {
        let mut xattrs = [xattr("user.small", b"bar"), xattr("user.big", &[b'B'; 40])];
        let set = XattrCollector::default().collect(&mut xattrs);
        let recorded = "02 0928 757365722e62696700 ccb764fb02835a3b3abe295a2e076eb1
            0b03 757365722e736d616c6c00 626172";
        assert_eq!(set.wire, hex(recorded));
        let names = set.requestable().unwrap();
        assert_eq!(names.long(1), Some(&b"user.big"[..]));
        assert_eq!(names.long(2), None);
        assert_eq!(names.long(0), None);
        assert_eq!(names.long(3), None);
    }

    #[test]
    fn a_value_of_32_bytes_is_sent_as_it_is() {
        let set = XattrCollector::default().collect(&mut [xattr("user.x", &[7; 32])]);
        assert!(set.wire.ends_with(&[7; 32]));
        assert!(set.requestable().is_none());
    }

    #[test]
    fn sets_with_the_same_names_share_them() {
        let mut collector = XattrCollector::default();
        let one = collector.collect(&mut [xattr("user.x", &[1; 40])]);
        let two = collector.collect(&mut [xattr("user.x", &[2; 50])]);
        assert!(Arc::ptr_eq(&one.names, &two.names));
        assert_ne!(one, two);
    }
}
