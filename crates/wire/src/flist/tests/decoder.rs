//! What does a receiver understand of a file list? Written from docs/protocol/file-list.md
//! and docs/protocol/attributes.md, without a look at the encoder.

use std::collections::HashMap;
use std::io::Read;

use crate::acl::{Acl, AclName};
use crate::dialect::Dialect;
use crate::flist::{DirMark, FlistFields, IdKind};
use crate::int::*;

/// An entry as it was understood.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Decoded {
    pub(super) name: Vec<u8>,
    pub(super) mode: u32,
    pub(super) size: u64,
    pub(super) mtime: i64,
    pub(super) mtime_nsec: u32,
    pub(super) atime: Option<i64>,
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) rdev: Option<(u32, u32)>,
    pub(super) link_target: Option<Vec<u8>>,
    /// The number of the first name, or device and inode below protocol 30.
    pub(super) hard_link: Option<(u64, u64)>,
    pub(super) checksum: Option<Vec<u8>>,
    pub(super) dir_mark: Option<DirMark>,
    pub(super) access_acl: Option<Acl>,
    pub(super) default_acl: Option<Acl>,
    pub(super) xattrs: Option<Vec<Xattr>>,
}

/// Name, length, and value or digest.
pub(super) type Xattr = (Vec<u8>, usize, Vec<u8>);

#[derive(Debug, Default, PartialEq)]
pub(super) struct End {
    pub(super) io_error: i32,
}

pub(super) struct Decoder {
    dialect: Dialect,
    fields: FlistFields,
    list_start: i32,
    list: Vec<Decoded>,
    previous: Decoded,
    major: u32,
    link_dev: u64,
    pub(super) names: HashMap<(IdKind, u32), Vec<u8>>,
    access_acls: Vec<Acl>,
    default_acls: Vec<Acl>,
    xattrs: Vec<Vec<Xattr>>,
}

impl Decoder {
    pub(super) fn new(dialect: &Dialect, fields: FlistFields) -> Self {
        Self {
            dialect: dialect.clone(),
            fields,
            list_start: 0,
            list: Vec::new(),
            previous: Decoded { atime: Some(0), ..Decoded::default() },
            major: 0,
            link_dev: 0,
            names: HashMap::new(),
            access_acls: Vec::new(),
            default_acls: Vec::new(),
            xattrs: Vec::new(),
        }
    }

    /// Reads a whole list.
    pub(super) fn list(&mut self, r: &mut &[u8], ndx_start: i32) -> (Vec<Decoded>, End) {
        self.list_start = ndx_start;
        self.list.clear();
        loop {
            match self.flags(r) {
                Ok(flags) => {
                    let entry = self.entry(r, flags);
                    self.list.push(entry);
                }
                Err(end) => return (std::mem::take(&mut self.list), self.rest(r, end)),
            }
        }
    }

    fn flags(&self, r: &mut &[u8]) -> Result<u32, End> {
        if self.dialect.varint_flags() {
            return match read_varint(r).unwrap() {
                0 => Err(End { io_error: read_varint(r).unwrap() }),
                flags => Ok(flags as u32),
            };
        }
        let low = u32::from(read_u8(r).unwrap());
        if low == 0 {
            return Err(End::default());
        }
        let flags = match low & 4 {
            0 => low,
            _ => low | u32::from(read_u8(r).unwrap()) << 8,
        };
        if flags != 0x1004 {
            return Ok(flags);
        }
        assert!(self.dialect.safe_list());
        let io_error = read_varint(r).unwrap();
        Err(End { io_error })
    }

    fn rest(&mut self, r: &mut &[u8], mut end: End) -> End {
        if !self.dialect.inc_recurse() && !self.fields.numeric_ids {
            let lists = [(self.fields.owner, IdKind::User), (self.fields.group, IdKind::Group)];
            for (is_kept, kind) in lists {
                if is_kept || self.fields.acls {
                    self.id_list(r, kind);
                }
            }
        }
        if self.dialect.protocol < 30 {
            end.io_error = read_i32(r).unwrap();
        }
        end
    }

    fn id_list(&mut self, r: &mut &[u8], kind: IdKind) {
        loop {
            let id = self.int(r) as u32;
            if id != 0 || self.dialect.id0_names() {
                self.id_name(r, kind, id);
            }
            if id == 0 {
                return;
            }
        }
    }

    fn id_name(&mut self, r: &mut &[u8], kind: IdKind, id: u32) {
        let len = read_u8(r).unwrap();
        let name = bytes(r, len.into());
        assert!(self.names.insert((kind, id), name).is_none(), "{id} is named twice");
    }

