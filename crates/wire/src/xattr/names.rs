//! Which extended attributes does a sender send?
//!
//! Linux shows an unprivileged process only what it may read, so the rule is the same for every
//! user. See docs/protocol/attributes.md, "Which names travel".

/// The name space of ACLs and of the kernel itself.
const SYSTEM: &[u8] = b"system.";
/// Where rsync keeps what a receiver was not allowed to set (`--fake-super`).
const FAKE_SUPER: &[u8] = b"user.rsync.%";

/// Tells whether an attribute is sent.
///
/// `times_given` counts `-X`; `verdict` is what the filter rules for xattrs say of the name, if
/// there are any: then they alone decide about `system.`.
pub fn is_sent(name: &[u8], times_given: u8, verdict: Option<bool>) -> bool {
    let is_included = verdict.unwrap_or(!name.starts_with(SYSTEM));
    is_included && (times_given > 1 || !name.starts_with(FAKE_SUPER))
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
}
