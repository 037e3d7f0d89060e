//! What a name is taken for: itself, or what its symlink points to.

use std::fs::File;
use std::io::{Seek, SeekFrom};

use tree::{Dir, Kind, ReadAs, Stat};
use wire::options::Options;

use crate::unsafe_link::leads_out;

/// Which names are seen through.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Look {
    /// All symlinks (`--copy-links`).
    links: bool,
    /// Symlinks to directories (`--copy-dirlinks`).
    dir_links: bool,
    /// Symlinks that lead out of the tree (`--copy-unsafe-links`).
    unsafe_links: bool,
    /// Devices, which then count as files (`--copy-devices`).
    devices: bool,
    /// Whether files are read without a trace (`--open-noatime`).
    no_atime: bool,
}

impl Look {
    pub(crate) fn of(options: &Options) -> Self {
        Self {
            links: options.copy_links,
            dir_links: options.copy_dirlinks,
            unsafe_links: options.copy_unsafe_links,
            devices: options.copy_devices,
            no_atime: options.atimes > 1 || options.open_noatime,
        }
    }

    /// Tells whether any symlink is seen through.
    pub(crate) fn follows_links(self) -> bool {
        self.links || self.dir_links || self.unsafe_links
    }

    /// Tells whether a directory's own word for the kind of a name is not the last one.
    pub(crate) fn doubts(self, kind: Kind) -> bool {
        match kind {
            Kind::Symlink => self.follows_links(),
            Kind::Device => self.devices,
            _ => false,
        }
    }

    /// Reads the attributes of `name`, whose path from the transfer root is `path`, as they are
    /// sent. For a symlink that stays one `target` is filled as well.
    pub(crate) fn stat(
        self,
        dir: &Dir,
        name: &[u8],
        path: &[u8],
        target: &mut Vec<u8>,
    ) -> tree::Result<Stat> {
        let own = dir.stat(name)?;
        let seen = match own.kind() {
            Kind::Symlink if self.links => dir.stat_follow(name)?,
            Kind::Symlink => {
                dir.read_link(name, target)?;
                if self.unsafe_links && leads_out(target, path) {
                    dir.stat_follow(name)?
                } else if self.dir_links {
                    let seen = dir.stat_follow(name).ok();
                    seen.filter(|seen| seen.kind() == Kind::Dir).unwrap_or(own)
                } else {
                    own
                }
            }
            _ => own,
        };
        match seen.kind() {
            Kind::Device if self.devices => {
                let size = self.open(dir, name).ok().and_then(|mut file| end_of(&mut file));
                let mode = seen.mode & 0o7777 | 0o100_000;
                Ok(Stat { mode, size: size.unwrap_or(0), ..seen })
            }
            _ => Ok(seen),
        }
    }

    /// Opens a file for reading.
    pub(crate) fn open(self, dir: &Dir, name: &[u8]) -> tree::Result<File> {
        let follow = self.follows_links();
        dir.open_file_as(name, ReadAs { follow, no_atime: self.no_atime })
    }

    /// Returns the length of an open file; `None` when it is nothing that is sent as a file.
    pub(crate) fn len(self, file: &mut File) -> std::io::Result<Option<u64>> {
        let metadata = file.metadata()?;
        match metadata.is_file() {
            true => Ok(Some(metadata.len())),
            false if self.devices && !metadata.is_dir() => Ok(end_of(file)),
            false => Ok(None),
        }
    }
}

/// Returns where a device ends, and goes back to its beginning.
fn end_of(file: &mut File) -> Option<u64> {
    let end = file.seek(SeekFrom::End(0)).ok()?;
    file.rewind().ok()?;
    Some(end)
}
