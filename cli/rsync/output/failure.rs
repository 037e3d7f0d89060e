//! How does rsync say that a session broke?

use std::io::ErrorKind;

use engine::{Error, reason};
use wire::escape::printable;

/// What such lines name beside the error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Broken<'a> {
    /// rsync's name for the part that met it.
    pub(crate) role: &'a str,
    /// Bytes that had come in.
    pub(crate) received_bytes: u64,
    /// The limit on silence in seconds.
    pub(crate) timeout: u32,
}

/// Returns the lines for an error that ended a session, without the closing one. There is none
/// for what the far side has told by itself.
pub(super) fn lines(error: &Error, broken: Broken<'_>) -> Vec<String> {
    let Broken { role, received_bytes, timeout } = broken;
    let line = match error {
        Error::FarExit(_) | Error::Told(_) | Error::NothingToSend => return Vec::new(),
        Error::Wire(wire::Error::NotRsync { .. } | wire::Error::TooOld { .. }) => {
            return vec![
                "protocol version mismatch -- is your shell clean?".to_owned(),
                "(see the rsync manpage for an explanation)".to_owned(),
            ];
        }
        Error::Wire(wire::Error::Closed) => {
            let received = format!("{received_bytes} bytes received so far");
            format!("rsync: connection unexpectedly closed ({received}) [{role}]")
        }
        Error::Wire(wire::Error::Io(error)) if error.kind() == ErrorKind::TimedOut => {
            format!("[{role}] io timeout after {timeout} seconds -- exiting")
        }
        Error::Wire(wire::Error::Io(error)) => {
            format!("rsync: [{role}] read error: {}", reason(error))
        }
        Error::Send(error) => format!("rsync: [{role}] write error: {}", reason(error)),
        Error::Wire(wire::Error::Daemon(text) | wire::Error::Auth(text)) => {
            format!("@ERROR: {text}")
        }
        _ => printable(&error.stock(role)),
    };
    vec![line]
}

/// Returns the line that shows how the far program is started.
pub(super) fn command(words: &[Vec<u8>]) -> Vec<u8> {
    let mut line = b"opening connection using: ".to_vec();
    for word in words {
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b",.-_=+@/".contains(byte);
        let quote: &[u8] = if word.iter().all(plain) { b"" } else { b"\"" };
        line.extend([quote, word, quote, b" "].concat());
    }
    line.extend_from_slice(format!(" ({} args)", words.len()).as_bytes());
    line
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_broken_session_is_described_as_rsync_does() {
        let broken = Broken { role: "sender", received_bytes: 1234, timeout: 1 };
        let timed_out = wire::Error::Io(ErrorKind::TimedOut.into());
        let needs = Error::NeedsProtocol { option: "--xattrs", needed: 30, protocol: 29 };
        let table = [
            (
                Error::Wire(wire::Error::Closed),
                "rsync: connection unexpectedly closed (1234 bytes received so far) [sender]",
            ),
            (Error::Wire(timed_out), "[sender] io timeout after 1 seconds -- exiting"),
            (
                Error::Send(io::Error::from_raw_os_error(32)),
                "rsync: [sender] write error: Broken pipe (32)",
            ),
            (needs, "--xattrs requires protocol 30 or higher (negotiated 29)."),
            (Error::FarExit(11), ""),
            (
                Error::Wire(wire::Error::Daemon("Unknown module 'x'".into())),
                "@ERROR: Unknown module 'x'",
            ),
        ];
        for (error, expected) in table {
            assert_eq!(lines(&error, broken).join("\n"), expected);
        }
    }

    #[test]
    fn the_command_is_shown_with_odd_words_in_quotes() {
        let words = ["./rsh.sh", "h", "rsync", "--server", "-vlogDtpre.iLsfxCIvu", ".", "/d\\ st/"];
        assert_eq!(
            String::from_utf8_lossy(&command(&words.map(Vec::from))),
            "opening connection using: ./rsh.sh h rsync --server -vlogDtpre.iLsfxCIvu . \
             \"/d\\ st/\"  (7 args)"
        );
    }
}
