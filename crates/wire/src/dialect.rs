//! What have the two sides agreed on for this session?
//!
//! See docs/protocol/connection.md, "Compat flags" and "Algorithm names".

/// The outcome of a session's set-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The negotiated protocol version.
    pub protocol: u32,
    /// What the server said that it does; empty below protocol 30.
    pub compat: Compat,
    /// The seed of the block sums, any 32 bits.
    pub seed: i32,
    /// The checksum of blocks and of transferred files.
    pub transfer_sum: SumName,
    /// The checksum of `-c` in the file list.
    pub file_sum: SumName,
    /// The compression of literal data.
    pub compress: CompressName,
}

impl Dialect {
    /// Tells whether file lists come one directory at a time.
    pub fn inc_recurse(&self) -> bool {
        self.compat.has(Compat::INC_RECURSE)
    }

    /// Tells whether the flags of file entries are varints, and a list ends with two of them.
    pub fn varint_flags(&self) -> bool {
        self.compat.has(Compat::VARINT_FLAGS)
    }

    /// Tells whether the end of a file list can carry an I/O error.
    pub fn safe_list(&self) -> bool {
        self.protocol >= 31 || self.compat.has(Compat::SAFE_LIST)
    }

    /// Tells whether the id lists carry names for user 0 and group 0.
    pub fn id0_names(&self) -> bool {
        self.compat.has(Compat::ID0_NAMES)
    }

    /// Tells whether later members of a hard-link group leave out their xattrs.
    pub fn xattr_optimization(&self) -> bool {
        self.protocol >= 31 && !self.compat.has(Compat::NO_XATTR_OPTIMIZATION)
    }

    /// Tells whether the seed goes before the data in MD5 block sums.
    pub fn seed_first(&self) -> bool {
        self.compat.has(Compat::SEED_FIRST)
    }

    /// Tells whether a basis in the partial dir is updated in place.
    pub fn inplace_partial(&self) -> bool {
        self.compat.has(Compat::INPLACE_PARTIAL)
    }
}

/// The compat flags, a set of bits that the server sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compat(u32);

impl Compat {
    /// Incremental recursion is used.
    pub const INC_RECURSE: Compat = Compat(0x001);
    /// The server can set the times of symlinks.
    pub const SYMLINK_TIMES: Compat = Compat(0x002);
    /// The server can convert the charset of symlink targets.
    pub const SYMLINK_ICONV: Compat = Compat(0x004);
    /// The end of a file list can carry an I/O error.
    pub const SAFE_LIST: Compat = Compat(0x008);
    /// Xattrs are sent with every member of a hard-link group.
    pub const NO_XATTR_OPTIMIZATION: Compat = Compat(0x010);
    /// The seed goes before the data in MD5 block sums.
    pub const SEED_FIRST: Compat = Compat(0x020);
    /// A basis in the partial dir is updated in place.
    pub const INPLACE_PARTIAL: Compat = Compat(0x040);
    /// Varint flags in the file list, and algorithm names are negotiated.
    pub const VARINT_FLAGS: Compat = Compat(0x080);
    /// The id lists carry names for user 0 and group 0.
    pub const ID0_NAMES: Compat = Compat(0x100);

    /// Takes the bits as they came.
    pub const fn from_bits(bits: u32) -> Self {
        Compat(bits)
    }

    /// Returns the bits as they are sent.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Makes the flags that a server sends to a client with these capability letters.
    ///
    /// The letters are those behind `e.`; ones that are not known say nothing.
    pub fn for_client(letters: &[u8], wish: ServerWish) -> Self {
        let told = |letter| letters.contains(&letter);
        let flags = [
            (wish.inc_recurse && told(b'i'), Self::INC_RECURSE),
            (wish.symlink_times, Self::SYMLINK_TIMES),
            (wish.symlink_iconv, Self::SYMLINK_ICONV),
            (told(b'f'), Self::SAFE_LIST),
            (told(b'x'), Self::NO_XATTR_OPTIMIZATION),
            (told(b'C'), Self::SEED_FIRST),
            (wish.inplace_partial && told(b'I'), Self::INPLACE_PARTIAL),
            (told(b'v'), Self::VARINT_FLAGS),
            (told(b'u'), Self::ID0_NAMES),
        ];
        let set = flags.into_iter().filter(|(wanted, _)| *wanted);
        Compat(set.fold(0, |bits, (_, flag)| bits | flag.0))
    }

