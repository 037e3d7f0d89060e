//! What both directions derive from the options and from what was agreed on.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use delta::codec::CompressKind;
use delta::{SeedOrder, StrongSum, SumKind};
use wire::batch::BatchHead;
use wire::dialect::{Compat, CompressName, Dialect, ServerWish, SumName};
use wire::files_from;
use wire::flist::FlistFields;
use wire::mux::{Framing, MuxReader, MuxWriter, Record};
use wire::options::{Batch, Info, InfoLevels, Options};
use wire::setup::{Answer, Offer, client_setup, server_setup};

use crate::error::{Error, Result};
use crate::event::{Event, Monitor, Session};
use crate::role::Role;

/// Which way content goes, seen from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Duty {
    Sends,
    Receives,
}

impl Duty {
    fn client_receives(self, role: Role<'_>) -> bool {
        match role {
            Role::Client => self == Duty::Receives,
            Role::Server(_) => self == Duty::Sends,
        }
    }
}

/// Agrees with the far side, and turns both halves to frames.
pub(crate) fn set_up<R: Read, W: Write>(
    reader: &mut MuxReader<'_, R>,
    out: &mut MuxWriter<W>,
    protocol: u32,
    options: &Options,
    (role, duty): (Role<'_>, Duty),
    may_inc_recurse: bool,
) -> Result<Dialect> {
    check(protocol, options)?;
    let offer = Offer { may_inc_recurse, ..options.offer() };
    let dialect = match role {
        Role::Client => client_setup(reader, out, protocol, &offer)?,
        Role::Server(letters) => {
            let wish = ServerWish {
                inc_recurse: may_inc_recurse,
                symlink_times: true,
                symlink_iconv: true,
                inplace_partial: true,
            };
            let compat = Compat::for_client(letters, wish);
            let answer = Answer { compat, seed: seed(options) };
            server_setup(reader, out, protocol, &offer, &answer)?
        }
    };
    let is_server = matches!(role, Role::Server(_));
    // An old client frames what it says for the sake of one message alone.
    let client_frames =
        protocol >= 30 || (options.remove_source_files && duty.client_receives(role));
    if client_frames || !is_server {
        reader.set_framing(Framing::Framed);
    }
    if client_frames || is_server {
        out.set_framing(Framing::Framed);
    }
    Ok(dialect)
}

/// Begins the batch that a client writes, if it does.
pub(crate) fn record(
    role: Role<'_>,
    options: &Options,
    dialect: &Dialect,
) -> Result<Option<Record>> {
    let (Role::Client, Some(Batch::Write(path) | Batch::OnlyWrite(path))) = (role, &options.batch)
    else {
        return Ok(None);
    };
    let mut head = Vec::new();
    BatchHead::new(options, dialect).put(&mut head);
    let file = File::options().write(true).create(true).truncate(true).open(path);
    let mut record = BufWriter::new(file.map_err(Error::Write)?);
    record.write_all(&head).map_err(Error::Write)?;
    Ok(Some(Box::new(record)))
}

/// Tells that the file list comes next.
pub(crate) fn tell_begin(dialect: &Dialect, options: &Options, monitor: Monitor<'_>) {
    let sum = if options.checksum { dialect.file_sum } else { dialect.transfer_sum };
    let (protocol, incremental) = (dialect.protocol, dialect.inc_recurse());
    monitor(Event::Begins(Session { protocol, incremental, sum }));
}

/// Tells whether it is worth a line that the destination was made.
pub(crate) fn tells_of_destination(options: &Options) -> bool {
    let format = options.out_format.as_deref().unwrap_or_default();
    options.itemize > 0
        || format.windows(2).any(|two| two == b"%i")
        || InfoLevels::of(options).level(Info::Name) > 0
}

/// Sends names of `--files-from`; before protocol 31 they stand between the frames.
pub(crate) fn put_names<W: Write>(
    out: &mut MuxWriter<W>,
    names: &[Vec<u8>],
    protocol: u32,
) -> Result<()> {
    let mut bytes = Vec::new();
    files_from::put_names(&mut bytes, names);
    let framing = out.framing();
    if protocol < 31 {
        out.set_framing(Framing::Raw);
    }
    out.data(&bytes)?;
    out.set_framing(framing);
    Ok(out.flush()?)
}

/// Refuses what this protocol cannot carry, as rsync does.
fn check(protocol: u32, options: &Options) -> Result<()> {
    let asked = [(options.acls, "--acls"), (options.xattrs > 0, "--xattrs")];
    for (wanted, option) in asked {
        if wanted && protocol < 30 {
            return Err(Error::NeedsProtocol { option, needed: 30, protocol });
        }
    }
    Ok(())
}

/// The server picks the seed of the block sums, so that nobody can prepare files that collide.
fn seed(options: &Options) -> i32 {
    if options.checksum_seed != 0 {
        return options.checksum_seed;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mixed = now.as_nanos() as u32 ^ std::process::id().rotate_left(16);
    (mixed | 1).cast_signed()
}

/// Returns which optional fields the entries of a file list have.
///
/// The targets of symlinks are converted if the server has said so; a server goes by what its
/// client can.
pub(crate) fn fields(role: Role<'_>, options: &Options, dialect: &Dialect) -> FlistFields {
    let converts_links = match role {
        Role::Client => dialect.compat.has(Compat::SYMLINK_ICONV),
        Role::Server(letters) => letters.contains(&b's'),
    };
    FlistFields {
        charset: options.charset,
        link_charset: options.charset.filter(|_| converts_links),
        links: options.links,
        devices: options.devices,
        specials: options.specials,
        owner: options.owner,
        group: options.group,
        hard_links: options.hard_links > 0,
        checksum_len: options.checksum.then(|| sum_kind(dialect.file_sum).file_len()),
        atimes: options.atimes > 0,
        acls: options.acls,
        xattrs: options.xattrs > 0,
        numeric_ids: options.numeric_ids,
        missing_args: options.delete_missing_args,
        recursive: options.recursive,
        relative: options.relative,
    }
}

/// Returns the checksum of blocks and whole files.
pub(crate) fn transfer_sum(dialect: &Dialect) -> SumKind {
    match dialect.protocol {
        ..30 => SumKind::Md4Old,
        _ => sum_kind(dialect.transfer_sum),
    }
}

/// Returns the strong sum of blocks.
pub(crate) fn strong_sum(options: &Options, dialect: &Dialect) -> StrongSum {
    StrongSum::new(transfer_sum(dialect), dialect.seed, seed_order(options, dialect))
}

pub(crate) fn seed_order(options: &Options, dialect: &Dialect) -> SeedOrder {
    match dialect.seed_first() || options.checksum_choice.is_some() {
        true => SeedOrder::First,
        false => SeedOrder::Last,
    }
}

pub(crate) fn sum_kind(name: SumName) -> SumKind {
    match name {
        SumName::Md4 => SumKind::Md4,
        SumName::Md5 => SumKind::Md5,
        SumName::Sha1 => SumKind::Sha1,
        SumName::Xxh64 => SumKind::Xxh64,
        SumName::Xxh3 => SumKind::Xxh3,
        SumName::Xxh128 => SumKind::Xxh128,
        SumName::None => SumKind::None,
    }
}

/// Returns the session's codec. Level 0 of deflate is none at all, for both sides.
pub(crate) fn codec(name: CompressName, level: Option<i32>) -> Option<CompressKind> {
    match name {
        CompressName::None => None,
        CompressName::Zlib | CompressName::Zlibx if level == Some(0) => None,
        CompressName::Zlib => Some(CompressKind::Zlib),
        CompressName::Zlibx => Some(CompressKind::Zlibx),
        CompressName::Zstd => Some(CompressKind::Zstd),
        CompressName::Lz4 => Some(CompressKind::Lz4),
    }
}

/// Half of the time limit: so often the far side hears of us.
pub(crate) fn keep_alive(options: &Options) -> Option<Duration> {
    let seconds = u64::from(options.timeout.div_ceil(2));
    (seconds > 0).then(|| Duration::from_secs(seconds))
}
