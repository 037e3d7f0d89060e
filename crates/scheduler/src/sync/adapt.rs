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
    let acls = options.acls && task.wishes.acls;
    let xattrs = options.xattrs > 0 && task.wishes.xattrs;
    if acls && is_without(&text, "acls") {
        options.acls = false;
        return Some("the far side cannot keep ACLs: they are left out".into());
    }
    if xattrs && (is_without(&text, "extended attributes") || is_without(&text, "xattrs")) {
        options.xattrs = 0;
        return Some("the far side cannot keep extended attributes: they are left out".into());
    }
    let path_is_missing = text.contains("mkdir") && text.contains("no such file or directory");
    if task.makes_path && !options.mkpath && path_is_missing {
        options.mkpath = true;
        return Some("the destination path is not there yet: it is made".into());
    }
    None
}

/// Either the far side was built without them, or the protocol is too old to carry them.
fn is_without(text: &str, attributes: &str) -> bool {
    text.contains(&format!("{attributes} are not supported"))
        || text.contains(&format!("--{attributes} requires protocol"))
}
