//! How does this program serve a client that has started it with `--server`?

use std::os::unix::ffi::OsStringExt;
use std::time::Duration;

use engine::{Destination, Event, Progress, Receive, Request, Role, Send, Telling};
use filter::{RuleList, Settings};
use scheduler::sync::{Surroundings, listed_names};
use transport::{Connection, Reason, Session};
use wire::greeting::read_secluded_args;
use wire::options::{OptionError, Options, Side, obey_algorithm_lists};
use wire::server_args::{ServerArgs, parse_server_args};
use wire::setup::exchange_versions;

use super::glob::expand;
use super::output::{Broken, Output, Way, speaks_utf8};
use super::run::{self, path_of, sources};
use crate::signals::Stopper;
use crate::surroundings::{surroundings, variable};

/// How long a client may take to close the connection once a session has failed.
const PATIENCE: Duration = Duration::from_secs(5);

/// Serves one session; `words` are those behind `--server`.
pub(crate) fn run(words: &[Vec<u8>]) -> i32 {
    let served = Stopper::listen().map_err(|error| Refusal::here(wire::exit::IPC, &error));
    match served.and_then(|stopper| serve(words, &stopper)) {
        Ok(code) => code,
        Err(Refusal { text, code, role }) => {
            eprintln!("{text}");
            run::refused(code, role)
        }
    }
}

/// Why a session does not begin.
struct Refusal {
    text: String,
    code: i32,
    role: &'static str,
}

impl Refusal {
    fn here(code: i32, error: &dyn std::fmt::Display) -> Self {
        Refusal { text: format!("rsync: [server] {error}"), code, role: "server" }
    }

    fn of_wire(error: &wire::Error, role: &'static str) -> Self {
        let text = match error {
            wire::Error::Closed => {
                format!("rsync: connection unexpectedly closed (0 bytes received so far) [{role}]")
            }
            error => format!("rsync: [{role}] {error}"),
        };
        Refusal { text, code: error.exit_code(), role }
    }
}

impl From<OptionError> for Refusal {
    fn from(error: OptionError) -> Self {
        let (text, code) = (error.stock_line(Side::Server), error.exit_code());
        Refusal { text, code, role: "server" }
    }
}

fn serve(words: &[Vec<u8>], stopper: &Stopper) -> Result<i32, Refusal> {
    let mut args = parse_server_args(words)?;
    if args.daemon {
        let text = "rsync: this version is no daemon yet".to_owned();
        return Err(Refusal { text, code: wire::exit::UNSUPPORTED, role: "server" });
    }
    let found = |name: &str| variable(name).map(OsStringExt::into_vec);
    obey_algorithm_lists(&mut args.options, Side::Server, &found);
    let canceller = stopper.canceller();
    let mut connection = Connection::over_stdio(&canceller)
        .map_err(|error| Refusal::here(error.exit_code(), &error))?;
    let role = if args.sends { "sender" } else { "Receiver" };
    let broken = |error: wire::Error| Refusal::of_wire(&error, role);
    if args.options.secluded_args {
        let hidden = read_secluded_args(&mut connection.reader).map_err(broken)?;
        args = parse_server_args(&[words, &hidden].concat())?;
        obey_algorithm_lists(&mut args.options, Side::Server, &found);
        // No shell has seen these paths.
        args.paths = args.paths.iter().flat_map(|path| expand(path)).collect();
    }
    run::set_stop(&mut args.options)?;
    run::set_charset(&mut args.options).map_err(|text| Refusal {
        text,
        code: wire::exit::UNSUPPORTED,
        role,
    })?;
    if let Some(seconds) = args.options.stop_at {
        stopper.stop_at(seconds).map_err(|error| Refusal::here(wire::exit::IPC, &error))?;
    }
    let idle = (args.options.timeout > 0).then(|| Duration::from_secs(args.options.timeout.into()));
    connection.limit_idle(idle).map_err(|error| Refusal::here(error.exit_code(), &error))?;
    let names = match listed_names(&args.options, !args.sends) {
        Ok(names) => names,
        Err(error) => {
            let (text, code) = (run::rule_words(&error), error.exit_code());
            return Err(Refusal { text, code, role: "server" });
        }
    };
    let Connection { reader, writer, .. } = &mut connection;
    let own = args.options.own_protocol();
    let protocol = exchange_versions(reader, writer, own).map_err(broken)?;
    Ok(session(&args, names.as_deref(), Session { connection, protocol }))
}

fn session(args: &ServerArgs, names: Option<&[Vec<u8>]>, session: Session) -> i32 {
    let Session { mut connection, protocol } = session;
    let around = surroundings();
    let canceller = connection.canceller.clone();
    let hang_up = || _ = canceller.cancel(Reason::Failed);
    let (reader, writer) = (&mut connection.reader, &mut connection.writer);
    let done = match args.sends {
        true => send(args, names, &around, |part| part.run(reader, writer, protocol, &hang_up)),
        false => receive(args, names, &around, |part| part.run(reader, writer, protocol, &hang_up)),
    };
    match done {
        // The client waits for the end of this process.
        Ok(summary) => summary.exit_code(),
        Err(error) => {
            let (stopped, timeout) = (canceller.reason(), args.options.timeout);
            let received_bytes = connection.activity.read_bytes();
            connection.finish_within(PATIENCE);
            let role = match &error {
                _ if args.sends => "sender",
                engine::Error::NeedsProtocol { .. } => "Receiver",
                _ => "receiver",
            };
            let broken = Broken { role, received_bytes, timeout };
            // What the client was not told goes to stderr, which it may pass on.
            let output = Output::new(&Options::default(), Way::Local, speaks_utf8());
            run::broken(&output, &error, stopped, broken, |code| code)
        }
    }
}

fn send<T>(
    args: &ServerArgs,
    names: Option<&[Vec<u8>]>,
    around: &Surroundings,
    work: impl FnOnce(&Send<'_>) -> T,
) -> T {
    work(&Send {
        role: Role::Server(&args.capabilities),
        options: &args.options,
        sources: &sources(&args.paths, names, &args.options),
        filter: &own_rules(args),
        umask: around.umask,
        telling: Telling::default(),
        monitor: &nobody,
        progress: &Progress::default(),
    })
}

fn receive<T>(
    args: &ServerArgs,
    names: Option<&[Vec<u8>]>,
    around: &Surroundings,
    work: impl FnOnce(&Receive<'_>) -> T,
) -> T {
    let path = args.paths.first().filter(|path| !path.is_empty());
    let Options { itemize, verbose, .. } = args.options;
    let unchanged = itemize > 1 || itemize > 0 && verbose > 1;
    work(&Receive {
        role: Role::Server(&args.capabilities),
        options: &args.options,
        destination: &Destination::new(&path_of(path.map_or(b".", Vec::as_slice))),
        filter: &own_rules(args),
        request: names.map_or(Request::Anything, Request::Names),
        umask: around.umask,
        telling: Telling { unchanged, ..Telling::default() },
        monitor: &nobody,
        progress: &Progress::default(),
        state_dir: around.state_dir.as_deref(),
    })
}

/// A server gets the rules from its client, and knows only how to read them.
fn own_rules(args: &ServerArgs) -> RuleList {
    let delete_excluded = args.options.delete_excluded;
    RuleList::new(Settings { delete_excluded, ..Settings::default() })
}

/// What there is to tell goes to the client.
fn nobody(_: Event<'_>) {}
