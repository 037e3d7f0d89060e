//! How does a client ask a daemon for a module, or which modules there are?

use std::io::{Read, Write};

use super::{ERROR, Greeting, PREFIX, daemon_text, read_line};
use crate::auth::Credentials;
use crate::error::{Error, Result};
use crate::escape::printable;
use crate::limits;

/// Asks for a module and proves who asks, until the daemon says OK.
///
/// `credentials` is called when the daemon wants a password. `motd` gets each line of the
/// daemon's text, made printable, up to [`limits::MOTD_SHOWN`] bytes of it.
pub fn daemon_request_module<R, W>(
    r: &mut R,
    w: &mut W,
    greeting: &Greeting,
    module: &[u8],
    credentials: &mut dyn FnMut() -> Result<Credentials>,
    motd: &mut dyn FnMut(&[u8]),
) -> Result<()>
where
    R: Read + ?Sized,
    W: Write + ?Sized,
{
    check_module(module)?;
    write_line(w, &[module])?;

    let mut line = Vec::new();
    let mut answered = false;
    let mut text = Text::default();
    loop {
        read_line(r, &mut line)?;
        match classify(&line) {
            Line::Ok => return Ok(()),
            Line::Error => return Err(refusal(&line, answered)),
            Line::Exit => return Err(Error::Daemon("it ended the session".into())),
            Line::Challenge(_) if answered => {
                return Err(Error::Protocol("the daemon asked twice for a password".into()));
            }
            Line::Challenge(challenge) => {
                answer(w, greeting, challenge, credentials()?)?;
                answered = true;
            }
            Line::Text => text.line(&line, motd)?,
        }
    }
}

/// Asks which modules there are; `each` gets each line of the answer, made printable.
pub fn daemon_request_list<R, W>(r: &mut R, w: &mut W, each: &mut dyn FnMut(&[u8])) -> Result<()>
where
    R: Read + ?Sized,
    W: Write + ?Sized,
{
    write_line(w, &[])?;
    let (mut line, mut text) = (Vec::new(), Text::default());
    loop {
        read_line(r, &mut line)?;
        match classify(&line) {
            Line::Exit => return Ok(()),
            Line::Error => return Err(refusal(&line, false)),
            Line::Ok | Line::Challenge(_) => {
                return Err(Error::Protocol("the daemon answers what was not asked".into()));
            }
            Line::Text => text.line(&line, each)?,
        }
    }
}

/// Appends what a module's early exec is to get; it goes before the module's name.
pub fn put_early_input(out: &mut Vec<u8>, input: &[u8]) {
    out.extend_from_slice(format!("#early_input={}\n", input.len()).as_bytes());
    out.extend_from_slice(input);
}

/// Text of the daemon, which must end some time and is shown to a bound.
#[derive(Default)]
struct Text {
    bytes: usize,
}

impl Text {
    fn line(&mut self, line: &[u8], show: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.bytes += line.len() + 1;
        if self.bytes > limits::MOTD_TOTAL {
            return Err(Error::Malformed("the daemon's text has no end".into()));
        }
        if self.bytes <= limits::MOTD_SHOWN {
            // A list of modules has tabs, which do no harm.
            let parts: Vec<String> = line.split(|&byte| byte == b'\t').map(printable).collect();
            show(parts.join("\t").as_bytes());
        }
        Ok(())
    }
}

/// The lines of a daemon before the session.
enum Line<'a> {
    Ok,
    Exit,
    Error,
    Challenge(&'a [u8]),
    /// Message of the day.
    Text,
}

fn classify(line: &[u8]) -> Line<'_> {
    if line.starts_with(ERROR) {
        return Line::Error;
    }
    match line.strip_prefix(PREFIX) {
        Some(b"OK") => Line::Ok,
        Some(b"EXIT") => Line::Exit,
        Some(rest) => rest.strip_prefix(b"AUTHREQD ").map_or(Line::Text, Line::Challenge),
        None => Line::Text,
    }
}

