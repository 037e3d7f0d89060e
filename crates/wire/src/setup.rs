//! How do client and server come to an agreement before the first file?
//!
//! The order is: versions (remote shell only), compat flags, algorithm names, seed
//! (docs/protocol/connection.md, "Binary set-up").

use std::io::{self, Read, Write};

use crate::dialect::{Compat, CompressName, Dialect, SumName};
use crate::error::{Error, Result};
use crate::escape::printable;
use crate::int::{put_u32, put_varint, put_vstring, read_i32, read_varint, read_vstring};
use crate::limits;

/// What the client brings into the set-up; the server knows the same from the arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The newest protocol that the client wants to speak.
    pub protocol: u32,
    /// The checksums of `--checksum-choice`: for the transfer, and for `-c`.
    pub checksum_choice: Option<(SumName, SumName)>,
    /// What the client wants of compression.
    pub compress: CompressWish,
    /// The checksums that this side can agree to, best first.
    pub sums: Vec<SumName>,
    /// The same of compression.
    pub compressions: Vec<CompressName>,
    /// Whether the client told the server that it can do incremental recursion.
    pub may_inc_recurse: bool,
}

/// What a client wants of compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompressWish {
    /// No compression.
    Off,
    /// The best that both sides have.
    Negotiate,
    /// This one, as the arguments say.
    Named(CompressName),
}

/// Exchanges protocol versions over a remote shell and returns the one to speak.
///
/// Text that comes first is an [`Error::NotRsync`] that holds the beginning of that text.
pub fn exchange_versions<R, W>(r: &mut R, w: &mut W, own: u32) -> Result<u32>
where
    R: Read + ?Sized,
    W: Write + ?Sized,
{
    let mut word = Vec::new();
    put_u32(&mut word, own);
    // A far side that is gone already may have said why before.
    let said = w.write_all(&word).and_then(|()| w.flush());
    let first = match (read_start(r), said) {
        (Err(Error::Closed), Err(error)) => return Err(error.into()),
        (first, _) => first?,
    };
    let peer = u32::from_le_bytes(first);
    if !limits::VERSION_WORD.contains(&peer) {
        return Err(Error::NotRsync { seen: read_noise(r, &first) });
    }
    agreed_version(own, peer)
}

/// Returns the protocol that both sides speak, if this implementation does.
pub(crate) fn agreed_version(own: u32, peer: u32) -> Result<u32> {
    if peer < limits::PROTOCOL_MIN {
        return Err(Error::TooOld { peer });
    }
    let own = own.min(limits::PROTOCOL_MAX);
    if own < limits::PROTOCOL_MIN {
        return Err(Error::Refused(format!(
            "protocol {own} is not supported; the oldest is {}",
            limits::PROTOCOL_MIN
        )));
    }
    Ok(own.min(peer))
}

/// What a server says that its client cannot know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The compat flags; see [`Compat::for_client`].
    pub compat: Compat,
    /// The seed of the block sums, any 32 bits.
    pub seed: i32,
}

/// Reads what follows the versions (remote shell) or the arguments (daemon), as a client.
///
/// The caller turns the reader to frames right after it, and from protocol 30 on the writer too.
pub fn client_setup<R, W>(r: &mut R, w: &mut W, protocol: u32, offer: &Offer) -> Result<Dialect>
where
    R: Read + ?Sized,
    W: Write + ?Sized,
{
    let compat = if protocol >= 30 { read_compat(r, offer)? } else { Compat::default() };
    let algorithms = Algorithms::agree(r, w, Side::Client, protocol, compat, offer)?;
    let seed = read_i32(r)?;
    Ok(algorithms.dialect(protocol, compat, seed))
}

/// Writes the same as a server, whose client said in the arguments what `offer` holds.
///
/// The caller turns the writer to frames right after it, and from protocol 30 on the reader too.
pub fn server_setup<R, W>(
    r: &mut R,
    w: &mut W,
    protocol: u32,
    offer: &Offer,
    answer: &Answer,
) -> Result<Dialect>
where
    R: Read + ?Sized,
    W: Write + ?Sized,
{
    let compat = if protocol >= 30 { answer.compat } else { Compat::default() };
    if protocol >= 30 {
        let mut flags = Vec::new();
        put_varint(&mut flags, compat.bits() as i32);
        w.write_all(&flags)?;
    }
    let algorithms = Algorithms::agree(r, w, Side::Server, protocol, compat, offer)?;
    w.write_all(&answer.seed.to_le_bytes())?;
    w.flush()?;
    Ok(algorithms.dialect(protocol, compat, answer.seed))
}

/// Returns the dialect of a session that agreed on nothing but what the arguments say.
pub(crate) fn without_negotiation(
    protocol: u32,
    compat: Compat,
    seed: i32,
    offer: &Offer,
) -> Dialect {
    Algorithms::unasked(protocol, offer).dialect(protocol, compat, seed)
}

