//! In which order a file gets its attributes.
//!
//! Owner and group first, because changing them clears the set-id bits and because nobody shall
//! have rights before the file is his; then extended attributes, times, ACLs, and the mode last
//! (sheet 3, 6.5). What is right already is left alone. Where the owner cannot be changed, or the
//! times, nothing more is done.

use std::fs::File;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, Timespec, Timestamps, UTIME_OMIT};
use rustix::io::Errno;

use crate::changes::single;
use crate::fake_super::{self, FAKE_ACCESS_ACL, FAKE_DEFAULT_ACL, FAKE_STAT};
use crate::handle::Handle;
use crate::{Dir, Error, Kind, Result, Stat};

/// Where Linux keeps the ACL of a file.
pub(crate) const ACCESS_ACL: &[u8] = b"system.posix_acl_access";
/// Where Linux keeps the ACL that a directory gives to what is made in it.
pub(crate) const DEFAULT_ACL: &[u8] = b"system.posix_acl_default";

const SET_IDS: u32 = 0o6000;
const STICKY: u32 = 0o1000;

/// Judges the name of an extended attribute.
pub type MayRemove<'a> = &'a dyn Fn(&[u8]) -> bool;

/// The attributes that a file shall have; what is `None` stays as it is.
#[derive(Clone, Copy, Default)]
pub struct Attributes<'a> {
    /// What the file has, if known; else it is asked.
    pub now: Option<Stat>,
    /// The file was made just now, so its times are wrong and it has no attributes of a past.
    pub is_new: bool,
    /// Permissions with the special bits. With `fake_super` the type counts too.
    pub mode: Option<u32>,
    /// User number.
    pub owner: Option<u32>,
    /// Group number.
    pub group: Option<u32>,
    /// Numbers of a device; only `fake_super` reads them.
    pub rdev: Option<(u32, u32)>,
    /// Last modification, seconds and nanoseconds.
    pub mtime: Option<(i64, u32)>,
    /// Last access, seconds and nanoseconds.
    pub atime: Option<(i64, u32)>,
    /// The value of `system.posix_acl_access`; empty for none.
    pub access_acl: Option<&'a [u8]>,
    /// The value of `system.posix_acl_default`; empty for none.
    pub default_acl: Option<&'a [u8]>,
    /// The whole set of extended attributes, names as they are stored.
    pub xattrs: Option<&'a [(Vec<u8>, Vec<u8>)]>,
    /// Tells which attribute outside that set may be removed. Without it: for root all but
    /// `system.*`, for others `user.*`.
    pub may_remove: Option<MayRemove<'a>>,
    /// Keeps in attributes of its own what only root may set (`--fake-super`).
    pub fake_super: bool,
}

impl Attributes<'_> {
    fn new_owner(&self, now: &Stat) -> (Option<u32>, Option<u32>) {
        let differs = |wanted: Option<u32>, has: u32| wanted.filter(|id| *id != has);
        (differs(self.owner, now.uid), differs(self.group, now.gid))
    }

    /// What `utimensat` has to be told, if anything.
    fn new_times(&self, now: &Stat) -> Option<Timestamps> {
        let has_mtime = Some((now.mtime, now.mtime_nsec));
        let mtime = self.mtime.filter(|_| self.is_new || self.mtime != has_mtime);
        let atime = self.atime.filter(|(seconds, _)| self.is_new || *seconds != now.atime);
        if mtime.is_none() && atime.is_none() {
            return None;
        }
        Some(Timestamps { last_access: timespec(atime), last_modification: timespec(mtime) })
    }

    /// Tells whether all but the times is known to be right.
    fn is_only_times(&self, now: &Stat) -> bool {
        let has_lists =
            self.xattrs.is_some() || self.access_acl.is_some() || self.default_acl.is_some();
        let mode_differs = self.mode.is_some_and(|mode| (mode ^ now.mode) & 0o7777 != 0);
        !has_lists
            && !self.fake_super
            && self.new_owner(now) == (None, None)
            && (!mode_differs || now.kind() == Kind::Symlink)
    }
}

fn timespec(time: Option<(i64, u32)>) -> Timespec {
    match time {
        Some((seconds, nanos)) => {
            Timespec { tv_sec: seconds, tv_nsec: nanos.min(999_999_999).into() }
        }
        None => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
    }
}

impl Dir {
    /// Gives `name` (`.` is the directory itself) the attributes in `set`, through `file` if it is
    /// open. One that fails does not stop the others.
    pub fn apply(&self, name: &[u8], file: Option<&File>, set: &Attributes<'_>) -> Vec<Error> {
        self.try_apply(name, file, set).unwrap_or_else(|error| vec![error])
    }

