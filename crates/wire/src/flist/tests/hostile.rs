//! Does a decoder survive what no honest sender writes?

use proptest::collection::vec;
use proptest::prelude::*;

use super::{dialect, encoder, even_ids_have_names, read_list};
use crate::dialect::Dialect;
use crate::error::{Error, Result};
use crate::flist::{DirMark, FileEntry, FlistDecoder, FlistFields, ReceivedEntry};
use crate::testing::hex;

const ALL: FlistFields = FlistFields {
    charset: None,
    link_charset: None,
    links: true,
    devices: true,
    specials: true,
    owner: true,
    group: true,
    hard_links: true,
    checksum_len: Some(16),
    atimes: true,
    acls: true,
    xattrs: true,
    numeric_ids: false,
    recursive: true,
    relative: true,
    missing_args: true,
};
const DIALECTS: [(u32, u32); 6] =
    [(29, 0), (30, 0x01), (30, 0x08), (31, 0x3e), (32, 0x1fe), (32, 0x1ff)];

/// `-rlt`.
const FEW: FlistFields = FlistFields {
    owner: false,
    group: false,
    hard_links: false,
    checksum_len: None,
    atimes: false,
    acls: false,
    xattrs: false,
    relative: false,
    missing_args: false,
    ..ALL
};

fn read(dialect: &Dialect, fields: FlistFields, bytes: &[u8]) -> Result<Vec<ReceivedEntry>> {
    let mut decoder = FlistDecoder::new(dialect, fields).unwrap();
    decoder.begin_list(i32::from(dialect.inc_recurse()));
    Ok(read_list(&mut decoder, &mut &bytes[..])?.0)
}

/// A list with something of everything.
fn list(dialect: &Dialect, fields: FlistFields) -> Vec<u8> {
    let mut encoder = encoder(dialect, fields, even_ids_have_names());
    let mut out = Vec::new();
    encoder.begin_list(i32::from(dialect.inc_recurse()));
    let file =
        FileEntry { mode: 0o100644, size: 5, mtime: 1 << 31, uid: 2, ..FileEntry::default() };
    let hard_link = Some((5, 6));
    let entries = [
        FileEntry { name: b".", mode: 0o40755, dir_mark: DirMark::Top, ..file },
        FileEntry { name: b"dir/file", hard_link, ..file },
        FileEntry { name: b"dir/other", hard_link, ..file },
        FileEntry { name: b"dir/link", mode: 0o120777, link_target: Some(b"file"), ..file },
        FileEntry { name: b"null", mode: 0o20666, rdev: Some((1, 3)), ..file },
    ];
    entries.iter().for_each(|entry| encoder.entry(&mut out, entry));
    encoder.end_list(&mut out, 1);
    out
}

