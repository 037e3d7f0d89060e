//! How does a client talk to a daemon, until the binary set-up begins?
//!
//! In lines: greetings, the module's name, a challenge and its answer, `OK`, and then the
//! arguments (docs/protocol/connection.md, "Daemon").

mod args;
mod request;

use std::io::{Read, Write};

pub use args::{put_daemon_args, put_secluded_args, read_secluded_args};
pub use request::{daemon_request_list, daemon_request_module, put_early_input};

use crate::auth::AuthDigest;
use crate::error::{Error, Result};
use crate::escape::printable;
use crate::int::read_u8;
use crate::limits;
use crate::setup::agreed_version;

const PREFIX: &[u8] = b"@RSYNCD: ";
const ERROR: &[u8] = b"@ERROR";

/// What the greetings of both sides led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// The negotiated protocol version.
    pub protocol: u32,
    /// The digests on the daemon's list that are known here, or `None` if it sent no list.
    pub digests: Option<Vec<AuthDigest>>,
}

impl Greeting {
    /// Picks the digest for the answer to a challenge.
    pub fn auth_digest(&self) -> Result<AuthDigest> {
        let Some(digests) = &self.digests else {
            let old = self.protocol < 30;
            return Ok(if old { AuthDigest::Md4Zeros } else { AuthDigest::Md5 });
        };
        let best = AuthDigest::OFFERED.into_iter().find(|digest| digests.contains(digest));
        best.ok_or_else(|| Error::NoCommon {
            what: "password digest",
            ours: offered_digests(),
            theirs: "none of these".into(),
        })
    }
}

/// Exchanges greetings with a daemon; `own` is the newest protocol to speak.
pub fn daemon_greeting<R, W>(r: &mut R, w: &mut W, own: u32) -> Result<Greeting>
where
    R: Read + ?Sized,
    W: Write + ?Sized,
{
    let greeting = format!("@RSYNCD: {own}.0 {}\n", offered_digests());
    // A daemon that is gone already may have said why before.
    let said = w.write_all(greeting.as_bytes()).and_then(|()| w.flush());
    let mut line = Vec::new();
    match (read_line(r, &mut line), said) {
        (Err(Error::Closed), Err(error)) if line.is_empty() => return Err(error.into()),
        (Err(Error::Closed | Error::Malformed(_)), _) => return Err(not_daemon(&line)),
        (result, _) => result?,
    }
    if line.starts_with(ERROR) {
        return Err(Error::Daemon(daemon_text(&line)));
    }
    let peer = parse(&line).ok_or_else(|| not_daemon(&line))?;
    Ok(Greeting { protocol: peer.agree(own)?, digests: peer.digests })
}

/// Reads up to a LF, byte by byte so that nothing behind it is taken; CR is dropped.
///
/// What came before a failure is left in `line`.
fn read_line<R: Read + ?Sized>(r: &mut R, line: &mut Vec<u8>) -> Result<()> {
    line.clear();
    loop {
        match read_u8(r)? {
            b'\n' => return Ok(()),
            b'\r' => {}
            0 => return Err(Error::Malformed("a NUL in a line of the daemon".into())),
            _ if line.len() + 1 >= limits::DAEMON_LINE => {
                return Err(Error::Malformed("a line of the daemon is too long".into()));
            }
            byte => line.push(byte),
        }
    }
}

fn not_daemon(line: &[u8]) -> Error {
    Error::NotDaemon { seen: line[..line.len().min(limits::NOISE_SHOWN)].to_vec() }
}

/// The daemon's own words behind `@ERROR`, made printable.
fn daemon_text(line: &[u8]) -> String {
    let text = line.strip_prefix(ERROR).unwrap_or(line);
    let text = text.strip_prefix(b":").unwrap_or(text).trim_ascii();
    printable(&text[..text.len().min(limits::TEXT_SHOWN)])
}

fn offered_digests() -> String {
    AuthDigest::OFFERED.map(AuthDigest::name).join(" ")
}

/// A daemon's greeting.
struct Peer {
    version: u32,
    /// Not zero in releases that were never finished.
    subprotocol: u32,
    digests: Option<Vec<AuthDigest>>,
}

impl Peer {
    fn agree(&self, own: u32) -> Result<u32> {
        if self.version > *limits::VERSION_WORD.end() {
            let text = format!("protocol version {} does not exist yet", self.version);
            return Err(Error::Protocol(text));
        }
        // Two versions of an unfinished protocol may differ: then the one before is spoken.
        match self.subprotocol {
            0 => agreed_version(own, self.version),
            _ if self.version < own => agreed_version(own, self.version.saturating_sub(1)),
            _ if self.version == own => agreed_version(own.saturating_sub(1), self.version),
            _ => agreed_version(own, self.version),
        }
    }
}

