//! How does a sender write its file lists?
//!
//! One encoder serves a connection: what entries inherit, hard links, ids and attribute tables
//! outlive a list. See docs/protocol/file-list.md.

use super::entry::{DirMark, FileEntry, FlistFields, Kind};
use super::flags::*;
use super::hard_links::{HardLinks, Link};
use super::id_names::{IdKind, IdNames, NameLookup, put_name};
use super::previous::{Previous, Values};
use crate::acl::AclEncoder;
use crate::dialect::Dialect;
use crate::error::Result;
use crate::int::{put_i32, put_longint, put_u16, put_varint, put_varint30, put_varlong};
use crate::int::{put_u32, put_varlong30};
use crate::xattr::XattrEncoder;

/// Writes the file lists of one connection.
#[derive(Debug)]
pub struct FlistEncoder {
    protocol: u32,
    varint_flags: bool,
    safe_list: bool,
    fields: FlistFields,
    next_ndx: i32,
    previous: Previous,
    hard_links: HardLinks,
    ids: IdNames,
    acls: AclEncoder,
    xattrs: XattrEncoder,
}

/// What is settled about an entry before its first byte is written.
struct Plan {
    values: Values,
    kind: Kind,
    link: Link,
    shared: usize,
    rdev: Option<(u32, u32)>,
    user_name: Option<Vec<u8>>,
    group_name: Option<Vec<u8>>,
}

impl FlistEncoder {
    /// Creates the encoder of a connection; ACLs and xattrs are refused below protocol 30.
    pub fn new(dialect: &Dialect, fields: FlistFields, names: NameLookup) -> Result<Self> {
        let protocol = dialect.protocol;
        fields.check(protocol)?;
        Ok(Self {
            protocol,
            varint_flags: dialect.varint_flags(),
            safe_list: dialect.safe_list(),
            fields,
            next_ndx: 0,
            previous: Previous::default(),
            hard_links: HardLinks::default(),
            ids: IdNames::new(dialect, &fields, names),
            acls: AclEncoder::default(),
            xattrs: XattrEncoder::default(),
        })
    }

    /// Starts a list whose entries are numbered from `ndx_start`.
    ///
    /// That is 0 without incremental recursion; with it 1 at first, and one more than the
    /// last number plus a gap after that. The caller has announced any further list.
    pub fn begin_list(&mut self, ndx_start: i32) {
        self.next_ndx = ndx_start;
        self.hard_links.begin_list(ndx_start);
    }

    /// Appends an entry; entries come in transfer order.
    ///
    /// Names and targets of symlinks that the charset does not have go as they are.
    pub fn entry(&mut self, out: &mut Vec<u8>, entry: &FileEntry<'_>) {
        let FlistFields { charset, link_charset, .. } = self.fields;
        let name = charset.and_then(|charset| charset.to_wire(entry.name));
        let target = link_charset.and_then(|charset| charset.to_wire(entry.link_target?));
        let entry = &FileEntry {
            name: name.as_deref().unwrap_or(entry.name),
            link_target: target.as_deref().or(entry.link_target),
            ..*entry
        };
        let plan = self.plan(entry);
        let flags = self.flags(entry, &plan);
        self.put_flags(out, flags, plan.kind);
        self.put_entry_name(out, flags, &entry.name[plan.shared..], plan.shared);
        if let Link::Later { first } | Link::Abbreviated { first, .. } = plan.link {
            put_varint(out, first);
        }
        if !matches!(plan.link, Link::Abbreviated { .. }) {
            self.put_fields(out, entry, &plan, flags);
        }
        self.put_attributes(out, entry, &plan);
        self.remember(entry, &plan);
    }

    /// Ends a list; without incremental recursion the id lists follow.
    ///
    /// `io_error` are the bits of what went wrong while the list was made; where
    /// [`carries_io_error`](Self::carries_io_error) is false they need a message of their own.
    pub fn end_list(&mut self, out: &mut Vec<u8>, io_error: i32) {
        if self.varint_flags {
            put_varint(out, 0);
            put_varint(out, io_error);
        } else if self.safe_list && io_error != 0 {
            put_u16(out, END_WITH_ERROR);
            put_varint(out, io_error);
        } else {
            out.push(0);
        }
        self.ids.put_lists(out);
        if self.protocol < 30 {
            put_i32(out, io_error);
        }
    }

    /// Tells whether the end of a list can say that something went wrong.
    pub fn carries_io_error(&self) -> bool {
        self.protocol < 30 || self.varint_flags || self.safe_list
    }

    /// Returns the number that the next entry of this list gets in wire order.
    pub fn next_ndx(&self) -> i32 {
        self.next_ndx
    }

