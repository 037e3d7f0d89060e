//! How are extended attributes sent?
//!
//! [`is_sent`] says which travel, a [`XattrCollector`] makes the set of a file, which goes with
//! its entry in the file list; [`read_wanted`] and [`XattrReplyEncoder`] serve the long values
//! that a receiver lacks. The facts are in docs/protocol/attributes.md, "Extended attributes".

mod encoder;
mod names;
mod received;
mod set;
mod values;

pub(crate) use encoder::XattrEncoder;
pub use names::is_sent;
pub(crate) use received::XattrDecoder;
pub use received::{ReceivedXattr, ReceivedXattrs, Value};
pub use set::{ItemNames, XattrCollector, XattrSet};
pub use values::{XattrReplyEncoder, check_wanted, lists_follow, read_wanted};
