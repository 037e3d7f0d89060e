//! How are batch files begun, and how are they applied?

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use engine::{Event, Progress, Receive, Request};
use transport::HostSpec;
use wire::batch::{BatchHead, script};
use wire::options::{Batch, Info, InfoLevels, Options};

use super::output::Broken;
use super::run::{Run, destination};

/// Why a batch cannot be used, in rsync's words.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub(crate) text: String,
    pub(crate) code: i32,
}

const ROLE: &str = "Receiver";

impl Trouble {
    fn syntax(text: &str) -> Self {
        Trouble { text: text.to_owned(), code: wire::exit::SYNTAX }
    }

    fn open(path: &Path, error: &std::io::Error, code: i32) -> Self {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let reason = engine::reason(error);
        let text =
            format!("rsync: [{ROLE}] Batch file \"{}\" open error: {reason}", path.display());
        Trouble { text, code }
    }

    fn head(error: &wire::Error) -> Self {
        let text = match error {
            wire::Error::Closed => {
                format!("rsync: connection unexpectedly closed (0 bytes received so far) [{ROLE}]")
            }
            error => format!("rsync: [{ROLE}] {error}"),
        };
        Trouble { text, code: error.exit_code() }
    }
}

/// Creates the batch that is to be written, and its script.
pub(crate) fn create(run: &Run<'_>, words: &[Vec<u8>], dest: &[u8]) -> Result<(), Trouble> {
    let Some(Batch::Write(path) | Batch::OnlyWrite(path)) = &run.options.batch else {
        return Ok(());
    };
    let all: Vec<Vec<u8>> = std::env::args_os().map(OsString::into_vec).collect();
    let program = &all[..all.len().saturating_sub(words.len())];
    let dest = HostSpec::of(dest).map_or(dest, |spec| spec.path);
    let rules = run.filter.wire_rules_for_pull(run.options.own_protocol());
    let text = script(program, words, dest, &rules);
    let mut beside = path.clone().into_os_string();
    beside.push(".sh");
    let beside = PathBuf::from(beside);
    for (path, mode, text) in [(&beside, 0o700, text.as_slice()), (path, 0o600, b"")] {
        let file = File::options().write(true).create(true).truncate(true).mode(mode).open(path);
        file.and_then(|mut file| file.write_all(text))
            .map_err(|error| Trouble::open(path, &error, wire::exit::FILE_SELECTION))?;
    }
    Ok(())
}

/// A batch whose head was read.
pub(crate) struct Stored {
    head: BatchHead,
    stream: Box<dyn Read + Send>,
    /// What is to be told of the options that were fitted to it.
    pub(crate) lines: Vec<String>,
}

/// Opens the batch that is to be applied, if there is one, and fits the options to it.
pub(crate) fn open(options: &mut Options) -> Result<Option<Stored>, Trouble> {
    let Some(Batch::Read(path)) = &options.batch else { return Ok(None) };
    let mut stream: Box<dyn Read + Send> = match path.as_os_str() == "-" {
        true => Box::new(std::io::stdin()),
        false => Box::new(
            File::open(path).map_err(|error| Trouble::open(path, &error, wire::exit::FILE_IO))?,
        ),
    };
    let head = BatchHead::read(&mut stream).map_err(|error| Trouble::head(&error))?;
    if head.needs_iconv(options) {
        return Err(Trouble::syntax("Please specify the --iconv option to use this batch file."));
    }
    let in_parts = options.may_receive_in_parts();
    let mut lines = head.fit(options);
    if InfoLevels::of(options).level(Info::Misc) == 0 {
        lines.clear();
    }
    if head.dialect(options).inc_recurse() && !in_parts {
        lines.iter().for_each(|line| println!("{line}"));
        let text = "Incompatible options specified for inc-recursive batch file.";
        return Err(Trouble::syntax(text));
    }
    Ok(Some(Stored { head, stream, lines }))
}

/// Applies a batch to a destination.
pub(crate) fn apply(run: &Run<'_>, batch: Stored, dest: &[u8]) -> i32 {
    let monitor = |event: Event<'_>| run.output.event(&event);
    let progress = Progress::default();
    let destination = destination(Some(dest));
    let receive =
        Receive { request: Request::Anything, ..run.receiver(&destination, &monitor, &progress) };
    let code = match receive.replay(&batch.head, batch.stream) {
        Ok(summary) => {
            run.output.totals(&summary);
            summary.exit_code()
        }
        Err(error) => {
            let broken = Broken { role: ROLE, received_bytes: 0, timeout: 0 };
            run.output.failure(&error, broken);
            error.exit_code()
        }
    };
    run.output.close(code, "generator");
    code
}
