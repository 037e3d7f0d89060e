//! Why a run failed, in words for a person: what, why, and what to do.

use transport::{Advice, FarEnd, Reason};

use super::exchange::Closed;

/// The end of a run that did not come through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The exit code, rsync's own.
    pub code: i32,
    /// What happened and why, one line.
    pub what: String,
    /// What to do, one line, where that is known.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure before anything was connected.
    pub(crate) fn local(code: i32, what: impl ToString) -> Self {
        Self { code, what: what.to_string(), hint: None }
    }

    /// A failure of the way there.
    pub(crate) fn of_transport(error: &transport::Error) -> Self {
        Self { code: error.exit_code(), what: error.to_string(), hint: error.hint() }
    }

    /// A failure in the middle: our error, how the far side ended, and the texts that it sent.
    pub(crate) fn of_session(error: &engine::Error, closed: &Closed) -> Self {
        let Closed { ending, stopped, texts, peer, .. } = closed;
        let stopped = *stopped;
        if let Some(code) = stopped.and_then(Reason::exit_code) {
            let reason = stopped.map_or_else(String::new, |reason| reason.to_string());
            return Self { code, what: format!("{peer}: {reason}"), hint: hint_of(stopped) };
        }
        if is_ours(error) {
            return Self::local(error.exit_code(), error);
        }
        let code = ending.merge(error.exit_code());
        let far_code = match (error, &ending.end) {
            (engine::Error::FarExit(code), _) | (_, FarEnd::Exited(code)) => Some(*code),
            _ => None,
        };
        let why = last_text(&ending.stderr, texts);
        let why = why.map_or_else(String::new, |text| format!(" ({text})"));
        match transport::translate(far_code, &ending.stderr, texts) {
            Some(Advice { what, hint }) => {
                Self { code, what: format!("{peer}: {what}{why}"), hint: Some(hint) }
            }
            None => Self {
                code,
                what: format!("{peer}: {error}{why}"),
                hint: is_loss(error).then(|| LOSS_HINT.to_owned()),
            },
        }
    }
}

/// What is there stays: every file is complete or not there.
const LOSS_HINT: &str =
    "what has arrived is kept; run it again, and look into the far side's log if it happens twice";

/// We gave up, and the far side's end is only what follows from that.
fn is_ours(error: &engine::Error) -> bool {
    matches!(
        error,
        engine::Error::NeedsProtocol { .. }
            | engine::Error::Filter(_)
            | engine::Error::Codec(_)
            | engine::Error::Tree(_)
            | engine::Error::NothingToSend
    )
}

/// Tells whether the far side is gone or has given up: then its own end says why.
pub(crate) fn is_loss(error: &engine::Error) -> bool {
    matches!(
        error,
        engine::Error::Send(_)
            | engine::Error::FarExit(_)
            | engine::Error::Wire(wire::Error::Closed | wire::Error::Io(_))
    )
}

fn hint_of(stopped: Option<Reason>) -> Option<String> {
    match stopped {
        Some(Reason::TimedOut { .. }) => Some(
            "check that the far side is still awake; a longer limit is set with --timeout".into(),
        ),
        _ => None,
    }
}

/// The far side's own words, the most telling line of them.
fn last_text(stderr: &str, texts: &[String]) -> Option<String> {
    let lines = texts.iter().flat_map(|text| text.lines()).chain(stderr.lines());
    let telling = |line: &&str| !line.is_empty() && !line.starts_with("rsync error:");
    lines.map(str::trim).rfind(telling).map(str::to_owned)
}
