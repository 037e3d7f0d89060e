//! A copy on one machine: a sender and a receiver joined in one process.
//!
//! They speak the protocol through a pair of sockets; content does not go through it, the sender
//! hands its files over opened (`handover`), and the system copies them.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use wire::options::{Append, Options};

use crate::error::{Error, Result};
use crate::handover::Handover;
use crate::receive::{Means, Receive};
use crate::role::Role;
use crate::send::Send;
use crate::summary::Summary;

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
    let stopped = ours.try_clone().map_err(Error::Send)?;
    on_start(Arc::new(move || drop(stopped.shutdown(Shutdown::Both))));
    let handover = Handover::default();
    let handover = hands_over(send.options).then_some(&handover);
    // Who prints is the client: the sender, but for a list the receiver.
    let (send_as, receive_as) = match send.options.list_only {
        true => (Role::Server(CAPABILITIES), Role::Client),
        false => (Role::Client, Role::Server(CAPABILITIES)),
    };
    let send = Send { role: send_as, ..*send };
    let receive = Receive { role: receive_as, ..*receive };
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
        let sent = send.run_with(reader, writer, protocol, &hang_up, handover);
        let received = receiving.join().unwrap_or(Err(Error::Wire(wire::Error::Closed)));
        match (sent, received) {
            (Ok(_), Ok(received)) if receive.options.list_only => Ok(received),
            (Ok(mut summary), Ok(received)) => {
                summary.errors += received.errors;
                summary.delete_limit |= received.delete_limit;
                Ok(summary)
            }
            // Who failed first knows why, and as a server it has told; the other one lost its
            // connection.
            (Err(sent), Err(received)) if sent.is_broken_connection() => match send.role {
                Role::Client if !received.is_broken_connection() => {
                    Err(Error::FarExit(received.exit_code()))
                }
                _ => Err(received),
            },
            (Err(error), _) | (Ok(_), Err(error)) => Err(error),
        }
    })
}

/// Content goes through the protocol only where it is compared, compressed or recorded.
fn hands_over(options: &Options) -> bool {
    let writes_in_place = options.inplace || options.write_devices || options.append != Append::No;
    options.sends_whole_files()
        && !options.dry_run
        && !writes_in_place
        && !options.sparse
        && options.bwlimit == 0
        && options.batch.is_none()
}
