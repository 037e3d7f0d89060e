//! Does a reader get back what was written, at every protocol and with every set of fields?

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use md5::{Digest, Md5};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{dialect, encoder, even_ids_have_names, read_list};
use crate::acl::{Acl, AclName};
use crate::flist::{DirMark, FileEntry, FlistDecoder, FlistFields, IdKind};
use crate::flist::{LinkMark, ReceivedEntry};
use crate::int::read_u8;
use crate::testing::Trickle;
use crate::xattr::{ReceivedXattr, Value, XattrCollector};

/// Protocols and compat flags: with and without incremental recursion (0x01), safe ends (0x08),
/// varint flags (0x80) and names of id 0 (0x100).
const DIALECTS: [(u32, u32); 11] = [
    (29, 0),
    (30, 0),
    (30, 0x01),
    (30, 0x0e),
    (30, 0x0f),
    (30, 0x81),
    (31, 0x3e),
    (31, 0x3f),
    (32, 0x180),
    (32, 0x1fe),
    (32, 0x1ff),
];

const TYPES: [u32; 8] = [0o10, 0o10, 0o04, 0o12, 0o02, 0o06, 0o01, 0o14];

/// What a source may have.
#[derive(Clone, Debug)]
struct File {
    name: Vec<u8>,
    mode: u32,
    size: u64,
    mtime: i64,
    mtime_nsec: u32,
    atime: i64,
    uid: u32,
    gid: u32,
    rdev: (u32, u32),
    link_target: Vec<u8>,
    hard_link: Option<(u64, u64)>,
    dir_mark: DirMark,
    acl: Acl,
    default_acl: Option<Acl>,
    xattrs: Vec<(Vec<u8>, Vec<u8>)>,
}

impl File {
    fn is(&self, types: &[u32]) -> bool {
        types.contains(&(self.mode >> 12))
    }

    fn checksum(&self, len: usize) -> Vec<u8> {
        Md5::digest(self.size.to_le_bytes())[..len].to_vec()
    }
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(b'a'), Just(b'b'), Just(b'/'), Just(0xff), Just(b'\n')];
    prop_oneof![
        8 => vec(byte.clone(), 1..12),
        1 => vec(byte, 200..600).prop_map(|mut name| { name[..190].fill(b'p'); name }),
        1 => Just(vec![b'p'; 300]),
    ]
    .prop_map(|mut name| {
        let is_empty = name.iter().all(|&byte| byte == b'/');
        name.extend(is_empty.then_some(b'a'));
        name
    })
}

fn id() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0u32..5, 1 => any::<u32>()]
}

fn time() -> impl Strategy<Value = i64> {
    prop_oneof![
        Just(0),
        1_700_000_000i64..1_700_000_003,
        -3i64..3,
        Just(5_000_000_000),
        any::<i64>()
    ]
}

fn acl() -> impl Strategy<Value = Acl> {
    let name = (any::<bool>(), 0u32..6, 0u8..8).prop_map(|(is_user, id, perm)| AclName {
        kind: if is_user { IdKind::User } else { IdKind::Group },
        id,
        perm,
    });
    let part = || proptest::option::of(0u8..8);
    (part(), part(), part(), part(), vec(name, 0..4)).prop_map(
        |(user_obj, group_obj, mask, other, mut names)| {
            names.sort_unstable();
            Acl { user_obj, group_obj, mask, other, names }
        },
    )
}

