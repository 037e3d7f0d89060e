//! How does a set of extended attributes go with an entry of a file list?
//!
//! See docs/protocol/attributes.md, "Back references".

use super::XattrSet;
use crate::flist::back_references::BackReferences;

/// A set without items: its number.
const EMPTY: &[u8] = &[0];

/// Writes the sets of one connection.
#[derive(Debug, Default)]
pub(crate) struct XattrEncoder {
    sent: BackReferences,
}

impl XattrEncoder {
    /// Appends the set of a file; none is one without items.
    pub(crate) fn put(&mut self, out: &mut Vec<u8>, set: Option<&XattrSet>) {
        let bytes = set.map_or(EMPTY, XattrSet::wire_bytes);
        if !self.sent.put(out, bytes) {
            out.extend_from_slice(bytes);
        }
    }
}
