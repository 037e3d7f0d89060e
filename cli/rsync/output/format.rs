//! What do `--out-format` and `--log-file-format` say of an item?

use engine::{Item, Kind, Session};
use jiff::tz::TimeZone;
use wire::dialect::SumName;

use super::listing::permissions;
use super::number::number;
use crate::itemize::{Itemizing, itemize};

/// A line cannot become longer by the width of one escape.
const MAX_WIDTH: usize = 4095;

/// A format, taken apart.
#[derive(Debug)]
pub(super) struct Format(Vec<Piece>);

#[derive(Debug)]
enum Piece {
    Text(Vec<u8>),
    Escape(Escape),
}

#[derive(Clone, Copy, Debug)]
struct Escape {
    letter: u8,
    /// How numbers are written, as with `-h`.
    level: u8,
    left: bool,
    width: Option<usize>,
}

/// What escapes need to know beside the item.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) itemizing: Itemizing,
    pub(super) owner: bool,
    pub(super) group: bool,
    /// The receiver's `%o` is `recv`.
    pub(super) receives: bool,
    pub(super) zone: TimeZone,
    pub(super) session: Option<Session>,
}

/// What a line is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Subject<'a> {
    Item(&'a Item<'a>),
    /// Something deleted, of which only name and kind are known.
    Deleted(&'a Item<'a>),
}

impl Format {
    /// Takes a format apart. What is no escape stays text.
    pub(super) fn parse(format: &[u8]) -> Self {
        let mut pieces = Vec::new();
        let mut text = Vec::new();
        let mut rest = format;
        while let Some((&byte, behind)) = rest.split_first() {
            match Escape::parse(rest) {
                Some((escape, behind)) => {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                    pieces.push(Piece::Escape(escape));
                    rest = behind;
                }
                None => {
                    text.push(byte);
                    rest = behind;
                }
            }
        }
        pieces.push(Piece::Text(text));
        Self(pieces)
    }

    /// Tells whether one of these escapes is there.
    pub(super) fn has(&self, letters: &[u8]) -> bool {
        let mut pieces = self.0.iter();
        pieces
            .any(|piece| matches!(piece, Piece::Escape(escape) if letters.contains(&escape.letter)))
    }

    /// Writes the line of an item, without its end.
    pub(super) fn line(&self, subject: Subject<'_>, context: &Context) -> Vec<u8> {
        let mut line = Vec::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => line.extend_from_slice(text),
                Piece::Escape(escape) => escape.write(&mut line, subject, context),
            }
        }
        line
    }
}

impl Escape {
    fn parse(text: &[u8]) -> Option<(Self, &[u8])> {
        let rest = text.strip_prefix(b"%")?;
        let quotes = rest.iter().take_while(|&&byte| byte == b'\'').count().min(3);
        let rest = &rest[quotes..];
        let (left, rest) = rest.strip_prefix(b"-").map_or((false, rest), |rest| (true, rest));
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = rest.split_at(digits);
        let (&letter, rest) = rest.split_first()?;
        if !b"bBcCfGilLmMnoptU%".contains(&letter) {
            return None;
        }
        let width = digits.iter().fold(0, |width: usize, digit| {
            width.saturating_mul(10).saturating_add(usize::from(digit - b'0'))
        });
        let width = (!digits.is_empty()).then_some(width.min(MAX_WIDTH));
        Some((Self { letter, level: quotes as u8, left, width }, rest))
    }

    fn write(self, line: &mut Vec<u8>, subject: Subject<'_>, context: &Context) {
        let (Subject::Item(item) | Subject::Deleted(item)) = subject;
        if self.letter == b'L' {
            let (arrow, target) = target(item);
            if self.width.is_some() || !target.is_empty() {
                line.extend_from_slice(arrow);
            }
            return self.pad(line, target);
        }
        self.pad(line, &self.value(item, matches!(subject, Subject::Deleted(_)), context));
    }

    fn value(self, item: &Item<'_>, deleted: bool, context: &Context) -> Vec<u8> {
        let slash: &[u8] = if item.kind == Kind::Dir { b"/" } else { b"" };
        match self.letter {
            b'b' => number(item.moved.data_bytes, self.level).into(),
            b'c' => number(item.moved.sum_bytes, self.level).into(),
            b'l' => number(item.size, self.level).into(),
            b'B' => permissions(item.mode)[1..].into(),
            b'C' => sum(item.moved.checksum, context.session),
            b'f' => source_path(item, deleted),
            b'n' => [item.name, slash].concat(),
            b'i' if deleted => b"*deleting  ".into(),
            b'i' => itemize(item, context.itemizing).into(),
            b'o' if deleted => b"del.".into(),
            b'o' if context.receives => b"recv".into(),
            b'o' => b"send".into(),
            b'U' if context.owner => item.owner.0.to_string().into(),
            b'U' => b"0".into(),
            b'G' if context.group => item.owner.1.to_string().into(),
            b'G' => b"DEFAULT".into(),
            b'M' => time(item.mtime, &context.zone, '-').into(),
            b't' => time(jiff::Timestamp::now().as_second(), &context.zone, ' ').into(),
            b'p' => std::process::id().to_string().into(),
            b'%' => b"%".into(),
            // A module has a name at a daemon only.
            _ => Vec::new(),
        }
    }

