//! How are the words of `--info` and `--debug` read?

use crate::escape::printable;
use crate::exit;

use super::OptionError;

/// A higher level counts as this one.
pub(crate) const LEVEL_MAX: u8 = 4;

/// Is one word of `--info` or `--debug` with its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LevelWord {
    /// One matter, by its place in the list of names.
    One(usize, u8),
    /// `all` or `none`.
    All(u8),
    /// `help`.
    Help,
}

/// Reads the words of one option's value: names in either case, each with a level behind it.
///
/// # Errors
///
/// Names the first word that is none of `names`.
pub(crate) fn level_words(
    option: &str,
    names: &[&str],
    value: &[u8],
) -> Result<Vec<LevelWord>, OptionError> {
    let words = value.split(|byte| *byte == b',').filter(|word| !word.is_empty());
    words.map(|word| level_word(option, names, word)).collect()
}

fn level_word(option: &str, names: &[&str], word: &[u8]) -> Result<LevelWord, OptionError> {
    let digits = word.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (name, digits) = word.split_at(word.len() - digits);
    let level = match digits {
        [] => 1,
        [digit] => (digit - b'0').min(LEVEL_MAX),
        more if more.iter().all(|digit| *digit == b'0') => 0,
        _ => LEVEL_MAX,
    };
    let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
    if let Some(at) = names.iter().position(|known| is(known)) {
        return Ok(LevelWord::One(at, level));
    }
    match name {
        _ if is("all") => Ok(LevelWord::All(level)),
        _ if is("none") => Ok(LevelWord::All(0)),
        _ if is("help") => Ok(LevelWord::Help),
        _ => {
            let shown = printable(if name.is_empty() { word } else { name });
            let text = format!("Unknown {option} item: \"{shown}\"");
            Err(OptionError::Plain { text, code: exit::SYNTAX })
        }
    }
}

/// Lets the words of all values, in their order, have their say over `levels`.
pub(crate) fn raise(option: &str, names: &[&str], values: &[Vec<u8>], levels: &mut [u8]) {
    for value in values {
        // The parser has refused what cannot be read.
        for word in level_words(option, names, value).unwrap_or_default() {
            match word {
                LevelWord::One(at, level) => levels[at] = level,
                LevelWord::All(level) => levels.fill(level),
                LevelWord::Help => {}
            }
        }
    }
}
