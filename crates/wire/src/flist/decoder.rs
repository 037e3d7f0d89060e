//! How does a receiver read file lists?
//!
//! One decoder serves a connection, as one encoder does on the other side. It allocates what an
//! entry owns and nothing else. See docs/protocol/file-list.md.

use std::io::Read;

use super::entry::{FlistFields, Kind};
use super::flags::*;
use super::hard_links::{FirstNames, ReceivedFirst};
use super::id_names::{IdKind, ReceivedNames};
use super::previous::{Previous, Values};
use super::received::{DirMarks, LinkMark, ReceivedEntry, cleaned};
use crate::acl::AclDecoder;
use crate::charset::Charset;
use crate::dialect::Dialect;
use crate::error::{Error, Result};
use crate::escape::printable;
use crate::int::{read_i32, read_longint, read_u8, read_u32};
use crate::int::{read_varint, read_varint30, read_varlong, read_varlong30};
use crate::limits;
use crate::xattr::XattrDecoder;

/// The bits of an I/O error that have a meaning.
const IO_ERROR_BITS: i32 = 7;

/// Reads the file lists of one connection.
#[derive(Debug)]
pub struct FlistDecoder {
    protocol: u32,
    varint_flags: bool,
    safe_list: bool,
    allowed_flags: u32,
    fields: FlistFields,
    list_start: i32,
    next_ndx: i32,
    previous: Previous,
    marks: DirMarks,
    first_names: FirstNames,
    ids: ReceivedNames,
    acls: AclDecoder,
    xattrs: XattrDecoder,
}

/// What came next in a list.
#[derive(Debug)]
pub enum ListStep {
    /// An entry.
    Entry(ReceivedEntry),
    /// The end of the list, and of the id lists behind it.
    End {
        /// What went wrong at the sender while it made the list; 0 if nothing did.
        io_error: i32,
    },
}

/// How an entry or the end of a list begins.
enum Head {
    Flags(u32),
    End { io_error: i32 },
}

impl FlistDecoder {
    /// Creates the decoder of a connection; ACLs and xattrs are refused below protocol 30.
    pub fn new(dialect: &Dialect, fields: FlistFields) -> Result<Self> {
        fields.check(dialect.protocol)?;
        let ids = ReceivedNames::new(dialect, &fields);
        Ok(Self {
            protocol: dialect.protocol,
            varint_flags: dialect.varint_flags(),
            safe_list: dialect.safe_list(),
            allowed_flags: allowed_flags(dialect.protocol, &fields, ids.are_inline()),
            fields,
            list_start: 0,
            next_ndx: 0,
            previous: Previous::default(),
            marks: DirMarks::default(),
            first_names: FirstNames::default(),
            ids,
            acls: AclDecoder::default(),
            xattrs: XattrDecoder::default(),
        })
    }

    /// Starts a list whose entries are numbered from `ndx_start`, as
    /// [`FlistEncoder::begin_list`](super::FlistEncoder::begin_list) says.
    pub fn begin_list(&mut self, ndx_start: i32) {
        self.list_start = ndx_start;
        self.next_ndx = ndx_start;
        self.first_names.begin_list();
    }

    /// Reads the next entry, or the end of the list.
    ///
    /// Whether the name lies in the directory that the list is of is for the caller to check.
    pub fn next<R: Read + ?Sized>(&mut self, r: &mut R) -> Result<ListStep> {
        match self.head(r)? {
            Head::Flags(flags) => self.entry(r, flags).map(ListStep::Entry),
            Head::End { io_error } => self.end(r, io_error),
        }
    }

    /// Returns the names of ids that came since the last call, in owners, id lists and ACLs.
    pub fn take_names(&mut self) -> Vec<(IdKind, u32, Vec<u8>)> {
        self.ids.take()
    }

    fn head<R: Read + ?Sized>(&self, r: &mut R) -> Result<Head> {
        if self.varint_flags {
            return match read_varint(r)? {
                0 => Ok(Head::End { io_error: read_varint(r)? }),
                flags => Ok(Head::Flags(flags as u32)),
            };
        }
        let low = u32::from(read_u8(r)?);
        if low == 0 {
            return Ok(Head::End { io_error: 0 });
        }
        if low & EXTENDED == 0 {
            return Ok(Head::Flags(low));
        }
        let flags = low | u32::from(read_u8(r)?) << 8;
        if self.safe_list && flags == u32::from(END_WITH_ERROR) {
            return Ok(Head::End { io_error: read_varint(r)? });
        }
        Ok(Head::Flags(flags))
    }

