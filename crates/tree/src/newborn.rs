//! What a file has that was just made in a directory.
//!
//! Owner, group and mode of a new file follow from the process, its umask, the directory's
//! set-group-id bit and default ACL, and the file system's options. Rather than work that out, the
//! first file of a directory is asked, and its answer holds for the next ones: one call for a
//! directory in place of one for a file. So a directory gets its own attributes before it is opened to
//! put files into it.

use std::fs::File;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::{Dir, Result, Stat};

/// What is known of the new files of one directory.
#[derive(Debug, Default)]
pub(crate) struct Newborns {
    latest: Mutex<Option<Latest>>,
    default_acl: OnceLock<Option<Vec<u8>>>,
}

#[derive(Clone, Copy, Debug)]
struct Latest {
    asked_mode: u32,
    stat: Stat,
}

impl Dir {
    /// Tells owner, group and mode of `file`, just created with `mode`; the rest belongs to a
    /// brother of it.
    pub(crate) fn newborn(&self, file: &File, mode: u32) -> Result<Stat> {
        let mut latest = self.newborns.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = *latest
            && known.asked_mode == mode
        {
            return Ok(known.stat);
        }
        let stat = rustix::fs::fstat(file).map_err(|errno| self.failed("stat", b"", errno))?.into();
        *latest = Some(Latest { asked_mode: mode, stat });
        Ok(stat)
    }

    /// Tells whether new files get an ACL from the directory.
    pub(crate) fn gives_acl(&self) -> bool {
        self.default_acl().is_some()
    }

    /// Returns the permissions that the directory's default ACL allows new files, if it has one.
    pub fn default_permissions(&self) -> Option<u32> {
        self.default_acl().filter(|acl| !acl.is_empty()).map(crate::attributes::mode_of_acl)
    }

    fn default_acl(&self) -> Option<&[u8]> {
        let ask = || {
            // Who cannot ask removes an ACL that may not be there, which does no harm.
            let acl = self.xattr(b".", crate::attributes::DEFAULT_ACL);
            acl.unwrap_or_else(|_| Some(Vec::new()))
        };
        self.newborns.default_acl.get_or_init(ask).as_deref()
    }
}