    /// Tells whether all of `other` is in this set.
    pub const fn has(self, other: Compat) -> bool {
        self.0 & other.0 == other.0
    }
}

/// What a server would do if its client can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerWish {
    /// Use incremental recursion: its own options allow it.
    pub inc_recurse: bool,
    /// Set the times of symlinks; whatever the client told.
    pub symlink_times: bool,
    /// Convert the charset of symlink targets; whatever the client told.
    pub symlink_iconv: bool,
    /// Update a basis in the partial dir in place.
    pub inplace_partial: bool,
}

/// A checksum that can be agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SumName {
    /// MD4; below protocol 30 with the seed in it.
    Md4,
    /// MD5.
    Md5,
    /// SHA-1.
    Sha1,
    /// XXH64.
    Xxh64,
    /// XXH3 of 64 bits.
    Xxh3,
    /// XXH3 of 128 bits.
    Xxh128,
    /// No checksum at all; files are sent whole.
    None,
}

impl SumName {
    /// The names that a client offers, in the one order that every server understands alike
    /// (docs/protocol/connection.md, "Traps").
    pub const OFFERED: [SumName; 6] =
        [SumName::Xxh128, SumName::Xxh3, SumName::Xxh64, SumName::Md5, SumName::Md4, SumName::Sha1];

    /// Returns the name on the wire and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            SumName::Md4 => "md4",
            SumName::Md5 => "md5",
            SumName::Sha1 => "sha1",
            SumName::Xxh64 => "xxh64",
            SumName::Xxh3 => "xxh3",
            SumName::Xxh128 => "xxh128",
            SumName::None => "none",
        }
    }

    /// Finds the checksum of a name; `xxhash` is another name of `xxh64`.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "xxhash" => Some(SumName::Xxh64),
            "none" => Some(SumName::None),
            _ => Self::OFFERED.into_iter().find(|sum| sum.name() == name),
        }
    }

    /// Returns the length in bytes at the end of a file and in the file list.
    #[expect(clippy::len_without_is_empty, reason = "no checksum is empty")]
    pub const fn len(self) -> usize {
        match self {
            SumName::Md4 | SumName::Md5 | SumName::Xxh128 => 16,
            SumName::Sha1 => 20,
            SumName::Xxh64 | SumName::Xxh3 => 8,
            SumName::None => 1,
        }
    }
}

/// A compression that can be agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompressName {
    /// Literal data goes as it is.
    None,
    /// Deflate, with matched blocks in its history.
    Zlib,
    /// Deflate of the literals alone.
    Zlibx,
    /// Zstandard, one frame for the session.
    Zstd,
    /// LZ4, each chunk by itself.
    Lz4,
}

impl CompressName {
    /// The names that a client offers, in the one order that every server understands alike.
    pub const OFFERED: [CompressName; 4] =
        [CompressName::Zstd, CompressName::Lz4, CompressName::Zlibx, CompressName::Zlib];

    /// Returns the name on the wire and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            CompressName::None => "none",
            CompressName::Zlib => "zlib",
            CompressName::Zlibx => "zlibx",
            CompressName::Zstd => "zstd",
            CompressName::Lz4 => "lz4",
        }
    }

    /// Finds the compression of a name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "none" => Some(CompressName::None),
            _ => Self::OFFERED.into_iter().find(|compress| compress.name() == name),
        }
    }
}
