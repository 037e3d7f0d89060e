//! How does Linux keep an ACL in an extended attribute?
//!
//! See docs/protocol/attributes.md, "Layout on Linux".

use super::{Acl, AclName};
use crate::error::{Error, Result};
use crate::flist::IdKind;

/// The attribute that holds the access ACL of a file.
pub const ACCESS_XATTR: &str = "system.posix_acl_access";
/// The attribute that holds the default ACL of a directory.
pub const DEFAULT_XATTR: &str = "system.posix_acl_default";

const VERSION: u32 = 2;
const ENTRY: usize = 8;
const PERMISSIONS: u16 = 0o7;

const USER_OBJ: u16 = 0x01;
const USER: u16 = 0x02;
const GROUP_OBJ: u16 = 0x04;
const GROUP: u16 = 0x08;
const MASK: u16 = 0x10;
const OTHER: u16 = 0x20;
/// The id of the unnamed kinds.
const NO_ID: u32 = u32::MAX;

impl Acl {
    /// Reads the value of [`ACCESS_XATTR`] or [`DEFAULT_XATTR`].
    ///
    /// Of several entries of an unnamed kind the first counts; kinds that Linux does not
    /// have are left out.
    pub fn parse(value: &[u8]) -> Result<Self> {
        let entries = entries(value)
            .ok_or_else(|| Error::Malformed(format!("ACL attribute of {} bytes", value.len())))?;
        let mut acl = Acl::default();
        for entry in entries.chunks_exact(ENTRY) {
            acl.add(entry)?;
        }
        acl.names.sort_unstable();
        Ok(acl)
    }

    /// Returns the value of [`ACCESS_XATTR`] or [`DEFAULT_XATTR`]; `map` finds the id on this machine.
    ///
    /// Of names that come to the same id each may do what all of them may.
    pub fn to_linux(&self, map: &dyn Fn(IdKind, u32) -> u32) -> Vec<u8> {
        let unnamed = [
            (USER_OBJ, self.user_obj),
            (GROUP_OBJ, self.group_obj),
            (MASK, self.mask),
            (OTHER, self.other),
        ];
        let unnamed = unnamed.into_iter().filter_map(|(tag, perm)| Some((tag, NO_ID, perm?)));
        let named = self.names.iter().map(|name| {
            let tag = if name.kind == IdKind::User { USER } else { GROUP };
            (tag, map(name.kind, name.id), name.perm)
        });
        let mut entries: Vec<(u16, u32, u8)> = unnamed.chain(named).collect();
        entries.sort_unstable();
        entries.dedup_by(|next, kept| {
            let is_same = (next.0, next.1) == (kept.0, kept.1);
            kept.2 &= if is_same { next.2 } else { kept.2 };
            is_same
        });
        let mut out = VERSION.to_le_bytes().to_vec();
        for (tag, id, perm) in entries {
            out.extend_from_slice(&tag.to_le_bytes());
            out.extend_from_slice(&u16::from(perm).to_le_bytes());
            out.extend_from_slice(&id.to_le_bytes());
        }
        out
    }

    fn add(&mut self, entry: &[u8]) -> Result<()> {
        let (Some(tag), Some(perm), Some(id)) =
            (u16_at(entry, 0), u16_at(entry, 2), u32_at(entry, 4))
        else {
            return Ok(());
        };
        if perm > PERMISSIONS {
            return Err(Error::Malformed(format!("ACL permissions {perm:#o}")));
        }
        let perm = perm as u8;
        match tag {
            USER_OBJ => first(&mut self.user_obj, perm),
            USER => self.add_name(IdKind::User, id, perm),
            GROUP_OBJ => first(&mut self.group_obj, perm),
            GROUP => self.add_name(IdKind::Group, id, perm),
            MASK => first(&mut self.mask, perm),
            OTHER => first(&mut self.other, perm),
            _ => {}
        }
        Ok(())
    }

    fn add_name(&mut self, kind: IdKind, id: u32, perm: u8) {
        self.names.push(AclName { kind, id, perm });
    }
}

/// Checks the head and returns the entries behind it.
fn entries(value: &[u8]) -> Option<&[u8]> {
    let (_, entries) = value.split_at_checked(4)?;
    let is_known = u32_at(value, 0) == Some(VERSION) && entries.len().is_multiple_of(ENTRY);
    is_known.then_some(entries)
}

fn first(place: &mut Option<u8>, perm: u8) {
    place.get_or_insert(perm);
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let two = bytes.get(at..at + 2)?.try_into().ok()?;
    Some(u16::from_le_bytes(two))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_le_bytes(four))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::hex;

    #[test]
    fn the_attribute_of_a_file_with_named_users_and_groups_is_read() {
        let value = hex("02000000
            01000700ffffffff 02000400e8030000 02000700 01000000
            04000500ffffffff 08000600 02000000
            10000700ffffffff 20000000ffffffff");
        let acl = Acl::parse(&value).unwrap();
        let name = |kind, id, perm| AclName { kind, id, perm };
        assert_eq!(acl.user_obj, Some(7));
        assert_eq!(acl.group_obj, Some(5));
        assert_eq!(acl.mask, Some(7));
        assert_eq!(acl.other, Some(0));
        let expected =
            [name(IdKind::User, 1, 7), name(IdKind::User, 1000, 4), name(IdKind::Group, 2, 6)];
        assert_eq!(acl.names, expected);
        let mut sorted = value.clone();
        sorted[12..28].rotate_left(ENTRY);
        assert_eq!(acl.to_linux(&|_, id| id), sorted);

        let both_users_are_7 = |kind, id| if kind == IdKind::User { 7 } else { id };
        let mapped = Acl::parse(&acl.to_linux(&both_users_are_7)).unwrap();
        assert_eq!(mapped.names, [name(IdKind::User, 7, 4), name(IdKind::Group, 2, 6)]);
    }

    #[test]
    fn attributes_of_another_shape_are_refused() {
        for bad in ["", "020000", "03000000", "0200000001", "02000000 01000800ffffffff"] {
            assert!(matches!(Acl::parse(&hex(bad)), Err(Error::Malformed(_))), "{bad}");
        }
        assert_eq!(Acl::parse(&hex("02000000")).unwrap(), Acl::default());
    }
}
