//! Has an equal ACL or set of xattrs been sent before, and under which number?
//!
//! Both sides number these sets in the order in which they appear, for the whole connection.
//! Naming an earlier one is never required of a sender, so this memory may forget.
//! See docs/protocol/attributes.md, "Back references".

use std::collections::HashMap;

use crate::int::put_varint;

/// How many bytes are remembered of one kind of set; beyond it all is forgotten.
const MEMORY: usize = 16 << 20;
/// What an entry costs beside its bytes.
const ENTRY_COST: usize = 64;

/// The sets of one kind that were sent.
#[derive(Debug, Default)]
pub(crate) struct BackReferences {
    known: HashMap<Box<[u8]>, i32>,
    bytes: usize,
    sent: i32,
}

impl BackReferences {
    /// Appends the number of an equal set; `false` says that the set itself has to follow.
    pub(crate) fn put(&mut self, out: &mut Vec<u8>, set: &[u8]) -> bool {
        if let Some(&number) = self.known.get(set) {
            put_varint(out, number + 1);
            return true;
        }
        put_varint(out, 0);
        self.remember(set);
        false
    }

    fn remember(&mut self, set: &[u8]) {
        if self.bytes > MEMORY {
            self.known.clear();
            self.bytes = 0;
        }
        self.known.insert(set.into(), self.sent);
        self.bytes += set.len() + ENTRY_COST;
        self.sent += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forgotten_set_is_sent_anew_under_the_next_number() {
        let mut sets = BackReferences::default();
        let mut out = Vec::new();
        assert!(!sets.put(&mut out, b"a"));
        assert!(sets.put(&mut out, b"a"));
        assert_eq!(out, [0, 1]);

        let large = vec![1; MEMORY];
        assert!(!sets.put(&mut out, &large));
        assert!(!sets.put(&mut out, b"b"));
        assert_eq!(sets.known.len(), 1);
        assert!(!sets.put(&mut out, b"a"));
        out.clear();
        assert!(sets.put(&mut out, b"a"));
        assert_eq!(out, [4]);
    }
}
