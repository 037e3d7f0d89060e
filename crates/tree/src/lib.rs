//! The disk, seen through directory handles: walk, stat, read, stage, commit, attributes.
//!
//! Purpose: everything that a transfer reads from a file system and writes to it. A [`Root`]
//! confines names to one directory; a [`Dir`] works with single names, so a symlink that somebody swaps in while we
//! run leads nowhere.
//!
//! Invariants: no name with a `/` reaches a system call except through [`Root::open_dir`], which
//! resolves beneath its root and follows no symlink unless asked. A file becomes visible under its
//! name when it is complete: it is [staged](Dir::stage), gets its attributes, and is renamed.
//!
//! What it does not do: it knows nothing of the rsync protocol, of filters, or of what a listing
//! is used for. It never prints.
//!
//! ```
//! # fn main() -> Result<(), tree::Error> {
//! let root = tree::Root::open(std::path::Path::new("."))?;
//! let dir = root.open_dir(b".")?;
//! let mut names = tree::Listing::default();
//! dir.read_names(&mut names, 0)?;
//! assert!(names.iter().all(|entry| !entry.name.contains(&b'/')));
//! # Ok(())
//! # }
//! ```

mod attributes;
mod changes;
mod copy;
mod dir;
mod error;
mod fake_super;
mod handle;
mod id_names;
mod journal;
mod listing;
mod newborn;
mod privilege;
mod read;
mod root;
mod sparse;
mod staged;
mod stat;
mod xattr;

pub use attributes::{Attributes, MayRemove};
pub use copy::{copy_range, copy_whole, copy_whole_while};
pub use dir::{Dir, advise_sequential};
pub use error::{Error, Result};
pub use id_names::IdNames;
pub use journal::{Journal, Leftover};
pub use listing::{Kind, Listed, Listing};
pub use privilege::{is_root, own_groups};
pub use read::ReadAs;
pub use root::{Follow, Resolver, Root};
pub use sparse::{Ground, Reserve, SparseWriter, preallocate, punch_hole};
pub use staged::{Staged, temp_name};
pub use stat::Stat;
