//! How a file keeps what only root may set (sheet 2b, 4).
//!
//! `user.rsync.%stat` holds mode, device numbers, owner and group as text; `%aacl` and `%dacl` hold
//! the ACLs, their four unnamed entries first.

use std::io::Read;

use crate::{Attributes, Dir, Error, Kind, Result, Stat};

pub(crate) const FAKE_STAT: &[u8] = b"user.rsync.%stat";
pub(crate) const FAKE_ACCESS_ACL: &[u8] = b"user.rsync.%aacl";
pub(crate) const FAKE_DEFAULT_ACL: &[u8] = b"user.rsync.%dacl";

const FILE_TYPE: u32 = 0o170_000;

/// Linux makes no symlink with a longer target.
const LONGEST_TARGET: u64 = 4095;

/// Tells whether rsync itself keeps this attribute.
pub(crate) fn is_own(attribute: &[u8]) -> bool {
    [FAKE_STAT, FAKE_ACCESS_ACL, FAKE_DEFAULT_ACL].contains(&attribute)
}

impl Dir {
    /// Reads the attributes of `name` as it is faked to be. Size, times and inode are its own, and
    /// so is all of a file whose text is missing or broken.
    pub fn stat_fake(&self, name: &[u8]) -> Result<Stat> {
        let stat = self.stat(name)?;
        if !matches!(stat.kind(), Kind::Regular | Kind::Dir) {
            return Ok(stat);
        }
        let text = self.xattr(name, FAKE_STAT)?;
        Ok(text.and_then(|text| parse(&text, &stat)).unwrap_or(stat))
    }

    /// Reads where the faked symlink `name` points, into `target`: that is its content. A real
    /// symlink is read as such.
    pub fn read_link_fake(&self, name: &[u8], target: &mut Vec<u8>) -> Result<()> {
        if self.read_link(name, target).is_ok() {
            return Ok(());
        }
        target.clear();
        self.open_file(name)?
            .take(LONGEST_TARGET)
            .read_to_end(target)
            .map_err(|source| Error::new("read symlink", self.path_of(name), source))?;
        Ok(())
    }

    /// Reads the faked ACL of `name` as the value that Linux would keep; `None` when it has none.
    pub fn acl_fake(&self, name: &[u8], stat: &Stat, default: bool) -> Result<Option<Vec<u8>>> {
        let attribute = if default { FAKE_DEFAULT_ACL } else { FAKE_ACCESS_ACL };
        let text = self.xattr(name, attribute)?;
        let mode = (!default).then_some(stat.mode);
        Ok(text.and_then(|text| acl_from_text(&text, mode)))
    }
}

/// The permissions that a file really gets which shall seem to have `mode`.
pub(crate) fn real_mode(mode: u32, real_kind: Kind) -> u32 {
    mode & 0o777 | if real_kind == Kind::Dir { 0o700 } else { 0o600 }
}

/// Returns the text that makes a file with the attributes `real` seem to have those in `set`;
/// `None` when it has them all. `stored` is the text there is.
pub(crate) fn text_for(
    set: &Attributes<'_>,
    real: &Stat,
    stored: Option<&[u8]>,
) -> Option<Vec<u8>> {
    let seems = stored.and_then(|text| parse(text, real)).unwrap_or(*real);
    let mut mode = set.mode.unwrap_or(seems.mode);
    if mode & FILE_TYPE == 0 {
        mode |= seems.mode & FILE_TYPE;
    }
    let is_device = Kind::from_mode(mode) == Kind::Device;
    let rdev = if is_device { set.rdev.unwrap_or(seems.rdev) } else { (0, 0) };
    let (uid, gid) = (set.owner.unwrap_or(seems.uid), set.group.unwrap_or(seems.gid));

    let real_mode = real.mode & FILE_TYPE | real_mode(mode, real.kind());
    let is_real = (mode, uid, gid) == (real_mode, real.uid, real.gid) && !is_device;
    let text = format!("{mode:o} {},{} {uid}:{gid}", rdev.0, rdev.1);
    (!is_real).then(|| text.into_bytes())
}

/// Reads the five numbers of the text over the attributes of the file that carries it.
fn parse(text: &[u8], real: &Stat) -> Option<Stat> {
    let text = std::str::from_utf8(text).ok()?;
    let mut numbers = text.split([' ', ',', ':']);
    let mode = u32::from_str_radix(numbers.next()?, 8).ok()?;
    let mut next = || {
        let number: i64 = numbers.next()?.parse().ok()?;
        // Old writers print the upper half as negative.
        let bits = i32::try_from(number).map(i32::cast_unsigned);
        bits.or_else(|_| u32::try_from(number)).ok()
    };
    let (major, minor, uid, gid) = (next()?, next()?, next()?, next()?);
    numbers.next().is_none().then_some(Stat { mode, rdev: (major, minor), uid, gid, ..*real })
}

pub(crate) const USER_OBJ: u16 = 0x01;
const USER: u16 = 0x02;
pub(crate) const GROUP_OBJ: u16 = 0x04;
const GROUP: u16 = 0x08;
pub(crate) const MASK: u16 = 0x10;
pub(crate) const OTHER: u16 = 0x20;

