//! What does a batch file begin with, and how are options fitted to it?
//!
//! Behind the head a batch holds the sender's stream as the receiver gets it, without frames:
//! lists, replies and statistics (docs/protocol/transfer.md, "Batch files").

use std::io::Read;

use crate::dialect::{Compat, Dialect};
use crate::error::Result;
use crate::int::{put_u32, put_varint, read_i32, read_varint};
use crate::options::{Append, Options, option_words};
use crate::setup::{CompressWish, agreed_version, without_negotiation};

/// The head of a batch file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchHead {
    /// The options that shape the stream, a bit each.
    pub bits: u32,
    /// The protocol of the stream.
    pub protocol: u32,
    /// What the server said that it does; empty below protocol 30.
    pub compat: Compat,
    /// The seed of the block sums.
    pub seed: i32,
}

/// An option that both must have or lack who writes a batch and who reads it.
struct Shaping {
    name: &'static str,
    is_set: fn(&Options) -> bool,
    set: fn(&mut Options, bool),
}

/// How many of the options there are from which protocol on.
const COUNT_BY_PROTOCOL: [(u32, usize); 2] = [(29, 9), (30, 15)];
const ICONV: u32 = 1 << 9;
/// Options that a script has in another form.
const LEFT_OUT: [&[u8]; 6] =
    [b"filter", b"include", b"exclude", b"include-from", b"exclude-from", b"files-from"];

/// In the order of their bits.
const SHAPING: [Shaping; 15] = [
    shaping("--recurse (-r)", |o| o.recursive, |o, on| o.recursive = on),
    shaping("--owner (-o)", |o| o.owner, |o, on| o.owner = on),
    shaping("--group (-g)", |o| o.group, |o, on| o.group = on),
    shaping("--links (-l)", |o| o.links, |o, on| o.links = on),
    shaping("--devices (-D)", |o| o.devices, |o, on| o.devices = on),
    shaping("--hard-links (-H)", |o| o.hard_links > 0, |o, on| o.hard_links = on.into()),
    shaping("--checksum (-c)", |o| o.checksum, |o, on| o.checksum = on),
    shaping("--dirs (-d)", Options::lists_dirs, |o, on| o.dirs = on),
    shaping("--compress (-z)", compresses, set_compress),
    shaping("--iconv", |o| o.iconv.is_some(), |_, _| {}),
    shaping("--acls (-A)", |o| o.acls, |o, on| o.acls = on),
    shaping("--xattrs (-X)", |o| o.xattrs > 0, |o, on| o.xattrs = on.into()),
    shaping("--inplace", |o| o.inplace || o.append != Append::No, |o, on| o.inplace = on),
    shaping(
        "--append",
        |o| o.append == Append::Trusting,
        |o, on| set_append(o, on, Append::Trusting),
    ),
    shaping(
        "--append-verify",
        |o| o.append == Append::Verifying,
        |o, on| {
            set_append(o, on, Append::Verifying);
        },
    ),
];

const fn shaping(
    name: &'static str,
    is_set: fn(&Options) -> bool,
    set: fn(&mut Options, bool),
) -> Shaping {
    Shaping { name, is_set, set }
}

fn compresses(options: &Options) -> bool {
    options.offer().compress != CompressWish::Off
}

fn set_compress(options: &mut Options, on: bool) {
    options.compress = if on { CompressWish::Negotiate } else { CompressWish::Off };
    options.compress_level = options.compress_level.filter(|_| on);
}

fn set_append(options: &mut Options, on: bool, append: Append) {
    options.append = if on { append } else { Append::No };
}

impl BatchHead {
    /// Makes the head of a batch that is written in a session.
    pub fn new(options: &Options, dialect: &Dialect) -> Self {
        let &Dialect { protocol, compat, seed, .. } = dialect;
        let known = SHAPING.iter().take(count(protocol)).enumerate();
        let bits =
            known.fold(0, |bits, (at, shaping)| bits | u32::from((shaping.is_set)(options)) << at);
        BatchHead { bits, protocol, compat, seed }
    }

    /// Appends the head.
    pub fn put(&self, out: &mut Vec<u8>) {
        put_u32(out, self.bits);
        put_u32(out, self.protocol);
        if self.protocol >= 30 {
            put_varint(out, self.compat.bits().cast_signed());
        }
        put_u32(out, self.seed.cast_unsigned());
    }

    /// Reads the head.
    ///
    /// # Errors
    ///
    /// A protocol that is not spoken here.
    pub fn read<R: Read + ?Sized>(r: &mut R) -> Result<Self> {
        let bits = read_i32(r)?.cast_unsigned();
        let protocol = read_i32(r)?.cast_unsigned();
        agreed_version(protocol, protocol)?;
        let compat = match protocol {
            30.. => Compat::from_bits(read_varint(r)?.cast_unsigned()),
            _ => Compat::default(),
        };
        Ok(BatchHead { bits, protocol, compat, seed: read_i32(r)? })
    }

    /// Tells whether names are in a charset that options have to name.
    pub fn needs_iconv(&self, options: &Options) -> bool {
        self.protocol >= 30 && self.bits & ICONV != 0 && options.iconv.is_none()
    }

