//! What may this process do to files that are not its own?

/// Tells whether we are root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns all groups that we are in.
pub fn own_groups() -> Vec<u32> {
    let further = rustix::process::getgroups().unwrap_or_default();
    let own = rustix::process::getegid();
    further.into_iter().chain([own]).map(rustix::process::Gid::as_raw).collect()
}
