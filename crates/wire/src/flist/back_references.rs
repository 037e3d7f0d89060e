//! Has an equal ACL or set of xattrs been sent before, and under which number?
//!
//! Both sides number these sets in the order in which they appear, for the whole connection.
//! Naming an earlier one is never required of a sender, so this memory may forget.
//! See docs/protocol/attributes.md, "Back references".

use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::int::{put_varint, read_varint};
use crate::limits;

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

/// The sets of one kind that were received.
#[derive(Debug)]
pub(crate) struct Received<T> {
    known: Vec<Arc<T>>,
    bytes: usize,
}

impl<T> Default for Received<T> {
    fn default() -> Self {
        Self { known: Vec::new(), bytes: 0 }
    }
}

impl<T> Received<T> {
    /// Reads the number of a known set, or a new one by `read_set`, which tells its size too.
    pub(crate) fn read<R: Read + ?Sized>(
        &mut self,
        r: &mut R,
        read_set: impl FnOnce(&mut R) -> Result<(T, usize)>,
    ) -> Result<Arc<T>> {
        let number = read_varint(r)?;
        if number != 0 {
            let known = usize::try_from(number).ok().and_then(|n| self.known.get(n - 1));
            return known.cloned().ok_or_else(|| {
                Error::Malformed(format!("ACL or set of xattrs number {number}, which is unknown"))
            });
        }
        let (set, size) = read_set(r)?;
        self.bytes += size_of::<T>() + size + ENTRY_COST;
        if self.bytes > limits::ATTRIBUTE_MEMORY {
            return Err(Error::Refused("too many different ACLs or xattrs for one session".into()));
        }
        let set = Arc::new(set);
        self.known.push(Arc::clone(&set));
        Ok(set)
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
