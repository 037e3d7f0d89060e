//! Which ways lead to an rsync on the other side?

use wire::options::IpFamily;

use crate::open::FarArguments;
use crate::place::Place;
use crate::proxy::Proxy;
use crate::shell::{FarHost, RemoteShell, Terminal};
use crate::socket_options::SocketOptions;
use crate::tcp::{Endpoint, RSYNC_PORT};

/// A way to an rsync on the other side.
#[derive(Clone, Debug)]
pub enum Route {
    /// A daemon's port.
    Daemon {
        /// Where it listens.
        endpoint: Endpoint,
        /// The web proxy that leads there.
        proxy: Option<Proxy>,
        /// What is asked for, and by whom.
        account: Account,
    },
    /// A daemon that a program leads to.
    ProgramDaemon {
        /// The program and its words.
        words: Vec<Vec<u8>>,
        /// The daemon's host, for messages.
        host: String,
        /// Whether the program may ask a person.
        terminal: Terminal,
        /// What is asked for, and by whom.
        account: Account,
    },
    /// rsync, started by a remote shell.
    Shell {
        /// The remote shell.
        shell: RemoteShell,
        /// The machine.
        host: FarHost,
    },
    /// A daemon for this one session, started by a remote shell (`-e CMD host::module`).
    ShellDaemon {
        /// The remote shell.
        shell: RemoteShell,
        /// The machine.
        host: FarHost,
        /// The port, for a program that connects itself (`RSYNC_PORT`).
        port: Option<u16>,
        /// What is asked for, and by whom.
        account: Account,
    },
    /// A program on this machine that is, or leads to, `rsync --server`.
    Pipe {
        /// The program and its first words; the arguments for the server follow them.
        words: Vec<Vec<u8>>,
        /// Whether the program may ask a person.
        terminal: Terminal,
    },
}

/// A module, and the user who asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The module's name.
    pub module: Vec<u8>,
    /// The user of the module.
    pub user: String,
    /// What the module's early exec gets (`--early-input`).
    pub early_input: Option<Vec<u8>>,
}

/// What decides about the way, beside the place itself.
#[derive(Clone, Debug)]
pub struct RouteOptions {
    /// The remote shell for `host:path`.
    pub shell: RemoteShell,
    /// Whether the shell was asked for by `-e`, and so leads to daemons as well.
    pub shell_for_daemons: bool,
    /// The command that starts rsync there.
    pub rsync_path: Vec<u8>,
    /// The port of a daemon where the place names none (`--port`).
    pub port: Option<u16>,
    /// The address family to insist on.
    pub family: Option<IpFamily>,
    /// The address of this machine to connect from.
    pub bind: Option<String>,
    /// The user of a module where the place names none.
    pub default_user: String,
    /// How a daemon's port is reached.
    pub daemon: DaemonWay,
}

/// What decides about the way to a daemon's port.
#[derive(Clone, Debug, Default)]
pub struct DaemonWay {
    /// The command to run instead of connecting, in which `%H` is the host (`RSYNC_CONNECT_PROG`).
    pub program: Option<Vec<u8>>,
    /// The shell that runs it (`RSYNC_SHELL`).
    pub program_shell: Option<Vec<u8>>,
    /// The web proxy that leads there (`RSYNC_PROXY`).
    pub proxy: Option<Proxy>,
    /// What is set on the socket (`--sockopts`).
    pub socket_options: SocketOptions,
    /// What the module's early exec gets (`--early-input`).
    pub early_input: Option<Vec<u8>>,
}

impl Route {
    /// Chooses the way to a place; `None` when the place is on this machine.
    pub fn to(place: &Place, options: &RouteOptions) -> Option<Route> {
        let far_host = |name: &str, user: Option<String>| FarHost {
            name: name.to_owned(),
            user,
            family: options.family,
            rsync_path: options.rsync_path.clone(),
        };
        let shell = options.shell.clone();
        match place {
            Place::Local(_) => None,
            Place::Shell { user, host, .. } => {
                Some(Route::Shell { shell, host: far_host(host, user.clone()) })
            }
            Place::Daemon { user, host, port, module, .. } => {
                let account = Account {
                    module: module.clone(),
                    user: user.clone().unwrap_or_else(|| options.default_user.clone()),
                    early_input: options.daemon.early_input.clone(),
                };
                let port = port.or(options.port);
                if options.shell_for_daemons {
                    // A login in the shell's own words wins; the user is the module's then.
                    let login = user.clone().filter(|_| !shell.names_user());
                    let host = far_host(host, login);
                    return Some(Route::ShellDaemon { shell, host, port, account });
                }
                if let Some(program) = &options.daemon.program {
                    let words = options.daemon.words(program, host);
                    let (host, terminal) = (host.clone(), shell.terminal());
                    return Some(Route::ProgramDaemon { words, host, terminal, account });
                }
                let endpoint = Endpoint {
                    host: host.clone(),
                    port: port.unwrap_or(RSYNC_PORT),
                    family: options.family,
                    bind: options.bind.clone(),
                    socket_options: options.daemon.socket_options.clone(),
                };
                Some(Route::Daemon { endpoint, proxy: options.daemon.proxy.clone(), account })
            }
        }
    }
}

