//! Do single entries and ends that no recorded list has come out as they were seen or defined?

use super::{dialect, encoder};
use crate::error::Error;
use crate::flist::{FileEntry, FlistEncoder, FlistFields};
use crate::testing::hex;

const NONE: FlistFields = FlistFields {
    links: true,
    devices: true,
    specials: true,
    owner: false,
    group: false,
    hard_links: false,
    checksum_len: None,
    atimes: false,
    acls: false,
    xattrs: false,
    numeric_ids: false,
    recursive: true,
    relative: false,
    missing_args: false,
};
const OWNERS: FlistFields = FlistFields { owner: true, group: true, ..NONE };

fn written(protocol: u32, compat: u32, fields: FlistFields, entries: &[FileEntry<'_>]) -> Vec<u8> {
    let mut encoder = encoder(&dialect(protocol, compat), fields, Box::new(|_, _| None));
    let mut out = Vec::new();
    entries.iter().for_each(|entry| encoder.entry(&mut out, entry));
    out
}

#[test]
fn a_missing_argument_has_no_type_and_no_fields_of_one() {
    let missing = FileEntry { name: b"nonex", ..FileEntry::default() };
    let expected = [&hex("809a 05")[..], b"nonex", &[0, 0, 0]].concat();
    assert_eq!(written(32, 0x1fe, NONE, &[missing]), expected);
}

#[test]
fn ids_without_names_and_large_ones_are_sent_bare() {
    let entry = FileEntry {
        name: b"u1",
        mode: 0o100644,
        size: 1,
        mtime: 0x6553_f100,
        uid: 12345,
        gid: 70000,
        ..FileEntry::default()
    };
    let expected = hex("04 02 7531 000100 6500f153 a4810000 b039 c17011");
    assert_eq!(written(32, 0x1ff, OWNERS, &[entry]), expected);

    let large = FileEntry { uid: 0xffff_fff0, ..entry };
    assert!(written(32, 0x1ff, OWNERS, &[large]).ends_with(&hex("f0f0ffffff c17011")));
    assert!(written(29, 0, OWNERS, &[large]).ends_with(&hex("f0ffffff 70110100")));
}

#[test]
fn after_a_further_name_of_a_special_the_next_device_is_sent_in_full() {
    let fields = FlistFields { hard_links: true, ..NONE };
    let device =
        FileEntry { name: b"d", mode: 0o60644, rdev: Some((8, 1)), ..FileEntry::default() };
    let fifo =
        FileEntry { name: b"f", mode: 0o10644, hard_link: Some((1, 1)), ..FileEntry::default() };
    let full = written(32, 0x1fe, fields, &[device, fifo, fifo, device]);
    assert!(full.ends_with(&[8, 1]));
    let same = written(32, 0x1fe, fields, &[device, fifo, device]);
    assert!(!same.ends_with(&[8, 1]));
}

#[test]
fn an_end_says_what_its_flavour_can() {
    for (protocol, compat, io_error, expected, carries) in [
        (29, 0, 1, "00 01000000", true),
        (30, 0, 1, "00", false),
        (30, 0x08, 1, "0410 01", true),
        (31, 0, 0, "00", true),
        (32, 0x80, 0, "00 00", true),
        (32, 0x80, 3, "00 03", true),
    ] {
        let mut encoder = encoder(&dialect(protocol, compat), NONE, Box::new(|_, _| None));
        let mut out = Vec::new();
        encoder.end_list(&mut out, io_error);
        assert_eq!(out, hex(expected), "protocol {protocol}, {compat:#x}");
        assert_eq!(encoder.carries_io_error(), carries);
    }
}

#[test]
fn acls_and_xattrs_are_refused_below_protocol_30_in_the_words_of_rsync() {
    let acls = FlistFields { acls: true, ..NONE };
    let error = FlistEncoder::new(&dialect(29, 0), acls, Box::new(|_, _| None)).unwrap_err();
    let expected = "--acls requires protocol 30 or higher (negotiated 29)";
    assert!(matches!(&error, Error::Refused(text) if text == expected));
}
