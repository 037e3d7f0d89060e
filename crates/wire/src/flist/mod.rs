//! What is a file list, in values and in bytes?
//!
//! [`FlistEncoder`] writes the lists of a connection, [`order`] says in which order their
//! entries stand. The facts are in docs/protocol/file-list.md.

pub(crate) mod back_references;
mod encoder;
mod entry;
mod flags;
mod hard_links;
pub(crate) mod id_names;
pub mod order;
mod previous;

#[cfg(test)]
mod tests;

pub use encoder::FlistEncoder;
pub use entry::{DirMark, FileEntry, FlistFields};
pub use id_names::{IdKind, NameLookup};
