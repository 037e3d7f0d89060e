//! How does an argument survive the shell or the daemon that takes it apart?

use crate::options::Options;

use super::Direction;

/// The characters that a remote shell would not leave alone.
const SHELL_SPECIAL: &[u8] = b"!#$&;<>(){}\"'`\\| \t\n\r";
/// And those that it would expand; in a path they are left to it.
const WILDCARDS: &[u8] = b"*?[]";

/// Writes an option so that it arrives as it is.
pub(super) fn option(word: Vec<u8>, options: &Options) -> Vec<u8> {
    match options.secluded_args || options.old_args > 1 {
        true => word,
        false => escaped_option(&word),
    }
}

/// Writes a path for a remote shell; an empty one is the directory that the shell starts in.
pub(super) fn path(path: &[u8], options: &Options, direction: Direction) -> Vec<u8> {
    match path {
        b"" => b".".to_vec(),
        _ if options.secluded_args || options.old_args > 0 => undashed(path),
        _ if direction == Direction::FromServer && names_home(path, options) => {
            [b"\\", escaped_path(path).as_slice()].concat()
        }
        _ => escaped_path(path),
    }
}

/// Tells whether a shell would make a path of another name of this one, so that the sender's list
/// would look as if it had not been asked for.
fn names_home(path: &[u8], options: &Options) -> bool {
    let anchor: &[u8] = if options.relative { b"/./" } else { b"/" };
    let anchored = path.windows(anchor.len()).any(|part| part == anchor);
    path.starts_with(b"~") && !anchored && !options.trust_sender
}

/// Puts a backslash before everything in an option that a shell would not leave alone.
fn escaped_option(word: &[u8]) -> Vec<u8> {
    let special = |byte: u8| SHELL_SPECIAL.contains(&byte) || WILDCARDS.contains(&byte);
    let mut escaped = Vec::with_capacity(word.len());
    for byte in word {
        if special(*byte) {
            escaped.push(b'\\');
        }
        escaped.push(*byte);
    }
    escaped
}

/// Does the same with a path, where wildcards and backslashes before them keep their meaning.
fn escaped_path(path: &[u8]) -> Vec<u8> {
    let path = undashed(path);
    let mut escaped = Vec::with_capacity(path.len());
    for (at, byte) in path.iter().enumerate() {
        let next_is_wild = path.get(at + 1).is_some_and(|next| WILDCARDS.contains(next));
        let keeps_meaning = *byte == b'\\' && next_is_wild;
        if SHELL_SPECIAL.contains(byte) && !keeps_meaning {
            escaped.push(b'\\');
        }
        escaped.push(*byte);
    }
    escaped
}

/// Keeps a path from being taken for an option.
fn undashed(path: &[u8]) -> Vec<u8> {
    match path.first() {
        Some(b'-') => [b"./", path].concat(),
        _ => path.to_vec(),
    }
}

/// Makes a path for a daemon, which splits it at each ` MODULE/` unless the blank is bracketed.
pub(super) fn module_path(path: &[u8], options: &Options) -> Vec<u8> {
    let Some(module_len) = path.iter().position(|byte| *byte == b'/') else {
        return [&undashed(path), b"/".as_slice()].concat();
    };
    if options.old_args > 0 {
        return undashed(path);
    }
    let splitter = [b" ", &path[..=module_len]].concat();
    let mut whole = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some(byte) = rest.first() {
        if rest.starts_with(&splitter) {
            whole.extend_from_slice(b"[ ]");
        } else {
            whole.push(*byte);
        }
        rest = &rest[1..];
    }
    undashed(&whole)
}
