//! What is an ACL, in values and in bytes?
//!
//! [`Acl::parse`] reads what Linux keeps and [`Acl::to_linux`] writes it; encoder and decoder do the
//! same with what goes with an entry of a file list.
//! The facts are in docs/protocol/attributes.md, "ACLs".

mod decoder;
mod encoder;
mod fake_super;
mod linux;

pub(crate) use decoder::AclDecoder;
pub(crate) use encoder::AclEncoder;
pub use fake_super::{FAKE_ACCESS_XATTR, FAKE_DEFAULT_XATTR};
pub use linux::{ACCESS_XATTR, DEFAULT_XATTR};

use crate::flist::IdKind;

/// A POSIX access control list; permissions are r = 4, w = 2, x = 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acl {
    /// What the owner may do.
    pub user_obj: Option<u8>,
    /// What the owning group may do.
    pub group_obj: Option<u8>,
    /// What everybody named, and the owning group, may do at most.
    pub mask: Option<u8>,
    /// What all others may do.
    pub other: Option<u8>,
    /// Named users by id, then named groups by id.
    pub names: Vec<AclName>,
}

/// What a named user or group may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AclName {
    /// Whether a user or a group is meant.
    pub kind: IdKind,
    /// The id on this machine.
    pub id: u32,
    /// The permissions.
    pub perm: u8,
}
