//! How does a session begin, up to the point where both sides know which protocol they speak?

use std::io::Write;
use std::time::{Duration, Instant};

use wire::escape::printable;
use wire::greeting::{
    Greeting, daemon_greeting, daemon_request_list, put_daemon_args, put_secluded_args,
};
use wire::options::Options;
use wire::server_args::split_secluded;
use wire::setup::exchange_versions;

use crate::canceller::{Canceller, Reason};
use crate::connection::Connection;
use crate::daemon::{Entry, enter_module};
use crate::error::Error;
use crate::far_program::{FarEnd, FarProgram, Launch};
use crate::password::PasswordSources;
use crate::proxy::Proxy;
use crate::route::{Account, Route};
use crate::shell::{FarHost, RemoteShell, Terminal};
use crate::stderr_tail::LineSink;
use crate::tcp::{self, Endpoint};
use crate::watchdog::Deadline;

/// The arguments for the server, from `--server` on; for a shell they are escaped already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FarArguments {
    /// What stands on the command line.
    pub open: Vec<Vec<u8>>,
    /// What goes over the connection instead (`-s`).
    pub secluded: Option<Vec<Vec<u8>>>,
}

impl FarArguments {
    /// Takes a whole argument list, and keeps most of it off the command line when `options` say
    /// so.
    pub fn new(words: &[Vec<u8>], options: &Options) -> Self {
        if !options.secluded_args {
            return FarArguments { open: words.to_vec(), secluded: None };
        }
        let (open, secluded) = split_secluded(words);
        FarArguments { open: open.to_vec(), secluded: Some(secluded.to_vec()) }
    }
}

/// How long the far side may be silent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Until a daemon has greeted (`--contimeout`).
    pub connect: Option<Duration>,
    /// At any time (`--timeout`).
    pub idle: Option<Duration>,
}

/// Who is told and asked while a session begins.
pub struct Hooks<'a> {
    /// Gets each line that the program in between writes to stderr, during the whole session.
    pub stderr: LineSink,
    /// Gets each line of a daemon's message of the day.
    pub motd: &'a mut dyn FnMut(&str),
    /// Have the password of a module.
    pub passwords: &'a mut PasswordSources,
}

/// A connection on which the binary set-up comes next.
#[derive(Debug)]
pub struct Session {
    /// The connection.
    pub connection: Connection,
    /// The protocol that both sides speak.
    pub protocol: u32,
}

/// Goes the way, starts the server there with `arguments`, and agrees on a protocol version of at
/// most `own_protocol`.
pub fn open(
    route: &Route,
    own_protocol: u32,
    arguments: &FarArguments,
    limits: &Limits,
    hooks: Hooks<'_>,
    canceller: &Canceller,
) -> Result<Session, Error> {
    let (program, door) = (Program { limits, canceller }, Door { own_protocol, arguments });
    let argv = route.command(arguments).unwrap_or_default();
    let session = match route {
        Route::Shell { shell, host } => {
            let connection = program.start_shell(shell, host, argv, None, hooks.stderr)?;
            door.speak(connection, &printable(&host.rsync_path))?
        }
        Route::Pipe { terminal, .. } => {
            let name = printable(argv.first().map_or(b"", Vec::as_slice));
            let launch = Launch { argv, terminal: *terminal, daemon_port: None };
            door.speak(program.start(&launch, name.clone(), hooks.stderr)?, &name)?
        }
        Route::Daemon { account, .. }
        | Route::ProgramDaemon { account, .. }
        | Route::ShellDaemon { account, .. } => {
            let entrance = program.to_daemon(route, hooks.stderr)?;
            door.enter(entrance, account, hooks.motd, hooks.passwords)?
        }
    };
    session.connection.limit_idle(limits.idle)?;
    Ok(session)
}

/// Asks a daemon which modules it has; `hooks.motd` gets each line of its text.
pub fn list_modules(
    route: &Route,
    own_protocol: u32,
    limits: &Limits,
    hooks: Hooks<'_>,
    canceller: &Canceller,
) -> Result<(), Error> {
    let door = Door { own_protocol, arguments: &FarArguments::default() };
    let entrance = Program { limits, canceller }.to_daemon(route, hooks.stderr)?;
    let (mut connection, _, rsync_path) = door.greet(entrance)?;
    let mut each = |line: &[u8]| (hooks.motd)(&String::from_utf8_lossy(line));
    let Connection { reader, writer, peer, .. } = &mut connection;
    match daemon_request_list(reader, writer, &mut each) {
        Ok(()) => Ok(()),
        Err(wire::Error::Daemon(text)) => {
            Err(Error::Daemon { peer: peer.clone(), module: String::new(), text })
        }
        Err(error) => Err(explain(error, connection, &rsync_path)),
    }
}

