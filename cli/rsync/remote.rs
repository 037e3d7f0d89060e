//! How does a command line of rsync reach another machine, and how does its session end?

use engine::{Event, Progress, Request};
use scheduler::sync::{self, Callers, Closed, Part, Way};
use transport::{Canceller, FarEnd, Place, Route, Session};
use wire::server_args::Direction;

use super::output::Broken;
use super::run::{self, Run, destination};
use super::stock_words;
use crate::signals::Stopper;

/// The part that prints, by rsync's name for it.
#[derive(Clone, Copy)]
struct Who {
    /// Until the file list is there.
    early: &'static str,
    /// From then on.
    late: &'static str,
}

const SENDER: Who = Who { early: "sender", late: "sender" };
const RECEIVER: Who = Who { early: "Receiver", late: "generator" };

/// Sends to another machine.
pub(crate) fn push(run: &Run<'_>, sources: &[Vec<u8>], place: Place, stopper: &Stopper) -> i32 {
    let monitor = |event: Event<'_>| run.output.event(&event);
    let progress = Progress::default();
    let sources = run.sources(sources);
    let way = way(place);
    let path = way.far_path(&way.path());
    match dial(run, &way, Direction::ToServer, &[&path], stopper) {
        Ok(session) => {
            let part = Part::Send(run.sender(&sources, &monitor, &progress));
            close(run, sync::exchange(session, &part), SENDER)
        }
        Err(error) => failed(run, &error, SENDER),
    }
}

/// Receives from another machine, or lists what is there.
pub(crate) fn pull(
    run: &Run<'_>,
    place: Place,
    paths: &[Vec<u8>],
    dest: Option<&[u8]>,
    stopper: &Stopper,
) -> i32 {
    let monitor = |event: Event<'_>| run.output.event(&event);
    let progress = Progress::default();
    let asked: Vec<Vec<u8>> = match place {
        Place::Daemon { .. } => paths.iter().map(|path| below_module(path)).collect(),
        _ => paths.to_vec(),
    };
    let paths: Vec<&[u8]> = paths.iter().map(Vec::as_slice).collect();
    match dial(run, &way(place), Direction::FromServer, &paths, stopper) {
        Ok(session) => {
            let destination = destination(dest);
            let mut receive = run.receiver(&destination, &monitor, &progress);
            if run.options.files_from.is_none() {
                receive.request = Request::Paths(&asked);
            }
            let part = Part::Receive(receive);
            close(run, sync::exchange(session, &part), RECEIVER)
        }
        Err(error) => failed(run, &error, RECEIVER),
    }
}

fn below_module(path: &[u8]) -> Vec<u8> {
    let slash = path.iter().position(|byte| *byte == b'/');
    slash.map_or_else(Vec::new, |slash| path[slash + 1..].to_vec())
}

/// Lists the modules of a daemon.
pub(crate) fn modules(run: &Run<'_>, place: Place, stopper: &Stopper) -> i32 {
    let canceller = stopper.canceller();
    let listed = route(run, &way(place)).and_then(|route| {
        with_callers(run, |callers| {
            sync::list_modules(&route, (run.options, run.around), callers, &canceller)
        })
    });
    match listed {
        Ok(()) => {
            run.output.close(wire::exit::OK, RECEIVER.early);
            wire::exit::OK
        }
        Err(error) => failed(run, &error, RECEIVER),
    }
}

fn way(place: Place) -> Way {
    Way { place, ssh: Default::default() }
}

fn route(run: &Run<'_>, way: &Way) -> Result<Route, transport::Error> {
    let mut unknown = |name: &str| {
        run.output.error(format!("Unknown socket option {name}").as_bytes());
    };
    way.route(run.options, run.around, &mut unknown)
}

fn dial(
    run: &Run<'_>,
    way: &Way,
    direction: Direction,
    paths: &[&[u8]],
    stopper: &Stopper,
) -> Result<Session, transport::Error> {
    let route = route(run, way)?;
    let canceller: Canceller = stopper.canceller();
    with_callers(run, |callers| {
        let about = (run.options, run.around);
        sync::connect(&route, about, direction, paths, callers, &canceller)
    })
}

fn with_callers<T>(run: &Run<'_>, work: impl FnOnce(Callers<'_>) -> T) -> T {
    let mut motd = |line: &str| {
        if !run.options.no_motd {
            run.output.info(line.as_bytes());
        }
    };
    let prompt = run.around.terminal.then_some(|_: &str| crate::ask::password("Password: "));
    work(Callers {
        // The words of a remote shell are its own, as if it had our stderr.
        stderr: Box::new(|line| eprintln!("{line}")),
        motd: &mut motd,
        command: &mut |words| run.output.command(words),
        prompt: prompt.map(|ask| Box::new(ask) as _),
        connect_limit: None,
    })
}

fn failed(run: &Run<'_>, error: &transport::Error, who: Who) -> i32 {
    for line in stock_words::lines(error, who.early) {
        run.output.error(line.as_bytes());
    }
    let code = error.exit_code();
    run.output.close(code, who.early);
    if matches!(error, transport::Error::NoProgram { .. }) {
        // rsync's child has told that, and now its parent sees that it is gone.
        let broken = Broken { role: who.early, received_bytes: 0, timeout: 0 };
        run.output.failure(&engine::Error::Wire(wire::Error::Closed), broken);
        run.output.close(code, who.early);
    }
    code
}

/// Tells how a session ended and returns the code.
fn close(run: &Run<'_>, closed: Closed, who: Who) -> i32 {
    let Closed { done, ending, stopped, read_bytes, .. } = closed;
    let error = match done {
        Ok(summary) => {
            run.output.totals(&summary);
            let code = ending.merge(summary.exit_code());
            let is_empty = summary.files.total() == 0;
            run.output.close(code, if is_empty { who.early } else { who.late });
            return code;
        }
        Err(error) => error,
    };
    let role = if run.output.has_begun() { who.late } else { who.early };
    let broken = Broken { role, received_bytes: read_bytes, timeout: run.options.timeout };
    run::broken(run.output, &error, stopped, broken, |code| match ending.end {
        FarEnd::Exited(_) => ending.merge(code),
        FarEnd::Killed(_) | FarEnd::Unknown => code,
    })
}
