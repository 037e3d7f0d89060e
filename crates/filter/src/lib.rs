//! rsync's filter rules: which names take part in a transfer, and which are safe from deletion.
//!
//! A [`RuleList`] collects what the options say, in their order. An [`ActiveFilter`] puts it in
//! force for one side of a transfer: the walk tells it which directory it enters and leaves, and
//! asks about each name. [`RuleList::wire_rules`] gives the texts that a receiver needs,
//! [`RuleList::wire_rules_for_pull`] those for a sender; [`RuleList::from_wire`] reads them there.
//!
//! ```
//! use filter::{ActiveFilter, RuleList, Settings, Side, Verdict};
//!
//! let no_files = &mut |_: &[u8]| Ok(None);
//! let mut rules = RuleList::new(Settings::default());
//! rules.add_exclude(b"*.o")?;
//! rules.add_filter(b"P /keep", no_files)?;
//!
//! let mut filter = ActiveFilter::new(&rules, Side::Sender, b"/home/me");
//! filter.enter_dir(b"src", no_files)?;
//! assert_eq!(filter.check(b"src/main.o", false), Verdict::Exclude);
//! assert_eq!(filter.check(b"src/main.c", false), Verdict::Include);
//! filter.leave_dir();
//!
//! assert_eq!(rules.wire_rules(31)?, [&b"- *.o"[..], b"-r /keep"]);
//! # Ok::<(), filter::Error>(())
//! ```
//!
//! Names and patterns are bytes. The crate opens no file and reads no environment: the caller hands
//! in a closure that reads merge files, and the texts of `$HOME/.cvsignore` and `$CVSIGNORE`. It
//! does not decide whether a list is sent, nor walk, nor delete.
//!
//! The rules are those of `docs/protocol/filters.md`, which also lists the few places where stock
//! rsync does otherwise.

pub use active::{ActiveFilter, Hit};
pub use cvs::CvsIgnore;
pub use error::{Error, Origin, Reason};
pub use lines::LineEnds;
pub use list::{Closing, RuleList, Settings};
pub use merge::ReadFile;
pub use rule::{Side, Verdict};
pub use wildmatch::matches_pattern;

/// Says whether a pattern with rsync's wildcards matches the whole text.
pub fn wildmatch(pattern: &[u8], text: &[u8]) -> bool {
    wildmatch::Wildmatch::new(pattern).matches(text)
}

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
