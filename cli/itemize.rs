//! How rsync says in eleven characters what differed: `<f.st......`.

use engine::{Direction, Item, Kind};
use wire::item::iflags;

/// What the characters depend on beside the item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Itemizing {
    /// Both sides are on this machine: what is sent counts as received.
    pub(crate) local_copy: bool,
    /// Modification times are kept.
    pub(crate) times: bool,
}

/// What the native commands do: one side is elsewhere, and times are kept.
pub(crate) const NATIVE: Itemizing = Itemizing { local_copy: false, times: true };

/// Returns the eleven characters for an item that was sent or changed.
pub(crate) fn itemize(item: &Item<'_>, itemizing: Itemizing) -> String {
    let has = |bit| item.iflags & bit != 0;
    let sent = item.direction == Direction::Sent && !itemizing.local_copy;
    let mut text = String::with_capacity(11);
    text.push(match () {
        () if has(iflags::TRANSFER) && sent => '<',
        () if has(iflags::TRANSFER) => '>',
        () if item.leader.is_some() => 'h',
        () if has(iflags::LOCAL_CHANGE) => 'c',
        () => '.',
    });
    text.push(match item.kind {
        Kind::Regular | Kind::Unknown => 'f',
        Kind::Dir => 'd',
        Kind::Symlink => 'L',
        Kind::Device => 'D',
        Kind::Special => 'S',
    });
    if has(iflags::IS_NEW) {
        text.push_str("+++++++++");
        return text;
    }
    let time = match item.kind {
        // The size bit of a symlink says that its time could not be set.
        Kind::Symlink if has(iflags::REPORT_SIZE) => 'T',
        _ if !itemizing.times => 'T',
        _ => 't',
    };
    let size = if item.kind == Kind::Symlink { '.' } else { 's' };
    let both_times = has(iflags::REPORT_ATIME) && has(iflags::REPORT_CRTIME);
    let columns = [
        (iflags::REPORT_CHANGE, 'c'),
        (iflags::REPORT_SIZE, size),
        (iflags::REPORT_TIME, time),
        (iflags::REPORT_PERMS, 'p'),
        (iflags::REPORT_OWNER, 'o'),
        (iflags::REPORT_GROUP, 'g'),
        (
            iflags::REPORT_ATIME | iflags::REPORT_CRTIME,
            match both_times {
                true => 'b',
                false if has(iflags::REPORT_CRTIME) => 'n',
                false => 'u',
            },
        ),
        (iflags::REPORT_ACL, 'a'),
        (iflags::REPORT_XATTR, 'x'),
    ];
    text.extend(columns.map(|(bit, letter)| if has(bit) { letter } else { '.' }));
    if !text.starts_with(['<', '>']) && text[2..].bytes().all(|byte| byte == b'.') {
        text.truncate(2);
        text.push_str("         ");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(iflags: u16, kind: Kind, leader: Option<&[u8]>) -> String {
        itemize(&Item { leader, ..Item::new(b"x", iflags, kind, Direction::Sent) }, NATIVE)
    }

    #[test]
    fn the_columns_are_those_of_rsync() {
        let table = [
            (0xa000, Kind::Regular, "<f+++++++++"),
            (0x800c, Kind::Regular, "<f.st......"),
            (0x0008, Kind::Dir, ".d..t......"),
            (0x6000, Kind::Dir, "cd+++++++++"),
            (0x6002, Kind::Symlink, "cL+++++++++"),
            (0x4002, Kind::Symlink, "cLc........"),
            (0x0010, Kind::Regular, ".f...p....."),
            (0x4000, Kind::Special, "cS         "),
        ];
        for (iflags, kind, expected) in table {
            assert_eq!(text(iflags, kind, None), expected);
        }
        assert_eq!(text(0x7000, Kind::Regular, Some(b"leader")), "hf+++++++++");
        assert_eq!(text(0x5000, Kind::Regular, Some(b"")), "hf         ");
        let local = Itemizing { local_copy: true, times: false };
        let item = Item::new(b"x", 0x8008, Kind::Regular, Direction::Sent);
        assert_eq!(itemize(&item, local), ">f..T......");
        assert_eq!(
            itemize(&Item { direction: Direction::Received, ..item }, NATIVE),
            ">f..t......"
        );
    }
}