fn file() -> impl Strategy<Value = File> {
    let mode = (0..TYPES.len(), prop_oneof![Just(0o644), 0u32..0o10000])
        .prop_map(|(kind, bits)| TYPES[kind] << 12 | bits);
    let nsec = prop_oneof![Just(0), 1u32..1_000_000_000];
    let size = prop_oneof![0u64..100, 0..u64::MAX / 2];
    let rdev = (prop_oneof![Just(8), any::<u32>()], prop_oneof![0u32..300, any::<u32>()]);
    let link = proptest::option::weighted(0.4, 1u64..5);
    let mark = prop_oneof![
        Just(DirMark::Top),
        Just(DirMark::Content),
        Just(DirMark::NoContent),
        Just(DirMark::Implied)
    ];
    let xattr = ("user\\.[a-c]", prop_oneof![vec(any::<u8>(), 0..4), vec(0u8..2, 31..35)]);
    let xattrs = proptest::collection::btree_map(xattr.0, xattr.1, 0..3);
    (
        (name(), mode, size, time(), nsec, time(), id(), id()),
        (rdev, name(), link, mark, acl(), proptest::option::of(acl()), xattrs),
    )
        .prop_map(|(first, second)| {
            let (name, mode, size, mtime, mtime_nsec, atime, uid, gid) = first;
            let (rdev, link_target, link, dir_mark, acl, default_acl, xattrs) = second;
            let is_dir = mode >> 12 == 0o4;
            File {
                name,
                mode,
                size,
                mtime,
                mtime_nsec,
                atime,
                uid,
                gid,
                rdev,
                link_target,
                // The names of one file have one type.
                hard_link: link.filter(|_| !is_dir).map(|ino| (u64::from(mode >> 12), ino)),
                dir_mark,
                acl,
                default_acl,
                xattrs: xattrs
                    .into_iter()
                    .map(|(name, value)| (name.into_bytes(), value))
                    .collect(),
            }
        })
}

fn fields() -> impl Strategy<Value = FlistFields> {
    (any::<[bool; 10]>(), proptest::option::of(0usize..17)).prop_map(|(on, checksum_len)| {
        FlistFields {
            charset: None,
            link_charset: None,
            links: on[0],
            devices: on[1],
            specials: on[2],
            owner: on[3],
            group: on[4],
            hard_links: on[5],
            checksum_len,
            atimes: on[6],
            acls: on[7],
            xattrs: on[8],
            numeric_ids: on[9],
            recursive: true,
            relative: false,
            missing_args: false,
        }
    })
}

/// Makes an ACL agree with a mode, as it does on Linux.
fn in_line_with(acl: &Acl, mode: u32) -> Acl {
    let bits = |shift: u32| Some((mode >> shift & 7) as u8);
    let has_mask = acl.mask.is_some() || !acl.names.is_empty();
    let mask = bits(3).filter(|_| has_mask);
    Acl {
        user_obj: bits(6),
        group_obj: if mask.is_none() { bits(3) } else { acl.group_obj.or(bits(3)) },
        mask,
        other: bits(0),
        names: acl.names.clone(),
    }
}

/// The files of a list as a receiver should see them.
struct Model {
    protocol: u32,
    fields: FlistFields,
    numbers: HashMap<(u64, u64), i32>,
    /// Below protocol 30 nothing but the first top tells that contents are listed.
    had_top: bool,
}

impl Model {
    fn list(&mut self, files: &mut [File], ndx_start: i32) -> Vec<ReceivedEntry> {
        let mut list: Vec<ReceivedEntry> = Vec::new();
        for (file, ndx) in files.iter_mut().zip(ndx_start..) {
            let link = file.hard_link.filter(|_| self.fields.hard_links);
            let number = link.filter(|_| self.protocol >= 30);
            let first = number.map(|inode| *self.numbers.entry(inode).or_insert(ndx));
            let seen = match first {
                Some(first) if (ndx_start..ndx).contains(&first) => {
                    list[(first - ndx_start) as usize].clone()
                }
                _ => self.full(file),
            };
            file.acl = in_line_with(&file.acl, seen.mode);
            let link = match (first, link) {
                (Some(first), _) if first == ndx => LinkMark::First,
                (Some(first), _) => LinkMark::Later { first },
                (None, Some((dev, ino))) => LinkMark::Inode { dev, ino },
                (None, None) => LinkMark::None,
            };
            let (name, rooted) = cleaned(&file.name);
            let seen = ReceivedEntry { ndx, name, rooted, link, ..seen };
            list.push(self.with_acls(file, seen));
        }
        list
    }

