//! How is text from a peer made harmless for a terminal and a log?

use std::fmt::Write;

/// Returns the text with control characters, direction overrides and bytes that are no UTF-8
/// replaced by escapes: `\n`, `\r`, `\t`, `\xNN` or `\u{...}`.
///
/// A backslash stays as it is: the result is to be read by a person, not to be parsed.
pub fn printable(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            push_char(&mut out, c);
        }
        for byte in chunk.invalid() {
            push_hex(&mut out, u32::from(*byte));
        }
    }
    out
}

/// Returns at most `limit` bytes of the text, escaped, with `...` where something was left out.
pub fn printable_start(text: &[u8], limit: usize) -> String {
    match text.get(..limit) {
        Some(start) if text.len() > limit => printable(start) + "...",
        _ => printable(text),
    }
}

fn push_char(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if c.is_control() => push_hex(out, u32::from(c)),
        c if turns_direction(c) => out.extend(c.escape_unicode()),
        c => out.push(c),
    }
}

fn push_hex(out: &mut String, value: u32) {
    // Writing to a String cannot fail.
    let _ = write!(out, "\\x{value:02x}");
}

/// These make the rest of a line appear in another order than it is written.
fn turns_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_broken_utf8_are_shown_as_escapes() {
        assert_eq!(printable(b"caf\xc3\xa9\n\x1b[2J\xff"), "café\\n\\x1b[2J\\xff");
        assert_eq!(printable("\u{9b}31m\u{202e}x".as_bytes()), "\\x9b31m\\u{202e}x");
    }

    #[test]
    fn a_long_text_is_cut_with_dots() {
        assert_eq!(printable_start(b"abcdef", 3), "abc...");
        assert_eq!(printable_start(b"abc", 3), "abc");
    }
}