impl Route {
    /// Returns the words that start the program of this way, where it has one of its own.
    pub fn command(&self, arguments: &FarArguments) -> Option<Vec<Vec<u8>>> {
        match self {
            Route::Shell { shell, host } => Some(shell.argv(host, &arguments.open)),
            Route::ShellDaemon { shell, host, .. } => {
                let words = ["--server", "--daemon", "."].map(|word| word.as_bytes().to_vec());
                Some(shell.argv(host, &words))
            }
            Route::Pipe { words, .. } => Some([words.as_slice(), &arguments.open].concat()),
            Route::ProgramDaemon { words, .. } => Some(words.clone()),
            Route::Daemon { .. } => None,
        }
    }
}

impl DaemonWay {
    /// Returns the words that run the program: `%H` becomes the quoted host, `%%` a `%`.
    fn words(&self, program: &[u8], host: &str) -> Vec<Vec<u8>> {
        let host = format!("'{}'", host.replace('\'', "'\\''"));
        let mut command = Vec::new();
        let mut rest = program;
        while let Some((first, tail)) = rest.split_first() {
            match (first, tail.first()) {
                (b'%', Some(b'H')) => command.extend_from_slice(host.as_bytes()),
                (b'%', Some(b'%')) => command.push(b'%'),
                _ => {
                    command.push(*first);
                    rest = tail;
                    continue;
                }
            }
            rest = &tail[1..];
        }
        let shell = self.program_shell.clone().unwrap_or_else(|| b"/bin/sh".to_vec());
        vec![shell, b"-c".to_vec(), command]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(rsh: Option<&[u8]>) -> RouteOptions {
        let shell = RemoteShell::command(rsh.unwrap_or(b"ssh"), Terminal::Absent).unwrap();
        RouteOptions {
            shell,
            shell_for_daemons: rsh.is_some(),
            rsync_path: b"rsync".to_vec(),
            port: Some(8730),
            family: None,
            bind: None,
            default_user: "nobody".into(),
            daemon: DaemonWay::default(),
        }
    }

    fn route(place: &str, rsh: Option<&[u8]>) -> Option<Route> {
        Route::to(&Place::parse(place.as_bytes()).unwrap(), &options(rsh))
    }

    #[test]
    fn the_port_in_the_place_wins_over_the_option_and_the_default_user_fills_in() {
        let Some(Route::Daemon { endpoint, account, .. }) = route("rsync://nas:99/m/x", None)
        else {
            panic!("not a daemon");
        };
        assert_eq!((endpoint.port, account.user.as_str()), (99, "nobody"));
        let Some(Route::Daemon { endpoint, account, .. }) = route("me@nas::m", None) else {
            panic!("not a daemon");
        };
        assert_eq!((endpoint.port, account.user.as_str()), (8730, "me"));
    }

    #[test]
    fn a_shell_asked_for_leads_to_daemons_too_and_its_own_login_wins() {
        let login = |rsh: &[u8]| match route("me@nas::m", Some(rsh)) {
            Some(Route::ShellDaemon { host, account, .. }) => (host.user, account.user),
            other => panic!("{other:?}"),
        };
        assert_eq!(login(b"ssh"), (Some("me".into()), "me".into()));
        assert_eq!(login(b"ssh -l you"), (None, "me".into()));
    }

    #[test]
    fn a_program_that_leads_to_a_daemon_gets_the_host_quoted() {
        let mut options = options(None);
        options.daemon.program = Some(b"nc %H 873 100%% %x".to_vec());
        let Some(Route::ProgramDaemon { words, .. }) =
            Route::to(&Place::parse(b"a'b::m").unwrap(), &options)
        else {
            panic!("no program");
        };
        let expected: [&[u8]; 3] = [b"/bin/sh", b"-c", br"nc 'a'\''b' 873 100% %x"];
        assert_eq!(words, expected);
    }

    #[test]
    fn a_local_place_needs_no_way() {
        assert!(route("/a/b", None).is_none());
    }
}
