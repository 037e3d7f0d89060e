//! How is a daemon reached through a web proxy?

use std::io::{Read, Write};

use wire::auth::base64;
use wire::escape::printable;

use crate::error::Error;

/// The longest line and the longest head of a proxy's answer, in bytes.
const LINE: usize = 1024;
const HEAD: usize = 1 << 16;

/// A web proxy that connects on demand (`RSYNC_PROXY`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// `user:password`, where it wants to know.
    pub login: Option<Vec<u8>>,
}

impl Proxy {
    /// Reads `[user:password@]host:port`.
    pub fn parse(text: &[u8]) -> Result<Proxy, Error> {
        let at = text.iter().rposition(|byte| *byte == b'@');
        let (login, place) = match at {
            Some(at) => (Some(text[..at].to_vec()), &text[at + 1..]),
            None => (None, text),
        };
        let place = std::str::from_utf8(place).ok().and_then(|place| place.rsplit_once(':'));
        let (host, port) = place.ok_or(Error::BadProxy)?;
        let port = port.parse().map_err(|_| Error::BadProxy)?;
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        Ok(Proxy { host: host.to_owned(), port, login })
    }

    /// Asks the proxy, on a connection to it, for a connection to `host`.
    pub(crate) fn ask(
        &self,
        r: &mut dyn Read,
        w: &mut dyn Write,
        host: &str,
        port: u16,
    ) -> wire::Result<Result<(), Error>> {
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let mut request = format!("CONNECT {host}:{port} HTTP/1.0\r\n");
        if let Some(login) = &self.login {
            let mut basic = base64(login);
            basic.extend(std::iter::repeat_n('=', (4 - basic.len() % 4) % 4));
            request += &format!("Proxy-Authorization: Basic {basic}\r\n");
        }
        request += "\r\n";
        w.write_all(request.as_bytes())?;
        w.flush()?;

        let status = read_line(r)?;
        let mut words = status.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
        let is_http = words.next().is_some_and(|word| word.starts_with(b"HTTP/"));
        if !is_http || !words.next().is_some_and(|code| code.starts_with(b"2")) {
            let proxy = format!("{}:{}", self.host, self.port);
            return Ok(Err(Error::Proxy { proxy, text: printable(&status) }));
        }
        let mut head = 0;
        loop {
            match read_line(r)?.len() {
                0 => return Ok(Ok(())),
                bytes => head += bytes,
            }
            if head > HEAD {
                return Err(wire::Error::Malformed("the proxy's answer has no end".into()));
            }
        }
    }
}

/// Reads byte by byte, for what follows belongs to the daemon.
fn read_line(r: &mut dyn Read) -> wire::Result<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        match wire::int::read_u8(r)? {
            b'\n' => break,
            _ if line.len() >= LINE => {
                return Err(wire::Error::Malformed("a line of the proxy is too long".into()));
            }
            byte => line.push(byte),
        }
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(proxy: &[u8], host: &str, answer: &[u8]) -> (String, bool, usize) {
        let (mut input, mut sent) = (answer, Vec::new());
        let done = Proxy::parse(proxy).unwrap().ask(&mut input, &mut sent, host, 873);
        (String::from_utf8(sent).unwrap(), done.is_ok_and(|done| done.is_ok()), input.len())
    }

    #[test]
    fn a_proxy_is_asked_with_its_password_and_its_whole_head_is_read() {
        let answer = b"HTTP/1.1 200 OK\r\nVia: x\r\n\r\n@RSYNCD";
        let (sent, fine, left) = ask(b"me:pw@proxy:8080", "nas", answer);
        let head = "CONNECT nas:873 HTTP/1.0\r\nProxy-Authorization: Basic bWU6cHc=\r\n\r\n";
        assert_eq!((sent.as_str(), fine, left), (head, true, 7));
        assert_eq!(ask(b"p:1", "::1", answer).0, "CONNECT [::1]:873 HTTP/1.0\r\n\r\n");
    }

    #[test]
    fn a_refusal_and_an_endless_answer_end_it() {
        assert!(!ask(b"p:1", "nas", b"HTTP/1.0 403 no\r\n\r\n").1);
        assert!(!ask(b"p:1", "nas", b"hello 200\r\n\r\n").1);
        assert!(
            !ask(b"p:1", "nas", &[b"HTTP/1.0 200 \r\n".as_slice(), &b"a\n".repeat(HEAD)].concat())
                .1
        );
        assert!(!ask(b"p:1", "nas", &b"x".repeat(2 * LINE)).1);
        assert!(Proxy::parse(b"nas").is_err() && Proxy::parse(b"nas:x").is_err());
    }
}
