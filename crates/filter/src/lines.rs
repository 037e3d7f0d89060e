//! How is the content of a file cut into rules?

use crate::rule::Split;

/// What ends a line in a file of rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineEnds {
    /// LF, CR, or both.
    #[default]
    Newline,
    /// NUL (`--from0`).
    Nul,
}

/// Cuts a file into the texts of rules, each with its line number.
///
/// Empty lines and lines that begin with `#` or `;` are left out; words know no comments.
pub(crate) fn rules<'a>(
    contents: &'a [u8],
    split: Split,
    ends: LineEnds,
) -> Box<dyn Iterator<Item = (usize, &'a [u8])> + 'a> {
    let lines = lines(contents, ends);
    match split {
        Split::Lines => {
            Box::new(lines.filter(|(_, line)| !matches!(line.first(), None | Some(b'#' | b';'))))
        }
        Split::Words => {
            Box::new(lines.flat_map(|(number, line)| words(line).map(move |word| (number, word))))
        }
    }
}

/// Cuts a text at white space.
pub(crate) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(is_blank).filter(|word| !word.is_empty())
}

fn lines(contents: &[u8], ends: LineEnds) -> impl Iterator<Item = (usize, &[u8])> {
    let mut number = 1;
    let mut after_cr = false;
    // The LF of a CRLF ends an empty line, which is left out anyway; it only must not be counted.
    contents
        .split_inclusive(move |&byte| match ends {
            LineEnds::Newline => byte == b'\n' || byte == b'\r',
            LineEnds::Nul => byte == 0,
        })
        .map(move |line| {
            let half = after_cr && line == b"\n";
            let this = number;
            if !half {
                number += 1;
            }
            after_cr = ends == LineEnds::Newline && line.ends_with(b"\r");
            (this, strip_end(line, ends))
        })
}

fn strip_end(line: &[u8], ends: LineEnds) -> &[u8] {
    match (line, ends) {
        ([body @ .., b'\n' | b'\r'], LineEnds::Newline) => body,
        ([body @ .., 0], LineEnds::Nul) => body,
        (line, _) => line,
    }
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}
