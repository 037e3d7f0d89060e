//! Which extended attributes does a sender send, and which does a receiver keep?
//!
//! Linux shows an unprivileged process only what it may read, so a sender's rule is the same for
//! every user; what a receiver may write depends on it. See docs/protocol/attributes.md, "Which names travel".

use std::borrow::Cow;

/// The name space of ACLs and of the kernel itself.
const SYSTEM: &[u8] = b"system.";
/// The name space of everybody.
const USER: &[u8] = b"user.";
/// Where rsync keeps names that a receiver was not allowed to set.
const DISGUISE: &[u8] = b"user.rsync.";
/// Where rsync keeps owners, types and ACLs that a receiver was not allowed to set.
const FAKE_SUPER: &[u8] = b"user.rsync.%";

/// Tells whether an attribute is sent.
///
/// `times_given` counts `-X`; `verdict` is what the filter rules for xattrs say of the name, if
/// there are any: then they alone decide about `system.`.
pub fn is_sent(name: &[u8], times_given: u8, verdict: Option<bool>) -> bool {
    let is_included = verdict.unwrap_or(!name.starts_with(SYSTEM));
    is_included && (times_given > 1 || !name.starts_with(FAKE_SUPER))
}

/// Returns the name under which a `--fake-super` sender sends an attribute; `None` if it does not.
///
/// [`stored_name`] leads back to the name on the disk.
pub fn sent_name(name: &[u8], times_given: u8, verdict: Option<bool>) -> Option<&[u8]> {
    if !is_sent(name, times_given, verdict) {
        return None;
    }
    match name.strip_prefix(DISGUISE) {
        Some(b"%stat" | b"%aacl" | b"%dacl") => None,
        Some(rest) if !rest.starts_with(b"%") => Some(rest),
        _ => Some(name),
    }
}

/// What a receiver may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Everything, as the super-user.
    Root,
    /// What belongs to an ordinary user.
    User,
    /// The same, and the rest is kept under other names (`--fake-super`).
    FakeSuper,
}

/// Returns the name under which a receiver keeps an attribute; `None` if it does not.
///
/// `times_given` and `verdict` are those of [`is_sent`].
pub fn stored_name(
    name: &[u8],
    times_given: u8,
    verdict: Option<bool>,
    standing: Standing,
) -> Option<Cow<'_, [u8]>> {
    if verdict == Some(false) {
        return None;
    }
    let stored = match standing {
        Standing::Root => Cow::Borrowed(name),
        _ if name.starts_with(USER) => Cow::Borrowed(name),
        Standing::User if verdict.is_none() => return None,
        _ => Cow::Owned([DISGUISE, name].concat()),
    };
    let may_be_rsyncs = times_given > 1 && standing != Standing::FakeSuper;
    (may_be_rsyncs || !stored.starts_with(FAKE_SUPER)).then_some(stored)
}

/// Tells whether an attribute of the destination is compared, and removed if the sender has none.
pub fn is_touched(name: &[u8], verdict: Option<bool>, standing: Standing) -> bool {
    let is_included = verdict.unwrap_or(match standing {
        Standing::Root => !name.starts_with(SYSTEM),
        _ => name.starts_with(USER),
    });
    is_included && !(standing == Standing::FakeSuper && name.starts_with(FAKE_SUPER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_names_stay_unless_a_rule_takes_them_in() {
        assert!(is_sent(b"user.x", 1, None));
        assert!(is_sent(b"security.selinux", 1, None));
        assert!(is_sent(b"trusted.x", 1, None));
        assert!(!is_sent(b"system.posix_acl_access", 2, None));
        assert!(is_sent(b"system.posix_acl_access", 1, Some(true)));
        assert!(!is_sent(b"user.x", 1, Some(false)));
    }

    #[test]
    fn names_of_rsync_itself_take_a_second_x() {
        assert!(!is_sent(b"user.rsync.%stat", 1, None));
        assert!(!is_sent(b"user.rsync.%stat", 1, Some(true)));
        assert!(is_sent(b"user.rsync.%stat", 2, None));
        assert!(is_sent(b"user.rsync.trusted.x", 1, None));
    }

    #[test]
    fn a_receiver_keeps_what_it_may_write_or_disguises_it() {
        use Standing::*;
        let table = [
            ("user.x", None, Root, Some("user.x")),
            ("trusted.b", None, Root, Some("trusted.b")),
            ("trusted.b", None, User, None),
            ("trusted.b", Some(true), User, Some("user.rsync.trusted.b")),
            ("trusted.b", None, FakeSuper, Some("user.rsync.trusted.b")),
            ("user.x", Some(false), Root, None),
            ("user.rsync.%stat", None, Root, None),
            ("%stat", None, FakeSuper, None),
        ];
        for (name, verdict, standing, expected) in table {
            let stored = stored_name(name.as_bytes(), 1, verdict, standing);
            assert_eq!(stored.as_deref(), expected.map(str::as_bytes), "{name} {standing:?}");
        }
        let twice = |standing| stored_name(b"user.rsync.%stat", 2, None, standing);
        assert!(twice(Root).is_some() && twice(FakeSuper).is_none());
    }

    #[test]
    fn a_fake_super_sender_takes_the_disguise_off() {
        assert_eq!(sent_name(b"user.rsync.trusted.x", 1, None), Some(&b"trusted.x"[..]));
        assert_eq!(sent_name(b"user.x", 1, None), Some(&b"user.x"[..]));
        assert_eq!(sent_name(b"user.rsync.%stat", 2, None), None);
    }

    #[test]
    fn a_receiver_leaves_alone_what_is_not_its_own() {
        assert!(is_touched(b"security.x", None, Standing::Root));
        assert!(!is_touched(b"system.x", None, Standing::Root));
        assert!(!is_touched(b"security.x", None, Standing::User));
        assert!(!is_touched(b"user.x", Some(false), Standing::Root));
        assert!(!is_touched(b"user.rsync.%aacl", Some(true), Standing::FakeSuper));
    }
}
