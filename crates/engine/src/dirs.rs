//! Which source directories are open for reading files.

use std::sync::Arc;

use tree::{Dir, Follow, Root};

/// Directories that stay open; requests come directory by directory.
const MAX_OPEN: usize = 4;

/// The directories that were used last, newest at the end.
#[derive(Debug)]
pub(crate) struct OpenDirs {
    /// Whether the way may lead through symlinks.
    follow: Follow,
    open: Vec<(u16, Vec<u8>, Arc<Dir>)>,
}

impl OpenDirs {
    pub(crate) fn new(follow: Follow) -> Self {
        Self { follow, open: Vec::new() }
    }

    /// Returns the directory `path` below the root number `root`.
    pub(crate) fn open(
        &mut self,
        roots: &[Root],
        root: u16,
        path: &[u8],
    ) -> tree::Result<Arc<Dir>> {
        let found = self.open.iter().rposition(|(at, name, _)| *at == root && name == path);
        if let Some(index) = found {
            let entry = self.open.remove(index);
            let dir = Arc::clone(&entry.2);
            self.open.push(entry);
            return Ok(dir);
        }
        let dir = Arc::new(roots[usize::from(root)].open_dir_with(path, self.follow)?);
        if self.open.len() == MAX_OPEN {
            self.open.remove(0);
        }
        self.open.push((root, path.to_vec(), Arc::clone(&dir)));
        Ok(dir)
    }
}
