//! How a server tells what happens: as messages in the connection, for its client to print.
//!
//! Any thread may put something in; the one that writes the connection takes it out.

use std::collections::VecDeque;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::panic::Location;
use std::sync::{Mutex, MutexGuard, PoisonError};

use wire::mux::{MuxWriter, tag};
use wire::options::{DebugLevels, InfoLevels, Options};

use crate::error::{Error, Result};
use crate::event::{Event, Gravity};
use crate::notice::{Notice, RuleHit};

/// Messages on their way to the client.
#[derive(Debug)]
pub(crate) struct Outbox {
    queue: Mutex<VecDeque<(u8, Vec<u8>)>>,
    levels: InfoLevels,
    debug: DebugLevels,
    /// Items are shown with what differs.
    itemizes: bool,
    protocol: u32,
}

impl Outbox {
    /// Creates an empty outbox for a client that wants so much to be told.
    pub(crate) fn new(options: &Options, protocol: u32) -> Self {
        let format = options.out_format.as_deref().unwrap_or_default();
        let itemizes = options.itemize > 0 || format.windows(2).any(|two| two == b"%i");
        let (levels, debug) = (InfoLevels::of(options), DebugLevels::of(options));
        Self { queue: Mutex::default(), levels, debug, itemizes, protocol }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(u8, Vec<u8>)>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a message in as it is.
    pub(crate) fn put(&self, tag: u8, payload: Vec<u8>) {
        self.lock().push_back((tag, payload));
    }

    /// Puts an event into the words that clients print. What a client sees for itself is left out.
    pub(crate) fn tell(&self, event: &Event<'_>) {
        match event {
            Event::Problem(problem) => {
                let path = problem.path.as_os_str().as_bytes();
                let mut line = problem.trouble.stock(problem.who, path);
                let tag = match problem.gravity {
                    Gravity::Warning | Gravity::Vanished if self.protocol >= 30 => tag::WARNING,
                    Gravity::Warning | Gravity::Vanished => tag::INFO,
                    Gravity::Error => tag::ERROR_XFER,
                };
                if !line.is_empty() {
                    line.push(b'\n');
                    self.put(tag, line);
                }
            }
            Event::Notice { notice, name } if self.tells(*notice) => {
                let mut line = notice.stock(name);
                line.push(b'\n');
                let warns = notice.is_warning() && self.protocol >= 30;
                self.put(if warns { tag::WARNING } else { tag::INFO }, line);
            }
            Event::RuleHit(hit) if RuleHit::is_told(self.debug) => {
                let mut line = hit.stock();
                line.push(b'\n');
                self.put(tag::INFO, line);
            }
            Event::Deleted { name, is_dir } => {
                let mut payload = name.to_vec();
                if *is_dir {
                    payload.push(0);
                }
                self.put(tag::DELETED, payload);
            }
            _ => {}
        }
    }

    fn tells(&self, notice: Notice) -> bool {
        match notice {
            Notice::CreatedDirectory if self.itemizes => true,
            Notice::UpToDate | Notice::Updated if self.itemizes => false,
            notice => notice.is_told(|info| self.levels.level(info), self.debug),
        }
    }

    /// Writes what lies there.
    pub(crate) fn empty_into<W: Write>(&self, out: &mut MuxWriter<W>) -> Result<()> {
        loop {
            let Some((tag, payload)) = self.lock().pop_front() else {
                return Ok(());
            };
            out.message(tag, &payload)?;
        }
    }
}

/// Tells the far side why nothing more comes, where it may still listen; a server, which has an
/// outbox, tells it in rsync's last lines. Returns what is left to be told here.
#[track_caller]
pub(crate) fn give_up<W: Write>(
    out: &mut MuxWriter<W>,
    protocol: u32,
    server: Option<&Outbox>,
    error: Error,
    who: &str,
) -> Error {
    if error.is_broken_connection() {
        return error;
    }
    let code = error.exit_code();
    if let Some(outbox) = server {
        let who = match &error {
            error if error.is_early() => "Receiver",
            Error::Destination(_) => "receiver",
            _ => who,
        };
        let closing = wire::exit::closing(code, Location::caller(), who);
        let tag = if protocol >= 30 { tag::ERROR } else { tag::ERROR_XFER };
        outbox.put(tag, [error.stock(who).as_slice(), b"\n"].concat());
        outbox.put(tag, [closing.as_bytes(), b"\n"].concat());
    }
    match last_words(out, protocol, server, code) {
        Ok(()) if server.is_some() => Error::Told(code),
        // A failure to say why changes nothing.
        _ => error,
    }
}

fn last_words<W: Write>(
    out: &mut MuxWriter<W>,
    protocol: u32,
    server: Option<&Outbox>,
    code: i32,
) -> Result<()> {
    if let Some(outbox) = server {
        outbox.empty_into(out)?;
    }
    if protocol >= 31 {
        out.message(tag::ERROR_EXIT, &code.to_le_bytes())?;
    }
    Ok(out.flush()?)
}
