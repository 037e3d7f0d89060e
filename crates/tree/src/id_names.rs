//! Which name belongs to a user or group number.
//!
//! Read from `/etc/passwd` and `/etc/group`, so that a static build asks no name service.

use std::collections::HashMap;

/// The names of numbers, read once.
#[derive(Debug, Default)]
pub struct IdNames {
    users: HashMap<u32, Vec<u8>>,
    groups: HashMap<u32, Vec<u8>>,
}

impl IdNames {
    /// Reads the system's two files; a missing file gives no names.
    pub fn of_system() -> Self {
        let read = |path| std::fs::read(path).map(|text| parse(&text)).unwrap_or_default();
        Self { users: read("/etc/passwd"), groups: read("/etc/group") }
    }

    /// Returns the name of a user, if he has one.
    pub fn user(&self, uid: u32) -> Option<&[u8]> {
        self.users.get(&uid).map(Vec::as_slice)
    }

    /// Returns the number of a user.
    pub fn user_id(&self, name: &[u8]) -> Option<u32> {
        id_of(&self.users, name)
    }

    /// Returns the number of a group.
    pub fn group_id(&self, name: &[u8]) -> Option<u32> {
        id_of(&self.groups, name)
    }

    /// Returns the name of a group, if it has one.
    pub fn group(&self, gid: u32) -> Option<&[u8]> {
        self.groups.get(&gid).map(Vec::as_slice)
    }
}

fn id_of(names: &HashMap<u32, Vec<u8>>, name: &[u8]) -> Option<u32> {
    names.iter().filter(|(_, known)| *known == name).map(|(id, _)| *id).min()
}

/// Reads `name:password:number:...` lines; the first line of a number counts.
fn parse(text: &[u8]) -> HashMap<u32, Vec<u8>> {
    let mut names = HashMap::new();
    for line in text.split(|byte| *byte == b'\n') {
        let mut fields = line.split(|byte| *byte == b':');
        let (Some(name), Some(_), Some(number)) = (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let number = std::str::from_utf8(number).ok().and_then(|text| text.parse().ok());
        if let Some(number) = number {
            names.entry(number).or_insert_with(|| name.to_vec());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_a_number_counts_and_broken_lines_do_not() {
        let names = parse(b"root:x:0:0:root:/root:/bin/sh\ntoor:x:0:\n\nbroken\nbin:x:two:\n+::\n");
        assert_eq!(names.get(&0).map(Vec::as_slice), Some(&b"root"[..]));
        assert_eq!(names.len(), 1);
    }
}
