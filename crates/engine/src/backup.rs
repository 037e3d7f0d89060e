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
        let kept = backup.name(name);
        match &backup.root {
            None => self.move_to(dir, name, dir, &kept)?,
            Some(root) => {
                let there = self.backup_dir(root, split(path).0)?;
                self.move_to(dir, name, &there, &kept)?;
            }
        }
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
        let kept = backup.name(name);
        let there;
        let to = match &backup.root {
            None => dir,
            Some(root) => {
                there = self.backup_dir(root, split(path).0)?;
                &there
            }
        };
        // Of an older backup nothing is kept.
        let _ = to.remove_file(&kept);
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
        let kept = backup.name(name);
        let there;
        let to = match &backup.root {
            None => dir,
            Some(root) => {
                there = self.backup_dir(root, split(path).0)?;
                &there
            }
        };
        self.copy(dir, name, to, &kept)?;
        backup.tell(path, monitor);
        to.open_file(&kept)
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
            Err(error) if !error.is_not_found() => return Err(error),
            Err(_) => {}
        }
        let (parent, name) = split(path);
        let parent_dir = self.backup_dir(root, parent)?;
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