    fn end<R: Read + ?Sized>(&mut self, r: &mut R, mut io_error: i32) -> Result<ListStep> {
        self.ids.read_lists(r)?;
        if self.protocol < 30 {
            io_error = read_i32(r)?;
        }
        Ok(ListStep::End { io_error: io_error & IO_ERROR_BITS })
    }

    fn entry<R: Read + ?Sized>(&mut self, r: &mut R, flags: u32) -> Result<ReceivedEntry> {
        let only_first = flags & (HLINKED | HLINK_FIRST) == HLINK_FIRST;
        if flags & !self.allowed_flags != 0 || only_first {
            return Err(refused(format!("flags {flags:#x} of a file list entry")));
        }
        self.read_name(r, flags)?;
        let mut entry = ReceivedEntry { ndx: self.next_ndx, ..ReceivedEntry::default() };
        let name = self.converted(&self.previous.name, self.fields.charset, &mut entry);
        (entry.name, entry.rooted) = cleaned(&name, self.fields.relative)?;
        entry.link = self.link(r, flags)?;
        match entry.link {
            LinkMark::Later { first } if first >= self.list_start => {
                self.abbreviated(&mut entry, first)?;
            }
            _ => self.read_fields(r, flags, &mut entry)?,
        }
        self.check(&entry)?;
        self.read_attributes(r, &mut entry)?;
        let next = self.next_ndx.checked_add(1);
        self.next_ndx = next.ok_or_else(|| refused("a list that outgrows its numbers".into()))?;
        Ok(entry)
    }

    /// Says in the charset of this side what came as UTF-8.
    fn converted(
        &self,
        bytes: &[u8],
        charset: Option<Charset>,
        entry: &mut ReceivedEntry,
    ) -> Vec<u8> {
        let Some(charset) = charset else { return bytes.to_vec() };
        charset.of_wire(bytes).unwrap_or_else(|| {
            entry.is_unsayable = true;
            bytes.to_vec()
        })
    }

    /// Reads a name into the memory of the previous one, whose beginning it may share.
    fn read_name<R: Read + ?Sized>(&mut self, r: &mut R, flags: u32) -> Result<()> {
        let shared = if flags & SAME_NAME != 0 { usize::from(read_u8(r)?) } else { 0 };
        let len = match flags & LONG_NAME {
            0 => i32::from(read_u8(r)?),
            _ => read_varint30(r, self.protocol)?,
        };
        let name = &mut self.previous.name;
        let len = usize::try_from(len).ok().filter(|len| *len <= limits::PATH);
        let len = len.map(|rest| shared + rest).filter(|len| (1..=limits::PATH).contains(len));
        let Some(len) = len.filter(|_| shared <= name.len()) else {
            return Err(Error::Malformed("length of a name in a file list".into()));
        };
        name.truncate(shared);
        name.resize(len, 0);
        Ok(r.read_exact(&mut name[shared..])?)
    }

    /// Reads what names the first of a file's names; below protocol 30 that comes later.
    fn link<R: Read + ?Sized>(&self, r: &mut R, flags: u32) -> Result<LinkMark> {
        if flags & HLINKED == 0 || self.protocol < 30 {
            return Ok(LinkMark::None);
        }
        if flags & HLINK_FIRST != 0 {
            return Ok(LinkMark::First);
        }
        Ok(LinkMark::Later { first: read_varint(r)? })
    }

    /// Takes everything from the first name of the file, which stands in this list.
    fn abbreviated(&mut self, entry: &mut ReceivedEntry, first: i32) -> Result<()> {
        let Some(seen) = self.first_names.in_this_list(first) else {
            return Err(no_first_name(entry, first));
        };
        let kind = seen.values.kind();
        self.previous.inherit(&seen.values);
        if self.fields.devices && kind == Kind::Device {
            self.previous.rdev_major = Some(seen.values.rdev_major);
            entry.rdev = Some((seen.values.rdev_major, seen.rdev_minor));
        }
        match kind {
            Kind::Symlink => entry.link_target = seen.text.as_deref().map(<[u8]>::to_vec),
            _ => entry.checksum = seen.text.as_deref().map(<[u8]>::to_vec),
        }
        entry.size = seen.size;
        set_values(entry, &seen.values);
        Ok(())
    }

