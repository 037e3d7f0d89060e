//! Which directories of the destination are open.

use std::sync::Arc;

use tree::Dir;

use crate::received::split;
use crate::site::Site;

/// Directories that stay open; the work goes directory by directory.
const MAX_OPEN: usize = 8;

/// The directories that were used last, newest at the end.
#[derive(Debug, Default)]
pub(crate) struct SiteDirs {
    open: Vec<(Vec<u8>, Arc<Dir>)>,
}

impl SiteDirs {
    /// Returns the directory `path` below the destination; `None` when it is not there.
    pub(crate) fn open(&mut self, site: &Site, path: &[u8]) -> tree::Result<Option<Arc<Dir>>> {
        let path = if path == b"." { b"" } else { path };
        if let Some(at) = self.open.iter().rposition(|(name, _)| name == path) {
            let entry = self.open.remove(at);
            let dir = Arc::clone(&entry.1);
            self.open.push(entry);
            return Ok(Some(dir));
        }
        let Some(root) = &site.root else { return Ok(None) };
        let dir = match root.open_dir_with(path, site.follow) {
            Ok(dir) => Arc::new(dir),
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        if self.open.len() == MAX_OPEN {
            self.open.remove(0);
        }
        self.open.push((path.to_vec(), Arc::clone(&dir)));
        Ok(Some(dir))
    }

    /// Forgets a directory that is no longer what it was, and all below it.
    pub(crate) fn forget(&mut self, path: &[u8]) {
        self.open.retain(|(name, _)| {
            name.strip_prefix(path).is_none_or(|rest| !matches!(rest.first(), None | Some(b'/')))
        });
    }

    /// Opens the directory `path`, making what is missing of it.
    pub(crate) fn make(
        &mut self,
        site: &Site,
        path: &[u8],
        mode: u32,
    ) -> tree::Result<Option<Arc<Dir>>> {
        if let Some(dir) = self.open(site, path)? {
            return Ok(Some(dir));
        }
        if path.is_empty() {
            return Ok(None);
        }
        let (parent, name) = split(path);
        let Some(parent) = self.make(site, parent, mode)? else { return Ok(None) };
        parent.make_dir(name, mode)?;
        self.open(site, path)
    }
}
