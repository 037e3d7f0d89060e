//! How do client and server come to an agreement before the first file?
//!
//! The order is: versions (remote shell only), compat flags, algorithm names, seed
//! (docs/protocol/connection.md, "Binary set-up").

use std::io::{self, Read, Write};

use crate::dialect::{Compat, CompressName, Dialect, SumName};
use crate::error::{Error, Result};
use crate::escape::printable;
use crate::int::{put_u32, put_vstring, read_i32, read_varint, read_vstring};
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

/// Reads what follows the versions (remote shell) or the arguments (daemon), as a client.
///
/// The caller turns the reader to frames right after it, and from protocol 30 on the writer too.
pub fn client_setup<R, W>(r: &mut R, w: &mut W, protocol: u32, offer: &Offer) -> Result<Dialect>
where
    R: Read + ?Sized,
    W: Write + ?Sized,
{
    let compat = if protocol >= 30 { read_compat(r, offer)? } else { Compat::default() };
    let negotiates = compat.has(Compat::VARINT_FLAGS);
    let asks_sum = negotiates && offer.checksum_choice.is_none();
    let asks_compress = negotiates && offer.compress == CompressWish::Negotiate;

    // Both sides write all their lists before they read: neither may wait for the other.
    let mut lists = Vec::new();
    if asks_sum {
        put_vstring(&mut lists, names(&SumName::OFFERED.map(SumName::name)).as_bytes())?;
    }
    if asks_compress {
        put_vstring(&mut lists, names(&CompressName::OFFERED.map(CompressName::name)).as_bytes())?;
    }
    if !lists.is_empty() {
        w.write_all(&lists)?;
        w.flush()?;
    }

    let (transfer_sum, file_sum) = match offer.checksum_choice {
        Some(choice) => choice,
        None if asks_sum => {
            let sum = choose(r, "checksum", &SumName::OFFERED, SumName::name, SumName::parse)?;
            (sum, sum)
        }
        None if protocol >= 30 => (SumName::Md5, SumName::Md5),
        None => (SumName::Md4, SumName::Md4),
    };
    let compress = match offer.compress {
        CompressWish::Off => CompressName::None,
        CompressWish::Named(compress) => compress,
        CompressWish::Negotiate if asks_compress => {
            let (name, parse) = (CompressName::name, CompressName::parse);
            choose(r, "compression", &CompressName::OFFERED, name, parse)?
        }
        CompressWish::Negotiate => CompressName::Zlib,
    };
    let seed = read_i32(r)?;
    Ok(Dialect { protocol, compat, seed, transfer_sum, file_sum, compress })
}

fn read_compat<R: Read + ?Sized>(r: &mut R, offer: &Offer) -> Result<Compat> {
    let compat = Compat::from_bits(read_varint(r)? as u32);
    if compat.has(Compat::INC_RECURSE) && !offer.may_inc_recurse {
        let text = "incremental recursion was switched on without having been offered";
        return Err(Error::Protocol(text.into()));
    }
    Ok(compat)
}

/// Reads the server's list and picks our best name that is in it.
///
/// Nobody acknowledges the choice: the server comes to the same one because our list has the
/// order that servers have themselves (docs/protocol/connection.md, "Traps").
fn choose<R: Read + ?Sized, T: Copy + PartialEq>(
    r: &mut R,
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
    let best = offered.iter().copied().find(|ours| theirs.contains(ours));
    best.ok_or_else(|| Error::NoCommon {
        what,
        ours: names(&offered.iter().copied().map(name).collect::<Vec<_>>()),
        theirs: printable(&list),
    })
}

