//! Which socket options does `--sockopts` set?

use std::os::fd::AsFd;

use rustix::io::Result;
use rustix::net::sockopt;

/// `IPTOS_LOWDELAY` and `IPTOS_THROUGHPUT`.
const LOW_DELAY: u8 = 0x10;
const THROUGHPUT: u8 = 0x08;

/// Settings of a socket, in the order given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocketOptions(Vec<(&'static str, i32)>);

/// The names that rsync knows. Those of low-water marks and time limits change nothing here.
const NAMES: [&str; 12] = [
    "SO_KEEPALIVE",
    "SO_REUSEADDR",
    "SO_BROADCAST",
    "TCP_NODELAY",
    "IPTOS_LOWDELAY",
    "IPTOS_THROUGHPUT",
    "SO_SNDBUF",
    "SO_RCVBUF",
    "SO_SNDLOWAT",
    "SO_RCVLOWAT",
    "SO_SNDTIMEO",
    "SO_RCVTIMEO",
];

impl SocketOptions {
    /// Reads `NAME[=VALUE],…` and returns the names that nobody knows as well.
    pub fn parse(text: &[u8]) -> (SocketOptions, Vec<String>) {
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        let text = String::from_utf8_lossy(text);
        let is_separator = |letter: char| letter == ',' || letter.is_ascii_whitespace();
        for word in text.split(is_separator).filter(|word| !word.is_empty()) {
            let (name, value) = word.split_once('=').unwrap_or((word, "1"));
            match NAMES.iter().find(|known| **known == name) {
                Some(name) => known.push((*name, value.parse().unwrap_or(0))),
                None => unknown.push(wire::escape::printable(name.as_bytes())),
            }
        }
        (SocketOptions(known), unknown)
    }

    /// Sets them; one that the system refuses is left as it is, as rsync does.
    pub(crate) fn apply(&self, socket: impl AsFd) {
        for (name, value) in &self.0 {
            let _ = set(&socket, name, *value);
        }
    }
}

fn set(socket: &impl AsFd, name: &str, value: i32) -> Result<()> {
    let (on, size) = (value != 0, usize::try_from(value).unwrap_or(0));
    match name {
        "SO_KEEPALIVE" => sockopt::set_socket_keepalive(socket, on),
        "SO_REUSEADDR" => sockopt::set_socket_reuseaddr(socket, on),
        "SO_BROADCAST" => sockopt::set_socket_broadcast(socket, on),
        "TCP_NODELAY" => sockopt::set_tcp_nodelay(socket, on),
        "IPTOS_LOWDELAY" => sockopt::set_ip_tos(socket, LOW_DELAY),
        "IPTOS_THROUGHPUT" => sockopt::set_ip_tos(socket, THROUGHPUT),
        "SO_SNDBUF" => sockopt::set_socket_send_buffer_size(socket, size),
        "SO_RCVBUF" => sockopt::set_socket_recv_buffer_size(socket, size),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_set_and_an_unknown_one_is_named() {
        let (options, unknown) = SocketOptions::parse(b"SO_SNDBUF=65536, TCP_NODELAY,FOO=1");
        assert_eq!(unknown, ["FOO"]);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        options.apply(&listener);
        assert!(sockopt::tcp_nodelay(&listener).unwrap());
        assert!(sockopt::socket_send_buffer_size(&listener).unwrap() >= 65536);
    }
}
