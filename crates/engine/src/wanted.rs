//! Which attributes should a file get, and what differs from those it has?

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tree::{Attributes, Dir, Kind, Staged, Stat};
use wire::item::iflags;
use wire::options::Options;
use wire::xattr::ReceivedXattrs;

use crate::received;
use crate::site::Site;

/// The permission bits of a mode.
const PERMISSIONS: u32 = 0o7777;
const EXECUTE: u32 = 0o111;

/// What the options keep, and how exactly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keeps<'a> {
    pub(crate) options: &'a Options,
    pub(crate) site: &'a Site,
}

/// Extended attributes and ACLs that an item should get, in the form of this system.
#[derive(Clone, Debug, Default)]
pub(crate) struct LongAttributes {
    /// Values of `system.posix_acl_access` and `_default`; empty removes it.
    pub(crate) access_acl: Option<Vec<u8>>,
    pub(crate) default_acl: Option<Vec<u8>>,
    /// The whole set, names as they are stored, as far as the values are known.
    pub(crate) xattrs: Option<Vec<(Vec<u8>, Vec<u8>)>>,
    /// Long values that come from the sender: the stored name, and the number in the set.
    pub(crate) missing: Vec<(Vec<u8>, u32)>,
    /// Numbers of those that this item asks for.
    pub(crate) wanted: Vec<u32>,
    /// The set as it was sent.
    pub(crate) set: Option<Arc<ReceivedXattrs>>,
}

/// Values by set and number; `None` is asked for and has not come.
type Values = HashMap<(usize, u32), Option<Arc<[u8]>>>;

/// Long values that have come, by set and number. Files with equal sets share them.
#[derive(Debug, Default)]
pub(crate) struct ComeValues {
    values: Mutex<Values>,
}

impl ComeValues {
    fn lock(&self) -> MutexGuard<'_, Values> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a value is asked for; false if it was asked for before.
    pub(crate) fn ask(&self, set: &Arc<ReceivedXattrs>, number: u32) -> bool {
        match self.lock().entry(key(set, number)) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(None);
                true
            }
        }
    }

    /// Notes a value that is known.
    pub(crate) fn know(&self, set: &Arc<ReceivedXattrs>, number: u32, value: &[u8]) {
        self.lock().insert(key(set, number), Some(value.into()));
    }

    /// Completes attributes by the values that have come; false if one is still missing.
    pub(crate) fn complete(&self, long: &mut LongAttributes) -> bool {
        let (Some(set), Some(xattrs)) = (&long.set, &mut long.xattrs) else { return true };
        let values = self.lock();
        long.missing.retain(|(name, number)| {
            let Some(Some(value)) = values.get(&key(set, *number)) else { return true };
            xattrs.push((name.clone(), value.to_vec()));
            false
        });
        long.missing.is_empty()
    }
}

/// The table of the list keeps each set as long as the session lives, so its place names it.
fn key(set: &Arc<ReceivedXattrs>, number: u32) -> (usize, u32) {
    (Arc::as_ptr(set).addr(), number)
}

/// Whether times are set along with the other attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Times {
    /// The listed time, exactly, because content or type is new.
    Exact,
    /// The listed time where it differs by more than the window.
    WhereDifferent,
    /// Not at all: the content is not what was listed.
    Never,
}

