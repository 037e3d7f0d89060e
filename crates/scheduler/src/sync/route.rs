//! Which way leads to a place, given the options and what surrounds us?

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use transport::{
    Canceller, DaemonWay, Error, FarArguments, Hooks, Limits, LineSink, PasswordSources, Place,
    Prompt, Proxy, RemoteShell, Route, Session, SocketOptions, SshOptions, Terminal,
};
use wire::options::Options;
use wire::server_args::{Channel, Direction, server_args};

use super::task::{Surroundings, Way};

/// The most that a module's early exec gets, in bytes.
const EARLY_INPUT: u64 = 5120;

impl Way {
    /// Returns the route; `unknown` gets each socket option that nobody knows.
    pub fn route(
        &self,
        options: &Options,
        around: &Surroundings,
        unknown: &mut dyn FnMut(&str),
    ) -> Result<Route, Error> {
        let terminal = if around.terminal { Terminal::Present } else { Terminal::Absent };
        let asked = options.rsh.as_ref().or(around.rsync_rsh.as_ref());
        let shell = match asked {
            Some(words) => RemoteShell::command(words, terminal)?,
            None => RemoteShell::ssh(&SshOptions { terminal, ..self.ssh.clone() }),
        };
        let choice = transport::RouteOptions {
            shell,
            shell_for_daemons: options.rsh.is_some(),
            rsync_path: options.rsync_path.clone().unwrap_or_else(|| b"rsync".to_vec()),
            port: options.port,
            family: options.ip_family,
            bind: options.address.as_deref().map(|text| String::from_utf8_lossy(text).into()),
            default_user: around.user.clone(),
            daemon: daemon_way(options, around, unknown)?,
        };
        let not_here = || Error::BadPlace { place: self.to_string(), why: "it is on this machine" };
        Route::to(&self.place, &choice).ok_or_else(not_here)
    }

    /// Returns the path of the place itself.
    pub fn path(&self) -> Vec<u8> {
        match &self.place {
            Place::Shell { path, .. } | Place::Daemon { path, .. } | Place::Local(path) => {
                path.clone()
            }
            _ => Vec::new(),
        }
    }

    /// Returns a path at this place as the server gets it: with the module in front, where there
    /// is one.
    pub fn far_path(&self, path: &[u8]) -> Vec<u8> {
        match &self.place {
            Place::Daemon { module, .. } => [module.as_slice(), b"/", path].concat(),
            _ => path.to_vec(),
        }
    }
}

fn daemon_way(
    options: &Options,
    around: &Surroundings,
    unknown: &mut dyn FnMut(&str),
) -> Result<DaemonWay, Error> {
    let text = options.sockopts.as_deref().unwrap_or_default();
    let (socket_options, strange) = SocketOptions::parse(text);
    strange.iter().for_each(|name| unknown(name));
    Ok(DaemonWay {
        program: around.rsync_connect_prog.clone(),
        program_shell: around.rsync_shell.clone(),
        proxy: around.rsync_proxy.as_deref().map(Proxy::parse).transpose()?,
        socket_options,
        early_input: options.early_input.as_deref().map(early_input).transpose()?,
    })
}

fn early_input(path: &Path) -> Result<Vec<u8>, Error> {
    let read = || -> io::Result<Vec<u8>> {
        let mut input = Vec::new();
        File::open(path)?.take(EARLY_INPUT).read_to_end(&mut input)?;
        Ok(input)
    };
    read().map_err(|source| Error::EarlyInput { path: path.to_owned(), source })
}

/// Who is told and asked while a connection is made.
pub struct Callers<'a> {
    /// Gets each line that a remote shell writes to stderr.
    pub stderr: LineSink,
    /// Gets each line of a daemon's text.
    pub motd: &'a mut dyn FnMut(&str),
    /// Gets the words that start a remote shell, before it is started.
    pub command: &'a mut dyn FnMut(&[Vec<u8>]),
    /// Asks a person for a password.
    pub prompt: Option<Prompt>,
    /// How long connecting may take, where `--contimeout` does not say.
    pub connect_limit: Option<Duration>,
}

/// Connects, and starts a server with `paths` that sends or receives.
pub fn connect(
    route: &Route,
    (options, around): (&Options, &Surroundings),
    direction: Direction,
    paths: &[&[u8]],
    callers: Callers<'_>,
    canceller: &Canceller,
) -> Result<Session, Error> {
    let channel = match route {
        Route::Shell { .. } | Route::Pipe { .. } => Channel::Shell,
        Route::Daemon { .. } | Route::ProgramDaemon { .. } | Route::ShellDaemon { .. } => {
            Channel::Daemon
        }
    };
    let arguments = FarArguments::new(&server_args(options, channel, direction, paths), options);
    let own = options.own_protocol();
    if let Some(words) = route.command(&arguments) {
        (callers.command)(&words);
    }
    with_hooks((options, around), callers, |limits, hooks| {
        transport::open(route, own, &arguments, limits, hooks, canceller)
    })
}

/// Asks a daemon for its modules; their lines come as its text does.
pub fn list_modules(
    route: &Route,
    (options, around): (&Options, &Surroundings),
    callers: Callers<'_>,
    canceller: &Canceller,
) -> Result<(), Error> {
    with_hooks((options, around), callers, |limits, hooks| {
        transport::list_modules(route, options.own_protocol(), limits, hooks, canceller)
    })
}

fn with_hooks<T>(
    (options, around): (&Options, &Surroundings),
    callers: Callers<'_>,
    work: impl FnOnce(&Limits, Hooks<'_>) -> T,
) -> T {
    let seconds = |limit: u32| (limit > 0).then(|| Duration::from_secs(limit.into()));
    let connect = seconds(options.contimeout).or(callers.connect_limit);
    let limits = Limits { connect, idle: seconds(options.timeout) };
    let mut passwords = PasswordSources {
        file: options.password_file.clone(),
        variable: around.rsync_password.clone(),
        prompt: callers.prompt,
    };
    let hooks = Hooks { stderr: callers.stderr, motd: callers.motd, passwords: &mut passwords };
    work(&limits, hooks)
}