    fn entry(&mut self, r: &mut &[u8], flags: u32) -> Decoded {
        let new = self.dialect.protocol >= 30;
        let mut entry = self.previous.clone();
        entry.name = self.name(r, flags);
        if new && flags & 0x1200 == 0x0200 {
            let first = read_varint(r).unwrap();
            if first >= self.list_start {
                entry = self.abbreviated(first, entry.name);
                return self.finish(r, entry);
            }
            entry.hard_link = Some((0, first as u64));
        } else if new && flags & 0x0200 != 0 {
            entry.hard_link = Some((0, self.list_start as u64 + self.list.len() as u64));
        } else {
            entry.hard_link = None;
        }
        self.fields(r, flags, &mut entry);
        self.finish(r, entry)
    }

    fn name(&self, r: &mut &[u8], flags: u32) -> Vec<u8> {
        let shared = match flags & 0x20 {
            0 => 0,
            _ => usize::from(read_u8(r).unwrap()),
        };
        let len = match flags & 0x40 {
            0 => usize::from(read_u8(r).unwrap()),
            _ => self.int(r) as usize,
        };
        [self.previous.name[..shared].to_vec(), bytes(r, len)].concat()
    }

    fn abbreviated(&mut self, first: i32, name: Vec<u8>) -> Decoded {
        let first = self.list[(first - self.list_start) as usize].clone();
        if let Some((major, _)) = first.rdev.filter(|_| is(&first, &[0o02, 0o06])) {
            self.major = major;
        }
        Decoded { name, ..first }
    }

    fn fields(&mut self, r: &mut &[u8], flags: u32, entry: &mut Decoded) {
        let protocol = self.dialect.protocol;
        entry.size = read_varlong30(r, protocol, 3).unwrap() as u64;
        if flags & 0x80 == 0 {
            entry.mtime = match protocol {
                29 => read_i32(r).unwrap().into(),
                _ => read_varlong(r, 4).unwrap(),
            };
        }
        entry.mtime_nsec = match protocol >= 31 && flags & 0x2000 != 0 {
            true => read_varint(r).unwrap() as u32,
            false => 0,
        };
        if flags & 0x02 == 0 {
            entry.mode = read_u32(r).unwrap();
        }
        let is_dir = is(entry, &[0o04]);
        if self.fields.atimes && !is_dir && flags & 0x4000 == 0 {
            entry.atime = Some(read_varlong(r, 4).unwrap());
        }
        if self.fields.owner && flags & 0x08 == 0 {
            entry.uid = self.id(r, IdKind::User, flags & 0x0400);
        }
        if self.fields.group && flags & 0x10 == 0 {
            entry.gid = self.id(r, IdKind::Group, flags & 0x0800);
        }
        entry.rdev = self.rdev(r, flags, entry);
        entry.link_target = (self.fields.links && is(entry, &[0o12])).then(|| {
            let len = self.int(r) as usize;
            bytes(r, len)
        });
        if protocol < 30 && flags & 0x0200 != 0 {
            entry.hard_link = Some(self.inode(r, flags));
        }
        entry.checksum = match self.fields.checksum_len {
            Some(len) if is(entry, &[0o10]) => Some(bytes(r, len)),
            _ => None,
        };
        entry.dir_mark = is_dir.then(|| mark(flags, protocol));
    }

    fn id(&mut self, r: &mut &[u8], kind: IdKind, name_follows: u32) -> u32 {
        let id = self.int(r) as u32;
        if self.dialect.protocol >= 30 && name_follows != 0 {
            self.id_name(r, kind, id);
        }
        id
    }

    fn rdev(&mut self, r: &mut &[u8], flags: u32, entry: &Decoded) -> Option<(u32, u32)> {
        let protocol = self.dialect.protocol;
        let is_device = self.fields.devices && is(entry, &[0o02, 0o06]);
        let is_special = self.fields.specials && is(entry, &[0o01, 0o14]) && protocol < 31;
        if !is_device && !is_special {
            return None;
        }
        if flags & 0x0100 == 0 {
            self.major = self.int(r) as u32;
        }
        let minor = match protocol {
            29 if flags & 0x0800 != 0 => u32::from(read_u8(r).unwrap()),
            _ => self.int(r) as u32,
        };
        is_device.then_some((self.major, minor))
    }

    fn inode(&mut self, r: &mut &[u8], flags: u32) -> (u64, u64) {
        if flags & 0x0400 == 0 {
            self.link_dev = read_longint(r).unwrap() as u64 - 1;
        }
        (self.link_dev, read_longint(r).unwrap() as u64)
    }