    fn try_apply(
        &self,
        name: &[u8],
        file: Option<&File>,
        set: &Attributes<'_>,
    ) -> Result<Vec<Error>> {
        if let (None, Some(now)) = (file, &set.now)
            && set.is_only_times(now)
        {
            return Ok(self.set_times(name, set.new_times(now)).err().into_iter().collect());
        }
        let failed = |errno| self.failed("set attributes of", name, errno);
        let (handle, now) = match file {
            Some(file) => {
                let handle = Handle::Open(file.as_fd());
                let known = set.now.filter(|_| !set.fake_super);
                let now = known.map_or_else(|| handle.stat(), Ok).map_err(failed)?;
                (handle, now)
            }
            None => self.hold(name, set).map_err(failed)?,
        };
        let work = Applying { dir: self, name, handle, set, now, errors: vec![] };
        Ok(work.run())
    }

    fn set_times(&self, name: &[u8], times: Option<Timestamps>) -> Result<()> {
        let Some(times) = times else { return Ok(()) };
        here(name)
            .and_then(|()| {
                rustix::fs::utimensat(self.fd(), name, &times, AtFlags::SYMLINK_NOFOLLOW)
            })
            .map_err(|errno| self.failed("set times of", name, errno))
    }

    /// Holds `name`, and refuses another file that took its place.
    fn hold(&self, name: &[u8], set: &Attributes<'_>) -> rustix::io::Result<(Handle<'_>, Stat)> {
        here(name)?;
        let kind = match &set.now {
            // What is faked as a device is a regular file.
            Some(now) if !set.fake_super => now.kind(),
            _ => Kind::Unknown,
        };
        let handle = Handle::open(self.fd(), name, kind)?;
        let now = handle.stat()?;
        let is_other = |known: Stat| (known.dev, known.ino) != (now.dev, now.ino);
        if !set.is_new && set.now.is_some_and(is_other) {
            return Err(Errno::STALE);
        }
        Ok((handle, now))
    }
}

fn here(name: &[u8]) -> rustix::io::Result<()> {
    if name == b"." { Ok(()) } else { single(name) }
}

/// One file on its way through the steps.
struct Applying<'a> {
    dir: &'a Dir,
    name: &'a [u8],
    handle: Handle<'a>,
    set: &'a Attributes<'a>,
    /// What the file really has by now.
    now: Stat,
    errors: Vec<Error>,
}

