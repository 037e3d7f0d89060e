//! How do names in this machine's charset become UTF-8, as they travel with `--iconv`, and back?

use encoding_rs::Encoding;

/// A charset of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Utf8,
    /// Characters up to this one are their own bytes.
    Bytes(char),
    Other(&'static Encoding),
}

impl Charset {
    /// Finds a charset by one of its names; what follows `//` is passed over.
    pub fn find(name: &[u8]) -> Option<Self> {
        let name = name.split(|byte| *byte == b'/').next()?.to_ascii_lowercase();
        let plain: Vec<u8> = name.iter().copied().filter(|byte| !b"-_".contains(byte)).collect();
        let kind = match plain.as_slice() {
            b"utf8" => Kind::Utf8,
            b"ascii" | b"usascii" | b"ansix3.41968" | b"c" | b"posix" => Kind::Bytes('\x7f'),
            b"latin1" | b"iso88591" | b"l1" => Kind::Bytes('\u{ff}'),
            _ => Kind::Other(
                // What is not its own output has no bytes of its own to write names in.
                Encoding::for_label(&name)
                    .or_else(|| Encoding::for_label(&plain))
                    .filter(|found| found.output_encoding() == *found)?,
            ),
        };
        Some(Charset(kind))
    }

    /// Converts a name of this machine; `None` if it is none in this charset.
    pub fn to_wire(self, name: &[u8]) -> Option<Vec<u8>> {
        match self.0 {
            Kind::Utf8 => std::str::from_utf8(name).ok().map(|name| name.into()),
            Kind::Bytes(last) => {
                let fits = name.iter().all(|byte| char::from(*byte) <= last);
                fits.then(|| name.iter().map(|byte| char::from(*byte)).collect::<String>().into())
            }
            Kind::Other(encoding) => {
                let text = encoding.decode_without_bom_handling_and_without_replacement(name)?;
                Some(text.into_owned().into())
            }
        }
    }

    /// Converts a name that came; `None` if this charset cannot say it.
    pub fn of_wire(self, name: &[u8]) -> Option<Vec<u8>> {
        let text = std::str::from_utf8(name).ok()?;
        match self.0 {
            Kind::Utf8 => Some(name.to_vec()),
            Kind::Bytes(last) => {
                let byte = |char| u8::try_from(u32::from(char)).ok().filter(|_| char <= last);
                text.chars().map(byte).collect()
            }
            Kind::Other(encoding) => {
                let (name, _, is_lossy) = encoding.encode(text);
                (!is_lossy).then(|| name.into_owned())
            }
        }
    }
}

/// Says in the system's words why a name is none in a charset: its end is missing, or it is wrong.
pub fn reason(name: &[u8]) -> &'static str {
    match std::str::from_utf8(name) {
        Err(error) if error.error_len().is_none() => "Invalid argument",
        _ => "Invalid or incomplete multibyte or wide character",
    }
}

/// Returns the far side's half of `--iconv=LOCAL,REMOTE`.
pub fn far_half(spec: &[u8]) -> &[u8] {
    spec.splitn(2, |byte| *byte == b',').last().unwrap_or_default()
}

/// Returns this side's half of `--iconv=LOCAL,REMOTE`; a server gets its own alone.
pub fn local_half(spec: &[u8]) -> &[u8] {
    spec.split(|byte| *byte == b',').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_there_and_back_or_are_refused() {
        let cases: [(&[u8], &[u8], &str); 6] = [
            (b"utf-8", "\u{e9}".as_bytes(), "\u{e9}"),
            (b"ISO-8859-1", b"\xe9", "\u{e9}"),
            (b"iso8859-15//TRANSLIT", b"\xa4", "\u{20ac}"),
            (b"koi8-r", b"\xc1", "\u{430}"),
            (b"sjis", b"\x93\xfa", "\u{65e5}"),
            (b"ASCII", b"a", "a"),
        ];
        for (name, local, wire) in cases {
            let charset = Charset::find(name).unwrap();
            assert_eq!(charset.to_wire(local).unwrap(), wire.as_bytes(), "{name:?}");
            assert_eq!(charset.of_wire(wire.as_bytes()).unwrap(), local, "{name:?}");
        }
        for (name, wire) in [("latin1", "\u{65e5}"), ("ascii", "\u{e9}"), ("koi8-r", "\u{e9}")] {
            assert_eq!(Charset::find(name.as_bytes()).unwrap().of_wire(wire.as_bytes()), None);
        }
        assert_eq!(Charset::find(b"utf8").unwrap().to_wire(b"\xff"), None);
        assert_eq!(Charset::find(b"utf8").unwrap().of_wire(b"\xff"), None);
        assert_eq!(Charset::find(b"utf-16"), None);
        assert_eq!(Charset::find(b"bogus"), None);
    }
}
