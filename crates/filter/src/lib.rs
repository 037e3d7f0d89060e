//! rsync's filter rules: which names take part in a transfer, and which are safe from deletion.
pub use active::ActiveFilter;
pub use cvs::CvsIgnore;
pub use error::{Error, Origin, Reason};
pub use lines::LineEnds;
pub use list::{Closing, RuleList, Settings};
pub use merge::ReadFile;
pub use rule::{Side, Verdict};

mod accel;
mod active;
mod bracket;
mod cvs;
mod error;
mod limits;
mod lines;
mod list;
mod merge;
mod parents;
mod parse;
mod pattern;
mod rule;
mod wildmatch;
mod wire;
