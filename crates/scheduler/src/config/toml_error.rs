//! What does a complaint of the TOML reader mean to the person who wrote the file?

use toml::de::Error;
use wire::options::nearest;

use super::problem::{Problem, Source};

/// How many words are listed where none is near the one that stands there.
const LISTED: usize = 24;

/// Makes a problem of an error of the reader.
pub(super) fn problem(source: &Source<'_>, error: &Error) -> Problem {
    let span = error.span().unwrap_or(0..0);
    Problem::at(source, span, message(error.message()))
}

fn message(original: &str) -> String {
    // The words that matter stand between backticks: the one in the file, then all possible ones.
    let quoted: Vec<&str> = original.split('`').skip(1).step_by(2).collect();
    match quoted.as_slice() {
        ["include", ..] if original.starts_with("unknown field") => {
            "unknown key `include`; write it as a rule: filter = [\"+ PATTERN\"]".to_string()
        }
        [word, known @ ..] if original.starts_with("unknown field") => unknown("key", word, known),
        [word, known @ ..] if original.starts_with("unknown variant") => {
            unknown("value", word, known)
        }
        [word] if original.starts_with("missing field") => format!("the key `{word}` is missing"),
        _ => plain(original),
    }
}

/// Says the types in the words of the file.
fn plain(original: &str) -> String {
    let line = original.lines().collect::<Vec<_>>().join(" ");
    line.replace("expected a sequence", "expected a list")
        .replace("expected a map", "expected a table")
        .replace("expected u16", "expected a number up to 65535")
}

fn unknown(what: &str, word: &str, known: &[&str]) -> String {
    let hint = match nearest(word, known.iter().copied()) {
        Some(nearest) => format!(", did you mean `{nearest}`?"),
        None => format!("; known here are {}", known[..known.len().min(LISTED)].join(", ")),
    };
    format!("unknown {what} `{word}`{hint}")
}