    fn read_fields<R: Read + ?Sized>(
        &mut self,
        r: &mut R,
        flags: u32,
        entry: &mut ReceivedEntry,
    ) -> Result<()> {
        let size = read_varlong30(r, self.protocol, 3)?;
        entry.size = u64::try_from(size).map_err(|_| refused(format!("a size of {size}")))?;
        let mut values = self.read_values(r, flags)?;
        let kind = values.kind();
        self.previous.inherit(&values);
        entry.rdev = self.read_rdev(r, flags, kind)?;
        values.rdev_major = entry.rdev.map_or(0, |(major, _)| major);
        set_values(entry, &values);
        if kind == Kind::Symlink && self.fields.links {
            let target = self.read_link_target(r)?;
            entry.link_target = Some(self.converted(&target, self.fields.link_charset, entry));
        }
        if kind == Kind::Directory {
            entry.dir_mark = self.marks.next(self.protocol, &self.fields, flags, &entry.name);
        }
        if flags & HLINKED != 0 && self.protocol < 30 {
            entry.link = self.read_inode(r, flags)?;
        }
        if let Some(len) = self.fields.checksum_len.filter(|_| kind == Kind::Regular) {
            let mut checksum = vec![0; len];
            r.read_exact(&mut checksum)?;
            entry.checksum = Some(checksum);
        }
        match entry.link {
            LinkMark::First => self.first_names.add(ReceivedFirst::of(entry, values)),
            LinkMark::Later { first } if !self.first_names.is_known(first, kind) => {
                Err(no_first_name(entry, first))
            }
            _ => Ok(()),
        }
    }

    fn read_values<R: Read + ?Sized>(&mut self, r: &mut R, flags: u32) -> Result<Values> {
        let before = &self.previous;
        let mut values = Values {
            mode: before.mode,
            mtime: before.mtime,
            mtime_nsec: 0,
            atime: before.atime,
            uid: before.uid.unwrap_or(0),
            gid: before.gid.unwrap_or(0),
            rdev_major: 0,
        };
        if flags & SAME_TIME == 0 {
            values.mtime = match self.protocol {
                ..30 => i64::from(read_u32(r)?),
                _ => read_varlong(r, 4)?,
            };
        }
        if flags & MOD_NSEC != 0 {
            values.mtime_nsec = read_nsec(r)?;
        }
        if flags & SAME_MODE == 0 {
            values.mode = read_u32(r)?;
        }
        self.check_mode(values.mode)?;
        let has_atime = self.fields.atimes && values.kind() != Kind::Directory;
        if has_atime && flags & SAME_ATIME == 0 {
            values.atime = read_varlong(r, 4)?;
        }
        if self.fields.owner && flags & SAME_UID == 0 {
            values.uid = self.ids.read_id(r, IdKind::User, flags & self.user_name() != 0)?;
        }
        if self.fields.group && flags & SAME_GID == 0 {
            values.gid = self.ids.read_id(r, IdKind::Group, flags & self.group_name() != 0)?;
        }
        Ok(values)
    }

    /// The number of a device; what a special may carry is remembered and means nothing else.
    fn read_rdev<R: Read + ?Sized>(
        &mut self,
        r: &mut R,
        flags: u32,
        kind: Kind,
    ) -> Result<Option<(u32, u32)>> {
        let is_device = kind == Kind::Device && self.fields.devices;
        let is_special = kind == Kind::Special && self.fields.specials && self.protocol < 31;
        if !is_device && !is_special {
            return Ok(None);
        }
        let major = match self.previous.rdev_major {
            Some(major) if flags & SAME_RDEV_MAJOR != 0 => major,
            _ => read_varint30(r, self.protocol)? as u32,
        };
        let minor = match self.protocol {
            ..30 if flags & RDEV_MINOR_8 != 0 => u32::from(read_u8(r)?),
            _ => read_varint30(r, self.protocol)? as u32,
        };
        self.previous.rdev_major = Some(major);
        Ok(is_device.then_some((major, minor)))
    }