    fn full(&mut self, file: &File) -> ReceivedEntry {
        let FlistFields { owner, group, atimes, .. } = self.fields;
        let is_dir = file.is(&[0o04]);
        let is_device = file.is(&[0o02, 0o06]);
        let checksum_len = self.fields.checksum_len.filter(|_| file.is(&[0o10]));
        ReceivedEntry {
            mode: file.mode,
            size: file.size,
            mtime: file.mtime,
            mtime_nsec: if self.protocol < 31 { 0 } else { file.mtime_nsec },
            atime: if atimes && !is_dir { file.atime } else { 0 },
            uid: if owner { file.uid } else { 0 },
            gid: if group { file.gid } else { 0 },
            rdev: (self.fields.devices && is_device).then_some(file.rdev),
            link_target: (self.fields.links && file.is(&[0o12])).then(|| file.link_target.clone()),
            checksum: checksum_len.map(|len| file.checksum(len)),
            dir_mark: if is_dir { self.mark(file.dir_mark) } else { DirMark::default() },
            ..ReceivedEntry::default()
        }
    }

    fn mark(&mut self, mark: DirMark) -> DirMark {
        self.had_top |= mark == DirMark::Top;
        match mark {
            _ if self.protocol >= 30 => mark,
            DirMark::Top => mark,
            _ if self.had_top => DirMark::Content,
            _ => DirMark::NoContent,
        }
    }

    fn with_acls(&self, file: &File, seen: ReceivedEntry) -> ReceivedEntry {
        let has_acl = self.fields.acls && seen.mode >> 12 != 0o12;
        let default_acl = || Arc::new(file.default_acl.clone().unwrap_or_default());
        ReceivedEntry {
            access_acl: has_acl.then(|| Arc::new(file.acl.clone())),
            default_acl: (has_acl && seen.is_dir()).then(default_acl),
            ..seen
        }
    }
}

fn cleaned(name: &[u8]) -> (Vec<u8>, bool) {
    let parts = name.split(|&byte| byte == b'/').filter(|part| !part.is_empty());
    (parts.collect::<Vec<_>>().join(&b'/'), name.starts_with(b"/"))
}

/// Name, length, and value or digest.
type Xattr = (Vec<u8>, usize, Vec<u8>);

/// Takes the xattrs out of an entry, and puts into its ACL what the mode says.
fn plain(entry: &mut ReceivedEntry) -> Option<Vec<Xattr>> {
    let acl = entry.access_acl.take();
    entry.access_acl = acl.map(|acl| Arc::new(acl.completed(entry.mode)));
    let set = entry.xattrs.take()?;
    let xattr = |item: ReceivedXattr<'_>| match item.value {
        Value::Whole(value) => (item.name.to_vec(), value.len(), value.to_vec()),
        Value::Long { len, digest } => (item.name.to_vec(), len, digest.to_vec()),
    };
    Some(set.iter().map(xattr).collect())
}

fn xattr((name, value): &(Vec<u8>, Vec<u8>)) -> Xattr {
    let body = match value.len() {
        0..=32 => value.clone(),
        _ => Md5::digest(value).to_vec(),
    };
    (name.clone(), value.len(), body)
}

fn put(
    encoder: &mut crate::flist::FlistEncoder,
    out: &mut Vec<u8>,
    file: &File,
    len: Option<usize>,
) {
    let checksum = len.map(|len| file.checksum(len));
    let xattrs = XattrCollector::default().collect(&mut file.xattrs.clone());
    let entry = FileEntry {
        name: &file.name,
        mode: file.mode,
        size: file.size,
        mtime: file.mtime,
        mtime_nsec: file.mtime_nsec,
        atime: file.atime,
        uid: file.uid,
        gid: file.gid,
        rdev: Some(file.rdev),
        link_target: Some(&file.link_target),
        hard_link: file.hard_link,
        checksum: checksum.as_deref(),
        dir_mark: file.dir_mark,
        access_acl: Some(&file.acl),
        default_acl: file.default_acl.as_ref(),
        xattrs: Some(&xattrs).filter(|_| !file.xattrs.is_empty()),
    };
    encoder.entry(out, &entry);
}

