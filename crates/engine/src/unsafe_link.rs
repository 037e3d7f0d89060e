//! Does a symlink lead out of the tree that is copied? (`--safe-links`, `--copy-unsafe-links`)

/// Tells whether `target`, read in the directory of `link`, leads above the transfer root, or
/// cannot be shown not to.
pub(crate) fn leads_out(target: &[u8], link: &[u8]) -> bool {
    if target.is_empty() || target.starts_with(b"/") {
        return true;
    }
    let parts = |path: &'_ [u8]| -> Vec<Vec<u8>> {
        let parts = path.split(|byte| *byte == b'/').filter(|part| !matches!(*part, b"" | b"."));
        parts.map(<[u8]>::to_vec).collect()
    };
    let mut depth = 0_usize;
    for part in parts(link).iter().rev().skip(1).rev() {
        depth = if part == b".." { 0 } else { depth + 1 };
    }
    let target = parts(target);
    // `..` behind a name could be read as coming back from wherever that name leads.
    let first_name = target.iter().position(|part| part != b"..").unwrap_or(target.len());
    if target[first_name..].iter().any(|part| part == b"..") {
        return true;
    }
    first_name > depth
}

/// Names a symlink and its target as rsync does in a remark.
pub(crate) fn quoted_link(link: &[u8], target: &[u8]) -> Vec<u8> {
    [b"\"", link, b"\" -> \"", target, b"\""].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_safe_as_long_as_it_stays_below_the_root() {
        let table: [(&str, &str, bool); 8] = [
            ("b", "a", false),
            ("../b", "a", true),
            ("../b", "d/a", false),
            ("../../b", "d/a", true),
            ("/etc/passwd", "a", true),
            ("", "a", true),
            ("x/../b", "d/a", true),
            ("./x/y", "a", false),
        ];
        for (target, link, expected) in table {
            assert_eq!(
                leads_out(target.as_bytes(), link.as_bytes()),
                expected,
                "{link} -> {target}"
            );
        }
    }
}
