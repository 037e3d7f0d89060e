//! How the content of one file goes out: whole, as a delta, or as an appended tail; plain or
//! compressed (docs/protocol/transfer.md, "Tokens").

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

use delta::codec::{CompressKind, Compressor, Treatment};
use delta::{
    Damage, Digest, Event as Found, FileSum, Index, Placement, Plan, Searcher, SeedOrder, SkipList,
    Stats, StrongSum, SumKind,
};
use wire::item::basis;
use wire::mux::MuxWriter;
use wire::options::Append;
use wire::token::TokenEncoder;

use crate::desk::Desk;
use crate::error::{Error, Result};
use crate::event::{Event, Monitor};
use crate::inbox::Basis;
use crate::list::Place;
use crate::pack::{PackRules, Packed, is_packed};
use crate::progress::Watch;
use crate::read_ahead::Ready;
use crate::small_file::Opened;
use crate::whole_file::WholeFile;

/// The longest literal that every stock receiver takes in one plain token.
const LITERAL: usize = 32 << 10;
/// From this length on, reading is told to the system to be from front to end.
const SEQUENTIAL: u64 = 1 << 20;

/// What of the session decides how content is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContentRules {
    pub(crate) protocol: u32,
    pub(crate) sum: SumKind,
    pub(crate) seed: i32,
    pub(crate) seed_order: SeedOrder,
    pub(crate) append: Append,
    /// `--inplace`, and whether the far side keeps a backup as basis then.
    pub(crate) inplace: bool,
    /// Whether a basis in the partial dir is updated in place.
    pub(crate) inplace_partial: bool,
    /// How long the far side may hear nothing.
    pub(crate) keep_alive: Option<Duration>,
}

/// What became of one file.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) size: u64,
    /// The sum of the content as it was sent.
    pub(crate) sum: Digest,
    pub(crate) stats: Stats,
    /// Why the far side will not keep it.
    pub(crate) damage: Option<String>,
}

/// Why a file could not be read to its end.
#[derive(Debug)]
pub(crate) enum Damaged {
    Shrank,
    Unreadable(io::Error),
}

impl Damaged {
    fn text(&self) -> String {
        match self {
            Self::Shrank => "became shorter while it was read: not copied this time".to_owned(),
            Self::Unreadable(error) => format!("cannot read: {error}"),
        }
    }
}

impl From<Damage> for Damaged {
    fn from(damage: Damage) -> Self {
        match damage {
            Damage::Failed { error, .. } => Self::Unreadable(error),
            _ => Self::Shrank,
        }
    }
}

/// Sends contents, one after the other.
pub(crate) struct Content<'a> {
    rules: ContentRules,
    tokens: TokenEncoder,
    codec: Option<(CompressKind, i32)>,
    compressor: Option<Compressor>,
    skip: SkipList,
    searcher: Searcher,
    whole: WholeFile,
    record: Vec<u8>,
    desk: &'a Desk,
    monitor: Monitor<'a>,
}

impl<'a> Content<'a> {
    /// Prepares the session's codec, given with its level; its memory is taken when it is needed.
    pub(crate) fn new(
        rules: ContentRules,
        codec: Option<(CompressKind, i32)>,
        skip: SkipList,
        desk: &'a Desk,
        monitor: Monitor<'a>,
    ) -> Self {
        Self {
            rules,
            tokens: match codec {
                Some(_) => TokenEncoder::compressed(),
                None => TokenEncoder::plain(),
            },
            codec,
            compressor: codec.map(|(kind, level)| Compressor::new(kind, level)),
            skip,
            searcher: Searcher::new(),
            whole: WholeFile::default(),
            record: Vec::new(),
            desk,
            monitor,
        }
    }

    /// Returns how whole files are compressed apart from the connection, if they are at all.
    pub(crate) fn pack_rules(&self) -> Option<PackRules> {
        let (kind, level) = self.codec?;
        let (sum, seed) = (self.rules.sum, self.rules.seed);
        let rules = PackRules { kind, level, sum, seed };
        (self.rules.append == Append::No).then_some(rules)
    }

    /// Tells whether a file is better compressed apart from the connection.
    pub(crate) fn packs(&self, place: &Place<'_>, basis: &Basis) -> bool {
        is_packed(place.size) && basis.sums.is_empty() && !self.skip.matches(place.name)
    }

    /// Tells whether the far side keeps more of the file than there is (`--append`).
    pub(crate) fn is_shorter_than_kept(&self, ready: &Ready, basis: &Basis) -> bool {
        match ready {
            Ready::Opened(opened) => basis.is_prefix && opened.len() < basis.head.basis_len(),
            Ready::Packed(_) => false,
        }
    }

