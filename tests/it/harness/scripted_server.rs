//! How does a test play a server that says what no rsync would say?

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// How long a scripted server listens to a client that neither speaks nor leaves.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server on a loopback port that plays the same part to each client.
pub(crate) struct ScriptedServer {
    pub(crate) port: u16,
}

impl ScriptedServer {
    /// Lets `part` speak to each client; afterwards it listens until the client leaves.
    pub(crate) fn start(part: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let part = Arc::new(part);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (client, part) = (client.unwrap(), Arc::clone(&part));
                std::thread::spawn(move || play(client, part.as_ref()));
            }
        });
        Self { port }
    }

    /// Says `words` and closes its half of the connection, whatever the client says.
    pub(crate) fn saying(words: Vec<u8>) -> Self {
        Self::start(move |client| {
            let _ = client.write_all(&words);
            let _ = client.shutdown(Shutdown::Write);
        })
    }

    /// Greets as a daemon of protocol 32 does and lets the client into any module; then `words`.
    pub(crate) fn saying_after_the_greeting(words: Vec<u8>) -> Self {
        Self::start(move |client| {
            if let_in(client) {
                let _ = client.write_all(&words);
            }
            let _ = client.shutdown(Shutdown::Write);
        })
    }
}

fn play(mut client: TcpStream, part: &dyn Fn(&mut TcpStream)) {
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.set_write_timeout(Some(PATIENCE)).unwrap();
    part(&mut client);
    let mut ignored = [0; 1 << 16];
    while let Ok(1..) = client.read(&mut ignored) {}
}

/// Plays the text part of a daemon; returns whether the client went along.
pub(crate) fn let_in(client: &mut TcpStream) -> bool {
    let greeting = b"@RSYNCD: 32.0 sha512 sha256 sha1 md5 md4\n";
    if client.write_all(greeting).is_err() {
        return false;
    }
    let mut lines = BufReader::new(client.try_clone().unwrap());
    let mut line = String::new();
    let asked = lines.read_line(&mut line).is_ok() && lines.read_line(&mut line).is_ok();
    asked && client.write_all(b"@RSYNCD: OK\n").is_ok()
}
