//! What is a file list, in values and in bytes?
//!
//! [`FlistEncoder`] writes the lists of a connection, [`FlistDecoder`] reads them, [`order`] says
//! in which order their entries stand. The facts are in docs/protocol/file-list.md.

pub(crate) mod back_references;
mod decoder;
mod encoder;
mod entry;
mod flags;
mod hard_links;
pub(crate) mod id_names;
pub mod order;
mod previous;
mod received;

#[cfg(test)]
mod tests;

pub use decoder::{FlistDecoder, ListStep};
pub use encoder::FlistEncoder;
pub use entry::{DirMark, FileEntry, FlistFields};
pub use id_names::{IdKind, NameLookup};
pub use received::{LinkMark, ReceivedEntry};