/// Takes a greeting apart; `None` if it lacks what its version has to have.
fn parse(line: &[u8]) -> Option<Peer> {
    let rest = line.strip_prefix(PREFIX)?;
    let mut words = rest.splitn(2, |&byte| byte == b' ');
    let mut version = words.next()?.splitn(2, |&byte| byte == b'.');
    let list = words.next();

    let major = number(version.next()?)?;
    let minor = version.next();
    if (major >= 30 && minor.is_none()) || (major >= 32 && list.is_none()) {
        return None;
    }
    let subprotocol = minor.map_or(Some(0), number)?;
    let digests = list
        .map(|list| list.split(u8::is_ascii_whitespace).filter_map(AuthDigest::parse).collect());
    Some(Peer { version: major, subprotocol, digests })
}

fn number(digits: &[u8]) -> Option<u32> {
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn greet(own: u32, reply: &[u8]) -> Result<Greeting> {
        daemon_greeting(&mut &reply[..], &mut Vec::new(), own)
    }

    #[test]
    fn the_client_greets_like_stock_at_every_protocol() {
        for own in [29, 32] {
            let mut sent = Vec::new();
            daemon_greeting(&mut &b"@RSYNCD: 29\n"[..], &mut sent, own).unwrap();
            assert_eq!(sent, format!("@RSYNCD: {own}.0 sha512 sha256 sha1 md5 md4\n").as_bytes());
        }
    }

    #[test]
    fn the_greetings_of_old_and_new_daemons_lead_to_protocol_and_digest() {
        let greetings: [(&[u8], u32, AuthDigest); 6] = [
            (b"@RSYNCD: 29\n", 29, AuthDigest::Md4Zeros),
            (b"@RSYNCD: 30.0\n", 30, AuthDigest::Md5),
            (b"@RSYNCD: 31.0\r\n", 31, AuthDigest::Md5),
            (b"@RSYNCD: 31.0 MD4 sha1\n", 31, AuthDigest::Sha1),
            (b"@RSYNCD: 32.0 sha512 sha256 sha1 md5 md4\n", 32, AuthDigest::Sha512),
            (b"@RSYNCD: 40.0 blake3 md5\n", 32, AuthDigest::Md5),
        ];
        for (line, protocol, digest) in greetings {
            let greeting = greet(32, line).unwrap();
            assert_eq!(greeting.protocol, protocol);
            assert_eq!(greeting.auth_digest().unwrap(), digest);
        }
        assert_eq!(greet(29, b"@RSYNCD: 32.0 md4\n").unwrap().protocol, 29);
    }

    #[test]
    fn an_unfinished_protocol_is_spoken_one_version_lower() {
        assert_eq!(greet(32, b"@RSYNCD: 31.14\n").unwrap().protocol, 30);
        assert_eq!(greet(32, b"@RSYNCD: 32.1 md5\n").unwrap().protocol, 31);
        assert_eq!(greet(31, b"@RSYNCD: 32.1 md5\n").unwrap().protocol, 31);
    }

    #[test]
    fn a_greeting_that_lacks_something_is_no_greeting() {
        let bad: [&[u8]; 9] = [
            b"",
            b"SSH-2.0-OpenSSH_9.6\r\n",
            b"@RSYNCD: \n",
            b"@RSYNCD: 31\n",
            b"@RSYNCD: 32.0\n",
            b"@RSYNCD: 3x\n",
            b"@RSYNCD: 99999999999.0 md5\n",
            b"@RSYNCD: 32.0 md5",
            b"\0\0\0\n",
        ];
        for line in bad {
            let result = greet(32, line);
            assert!(matches!(result, Err(Error::NotDaemon { .. })), "{line:?}: {result:?}");
        }
        let endless = vec![b'x'; limits::DAEMON_LINE + 1];
        let Err(Error::NotDaemon { seen }) = greet(32, &endless) else { panic!("accepted") };
        assert_eq!(seen.len(), limits::NOISE_SHOWN);
    }

    #[test]
    fn a_greeting_of_another_age_is_named() {
        assert!(matches!(greet(32, b"@RSYNCD: 27\n"), Err(Error::TooOld { peer: 27 })));
        assert!(matches!(greet(32, b"@RSYNCD: 41.0 md5\n"), Err(Error::Protocol(_))));
    }

    #[test]
    fn a_daemon_that_is_full_says_so_instead_of_greeting() {
        let result = greet(32, b"@ERROR: max connections (2) reached -- try again later\n");
        let Err(Error::Daemon(text)) = result else { panic!("{result:?}") };
        assert_eq!(text, "max connections (2) reached -- try again later");
    }
}
