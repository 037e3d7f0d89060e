//! What does the text after `--to` name: a local path, a path over a remote shell, or a daemon's module?

use crate::error::Error;
use wire::escape::printable;

/// Where a copy goes to or comes from, as the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// A path on this machine.
    Local(Vec<u8>),
    /// `[user@]host:path`: rsync on another machine, started by a remote shell.
    Shell {
        /// The login name, when the text has one.
        user: Option<String>,
        /// The host as the remote shell knows it, without brackets.
        host: String,
        /// The path there; empty means the login directory.
        path: Vec<u8>,
    },
    /// `[user@]host::module/path` or `rsync://[user@]host[:port]/module/path`.
    Daemon {
        /// The account of the module, when the text has one.
        user: Option<String>,
        /// Host name or address, without brackets.
        host: String,
        /// The port, when the text has one.
        port: Option<u16>,
        /// The module's name; empty, as is the path, where all modules are meant.
        module: Vec<u8>,
        /// The path below the module, without the slash that follows the module's name.
        path: Vec<u8>,
    },
}

impl Place {
    /// Reads a place by rsync's rules: a slash before the first colon makes it a local path.
    pub fn parse(text: &[u8]) -> Result<Place, Error> {
        match Self::parse_any(text)? {
            Place::Daemon { module, .. } if module.is_empty() => {
                Err(Error::BadPlace { place: printable(text), why: NO_MODULE })
            }
            place => Ok(place),
        }
    }

    /// Does the same, but takes a daemon without a module as well: it is asked for its modules.
    pub fn parse_any(text: &[u8]) -> Result<Place, Error> {
        let bad = |why| Error::BadPlace { place: printable(text), why };
        if text.contains(&0) {
            return Err(bad("it holds a NUL byte"));
        }
        if let Some(rest) = strip_scheme(text) {
            return url(rest).map_err(bad);
        }
        match split_host(text) {
            Some((host, rest)) => remote(host, rest).map_err(bad),
            None if text.is_empty() => Err(bad("it is empty")),
            None => Ok(Place::Local(text.to_vec())),
        }
    }
}

const NO_MODULE: &str =
    "the daemon's path must start with the name of a module, as host::module/path";

/// Where a text names another machine, and what it names there; the host may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostSpec<'a> {
    /// Whether a daemon is meant.
    pub daemon: bool,
    /// User and host as they stand there.
    pub host: &'a [u8],
    /// The path there, for a daemon with the module in front.
    pub path: &'a [u8],
}

impl<'a> HostSpec<'a> {
    /// Takes a text apart; `None` where it names a local path.
    pub fn of(text: &'a [u8]) -> Option<HostSpec<'a>> {
        if let Some(rest) = strip_scheme(text) {
            let (authority, path) = split_url(rest);
            let (host, _) = split_port(authority);
            return Some(HostSpec { daemon: true, host, path });
        }
        let (host, path) = split_host(text)?;
        Some(match path.strip_prefix(b":") {
            Some(path) => HostSpec { daemon: true, host, path },
            None => HostSpec { daemon: false, host, path },
        })
    }
}

const SCHEME: &[u8] = b"rsync://";

fn strip_scheme(text: &[u8]) -> Option<&[u8]> {
    let (head, rest) = text.split_at_checked(SCHEME.len())?;
    head.eq_ignore_ascii_case(SCHEME).then_some(rest)
}

/// Splits `host:rest` at the colon that ends the host; `None` when the text is a local path.
fn split_host(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let user_end = text.windows(2).position(|pair| pair == b"@[").map(|at| at + 1);
    let open = user_end.or((text.first() == Some(&b'[')).then_some(0));
    let colon = match open {
        Some(open) if !text[..open].contains(&b'/') && !text[..open].contains(&b':') => {
            let close = open + text[open..].iter().position(|&byte| byte == b']')?;
            (text.get(close + 1) == Some(&b':')).then_some(close + 1)?
        }
        _ => text.iter().position(|&byte| byte == b':')?,
    };
    let host = &text[..colon];
    (!host.contains(&b'/')).then_some((host, &text[colon + 1..]))
}

fn remote(host: &[u8], rest: &[u8]) -> Result<Place, &'static str> {
    let (user, host) = user_and_host(host)?;
    match rest.strip_prefix(b":") {
        None => Ok(Place::Shell { user, host, path: rest.to_vec() }),
        Some(rest) => daemon(user, host, None, rest),
    }
}

fn url(rest: &[u8]) -> Result<Place, &'static str> {
    let (authority, path) = split_url(rest);
    let (host, port) = split_port(authority);
    let port = port.map_or(Ok(None), port_number)?;
    let (user, host) = user_and_host(host)?;
    daemon(user, host, port, path)
}

fn split_url(rest: &[u8]) -> (&[u8], &[u8]) {
    let end = rest.iter().position(|&byte| byte == b'/').unwrap_or(rest.len());
    (&rest[..end], rest.get(end + 1..).unwrap_or_default())
}

fn split_port(authority: &[u8]) -> (&[u8], Option<&[u8]>) {
    // Behind a bracket every colon belongs to the address.
    let tail = authority.iter().rposition(|&byte| byte == b']').unwrap_or(0);
    match authority[tail..].iter().position(|&byte| byte == b':').map(|at| at + tail) {
        None => (authority, None),
        Some(colon) => (&authority[..colon], Some(&authority[colon + 1..])),
    }
}

fn port_number(digits: &[u8]) -> Result<Option<u16>, &'static str> {
    if digits.is_empty() {
        return Ok(None);
    }
    let port = std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok());
    match port {
        Some(0) | None => Err("the port is not a number from 1 to 65535"),
        some => Ok(some),
    }
}

