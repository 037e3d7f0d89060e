//! In which order do the entries of a file list stand?
//!
//! In one directory everything else comes before the directories, and each directory is followed
//! by its contents; a directory compares as if its name ended in a slash. Names are compared
//! where they stand, without building keys. See docs/protocol/file-list.md, "Order".

use std::cmp::Ordering;

/// Compares two paths from the transfer root, as both sides sort a list (protocol 29 on).
pub fn compare(a: &[u8], a_is_dir: bool, b: &[u8], b_is_dir: bool) -> Ordering {
    match (is_root(a, a_is_dir), is_root(b, b_is_dir)) {
        (false, false) => {}
        (a_is_root, b_is_root) => return b_is_root.cmp(&a_is_root),
    }
    let (a, b) = (without_dot(a, a_is_dir), without_dot(b, b_is_dir));
    let shared = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let start = a[..shared].iter().rposition(|&byte| byte == b'/');
    let start = start.map_or(0, |slash| slash + 1);
    let (a_name, a_holds) = component(&a[start..], a_is_dir);
    let (b_name, b_holds) = component(&b[start..], b_is_dir);
    compare_siblings(a_name, a_holds, b_name, b_holds).then(a.len().cmp(&b.len()))
}

/// Compares two names of one directory; faster than [`compare`], and of the same order.
pub fn compare_siblings(a: &[u8], a_is_dir: bool, b: &[u8], b_is_dir: bool) -> Ordering {
    if a_is_dir != b_is_dir {
        return a_is_dir.cmp(&b_is_dir);
    }
    if !a_is_dir {
        return a.cmp(b);
    }
    let end = a.len().min(b.len());
    let slash = Some(&b'/');
    match a[..end].cmp(&b[..end]) {
        Ordering::Equal if a.len() == b.len() => Ordering::Equal,
        Ordering::Equal => a.get(end).or(slash).cmp(&b.get(end).or(slash)),
        different => different,
    }
}

/// Tells whether a path is that of the transfer root itself, which comes first of all.
fn is_root(path: &[u8], is_dir: bool) -> bool {
    is_dir && path == b"."
}

/// Takes the last `/.` from a directory, which adds nothing to its place.
fn without_dot(path: &[u8], is_dir: bool) -> &[u8] {
    match path.strip_suffix(b"/.") {
        Some(parent) if is_dir => parent,
        _ => path,
    }
}

/// Cuts off the first component, and tells whether it is a directory.
fn component(path: &[u8], is_dir: bool) -> (&[u8], bool) {
    match path.iter().position(|&byte| byte == b'/') {
        Some(slash) => (&path[..slash], true),
        None => (path, is_dir),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The order as docs/protocol/file-list.md defines it, by keys.
    fn key(path: &[u8], is_dir: bool) -> Vec<(u8, Vec<u8>)> {
        let mut components: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
        let last = components.pop().unwrap();
        let mut key: Vec<_> = components.iter().map(|c| (1, [c, &b"/"[..]].concat())).collect();
        match (is_dir, last) {
            (true, b".") => {}
            (true, last) => key.push((1, [last, b"/"].concat())),
            (false, last) => key.push((0, last.to_vec())),
        }
        key
    }

    fn path() -> impl Strategy<Value = (Vec<u8>, bool)> {
        let component = prop_oneof![
            "[ab]{1,3}",
            "[a.\\-0/]{1,3}",
            Just(".".to_string()),
            Just("ab\u{ff}".to_string())
        ];
        let components = proptest::collection::vec(component, 1..4);
        (components, any::<bool>(), any::<bool>()).prop_map(|(components, is_dir, absolute)| {
            let path = components.join("/");
            let path = if absolute { format!("/{path}") } else { path };
            (path.into_bytes(), is_dir)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn paths_compare_as_their_keys_do((a, a_dir) in path(), (b, b_dir) in path()) {
            prop_assert_eq!(compare(&a, a_dir, &b, b_dir), key(&a, a_dir).cmp(&key(&b, b_dir)));
        }

        #[test]
        fn names_of_one_directory_compare_alike_alone_and_in_paths(
            a in "[a.\\-0]{1,4}[ab]", a_dir: bool, b in "[a.\\-0]{1,4}[ab]", b_dir: bool,
        ) {
            let alone = compare_siblings(a.as_bytes(), a_dir, b.as_bytes(), b_dir);
            let (in_a, in_b) = (format!("x/y/{a}"), format!("x/y/{b}"));
            prop_assert_eq!(alone, compare(in_a.as_bytes(), a_dir, in_b.as_bytes(), b_dir));
        }
    }

    #[test]
    fn files_come_before_directories_which_compare_with_their_slash() {
        let sorted = [
            (".", true),
            ("aa.txt", false),
            ("z", false),
            ("dir-a", true),
            ("dir.x", true),
            ("dir.x/f", false),
            ("dir", true),
            ("dir/z", false),
            ("dir/sub", true),
            ("dir0", true),
        ];
        for pair in sorted.windows(2) {
            let [(a, a_dir), (b, b_dir)] = [pair[0], pair[1]];
            assert_eq!(compare(a.as_bytes(), a_dir, b.as_bytes(), b_dir), Ordering::Less);
            assert_eq!(compare(b.as_bytes(), b_dir, a.as_bytes(), a_dir), Ordering::Greater);
        }
    }
}