fn read_compat<R: Read + ?Sized>(r: &mut R, offer: &Offer) -> Result<Compat> {
    let compat = Compat::from_bits(read_varint(r)? as u32);
    if compat.has(Compat::INC_RECURSE) && !offer.may_inc_recurse {
        let text = "incremental recursion was switched on without having been offered";
        return Err(Error::Protocol(text.into()));
    }
    Ok(compat)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

/// The algorithms of a session.
struct Algorithms {
    transfer_sum: SumName,
    file_sum: SumName,
    compress: CompressName,
}

impl Algorithms {
    /// Takes what the arguments and the protocol say, and negotiates the rest.
    fn agree<R, W>(
        r: &mut R,
        w: &mut W,
        side: Side,
        protocol: u32,
        compat: Compat,
        offer: &Offer,
    ) -> Result<Self>
    where
        R: Read + ?Sized,
        W: Write + ?Sized,
    {
        let negotiates = compat.has(Compat::VARINT_FLAGS);
        let asks_sum = negotiates && offer.checksum_choice.is_none();
        let asks_compress = negotiates && offer.compress == CompressWish::Negotiate;

        // Both sides write all their lists before they read: neither may wait for the other.
        let (sums, compressions) = (offer.sums.as_slice(), offer.compressions.as_slice());
        let mut lists = Vec::new();
        if asks_sum {
            put_names(
                &mut lists,
                side,
                sums.iter().copied().map(SumName::name),
                *sums == SumName::OFFERED,
            )?;
        }
        if asks_compress {
            put_names(
                &mut lists,
                side,
                compressions.iter().copied().map(CompressName::name),
                *compressions == CompressName::OFFERED,
            )?;
        }
        w.write_all(&lists)?;
        w.flush()?;

        let mut agreed = Self::unasked(protocol, offer);
        if asks_sum {
            let sum = choose(r, side, "checksum", sums, SumName::name, SumName::parse)?;
            (agreed.transfer_sum, agreed.file_sum) = (sum, sum);
        }
        if asks_compress {
            let (name, parse) = (CompressName::name, CompressName::parse);
            agreed.compress = choose(r, side, "compression", compressions, name, parse)?;
        }
        Ok(agreed)
    }

    /// Takes what the arguments say, and what the protocol has where nobody says anything.
    fn unasked(protocol: u32, offer: &Offer) -> Self {
        let usual = if protocol >= 30 { SumName::Md5 } else { SumName::Md4 };
        let (transfer_sum, file_sum) = offer.checksum_choice.unwrap_or((usual, usual));
        let compress = match offer.compress {
            CompressWish::Off => CompressName::None,
            CompressWish::Named(compress) => compress,
            CompressWish::Negotiate => CompressName::Zlib,
        };
        Self { transfer_sum, file_sum, compress }
    }

    fn dialect(self, protocol: u32, compat: Compat, seed: i32) -> Dialect {
        let Self { transfer_sum, file_sum, compress } = self;
        Dialect { protocol, compat, seed, transfer_sum, file_sum, compress }
    }
}

/// Reads the other side's list and picks the best common name, best as the client sees it.
///
/// Nobody acknowledges the choice: both come to the same one because our list has the order that
/// servers have themselves, and because a server goes by its client's order
/// (docs/protocol/connection.md, "Traps").
fn choose<R: Read + ?Sized, T: Copy + PartialEq>(
    r: &mut R,
    side: Side,
    what: &'static str,
    offered: &[T],
    name: fn(T) -> &'static str,
    parse: fn(&str) -> Option<T>,
) -> Result<T> {
    let list = read_vstring(r, limits::ALGORITHM_LIST)?;
    let theirs: Vec<T> = list
        .split(u8::is_ascii_whitespace)
        .filter_map(|word| std::str::from_utf8(word).ok().and_then(parse))
        .collect();
    let best = match side {
        Side::Client => offered.iter().find(|ours| theirs.contains(ours)),
        Side::Server => theirs.first(),
    };
    best.copied().ok_or_else(|| Error::NoCommon {
        what,
        ours: names(offered.iter().copied().map(name)),
        theirs: printable(&list),
    })
}

/// Appends a list of names; only a server whose list is full says that it could do without.
fn put_names(
    out: &mut Vec<u8>,
    side: Side,
    offered: impl Iterator<Item = &'static str>,
    full: bool,
) -> Result<()> {
    let mut list = names(offered);
    if list.is_empty() {
        list.push_str("INVALID");
    } else if side == Side::Server && full {
        list.push_str(" none");
    }
    put_vstring(out, list.as_bytes())
}

fn names(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(" ")
}

/// Reads the first 4 bytes; fewer before the end are noise as well.
fn read_start<R: Read + ?Sized>(r: &mut R) -> Result<[u8; 4]> {
    let mut first = [0; 4];
    let mut filled = 0;
    while filled < first.len() {
        match read_some(r, &mut first[filled..])? {
            0 if filled == 0 => return Err(Error::Closed),
            0 => {
                return Err(Error::NotRsync { seen: first[..filled].to_vec() });
            }
            count => filled += count,
        }
    }
    Ok(first)
}

/// Adds to the noise what one more read gives, so that a person recognizes the text.
fn read_noise<R: Read + ?Sized>(r: &mut R, first: &[u8]) -> Vec<u8> {
    let mut seen = first.to_vec();
    seen.resize(limits::NOISE_SHOWN, 0);
    let more = read_some(r, &mut seen[first.len()..]).unwrap_or(0);
    seen.truncate(first.len() + more);
    seen
}

fn read_some<R: Read + ?Sized>(r: &mut R, out: &mut [u8]) -> Result<usize> {
    loop {
        match r.read(out) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return Ok(result?),
        }
    }
}

#[cfg(test)]
mod tests;
