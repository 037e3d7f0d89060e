//! What can go wrong on the way to the other machine, and what is to be done about it?

use std::io;
use std::path::PathBuf;

use crate::advice::{Advice, translate};
use crate::canceller::Reason;

/// A failure to reach the other machine or to start rsync there.
///
/// The text says what failed, where and why; [`Error::hint`] says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text that names no place.
    #[error("\"{place}\" is not a place to copy to: {why}")]
    BadPlace {
        /// The text, made printable.
        place: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A remote-shell command with a quote that is never closed.
    #[error("the remote-shell command has an opening {quote} and no closing one")]
    OpenQuote {
        /// The quote.
        quote: char,
    },
    /// A remote-shell command without words.
    #[error("the remote-shell command is empty")]
    NoShell,

    /// The host's name has no address.
    #[error("host {host} is unknown: {reason}")]
    HostUnknown {
        /// The name.
        host: String,
        /// The resolver's words.
        reason: String,
    },
    /// The host is there and the port is closed.
    #[error(
        "connection to {host} port {port} was refused: no rsync daemon listens there ({tried})"
    )]
    Refused {
        /// The host.
        host: String,
        /// The port.
        port: u16,
        /// Every address that was tried, with its outcome.
        tried: String,
    },
    /// The network does not lead to the host.
    #[error("host {host} cannot be reached ({tried})")]
    NoRoute {
        /// The host.
        host: String,
        /// Every address that was tried, with its outcome.
        tried: String,
    },
    /// The host, or the daemon, did not answer within the limit that was set.
    #[error("{peer} did not answer within {seconds} s")]
    NoAnswer {
        /// Host and port.
        peer: String,
        /// The limit.
        seconds: u64,
    },
    /// Connecting failed in another way.
    #[error("connection to {host} port {port} failed ({tried})")]
    Connect {
        /// The host.
        host: String,
        /// The port.
        port: u16,
        /// Every address that was tried, with its outcome.
        tried: String,
    },
    /// A text that names no web proxy.
    #[error("invalid proxy specification: should be HOST:PORT")]
    BadProxy,
    /// The web proxy did not lead to the daemon.
    #[error("the proxy {proxy} did not connect: {text}")]
    Proxy {
        /// The proxy's host and port.
        proxy: String,
        /// Its answer, made printable.
        text: String,
    },
    /// The local address to connect from cannot be used.
    #[error("cannot connect from address {address}: {reason}")]
    Bind {
        /// The address as given.
        address: String,
        /// Why not.
        reason: String,
    },

    /// The remote-shell program cannot be started.
    #[error("cannot start {program}: {source}")]
    NoProgram {
        /// The program.
        program: String,
        /// The system's words.
        source: io::Error,
    },
    /// The remote shell, or rsync behind it, ended before it spoke the protocol.
    #[error("{}", shell_text(.peer, *.code, .stderr))]
    Shell {
        /// The remote shell and the host.
        peer: String,
        /// The command that was to be found there.
        rsync_path: String,
        /// The exit code, or `None` when a signal ended it or it closed the connection only.
        code: Option<i32>,
        /// The last lines that it wrote to stderr, made printable.
        stderr: String,
    },
    /// The far side's shell printed something before rsync was started.
    #[error("{peer} printed \"{seen}\" before rsync spoke")]
    Noise {
        /// The remote shell and the host.
        peer: String,
        /// The beginning of what was printed, made printable.
        seen: String,
        /// Whether a daemon's greeting was waited for.
        daemon: bool,
    },

    /// The daemon refused before the transfer; its own words.
    #[error("{peer}: the rsync daemon refused module \"{module}\": {text}")]
    Daemon {
        /// Host and port.
        peer: String,
        /// The module asked for.
        module: String,
        /// The daemon's words, made printable.
        text: String,
    },
    /// The daemon did not accept user and password.
    #[error(
        "{peer}: user \"{user}\" or the password was not accepted for module \"{module}\": {text}"
    )]
    Auth {
        /// Host and port.
        peer: String,
        /// The module asked for.
        module: String,
        /// The user.
        user: String,
        /// The daemon's words, made printable.
        text: String,
    },
    /// The module wants a password and nobody has one.
    #[error("module \"{module}\" wants a password for user \"{user}\" and none was given")]
    NoPassword {
        /// The module asked for.
        module: String,
        /// The user.
        user: String,
    },
    /// The password file cannot be used.
    #[error("password file {}: {why}", .path.display())]
    PasswordFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },

    /// What is meant for a daemon's early exec cannot be read.
    #[error("failed to open {}: {source}", .path.display())]
    EarlyInput {
        /// The file.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },

    /// The session was stopped, by a signal or a time limit.
    #[error("{peer}: {reason}")]
    Stopped {
        /// The far side.
        peer: String,
        /// Who stopped it.
        reason: Reason,
    },
    /// The conversation failed.
    #[error("{peer}: {source}")]
    Wire {
        /// The far side.
        peer: String,
        /// What was wrong.
        source: wire::Error,
    },
    /// The system failed us.
    #[error("cannot {action}: {source}")]
    Io {
        /// What was to be done.
        action: &'static str,
        /// The system's words.
        source: io::Error,
    },
}