const LINUX_VERSION: u32 = 2;
const NO_ID: u32 = u32::MAX;
/// An unnamed entry that is not there.
const NO_ENTRY: u32 = 0x80;
const IS_USER: u32 = 1 << 31;

/// One entry of the value that Linux keeps.
pub(crate) struct Entry {
    pub(crate) tag: u16,
    pub(crate) permissions: u16,
    id: u32,
}

/// Goes through the entries of a `system.posix_acl_*` value.
pub(crate) fn entries(value: &[u8]) -> impl Iterator<Item = Entry> {
    let entries = value.get(4..).unwrap_or_default().chunks_exact(8);
    entries.map(|entry| Entry {
        tag: u16::from_le_bytes([entry[0], entry[1]]),
        permissions: u16::from_le_bytes([entry[2], entry[3]]),
        id: u32::from_le_bytes([entry[4], entry[5], entry[6], entry[7]]),
    })
}

/// Returns the faked form of a Linux ACL. In an access ACL what the mode says is left out; `mode` is
/// `None` for a default ACL.
pub(crate) fn acl_text(value: &[u8], mode: Option<u32>) -> Vec<u8> {
    if value.is_empty() {
        return Vec::new();
    }
    let (mut unnamed, mut named) = ([NO_ENTRY; 4], Vec::new());
    for Entry { tag, permissions, id } in entries(value) {
        let permissions = u32::from(permissions);
        match tag {
            USER_OBJ => unnamed[0] = permissions,
            GROUP_OBJ => unnamed[1] = permissions,
            MASK => unnamed[2] = permissions,
            OTHER => unnamed[3] = permissions,
            USER => named.extend([id, permissions | IS_USER]),
            GROUP => named.extend([id, permissions]),
            _ => {}
        }
    }
    if let Some(mode) = mode {
        unnamed[0] = NO_ENTRY;
        unnamed[3] = NO_ENTRY;
        if unnamed[2] == NO_ENTRY || unnamed[1] == mode >> 3 & 7 {
            unnamed[1] = NO_ENTRY;
        }
    }
    unnamed.into_iter().chain(named).flat_map(u32::to_le_bytes).collect()
}

/// The reverse of [`acl_text`]; `None` when the text is broken or says that there is no ACL.
fn acl_from_text(text: &[u8], mode: Option<u32>) -> Option<Vec<u8>> {
    let words: Vec<u32> = text
        .chunks(4)
        .map(|word| word.try_into().map(u32::from_le_bytes))
        .collect::<std::result::Result<_, _>>()
        .ok()?;
    let (unnamed, named) = words.split_first_chunk::<4>()?;
    let [mut user, mut group, mut mask, mut other] = *unnamed;
    let named = named.chunks_exact(2);
    if !named.remainder().is_empty() {
        return None;
    }
    let or = |entry: &mut u32, default: u32| {
        if *entry == NO_ENTRY {
            *entry = default & 7;
        }
    };
    if let Some(mode) = mode {
        or(&mut user, mode >> 6);
        or(&mut group, mode >> 3);
        or(&mut other, mode);
        if named.len() > 0 {
            or(&mut mask, mode >> 3);
        }
    }
    if user == NO_ENTRY {
        return None;
    }

    let mut value = LINUX_VERSION.to_le_bytes().to_vec();
    let mut put = |tag: u16, permissions: u32, id: u32| {
        value.extend(tag.to_le_bytes());
        value.extend((permissions as u16 & 7).to_le_bytes());
        value.extend(id.to_le_bytes());
    };
    put(USER_OBJ, user, NO_ID);
    let users = named.clone().filter(|entry| entry[1] & IS_USER != 0);
    users.for_each(|entry| put(USER, entry[1], entry[0]));
    put(GROUP_OBJ, group, NO_ID);
    let groups = named.filter(|entry| entry[1] & IS_USER == 0);
    groups.for_each(|entry| put(GROUP, entry[1], entry[0]));
    if mask != NO_ENTRY {
        put(MASK, mask, NO_ID);
    }
    put(OTHER, other, NO_ID);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &[u8] = b"\x02\0\0\0\
        \x01\0\x07\0\xff\xff\xff\xff\x02\0\x04\0\x05\0\0\0\x04\0\x05\0\xff\xff\xff\xff\
        \x10\0\x05\0\xff\xff\xff\xff\x20\0\x05\0\xff\xff\xff\xff";

    #[test]
    fn acls_have_the_recorded_form_and_come_back() {
        let text = acl_text(FULL, Some(0o755));
        let recorded = b"\x80\0\0\0\x80\0\0\0\x05\0\0\0\x80\0\0\0\x05\0\0\0\x04\0\0\x80";
        assert_eq!(text, recorded);
        assert_eq!(acl_from_text(&text, Some(0o755)).unwrap(), FULL);
        let default = acl_text(FULL, None);
        assert_eq!(default[..16], *b"\x07\0\0\0\x05\0\0\0\x05\0\0\0\x05\0\0\0");
        assert_eq!(acl_from_text(&default, None).unwrap(), FULL);
        assert_eq!(acl_from_text(&text[..15], Some(0o755)), None);
    }
}
