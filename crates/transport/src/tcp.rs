//! How is a daemon's port reached when its name has several addresses and some of them are dead?

use std::future::Future;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpSocket, lookup_host};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;
use wire::options::IpFamily;

use crate::canceller::{Canceller, Target};
use crate::error::Error;
use crate::socket_options::SocketOptions;
use crate::watchdog::whole_seconds;

/// A port on a host, and how it may be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// Name or address, without brackets.
    pub host: String,
    /// The port; rsync's own is [`RSYNC_PORT`].
    pub port: u16,
    /// The address family to insist on.
    pub family: Option<IpFamily>,
    /// The address of this machine to connect from.
    pub bind: Option<String>,
    /// What is set on the socket.
    pub socket_options: SocketOptions,
}

/// The port of an rsync daemon.
pub const RSYNC_PORT: u16 = 873;

/// How long an address may stay silent before the next one is tried beside it.
const STAGGER: Duration = Duration::from_millis(250);

/// Connects to the first address that answers; blocking, with small writes sent at once.
pub(crate) fn connect(
    endpoint: &Endpoint,
    limit: Option<Duration>,
    canceller: &Canceller,
) -> Result<(TcpStream, SocketAddr), Error> {
    let stop = Arc::new(Notify::new());
    canceller.add(Target::Waiter(Arc::downgrade(&stop)));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(1)
        .build()
        .map_err(|source| Error::Io { action: "prepare to connect", source })?;
    let outcome = runtime.block_on(async {
        tokio::select! {
            biased;
            () = stop.notified() => Err(stopped(endpoint, canceller)),
            outcome = within(limit, endpoint, race_all(endpoint)) => outcome,
        }
    });
    // A resolver that hangs must not hold us up.
    runtime.shutdown_background();
    let (socket, address) = outcome?;
    let ready = socket.set_nonblocking(false).and_then(|()| socket.set_nodelay(true));
    ready
        .and_then(|()| {
            rustix::net::sockopt::set_socket_keepalive(&socket, true).map_err(Into::into)
        })
        .map_err(|source| Error::Io { action: "set up the connection", source })?;
    Ok((socket, address))
}

type Connected = (TcpStream, SocketAddr);

async fn within(
    limit: Option<Duration>,
    endpoint: &Endpoint,
    connecting: impl Future<Output = Result<Connected, Error>>,
) -> Result<Connected, Error> {
    let Some(limit) = limit else {
        return connecting.await;
    };
    let late = |_| Error::NoAnswer { peer: peer(endpoint), seconds: whole_seconds(limit) };
    timeout(limit, connecting).await.map_err(late)?
}

fn stopped(endpoint: &Endpoint, canceller: &Canceller) -> Error {
    let reason = canceller.reason().unwrap_or(crate::Reason::Failed);
    Error::Stopped { peer: peer(endpoint), reason }
}

/// Names the endpoint for messages.
pub(crate) fn peer(endpoint: &Endpoint) -> String {
    format!("{} port {}", endpoint.host, endpoint.port)
}

async fn race_all(endpoint: &Endpoint) -> Result<Connected, Error> {
    let mut from = Vec::new();
    if let Some(address) = &endpoint.bind {
        let bad = |reason: String| Error::Bind { address: address.clone(), reason };
        from = lookup(address, 0).await.map_err(|error| bad(error.to_string()))?;
        if from.is_empty() {
            return Err(bad("it has no address".into()));
        }
    }
    let unknown = |reason| Error::HostUnknown { host: endpoint.host.clone(), reason };
    let mut addresses = lookup(&endpoint.host, endpoint.port)
        .await
        .map_err(|error| unknown(resolver_words(&error)))?;
    addresses.retain(|address| {
        wanted(endpoint.family, address)
            && (from.is_empty() || same_family(&from, address).is_some())
    });
    if addresses.is_empty() {
        return Err(unknown("it has no address of the family asked for".into()));
    }
    match race(addresses, &from, &endpoint.socket_options).await {
        Ok((socket, address)) => socket
            .into_std()
            .map(|socket| (socket, address))
            .map_err(|source| Error::Io { action: "set up the connection", source }),
        Err(failures) => Err(all_failed(endpoint, &failures)),
    }
}

async fn lookup(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    Ok(lookup_host((host, port)).await?.collect())
}

/// The standard library puts its own words before those of the resolver.
fn resolver_words(error: &io::Error) -> String {
    let text = error.to_string();
    let words = text.strip_prefix("failed to lookup address information: ");
    words.unwrap_or(&text).to_owned()
}

fn wanted(family: Option<IpFamily>, address: &SocketAddr) -> bool {
    match family {
        None => true,
        Some(IpFamily::V4) => address.is_ipv4(),
        Some(IpFamily::V6) => address.is_ipv6(),
    }
}

fn same_family(from: &[SocketAddr], address: &SocketAddr) -> Option<SocketAddr> {
    from.iter().find(|from| from.is_ipv4() == address.is_ipv4()).copied()
}

type Failure = (SocketAddr, io::Error);

/// Tries the addresses in their order: the next one at once when one fails, or beside it when it
/// stays silent; the first to answer wins.
async fn race(
    addresses: Vec<SocketAddr>,
    from: &[SocketAddr],
    options: &SocketOptions,
) -> Result<(tokio::net::TcpStream, SocketAddr), Vec<Failure>> {
    let mut waiting = addresses.into_iter();
    let mut attempts = JoinSet::new();
    let mut failures = Vec::new();
    loop {
        match waiting.next() {
            Some(address) => {
                let (from, options) = (same_family(from, &address), options.clone());
                attempts.spawn(async move { (address, attempt(address, from, &options).await) });
            }
            None if attempts.is_empty() => return Err(failures),
            None => {}
        }
        let ended = if waiting.len() > 0 {
            timeout(STAGGER, attempts.join_next()).await.ok().flatten()
        } else {
            attempts.join_next().await
        };
        match ended {
            Some(Ok((address, Ok(socket)))) => return Ok((socket, address)),
            Some(Ok((address, Err(error)))) => failures.push((address, error)),
            // Still silent; an attempt neither panics nor is aborted.
            Some(Err(_)) | None => {}
        }
    }
}

