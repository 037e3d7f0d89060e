//! Do client and server come to the same agreement, and to the recorded ones?

use proptest::prelude::*;

use super::*;
use crate::dialect::{CompressName, ServerWish, SumName};
use crate::testing::{Trickle, hex};

const OURS: &str = "xxh128 xxh3 xxh64 md5 md4 sha1";

fn offer() -> Offer {
    Offer {
        protocol: 32,
        checksum_choice: None,
        compress: CompressWish::Off,
        sums: SumName::OFFERED.to_vec(),
        compressions: CompressName::OFFERED.to_vec(),
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

const ABLE: ServerWish = ServerWish {
    inc_recurse: true,
    symlink_times: true,
    symlink_iconv: true,
    inplace_partial: true,
};

/// Lets a client and a server talk through pipes; both have to see the same.
fn pair(protocol: u32, offer: &Offer, answer: &Answer) -> Dialect {
    let (mut from_client, mut to_server) = io::pipe().unwrap();
    let (mut from_server, mut to_client) = io::pipe().unwrap();
    let (client, server) = std::thread::scope(|scope| {
        let server = scope.spawn(move || {
            let agreed = exchange_versions(&mut from_client, &mut to_client, 32).unwrap();
            server_setup(&mut from_client, &mut to_client, agreed, offer, answer).unwrap()
        });
        let agreed = exchange_versions(&mut from_server, &mut to_server, protocol).unwrap();
        let client = client_setup(&mut from_server, &mut to_server, agreed, offer).unwrap();
        assert_eq!(from_server.read(&mut [0]).unwrap(), 0, "nothing is left over");
        (client, server.join().unwrap())
    });
    assert_eq!(client, server);
    client
}

#[test]
fn client_and_server_agree_for_all_letters_and_protocols() {
    const LETTERS: &[u8; 9] = b"iLsfxCIvu";
    let wishes =
        [CompressWish::Off, CompressWish::Negotiate, CompressWish::Named(CompressName::Zlibx)];
    for set in 0..1 << LETTERS.len() {
        let told = |place: &usize| set >> place & 1 == 1;
        let letters: Vec<u8> =
            (0..LETTERS.len()).filter(told).map(|place| LETTERS[place]).collect();
        let compress = wishes[set % wishes.len()];
        let choice = Some((SumName::Sha1, SumName::Xxh3));
        for protocol in 29..=32 {
            let offer = Offer {
                protocol,
                compress,
                checksum_choice: choice.filter(|_| set % 5 == 0),
                may_inc_recurse: letters.contains(&b'i'),
                ..offer()
            };
            let compat = Compat::for_client(&letters, ABLE);
            let dialect = pair(protocol, &offer, &Answer { compat, seed: -(set as i32) });
            assert_eq!(dialect.protocol, protocol);
            let modern = protocol >= 30 && letters.contains(&b'v');
            assert_eq!(dialect.varint_flags(), modern);
            assert_eq!(dialect.inc_recurse(), protocol >= 30 && offer.may_inc_recurse);
            let sum = match protocol {
                _ if offer.checksum_choice.is_some() => SumName::Sha1,
                _ if modern => SumName::Xxh128,
                30.. => SumName::Md5,
                _ => SumName::Md4,
            };
            assert_eq!(dialect.transfer_sum, sum);
        }
    }
}

#[test]
fn the_flags_are_those_of_a_recorded_server() {
    let recorded: [(&str, u32); 13] = [
        ("iLsfxCIvu", 0x1ff),
        ("LsfxCIvu", 0x1fe),
        ("isfxCIvu", 0x1ff),
        ("", 0x06),
        ("i", 0x07),
        ("f", 0x0e),
        ("x", 0x16),
        ("C", 0x26),
        ("I", 0x46),
        ("v", 0x86),
        ("u", 0x106),
        ("iLsf", 0x0f),
        ("iLsfxC", 0x3f),
    ];
    for (letters, bits) in recorded {
        assert_eq!(Compat::for_client(letters.as_bytes(), ABLE).bits(), bits, "{letters}");
    }
    let unable = ServerWish {
        inc_recurse: false,
        symlink_times: false,
        symlink_iconv: false,
        inplace_partial: false,
    };
    assert_eq!(Compat::for_client(b"iLsfxCIvu", unable).bits(), 0x1b8);
}

#[test]
fn a_server_writes_what_a_recorded_one_does() {
    let compat = Compat::for_client(b"iLsfxCIvu", ABLE);
    let offer = Offer { compress: CompressWish::Negotiate, ..offer() };
    let answer = Answer { compat, seed: 0x6b00_0bff };
    let mut sent = Vec::new();
    let client = [listed(OURS), listed("zstd lz4 zlibx zlib")].concat();
    server_setup(&mut client.as_slice(), &mut sent, 31, &offer, &answer).unwrap();
    let lists = [listed(&format!("{OURS} none")), listed("zstd lz4 zlibx zlib none")].concat();
    assert_eq!(sent, [hex("81ff"), lists, hex("ff0b006b")].concat());

    let answer = Answer { compat: Compat::for_client(b"iLsfxC", ABLE), ..answer };
    let mut sent = Vec::new();
    server_setup(&mut io::empty(), &mut sent, 31, &offer, &answer).unwrap();
    assert_eq!(sent, hex("3f ff0b006b"));
}

#[test]
fn a_server_goes_by_the_order_of_its_client() {
    let compat = Compat::for_client(b"v", ABLE);
    let answer = Answer { compat, seed: 1 };
    let serve = |mut list: &[u8]| server_setup(&mut list, &mut Vec::new(), 32, &offer(), &answer);
    let dialect = serve(&listed("blake9 md5 xxhash xxh128")).unwrap();
    assert_eq!(dialect.transfer_sum, SumName::Md5);
    let error = serve(&listed("blake9")).unwrap_err();
    assert!(matches!(error, Error::NoCommon { .. }), "{error}");
    assert!(matches!(serve(&listed(&"md5 ".repeat(64))), Err(Error::Malformed(_))));
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
