//! Which directories above a transfer are searched for a per-directory merge file?

use crate::pattern::Root;

/// Gives a path without `.`, `..`, doubled or trailing slashes; the root directory is empty.
pub(crate) fn normalize(path: &[u8]) -> Vec<u8> {
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut normal = Vec::with_capacity(path.len());
    for (index, part) in parts.iter().enumerate() {
        if index > 0 || path.starts_with(b"/") {
            normal.push(b'/');
        }
        normal.extend_from_slice(part);
    }
    normal
}

/// Gives the directories from the one that a merge rule names down to the parent of `top`.
///
/// There are none unless the named directory is above `top`. All paths are normal.
pub(crate) fn above(named: &[u8], top: &[u8]) -> Vec<Vec<u8>> {
    let joined = if named.starts_with(b"/") { named.to_vec() } else { [top, b"/", named].concat() };
    let first = normalize(&joined);
    let Some(rest) = top.strip_prefix(&*first).filter(|rest| rest.starts_with(b"/")) else {
        return Vec::new();
    };
    let slashes = (0..rest.len()).filter(|&at| rest[at] == b'/');
    slashes.map(|at| top[..first.len() + at].to_vec()).collect()
}

/// Gives what a leading slash means in a file of the directory `dir` for a transfer from `base`.
pub(crate) fn anchor(dir: &[u8], base: &[u8]) -> Root {
    if dir == base {
        return Root::Transfer;
    }
    let under = |path: &[u8], dir: &[u8]| -> Option<Box<[u8]>> {
        path.strip_prefix(dir)?.strip_prefix(b"/").map(Into::into)
    };
    match (under(dir, base), under(base, dir)) {
        (Some(below), _) => Root::Below(below),
        (None, Some(above)) => Root::Above(above),
        (None, None) => Root::FileSystem,
    }
}
