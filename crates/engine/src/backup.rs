//! How what is replaced or deleted is kept: `--backup`, `--backup-dir`, `--suffix`.

use std::sync::Arc;

use tree::{Dir, Kind, Root};

use crate::event::{Event, Monitor};
use crate::list::join;
use crate::notice::Notice;
use crate::received::split;
use crate::site::{Backup, Site};

impl Site {
    /// Moves an item to where its backup belongs. Without `--backup` nothing happens.
    pub(crate) fn back_up(
        &self,
        (dir, name): (&Dir, &[u8]),
        path: &[u8],
        monitor: Monitor<'_>,
    ) -> tree::Result<()> {
        let Some(backup) = &self.backup else { return Ok(()) };
        let there = self.backup_place(backup, path)?;
        let (to, kept) = (there.as_deref().unwrap_or(dir), backup.name(name));
        make_room(to, &kept);
        self.move_to(dir, name, to, &kept)?;
        backup.tell(path, monitor);
        Ok(())
    }

    /// Keeps a copy of a file that is about to be replaced by a rename; its name stays in use.
    pub(crate) fn back_up_replaced(
        &self,
        (dir, name): (&Dir, &[u8]),
        path: &[u8],
        monitor: Monitor<'_>,
    ) -> tree::Result<()> {
        let Some(backup) = &self.backup else { return Ok(()) };
        let there = self.backup_place(backup, path)?;
        let (to, kept) = (there.as_deref().unwrap_or(dir), backup.name(name));
        make_room(to, &kept);
        if dir.hard_link(name, to, &kept).is_err() {
            self.move_to(dir, name, to, &kept)?;
        }
        backup.tell(path, monitor);
        Ok(())
    }

    /// Copies a file that is about to be updated in place, and opens the copy.
    pub(crate) fn copy_to_backup(
        &self,
        backup: &Backup,
        (dir, name): (&Dir, &[u8]),
        path: &[u8],
        monitor: Monitor<'_>,
    ) -> tree::Result<std::fs::File> {
        let there = self.backup_place(backup, path)?;
        let (to, kept) = (there.as_deref().unwrap_or(dir), backup.name(name));
        make_room(to, &kept);
        self.copy(dir, name, to, &kept)?;
        backup.tell(path, monitor);
        to.open_file(&kept)
    }

    /// Opens the directory that the backup of `path` goes into; `None` is the one that it is in.
    fn backup_place(&self, backup: &Backup, path: &[u8]) -> tree::Result<Option<Arc<Dir>>> {
        let Some(tree) = &backup.tree else { return Ok(None) };
        self.backup_dir(tree.root()?, split(path).0).map(Some)
    }

    fn move_to(&self, dir: &Dir, name: &[u8], to: &Dir, kept: &[u8]) -> tree::Result<()> {
        match dir.rename(name, to, kept) {
            Err(error) if is_other_device(&error) => {
                self.copy(dir, name, to, kept)?;
                dir.remove_file(name)
            }
            moved => moved,
        }
    }

    /// Copies a regular file with its attributes.
    fn copy(&self, dir: &Dir, name: &[u8], to: &Dir, kept: &[u8]) -> tree::Result<()> {
        let stat = dir.stat(name)?;
        let from = dir.open_file(name)?;
        let mut staged = to.stage(tree::temp_name(kept, &self.suffix, true), 0o600)?;
        tree::copy_whole(&from, &staged.file, stat.size).map_err(|source| tree::Error::Io {
            op: "copy",
            path: to.path_of(kept),
            source,
        })?;
        let set = tree::Attributes {
            mode: Some(stat.mode & 0o7777),
            owner: self.is_root.then_some(stat.uid),
            group: self.is_root.then_some(stat.gid),
            mtime: Some((stat.mtime, stat.mtime_nsec)),
            ..Default::default()
        };
        match staged.apply(&set).into_iter().next() {
            Some(error) => Err(error),
            None => staged.commit(to, kept),
        }
    }

    /// Opens a directory of the backup tree, made like the one in the destination where missing.
    fn backup_dir(&self, root: &Root, path: &[u8]) -> tree::Result<Arc<Dir>> {
        match root.open_dir(path) {
            Ok(dir) => return Ok(Arc::new(dir)),
            Err(error) if path.is_empty() => return Err(error),
            Err(_) => {}
        }
        let (parent, name) = split(path);
        let parent_dir = self.backup_dir(root, parent)?;
        // What was a file when an older backup was made may be a directory now.
        if parent_dir.stat(name).is_ok_and(|stat| stat.kind() == Kind::Regular) {
            parent_dir.remove_file(name)?;
        }
        parent_dir.make_dir(name, 0o755)?;
        let original = self.root.as_ref().and_then(|root| root.open_dir(parent).ok());
        if let Some(stat) = original.and_then(|dir| dir.stat(name).ok())
            && stat.kind() == Kind::Dir
        {
            let set = tree::Attributes {
                mode: Some(stat.mode & 0o7777),
                owner: self.is_root.then_some(stat.uid),
                group: self.is_root.then_some(stat.gid),
                ..Default::default()
            };
            // The backup itself matters more than how its directory looks.
            drop(parent_dir.apply(name, None, &set));
        }
        Ok(Arc::new(root.open_dir(path)?))
    }
}

/// Takes an older backup away, or an empty directory. Stock removes a directory with all that it
/// holds; here that stays, and the new backup fails.
fn make_room(to: &Dir, kept: &[u8]) {
    if to.remove_file(kept).is_err() {
        let _ = to.remove_dir(kept);
    }
}

impl Backup {
    /// Tells where an item is kept.
    fn tell(&self, path: &[u8], monitor: Monitor<'_>) {
        let to = join(&self.dir, &self.name(path));
        let name = [path, b" to ", &to].concat();
        monitor(Event::Notice { notice: Notice::BackedUp, name: &name });
    }
}

/// Tells whether a rename failed because two file systems are concerned.
pub(crate) fn is_other_device(error: &tree::Error) -> bool {
    error.reason().kind() == std::io::ErrorKind::CrossesDevices
}
