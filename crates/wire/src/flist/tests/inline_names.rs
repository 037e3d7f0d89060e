//! Do owners and ACLs share the memory of which ids were named? A recorded push says so.

use super::{dialect, encoder, read_list};
use crate::acl::{Acl, AclName};
use crate::flist::{DirMark, FileEntry, FlistDecoder, FlistFields, IdKind};
use crate::ndx::{NDX_FLIST_EOF, NdxEncoder};
use crate::testing::hex;

/// The list stream of `rsync -aAX t/ HOST:b/`, rsync 3.5.0 on both sides.
const RECORDED: &str = "
    8c01012e0000106500f153ed4100000004726f6f740004726f6f740000000000008098026636000100bc810000001204
    03001a051f0567616d65730519037474790180ba01013100010000120403011f066461656d6f6ec19f86160219036269
    6e0180b8010133000100b4810000000604060180b8010132000100bc81000000120404011e0317037379730218031d03
    7379730180a0010135000100a48100000505010180800164000010ed410000000001001f0705070001061f036d616e01
    8080026634000100a4810000010301010000
    ff650000 fffe80020000";

const FIELDS: FlistFields = FlistFields {
    charset: None,
    link_charset: None,
    links: true,
    devices: true,
    specials: true,
    owner: true,
    group: true,
    acls: true,
    xattrs: true,
    hard_links: false,
    checksum_len: None,
    atimes: false,
    numeric_ids: false,
    recursive: true,
    relative: false,
    missing_args: false,
};

#[test]
fn an_id_is_named_once_whether_as_owner_or_in_an_acl() {
    let users = [(0, "root"), (1, "daemon"), (3, "sys"), (5, "games"), (6, "man")];
    let groups = [(0, "root"), (2, "bin"), (3, "sys"), (5, "tty")];
    let names = move |kind: IdKind, id: u32| {
        let names = if kind == IdKind::User { &users[..] } else { &groups[..] };
        let known = names.iter().find(|(known, _)| *known == id);
        known.map(|(_, name)| name.as_bytes().to_vec())
    };
    let dialect = dialect(32, 0x1ff);
    let mut encoder = encoder(&dialect, FIELDS, Box::new(names));
    let mut out = Vec::new();
    encoder.begin_list(1);

    let file = FileEntry { mode: 0o100664, size: 1, mtime: 1_700_000_000, ..FileEntry::default() };
    let dir = FileEntry { mode: 0o40755, size: 4096, ..file };
    let default = Acl {
        user_obj: Some(7),
        group_obj: Some(5),
        mask: Some(7),
        other: Some(0),
        names: vec![user(6, 7)],
    };
    let f6 = named(vec![user(0, 6), user(5, 7), group(5, 6)]);
    let f1 = named(vec![user(1, 7), user(99_999, 5), group(2, 6)]);
    let f2 = named(vec![user(1, 7), user(3, 5), group(2, 6), group(3, 7)]);
    let masked = Acl { mask: Some(6), ..named(Vec::new()) };
    let with_acl = |name, mode, acl| FileEntry { name, mode, access_acl: Some(acl), ..file };
    let owned = |name, uid, gid| FileEntry { name, mode: 0o100644, uid, gid, ..file };
    let entries = [
        FileEntry { name: b".", dir_mark: DirMark::Top, ..dir },
        with_acl(b"f6", 0o100674, &f6),
        with_acl(b"f1", 0o100674, &f1),
        with_acl(b"f3", 0o100664, &masked),
        with_acl(b"f2", 0o100674, &f2),
        owned(b"f5", 5, 5),
        FileEntry { name: b"d", default_acl: Some(&default), ..dir },
        owned(b"f4", 1, 3),
    ];
    for entry in &entries {
        encoder.entry(&mut out, entry);
    }
    encoder.end_list(&mut out, 0);

    let mut ndx = NdxEncoder::new(32);
    ndx.put(&mut out, -102);
    encoder.begin_list(10);
    encoder.end_list(&mut out, 0);
    ndx.put(&mut out, NDX_FLIST_EOF);
    assert_eq!(out, hex(RECORDED));
}

#[test]
fn a_receiver_gets_the_names_of_owners_and_acls() {
    let mut decoder = FlistDecoder::new(&dialect(32, 0x1ff), FIELDS).unwrap();
    decoder.begin_list(1);
    let (entries, _) = read_list(&mut decoder, &mut &hex(RECORDED)[..]).unwrap();
    let access = entries[1].access_acl.as_ref().map(|acl| acl.names.clone());
    assert_eq!(access, Some(vec![user(0, 6), user(5, 7), group(5, 6)]));
    let default = entries[6].default_acl.as_ref().map(|acl| acl.names.clone());
    assert_eq!(default, Some(vec![user(6, 7)]));
    let names = decoder.take_names();
    let of = |wanted| names.iter().filter(move |name| name.0 == wanted).map(|name| name.1);
    assert!(of(IdKind::User).eq([0, 5, 1, 3, 6]), "{names:?}");
    assert!(of(IdKind::Group).eq([0, 5, 2, 3]), "{names:?}");
}

fn named(names: Vec<AclName>) -> Acl {
    Acl { user_obj: Some(6), group_obj: Some(4), mask: Some(7), other: Some(4), names }
}

fn user(id: u32, perm: u8) -> AclName {
    let kind = IdKind::User;
    AclName { kind, id, perm }
}

fn group(id: u32, perm: u8) -> AclName {
    let kind = IdKind::Group;
    AclName { kind, id, perm }
}