    /// Returns how long a whole file is as a plain stream of literals, with its sum.
    pub(crate) fn framed(&self, size: u64) -> u64 {
        size + 4 * size.div_ceil(LITERAL as u64) + 4 + self.rules.sum.file_len() as u64
    }

    /// Sends a content with its sum behind it.
    pub(crate) fn send<W: Write>(
        &mut self,
        out: &mut MuxWriter<W>,
        path: &[u8],
        ready: Ready,
        basis: Basis,
        basis_type: Option<u8>,
        watch: Watch<'_>,
    ) -> Result<Sent> {
        let opened = match ready {
            Ready::Packed(packed) => {
                begin(watch, packed.size);
                return self.send_packed(out, path, &packed);
            }
            Ready::Opened(opened) => opened,
        };
        let sum = FileSum::new(self.rules.sum, self.rules.seed);
        let plain = self.compressor.is_none() && !basis.is_prefix;
        let alone = basis.sums.is_empty();
        match opened {
            Opened::Whole(content) if plain && alone => {
                begin(watch, content.len() as u64);
                let sum = WholeFile::send_bytes(out, &content, sum)?;
                Ok(Sent::literally(content.len() as u64, sum, None))
            }
            Opened::Long(mut file, size) if plain && alone => {
                advise(&file, size);
                begin(watch, size);
                let between = |count| {
                    watch.go_on(count);
                    self.desk.still_wanted()
                };
                let (sum, damaged) = self.whole.send_file(out, &mut file, size, sum, between)?;
                Ok(Sent::literally(size, sum, damaged.map(|damaged| damaged.text())))
            }
            Opened::Whole(content) => {
                let size = content.len() as u64;
                let mut content = io::Cursor::new(content);
                self.search(out, path, &mut content, size, basis, basis_type, watch)
            }
            Opened::Long(mut file, size) => {
                advise(&file, size);
                self.search(out, path, &mut file, size, basis, basis_type, watch)
            }
        }
    }

    /// Sends a file that was packed, after the end of whatever frame was open.
    fn send_packed<W: Write>(
        &mut self,
        out: &mut MuxWriter<W>,
        path: &[u8],
        packed: &Packed,
    ) -> Result<Sent> {
        self.record.clear();
        if let Some(compressor) = &mut self.compressor {
            let (encoder, record) = (&mut self.tokens, &mut self.record);
            compressor.close(&mut |chunk| put_chunk(encoder, record, chunk))?;
        }
        out.data(&self.record)?;
        out.data(&packed.tokens)?;
        out.data(packed.sum.as_bytes())?;
        self.tell_treatment(path, packed.treatment);
        Ok(Sent::literally(packed.size, packed.sum, None))
    }

    /// Sends what the far side lacks; everything, where it has nothing.
    #[allow(clippy::too_many_arguments, reason = "each says another thing about the one file")]
    fn search<W: Write, F: Read + Seek>(
        &mut self,
        out: &mut MuxWriter<W>,
        path: &[u8],
        file: &mut F,
        size: u64,
        basis: Basis,
        basis_type: Option<u8>,
        watch: Watch<'_>,
    ) -> Result<Sent> {
        let sum = FileSum::new(self.rules.sum, self.rules.seed);
        let kept = if basis.is_prefix { basis.head.basis_len() } else { 0 };
        let trusted = self.rules.append == Append::Trusting;
        let skipped = if trusted { kept } else { 0 };
        if skipped > 0 && file.seek(SeekFrom::Start(skipped)).is_err() {
            return Err(closed());
        }
        let index = Index::new(basis.sums, self.placement(basis_type));
        let strong = StrongSum::new(self.rules.sum, self.rules.seed, self.rules.seed_order);
        let plan = Plan {
            size: size - skipped,
            held_prefix: kept - skipped,
            basis: Some((&index, strong)),
        };
        self.begin_treatment(path);
        let mut tokens = Tokens {
            out,
            encoder: &mut self.tokens,
            compressor: self.compressor.as_mut(),
            record: &mut self.record,
            protocol: self.rules.protocol,
            keep_alive: self.rules.keep_alive,
            last_sign: Instant::now(),
            watch,
            desk: self.desk,
        };
        let read = |buffer: &mut [u8]| file.read(buffer);
        let outcome = self.searcher.search(read, &plan, sum, &mut |found| tokens.put(found))?;
        tokens.end(outcome.file_sum.as_bytes())?;
        if let Some(compressor) = &self.compressor {
            self.tell_treatment(path, compressor.treatment());
        }
        Ok(Sent {
            sum: outcome.file_sum,
            size,
            stats: outcome.stats,
            damage: outcome.damage.map(|damage| Damaged::from(damage).text()),
        })
    }

