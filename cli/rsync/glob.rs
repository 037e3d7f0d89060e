//! Which files does a path with wildcards name, where no shell has looked at it?

use std::fs;
use std::os::unix::ffi::OsStrExt;

use super::run::path_of;

/// Returns the paths that match, sorted; one that matches nothing stays as it is.
pub(crate) fn expand(path: &[u8]) -> Vec<Vec<u8>> {
    if !is_wild(path) {
        return vec![path.to_vec()];
    }
    let mut found: Vec<Vec<u8>> = vec![Vec::new()];
    for (at, part) in path.split(|byte| *byte == b'/').enumerate() {
        let slash: &[u8] = if at == 0 { b"" } else { b"/" };
        let below = |dir: &Vec<u8>| [dir.as_slice(), slash].concat();
        found = found.iter().map(below).flat_map(|dir| step(&dir, part)).collect();
    }
    match found.is_empty() {
        true => vec![path.to_vec()],
        false => found,
    }
}

fn is_wild(text: &[u8]) -> bool {
    text.iter().any(|byte| b"*?[".contains(byte))
}

/// Returns `dir` with each name in it that one part of a path matches.
fn step(dir: &[u8], part: &[u8]) -> Vec<Vec<u8>> {
    if !is_wild(part) {
        return vec![[dir, part].concat()];
    }
    let read = fs::read_dir(path_of(if dir.is_empty() { b"." } else { dir }));
    let names = read.into_iter().flatten().flatten().map(|entry| entry.file_name());
    let fits = |name: &[u8]| {
        (name.first() != Some(&b'.') || part.starts_with(b".")) && filter::wildmatch(part, name)
    };
    let mut names: Vec<Vec<u8>> = names.map(|name| name.as_bytes().to_vec()).collect();
    names.retain(|name| fits(name));
    names.sort();
    names.iter().map(|name| [dir, name].concat()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_are_looked_for_in_every_part_and_a_path_without_a_match_stays() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a1/x", "a2/x", "a2/.y", "b/x"] {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let below = |text: &str| dir.path().join(text).as_os_str().as_bytes().to_vec();
        assert_eq!(expand(&below("a?/*")), [below("a1/x"), below("a2/x")]);
        assert_eq!(expand(&below("[ab]/x")), [below("b/x")]);
        assert_eq!(expand(&below("c*")), [below("c*")]);
        assert_eq!(expand(b"plain"), [b"plain".to_vec()]);
    }
}