    /// Sets and clears what the batch was written with, and returns a line on each such option.
    pub fn fit(&self, options: &mut Options) -> Vec<String> {
        let wanted = |at: usize| self.bits & 1 << at != 0;
        let known = SHAPING.iter().take(count(self.protocol)).enumerate();
        let differing: Vec<_> =
            known.filter(|(at, shaping)| (shaping.is_set)(options) != wanted(*at)).collect();
        let lines = differing.into_iter().map(|(at, shaping)| {
            (shaping.set)(options, wanted(at));
            let verb = if wanted(at) { "Setting" } else { "Clearing" };
            format!("{verb} the {} option to match the batchfile.", shaping.name)
        });
        lines.collect()
    }

    /// Returns what the session that wrote the batch had agreed on.
    pub fn dialect(&self, options: &Options) -> Dialect {
        without_negotiation(self.protocol, self.compat, self.seed, &options.offer())
    }
}

/// Returns the text of the script beside a batch: the command that applies it to another tree.
///
/// `program` are the words before `words`, those of the command line that wrote it; rules reach the
/// command through its stdin.
pub fn script(program: &[Vec<u8>], words: &[Vec<u8>], dest: &[u8], rules: &[Vec<u8>]) -> Vec<u8> {
    let mut parts: Vec<Vec<u8>> = program.iter().map(|word| quoted(word)).collect();
    if !rules.is_empty() {
        parts.push(b"--filter='._-'".to_vec());
    }
    for (word, value) in option_words(words) {
        let long = word.strip_prefix(b"--").unwrap_or_default();
        let name = long.split(|byte| *byte == b'=').next().unwrap_or_default();
        if LEFT_OUT.contains(&name) {
            continue;
        }
        let attached = long.get(name.len() + 1..).filter(|_| !name.is_empty());
        parts.push(match (name, attached) {
            (b"write-batch" | b"only-write-batch", None) => b"--read-batch".to_vec(),
            (b"write-batch" | b"only-write-batch", Some(text)) => {
                [b"--read-batch=", quoted(text).as_slice()].concat()
            }
            (name, Some(text)) => [b"--", name, b"=", quoted(text).as_slice()].concat(),
            (_, None) => quoted(word),
        });
        parts.extend(value.map(|value| quoted(value)));
    }
    parts.push([b"${1:-", quoted(dest).as_slice(), b"}"].concat());
    let mut text = parts.join(&b' ');
    if !rules.is_empty() {
        text.extend_from_slice(b" <<'#E#'\n");
        rules.iter().for_each(|rule| text.extend([rule, &b"\n"[..]].concat()));
        text.extend_from_slice(b"#E#");
    }
    text.push(b'\n');
    text
}

fn quoted(word: &[u8]) -> Vec<u8> {
    let parts: Vec<&[u8]> = word.split(|byte| *byte == b'\'').collect();
    [b"'", parts.join(&b"'\\''"[..]).as_slice(), b"'"].concat()
}

fn count(protocol: u32) -> usize {
    let known = COUNT_BY_PROTOCOL.iter().rev().find(|(from, _)| protocol >= *from);
    known.map_or(0, |(_, count)| *count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_repeats_the_options_as_stock_does() {
        let words: Vec<Vec<u8>> = "-a src --exclude zz -e ./rsh --info=name0 --write-batch=b a'b"
            .split(' ')
            .map(Into::into)
            .collect();
        let text = script(&[b"rsync".to_vec()], &words, b"a'b", &[b"- zz".to_vec()]);
        let stock = "'rsync' --filter='._-' '-a' '-e' './rsh' --info='name0' --read-batch='b' \
            ${1:-'a'\\''b'} <<'#E#'\n- zz\n#E#\n";
        assert_eq!(String::from_utf8(text).unwrap(), stock);
        let words = [b"-a".to_vec(), b"--only-write-batch".to_vec(), b"b".to_vec()];
        let text = script(&[b"rsync".to_vec()], &words, b"d", &[]);
        assert_eq!(text, b"'rsync' '-a' --read-batch 'b' ${1:-'d'}\n");
    }

    #[test]
    fn a_head_of_stock_is_read_written_and_matched() {
        // rsync 3.5.0: -ai --write-batch.
        let stock = [0x9f, 0, 0, 0, 0x20, 0, 0, 0, 0x81, 0xff, 0x67, 0x8c, 0x14, 0x6b];
        let head = BatchHead::read(&mut &stock[..]).unwrap();
        let mut written = Vec::new();
        head.put(&mut written);
        assert_eq!(written, stock);
        let archive = Options::archive();
        assert_eq!(BatchHead::new(&archive, &head.dialect(&archive)), head);
        let mut bare = Options { acls: true, ..Options::default() };
        let lines = head.fit(&mut bare);
        assert_eq!(lines[0], "Setting the --recurse (-r) option to match the batchfile.");
        assert_eq!(lines[6], "Clearing the --acls (-A) option to match the batchfile.");
        assert!(bare.recursive && bare.links && !bare.acls);
        assert!(BatchHead::read(&mut &b"junk\n"[..]).is_err());
    }
}
