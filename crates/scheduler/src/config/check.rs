//! Which names, hosts and paths are safe to be used?

use std::net::Ipv6Addr;

use super::file::Text;
use super::problem::Problems;

/// Characters that a remote shell or a daemon takes for a wildcard.
const WILDCARDS: [char; 4] = ['*', '?', '[', ']'];

/// Says that something is known and not obeyed.
pub(super) fn not_yet(what: &str) -> String {
    format!("{what} is known but this version does not do it yet")
}

/// Checks the name of a job or a target; a job's becomes the name of a directory.
pub(super) fn name(what: &str, name: &Text, problems: &mut Problems<'_>) {
    let text: &str = name.as_ref();
    let good = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    let message = if text.is_empty() {
        format!("a {what} needs a name")
    } else if text.starts_with(['-', '.']) {
        format!("the name of a {what} cannot begin with a dash or a dot")
    } else if !text.chars().all(good) {
        format!("the name of a {what} can hold letters, digits, `-`, `_` and `.`")
    } else {
        return;
    };
    problems.add(name.span(), message);
}

/// Checks a host; a dash in front would be an option of ssh.
pub(super) fn host(host: &Text, problems: &mut Problems<'_>) {
    let text: &str = host.as_ref();
    let message = if text.is_empty() {
        "the host is empty"
    } else if text.starts_with('-') {
        "a host cannot begin with a dash"
    } else if text.contains('@') {
        "a user has a key of its own: `user` of the module, or `user` in `ssh`"
    } else if text.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
        "a host cannot hold blanks"
    } else if text.contains('/') || text.contains(':') && !is_ipv6(text) {
        "only the host belongs here: module and path have keys of their own"
    } else {
        return;
    };
    problems.add(host.span(), message);
}

/// Tells whether the text is an address like `fe80::1%eth0`.
fn is_ipv6(text: &str) -> bool {
    text.split('%').next().is_some_and(|address| address.parse::<Ipv6Addr>().is_ok())
}

/// Checks a login or account name.
pub(super) fn user(user: &Text, problems: &mut Problems<'_>) {
    let text: &str = user.as_ref();
    let bad =
        |letter: char| letter.is_whitespace() || letter.is_control() || "@:/".contains(letter);
    if text.is_empty() || text.starts_with('-') || text.contains(bad) {
        problems.add(user.span(), "this is no user name");
    }
}

/// Checks the name of a daemon's module.
pub(super) fn module(module: &Text, problems: &mut Problems<'_>) {
    let text: &str = module.as_ref();
    let message = if text.is_empty() {
        "the module is empty"
    } else if text.contains('/') {
        "a module has no slash; what is below it belongs into `path`"
    } else if text.contains(char::is_control) || text.starts_with(['-', '#']) {
        "this is no module name"
    } else {
        return;
    };
    problems.add(module.span(), message);
}

/// Checks a directory of the far side, below which the jobs are.
pub(super) fn far_path(path: &Text, below: Below, problems: &mut Problems<'_>) {
    let text: &str = path.as_ref();
    let message = if text.contains(char::is_control) {
        "a path cannot hold control characters".to_string()
    } else if text.split('/').any(|part| part == "..") {
        "a path cannot hold `..`".to_string()
    } else if below != Below::Here && text.contains(WILDCARDS) {
        "the far side would expand a wildcard (`*`, `?`, `[`) in this path".to_string()
    } else if below == Below::Module && text.starts_with('/') {
        "this path is below the module, so it cannot begin with a slash".to_string()
    } else if text.starts_with('-') {
        "a path cannot begin with a dash".to_string()
    } else if below == Below::Here && !text.starts_with('/') {
        "a path of this machine must be absolute".to_string()
    } else {
        return;
    };
    problems.add(path.span(), message);
}

/// Tells what a far path is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Below {
    Module,
    Login,
    Here,
}
