//! In which words does rsync tell why the other machine was not reached?

use transport::{Error, Reason};

/// Returns the lines for a failure on the way to the other machine.
pub(crate) fn lines(error: &Error, role: &str) -> Vec<String> {
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
        Error::Shell { .. } | Error::Wire { source: wire::Error::Closed, .. } => {
            vec![format!(
                "rsync: connection unexpectedly closed (0 bytes received so far) [{role}]"
            )]
        }
        Error::Noise { seen, daemon: true, .. } => {
            let line = seen.split("\\n").next().unwrap_or_default();
            vec![format!("rsync: server sent \"{line}\" rather than greeting")]
        }
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
        Error::Wire { source, .. } => vec![format!("rsync: [{role}] {source}")],
        Error::Stopped { reason: Reason::TimedOut { seconds }, .. } => {
            vec![format!("[{role}] io timeout after {seconds} seconds -- exiting")]
        }
        Error::Stopped { .. } => Vec::new(),
        Error::BadProxy => vec![error.to_string()],
        other => vec![format!("rsync: [{role}] {other}")],
    }
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
        assert_eq!(lines(&error, "sender"), expected);
    }
}
