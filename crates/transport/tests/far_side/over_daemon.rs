//! Does a stock daemon let us in, and are its refusals understood?

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use transport::*;
use wire::options::IpFamily;

use crate::caller::{Caller, LOCAL_SHELL, account, open_error, push_to, set_up, shell, words};
use crate::stock_daemon::Daemon;

#[test]
fn a_real_daemon_lets_us_in_over_both_families_and_its_greeting_text_is_handed_on() {
    let daemon = Daemon::start();
    let both = [
        ("127.0.0.1", None),
        ("::1", None),
        ("localhost", Some(IpFamily::V4)),
        ("localhost", None),
    ];
    for (host, family) in both {
        let mut caller = Caller::new();
        let route = daemon.route(host, "open", family);
        let mut session = caller.open(&route, &push_to("open/")).unwrap();
        set_up(&mut session);
        assert_eq!(caller.motd.first().map(String::as_str), Some("welcome"));
        assert!(session.connection.peer.contains(&daemon.port.to_string()));
    }
}

#[test]
fn the_modules_of_a_daemon_are_listed_and_a_program_or_a_proxy_can_lead_there() {
    let daemon = Daemon::start();
    let config = daemon.config();
    let command =
        format!("echo %H >&2; exec rsync --server --daemon --config={} .", config.display());
    let mut options = RouteOptions {
        shell: RemoteShell::ssh(&SshOptions::default()),
        shell_for_daemons: false,
        rsync_path: b"rsync".to_vec(),
        port: Some(daemon.port),
        family: None,
        bind: None,
        default_user: "alice".into(),
        daemon: DaemonWay::default(),
    };
    let proxy = proxy();
    let ways = [
        DaemonWay::default(),
        DaemonWay { program: Some(command.into_bytes()), ..DaemonWay::default() },
        DaemonWay { proxy: Some(proxy), ..DaemonWay::default() },
    ];
    for way in ways {
        options.daemon = way;
        let route = |text: &[u8]| Route::to(&Place::parse_any(text).unwrap(), &options).unwrap();
        let mut caller = Caller::new();
        caller.list(&route(b"127.0.0.1::")).unwrap();
        let listed = ["open           \t", "closed         \t", "gone           \t"];
        assert!(caller.motd.ends_with(&listed.map(str::to_owned)), "{:?}", caller.motd);
        set_up(&mut caller.open(&route(b"127.0.0.1::open"), &push_to("open/")).unwrap());
    }
}

/// A web proxy that serves two connections.
fn proxy() -> Proxy {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for _ in 0..2 {
            let (client, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(client.try_clone().unwrap()).lines();
            let first = lines.next().unwrap().unwrap();
            let target = first.strip_prefix("CONNECT ").unwrap().split(' ').next().unwrap();
            let daemon = TcpStream::connect(target).unwrap();
            assert_eq!(lines.next().unwrap().unwrap(), "");
            (&client).write_all(b"HTTP/1.0 200 fine\r\n\r\n").unwrap();
            let (mut from, mut to) = (client.try_clone().unwrap(), daemon.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut from, &mut to));
            thread::spawn(move || std::io::copy(&mut &daemon, &mut &client));
        }
    });
    Proxy { host: "127.0.0.1".into(), port, login: None }
}

#[test]
fn a_daemon_is_entered_at_every_protocol_with_the_right_password_only() {
    let daemon = Daemon::start();
    let route = daemon.route("127.0.0.1", "closed", None);
    for protocol in 29..=32 {
        let mut caller = Caller { password: Some("secret"), protocol, ..Caller::new() };
        let mut session = caller.open(&route, &push_to("closed/")).unwrap();
        assert_eq!(session.protocol, protocol);
        set_up(&mut session);
    }
    let mut caller = Caller { password: Some("Secret"), ..Caller::new() };
    let error = caller.open(&route, &push_to("closed/")).unwrap_err();
    assert_eq!(error.exit_code(), 5);
    let text = error.to_string();
    assert!(text.contains("\"alice\"") && text.contains("\"closed\""), "{text}");
    assert!(!text.contains("Secret") && error.hint().is_some());
    let error = Caller::new().open(&route, &push_to("closed/")).unwrap_err();
    assert!(matches!(error, Error::NoPassword { .. }), "{error}");
}

#[test]
fn what_a_daemon_refuses_is_told_with_the_way_out() {
    let daemon = Daemon::start();
    let error = open_error(&daemon.route("127.0.0.1", "volume1", None));
    assert_eq!(error.exit_code(), 5);
    assert!(error.to_string().contains("Unknown module 'volume1'"), "{error}");
    assert!(error.hint().unwrap().contains("name a module"));
    let error = open_error(&daemon.route("127.0.0.1", "gone", None));
    assert_eq!(error.exit_code(), 5);
    assert!(error.hint().unwrap().contains("volume is mounted"), "{error}");
}

#[test]
fn secluded_arguments_reach_a_daemon() {
    let daemon = Daemon::start();
    let arguments = FarArguments {
        open: words(&["--server", "-sre.iLsfxCIvu"]),
        secluded: Some(words(&[".", "open/"])),
    };
    let route = daemon.route("127.0.0.1", "open", None);
    set_up(&mut Caller::new().open(&route, &arguments).unwrap());
}

#[test]
fn a_daemon_over_a_shell_is_entered_and_learns_the_port() {
    let daemon = Daemon::start();
    // The function takes the place of an rsync that finds its own configuration.
    let rsync_path = format!(
        "f() {{ echo port=$RSYNC_PORT >&2; rsync --server --daemon --config={} .; }}; f",
        daemon.config().display()
    );
    let Route::Shell { shell, host } = shell(LOCAL_SHELL, &rsync_path) else { unreachable!() };
    let account = account("closed");
    let route = Route::ShellDaemon { shell, host, port: Some(8730), account };
    let mut caller = Caller { password: Some("secret"), ..Caller::new() };
    let mut session = caller.open(&route, &push_to("closed/")).unwrap();
    set_up(&mut session);
    assert_eq!(caller.stderr.lock().unwrap().first().unwrap(), "port=8730");
}

#[test]
fn a_listener_that_never_greets_meets_the_time_limits() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let endpoint = Endpoint { host: "127.0.0.1".into(), port, ..Endpoint::default() };
    let route = Route::Daemon { endpoint, proxy: None, account: account("open") };
    let short = Some(Duration::from_millis(150));
    for (limits, code) in
        [(Limits { connect: short, idle: None }, 35), (Limits { connect: None, idle: short }, 30)]
    {
        let start = Instant::now();
        let mut caller = Caller { limits, ..Caller::new() };
        let error = caller.open(&route, &push_to("open/")).unwrap_err();
        assert_eq!(error.exit_code(), code, "{error}");
        assert!(error.hint().is_some());
        assert!(start.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn a_port_of_something_else_than_rsync_is_told_with_its_words() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.write_all(b"SSH-2.0-OpenSSH_9.2\r\n").unwrap();
        let _ = socket.read(&mut [0; 64]);
    });
    let endpoint = Endpoint { host: "127.0.0.1".into(), port, ..Endpoint::default() };
    let error = open_error(&Route::Daemon { endpoint, proxy: None, account: account("open") });
    server.join().unwrap();
    assert_eq!(error.exit_code(), 5);
    assert!(error.to_string().contains("SSH-2.0-OpenSSH_9.2"), "{error}");
}
