//! How is a task carried out whose far place is a directory of this machine, such as a disk?

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use engine::{Destination, copy_locally};
use wire::options::{Append, Options};

use crate::mounts::{Mounts, NotMounted};

use super::failure::Failure;
use super::session::{End, Outcome, Ready, open_sources};
use super::task::{Surroundings, Work};

/// Copies between two directories of this machine.
pub(super) fn run(ready: &Ready<'_>) -> Result<Outcome, Failure> {
    let options = options(&ready.task.options);
    let protocol = options.own_protocol();
    let place = path(ready.task.way.path());
    let canceller = (ready.new_canceller)();
    let on_start = |stop| canceller.on_cancel(stop);
    let copied = match (&ready.end, &ready.task.work) {
        (End::Sources(sources), _) => {
            check_disk(&place, ready.task.makes_path, ready.around)?;
            let destination = Destination::new(&place);
            let receive = ready.receiver(&options, &destination);
            copy_locally(&ready.sender(&options, sources), &receive, protocol, &on_start)
        }
        (End::Destination(destination), Work::Pull { from, .. }) => {
            let paths: Vec<PathBuf> = from.iter().cloned().map(path).collect();
            let sources = open_sources(&paths, ready.task, ready.tellers)?;
            let receive = ready.receiver(&options, destination);
            copy_locally(&ready.sender(&options, &sources), &receive, protocol, &on_start)
        }
        (End::Destination(_), Work::Push(_)) => Err(engine::Error::NothingToSend),
    };
    let summary = copied.map_err(|error| match canceller.reason() {
        Some(reason) => Failure::local(reason.exit_code().unwrap_or(error.exit_code()), reason),
        None => Failure::local(error.exit_code(), error),
    })?;
    Ok(Outcome { code: summary.exit_code(), summary: Some(summary), failure: None })
}

/// On one machine comparing blocks costs more than copying.
fn options(options: &Options) -> Options {
    let whole = options.append == Append::No && options.batch.is_none();
    let whole_file = options.whole_file.or(whole.then_some(true));
    Options { whole_file, mkpath: false, ..options.clone() }
}

/// Checks the directory of a target on a disk, and makes the job's own directory in it.
///
/// A disk that is not mounted leaves an empty directory behind, on which a backup would fill the
/// wrong disk.
fn check_disk(place: &Path, of_job: bool, around: &Surroundings) -> Result<(), Failure> {
    let target = match of_job {
        true => place.parent().unwrap_or(place),
        false => place,
    };
    check_destination(target, around)?;
    if of_job {
        match std::fs::create_dir(place) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                let what = format!("cannot make {}: {error}", place.display());
                return Err(Failure::local(wire::exit::FILE_IO, what));
            }
            _ => {}
        }
    }
    Mounts::remember(target, around.state_dir.as_deref());
    Ok(())
}

/// Refuses a directory that is not there, or whose disk is not mounted.
pub(super) fn check_destination(path: &Path, around: &Surroundings) -> Result<(), Failure> {
    let failed = |what: String, hint: &str| Failure {
        code: wire::exit::FILE_SELECTION,
        what,
        hint: Some(hint.to_owned()),
    };
    if !path.exists() {
        let what = format!("{}: there is no such directory", path.display());
        return Err(failed(what, "mount the disk, or make the directory"));
    }
    match Mounts::check(path, around.state_dir.as_deref()) {
        Ok(()) => Ok(()),
        Err(NotMounted { point }) => {
            let what = format!("{}: {} is not mounted", path.display(), point.display());
            Err(failed(what, "mount the disk; nothing was written"))
        }
    }
}

fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}