impl Keeps<'_> {
    /// Returns the permission bits that an item in `dir` should have.
    pub(crate) fn mode(
        &self,
        entry: &received::Entry,
        now: Option<&Stat>,
        dir: Option<&Dir>,
    ) -> u32 {
        let listed = entry.mode & PERMISSIONS;
        if self.options.perms {
            return listed;
        }
        match now {
            Some(now) if self.options.executability && entry.kind() == Kind::Regular => {
                executability(listed, now.mode & PERMISSIONS)
            }
            Some(now) => now.mode & PERMISSIONS,
            None => {
                let by_acl = dir.and_then(Dir::default_permissions);
                listed & by_acl.unwrap_or(0o777 & !self.site.umask)
            }
        }
    }

    /// Tells whether the modification time of such an item is kept.
    pub(crate) fn keeps_time(&self, kind: Kind) -> bool {
        self.options.times
            && match kind {
                Kind::Dir => !self.omits_dir_times(),
                Kind::Symlink => !self.options.omit_link_times,
                _ => true,
            }
    }

    /// Backups beside their files change the directories' times all the time.
    pub(crate) fn omits_dir_times(&self) -> bool {
        let backs_up_beside = self.options.backup && self.options.backup_dir.is_none();
        self.options.omit_dir_times || backs_up_beside
    }

    /// Tells whether two times count as equal (`--modify-window`).
    pub(crate) fn same_time(&self, entry: &received::Entry, now: &Stat) -> bool {
        match self.options.modify_window.unwrap_or(0) {
            window if window < 0 => entry.mtime == now.mtime && entry.mtime_nsec == now.mtime_nsec,
            0 => entry.mtime == now.mtime,
            window => entry.mtime.abs_diff(now.mtime) <= window.unsigned_abs().into(),
        }
    }

    /// Returns the bits of [`iflags`] for what differs from an item that is there.
    pub(crate) fn differences(&self, entry: &received::Entry, now: &Stat, long: u16) -> u16 {
        let kind = entry.kind();
        let bit = |differs: bool, bit: u16| if differs { bit } else { 0 };
        let mode_differs = kind != Kind::Symlink
            && (self.options.perms || self.options.executability)
            && self.mode(entry, Some(now), None) != now.mode & PERMISSIONS;
        long | bit(self.keeps_time(kind) && !self.same_time(entry, now), iflags::REPORT_TIME)
            | bit(
                kind != Kind::Symlink && self.atime(entry).is_some_and(|atime| atime != now.atime),
                iflags::REPORT_ATIME,
            )
            | bit(mode_differs, iflags::REPORT_PERMS)
            | bit(self.owner(entry).is_some_and(|uid| uid != now.uid), iflags::REPORT_OWNER)
            | bit(self.group(entry).is_some_and(|gid| gid != now.gid), iflags::REPORT_GROUP)
    }

    /// Sets what differs of an item that has the attributes `now`, or was just made.
    pub(crate) fn apply(
        &self,
        (dir, name): (&Dir, &[u8]),
        entry: &received::Entry,
        now: Option<&Stat>,
        long: &LongAttributes,
        times: Times,
    ) -> Vec<tree::Error> {
        dir.apply(name, None, &self.attributes(dir, entry, (now, now), long, times))
    }

    /// Sets the attributes of a staged file that takes the place of one with the attributes `old`.
    pub(crate) fn apply_new(
        &self,
        staged: &Staged<'_>,
        entry: &received::Entry,
        old: Option<&Stat>,
        long: &LongAttributes,
        times: Times,
    ) -> Vec<tree::Error> {
        staged.apply(&self.attributes(staged.dir(), entry, (old, None), long, times))
    }

    fn attributes<'v>(
        &self,
        dir: &Dir,
        entry: &received::Entry,
        (old, now): (Option<&Stat>, Option<&Stat>),
        long: &'v LongAttributes,
        times: Times,
    ) -> Attributes<'v> {
        let kind = entry.kind();
        let keeps = match times {
            Times::Never => false,
            Times::Exact => self.keeps_time(kind),
            Times::WhereDifferent => {
                self.keeps_time(kind) && now.is_none_or(|now| !self.same_time(entry, now))
            }
        };
        let fake_super = self.options.fake_super;
        let type_bits = if fake_super { entry.mode & !PERMISSIONS } else { 0 };
        Attributes {
            now: now.copied(),
            is_new: now.is_none(),
            mode: (kind != Kind::Symlink || fake_super)
                .then(|| type_bits | self.mode(entry, old, Some(dir))),
            rdev: fake_super.then(|| entry.rdev()),
            owner: self.owner(entry),
            group: self.group(entry),
            mtime: keeps.then_some((entry.mtime, entry.mtime_nsec)),
            atime: self.atime(entry).map(|atime| (atime, 0)),
            access_acl: long.access_acl.as_deref(),
            default_acl: long.default_acl.as_deref(),
            xattrs: long.xattrs.as_deref(),
            may_remove: None,
            fake_super,
        }
    }

    fn owner(&self, entry: &received::Entry) -> Option<u32> {
        let may = self.site.is_root || self.options.fake_super;
        (self.options.owner && may).then_some(entry.uid)
    }

    fn group(&self, entry: &received::Entry) -> Option<u32> {
        (self.options.group && !entry.keeps_group).then_some(entry.gid)
    }

    fn atime(&self, entry: &received::Entry) -> Option<i64> {
        (self.options.atimes > 0 && !entry.is_dir()).then_some(entry.atime)
    }
}

/// Gives a file the execute bits of the sender's, where it can be read (`--executability`).
fn executability(listed: u32, now: u32) -> u32 {
    match (listed & EXECUTE != 0, now & EXECUTE != 0) {
        (false, true) => now & !EXECUTE,
        (true, false) => now | (now & 0o444) >> 2,
        _ => now,
    }
}