    fn read_link_target<R: Read + ?Sized>(&self, r: &mut R) -> Result<Vec<u8>> {
        let len = read_varint30(r, self.protocol)?;
        let len = usize::try_from(len).ok().filter(|len| (1..=limits::PATH).contains(len));
        let len = len.ok_or_else(|| Error::Malformed("length of a symlink target".into()))?;
        let mut target = vec![0; len];
        r.read_exact(&mut target)?;
        if target.contains(&0) {
            return Err(refused("a NUL in a symlink target".into()));
        }
        Ok(target)
    }

    fn read_inode<R: Read + ?Sized>(&mut self, r: &mut R, flags: u32) -> Result<LinkMark> {
        let dev = match flags & SAME_DEV {
            0 => (read_longint(r)? as u64).wrapping_sub(1),
            _ => self.previous.link_dev.unwrap_or(0),
        };
        self.previous.link_dev = Some(dev);
        Ok(LinkMark::Inode { dev, ino: read_longint(r)? as u64 })
    }

    /// Reads what follows the fields of abbreviated entries too.
    fn read_attributes<R: Read + ?Sized>(
        &mut self,
        r: &mut R,
        entry: &mut ReceivedEntry,
    ) -> Result<()> {
        let kind = Kind::of(entry.mode);
        if self.fields.acls && kind != Kind::Symlink {
            entry.access_acl = Some(self.acls.read_access(r, &mut self.ids)?);
            if kind == Kind::Directory {
                entry.default_acl = Some(self.acls.read_default(r, &mut self.ids)?);
            }
        }
        if self.fields.xattrs {
            entry.xattrs = Some(self.xattrs.read(r)?);
        }
        Ok(())
    }

    fn check_mode(&self, mode: u32) -> Result<()> {
        let is_type = mode >> 16 == 0 && Kind::of(mode) != Kind::Missing;
        if is_type || mode == 0 && self.fields.missing_args {
            return Ok(());
        }
        Err(refused(format!("mode {mode:#o}")))
    }

    fn check(&self, entry: &ReceivedEntry) -> Result<()> {
        let is_dir = Kind::of(entry.mode) == Kind::Directory;
        if entry.name == b"." && !is_dir {
            return Err(refused("a transfer root that is no directory".into()));
        }
        if is_dir && entry.link != LinkMark::None {
            let name = printable(&entry.name);
            return Err(refused(format!("a hard link of the directory \"{name}\"")));
        }
        Ok(())
    }

    /// The flag for a user's name; below protocol 30 its bit means something else.
    fn user_name(&self) -> u32 {
        if self.protocol < 30 { 0 } else { USER_NAME }
    }

    fn group_name(&self) -> u32 {
        if self.protocol < 30 { 0 } else { GROUP_NAME }
    }
}

/// The flags that have a meaning in a session.
fn allowed_flags(protocol: u32, fields: &FlistFields, names_are_inline: bool) -> u32 {
    const ALWAYS: u32 = 0x01ff;
    let is_old = protocol < 30;
    let links = match is_old {
        true => HLINKED | SAME_DEV,
        false => HLINKED | HLINK_FIRST,
    };
    ALWAYS
        | bit(links, fields.hard_links)
        | bit(RDEV_MINOR_8, is_old)
        | bit(USER_NAME, names_are_inline && fields.owner)
        | bit(GROUP_NAME, names_are_inline && fields.group)
        | bit(MOD_NSEC, protocol >= 31)
        | bit(SAME_ATIME, fields.atimes)
}

fn read_nsec<R: Read + ?Sized>(r: &mut R) -> Result<u32> {
    let nsec = read_varint(r)?;
    let nsec = u32::try_from(nsec).ok().filter(|nsec| *nsec < 1_000_000_000);
    nsec.ok_or_else(|| refused("nanoseconds beyond a second".into()))
}

fn set_values(entry: &mut ReceivedEntry, values: &Values) {
    entry.mode = values.mode;
    entry.mtime = values.mtime;
    entry.mtime_nsec = values.mtime_nsec;
    if values.kind() != Kind::Directory {
        entry.atime = values.atime;
    }
    entry.uid = values.uid;
    entry.gid = values.gid;
}

fn no_first_name(entry: &ReceivedEntry, first: i32) -> Error {
    let name = printable(&entry.name);
    refused(format!("\"{name}\" as a further name of entry {first}, which is no first name"))
}

fn refused(what: String) -> Error {
    Error::Protocol(format!("it sent {what}"))
}
