//! Which options let the far side delete?

use super::{OptionSpec, delete, flag, switch, valued};
use crate::options::{DeleteTiming, number};

pub(super) const OPTIONS: &[OptionSpec] = &[
    delete(&["delete"], "delete extraneous files", DeleteTiming::ByProtocol).key("delete"),
    delete(&["delete-before"], "delete before the transfer", DeleteTiming::Before),
    delete(&["delete-during", "del"], "delete during the transfer", DeleteTiming::During),
    delete(&["delete-delay"], "find during, delete after the transfer", DeleteTiming::Delay),
    delete(&["delete-after"], "delete after the transfer", DeleteTiming::After),
    flag(&["delete-excluded"], "also delete excluded files", |o| o.delete_excluded = true),
    valued(&["max-delete"], "NUM", "do not delete more than NUM files", |o, text| {
        // Every negative number means what 0 means: nothing is deleted, with a warning.
        o.max_delete = Some(u32::try_from(number(text)?).unwrap_or(0));
        Ok(())
    }),
    switch(&["force"], "delete directories that are in the way", |o, on| o.force = on),
    switch(&["ignore-errors"], "delete even after read errors", |o, on| o.ignore_errors = on),
];
