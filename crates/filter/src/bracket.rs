//! Which bytes does `[...]` stand for?

/// The bytes that one bracket expression matches; never the slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ByteSet([u64; 4]);

impl ByteSet {
    /// Parses what follows an opening `[`; gives the set and the length up to behind the `]`.
    ///
    /// `None` when the expression has no end or names an unknown class: then the whole pattern
    /// matches nothing.
    pub(crate) fn parse(text: &[u8]) -> Option<(Self, usize)> {
        let negated = matches!(text.first(), Some(b'!' | b'^'));
        let start = usize::from(negated);
        let mut set = Self([0; 4]);
        let mut at = start;
        let mut range_start = None;
        loop {
            let byte = *text.get(at)?;
            match byte {
                b']' if at > start => break,
                b'-' if range_start.is_some() && text.get(at + 1).is_some_and(|&b| b != b']') => {
                    let (end, next) = literal(text, at + 1)?;
                    set.insert_range(range_start.take().unwrap_or(end), end);
                    at = next;
                }
                b'[' if class_name(&text[at + 1..]).is_some() => {
                    let name = class_name(&text[at + 1..])?;
                    set.insert_class(name)?;
                    range_start = None;
                    at += name.len() + "[::]".len();
                }
                _ => {
                    let (member, next) = literal(text, at)?;
                    set.insert_range(member, member);
                    range_start = Some(member);
                    at = next;
                }
            }
        }
        if negated {
            set.0 = set.0.map(|word| !word);
        }
        set.remove(b'/');
        Some((set, at + 1))
    }

    /// Says whether the set holds this byte.
    pub(crate) fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    fn insert_range(&mut self, first: u8, last: u8) {
        for byte in first..=last {
            self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
        }
    }

    fn insert_class(&mut self, name: &[u8]) -> Option<()> {
        let holds = class(name)?;
        for byte in (0..=u8::MAX).filter(holds) {
            self.insert_range(byte, byte);
        }
        Some(())
    }

    fn remove(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] &= !(1 << (byte & 63));
    }
}

/// Gives the member at `at`, an escape resolved, and where the next one begins.
fn literal(text: &[u8], at: usize) -> Option<(u8, usize)> {
    match *text.get(at)? {
        b'\\' => Some((*text.get(at + 1)?, at + 2)),
        byte => Some((byte, at + 1)),
    }
}

/// Gives NAME when the text begins with `:NAME:]`; otherwise its `[` was a plain member.
fn class_name(text: &[u8]) -> Option<&[u8]> {
    let inside = text.strip_prefix(b":")?;
    let end = inside.iter().position(|&byte| byte == b']')?;
    inside[..end].strip_suffix(b":")
}

fn class(name: &[u8]) -> Option<fn(&u8) -> bool> {
    Some(match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| matches!(byte, b' '..=b'~'),
        b"punct" => u8::is_ascii_punctuation,
        b"space" => |byte| matches!(byte, b' ' | b'\t'..=b'\r'),
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    })
}
