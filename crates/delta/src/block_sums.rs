//! How are the sums of a basis file kept?
//!
//! A peer that asks for a delta sends a weak and a strong sum of every block it has. They are kept
//! as two flat tables, which grow with what arrived and never with what was announced, up to
//! [`SUMS_MEMORY_LIMIT`]. Blocks past the limit are counted and dropped: their content is then sent
//! literally.

/// Bytes that the sums of one file and their index may take.
///
/// At stock's block lengths and strong lengths that is a basis of 1.4 TiB; see
/// [`block_choice`](crate::block_choice) for what it means to smaller blocks.
pub const SUMS_MEMORY_LIMIT: usize = 256 << 20;

/// The longest block that is searched for; the search keeps one block in memory. Stock's rule
/// reaches it at protocol 29 with a file of 64 TiB.
pub(crate) const BLOCK_LEN_MAX: u32 = 8 << 20;

/// Bytes a block takes beside its strong sum: its weak sum, two slots and up to four bytes of the
/// prefilter of the index.
pub(crate) const OVERHEAD: usize = 4 + 2 * 4 + 4;

/// What a peer says of its basis before the sums themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Number of blocks.
    pub count: u32,
    /// Length of every block but perhaps the last, in bytes.
    pub block_len: u32,
    /// Length of a strong sum as sent, in bytes.
    pub strong_len: u32,
    /// Length of the last block where it is shorter than the others, else 0.
    pub remainder: u32,
}

impl Head {
    /// Returns the length of the basis.
    ///
    /// In the append modes, where no sums follow, it is the length of the prefix that the receiver
    /// keeps (docs/protocol/transfer.md, append mode).
    pub fn basis_len(&self) -> u64 {
        let whole = u64::from(self.count) * u64::from(self.block_len);
        match self.remainder {
            0 => whole,
            rest => whole.saturating_sub(u64::from(self.block_len.saturating_sub(rest))),
        }
    }

    /// Returns how many blocks have the full length.
    pub(crate) fn full_blocks(&self) -> u32 {
        match self.short_len() {
            Some(_) => self.count.saturating_sub(1),
            None => self.count,
        }
    }

    /// Returns the length of the last block, where it is a short one.
    pub(crate) fn short_len(&self) -> Option<usize> {
        let short = self.remainder > 0 && self.remainder < self.block_len && self.count > 0;
        short.then_some(self.remainder as usize)
    }
}

/// The block sums of one basis file, in the order in which the peer sent them.
#[derive(Debug)]
pub struct BlockSums {
    head: Head,
    weak: Vec<u32>,
    strong: Vec<u8>,
    capacity: usize,
    dropped: u32,
}

impl BlockSums {
    /// Makes room for nothing yet; [`push`](Self::push) pays as sums arrive.
    pub fn new(head: Head) -> Self {
        Self::with_limit(head, SUMS_MEMORY_LIMIT)
    }

    /// Does the same with another bound on the memory of sums and index, in bytes.
    pub fn with_limit(head: Head, limit: usize) -> Self {
        let searchable = (1..=BLOCK_LEN_MAX).contains(&head.block_len);
        let room = limit / (OVERHEAD + head.strong_len as usize);
        Self {
            head,
            weak: Vec::new(),
            strong: Vec::new(),
            capacity: if searchable { room } else { 0 },
            dropped: 0,
        }
    }

    /// Adds the sums of the next block.
    ///
    /// A strong sum of another length than announced ends the list: it and all later ones are
    /// dropped.
    pub fn push(&mut self, weak: u32, strong: &[u8]) {
        if self.weak.len() >= self.capacity || strong.len() != self.head.strong_len as usize {
            // Blocks are numbered by their place in the tables, hence no gaps.
            self.capacity = self.weak.len();
            self.dropped = self.dropped.saturating_add(1);
            return;
        }
        self.grow();
        self.weak.push(weak);
        self.strong.extend_from_slice(strong);
    }

    /// Returns what the peer said before the sums.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Returns the number of blocks that are kept.
    pub fn len(&self) -> u32 {
        // The limit keeps the number far below 2^32.
        self.weak.len() as u32
    }

    /// Returns how many bytes the kept sums take.
    pub fn memory(&self) -> usize {
        self.weak.len() * 4 + self.strong.len()
    }

    /// Tells whether no block is kept.
    pub fn is_empty(&self) -> bool {
        self.weak.is_empty()
    }

    /// Returns the number of blocks that did not fit and will be sent literally.
    pub fn dropped(&self) -> u32 {
        self.dropped
    }

    pub(crate) fn weak(&self, block: u32) -> Option<u32> {
        self.weak.get(block as usize).copied()
    }

    pub(crate) fn strong(&self, block: u32) -> &[u8] {
        let len = self.head.strong_len as usize;
        let start = block as usize * len;
        self.strong.get(start..start + len).unwrap_or_default()
    }

    /// Grows by half, so that at most a third of the tables stands empty.
    fn grow(&mut self) {
        if self.weak.len() < self.weak.capacity() {
            return;
        }
        let more = (self.weak.len() / 2).max(64);
        let more = more.min(self.capacity - self.weak.len());
        self.weak.reserve_exact(more);
        self.strong.reserve_exact(more * self.head.strong_len as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_the_basis_counts_the_short_block() {
        let head = |count, remainder| Head { count, block_len: 700, strong_len: 2, remainder };
        assert_eq!(head(3, 600).basis_len(), 2000);
        assert_eq!(head(3, 0).basis_len(), 2100);
        assert_eq!(head(0, 0).basis_len(), 0);
    }

    #[test]
    fn sums_past_the_memory_limit_are_dropped_and_counted() {
        let head = Head { count: 1000, block_len: 700, strong_len: 2, remainder: 0 };
        let mut sums = BlockSums::with_limit(head, 18 * 10);
        for block in 0..1000 {
            sums.push(block, &[1, 2]);
        }
        assert_eq!((sums.len(), sums.dropped()), (10, 990));
    }

    #[test]
    fn an_announced_count_costs_no_memory() {
        let head = Head { count: i32::MAX as u32, block_len: 700, strong_len: 16, remainder: 0 };
        let mut sums = BlockSums::new(head);
        sums.push(1, &[0; 16]);
        assert!(sums.strong.capacity() <= 64 * 16);
    }
}
