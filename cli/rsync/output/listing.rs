//! How does `--list-only` show an entry?

use engine::{Item, Kind};
use jiff::tz::TimeZone;

use super::format::time;
use super::number::number;

/// Returns type and permissions as `ls -l` shows them.
pub(super) fn permissions(mode: u32) -> String {
    let kind = match mode & 0o170000 {
        0o040000 => 'd',
        0o120000 => 'l',
        0o020000 => 'c',
        0o060000 => 'b',
        0o140000 => 's',
        0o010000 => 'p',
        _ => '-',
    };
    let mut text = String::from(kind);
    let special = [(0o4000, 's', 'S'), (0o2000, 's', 'S'), (0o1000, 't', 'T')];
    for (class, (bit, small, large)) in special.into_iter().enumerate() {
        let bits = mode >> (6 - 3 * class);
        text.push(if bits & 4 != 0 { 'r' } else { '-' });
        text.push(if bits & 2 != 0 { 'w' } else { '-' });
        text.push(match (mode & bit != 0, bits & 1 != 0) {
            (true, true) => small,
            (true, false) => large,
            (false, true) => 'x',
            (false, false) => '-',
        });
    }
    text
}

/// Returns the line of an entry; `atimes` says that the list has access times, which directories
/// leave empty.
pub(super) fn line(
    item: &Item<'_>,
    atime: Option<i64>,
    atimes: bool,
    level: u8,
    zone: &TimeZone,
) -> Vec<u8> {
    let size = number(item.size, level);
    let width = if level > 0 { 14 } else { 11 };
    let mtime = time(item.mtime, zone, ' ');
    let mut line = format!("{} {size:>width$} {mtime} ", permissions(item.mode));
    if atimes {
        let atime = atime.filter(|_| item.kind != Kind::Dir);
        let atime = atime.map(|atime| time(atime, zone, ' ')).unwrap_or_default();
        line += &format!("{atime:19} ");
    }
    let mut line = line.into_bytes();
    line.extend_from_slice(item.name);
    if let Some(target) = item.link_target.filter(|_| item.kind == Kind::Symlink) {
        line.extend_from_slice(b" -> ");
        line.extend_from_slice(target);
    }
    line
}

#[cfg(test)]
mod tests {
    use engine::Direction;

    use super::*;

    #[test]
    fn columns_give_way_to_long_sizes() {
        let file = Item {
            size: 1_234_567,
            mode: 0o104755,
            mtime: 1_577_934_245,
            ..Item::new(b"a", 0, Kind::Regular, Direction::Received)
        };
        let dir = Item { mode: 0o041776, ..Item::new(b".", 0, Kind::Dir, Direction::Received) };
        let target = Some(b"a".as_slice());
        let link =
            Item { mode: 0o120777, kind: Kind::Symlink, name: b"l", link_target: target, ..dir };
        let table = [
            (file, false, 1, "-rwsr-xr-x      1,234,567 2020/01/02 03:04:05 a"),
            (file, false, 0, "-rwsr-xr-x     1234567 2020/01/02 03:04:05 a"),
            (file, false, 2, "-rwsr-xr-x          1.23M 2020/01/02 03:04:05 a"),
            (file, true, 1, "-rwsr-xr-x      1,234,567 2020/01/02 03:04:05 1970/01/01 00:00:05 a"),
            (dir, true, 1, "drwxrwxrwT              0 1970/01/01 00:00:00                     ."),
            (link, false, 1, "lrwxrwxrwx              0 1970/01/01 00:00:00 l -> a"),
        ];
        for (item, atimes, level, expected) in table {
            let line = line(&item, Some(5), atimes, level, &TimeZone::UTC);
            assert_eq!(String::from_utf8_lossy(&line), expected);
        }
    }
}
