//! Which arguments does the far side's rsync get from this client, and what do they say to it?
//!
//! The letters, the long options and their order are those that rsync 3.5.0 sends
//! (docs/protocol/connection.md, "Server arguments"). Only what was asked for is sent: an old
//! server refuses options that it does not know. The way back is [`parse_server_args`].

mod escaped;
mod letters;
mod levels;
mod long;
mod parse;

use crate::charset::far_half;
use crate::options::Options;

pub use parse::{ServerArgs, parse_server_args};

/// What the far side's `--server` is reached by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// A remote shell, which takes the words apart once more.
    Shell,
    /// The daemon protocol, which does not.
    Daemon,
}

/// Which way the files go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// A push: the server receives.
    ToServer,
    /// A pull: the server sends.
    FromServer,
}

/// Returns the whole argument list for a transfer to or from `paths`, from `--server` to the last.
///
/// A push has one path. Over the daemon protocol each starts with the module's name. With
/// [`Options::secluded_args`] see [`split_secluded`].
pub fn server_args(
    options: &Options,
    channel: Channel,
    direction: Direction,
    paths: &[&[u8]],
) -> Vec<Vec<u8>> {
    let mut args = vec![b"--server".to_vec()];
    if direction == Direction::FromServer {
        args.push(b"--sender".to_vec());
    }
    let letters = letters::letters(options, direction);
    if !letters.is_empty() {
        args.push([b"-", letters.as_slice()].concat());
    }
    args.extend(charset(options).map(|charset| escaped::option(charset, options)));
    let long = long::long_options(options, direction);
    args.extend(long.into_iter().map(|word| escaped::option(word, options)));
    args.push(b".".to_vec());
    args.extend(paths.iter().map(|path| match channel {
        Channel::Daemon => escaped::module_path(path, options),
        Channel::Shell => escaped::path(path, options, direction),
    }));
    args
}

/// Splits an argument list at the point from where secluded arguments go over the data channel.
///
/// The second half is what follows the word `rsync` there; the first is sent as it always is.
pub fn split_secluded(args: &[Vec<u8>]) -> (&[Vec<u8>], &[Vec<u8>]) {
    let is_letters = |word: &Vec<u8>| word.starts_with(b"-") && !word.starts_with(b"--");
    let letters_at = args.iter().position(is_letters);
    let open = letters_at.map_or(args.len(), |at| {
        let charset = args.get(at + 1).is_some_and(|word| word.starts_with(b"--iconv="));
        at + 1 + usize::from(charset)
    });
    args.split_at(open)
}

/// The far side's half of `--iconv`, which it needs before secluded arguments.
fn charset(options: &Options) -> Option<Vec<u8>> {
    let spec = options.iconv.as_ref()?;
    Some([b"--iconv=", far_half(spec)].concat())
}
