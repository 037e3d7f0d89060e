//! What a far side that cannot do everything is asked for instead.
//!
//! Only while nothing has happened there yet: a far side without ACLs or extended attributes
//! refuses the arguments, one below protocol 30 cannot carry them, and a path of several missing
//! directories is made only when asked.

use wire::options::Options;

use super::failure::Failure;
use super::task::Task;

/// Changes the options so that another attempt may succeed, and says what is left out.
pub(crate) fn adapt(task: &Task, options: &mut Options, failure: &Failure) -> Option<String> {
    let text = failure.what.to_lowercase();
    if task.attributes_are_a_wish && (options.acls || options.xattrs > 0) {
        if text.contains("requires protocol 30") {
            options.acls = false;
            options.xattrs = 0;
            return Some(
                "the far side's protocol is too old for ACLs and extended attributes: both are left out"
                    .into(),
            );
        }
        if options.acls && text.contains("acls are not supported") {
            options.acls = false;
            return Some("the far side cannot keep ACLs: they are left out".into());
        }
        if options.xattrs > 0 && text.contains("extended attributes are not supported") {
            options.xattrs = 0;
            return Some("the far side cannot keep extended attributes: they are left out".into());
        }
    }
    let path_is_missing = text.contains("mkdir") && text.contains("no such file or directory");
    if task.makes_path && !options.mkpath && path_is_missing {
        options.mkpath = true;
        return Some("the destination path is not there yet: it is made".into());
    }
    None
}
