//! Which ways lead to an rsync on the other side?

use wire::options::IpFamily;

use crate::place::Place;
use crate::shell::{FarHost, RemoteShell, Terminal};
use crate::tcp::{Endpoint, RSYNC_PORT};

/// A way to an rsync on the other side.
#[derive(Clone, Debug)]
pub enum Route {
    /// A daemon's port.
    Daemon {
        /// Where it listens.
        endpoint: Endpoint,
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
                };
                let port = port.or(options.port);
                if options.shell_for_daemons {
                    // A login in the shell's own words wins; the user is the module's then.
                    let login = user.clone().filter(|_| !shell.names_user());
                    let host = far_host(host, login);
                    return Some(Route::ShellDaemon { shell, host, port, account });
                }
                let endpoint = Endpoint {
                    host: host.clone(),
                    port: port.unwrap_or(RSYNC_PORT),
                    family: options.family,
                    bind: options.bind.clone(),
                };
                Some(Route::Daemon { endpoint, account })
            }
        }
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
        }
    }

    fn route(place: &str, rsh: Option<&[u8]>) -> Option<Route> {
        Route::to(&Place::parse(place.as_bytes()).unwrap(), &options(rsh))
    }

    #[test]
    fn the_port_in_the_place_wins_over_the_option_and_the_default_user_fills_in() {
        let Some(Route::Daemon { endpoint, account }) = route("rsync://nas:99/m/x", None) else {
            panic!("not a daemon");
        };
        assert_eq!((endpoint.port, account.user.as_str()), (99, "nobody"));
        let Some(Route::Daemon { endpoint, account }) = route("me@nas::m", None) else {
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
    fn a_local_place_needs_no_way() {
        assert!(route("/a/b", None).is_none());
    }
}