    fn plan(&mut self, entry: &FileEntry<'_>) -> Plan {
        let own = Values::of(entry);
        let link = self.link(entry, own);
        let values = match link {
            Link::Abbreviated { values, .. } => values,
            _ => own,
        };
        let kind = values.kind();
        let new_uid = self.fields.owner && self.previous.uid != Some(values.uid);
        let new_gid = self.fields.group && self.previous.gid != Some(values.gid);
        Plan {
            values,
            kind,
            link,
            shared: self.previous.shared_prefix(entry.name),
            rdev: self.rdev(&values, entry),
            user_name: match new_uid {
                true => self.ids.note(IdKind::User, values.uid),
                false => None,
            },
            group_name: match new_gid {
                true => self.ids.note(IdKind::Group, values.gid),
                false => None,
            },
        }
    }

    fn link(&mut self, entry: &FileEntry<'_>, values: Values) -> Link {
        match entry.hard_link {
            Some(inode) if self.fields.hard_links && self.protocol >= 30 => {
                self.hard_links.add(inode, self.next_ndx, values)
            }
            Some((dev, ino)) if self.fields.hard_links => Link::Inode { dev, ino },
            _ => Link::None,
        }
    }

    /// The device number to be sent; specials have one of no meaning up to protocol 30.
    fn rdev(&self, values: &Values, entry: &FileEntry<'_>) -> Option<(u32, u32)> {
        match values.kind() {
            Kind::Device if self.fields.devices => {
                let minor = entry.rdev.map_or(0, |(_, minor)| minor);
                Some((values.rdev_major, minor))
            }
            Kind::Special if self.fields.specials && self.protocol < 31 => {
                Some((self.previous.rdev_major.unwrap_or(0), 0))
            }
            _ => None,
        }
    }

    fn flags(&self, entry: &FileEntry<'_>, plan: &Plan) -> u32 {
        let Plan { values, kind, .. } = plan;
        let before = &self.previous;
        let suffix = entry.name.len() - plan.shared;
        let same_uid = !self.fields.owner || before.uid == Some(values.uid);
        let same_gid = !self.fields.group || before.gid == Some(values.gid);
        let has_atime = self.fields.atimes && *kind != Kind::Directory;
        bit(SAME_MODE, before.mode == values.mode)
            | bit(SAME_UID, same_uid)
            | bit(SAME_GID, same_gid)
            | bit(SAME_NAME, plan.shared > 0)
            | bit(LONG_NAME, suffix > 255)
            | bit(SAME_TIME, before.mtime == values.mtime)
            | bit(MOD_NSEC, self.nsec(values).is_some())
            | bit(SAME_ATIME, has_atime && before.atime == values.atime)
            | bit(USER_NAME, plan.user_name.is_some())
            | bit(GROUP_NAME, plan.group_name.is_some())
            | self.dir_flags(*kind, entry.dir_mark)
            | self.rdev_flags(plan.rdev)
            | self.link_flags(&plan.link)
    }

    fn dir_flags(&self, kind: Kind, mark: DirMark) -> u32 {
        if kind != Kind::Directory {
            return 0;
        }
        match mark {
            DirMark::Top => TOP_DIR,
            _ if self.protocol < 30 => 0,
            DirMark::Content => 0,
            DirMark::NoContent => NO_CONTENT_DIR,
            DirMark::Implied => TOP_DIR | NO_CONTENT_DIR,
        }
    }

    fn rdev_flags(&self, rdev: Option<(u32, u32)>) -> u32 {
        let Some((major, minor)) = rdev else {
            return 0;
        };
        bit(SAME_RDEV_MAJOR, self.previous.rdev_major == Some(major))
            | bit(RDEV_MINOR_8, self.protocol < 30 && minor <= 0xff)
    }

    fn link_flags(&self, link: &Link) -> u32 {
        match *link {
            Link::None => 0,
            Link::Inode { dev, .. } => HLINKED | bit(SAME_DEV, self.previous.link_dev == Some(dev)),
            Link::First => HLINKED | HLINK_FIRST,
            Link::Later { .. } | Link::Abbreviated { .. } => HLINKED,
        }
    }

    /// The nanoseconds to be sent.
    fn nsec(&self, values: &Values) -> Option<i32> {
        let nsec = values.mtime_nsec;
        (self.protocol >= 31 && (1..1_000_000_000).contains(&nsec)).then_some(nsec as i32)
    }

    fn put_flags(&self, out: &mut Vec<u8>, mut flags: u32, kind: Kind) {
        if self.varint_flags {
            let never_zero = if flags == 0 { EXTENDED } else { flags };
            return put_varint(out, never_zero as i32);
        }
        if flags == 0 && kind != Kind::Directory {
            flags = TOP_DIR;
        }
        match u8::try_from(flags) {
            Ok(one) if one != 0 => out.push(one),
            _ => put_u16(out, (flags | EXTENDED) as u16),
        }
    }

