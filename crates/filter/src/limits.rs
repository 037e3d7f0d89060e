//! How large may a rule or a nest of merge files become?

/// One rule, or one line of a file of rules, is shorter than this.
pub(crate) const MAX_RULE: usize = 5120;

/// One pattern is shorter than this.
pub(crate) const MAX_PATTERN: usize = 4096;

/// Merge files may include each other to this depth.
pub(crate) const MAX_NESTING: usize = 32;

/// So many per-directory merge files may be in force at the same time.
pub(crate) const MAX_DIR_MERGES: usize = 256;