/// A connection to a daemon that has not greeted yet.
struct Entrance {
    connection: Connection,
    /// To be met by its greeting.
    deadline: Option<Deadline>,
    /// The program there, for messages.
    rsync_path: String,
}

/// Starts a program that leads to the far side.
struct Program<'a> {
    limits: &'a Limits,
    canceller: &'a Canceller,
}

impl Program<'_> {
    fn start_shell(
        &self,
        shell: &RemoteShell,
        host: &FarHost,
        argv: Vec<Vec<u8>>,
        daemon_port: Option<u16>,
        stderr: LineSink,
    ) -> Result<Connection, Error> {
        let launch = Launch { argv, terminal: shell.terminal(), daemon_port };
        self.start(&launch, format!("{} {}", shell.program(), host.name), stderr)
    }

    /// Goes to a daemon, whatever the way.
    fn to_daemon(&self, route: &Route, stderr: LineSink) -> Result<Entrance, Error> {
        match route {
            Route::Daemon { endpoint, proxy, .. } => {
                dial(endpoint, proxy.as_ref(), self.limits, self.canceller)
            }
            Route::ProgramDaemon { words, host, terminal, .. } => {
                let (argv, terminal) = (words.clone(), *terminal);
                let launch = Launch { argv, terminal, daemon_port: None };
                let connection = self.start(&launch, host.clone(), stderr)?;
                Ok(Entrance { connection, deadline: None, rsync_path: "rsync".to_owned() })
            }
            Route::ShellDaemon { shell, host, port, .. } => {
                let argv = route.command(&FarArguments::default()).unwrap_or_default();
                let port = Some(port.unwrap_or(0));
                let connection = self.start_shell(shell, host, argv, port, stderr)?;
                let rsync_path = printable(&host.rsync_path);
                Ok(Entrance { connection, deadline: None, rsync_path })
            }
            Route::Shell { .. } | Route::Pipe { .. } => {
                Err(Error::BadPlace { place: String::new(), why: "it is no daemon" })
            }
        }
    }

    fn start(&self, launch: &Launch, peer: String, stderr: LineSink) -> Result<Connection, Error> {
        if let Some(reason) = self.canceller.reason() {
            return Err(Error::Stopped { peer, reason });
        }
        let started = FarProgram::start(launch, until_cancelled(stderr, self.canceller))?;
        let connection = Connection::over_program(started, peer, self.canceller);
        // At a terminal the silence may be that of a person who types a password.
        if launch.terminal == Terminal::Absent {
            connection.limit_idle(self.limits.idle)?;
        }
        Ok(connection)
    }
}

/// What a program says about its being ended by us is of no use to anybody.
fn until_cancelled(mut sink: LineSink, canceller: &Canceller) -> LineSink {
    let canceller = canceller.clone();
    Box::new(move |line| {
        if canceller.reason().is_none() {
            sink(line);
        }
    })
}

/// Connects to a daemon's port, through a proxy where there is one.
fn dial(
    endpoint: &Endpoint,
    proxy: Option<&Proxy>,
    limits: &Limits,
    canceller: &Canceller,
) -> Result<Entrance, Error> {
    let begin = Instant::now();
    let hop = match proxy {
        None => endpoint.clone(),
        Some(Proxy { host, port, .. }) => {
            Endpoint { host: host.clone(), port: *port, ..endpoint.clone() }
        }
    };
    let (socket, address) = tcp::connect(&hop, limits.connect, canceller)?;
    let name = match address.ip().to_string() {
        ip if ip == endpoint.host || proxy.is_some() => tcp::peer(endpoint),
        ip => format!("{} ({ip}) port {}", endpoint.host, endpoint.port),
    };
    let mut connection = Connection::over_tcp(socket, name, canceller);
    let deadline = limits.connect.map(|limit| Deadline::start(begin, limit, canceller));
    let deadline = deadline
        .transpose()
        .map_err(|source| Error::Io { action: "start the watch over the time limit", source })?;
    connection.limit_idle(limits.idle)?;
    let rsync_path = "rsync".to_owned();
    if let Some(proxy) = proxy {
        let Connection { reader, writer, .. } = &mut connection;
        match proxy.ask(reader, writer, &endpoint.host, endpoint.port) {
            Ok(asked) => asked?,
            Err(error) => return Err(explain(error, connection, &rsync_path)),
        }
    }
    Ok(Entrance { connection, deadline, rsync_path })
}