/// After an answer, a daemon may still refuse for another reason than the password.
fn refusal(line: &[u8], answered: bool) -> Error {
    let text = daemon_text(line);
    match answered && text.to_lowercase().contains("auth") {
        true => Error::Auth(text),
        false => Error::Daemon(text),
    }
}

fn answer<W: Write + ?Sized>(
    w: &mut W,
    greeting: &Greeting,
    challenge: &[u8],
    credentials: Credentials,
) -> Result<()> {
    let Credentials { user, password } = credentials;
    if user.is_empty() || user.iter().any(|&byte| byte <= b' ' || byte == 0x7f) {
        let text = format!("\"{}\" cannot be the name of a module's user", printable(&user));
        return Err(Error::Refused(text));
    }
    let response = greeting.auth_digest()?.response(&password, challenge);
    write_line(w, &[&user, b" ", response.as_bytes()])
}

/// An empty name or one with `#` asks for something else than a module.
fn check_module(module: &[u8]) -> Result<()> {
    let harmless = |&byte: &u8| !matches!(byte, b'\n' | b'\r' | b'/' | 0);
    if module.is_empty() || module.starts_with(b"#") || !module.iter().all(harmless) {
        let text = format!("\"{}\" cannot be the name of a module", printable(module));
        return Err(Error::Refused(text));
    }
    Ok(())
}

