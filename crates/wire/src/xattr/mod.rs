//! How are extended attributes sent?
//!
//! [`is_sent`] says which travel, a [`XattrCollector`] makes the set of a file, which goes with
//! its entry in the file list; a receiver gets [`ReceivedXattrs`], and [`stored_name`] says what it
//! keeps. [`read_wanted`] and [`XattrReplyEncoder`] serve the long values that a receiver lacks,
//! [`put_wanted`] and [`read_values`] are its side of that. The facts are in docs/protocol/attributes.md, "Extended attributes".

mod encoder;
mod names;
mod received;
mod set;
mod values;

pub(crate) use encoder::XattrEncoder;
pub use names::{Standing, is_sent, is_touched, sent_name, stored_name};
pub(crate) use received::XattrDecoder;
pub use received::{ReceivedXattr, ReceivedXattrs, Value};
pub use set::{ItemNames, XattrCollector, XattrSet};
pub use values::{
    XattrReplyEncoder, check_wanted, lists_follow, put_wanted, read_values, read_wanted,
};