/// What is said to the far side before the binary set-up.
struct Door<'a> {
    own_protocol: u32,
    arguments: &'a FarArguments,
}

impl Door<'_> {
    /// Speaks to a server that a shell has started.
    fn speak(&self, mut connection: Connection, rsync_path: &str) -> Result<Session, Error> {
        let Connection { reader, writer, .. } = &mut connection;
        let spoken = self
            .send_secluded(writer)
            .and_then(|()| exchange_versions(reader, writer, self.own_protocol));
        match spoken {
            Ok(protocol) => Ok(Session { connection, protocol }),
            Err(error) => Err(explain(error, connection, rsync_path)),
        }
    }

    fn send_secluded(&self, writer: &mut dyn Write) -> wire::Result<()> {
        let Some(words) = &self.arguments.secluded else {
            return Ok(());
        };
        let mut out = Vec::new();
        put_secluded_args(&mut out, words)?;
        Ok(writer.write_all(&out)?)
    }

    /// Exchanges greetings with a daemon.
    fn greet(&self, entrance: Entrance) -> Result<(Connection, Greeting, String), Error> {
        let Entrance { mut connection, deadline, rsync_path } = entrance;
        let Connection { reader, writer, .. } = &mut connection;
        let greeting = daemon_greeting(reader, writer, self.own_protocol);
        match greeting {
            Ok(greeting) => {
                drop(deadline);
                Ok((connection, greeting, rsync_path))
            }
            Err(error) => Err(explain(error, connection, &rsync_path)),
        }
    }

    /// Greets a daemon, enters the module and sends the arguments.
    fn enter(
        &self,
        entrance: Entrance,
        account: &Account,
        motd: &mut dyn FnMut(&str),
        passwords: &mut PasswordSources,
    ) -> Result<Session, Error> {
        let (mut connection, greeting, rsync_path) = self.greet(entrance)?;
        match enter_module(&mut connection, &greeting, account, passwords, motd) {
            Ok(()) => {}
            Err(Entry::Refused(error)) => return Err(error),
            Err(Entry::Broken(error)) => return Err(explain(error, connection, &rsync_path)),
        }
        match self.send_arguments(&mut connection.writer, greeting.protocol) {
            Ok(()) => Ok(Session { connection, protocol: greeting.protocol }),
            Err(error) => Err(explain(error, connection, &rsync_path)),
        }
    }

    fn send_arguments(&self, writer: &mut dyn Write, protocol: u32) -> wire::Result<()> {
        let FarArguments { open, secluded } = self.arguments;
        let words = [open.as_slice(), secluded.as_deref().unwrap_or_default()].concat();
        let mut out = Vec::new();
        put_daemon_args(&mut out, protocol, &words, secluded.is_some())?;
        Ok(writer.write_all(&out)?)
    }
}

/// Finds out why the conversation failed: who stopped it, or what the program in between said.
fn explain(error: wire::Error, connection: Connection, rsync_path: &str) -> Error {
    let peer = connection.peer.clone();
    match connection.canceller.reason() {
        Some(Reason::ConnectTimedOut { seconds }) => return Error::NoAnswer { peer, seconds },
        Some(reason) => return Error::Stopped { peer, reason },
        None => {}
    }
    let in_between = connection.has_program();
    match error {
        wire::Error::NotDaemon { seen } if in_between && !seen.is_empty() => {
            Error::Noise { peer, seen: printable(&seen), daemon: true }
        }
        wire::Error::NotRsync { seen } => {
            Error::Noise { peer, seen: printable(&seen), daemon: false }
        }
        wire::Error::Closed | wire::Error::Io(_) | wire::Error::NotDaemon { .. } if in_between => {
            let canceller = connection.canceller.clone();
            let ending = connection.finish();
            match canceller.reason() {
                Some(reason) => Error::Stopped { peer, reason },
                None => Error::Shell {
                    peer,
                    rsync_path: rsync_path.to_owned(),
                    code: match ending.end {
                        FarEnd::Exited(code) => Some(code),
                        FarEnd::Killed(_) | FarEnd::Unknown => None,
                    },
                    stderr: ending.stderr,
                },
            }
        }
        source => Error::Wire { peer, source },
    }
}
