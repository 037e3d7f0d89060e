//! How are the ACLs of file list entries read, and what does a receiver put back into them?
//!
//! See docs/protocol/attributes.md, "ACLs".

use std::io::Read;
use std::sync::Arc;

use super::encoder::{GROUP_OBJ, IS_USER, MASK, NAME_FOLLOWS, NAMES, OTHER, USER_OBJ};
use super::{Acl, AclName};
use crate::error::{Error, Result};
use crate::flist::IdKind;
use crate::flist::back_references::Received;
use crate::flist::id_names::ReceivedNames;
use crate::int::{read_u8, read_varint};
use crate::limits;

/// Reads the ACLs of one connection.
#[derive(Debug, Default)]
pub(crate) struct AclDecoder {
    access: Received<Acl>,
    default: Received<Acl>,
}

impl AclDecoder {
    /// Reads the access ACL of an entry.
    pub(crate) fn read_access<R: Read + ?Sized>(
        &mut self,
        r: &mut R,
        ids: &mut ReceivedNames,
    ) -> Result<Arc<Acl>> {
        self.access.read(r, |r| read(r, ids))
    }

    /// Reads the default ACL of a directory.
    pub(crate) fn read_default<R: Read + ?Sized>(
        &mut self,
        r: &mut R,
        ids: &mut ReceivedNames,
    ) -> Result<Arc<Acl>> {
        self.default.read(r, |r| read(r, ids))
    }
}

impl Acl {
    /// Returns this access ACL with what the mode says put in.
    ///
    /// A mask is always that of the mode, which shows it as the group's bits.
    pub fn completed(&self, mode: u32) -> Acl {
        let bits = |shift: u32| Some((mode >> shift & 7) as u8);
        let has_mask = self.mask.is_some() || !self.names.is_empty();
        Acl {
            user_obj: bits(6),
            group_obj: if has_mask { self.group_obj.or(bits(3)) } else { bits(3) },
            mask: bits(3).filter(|_| has_mask),
            other: bits(0),
            names: self.names.clone(),
        }
    }

    /// Returns this default ACL with the mask that its names need; `None` if there is none to set.
    pub fn completed_default(&self) -> Option<Acl> {
        self.user_obj?;
        let mut acl = self.clone();
        if acl.mask.is_none() && !acl.names.is_empty() {
            let names = acl.names.iter().map(|name| name.perm);
            acl.mask = Some(names.fold(acl.group_obj.unwrap_or(0), |mask, perm| mask | perm));
        }
        Some(acl)
    }

    /// Tells whether the mode alone says what this access ACL says.
    pub fn is_plain_mode(&self) -> bool {
        self.mask.is_none() && self.names.is_empty()
    }
}

fn read<R: Read + ?Sized>(r: &mut R, ids: &mut ReceivedNames) -> Result<(Acl, usize)> {
    let flags = read_u8(r)?;
    if flags & !(USER_OBJ | GROUP_OBJ | MASK | OTHER | NAMES) != 0 {
        return Err(Error::Malformed(format!("ACL flags {flags:#x}")));
    }
    let mut part = |flag: u8| match flags & flag {
        0 => Ok(None),
        _ => perm(read_varint(r)?).map(Some),
    };
    let mut acl = Acl {
        user_obj: part(USER_OBJ)?,
        group_obj: part(GROUP_OBJ)?,
        mask: part(MASK)?,
        other: part(OTHER)?,
        names: Vec::new(),
    };
    if flags & NAMES != 0 {
        acl.names = read_names(r, ids)?;
    }
    let size = acl.names.len() * size_of::<AclName>();
    Ok((acl, size))
}

fn read_names<R: Read + ?Sized>(r: &mut R, ids: &mut ReceivedNames) -> Result<Vec<AclName>> {
    let count = read_varint(r)?;
    let fits = usize::try_from(count).is_ok_and(|count| count <= limits::ACL_NAMES);
    if !fits {
        return Err(Error::Malformed(format!("ACL of {count} names")));
    }
    let mut names = Vec::new();
    for _ in 0..count {
        let id = read_varint(r)? as u32;
        let bits = read_varint(r)?;
        let kind = if bits & IS_USER != 0 { IdKind::User } else { IdKind::Group };
        let perm = perm(bits >> 2)?;
        if bits & NAME_FOLLOWS != 0 {
            if !ids.are_inline() {
                return Err(Error::Protocol("it named an id in an ACL, which has no name".into()));
            }
            ids.read_name(r, kind, id)?;
        }
        names.push(AclName { kind, id, perm });
    }
    names.shrink_to_fit();
    Ok(names)
}

fn perm(bits: i32) -> Result<u8> {
    let perm = u8::try_from(bits).ok().filter(|perm| *perm <= 7);
    perm.ok_or_else(|| Error::Malformed(format!("ACL permissions {bits:#o}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_fills_in_what_an_access_acl_left_out() {
        let plain = Acl::default().completed(0o100_754);
        let perms = |acl: &Acl| (acl.user_obj, acl.group_obj, acl.mask, acl.other);
        assert_eq!(perms(&plain), (Some(7), Some(5), None, Some(4)));
        assert!(plain.is_plain_mode());

        let names = vec![AclName { kind: IdKind::User, id: 1, perm: 6 }];
        let named = Acl { group_obj: Some(4), names, ..Acl::default() };
        assert_eq!(perms(&named.completed(0o674)), (Some(6), Some(4), Some(7), Some(4)));
        assert!(!named.is_plain_mode());
    }

    #[test]
    fn a_default_acl_with_names_gets_the_mask_that_they_need() {
        let names = vec![AclName { kind: IdKind::Group, id: 1, perm: 4 }];
        let acl = Acl { group_obj: Some(1), names, ..Acl::default() };
        assert_eq!(acl.completed_default(), None);
        let acl = Acl { user_obj: Some(7), ..acl };
        assert_eq!(acl.completed_default().unwrap().mask, Some(5));
    }
}
