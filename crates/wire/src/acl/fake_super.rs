//! How does `--fake-super` keep an ACL in an extended attribute?
//!
//! It is kept as it is sent: without what the mode says. See docs/protocol/attributes.md,
//! "Layout under fake-super".

use super::{Acl, AclName};
use crate::error::{Error, Result};
use crate::flist::IdKind;

/// The attribute that holds the access ACL of a file.
pub const FAKE_ACCESS_XATTR: &str = "user.rsync.%aacl";
/// The attribute that holds the default ACL of a directory.
pub const FAKE_DEFAULT_XATTR: &str = "user.rsync.%dacl";

/// Stands for an unnamed entry that there is not.
const NO_ENTRY: u32 = 0x80;
const IS_USER: u32 = 1 << 31;

impl Acl {
    /// Reads the value of [`FAKE_ACCESS_XATTR`] or [`FAKE_DEFAULT_XATTR`].
    pub fn parse_fake_super(value: &[u8]) -> Result<Self> {
        let malformed = || Error::Malformed(format!("fake-super ACL of {} bytes", value.len()));
        let (words, rest) = value.as_chunks::<4>();
        let mut words = words.iter().map(|word| u32::from_le_bytes(*word));
        let mut unnamed = || match words.next() {
            Some(NO_ENTRY) => Ok(None),
            Some(bits) => perm(bits).map(Some),
            None => Err(malformed()),
        };
        let mut acl = Acl {
            user_obj: unnamed()?,
            group_obj: unnamed()?,
            mask: unnamed()?,
            other: unnamed()?,
            names: Vec::new(),
        };
        if !rest.is_empty() || !words.len().is_multiple_of(2) {
            return Err(malformed());
        }
        while let (Some(id), Some(bits)) = (words.next(), words.next()) {
            let kind = if bits & IS_USER != 0 { IdKind::User } else { IdKind::Group };
            acl.names.push(AclName { kind, id, perm: perm(bits & !IS_USER)? });
        }
        acl.names.sort_unstable();
        Ok(acl)
    }

    /// Returns the value of [`FAKE_ACCESS_XATTR`] or [`FAKE_DEFAULT_XATTR`], of an ACL as it came;
    /// `map` finds the id on this machine.
    pub fn to_fake_super(&self, map: &dyn Fn(IdKind, u32) -> u32) -> Vec<u8> {
        let unnamed = [self.user_obj, self.group_obj, self.mask, self.other];
        let unnamed = unnamed.into_iter().map(|perm| perm.map_or(NO_ENTRY, u32::from));
        let named = self.names.iter().flat_map(|name| {
            let kind = if name.kind == IdKind::User { IS_USER } else { 0 };
            [map(name.kind, name.id), u32::from(name.perm) | kind]
        });
        unnamed.chain(named).flat_map(u32::to_le_bytes).collect()
    }
}

fn perm(bits: u32) -> Result<u8> {
    let perm = u8::try_from(bits).ok().filter(|perm| *perm <= 7);
    perm.ok_or_else(|| Error::Malformed(format!("fake-super ACL permissions {bits:#o}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::hex;

    #[test]
    fn the_recorded_attributes_are_read_and_written() {
        let user_5 = vec![AclName { kind: IdKind::User, id: 5, perm: 4 }];
        let access = Acl { mask: Some(5), names: user_5.clone(), ..Acl::default() };
        let default = Acl {
            user_obj: Some(7),
            group_obj: Some(5),
            mask: Some(5),
            other: Some(5),
            names: user_5,
        };
        for (acl, recorded) in [
            (access, "80000000 80000000 05000000 80000000 05000000 04000080"),
            (default, "07000000 05000000 05000000 05000000 05000000 04000080"),
        ] {
            assert_eq!(acl.to_fake_super(&|_, id| id), hex(recorded));
            assert_eq!(Acl::parse_fake_super(&hex(recorded)).unwrap(), acl);
        }
    }

    #[test]
    fn attributes_of_another_shape_are_refused() {
        let none = "80000000".repeat(4);
        assert!(Acl::parse_fake_super(&hex(&none)).is_ok());
        for bad in ["00", "05000000", "05000000 08000080", "05000000 04000080 00"] {
            let value = hex(&[&none, bad].concat());
            assert!(Acl::parse_fake_super(&value).is_err(), "{bad}");
        }
        for bad in ["", "80000000", "08000000 80000000 80000000 80000000"] {
            assert!(Acl::parse_fake_super(&hex(bad)).is_err(), "{bad}");
        }
    }
}