    /// Tells which blocks may be used, given that the far side may overwrite its basis
    /// (docs/protocol/transfer.md, "In place").
    fn placement(&self, basis_type: Option<u8>) -> Placement {
        let basis_type = basis_type.unwrap_or(basis::FILE);
        let partial = self.rules.inplace_partial && basis_type == basis::PARTIAL;
        match partial || (self.rules.inplace && basis_type == basis::FILE) {
            true => Placement::InPlace,
            false => Placement::Anywhere,
        }
    }

    fn begin_treatment(&mut self, path: &[u8]) {
        let treatment = match self.skip.matches(path) {
            true => Treatment::Store,
            false => Treatment::Probe,
        };
        if let Some(compressor) = &mut self.compressor {
            compressor.start_file(treatment);
        }
    }

    fn tell_treatment(&self, path: &[u8], treatment: Treatment) {
        if treatment == Treatment::Store {
            let why = match self.skip.matches(path) {
                true => "its suffix is on the skip-compress list",
                false => "its content does not shrink",
            };
            let text = format!("not compressed: {why}");
            (self.monitor)(Event::Decision { name: path, text });
        }
    }
}

impl Sent {
    fn literally(size: u64, sum: Digest, damage: Option<String>) -> Self {
        let stats = Stats { literal_bytes: size, ..Stats::default() };
        Self { sum, size, stats, damage }
    }
}

/// Turns what the search finds into tokens on the wire.
struct Tokens<'a, W: Write> {
    out: &'a mut MuxWriter<W>,
    encoder: &'a mut TokenEncoder,
    compressor: Option<&'a mut Compressor>,
    record: &'a mut Vec<u8>,
    protocol: u32,
    keep_alive: Option<Duration>,
    /// When the far side last heard of us for certain.
    last_sign: Instant,
    watch: Watch<'a>,
    desk: &'a Desk,
}

impl<W: Write> Tokens<'_, W> {
    fn put(&mut self, found: Found<'_>) -> Result<()> {
        self.record.clear();
        let (Found::Literal(data) | Found::Match { data, .. }) = found;
        self.watch.go_on(data.len() as u64);
        match found {
            Found::Literal(data) => self.literal(data)?,
            Found::Match { block, data } => self.matched(block, data)?,
        }
        self.out.data(self.record)?;
        self.sign_of_life()?;
        self.desk.still_wanted()
    }

    fn literal(&mut self, data: &[u8]) -> Result<()> {
        let Self { encoder, record, compressor, out, .. } = self;
        let Some(compressor) = compressor else {
            for piece in data.chunks(LITERAL) {
                record.clear();
                encoder.literal_plain(record, piece);
                out.data(record)?;
                out.data(piece)?;
            }
            record.clear();
            return Ok(());
        };
        compressor.literal(data, &mut |chunk| put_chunk(encoder, record, chunk))?;
        Ok(())
    }

    fn matched(&mut self, block: u32, data: &[u8]) -> Result<()> {
        let Self { encoder, record, compressor, .. } = self;
        if let Some(compressor) = compressor {
            compressor.end_run(&mut |chunk| put_chunk(encoder, record, chunk))?;
            compressor.matched(data, self.protocol);
        }
        encoder.matched(record, block);
        Ok(())
    }

    fn end(&mut self, file_sum: &[u8]) -> Result<()> {
        let Self { encoder, record, compressor, out, .. } = self;
        record.clear();
        if let Some(compressor) = compressor {
            compressor.end_run(&mut |chunk| put_chunk(encoder, record, chunk))?;
        }
        encoder.end(record);
        record.extend_from_slice(file_sum);
        Ok(out.data(record)?)
    }

    /// A long stretch of matched blocks may put nothing on the wire for a while.
    fn sign_of_life(&mut self) -> Result<()> {
        let Some(keep_alive) = self.keep_alive else {
            return Ok(());
        };
        if self.last_sign.elapsed() >= keep_alive {
            self.out.keep_alive()?;
            self.last_sign = Instant::now();
        }
        Ok(())
    }
}

fn put_chunk(encoder: &mut TokenEncoder, record: &mut Vec<u8>, chunk: &[u8]) {
    encoder.chunk_header(record, chunk.len());
    record.extend_from_slice(chunk);
}

/// Tells the first step of a file, which is as long as a literal.
pub(crate) fn begin(watch: Watch<'_>, size: u64) {
    if size > 0 {
        watch.is_at(size.min(LITERAL as u64));
    }
}

fn advise(file: &File, size: u64) {
    if size >= SEQUENTIAL {
        tree::advise_sequential(file);
    }
}

fn closed() -> Error {
    Error::Wire(wire::Error::Closed)
}
