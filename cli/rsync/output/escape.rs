//! How are bytes that a terminal cannot show printed: `\#ooo`, as rsync does it.

/// Which bytes above 0x7f are printed as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum High {
    /// Those that form UTF-8: the locale says so.
    Utf8,
    /// None: the locale knows ASCII alone.
    None,
    /// All (`-8`).
    All,
    /// In a log file: all that no charset takes for a control character.
    Log,
}

/// Returns the text with what is not to be shown as a backslash, a hash and three octal digits.
/// What already looks like that gets its backslash escaped.
pub(super) fn escaped(text: &[u8], high: High) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    if high != High::Utf8 {
        push_bytes(&mut out, text, high);
        return out;
    }
    for chunk in text.utf8_chunks() {
        push_bytes(&mut out, chunk.valid().as_bytes(), High::All);
        push_bytes(&mut out, chunk.invalid(), High::None);
    }
    out
}

fn push_bytes(out: &mut Vec<u8>, text: &[u8], high: High) {
    for (index, &byte) in text.iter().enumerate() {
        let shown = match byte {
            b'\t' => true,
            0..0x20 => false,
            b'\\' => !looks_escaped(&text[index..]),
            0x20..0x80 => true,
            0x80..0xa0 => high == High::All,
            0xa0.. => high != High::None,
        };
        if shown {
            out.push(byte);
        } else {
            out.extend_from_slice(format!("\\#{byte:03o}").as_bytes());
        }
    }
}

fn looks_escaped(text: &[u8]) -> bool {
    matches!(text, [b'\\', b'#', digits @ ..]
        if digits.len() >= 3 && digits[..3].iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_shows_the_bytes_that_rsync_shows_there() {
        let table: [(&[u8], [&[u8]; 4]); 6] = [
            (b"a\tb\x01\n\r\x7f", [b"a\tb\\#001\\#012\\#015\x7f"; 4]),
            (b"bs\\x \\#12 \\#789", [b"bs\\x \\#12 \\#134#789"; 4]),
            (b"uml\xc3\xa4", [b"uml\xc3\xa4", b"uml\\#303\\#244", b"uml\xc3\xa4", b"uml\xc3\xa4"]),
            (b"\xff\xfe", [b"\\#377\\#376", b"\\#377\\#376", b"\xff\xfe", b"\xff\xfe"]),
            (
                b"\xf0\x9f\x98\x80",
                [
                    b"\xf0\x9f\x98\x80",
                    b"\\#360\\#237\\#230\\#200",
                    b"\xf0\x9f\x98\x80",
                    b"\xf0\\#237\\#230\\#200",
                ],
            ),
            (
                b"trunc\xe2\x82",
                [b"trunc\\#342\\#202", b"trunc\\#342\\#202", b"trunc\xe2\x82", b"trunc\xe2\\#202"],
            ),
        ];
        for (text, expected) in table {
            let shown =
                [High::Utf8, High::None, High::All, High::Log].map(|high| escaped(text, high));
            assert_eq!(shown.each_ref().map(Vec::as_slice), expected);
        }
    }
}
