//! Do single entries and ends that no recorded list has come out as they were seen or defined?

use super::{dialect, encoder, read_list};
use crate::error::Error;
use crate::flist::{DirMark, FileEntry, FlistDecoder, FlistEncoder, FlistFields};
use crate::testing::hex;

const NONE: FlistFields = FlistFields {
    charset: None,
    link_charset: None,
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

#[test]
fn below_protocol_30_a_top_directory_opens_a_scope() {
    use DirMark::{Content, NoContent, Top};
    let dir = |name, dir_mark| FileEntry { name, mode: 0o40755, dir_mark, ..FileEntry::default() };
    let names: [(&[u8], DirMark); 6] = [
        (b"before", NoContent),
        (b"a/b", Top),
        (b"a/b/c", Content),
        (b"a/bc", Content),
        (b"a/b/d", Content),
        (b"x", Top),
    ];
    let marks = |recursive, relative| {
        let fields = FlistFields { recursive, relative, ..NONE };
        let dirs: Vec<_> = names.iter().map(|&(name, mark)| dir(name, mark)).collect();
        let bytes = [written(29, 0, fields, &dirs), vec![0; 5]].concat();
        let mut decoder = FlistDecoder::new(&dialect(29, 0), fields).unwrap();
        let (list, _) = read_list(&mut decoder, &mut &bytes[..]).unwrap();
        list.iter().map(|entry| entry.dir_mark).collect::<Vec<_>>()
    };
    assert_eq!(marks(true, false), names.map(|(_, mark)| mark));
    assert_eq!(marks(true, true), [NoContent, Top, Content, NoContent, NoContent, Top]);
    assert_eq!(marks(false, false), [NoContent, Top, NoContent, NoContent, NoContent, Top]);
}

#[test]
fn a_slash_in_front_of_a_name_counts_for_the_order_alone() {
    let fields = FlistFields { relative: true, ..NONE };
    let names: [&[u8]; 5] = [b"/a//b/./c", b"dir", b"/.", b"-dir", b"."];
    let dirs = names.map(|name| FileEntry { name, mode: 0o40755, ..FileEntry::default() });
    let bytes = [written(32, 0x1fe, fields, &dirs), vec![0; 2]].concat();
    let mut decoder = FlistDecoder::new(&dialect(32, 0x1fe), fields).unwrap();
    let (mut list, _) = read_list(&mut decoder, &mut &bytes[..]).unwrap();
    list.sort_by(|a, b| a.compare(b));
    let sorted = list.iter().map(|entry| (entry.name.as_slice(), entry.rooted));
    let expected: [(&[u8], bool); 5] =
        [(b".", false), (b"-dir", false), (b".", true), (b"a/b/c", true), (b"dir", false)];
    assert!(sorted.eq(expected), "{list:?}");
}