fn names(names: &[&str]) -> String {
    names.join(" ")
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
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Trickle, hex};

    const OURS: &str = "xxh128 xxh3 xxh64 md5 md4 sha1";

    fn offer() -> Offer {
        Offer {
            protocol: 32,
            checksum_choice: None,
            compress: CompressWish::Off,
            may_inc_recurse: true,
        }
    }

    fn listed(names: &str) -> Vec<u8> {
        let mut out = Vec::new();
        put_vstring(&mut out, names.as_bytes()).unwrap();
        out
    }

    /// Both halves of a remote-shell set-up: what was agreed, what was sent, what is left over.
    fn session(own: u32, server: &[u8], offer: &Offer) -> Result<(Dialect, Vec<u8>, Vec<u8>)> {
        let (mut input, mut sent) = (server, Vec::new());
        let protocol = exchange_versions(&mut input, &mut sent, own)?;
        let dialect = client_setup(&mut input, &mut sent, protocol, offer)?;
        Ok((dialect, sent, input.to_vec()))
    }

    #[test]
    fn the_recorded_set_ups_over_a_remote_shell_are_reproduced() {
        let list = [listed(OURS), listed(&format!("{OURS} none"))];
        let modern = [hex("20000000 81ff"), list[1].clone(), hex("80 24 00 6b 1b")].concat();
        let recorded = [
            // (own, from the server, to the server behind the version, protocol, checksum)
            (29, hex("20000000 bfe7016b 1b"), vec![], 29, SumName::Md4),
            (32, hex("1e000000 0f ff0b006b 1b"), vec![], 30, SumName::Md5),
            (32, hex("1f000000 3f ff0b006b 1b"), vec![], 31, SumName::Md5),
            (30, modern.clone(), list[0].clone(), 30, SumName::Xxh128),
            (31, modern.clone(), list[0].clone(), 31, SumName::Xxh128),
            (32, modern, list[0].clone(), 32, SumName::Xxh128),
        ];
        for (own, server, sent, protocol, sum) in recorded {
            let (dialect, client, rest) = session(own, &server, &offer()).unwrap();
            assert_eq!(client, [vec![own as u8, 0, 0, 0], sent].concat());
            assert_eq!((dialect.protocol, dialect.transfer_sum), (protocol, sum));
            assert_eq!(dialect.file_sum, sum);
            assert_eq!(rest, [0x1b], "the first frame is left alone");
        }
    }

    #[test]
    fn a_servers_bits_decide_and_not_its_version() {
        let server = hex("1f000000 3f ff0b006b");
        let (dialect, _, _) = session(32, &server, &offer()).unwrap();
        assert!(dialect.inc_recurse() && dialect.safe_list() && dialect.seed_first());
        assert!(!dialect.varint_flags() && !dialect.id0_names() && !dialect.xattr_optimization());
        assert_eq!(dialect.seed, 0x6b00_0bff);
        let server = hex("1e000000 06 00000080");
        let (dialect, _, _) = session(32, &server, &offer()).unwrap();
        assert!(!dialect.inc_recurse() && !dialect.safe_list() && !dialect.seed_first());
        assert_eq!(dialect.seed, i32::MIN);
    }

    #[test]
    fn names_are_sent_before_any_is_read_and_our_best_common_one_wins() {
        let wish = CompressWish::Negotiate;
        let offer = Offer { compress: wish, ..offer() };
        let lists = [listed("none sha1 \u{fffd} xxhash"), listed("foo zlib zlibx")].concat();
        let server = [hex("20000000 81ff"), lists, vec![0; 4]].concat();
        let (dialect, sent, _) = session(32, &server, &offer).unwrap();
        let ours = [hex("20000000"), listed(OURS), listed("zstd lz4 zlibx zlib")].concat();
        assert_eq!(sent, ours);
        assert_eq!(dialect.transfer_sum, SumName::Xxh64);
        assert_eq!(dialect.compress, CompressName::Zlibx);
    }

    #[test]
    fn an_explicit_choice_is_not_negotiated() {
        let compress = CompressWish::Named(CompressName::Lz4);
        let checksum_choice = Some((SumName::Sha1, SumName::Md5));
        let offer = Offer { compress, checksum_choice, ..offer() };
        let (dialect, sent, _) = session(32, &hex("20000000 81ff 01000000"), &offer).unwrap();
        assert_eq!(sent, hex("20000000"));
        assert_eq!((dialect.transfer_sum, dialect.file_sum), (SumName::Sha1, SumName::Md5));
        assert_eq!(dialect.compress, CompressName::Lz4);
        assert_eq!(dialect.seed, 1);
    }

    #[test]
    fn compression_without_negotiation_is_zlib() {
        let offer = Offer { compress: CompressWish::Negotiate, ..offer() };
        for server in ["1d000000 01000000", "1f000000 3f 01000000"] {
            let (dialect, sent, _) = session(32, &hex(server), &offer).unwrap();
            assert_eq!((dialect.compress, sent), (CompressName::Zlib, hex("20000000")));
        }
    }

    #[test]
    fn without_a_common_name_both_lists_are_shown() {
        let server = [hex("20000000 81ff"), listed("blake9\u{1b}")].concat();
        let error = session(32, &server, &offer()).unwrap_err();
        assert_eq!(error.exit_code(), 4);
        let text = error.to_string();
        assert!(text.contains(OURS) && text.contains("\"blake9\\x1b\""), "{text}");
    }

    #[test]
    fn incremental_recursion_that_was_not_offered_is_refused() {
        let offer = Offer { may_inc_recurse: false, ..offer() };
        let result = session(32, &hex("1e000000 0f 01000000"), &offer);
        assert!(matches!(result, Err(Error::Protocol(_))));
    }

    #[test]
    fn text_before_the_version_is_shown_as_it_came() {
        for banner in [&b"Last login: Mon\n\x20\0\0\0"[..], b"hi\n", b"\0\0\0\0", b"\x29\0\0\0"] {
            let Err(Error::NotRsync { seen }) = session(32, banner, &offer()) else {
                panic!("{banner:?} was accepted");
            };
            assert_eq!(seen, banner);
        }
        assert!(matches!(session(32, b"", &offer()), Err(Error::Closed)));
        let endless = vec![b'x'; 10_000];
        let Err(Error::NotRsync { seen }) = session(32, &endless, &offer()) else { panic!() };
        assert_eq!(seen.len(), limits::NOISE_SHOWN);
    }

    #[test]
    fn versions_outside_of_ours_are_met_or_named() {
        for (peer, own, agreed) in [(40, 32, 32), (31, 32, 31), (32, 29, 29), (29, 32, 29)] {
            assert_eq!(agreed_version(own, peer).unwrap(), agreed);
        }
        let error = session(32, &hex("1b000000"), &offer()).unwrap_err();
        assert!(matches!(error, Error::TooOld { peer: 27 }));
        assert!(error.to_string().contains("protocol 27"), "{error}");
        assert!(matches!(agreed_version(28, 32), Err(Error::Refused(_))));
    }

    #[test]
    fn a_set_up_cut_anywhere_is_an_error() {
        let names = listed(&format!("{OURS} none"));
        let server = [hex("20000000 81ff"), names, hex("8024006b")].concat();
        for end in 0..server.len() {
            let result = session(32, &server[..end], &offer());
            let early = (1..4).contains(&end);
            match result {
                Err(Error::Closed) => assert!(!early, "cut at {end}"),
                Err(Error::NotRsync { .. }) => assert!(early, "cut at {end}"),
                other => panic!("cut at {end}: {other:?}"),
            }
        }
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic_and_any_split_gives_the_same(
            mut bytes in proptest::collection::vec(any::<u8>(), 4..300),
            version in 29..=32_u8,
            step in 1..9_usize,
        ) {
            bytes[..4].copy_from_slice(&[version, 0, 0, 0]);
            let offer = Offer { compress: CompressWish::Negotiate, ..offer() };
            let run = |input: &mut dyn Read| {
                let protocol = exchange_versions(input, &mut Vec::new(), 32)?;
                client_setup(input, &mut Vec::new(), protocol, &offer)
            };
            let whole = run(&mut bytes.as_slice()).ok();
            prop_assert_eq!(whole, run(&mut Trickle::new(&bytes, step)).ok());
        }
    }
}
