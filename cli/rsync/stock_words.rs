//! In which words does rsync tell why a session failed?

use transport::{Error, Reason};

/// Returns the lines for a failure on the way to the other machine.
pub(crate) fn transport(error: &Error, role: &str) -> Vec<String> {
    match error {
        Error::OpenQuote { quote } => {
            vec![format!("Missing trailing-{quote} in remote-shell command.")]
        }
        Error::Refused { host, tried, .. }
        | Error::NoRoute { host, tried }
        | Error::Connect { host, tried, .. } => tried
            .split("; ")
            .map(|one| {
                let (address, why) = one.split_once(": ").unwrap_or(("", one));
                let why = numbered(why);
                format!("rsync: [{role}] failed to connect to {host} ({address}): {why}")
            })
            .collect(),
        Error::HostUnknown { host, reason } => {
            vec![format!("rsync: getaddrinfo: {host}: {reason}")]
        }
        Error::NoAnswer { .. } => {
            vec![format!("[{role}] timeout waiting for daemon connection")]
        }
        Error::NoProgram { program, source } => {
            let why = numbered(&source.to_string());
            vec![format!("rsync: [{role}] Failed to exec {program}: {why}")]
        }
        Error::Shell { .. } => vec![closed(role, 0)],
        Error::Noise { .. } => vec![
            "protocol version mismatch -- is your shell clean?".to_owned(),
            "(see the rsync manpage for an explanation)".to_owned(),
        ],
        Error::Daemon { text, .. } | Error::Auth { text, .. } => vec![format!("@ERROR: {text}")],
        Error::EarlyInput { path, source } => {
            let why = numbered(&source.to_string());
            vec![format!("rsync: [{role}] failed to open {}: {why}", path.display())]
        }
        Error::Wire { source: wire::Error::NotDaemon { seen }, .. } => {
            vec![match seen.as_slice() {
                [] => "rsync: did not see server greeting".to_owned(),
                seen => {
                    let seen = wire::escape::printable(seen);
                    format!("rsync: server sent \"{seen}\" rather than greeting")
                }
            }]
        }
        Error::Wire { source, .. } => wire_words(source, role, 0),
        Error::Stopped { reason: Reason::TimedOut { seconds }, .. } => {
            vec![format!("[{role}] io timeout after {seconds} seconds -- exiting")]
        }
        Error::Stopped { .. } => Vec::new(),
        Error::BadProxy => vec![error.to_string()],
        other => vec![format!("rsync: [{role}] {other}")],
    }
}

/// Returns the lines for a failure in the middle, after so many bytes had come.
pub(crate) fn engine(error: &engine::Error, role: &str, read_bytes: u64) -> Vec<String> {
    match error {
        // Its reason has come as text.
        engine::Error::FarExit(_) => Vec::new(),
        engine::Error::Wire(error) => wire_words(error, role, read_bytes),
        engine::Error::Send(error) => {
            vec![format!("rsync: [{role}] write error: {}", numbered(&error.to_string()))]
        }
        other => vec![other.to_string()],
    }
}

fn wire_words(error: &wire::Error, role: &str, read_bytes: u64) -> Vec<String> {
    match error {
        wire::Error::Closed => vec![closed(role, read_bytes)],
        wire::Error::Io(error) => {
            vec![format!("rsync: [{role}] read error: {}", numbered(&error.to_string()))]
        }
        other => vec![format!("rsync: [{role}] {other}")],
    }
}

fn closed(role: &str, read_bytes: u64) -> String {
    format!("rsync: connection unexpectedly closed ({read_bytes} bytes received so far) [{role}]")
}

/// Writes the system's number as rsync does: `Connection refused (111)`.
fn numbered(text: &str) -> String {
    text.replace("(os error ", "(")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_port_is_told_as_rsync_tells_it() {
        let error = Error::Refused {
            host: "localhost".into(),
            port: 873,
            tried: "::1: Connection refused (os error 111); 127.0.0.1: x".into(),
        };
        let expected = [
            "rsync: [sender] failed to connect to localhost (::1): Connection refused (111)",
            "rsync: [sender] failed to connect to localhost (127.0.0.1): x",
        ];
        assert_eq!(transport(&error, "sender"), expected);
    }
}