impl Error {
    /// Returns the exit code that rsync has for such a failure.
    pub fn exit_code(&self) -> i32 {
        use wire::exit;
        match self {
            Error::BadPlace { .. }
            | Error::OpenQuote { .. }
            | Error::NoShell
            | Error::NoPassword { .. }
            | Error::PasswordFile { .. } => exit::SYNTAX,
            Error::HostUnknown { .. }
            | Error::Refused { .. }
            | Error::NoRoute { .. }
            | Error::Connect { .. }
            | Error::BadProxy
            | Error::Proxy { .. }
            | Error::Bind { .. } => exit::SOCKET,
            Error::NoAnswer { .. } => exit::CONNECT_TIMEOUT,
            Error::NoProgram { .. } | Error::Io { .. } => exit::IPC,
            Error::Shell { code, .. } => code.unwrap_or(0).max(exit::STREAM),
            Error::Noise { daemon: true, .. } => exit::START,
            Error::Noise { .. } => exit::PROTOCOL,
            Error::Daemon { .. } | Error::Auth { .. } | Error::EarlyInput { .. } => exit::START,
            Error::Stopped { reason, .. } => reason.exit_code().unwrap_or(exit::STREAM),
            Error::Wire { source, .. } => source.exit_code(),
        }
    }

    /// Says what to do, in one line, where that is known.
    pub fn hint(&self) -> Option<String> {
        let fixed = match self {
            Error::BadPlace { .. } => {
                "write host:path, host::module/path or rsync://host/module/path"
            }
            Error::OpenQuote { .. } => "quotes are written as for rsync -e: 'ssh -p 2222'",
            Error::NoShell => "name a program, such as ssh",
            Error::HostUnknown { .. } => "check the name, or give the address instead",
            Error::Refused { .. } => {
                "switch the rsync service on there, or check the port (rsync's own is 873)"
            }
            Error::NoRoute { .. } => "check that the machine is on and in the same network",
            Error::NoAnswer { .. } => {
                "check that the machine is awake and that no firewall drops the port; \
                 a longer limit is set with --contimeout"
            }
            Error::Bind { .. } => "give an address that this machine has",
            Error::NoProgram { program, .. } if program == "ssh" => "install the OpenSSH client",
            Error::NoProgram { .. } => "check the command given with -e",
            Error::Shell { code, rsync_path, stderr, .. } => {
                return Some(shell_hint(*code, rsync_path, stderr));
            }
            Error::Noise { .. } => {
                "make the login start-up files there (.bashrc, .profile) print nothing when no \
                 person logs in; `ssh HOST true` must print nothing"
            }
            Error::Daemon { text, .. } => return advice(None, text).map(|known| known.hint),
            Error::Auth { .. } => {
                "check user and password against the module's own accounts; these are not the \
                 login's, and the file's first line must hold the password alone"
            }
            Error::NoPassword { .. } => "give --password-file FILE or set RSYNC_PASSWORD",
            Error::PasswordFile { .. } => {
                "the file's first line is the password; it must be yours and closed to others \
                 (chmod 600)"
            }
            Error::Stopped { reason: Reason::TimedOut { .. }, .. } => {
                "check that the far side is still awake; a longer limit is set with --timeout"
            }
            Error::BadProxy | Error::Proxy { .. } => "check the variable RSYNC_PROXY",
            Error::Connect { .. }
            | Error::EarlyInput { .. }
            | Error::Stopped { .. }
            | Error::Wire { .. }
            | Error::Io { .. } => return None,
        };
        Some(fixed.to_owned())
    }
}

fn advice(code: Option<i32>, text: &str) -> Option<Advice> {
    translate(code, text, &[])
}

fn shell_text(peer: &str, code: Option<i32>, stderr: &str) -> String {
    let why = match advice(code, stderr) {
        Some(known) => known.what,
        None => "the connection was closed before rsync spoke".to_owned(),
    };
    let code = code.filter(|&code| code != 0).map(|code| format!(" (exit code {code})"));
    let said = match stderr.lines().rfind(|line| !line.trim().is_empty()) {
        Some(line) => format!("; it said: {}", line.trim()),
        None => String::new(),
    };
    format!("{peer}: {why}{}{said}", code.unwrap_or_default())
}

fn shell_hint(code: Option<i32>, rsync_path: &str, stderr: &str) -> String {
    match advice(code, stderr) {
        Some(known) => known.hint,
        None => format!("try `ssh HOST {rsync_path} --version` by hand"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(code: i32, stderr: &str) -> Error {
        Error::Shell {
            peer: "ssh nas".into(),
            rsync_path: "rsync".into(),
            code: Some(code),
            stderr: stderr.into(),
        }
    }

    #[test]
    fn a_missing_rsync_is_told_in_one_line_with_the_way_out() {
        let error = shell(127, "sh: rsync: command not found\n");
        let text = error.to_string();
        assert_eq!(error.exit_code(), 127);
        assert!(text.starts_with("ssh nas: ") && !text.contains('\n'), "{text}");
        assert!(text.contains("not found on the far side"), "{text}");
        let hint = error.hint().unwrap();
        assert!(hint.contains("--rsync-path") && hint.contains("/usr/syno/bin/rsync"), "{hint}");
    }

    #[test]
    fn the_words_of_ssh_are_kept_and_its_code_counts() {
        let error = shell(255, "Host key verification failed.\n");
        assert_eq!(error.exit_code(), 255);
        assert!(error.to_string().contains("Host key verification failed."), "{error}");
        assert!(error.hint().unwrap().contains("by hand once"));
    }

    #[test]
    fn a_far_side_that_closes_without_a_word_is_a_broken_stream() {
        let error = Error::Shell {
            peer: "sh nas".into(),
            rsync_path: "rsync".into(),
            code: None,
            stderr: String::new(),
        };
        assert_eq!(error.exit_code(), 12);
        assert!(error.hint().is_some());
    }
}
