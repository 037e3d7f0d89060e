//! Are the lists of real rsyncs written as they were seen, and understood?

use std::collections::HashMap;

use serde_json::Value;

use super::{dialect, encoder, read_list};
use crate::acl::{Acl, AclName};
use crate::dialect::Dialect;
use crate::flist::order::compare;
use crate::flist::{DirMark, FileEntry, FlistDecoder, FlistFields, IdKind, NameLookup};
use crate::flist::{LinkMark, ReceivedEntry};
use crate::ndx::{NDX_FLIST_EOF, NDX_FLIST_OFFSET, NdxDecoder, NdxEncoder};
use crate::testing::hex;
use crate::xattr::{XattrCollector, XattrSet};

/// `-a`, and nothing else.
const ARCHIVE: FlistFields = FlistFields {
    charset: None,
    link_charset: None,
    links: true,
    devices: true,
    specials: true,
    owner: true,
    group: true,
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
/// `-aH`.
const HARD_LINKS: FlistFields = FlistFields { hard_links: true, ..ARCHIVE };
/// `-aAX`.
const ATTRIBUTES: FlistFields = FlistFields { acls: true, xattrs: true, ..ARCHIVE };
/// `-rltUc`, with MD5.
const CHECKSUMS: FlistFields =
    FlistFields { links: true, checksum_len: Some(16), atimes: true, ..NO_FIELDS };
/// `-rLt`.
const NO_FIELDS: FlistFields = FlistFields {
    links: false,
    devices: false,
    specials: false,
    owner: false,
    group: false,
    ..ARCHIVE
};

/// The recorded file lists. The one of protocol 28 is older than what this crate speaks, but its
/// bytes are those of protocol 29 (another order apart), so it is written as such.
const RECORDINGS: [(&str, FlistFields); 13] = [
    ("01-p28-pull-noinc", HARD_LINKS),
    ("02-p29-push-noinc", HARD_LINKS),
    ("03-p30-pull-noinc-309", HARD_LINKS),
    ("04-p30-pull-inc-309", HARD_LINKS),
    ("05-p31-pull-inc-312", HARD_LINKS),
    ("06-p32-pull-inc", HARD_LINKS),
    ("07-p32-push-noinc", HARD_LINKS),
    ("08-p32-pull-checksum-atimes", CHECKSUMS),
    ("09-p32-pull-acl-xattr", ATTRIBUTES),
    ("10-p31-pull-relative-inc", ARCHIVE),
    ("11-p31-pull-ioerror-2byte", NO_FIELDS),
    ("12-p32-pull-ioerror-varint", NO_FIELDS),
    ("13-p29-pull-ioerror", NO_FIELDS),
];

#[test]
fn every_recorded_list_is_reproduced_byte_for_byte() {
    for (name, fields) in RECORDINGS {
        let recording = load(name);
        let expected = hex(text(&recording["payload_hex"]));
        let written = write(&recording, fields);
        let first_difference = written.iter().zip(&expected).position(|(a, b)| a != b);
        assert!(
            written == expected,
            "{name}: {} bytes for {}, different from {first_difference:?} on",
            written.len(),
            expected.len(),
        );
    }
}

#[test]
fn recorded_entries_sort_as_both_sides_sorted_them() {
    for (name, _) in RECORDINGS.into_iter().skip(1) {
        for list in array(&load(name)["lists"]) {
            let mut entries: Vec<(&[u8], bool)> = array(&list["entries"])
                .iter()
                .map(|entry| (text(&entry["name"]).as_bytes(), mode(entry) >> 12 == 0o4))
                .collect();
            entries.sort_by(|a, b| compare(a.0, a.1, b.0, b.1));
            let sorted: Vec<&[u8]> = entries.into_iter().map(|(name, _)| name).collect();
            let expected = array(&list["sorted_names"]);
            let expected: Vec<&[u8]> = expected.iter().map(|name| text(name).as_bytes()).collect();
            assert_eq!(sorted, expected, "{name}");
        }
    }
}

#[test]
fn every_recorded_list_is_understood() {
    for (name, fields) in RECORDINGS {
        read(name, &load(name), fields);
    }
}

fn read(name: &str, recording: &Value, fields: FlistFields) {
    let dialect = dialect_of(recording);
    let payload = hex(text(&recording["payload_hex"]));
    let mut input = payload.as_slice();
    let mut ndx = NdxDecoder::new(dialect.protocol);
    let mut decoder = FlistDecoder::new(&dialect, fields).unwrap();
    let mut collector = XattrCollector::default();
    let mut sets = Sets::default();
    for list in array(&recording["lists"]) {
        if let Some(directory) = list["dir_ndx"].as_i64() {
            assert_eq!(ndx.read(&mut input).unwrap(), NDX_FLIST_OFFSET - directory as i32);
        }
        let ndx_start = number(&list["ndx_start"]) as i32;
        decoder.begin_list(ndx_start);
        let (entries, io_error) = read_list(&mut decoder, &mut input).unwrap();
        assert_eq!(io_error, io_error_of(list), "{name}");
        assert_eq!(entries.len(), array(&list["entries"]).len(), "{name}");
        let recorded = array(&list["entries"]).iter().zip(ndx_start..);
        for (entry, (recorded, ndx)) in entries.iter().zip(recorded) {
            assert_eq!(entry.ndx, ndx);
            with_entry(recorded, &mut sets, &mut collector, |sent| {
                is_meant(entry, sent, dialect.protocol);
            });
            let set = recorded["xattr"]["ref"]
                .as_u64()
                .map_or(sets.xattrs.len().wrapping_sub(1), |n| n as usize);
            let items: Vec<_> = entry.xattrs.iter().flat_map(|set| set.iter()).collect();
            let sent = sets.values.get(set).map_or(&[][..], Vec::as_slice);
            assert_eq!(items.len(), sent.len(), "{name}");
            for (item, (name, value)) in items.iter().zip(sent) {
                assert!(item.name == name && item.value.is(value));
            }
        }
    }
    if dialect.inc_recurse() {
        assert_eq!(ndx.read(&mut input).unwrap(), NDX_FLIST_EOF);
    }
    assert!(input.is_empty(), "{name}");
    let names = decoder.take_names();
    let names: HashMap<_, _> =
        names.into_iter().map(|(kind, id, name)| ((kind, id), name)).collect();
    assert_eq!(names, known_names(recording), "{name}");
}

/// Holds what was read against the file as the sender had it.
fn is_meant(entry: &ReceivedEntry, sent: &FileEntry<'_>, protocol: u32) {
    let is_device = matches!(sent.mode >> 12, 0o02 | 0o06);
    let link = match sent.hard_link {
        None => LinkMark::None,
        Some((dev, ino)) if protocol < 30 => LinkMark::Inode { dev, ino },
        Some((_, first)) if first == entry.ndx as u64 => LinkMark::First,
        Some((_, first)) => LinkMark::Later { first: first as i32 },
    };
    let acl = entry.access_acl.as_ref().map(|acl| acl.completed(entry.mode));
    // The recorded ACL may be that of an earlier file of another mode.
    assert_eq!(acl, sent.access_acl.map(|acl| acl.completed(sent.mode)));
    let expected = ReceivedEntry {
        is_unsayable: false,
        ndx: entry.ndx,
        name: sent.name.to_vec(),
        rooted: false,
        mode: sent.mode,
        size: sent.size,
        mtime: sent.mtime,
        mtime_nsec: sent.mtime_nsec,
        atime: sent.atime,
        uid: sent.uid,
        gid: sent.gid,
        rdev: sent.rdev.filter(|_| is_device),
        link_target: sent.link_target.map(<[u8]>::to_vec),
        link,
        checksum: sent.checksum.map(<[u8]>::to_vec),
        dir_mark: if entry.is_dir() { sent.dir_mark } else { DirMark::default() },
        access_acl: entry.access_acl.clone(),
        default_acl: sent.default_acl.cloned().map(Into::into),
        xattrs: entry.xattrs.clone(),
    };
    assert_eq!(*entry, expected);
}

fn dialect_of(recording: &Value) -> Dialect {
    let protocol = (number(&recording["protocol"]) as u32).max(29);
    dialect(protocol, recording["compat_flags"].as_u64().unwrap_or(0) as u32)
}

fn io_error_of(list: &Value) -> i32 {
    let io_error = list["end"]["io_error"].as_i64().or(list["io_error"].as_i64());
    io_error.unwrap_or(0) as i32
}

fn write(recording: &Value, fields: FlistFields) -> Vec<u8> {
    let dialect = dialect_of(recording);
    let mut encoder = encoder(&dialect, fields, names(recording));
    let mut ndx = NdxEncoder::new(dialect.protocol);
    let mut collector = XattrCollector::default();
    let mut sets = Sets::default();
    let mut out = Vec::new();
    for list in array(&recording["lists"]) {
        if let Some(directory) = list["dir_ndx"].as_i64() {
            ndx.put(&mut out, NDX_FLIST_OFFSET - directory as i32);
        }
        encoder.begin_list(number(&list["ndx_start"]) as i32);
        for entry in array(&list["entries"]) {
            with_entry(entry, &mut sets, &mut collector, |entry| encoder.entry(&mut out, entry));
        }
        encoder.end_list(&mut out, io_error_of(list));
    }
    if dialect.inc_recurse() {
        ndx.put(&mut out, NDX_FLIST_EOF);
    }
    out
}

fn with_entry(
    entry: &Value,
    sets: &mut Sets,
    collector: &mut XattrCollector,
    give: impl FnOnce(&FileEntry<'_>),
) {
    let checksum = entry["sum"].as_str().map(hex);
    let access_acl = sets.acl(&entry["acl"], "access", mode(entry));
    let default_acl = sets.acl(&entry["def_acl"], "default", 0);
    let xattrs = sets.xattrs(&entry["xattr"], collector);
    let wire = FileEntry {
        name: text(&entry["name"]).as_bytes(),
        mode: mode(entry),
        size: number(&entry["size"]) as u64,
        mtime: number(&entry["mtime"]),
        mtime_nsec: entry["nsec"].as_u64().unwrap_or(0) as u32,
        atime: entry["atime"].as_i64().unwrap_or(0),
        uid: entry["uid"].as_u64().unwrap_or(0) as u32,
        gid: entry["gid"].as_u64().unwrap_or(0) as u32,
        rdev: rdev(entry),
        link_target: entry["target"].as_str().map(str::as_bytes),
        hard_link: hard_link(entry),
        checksum: checksum.as_deref(),
        dir_mark: dir_mark(entry),
        access_acl: access_acl.as_ref(),
        default_acl: default_acl.as_ref(),
        xattrs: xattrs.as_ref(),
    };
    give(&wire);
}

/// The sets of earlier entries, by their numbers on the wire.
#[derive(Default)]
struct Sets {
    access: Vec<Acl>,
    default: Vec<Acl>,
    xattrs: Vec<XattrSet>,
    /// Names and values of `xattrs`.
    values: Vec<Vec<(Vec<u8>, Vec<u8>)>>,
}

impl Sets {
    fn acl(&mut self, recorded: &Value, kind: &str, mode: u32) -> Option<Acl> {
        let table = match kind {
            "access" => &mut self.access,
            _ => &mut self.default,
        };
        if let Some(number) = recorded["ref"].as_u64() {
            return Some(table[number as usize].clone());
        }
        recorded.is_object().then(|| {
            let acl = acl(&recorded["acl"], kind == "access", mode);
            table.push(acl.clone());
            acl
        })
    }

    fn xattrs(&mut self, recorded: &Value, collector: &mut XattrCollector) -> Option<XattrSet> {
        if let Some(number) = recorded["ref"].as_u64() {
            return Some(self.xattrs[number as usize].clone());
        }
        recorded.is_object().then(|| {
            let items = array(&recorded["items"]).iter();
            let mut pairs: Vec<_> =
                items.map(|item| (text(&item["name"]).into(), value(item))).collect();
            let set = collector.collect(&mut pairs);
            self.xattrs.push(set.clone());
            self.values.push(pairs);
            set
        })
    }
}

/// Fills in what the sender left out, as the file itself had it.
fn acl(recorded: &Value, is_access: bool, mode: u32) -> Acl {
    let perm = |part: &str| recorded[part].as_u64().map(|perm| perm as u8);
    let bits = |shift: u32| is_access.then_some((mode >> shift & 7) as u8);
    let names: Vec<AclName> =
        recorded["names"].as_array().into_iter().flatten().map(acl_name).collect();
    let mask = perm("mask").or(bits(3).filter(|_| !names.is_empty()));
    Acl {
        user_obj: perm("user_obj").or(bits(6)),
        group_obj: perm("group_obj").or(bits(3)),
        mask,
        other: perm("other").or(bits(0)),
        names,
    }
}

fn acl_name(recorded: &Value) -> AclName {
    AclName {
        kind: if recorded["kind"] == "user" { IdKind::User } else { IdKind::Group },
        id: number(&recorded["id"]) as u32,
        perm: number(&recorded["perm"]) as u8,
    }
}

/// The values behind the recorded digests were all the same.
fn value(item: &Value) -> Vec<u8> {
    match item["value"].as_str() {
        Some(digits) => hex(digits),
        None => vec![b'B'; number(&item["len"]) as usize],
    }
}

fn names(recording: &Value) -> NameLookup {
    let names = known_names(recording);
    Box::new(move |kind, id| names.get(&(kind, id)).cloned())
}

fn known_names(recording: &Value) -> HashMap<(IdKind, u32), Vec<u8>> {
    let mut names = HashMap::new();
    for list in array(&recording["lists"]) {
        for (key, kind) in [("uid_list", IdKind::User), ("gid_list", IdKind::Group)] {
            for pair in list[key].as_array().into_iter().flatten() {
                names.insert((kind, number(&pair[0]) as u32), text(&pair[1]).into());
            }
        }
        for entry in array(&list["entries"]) {
            for (key, id, kind) in [("user", "uid", IdKind::User), ("group", "gid", IdKind::Group)]
            {
                if let Some(name) = entry[key].as_str() {
                    names.insert((kind, number(&entry[id]) as u32), name.into());
                }
            }
        }
    }
    names
}

fn rdev(entry: &Value) -> Option<(u32, u32)> {
    let pair = entry["rdev"].as_array()?;
    Some((number(&pair[0]) as u32, number(&pair[1]) as u32))
}

/// Device (recorded as sent, plus one) and inode, or the number of the first name instead.
fn hard_link(entry: &Value) -> Option<(u64, u64)> {
    if let Some(inode) = entry["hl_ino"].as_u64() {
        return Some((number(&entry["hl_dev"]) as u64 - 1, inode));
    }
    let first = entry["hlink"].as_u64().or(entry["hlink_first"].as_u64())?;
    Some((1, first))
}

fn dir_mark(entry: &Value) -> DirMark {
    let flags = u32::from_str_radix(&text(&entry["flags"])[2..], 16).unwrap();
    match (flags & 1, flags >> 8 & 1) {
        (0, 0) => DirMark::Content,
        (1, 0) => DirMark::Top,
        (0, _) => DirMark::NoContent,
        _ => DirMark::Implied,
    }
}

fn mode(entry: &Value) -> u32 {
    u32::from_str_radix(text(&entry["mode"]), 8).unwrap()
}

fn load(name: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors");
    let content = std::fs::read(format!("{folder}/{name}.json")).unwrap();
    serde_json::from_slice(&content).unwrap()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap()
}