/// The ids that a receiver should know names of.
fn named_ids(files: &[Vec<ReceivedEntry>], fields: FlistFields) -> BTreeSet<(IdKind, u32)> {
    let mut ids = BTreeSet::new();
    for entry in files.iter().flatten() {
        if fields.owner {
            ids.insert((IdKind::User, entry.uid));
        }
        if fields.group {
            ids.insert((IdKind::Group, entry.gid));
        }
        for acl in [&entry.access_acl, &entry.default_acl].into_iter().flatten() {
            ids.extend(acl.names.iter().map(|name| (name.kind, name.id)));
        }
    }
    ids.into_iter().filter(|(_, id)| id % 2 == 0).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_reader_gets_back_every_entry(
        (protocol, compat) in proptest::sample::select(&DIALECTS[..]),
        mut fields in fields(),
        mut lists in vec(vec(file(), 0..12), 1..4),
        io_error in 0i32..4,
        step in 1usize..50,
    ) {
        let dialect = dialect(protocol, compat);
        fields.acls &= protocol >= 30;
        fields.xattrs &= protocol >= 30;
        fields.relative = protocol >= 30;
        if !dialect.inc_recurse() {
            lists.truncate(1);
        }
        let mut model = Model { protocol, fields, numbers: HashMap::new(), had_top: false };
        let mut encoder = encoder(&dialect, fields, even_ids_have_names());
        let mut decoder = FlistDecoder::new(&dialect, fields).unwrap();
        let mut seen = Vec::new();
        let mut ndx_start = i32::from(dialect.inc_recurse());
        for files in &mut lists {
            if protocol == 29 {
                files.iter_mut().for_each(|file| file.mtime = i64::from(file.mtime as u32));
                files.iter_mut().for_each(|file| file.name = cleaned(&file.name).0);
            }
            let expected = model.list(files, ndx_start);
            let mut out = Vec::new();
            encoder.begin_list(ndx_start);
            files.iter().for_each(|file| put(&mut encoder, &mut out, file, fields.checksum_len));
            encoder.end_list(&mut out, io_error);

            let mut input = Trickle::new(&out, step);
            decoder.begin_list(ndx_start);
            let (mut read, end) = read_list(&mut decoder, &mut input).unwrap();
            let xattrs: Vec<_> = read.iter_mut().map(plain).collect();
            prop_assert_eq!(&read, &expected);
            for (xattrs, file) in xattrs.iter().zip(files.iter()) {
                let expected = fields.xattrs.then(|| file.xattrs.iter().map(xattr).collect());
                prop_assert_eq!(xattrs, &expected);
            }
            prop_assert!(read_u8(&mut input).is_err(), "something is left");
            let reported = if encoder.carries_io_error() { io_error } else { 0 };
            prop_assert_eq!(end, reported);
            ndx_start += files.len() as i32 + 1;
            prop_assert_eq!(encoder.next_ndx() + 1, ndx_start);
            seen.push(read);
        }
        let mut named = named_ids(&seen, fields);
        if fields.numeric_ids {
            named.clear();
        } else if !dialect.inc_recurse() {
            let users = (fields.owner || fields.acls, IdKind::User);
            for (has_list, kind) in [users, (fields.group || fields.acls, IdKind::Group)] {
                named.remove(&(kind, 0));
                if has_list && dialect.id0_names() {
                    named.insert((kind, 0));
                }
            }
        }
        let names = decoder.take_names();
        let known: BTreeSet<_> = names.iter().map(|(kind, id, _)| (*kind, *id)).collect();
        prop_assert_eq!(names.len(), known.len(), "an id is named twice");
        prop_assert_eq!(known, named);
        for (kind, id, name) in names {
            prop_assert_eq!(name, format!("{kind:?}{id}").into_bytes());
        }
    }
}
