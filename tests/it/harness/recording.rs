//! How does a test play back what a real daemon said, cut off or damaged?

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use super::proxy::{Answer, Fault, Proxy};
use super::random::Random;
use super::scripted_server::ScriptedServer;
use super::{Daemon, Outcome, Program};

/// What a real daemon said in a session.
pub(crate) struct Recording {
    answers: Vec<Answer>,
}

impl Recording {
    /// Records what `daemon` says to the client that is given the port.
    pub(crate) fn of(daemon: &Daemon, client: impl FnOnce(u16) -> Program) -> Self {
        let proxy = Proxy::to(daemon.port, Fault::None);
        client(proxy.port).run().expect_success();
        Self { answers: proxy.answers() }
    }

    fn bytes(&self) -> Vec<u8> {
        self.answers.iter().flat_map(|answer| answer.bytes.iter().copied()).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes().len()
    }

    /// Returns how many bytes come before the binary part.
    pub(crate) fn text_len(&self) -> usize {
        let (bytes, ok) = (self.bytes(), b"@RSYNCD: OK\n");
        bytes.windows(ok.len()).position(|window| window == ok).unwrap() + ok.len()
    }

    /// Returns where to break off: in the text, at each byte of the setup, at and in each frame.
    /// The setup has the compat flags, so many lists of names, and the seed.
    pub(crate) fn cuts(&self, name_lists: usize) -> Vec<usize> {
        let bytes = self.bytes();
        let setup = self.text_len();
        let names = (0..name_lists).fold(setup + 2, |at, _| at + 1 + usize::from(bytes[at]));
        let frames = names + 4;
        let mut cuts: Vec<usize> = (0..setup).step_by(9).chain(setup..frames).collect();
        let mut at = frames;
        while at < bytes.len() {
            let len = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], 0]) as usize;
            cuts.extend([at, at + 2, at + 4, at + 4 + len / 2]);
            at += 4 + len;
        }
        assert_eq!(at, bytes.len(), "the recording ends inside a frame");
        cuts.retain(|cut| *cut < bytes.len());
        cuts.dedup();
        cuts
    }

    /// Chooses a byte of the binary part, and what becomes of it.
    pub(crate) fn damage(&self, seed: u64) -> (usize, impl Fn(&mut [u8])) {
        let mut random = Random::new(seed);
        let at = self.text_len() + random.below(self.len() - self.text_len());
        let value = random.next() as u8;
        let damage = move |bytes: &mut [u8]| match seed % 3 {
            0 => bytes[at] ^= 1 << (value % 8),
            1 => bytes[at] = value,
            _ => bytes[at..].iter_mut().take(4).for_each(|byte| *byte = 0xff),
        };
        (at, damage)
    }

    /// Plays the session, changed by `damage`, up to byte `end`, to a new client.
    pub(crate) fn play_to(
        &self,
        end: usize,
        damage: impl Fn(&mut [u8]),
        client: impl FnOnce(u16) -> Program,
    ) -> Outcome {
        let mut bytes = self.bytes();
        damage(&mut bytes);
        bytes.truncate(end);
        let pauses: Vec<_> =
            self.answers.iter().map(|answer| (answer.after, answer.bytes.len())).collect();
        let server = ScriptedServer::start(move |client| {
            let mut heard = 0;
            let mut rest = &bytes[..];
            for (after, len) in &pauses {
                let (piece, later) = rest.split_at((*len).min(rest.len()));
                if piece.is_empty() {
                    break;
                }
                hear(client, &mut heard, *after);
                let _ = client.write_all(piece);
                rest = later;
            }
            let _ = client.shutdown(Shutdown::Write);
        });
        client(server.port).run()
    }
}

/// Listens until the client has said as much as it had said in the recording, but not for ever.
fn hear(client: &mut TcpStream, heard: &mut u64, wanted: u64) {
    let end = Instant::now() + Duration::from_millis(200);
    client.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let mut piece = [0; 1 << 16];
    while *heard < wanted && Instant::now() < end {
        match client.read(&mut piece) {
            Ok(len @ 1..) => *heard += len as u64,
            Ok(0) => return,
            Err(_) => {}
        }
    }
}