    fn pad(self, line: &mut Vec<u8>, value: &[u8]) {
        let blanks = self.width.unwrap_or(0).saturating_sub(value.len());
        let blanks = std::iter::repeat_n(b' ', blanks);
        if self.left {
            line.extend_from_slice(value);
            line.extend(blanks);
        } else {
            line.extend(blanks);
            line.extend_from_slice(value);
        }
    }
}

/// Returns what stands between a name and its target, and the target.
fn target<'a>(item: &Item<'a>) -> (&'static [u8], &'a [u8]) {
    match (item.leader, item.link_target) {
        (Some(leader), _) if !leader.is_empty() => (b" => ", leader),
        (_, Some(target)) if item.kind == Kind::Symlink => (b" -> ", target),
        _ => (b"    ", b""),
    }
}

/// Returns the path that the sender reads, without a slash in front.
fn source_path(item: &Item<'_>, deleted: bool) -> Vec<u8> {
    let path = match item.source {
        source if deleted || source.is_empty() => item.name.to_vec(),
        source => [source, b"/", item.name].concat(),
    };
    let slashes = path.iter().take_while(|&&byte| byte == b'/').count();
    path[slashes..].to_vec()
}

/// Returns a checksum in hexadecimal digits, or as many blanks.
fn sum(sum: Option<&[u8]>, session: Option<Session>) -> Vec<u8> {
    let (name, protocol) = session.map_or((SumName::Md5, 32), |s| (s.sum, s.protocol));
    let blanks = match name {
        _ if protocol < 30 => 32,
        SumName::None => 2,
        SumName::Xxh64 | SumName::Xxh3 => 16,
        SumName::Md4 | SumName::Md5 | SumName::Xxh128 => 32,
        SumName::Sha1 => 40,
    };
    let Some(bytes) = sum.filter(|_| protocol >= 30 && name != SumName::None) else {
        return vec![b' '; blanks];
    };
    let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
    match name {
        // These are numbers, with the lowest byte first on the wire.
        SumName::Xxh64 | SumName::Xxh3 | SumName::Xxh128 => digits.rev().collect::<String>(),
        _ => digits.collect(),
    }
    .into()
}

/// Writes seconds since 1970 as date and time.
pub(super) fn time(seconds: i64, zone: &TimeZone, between: char) -> String {
    match jiff::Timestamp::from_second(seconds) {
        Ok(time) => {
            let time = time.to_zoned_datetime(zone.clone());
            time.strftime(&format!("%Y/%m/%d{between}%H:%M:%S")).to_string()
        }
        Err(_) => seconds.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use engine::{Direction, Moved};

    use super::*;

    fn line(format: &str, item: &Item<'_>) -> String {
        let session = Session { protocol: 32, incremental: true, sum: SumName::Xxh128 };
        let context = Context {
            itemizing: Itemizing { local_copy: true, times: true },
            owner: true,
            group: item.owner.1 > 0,
            receives: false,
            zone: TimeZone::UTC,
            session: Some(session),
        };
        let line = Format::parse(format.as_bytes()).line(Subject::Item(item), &context);
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn each_escape_of_a_format_is_filled_in() {
        let sum = [0x31, 0xf2, 0x5c, 0xfe];
        let file = Item {
            size: 200_000,
            mode: 0o100644,
            mtime: 1_577_934_245,
            owner: (0, 100),
            source: b"/tmp/src",
            moved: Moved { data_bytes: 200_067, sum_bytes: 16, checksum: Some(&sum) },
            ..Item::new(b"big", 0xa000, Kind::Regular, Direction::Sent)
        };
        let link = Item {
            link_target: Some(b"a"),
            mode: 0o120777,
            ..Item::new(b"l", 0x6002, Kind::Symlink, Direction::Sent)
        };
        let table: [(&str, &str); 7] = [
            (
                "%i|%n%L|%f|%l|%o|%B|%M|%U|%G|%b|%c|%C|%%|%z|%h|%a|%m|%P|%u",
                ">f+++++++++|big|tmp/src/big|200000|send|rw-r--r--|2020/01/02-03:04:05|0|100|200067|16|\
             fe5cf231|%|%z|%h|%a||%P|%u",
            ),
            (
                "%'l|%''l|%'''l|%10l|%-10l|%'-12l|%-'12l|%20n|%-20n|%''10b|%5i",
                "200,000|200.00K|195.31K|    200000|200000    |200,000     |%-'12l|\
             \u{20}                big|big                 |   200.07K|>f+++++++++",
            ),
            ("%5z|%-9o|%-14i|%3%|%05l|%+l|%", "%5z|send     |>f+++++++++   |  %|200000|%+l|%"),
            ("%-", "%-"),
            ("x%", "x%"),
            ("", ""),
            ("|%5L|%L|", "|         ||"),
        ];
        for (format, expected) in table {
            assert_eq!(line(format, &file), expected);
        }
        let sum = " ".repeat(32);
        assert_eq!(line("%5L|%C|%B|%G", &link), format!(" ->     a|{sum}|rwxrwxrwx|DEFAULT"));
    }
}
