//! How does an ACL go with an entry of a file list?
//!
//! See docs/protocol/attributes.md, "ACLs".

use super::Acl;
use crate::flist::IdKind;
use crate::flist::back_references::BackReferences;
use crate::flist::id_names::{IdNames, put_name};
use crate::int::put_varint;

pub(super) const USER_OBJ: u8 = 0x01;
pub(super) const GROUP_OBJ: u8 = 0x02;
pub(super) const MASK: u8 = 0x04;
pub(super) const OTHER: u8 = 0x08;
pub(super) const NAMES: u8 = 0x10;

pub(super) const NAME_FOLLOWS: i32 = 1;
pub(super) const IS_USER: i32 = 2;

/// Writes the ACLs of one connection.
#[derive(Debug, Default)]
pub(crate) struct AclEncoder {
    access: BackReferences,
    default: BackReferences,
    /// The bytes of the ACL at hand without names, by which an equal one is found.
    plain: Vec<u8>,
}

impl AclEncoder {
    /// Appends an access ACL without what the mode says already.
    pub(crate) fn put_access(
        &mut self,
        out: &mut Vec<u8>,
        acl: Option<&Acl>,
        mode: u32,
        ids: &mut IdNames,
    ) {
        let wire = acl.map(|acl| Wire::access(acl, mode)).unwrap_or_default();
        put(out, &mut self.access, &mut self.plain, &wire, ids);
    }

    /// Appends the default ACL of a directory; none is one without entries.
    pub(crate) fn put_default(&mut self, out: &mut Vec<u8>, acl: Option<&Acl>, ids: &mut IdNames) {
        let wire = acl.map(Wire::default_acl).unwrap_or_default();
        put(out, &mut self.default, &mut self.plain, &wire, ids);
    }
}

/// The parts of an ACL that are sent.
#[derive(Default)]
struct Wire<'a> {
    user_obj: Option<u8>,
    group_obj: Option<u8>,
    mask: Option<u8>,
    other: Option<u8>,
    names: &'a [super::AclName],
}

impl<'a> Wire<'a> {
    fn access(acl: &'a Acl, mode: u32) -> Self {
        let group_bits = (mode >> 3 & 7) as u8;
        let unlike_mode = |perm: &u8| *perm != group_bits;
        Self {
            user_obj: None,
            group_obj: acl.group_obj.filter(unlike_mode).filter(|_| acl.mask.is_some()),
            mask: acl.mask.filter(|mask| acl.names.is_empty() || unlike_mode(mask)),
            other: None,
            names: &acl.names,
        }
    }

    fn default_acl(acl: &'a Acl) -> Self {
        Self {
            user_obj: acl.user_obj,
            group_obj: acl.group_obj,
            mask: acl.mask,
            other: acl.other,
            names: &acl.names,
        }
    }

    /// Appends this ACL; `name` gives what has to follow an id.
    fn put(&self, out: &mut Vec<u8>, mut name: impl FnMut(IdKind, u32) -> Option<Vec<u8>>) {
        let parts = [
            (USER_OBJ, self.user_obj),
            (GROUP_OBJ, self.group_obj),
            (MASK, self.mask),
            (OTHER, self.other),
        ];
        let present = parts.iter().filter(|(_, perm)| perm.is_some());
        let flags = present.fold(0, |flags, (flag, _)| flags | flag);
        out.push(if self.names.is_empty() { flags } else { flags | NAMES });
        for perm in parts.into_iter().filter_map(|(_, perm)| perm) {
            put_varint(out, i32::from(perm));
        }
        if self.names.is_empty() {
            return;
        }
        put_varint(out, self.names.len() as i32);
        for entry in self.names {
            let kind = if entry.kind == IdKind::User { IS_USER } else { 0 };
            let bits = i32::from(entry.perm) << 2 | kind;
            put_varint(out, entry.id as i32);
            match name(entry.kind, entry.id) {
                Some(name) => {
                    put_varint(out, bits | NAME_FOLLOWS);
                    put_name(out, &name);
                }
                None => put_varint(out, bits),
            }
        }
    }
}

fn put(
    out: &mut Vec<u8>,
    sent: &mut BackReferences,
    plain: &mut Vec<u8>,
    wire: &Wire<'_>,
    ids: &mut IdNames,
) {
    plain.clear();
    wire.put(plain, |_, _| None);
    if !sent.put(out, plain) {
        wire.put(out, |kind, id| ids.note(kind, id));
    }
}