fn daemon(
    user: Option<String>,
    host: String,
    port: Option<u16>,
    rest: &[u8],
) -> Result<Place, &'static str> {
    let end = rest.iter().position(|&byte| byte == b'/').unwrap_or(rest.len());
    let module = rest[..end].to_vec();
    if module.is_empty() && !rest.is_empty() {
        return Err(NO_MODULE);
    }
    if module.iter().any(|byte| byte.is_ascii_control()) {
        return Err("the module's name holds a control character");
    }
    let path = rest.get(end + 1..).unwrap_or_default().to_vec();
    Ok(Place::Daemon { user, host, port, module, path })
}

fn user_and_host(text: &[u8]) -> Result<(Option<String>, String), &'static str> {
    let text = std::str::from_utf8(text).map_err(|_| "the host is not valid text")?;
    let (user, host) = match text.rsplit_once('@') {
        Some((user, host)) => (Some(user.to_owned()), host),
        None => (None, text),
    };
    let host = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    check_host(host)?;
    match user {
        Some(user) if user.is_empty() => Err("the user name before the @ is empty"),
        Some(user) if user.chars().any(char::is_control) => {
            Err("the user name holds a control character")
        }
        user => Ok((user, host.to_owned())),
    }
}

/// Refuses a host name that a remote shell would take for an option or that cannot be one.
pub(crate) fn check_host(host: &str) -> Result<(), &'static str> {
    if host.is_empty() {
        return Err("it names no host; for a file whose name has a colon write ./name");
    }
    if host.starts_with('-') {
        return Err("a host name may not start with a dash");
    }
    if host.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err("the host name holds blanks or control characters");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(user: Option<&str>, host: &str, path: &str) -> Place {
        Place::Shell {
            user: user.map(str::to_owned),
            host: host.to_owned(),
            path: path.as_bytes().to_vec(),
        }
    }

    fn module(user: Option<&str>, host: &str, port: Option<u16>, rest: (&str, &str)) -> Place {
        Place::Daemon {
            user: user.map(str::to_owned),
            host: host.to_owned(),
            port,
            module: rest.0.as_bytes().to_vec(),
            path: rest.1.as_bytes().to_vec(),
        }
    }

    #[test]
    fn every_form_that_rsync_knows_is_read_as_rsync_reads_it() {
        let cases = [
            ("nas:", shell(None, "nas", "")),
            ("nas:a b/c:d", shell(None, "nas", "a b/c:d")),
            ("me@nas:/volume1/x", shell(Some("me"), "nas", "/volume1/x")),
            ("a@b@nas:x", shell(Some("a@b"), "nas", "x")),
            ("[::1]:x", shell(None, "::1", "x")),
            ("me@[fe80::1%eth0]:x", shell(Some("me"), "fe80::1%eth0", "x")),
            ("nas::NetBackup", module(None, "nas", None, ("NetBackup", ""))),
            ("me@nas::NetBackup/a/b", module(Some("me"), "nas", None, ("NetBackup", "a/b"))),
            ("me@[::1]::m/x", module(Some("me"), "::1", None, ("m", "x"))),
            ("rsync://nas/m", module(None, "nas", None, ("m", ""))),
            ("RSYNC://me@nas:8730/m/x/", module(Some("me"), "nas", Some(8730), ("m", "x/"))),
            ("rsync://[::1]:99/m/x", module(None, "::1", Some(99), ("m", "x"))),
            ("rsync://nas:/m", module(None, "nas", None, ("m", ""))),
        ];
        for (text, place) in cases {
            assert_eq!(Place::parse(text.as_bytes()).unwrap(), place, "{text}");
        }
    }

    #[test]
    fn a_daemon_without_a_module_can_be_asked_for_all() {
        for text in ["nas::", "rsync://nas", "rsync://nas/"] {
            let place = Place::parse_any(text.as_bytes()).unwrap();
            assert_eq!(place, module(None, "nas", None, ("", "")), "{text}");
        }
    }

    #[test]
    fn a_host_is_found_in_every_form_even_an_empty_one() {
        let spec = |text: &'static str| {
            HostSpec::of(text.as_bytes()).map(|spec| (spec.daemon, spec.host, spec.path))
        };
        assert_eq!(spec(":x"), Some((false, &b""[..], &b"x"[..])));
        assert_eq!(spec("me@nas::m/x"), Some((true, &b"me@nas"[..], &b"m/x"[..])));
        assert_eq!(spec("rsync://[::1]:9/m/x"), Some((true, &b"[::1]"[..], &b"m/x"[..])));
        assert_eq!(spec("./a:b"), None);
    }

    #[test]
    fn a_slash_before_the_first_colon_makes_a_local_path() {
        for text in ["/a/b:c", "./a:b", "plain", "dir/x@[y]:z", "[::1"] {
            let place = Place::parse(text.as_bytes()).unwrap();
            assert_eq!(place, Place::Local(text.as_bytes().to_vec()), "{text}");
        }
    }

    #[test]
    fn a_place_that_cannot_be_meant_is_refused_with_its_reason() {
        let cases = [
            ("", "empty"),
            (":x", "names no host"),
            ("::m", "names no host"),
            ("@nas:x", "before the @"),
            ("-oProxyCommand=x:y", "dash"),
            ("me@-oProxyCommand=x:y", "dash"),
            ("nas::", "name of a module"),
            ("nas::/m", "name of a module"),
            ("rsync://nas", "name of a module"),
            ("rsync://nas:8x/m", "port"),
            ("rsync://nas:70000/m", "port"),
            ("a b:x", "blanks"),
            ("nas:\0", "NUL"),
        ];
        for (text, why) in cases {
            let error = Place::parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.exit_code(), 1, "{text}");
            assert!(error.to_string().contains(why), "{text}: {error}");
        }
    }
}
