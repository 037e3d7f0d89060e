//! Which names stand in one directory.

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A regular file.
    Regular,
    /// A directory.
    Dir,
    /// A symbolic link.
    Symlink,
    /// A character or block device.
    Device,
    /// A fifo or a socket.
    Special,
    /// Something that rsync does not know, or a file system that does not tell.
    Unknown,
}

impl Kind {
    /// Reads the type bits of a POSIX mode.
    pub fn from_mode(mode: u32) -> Self {
        match mode & 0o170_000 {
            0o100_000 => Self::Regular,
            0o040_000 => Self::Dir,
            0o120_000 => Self::Symlink,
            0o020_000 | 0o060_000 => Self::Device,
            0o010_000 | 0o140_000 => Self::Special,
            _ => Self::Unknown,
        }
    }
}

/// One name of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed<'a> {
    /// A single component, never `.` or `..`.
    pub name: &'a [u8],
    /// What the directory itself says of the kind.
    pub kind: Kind,
    /// Which of several directories it was read from, as the reader numbered them.
    pub place: u16,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    start: u32,
    len: u16,
    place: u16,
    kind: Kind,
}

/// The names of one directory, or of several that are merged, in one piece of memory that can be
/// used again for the next.
#[derive(Debug, Default)]
pub struct Listing {
    bytes: Vec<u8>,
    slots: Vec<Slot>,
}

impl Listing {
    /// Forgets all names and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.slots.clear();
    }

    /// Adds a name. A directory's names beyond 4 GiB together are refused by `false`.
    #[must_use]
    pub fn push(&mut self, name: &[u8], kind: Kind, place: u16) -> bool {
        let (Ok(start), Ok(len)) = (u32::try_from(self.bytes.len()), u16::try_from(name.len()))
        else {
            return false;
        };
        self.bytes.extend_from_slice(name);
        self.slots.push(Slot { start, len, place, kind });
        true
    }

    /// Adds all names of another listing; those that find no room are left out.
    pub fn append(&mut self, other: Listing) {
        if self.is_empty() {
            *self = other;
            return;
        }
        for listed in other.iter() {
            let _ = self.push(listed.name, listed.kind, listed.place);
        }
    }

    /// Counts the names.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Tells whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Goes through the names in their present order.
    pub fn iter(&self) -> impl Iterator<Item = Listed<'_>> {
        self.slots.iter().map(|slot| read(&self.bytes, slot))
    }

    /// Returns the name at `index`, if there are that many.
    pub fn at(&self, index: usize) -> Option<Listed<'_>> {
        self.slots.get(index).map(|slot| read(&self.bytes, slot))
    }

    /// Sorts by a comparison of two names of this directory.
    pub fn sort_by(&mut self, compare: impl Fn(Listed<'_>, Listed<'_>) -> std::cmp::Ordering) {
        let bytes = &self.bytes;
        self.slots.sort_by(|a, b| compare(read(bytes, a), read(bytes, b)));
    }

    /// Gives names another kind than the directory itself said.
    pub fn set_kinds(&mut self, mut kind: impl FnMut(Listed<'_>) -> Kind) {
        for slot in &mut self.slots {
            slot.kind = kind(read(&self.bytes, slot));
        }
    }

    /// Keeps only the names that `keep` says yes to.
    pub fn retain(&mut self, mut keep: impl FnMut(Listed<'_>) -> bool) {
        let bytes = &self.bytes;
        self.slots.retain(|slot| keep(read(bytes, slot)));
    }
}

fn read<'a>(bytes: &'a [u8], slot: &Slot) -> Listed<'a> {
    let start = slot.start as usize;
    Listed {
        name: &bytes[start..start + usize::from(slot.len)],
        kind: slot.kind,
        place: slot.place,
    }
}