impl Applying<'_> {
    fn run(mut self) -> Vec<Error> {
        let mode_before = self.now.mode;
        if self.set.fake_super {
            self.set_fake_stat();
        } else if !self.set_owner() {
            // Nobody gets rights to a file that belongs to the wrong one.
            return self.errors;
        }
        self.set_xattrs();
        if let Some(times) = self.set.new_times(&self.now) {
            let done = self.handle.set_times(&times);
            if !self.note("set times of", done) {
                return self.errors;
            }
        }
        let mode = self.set.mode.map(|mode| self.real_mode(mode));
        self.set_acls(mode);
        self.set_mode(mode.or_else(|| {
            // Only a write permission that was added for the attributes goes again.
            (self.now.mode & !mode_before & 0o200 != 0).then_some(self.now.mode & !0o200)
        }));
        self.errors
    }

    /// The permissions that the file itself gets when `mode` is wanted.
    fn real_mode(&self, mode: u32) -> u32 {
        match self.set.fake_super {
            true => fake_super::real_mode(mode, self.now.kind()),
            false => mode,
        }
    }

    fn set_owner(&mut self) -> bool {
        let (owner, group) = self.set.new_owner(&self.now);
        if (owner, group) == (None, None) {
            return true;
        }
        let done = self.handle.chown(owner, group);
        let is_done = self.note("change owner of", done);
        if self.now.mode & SET_IDS != 0
            && let Ok(stat) = self.handle.stat()
        {
            self.now = stat;
        }
        is_done
    }

    fn set_fake_stat(&mut self) {
        let place = self.handle.place();
        let stored = if self.set.is_new { Ok(None) } else { place.read(FAKE_STAT) };
        let done = stored.and_then(|stored| {
            let text = fake_super::text_for(self.set, &self.now, stored.as_deref());
            match text {
                text if text == stored => Ok(()),
                Some(text) => self.writable(|place| place.write(FAKE_STAT, &text)),
                None => self.writable(|place| place.remove(FAKE_STAT)),
            }
        });
        self.note("set attribute of", done);
    }

    fn set_xattrs(&mut self) {
        let Some(wanted) = self.set.xattrs else { return };
        let present = match self.set.is_new && !self.dir.gives_acl() {
            true => Ok(Vec::new()),
            false => self.handle.place().names(),
        };
        let present = present.unwrap_or_else(|errno| {
            self.note("list attributes of", Err(errno));
            Vec::new()
        });
        for (attribute, value) in wanted {
            let place = self.handle.place();
            let has_it = present.contains(attribute)
                && place.read(attribute).is_ok_and(|has| has.as_ref() == Some(value));
            if !has_it {
                let done = self.writable(|place| place.write(attribute, value));
                self.note("set attribute of", done);
            }
        }
        let is_wanted = |name: &[u8]| wanted.iter().any(|(wanted, _)| wanted == name);
        for attribute in present {
            if !is_wanted(&attribute) && self.may_remove(&attribute) {
                let done = self.writable(|place| place.remove(&attribute));
                self.note("remove attribute of", done);
            }
        }
    }

    fn may_remove(&self, attribute: &[u8]) -> bool {
        if self.set.fake_super && fake_super::is_own(attribute) {
            return false;
        }
        match self.set.may_remove {
            Some(may_remove) => may_remove(attribute),
            None if rustix::process::geteuid().is_root() => !attribute.starts_with(b"system."),
            None => attribute.starts_with(b"user."),
        }
    }

    /// Changes an attribute; an owner who lacks write permission gets it for that.
    fn writable(
        &mut self,
        change: impl Fn(crate::xattr::Place<'_>) -> rustix::io::Result<()>,
    ) -> rustix::io::Result<()> {
        match change(self.handle.place()) {
            Err(Errno::ACCESS) if self.now.mode & 0o200 == 0 => {
                self.handle.chmod(self.now.mode | 0o200)?;
                self.now.mode |= 0o200;
                change(self.handle.place())
            }
            other => other,
        }
    }

    fn set_acls(&mut self, mode: Option<u32>) {
        let kind = self.now.kind();
        if let Some(value) = self.set.access_acl.filter(|_| kind != Kind::Symlink) {
            let value = if is_minimal(value) { b"" } else { value };
            if self.set.fake_super {
                let mode = self.set.mode.unwrap_or(self.now.mode);
                self.set_acl(FAKE_ACCESS_ACL, &fake_super::acl_text(value, Some(mode)));
            } else {
                self.close_before_acl(mode);
                if self.set_acl(ACCESS_ACL, value) && !value.is_empty() {
                    self.now.mode = self.now.mode & !0o777 | mode_of_acl(value);
                }
            }
        }
        if let Some(value) = self.set.default_acl.filter(|_| kind == Kind::Dir) {
            if self.set.fake_super {
                self.set_acl(FAKE_DEFAULT_ACL, &fake_super::acl_text(value, None));
            } else {
                self.set_acl(DEFAULT_ACL, value);
            }
        }
    }

    /// An ACL must not open a file to others that still is set-id, nor a directory that shall
    /// be sticky and is not yet.
    fn close_before_acl(&mut self, mode: Option<u32>) {
        let Some(mode) = mode else { return };
        if self.now.mode & !mode & SET_IDS != 0 || mode & !self.now.mode & STICKY != 0 {
            self.set_mode(Some(mode & 0o7700));
        }
    }

    fn set_acl(&mut self, attribute: &[u8], value: &[u8]) -> bool {
        let inherits = !self.set.fake_super && self.dir.gives_acl();
        let place = self.handle.place();
        let done = match (self.set.is_new, value) {
            (true, b"") if !inherits => return true,
            (true, b"") => place.remove(attribute),
            (true, _) => place.write(attribute, value),
            (false, _) => match place.read(attribute) {
                Ok(has) if has.as_deref().unwrap_or_default() == value => return true,
                Ok(_) if value.is_empty() => self.writable(|place| place.remove(attribute)),
                Ok(_) => self.writable(|place| place.write(attribute, value)),
                Err(errno) => Err(errno),
            },
        };
        self.note("set ACL of", done)
    }

    fn set_mode(&mut self, mode: Option<u32>) {
        let Some(mode) = mode else { return };
        if self.now.kind() == Kind::Symlink || (mode ^ self.now.mode) & 0o7777 == 0 {
            return;
        }
        let done = self.handle.chmod(mode);
        if self.note("set permissions of", done) {
            self.now.mode = self.now.mode & !0o7777 | mode & 0o7777;
        }
    }

    fn note(&mut self, op: &'static str, done: rustix::io::Result<()>) -> bool {
        match done {
            Ok(()) => true,
            Err(errno) => {
                self.errors.push(self.dir.failed(op, self.name, errno));
                false
            }
        }
    }
}

/// Tells whether an ACL says nothing beyond a mode: three entries, none of them named.
fn is_minimal(value: &[u8]) -> bool {
    value.len() == 4 + 3 * 8
}

/// The permissions that the kernel shows for an ACL: those of the mask in the place of the group's.
pub(crate) fn mode_of_acl(value: &[u8]) -> u32 {
    let permissions = |tag: u16| {
        let entry = fake_super::entries(value).find(|entry| entry.tag == tag);
        entry.map(|entry| u32::from(entry.permissions & 7))
    };
    let owner = permissions(fake_super::USER_OBJ).unwrap_or(0);
    let group = permissions(fake_super::MASK).or(permissions(fake_super::GROUP_OBJ)).unwrap_or(0);
    owner << 6 | group << 3 | permissions(fake_super::OTHER).unwrap_or(0)
}