    fn put_entry_name(&self, out: &mut Vec<u8>, flags: u32, suffix: &[u8], shared: usize) {
        if flags & SAME_NAME != 0 {
            out.push(shared as u8);
        }
        if flags & LONG_NAME != 0 {
            put_varint30(out, self.protocol, suffix.len() as i32);
        } else {
            out.push(suffix.len() as u8);
        }
        out.extend_from_slice(suffix);
    }

    fn put_fields(&self, out: &mut Vec<u8>, entry: &FileEntry<'_>, plan: &Plan, flags: u32) {
        let values = &plan.values;
        put_varlong30(out, self.protocol, entry.size as i64, 3);
        if flags & SAME_TIME == 0 {
            self.put_mtime(out, values.mtime);
        }
        if let Some(nsec) = self.nsec(values) {
            put_varint(out, nsec);
        }
        if flags & SAME_MODE == 0 {
            put_u32(out, values.mode);
        }
        let has_atime = self.fields.atimes && plan.kind != Kind::Directory;
        if has_atime && flags & SAME_ATIME == 0 {
            put_varlong(out, values.atime, 4);
        }
        if flags & SAME_UID == 0 {
            self.put_id(out, values.uid, plan.user_name.as_deref());
        }
        if flags & SAME_GID == 0 {
            self.put_id(out, values.gid, plan.group_name.as_deref());
        }
        self.put_rdev(out, plan.rdev, flags);
        self.put_link_target(out, plan.kind, entry.link_target);
        self.put_inode(out, &plan.link, flags);
        self.put_checksum(out, plan.kind, entry.checksum);
    }

    fn put_mtime(&self, out: &mut Vec<u8>, mtime: i64) {
        if self.protocol < 30 { put_i32(out, mtime as i32) } else { put_varlong(out, mtime, 4) }
    }

    fn put_id(&self, out: &mut Vec<u8>, id: u32, name: Option<&[u8]>) {
        put_varint30(out, self.protocol, id as i32);
        if let Some(name) = name {
            put_name(out, name);
        }
    }

    fn put_rdev(&self, out: &mut Vec<u8>, rdev: Option<(u32, u32)>, flags: u32) {
        let Some((major, minor)) = rdev else {
            return;
        };
        if flags & SAME_RDEV_MAJOR == 0 {
            put_varint30(out, self.protocol, major as i32);
        }
        if self.protocol < 30 && flags & RDEV_MINOR_8 != 0 {
            out.push(minor as u8);
        } else {
            put_varint30(out, self.protocol, minor as i32);
        }
    }

    fn put_link_target(&self, out: &mut Vec<u8>, kind: Kind, target: Option<&[u8]>) {
        if kind != Kind::Symlink || !self.fields.links {
            return;
        }
        let target = target.unwrap_or_default();
        put_varint30(out, self.protocol, target.len() as i32);
        out.extend_from_slice(target);
    }

    fn put_inode(&self, out: &mut Vec<u8>, link: &Link, flags: u32) {
        let Link::Inode { dev, ino } = *link else {
            return;
        };
        if flags & SAME_DEV == 0 {
            put_longint(out, dev.wrapping_add(1) as i64);
        }
        put_longint(out, ino as i64);
    }

    /// Appends a checksum of the length that both sides know, zeros if there is none.
    fn put_checksum(&self, out: &mut Vec<u8>, kind: Kind, checksum: Option<&[u8]>) {
        let Some(len) = self.fields.checksum_len.filter(|_| kind == Kind::Regular) else {
            return;
        };
        let end = out.len() + len;
        let checksum = checksum.unwrap_or_default();
        out.extend_from_slice(&checksum[..checksum.len().min(len)]);
        out.resize(end, 0);
    }

    /// Appends what follows the fields of abbreviated entries too.
    fn put_attributes(&mut self, out: &mut Vec<u8>, entry: &FileEntry<'_>, plan: &Plan) {
        if self.fields.acls && plan.kind != Kind::Symlink {
            let (mode, ids) = (plan.values.mode, &mut self.ids);
            self.acls.put_access(out, entry.access_acl, mode, ids);
            if plan.kind == Kind::Directory {
                self.acls.put_default(out, entry.default_acl, ids);
            }
        }
        if self.fields.xattrs {
            self.xattrs.put(out, entry.xattrs);
        }
    }

    fn remember(&mut self, entry: &FileEntry<'_>, plan: &Plan) {
        let before = &mut self.previous;
        before.remember(entry.name, plan.shared, &plan.values);
        match (plan.kind, &plan.link) {
            // Receivers copy the first name's number, which of a special is an inherited one.
            (Kind::Special, Link::Abbreviated { .. }) => before.rdev_major = None,
            _ if plan.rdev.is_some() => before.rdev_major = plan.rdev.map(|(major, _)| major),
            _ => {}
        }
        if let Link::Inode { dev, .. } = plan.link {
            before.link_dev = Some(dev);
        }
        self.next_ndx = self.next_ndx.saturating_add(1);
    }
}
