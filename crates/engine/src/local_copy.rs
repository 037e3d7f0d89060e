//! A copy on one machine: a sender and a receiver joined in one process.
//!
//! They speak the protocol through a pair of sockets; content does not go through it, the sender
//! hands its files over opened (`handover`), and the system copies them.

use std::io::{self, IoSlice, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use wire::options::{Append, Options};
use wire::setup::CompressWish;

use crate::error::{Error, Result};
use crate::event::Event;
use crate::handover::Handover;
use crate::receive::{Means, Receive};
use crate::role::Role;
use crate::send::Send;
use crate::summary::Summary;

/// Bytes of a message with a line of a list, beside the names.
const LINE_LEN: usize = 51;
/// What this program can, as its own client tells it.
const CAPABILITIES: &[u8] = b"iLsfxCIvu";

/// Stops a copy.
pub type Stop = dyn Fn() + std::marker::Send + Sync;

/// Copies what `send` says to where `receive` says.
///
/// The sender is the client: what is told goes to its monitor, and the summary is its own.
/// `on_start` gets what stops the copy at once, from any thread; the temporary files are removed.
pub fn copy_locally(
    send: &Send<'_>,
    receive: &Receive<'_>,
    protocol: u32,
    on_start: &dyn Fn(Arc<Stop>),
) -> Result<Summary> {
    let (ours, theirs) = UnixStream::pair().map_err(Error::Send)?;
    let handover = Arc::new(Handover::default());
    let (stopped, stopped_handover) = (ours.try_clone().map_err(Error::Send)?, handover.clone());
    on_start(Arc::new(move || {
        stopped_handover.close();
        // A socket that is closed already needs no end.
        let _ = stopped.shutdown(Shutdown::Both);
    }));
    let handover = hands_over(send.options).then_some(&*handover);
    // Who prints is the client: the sender, but for a list the receiver.
    let (send_as, receive_as) = match send.options.list_only {
        true => (Role::Server(CAPABILITIES), Role::Client),
        false => (Role::Client, Role::Server(CAPABILITIES)),
    };
    let send = Send { role: send_as, ..*send };
    // rsync's receiver sends the lines of a list to its client.
    let listed = AtomicU64::new(0);
    let count = |event: Event<'_>| {
        if let Event::Listed(item, _) = &event {
            let names = item.name.len() + item.link_target.map_or(0, <[u8]>::len);
            listed.fetch_add((LINE_LEN + names) as u64, Relaxed);
        }
        (receive.monitor)(event);
    };
    let receive = Receive { role: receive_as, monitor: &count, ..*receive };
    let means = handover.map_or(Means::Connection, Means::Handover);
    let hang_up = || {
        // A socket that is closed already needs no end.
        let _ = ours.shutdown(Shutdown::Both);
        if let Some(handover) = handover {
            handover.close();
        }
    };
    let halves =
        |socket: &UnixStream| -> io::Result<_> { Ok((socket.try_clone()?, socket.try_clone()?)) };
    let (reader, writer) = halves(&ours).map_err(Error::Send)?;
    let (far_reader, far_writer) = halves(&theirs).map_err(Error::Send)?;
    std::thread::scope(|scope| {
        let receiving = scope.spawn(|| {
            let done = receive.run_with(far_reader, far_writer, protocol, &hang_up, means);
            // Its end of the connection closes, as that of a program does.
            let _ = theirs.shutdown(Shutdown::Both);
            done
        });
        let sent = send.run_with(reader, Outgoing(writer), protocol, &hang_up, handover);
        let received = receiving.join().unwrap_or(Err(Error::Wire(wire::Error::Closed)));
        match (sent, received) {
            (Ok(sent), Ok(received)) if receive.options.list_only => Ok(Summary {
                sent_bytes: sent.sent_bytes,
                received_bytes: sent.received_bytes + listed.load(Relaxed),
                errors: sent.errors + received.errors,
                ..received
            }),
            (Ok(mut summary), Ok(received)) => {
                summary.errors += received.errors;
                summary.delete_limit |= received.delete_limit;
                Ok(summary)
            }
            // Who failed first knows why; the other one lost its connection or heard it.
            (Err(sent), Err(received)) if sent.is_broken_connection() => Err(received),
            (Err(error), _) | (Ok(_), Err(error)) => Err(error),
        }
    })
}

/// The sender's way out, which is closed when the sender is done with it.
struct Outgoing(UnixStream);

impl Write for Outgoing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.write_vectored(pieces)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        // A socket that is closed already needs no end.
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

/// Content goes through the protocol only where it is compared, compressed or recorded.
fn hands_over(options: &Options) -> bool {
    let writes_in_place = options.inplace || options.write_devices || options.append != Append::No;
    options.sends_whole_files()
        && options.compress == CompressWish::Off
        && !options.dry_run
        && !writes_in_place
        && !options.sparse
        && options.bwlimit == 0
        && options.batch.is_none()
}
