//! How does a test count, record, cut or stall what goes over a connection?

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// What happens to a connection in the middle.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// Both directions are closed when the client has sent this many bytes.
    CutAfter(u64),
    /// Nothing passes any more, either way, when the client has sent this many bytes.
    StallAfter(u64),
}

/// A relay on a loopback port in front of a server on another.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    sent: AtomicU64,
    received: AtomicU64,
    answers: Mutex<Vec<Answer>>,
}

/// A piece of what a server said, and how much the client had sent before it.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) after: u64,
    pub(crate) bytes: Vec<u8>,
}

impl Proxy {
    pub(crate) fn to(server_port: u16, fault: Fault) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Seen::default());
        let shared = Arc::clone(&seen);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let server = TcpStream::connect((Ipv4Addr::LOCALHOST, server_port)).unwrap();
                relay(client.unwrap(), server, fault, &shared);
            }
        });
        Self { port, seen }
    }

    /// Returns the bytes that clients have sent and received.
    pub(crate) fn traffic(&self) -> u64 {
        self.seen.sent.load(Ordering::SeqCst) + self.seen.received.load(Ordering::SeqCst)
    }

    /// Returns everything that the server has said, up to `RECORD_LIMIT`.
    pub(crate) fn answers(&self) -> Vec<Answer> {
        self.seen.answers.lock().unwrap().clone()
    }
}

/// A recording is for small sessions; of a large one only the start is kept.
const RECORD_LIMIT: u64 = 1 << 20;

fn relay(client: TcpStream, server: TcpStream, fault: Fault, seen: &Arc<Seen>) {
    let (from_server, to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let (up, down) = (Arc::clone(seen), Arc::clone(seen));
    std::thread::spawn(move || upwards(client, server, fault, &up));
    std::thread::spawn(move || downwards(from_server, to_client, fault, &down));
}

fn upwards(mut client: TcpStream, mut server: TcpStream, fault: Fault, seen: &Seen) {
    let mut piece = [0; 1 << 16];
    while let Ok(len @ 1..) = client.read(&mut piece) {
        let sent = seen.sent.fetch_add(len as u64, Ordering::SeqCst) + len as u64;
        match fault {
            Fault::CutAfter(limit) if sent > limit => {
                let _ = client.shutdown(Shutdown::Both);
                let _ = server.shutdown(Shutdown::Both);
                return;
            }
            Fault::StallAfter(limit) if sent > limit => {
                wait_for_end(client);
                return;
            }
            _ => {}
        }
        if server.write_all(&piece[..len]).is_err() {
            return;
        }
    }
    let _ = server.shutdown(Shutdown::Write);
}

/// Keeps a connection open, without a word, until the client closes it.
fn wait_for_end(mut client: TcpStream) {
    let mut ignored = [0; 4096];
    while let Ok(1..) = client.read(&mut ignored) {}
}

fn downwards(mut server: TcpStream, mut client: TcpStream, fault: Fault, seen: &Seen) {
    let mut piece = [0; 1 << 16];
    while let Ok(len @ 1..) = server.read(&mut piece) {
        let stalled =
            matches!(fault, Fault::StallAfter(limit) if seen.sent.load(Ordering::SeqCst) > limit);
        if stalled || client.write_all(&piece[..len]).is_err() {
            return;
        }
        seen.received.fetch_add(len as u64, Ordering::SeqCst);
        if seen.received.load(Ordering::SeqCst) < RECORD_LIMIT {
            let after = seen.sent.load(Ordering::SeqCst);
            seen.answers.lock().unwrap().push(Answer { after, bytes: piece[..len].to_vec() });
        }
    }
    let _ = client.shutdown(Shutdown::Write);
}