async fn attempt(
    to: SocketAddr,
    from: Option<SocketAddr>,
    options: &SocketOptions,
) -> io::Result<tokio::net::TcpStream> {
    let socket = if to.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    options.apply(&socket);
    if let Some(from) = from {
        socket.bind(from)?;
    }
    socket.connect(to).await
}

/// Tells the failure that says most: a closed port before a missing way.
fn all_failed(endpoint: &Endpoint, failures: &[Failure]) -> Error {
    let tried: Vec<String> =
        failures.iter().map(|(address, error)| format!("{}: {error}", address.ip())).collect();
    let tried = tried.join("; ");
    let (host, port) = (endpoint.host.clone(), endpoint.port);
    let any = |kinds: &[ErrorKind]| failures.iter().any(|(_, error)| kinds.contains(&error.kind()));
    if let (Some(address), true) = (&endpoint.bind, any(&[ErrorKind::AddrNotAvailable])) {
        return Error::Bind { address: address.clone(), reason: tried };
    }
    if any(&[ErrorKind::ConnectionRefused]) {
        return Error::Refused { host, port, tried };
    }
    if any(&[
        ErrorKind::HostUnreachable,
        ErrorKind::NetworkUnreachable,
        ErrorKind::NetworkDown,
        ErrorKind::TimedOut,
    ]) {
        return Error::NoRoute { host, tried };
    }
    Error::Connect { host, port, tried }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::Instant;

    use super::*;

    fn run<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(work)
    }

    fn closed_port() -> u16 {
        TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
    }

    fn endpoint(host: &str, port: u16) -> Endpoint {
        Endpoint { host: host.to_owned(), port, ..Endpoint::default() }
    }

    /// A listener whose queue is full answers no further connection: an address that is silent.
    fn silent() -> (TcpListener, Vec<TcpStream>, SocketAddr) {
        let socket = run(async { TcpSocket::new_v4().unwrap() });
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = run(async { socket.listen(1).unwrap().into_std().unwrap() });
        let address = listener.local_addr().unwrap();
        let fill = |_| TcpStream::connect_timeout(&address, Duration::from_millis(50)).ok();
        (listener, (0..8).filter_map(fill).collect(), address)
    }

    #[test]
    fn dead_and_silent_addresses_before_a_live_one_cost_little_time() {
        let live = TcpListener::bind("127.0.0.1:0").unwrap();
        let live_address = live.local_addr().unwrap();
        let dead = SocketAddr::from(([127, 0, 0, 1], closed_port()));
        let (_listener, _full, silent_address) = silent();
        let start = Instant::now();
        let all = vec![dead, silent_address, live_address];
        let (_, address) = run(race(all, &[], &SocketOptions::default())).unwrap();
        assert_eq!(address, live_address);
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    }

    #[test]
    fn a_closed_port_names_every_address_that_was_tried() {
        let port = closed_port();
        let error = connect(&endpoint("127.0.0.1", port), None, &Canceller::new()).unwrap_err();
        assert_eq!(error.exit_code(), 10);
        let text = error.to_string();
        assert!(text.contains("127.0.0.1: Connection refused"), "{text}");
        assert!(error.hint().unwrap().contains("rsync service"));
    }

    #[test]
    fn an_unknown_host_is_told_as_such() {
        let unknown = endpoint("no-such-host.invalid", 873);
        let error = connect(&unknown, None, &Canceller::new()).unwrap_err();
        assert!(matches!(error, Error::HostUnknown { .. }), "{error}");
        assert_eq!(error.exit_code(), 10);
    }

    #[test]
    fn a_family_that_the_host_lacks_is_told_and_a_foreign_source_address_too() {
        let mut only_v6 = endpoint("127.0.0.1", 9);
        only_v6.family = Some(IpFamily::V6);
        let error = connect(&only_v6, None, &Canceller::new()).unwrap_err();
        assert!(error.to_string().contains("no address of the family"), "{error}");
        let mut foreign = endpoint("127.0.0.1", 9);
        foreign.bind = Some("203.0.113.7".to_owned());
        let error = connect(&foreign, None, &Canceller::new()).unwrap_err();
        assert!(matches!(error, Error::Bind { .. }), "{error}");
    }

    #[test]
    fn the_limit_for_connecting_ends_with_35() {
        let (_listener, _full, address) = silent();
        let silent = endpoint("127.0.0.1", address.port());
        let limit = Some(Duration::from_millis(200));
        let error = connect(&silent, limit, &Canceller::new()).unwrap_err();
        assert_eq!(error.exit_code(), 35, "{error}");
    }

    #[test]
    fn connecting_can_be_cancelled_from_another_thread() {
        let (_listener, _full, address) = silent();
        let canceller = Canceller::new();
        let other = canceller.clone();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            other.cancel(crate::Reason::Signal);
            Instant::now()
        });
        let silent = endpoint("127.0.0.1", address.port());
        let error = connect(&silent, None, &canceller).unwrap_err();
        let cancelled_at = thread.join().unwrap();
        assert_eq!(error.exit_code(), 20);
        assert!(cancelled_at.elapsed() < Duration::from_millis(200));
    }
}