fn write_line<W: Write + ?Sized>(w: &mut W, parts: &[&[u8]]) -> Result<()> {
    w.write_all(&[&parts.concat()[..], b"\n"].concat())?;
    Ok(w.flush()?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::auth::AuthDigest;
    use crate::testing::Trickle;

    const CHALLENGE: &str = "8ISUS9gzjA3Pj9V6Pu/DRo4F4MKh5xRqfGXPfCpObWmDCvcY/xEV/r/FkrbeO91/\
                             4205BTQe54f+VqeH/aFSMw";
    const RESPONSE: &str = "Qm5McmyH4+ppBtjKOzvlq1qXDqOolipjHInCvqSzAvIb2tckRTP2Tl/uP6AtdflI\
                            GHBgTht8o6vbHnJVQFUEXA";

    struct Outcome {
        result: Result<()>,
        sent: Vec<u8>,
        motd: Vec<String>,
        unread: Vec<u8>,
    }

    fn request(mut input: impl Read, protocol: u32, digests: Option<Vec<AuthDigest>>) -> Outcome {
        let (mut sent, mut motd, mut unread) = (Vec::new(), Vec::new(), Vec::new());
        let greeting = Greeting { protocol, digests };
        let mut credentials =
            || Ok(Credentials { user: b"alice".into(), password: b"secret".into() });
        let result = daemon_request_module(
            &mut input,
            &mut sent,
            &greeting,
            b"auth",
            &mut credentials,
            &mut |line| motd.push(String::from_utf8(line.to_vec()).unwrap()),
        );
        while let Err(error) = input.read_to_end(&mut unread) {
            assert_eq!(error.kind(), std::io::ErrorKind::Interrupted);
        }
        Outcome { result, sent, motd, unread }
    }

    #[test]
    fn the_recorded_session_with_a_password_is_reproduced_at_any_split() {
        let input = format!("welcome\n\n@RSYNCD: AUTHREQD {CHALLENGE}\n@RSYNCD: OK\n\u{1}bin");
        for step in [1, 2, 7, 4096] {
            let input = Trickle::new(input.as_bytes(), step);
            let outcome = request(input, 32, Some(AuthDigest::OFFERED.to_vec()));
            outcome.result.unwrap();
            assert_eq!(outcome.sent, format!("auth\nalice {RESPONSE}\n").as_bytes());
            assert_eq!(outcome.motd, ["welcome", ""]);
            assert_eq!(outcome.unread, b"\x01bin", "the binary part is left alone");
        }
    }

    #[test]
    fn a_daemon_without_a_list_of_digests_gets_the_answer_of_its_age() {
        for (protocol, response) in [(29, "alX9szSGkPFF0PHICLMjkw"), (30, "xCuToaw7OC6IBxUQKWqWzg")]
        {
            let outcome = request(&b"@RSYNCD: AUTHREQD abc\n@RSYNCD: OK\n"[..], protocol, None);
            outcome.result.unwrap();
            assert_eq!(outcome.sent, format!("auth\nalice {response}\n").as_bytes());
        }
    }

    #[test]
    fn the_daemons_error_comes_through_in_clean_words() {
        let outcome = request(&b"@ERROR: Unknown module 'x\x1b[2J'\n"[..], 32, None);
        let Err(Error::Daemon(text)) = outcome.result else { panic!("{:?}", outcome.result) };
        assert_eq!(text, "Unknown module 'x\\x1b[2J'");
        let refused = b"@RSYNCD: AUTHREQD abc\n@ERROR: auth failed on module auth\n";
        let outcome = request(&refused[..], 30, None);
        let Err(Error::Auth(text)) = outcome.result else { panic!("{:?}", outcome.result) };
        assert_eq!(text, "auth failed on module auth");
        let failed = b"@RSYNCD: AUTHREQD abc\n@ERROR: chdir failed\n";
        let outcome = request(&failed[..], 30, None);
        assert!(matches!(outcome.result, Err(Error::Daemon(_))), "{:?}", outcome.result);
    }

    #[test]
    fn an_end_anywhere_before_the_ok_is_an_error() {
        let whole = b"motd\n@RSYNCD: AUTHREQD abc\n@RSYNCD: OK\n";
        for end in 0..whole.len() {
            let outcome = request(&whole[..end], 30, None);
            assert!(matches!(outcome.result, Err(Error::Closed)), "cut at {end}");
        }
    }

    #[test]
    fn a_daemon_gets_one_answer_only() {
        let outcome = request(&b"@RSYNCD: AUTHREQD a\n@RSYNCD: AUTHREQD b\n"[..], 30, None);
        assert!(matches!(outcome.result, Err(Error::Protocol(_))));
    }

    #[test]
    fn text_of_the_daemon_is_escaped_and_bounded() {
        let outcome = request(&b"\x1b]0;title\x07\n@RSYNCD: OK\n"[..], 32, None);
        assert_eq!(outcome.motd, ["\\x1b]0;title\\x07"]);
        let endless = b"spam\n".repeat(limits::MOTD_TOTAL);
        let outcome = request(endless.as_slice(), 32, None);
        assert!(matches!(outcome.result, Err(Error::Malformed(_))));
        let shown: usize = outcome.motd.iter().map(|line| line.len() + 1).sum();
        assert!(shown <= limits::MOTD_SHOWN);
        let long_line = vec![b'x'; limits::DAEMON_LINE];
        let outcome = request(long_line.as_slice(), 32, None);
        assert!(matches!(outcome.result, Err(Error::Malformed(_))));
    }

    #[test]
    fn names_that_would_say_something_else_are_refused() {
        let greeting = Greeting { protocol: 32, digests: None };
        for module in [&b""[..], b"#list", b"a\nb", b"a/b", b"a\0"] {
            let result = daemon_request_module(
                &mut &b"@RSYNCD: OK\n"[..],
                &mut Vec::new(),
                &greeting,
                module,
                &mut || unreachable!(),
                &mut |_| {},
            );
            assert!(matches!(result, Err(Error::Refused(_))), "{module:?}");
        }
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic_and_end(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = request(bytes.as_slice(), 31, Some(vec![]));
            let _ = super::super::daemon_greeting(&mut bytes.as_slice(), &mut Vec::new(), 32);
            let greeting = [b"@RSYNCD: ", bytes.as_slice(), b"\n"].concat();
            let _ = super::super::daemon_greeting(&mut greeting.as_slice(), &mut Vec::new(), 32);
        }
    }
}