fn dialects() -> impl Strategy<Value = (Dialect, FlistFields)> {
    proptest::sample::select(&DIALECTS[..]).prop_map(|(protocol, compat)| {
        let attributes = protocol >= 30;
        let fields = FlistFields { acls: attributes, xattrs: attributes, ..ALL };
        (dialect(protocol, compat), fields)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn random_bytes_never_panic((dialect, fields) in dialects(), bytes in vec(any::<u8>(), 0..200)) {
        let _ = read(&dialect, fields, &bytes);
    }

    #[test]
    fn a_list_with_a_changed_byte_never_panics(
        (dialect, fields) in dialects(), at: prop::sample::Index, byte: u8,
    ) {
        let mut bytes = list(&dialect, fields);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = read(&dialect, fields, &bytes);
    }

    #[test]
    fn a_list_cut_anywhere_is_an_error((dialect, fields) in dialects(), at: prop::sample::Index) {
        let bytes = list(&dialect, fields);
        prop_assert_eq!(read(&dialect, fields, &bytes).unwrap().len(), 5);
        let cut = &bytes[..at.index(bytes.len())];
        prop_assert!(matches!(read(&dialect, fields, cut), Err(Error::Closed)));
    }
}

/// The fields of a small file behind its name.
const FILE: &str = "000100 6500f153 a4810000";

#[test]
fn what_would_lead_astray_is_refused() {
    let name = |name: &[u8]| {
        let head = [&[0x18, name.len() as u8], name].concat();
        [head, hex(FILE), vec![0, 0]].concat()
    };
    let new = dialect(32, 0x18e);
    let bytes = dialect(31, 0x3e);
    for good in [&b"a"[..], b"a..b/c", b"..."] {
        let good = name(good);
        // 0x18 as a varint is the same flags.
        assert_eq!(read(&new, FEW, &good).unwrap().len(), 1);
    }
    let names: [&[u8]; 8] = [b"", b"..", b"../a", b"a/../b", b"a/..", b"/etc", b"a\0b", b"."];
    for bad in names {
        assert!(read(&new, FEW, &name(bad)).is_err(), "{}", bad.escape_ascii());
    }
    for bad in [
        "38 01 01 61",                                   // a beginning that nothing had
        "58 f0ffffff7f",                                 // a name of 2 GiB
        "58 f0ffffffff",                                 // of a negative length
        "18 01 61 fcffffffffffffffff 6500f153 a4810000", // a negative size
        "18 01 61 000100 6500f153 a4810100",             // a mode of 17 bits
        "18 01 61 000100 6500f153 a4010000",             // no type
        "1a 01 61 000100 6500f153",                      // the mode of nothing
        "c000 80 01 61",                                 // an unknown flag
        "9018 01 61",                                    // first of several names, and no -H
        "a018 01 61 000100 6500f153 f000ca9a3b",         // a second of nanoseconds
        "18 01 61 000100 6500f153 ffa10000 00",          // an empty symlink target
        "18 01 61 000100 6500f153 ffa10000 f0ffffff7f",  // one of 2 GiB
        "18 01 61 000100 6500f153 ffa10000 02 6100",     // one with a NUL
    ] {
        let result = read(&new, FEW, &hex(bad));
        assert!(
            matches!(result, Err(Error::Malformed(_) | Error::Protocol(_))),
            "{bad}: {result:?}"
        );
    }
    let missing = hex("809a 01 61 000000 00 00");
    assert!(read(&new, FlistFields { missing_args: true, ..FEW }, &missing).is_ok());
    let old_end = hex("0410 01");
    assert!(read(&bytes, FEW, &old_end).is_ok());
    assert!(read(&dialect(30, 0), FEW, &old_end).is_err());
}

#[test]
fn a_further_name_needs_a_first_one_of_its_type() {
    let fields = FlistFields { hard_links: true, ..FEW };
    let dialect = dialect(32, 0x1ff);
    let first = |mode: &str| format!("9218 01 61 000100 6500f153 {mode}");
    let read_hex = |bytes: &str| read(&dialect, fields, &hex(bytes));
    let file = first("a4810000");
    assert_eq!(read_hex(&format!("{file} 8218 01 62 01 0000")).unwrap().len(), 2);
    for bad in ["8218 01 62 02", "8218 01 62 05", "8218 01 62 00 000100 6500f153 a4810000"] {
        assert!(read_hex(&format!("{file} {bad}")).is_err(), "{bad}");
    }
    assert!(read_hex(&first("ed410000")).is_err(), "a directory with two names");

    let mut decoder = FlistDecoder::new(&dialect, fields).unwrap();
    decoder.begin_list(1);
    read_list(&mut decoder, &mut &hex(&format!("{file} 0000"))[..]).unwrap();
    decoder.begin_list(3);
    let fifo = hex("8218 01 62 01 000000 6500f153 a4110000");
    assert!(read_list(&mut decoder, &mut &fifo[..]).is_err());
}

#[test]
fn numbers_of_sets_and_their_sizes_are_bounded() {
    let acls = FlistFields { acls: true, ..FEW };
    let xattrs = FlistFields { xattrs: true, ..FEW };
    let head = format!("18 01 61 {FILE}");
    let table = [
        (acls, "01"),
        (acls, "f0ffffffff"),
        (acls, "00 20"),
        (acls, "00 0408"),
        (acls, "00 10 f0ffffff7f"),
        (acls, "00 10 01 05 13"),
        (acls, "00 10 01 05 22"),
        (xattrs, "01"),
        (xattrs, "00 f0ffffff7f"),
        (xattrs, "00 01 00 00"),
        (xattrs, "00 01 01 00 00"),
        (xattrs, "00 01 03 00 610000"),
        (xattrs, "00 01 02 00 6161"),
        (xattrs, "00 01 02 f001000008"),
    ];
    for (fields, bad) in table {
        let result = read(&dialect(32, 0x1fe), fields, &hex(&format!("{head} {bad}")));
        assert!(
            matches!(result, Err(Error::Malformed(_) | Error::Protocol(_))),
            "{bad}: {result:?}"
        );
    }
}

#[test]
fn an_endless_id_list_is_refused() {
    let owners = FlistFields { owner: true, ..FEW };
    let endless = [&[0, 0][..], &hex("02 01 61").repeat((1 << 20) + 1)].concat();
    let result = read(&dialect(32, 0x1fe), owners, &endless);
    assert!(matches!(result, Err(Error::Protocol(_))));
}
