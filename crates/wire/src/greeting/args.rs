//! How do the arguments reach a server that no shell starts, or that must not see them there?

use std::io::Read;

use crate::error::{Error, Result};
use crate::escape::printable;
use crate::int::read_u8;
use crate::limits;
use crate::server_args::split_secluded;

/// Appends what a client sends after a daemon's OK: the words from `--server` on.
///
/// With secluded arguments, the first list ends where [`split_secluded`] says, and the other words
/// go in a list of their own.
pub fn put_daemon_args(
    out: &mut Vec<u8>,
    protocol: u32,
    args: &[Vec<u8>],
    secluded: bool,
) -> Result<()> {
    let separator = if protocol < 30 { b'\n' } else { 0 };
    if !secluded {
        return put_words(out, args, separator);
    }
    let (open, hidden) = split_secluded(args);
    put_words(out, open, separator)?;
    put_secluded_args(out, hidden)
}

/// Appends the words that secluded arguments keep away from a shell.
///
/// Over a remote shell they go first of all, before the protocol version.
pub fn put_secluded_args(out: &mut Vec<u8>, args: &[Vec<u8>]) -> Result<()> {
    out.extend_from_slice(b"rsync\0");
    put_words(out, args, 0)
}

/// Reads what [`put_secluded_args`] has written, without the first word.
pub fn read_secluded_args<R: Read + ?Sized>(r: &mut R) -> Result<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    loop {
        let mut word = Vec::new();
        loop {
            match read_u8(r)? {
                0 => break,
                _ if word.len() >= limits::ARGUMENT => {
                    return Err(Error::Malformed("an argument is too long".into()));
                }
                byte => word.push(byte),
            }
        }
        if word.is_empty() {
            return Ok(words.split_off(1.min(words.len())));
        }
        if words.len() >= limits::ARGUMENTS {
            return Err(Error::Malformed("too many arguments".into()));
        }
        words.push(word);
    }
}

/// An empty word would end the list: it is sent as `.`, which means the same for a path.
fn put_words(out: &mut Vec<u8>, words: &[Vec<u8>], separator: u8) -> Result<()> {
    for word in words {
        if word.contains(&separator) || word.contains(&0) {
            let text = format!("\"{}\" cannot be sent as an argument", printable(word));
            return Err(Error::Refused(text));
        }
        out.extend_from_slice(if word.is_empty() { b"." } else { word });
        out.push(separator);
    }
    out.push(separator);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(protocol: u32, words: &[&str], secluded: bool) -> Result<String> {
        let words: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        let mut out = Vec::new();
        put_daemon_args(&mut out, protocol, &words, secluded)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn the_recorded_argument_lists_are_reproduced() {
        let old = ["--server", "--sender", "-logDtpr", ".", "open/a.txt"];
        let text = "--server\n--sender\n-logDtpr\n.\nopen/a.txt\n\n";
        assert_eq!(put(29, &old, false).unwrap(), text);
        let new = ["--server", "--sender", "-logDtpre.iLsfxCIvu", ".", "open/a.txt"];
        let text = "--server\0--sender\0-logDtpre.iLsfxCIvu\0.\0open/a.txt\0\0";
        assert_eq!(put(30, &new, false).unwrap(), text);
        let secluded = ["--server", "--sender", "-slogDtpre.iLsfxCIvu", ".", "open/a.txt"];
        let text = "--server\0--sender\0-slogDtpre.iLsfxCIvu\0\0rsync\0.\0open/a.txt\0\0";
        assert_eq!(put(32, &secluded, true).unwrap(), text);
    }

    #[test]
    fn secluded_words_end_with_nul_at_every_protocol() {
        let words = ["--server", "-slogDtpr", "--stats", ".", ""];
        let text = "--server\n-slogDtpr\n\nrsync\0--stats\0.\0.\0\0";
        assert_eq!(put(29, &words, true).unwrap(), text);
    }

    #[test]
    fn secluded_words_are_read_back_and_bounded() {
        let words = ["--stats", ".", "a b"].map(|word| word.as_bytes().to_vec());
        let mut out = Vec::new();
        put_secluded_args(&mut out, &words).unwrap();
        out.push(32);
        let mut input = out.as_slice();
        assert_eq!(read_secluded_args(&mut input).unwrap(), words);
        assert_eq!(input, [32]);
        assert!(read_secluded_args(&mut std::io::repeat(b'x')).is_err());
        assert!(read_secluded_args(&mut [b'x', 0].repeat(20_000).as_slice()).is_err());
    }

    #[test]
    fn words_that_would_end_early_are_refused() {
        assert!(put(29, &["a\nb"], false).is_err());
        assert!(put(30, &["a\nb"], false).is_ok());
        assert!(put(30, &["a\0b"], false).is_err());
    }
}
