//! The disk, seen through directory handles: walk, stat, read, attributes.
//!
//! Purpose: everything that a transfer reads from a file system. A [`Root`] confines names to one
//! directory; a [`Dir`] works with single names, so a symlink that somebody swaps in while we
//! run leads nowhere.
//!
//! Invariants: no name with a `/` reaches a system call except through [`Root::open_dir`], which
//! resolves beneath its root and follows no symlink.
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

mod dir;
mod error;
mod id_names;
mod listing;
mod root;
mod stat;
mod xattr;

pub use dir::{Dir, advise_sequential};
pub use error::{Error, Result};
pub use id_names::IdNames;
pub use listing::{Kind, Listed, Listing};
pub use root::{Resolver, Root};
pub use stat::Stat;