    fn finish(&mut self, r: &mut &[u8], mut entry: Decoded) -> Decoded {
        entry.access_acl = None;
        entry.default_acl = None;
        if self.fields.acls && !is(&entry, &[0o12]) {
            entry.access_acl = Some(rebuilt(self.acl(r, IdKind::User), entry.mode));
            entry.default_acl = is(&entry, &[0o04]).then(|| self.acl(r, IdKind::Group));
        }
        entry.xattrs = self.fields.xattrs.then(|| self.xattr_set(r));
        let atime = match is(&entry, &[0o04]) {
            true => self.previous.atime,
            false => entry.atime,
        };
        self.previous = Decoded { atime, ..entry.clone() };
        entry.atime = entry.atime.filter(|_| self.fields.atimes && !is(&entry, &[0o04]));
        entry
    }

    /// Reads an ACL of one of the two tables, the access ones under `User`.
    fn acl(&mut self, r: &mut &[u8], table: IdKind) -> Acl {
        let number = read_varint(r).unwrap() as usize;
        let known = match table {
            IdKind::User => &mut self.access_acls,
            IdKind::Group => &mut self.default_acls,
        };
        if number > 0 {
            return known[number - 1].clone();
        }
        let flags = read_u8(r).unwrap();
        let mut part = |bit: u8| (flags & bit != 0).then(|| read_varint(r).unwrap() as u8);
        let mut acl = Acl {
            user_obj: part(1),
            group_obj: part(2),
            mask: part(4),
            other: part(8),
            names: Vec::new(),
        };
        let count = if flags & 0x10 == 0 { 0 } else { read_varint(r).unwrap() };
        for _ in 0..count {
            let name = self.acl_name(r);
            acl.names.push(name);
        }
        match table {
            IdKind::User => self.access_acls.push(acl.clone()),
            IdKind::Group => self.default_acls.push(acl.clone()),
        }
        acl
    }

    fn acl_name(&mut self, r: &mut &[u8]) -> AclName {
        let id = read_varint(r).unwrap() as u32;
        let bits = read_varint(r).unwrap();
        let kind = if bits & 2 == 0 { IdKind::Group } else { IdKind::User };
        if bits & 1 != 0 {
            self.id_name(r, kind, id);
        }
        let perm = (bits >> 2) as u8;
        AclName { kind, id, perm }
    }

    fn xattr_set(&mut self, r: &mut &[u8]) -> Vec<Xattr> {
        let number = read_varint(r).unwrap() as usize;
        if number > 0 {
            return self.xattrs[number - 1].clone();
        }
        let count = read_varint(r).unwrap();
        let set: Vec<Xattr> = (0..count).map(|_| xattr(r)).collect();
        self.xattrs.push(set.clone());
        set
    }

    fn int(&self, r: &mut &[u8]) -> i32 {
        match self.dialect.protocol {
            29 => read_i32(r).unwrap(),
            _ => read_varint(r).unwrap(),
        }
    }
}

/// Puts back into an access ACL what the mode says.
fn rebuilt(acl: Acl, mode: u32) -> Acl {
    let bits = |shift: u32| Some((mode >> shift & 7) as u8);
    let has_names = !acl.names.is_empty();
    Acl {
        user_obj: bits(6),
        group_obj: acl.group_obj.or(bits(3)),
        mask: acl.mask.or(bits(3).filter(|_| has_names)),
        other: bits(0),
        names: acl.names,
    }
}

fn xattr(r: &mut &[u8]) -> Xattr {
    let name_len = read_varint(r).unwrap() as usize;
    let len = read_varint(r).unwrap() as usize;
    let mut name = bytes(r, name_len);
    assert_eq!(name.pop(), Some(0));
    let body = bytes(r, if len > 32 { 16 } else { len });
    (name, len, body)
}

fn mark(flags: u32, protocol: u32) -> DirMark {
    match (flags & 1 != 0, protocol >= 30 && flags & 0x0100 != 0) {
        (false, false) => DirMark::Content,
        (true, false) => DirMark::Top,
        (false, true) => DirMark::NoContent,
        (true, true) => DirMark::Implied,
    }
}

/// Tells whether an entry is of one of these types, given as the upper bits of the mode.
fn is(entry: &Decoded, types: &[u32]) -> bool {
    types.contains(&(entry.mode >> 12))
}

fn bytes(r: &mut &[u8], len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    r.read_exact(&mut bytes).unwrap();
    bytes
}
