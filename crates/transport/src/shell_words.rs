//! How is the text of `-e` split into words?

use crate::error::Error;

/// Splits a remote-shell command by rsync's rules: only blanks separate, single and double quotes
/// keep blanks, and a doubled quote inside its own kind of quotes is one literal quote.
///
/// There are no backslash escapes.
pub(crate) fn split(text: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut rest = text.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b' ' => words.extend(word.take()),
            b'\'' | b'"' => quoted(byte, &mut rest, word.get_or_insert_default())?,
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    if words.is_empty() { Err(Error::NoShell) } else { Ok(words) }
}

type Rest<'a> = std::iter::Peekable<std::iter::Copied<std::slice::Iter<'a, u8>>>;

fn quoted(quote: u8, rest: &mut Rest<'_>, word: &mut Vec<u8>) -> Result<(), Error> {
    loop {
        match rest.next() {
            None => {
                return Err(Error::OpenQuote { quote: char::from(quote) });
            }
            Some(byte) if byte != quote => word.push(byte),
            Some(_) if rest.next_if_eq(&quote).is_some() => word.push(quote),
            Some(_) => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn quotes_keep_blanks_and_doubled_quotes_are_literal() {
        let words = split(br#"ssh  'a b' "c''d" 'e''f' g'h i'j '' k\"#).unwrap();
        let expected: [&[u8]; 7] = [b"ssh", b"a b", b"c''d", b"e'f", b"gh ij", b"", b"k\\"];
        assert_eq!(words, expected);
    }

    #[test]
    fn a_quote_left_open_and_an_empty_command_are_refused() {
        assert!(split(b"ssh 'abc").unwrap_err().to_string().contains('\''));
        assert_eq!(split(b"  ").unwrap_err().exit_code(), 1);
    }
}
