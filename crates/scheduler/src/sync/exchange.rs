//! What happens on a connection from the binary set-up to its end?

use std::sync::Mutex;
use std::time::Duration;

use engine::{Event, Monitor, Receive, Send, Summary};
use transport::{Ending, Reason, Session};

use super::failure::is_loss;

/// How long a far side with which a session has failed may take to end.
const FAILED_PATIENCE: Duration = Duration::from_secs(5);

/// Texts of the far side that are kept to find out why a run failed.
const MAX_TEXTS: usize = 64;

/// Our part in a session.
pub enum Part<'a> {
    /// We send.
    Send(Send<'a>),
    /// We receive.
    Receive(Receive<'a>),
}

impl Part<'_> {
    fn monitor(&self) -> Monitor<'_> {
        match self {
            Part::Send(send) => send.monitor,
            Part::Receive(receive) => receive.monitor,
        }
    }
}

/// How a session ended, on both sides.
#[derive(Debug)]
pub struct Closed {
    /// Our own result.
    pub done: engine::Result<Summary>,
    /// The far side's end.
    pub ending: Ending,
    /// Who stopped it, if somebody did.
    pub stopped: Option<Reason>,
    /// What the far side said inside the connection.
    pub texts: Vec<String>,
    /// The far side's name.
    pub peer: String,
    /// All bytes that came from it.
    pub read_bytes: u64,
}

/// Plays our part on a connection and brings it to its end.
pub fn exchange(session: Session, part: &Part<'_>) -> Closed {
    let Session { mut connection, protocol } = session;
    let idle_limit = connection.idle_limit.clone();
    let texts = Mutex::new(Vec::new());
    let monitor = |event: Event<'_>| {
        match &event {
            Event::FarText { text, .. } => keep(&texts, text),
            Event::TimeLimit(seconds) => {
                let limit = Duration::from_secs((*seconds).into());
                // Without the watch the far side's own limit still ends the session.
                let _ = idle_limit.shorten_to(limit);
            }
            _ => {}
        }
        (part.monitor())(event);
    };
    let canceller = connection.canceller.clone();
    let hang_up = || _ = canceller.cancel(Reason::Failed);
    let (reader, writer) = (&mut connection.reader, &mut connection.writer);
    let done = match part {
        Part::Send(send) => {
            Send { monitor: &monitor, ..*send }.run(reader, writer, protocol, &hang_up)
        }
        Part::Receive(receive) => {
            Receive { monitor: &monitor, ..*receive }.run(reader, writer, protocol, &hang_up)
        }
    };
    let stopped = canceller.reason();
    let ends_itself = |error: &engine::Error| {
        is_loss(error) || matches!(error, engine::Error::NeedsProtocol { .. })
    };
    if done.as_ref().is_err_and(|error| !ends_itself(error)) {
        // Its end can tell nothing more, and it need not come by itself.
        canceller.cancel(Reason::Failed);
    }
    let peer = connection.peer.clone();
    let read_bytes = connection.activity.read_bytes();
    let ending = match done {
        Ok(_) => connection.finish(),
        Err(_) => connection.finish_within(FAILED_PATIENCE),
    };
    let texts = texts.into_inner().unwrap_or_default();
    Closed { done, ending, stopped, texts, peer, read_bytes }
}

fn keep(texts: &Mutex<Vec<String>>, text: &[u8]) {
    let Ok(mut texts) = texts.lock() else { return };
    if texts.len() < MAX_TEXTS {
        texts.push(String::from_utf8_lossy(text).into_owned());
    }
}
