//! What do the words of rsync's command line that are no options mean together?

use transport::{HostSpec, Place};
use wire::escape::printable;
use wire::options::{Batch, FilesFrom, Options};

/// What is to be copied, and over which way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// From here to here; without a destination it is listed.
    Local { sources: Vec<Vec<u8>>, dest: Option<Vec<u8>> },
    /// From here to another machine.
    Push { sources: Vec<Vec<u8>>, place: Place },
    /// From another machine to here, or to be listed; the paths are those of the place.
    Pull { place: Place, paths: Vec<Vec<u8>>, dest: Option<Vec<u8>> },
    /// The modules of a daemon are listed.
    Modules(Place),
    /// A batch is applied here.
    Batch { dest: Vec<u8> },
}

/// Why the words make no sense, in rsync's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misuse {
    pub(crate) text: String,
    pub(crate) code: i32,
    pub(crate) role: &'static str,
}

const SENDER: &str = "sender";
const RECEIVER: &str = "Receiver";

/// Finds out what the operands mean, of which there is at least one.
pub(crate) fn plan(operands: &[Vec<u8>], options: &Options) -> Result<Plan, Misuse> {
    if let (Some(Batch::Read(_)), [.., dest]) = (&options.batch, operands) {
        return match HostSpec::of(dest) {
            Some(_) => Err(misuse(RECEIVER, "remote destination is not allowed with --read-batch")),
            None => Ok(Plan::Batch { dest: dest.clone() }),
        };
    }
    let (dest, sources) = match operands {
        [only] => (None, std::slice::from_ref(only)),
        [sources @ .., dest] => (Some(dest), sources),
        [] => return Err(misuse(SENDER, "no source is named")),
    };
    let first = HostSpec::of(&sources[0]);
    let far_dest = dest.filter(|dest| HostSpec::of(dest).is_some());
    let far = first.or(far_dest.and_then(|dest| HostSpec::of(dest)));
    let is_daemon = far.map(|far| far.daemon);
    let role = if first.is_some() { RECEIVER } else { SENDER };
    if first.is_some() && far_dest.is_some() {
        return Err(misuse(role, "The source and destination cannot both be remote."));
    }
    let remote_names = matches!(options.files_from, Some(FilesFrom::Remote(_)));
    if is_daemon.is_none() && remote_names {
        let text = "--files-from cannot be remote when the transfer is local";
        return Err(misuse(role, text));
    }
    let host = &options.said.files_from_host;
    if far.is_some_and(|far| remote_names && !host.is_empty() && host != far.host) {
        let text = "--files-from hostname is not the same as the transfer hostname";
        return Err(misuse(role, text));
    }
    match first {
        Some(first) => check_others(first, &sources[1..])?,
        None => check_local(sources)?,
    }
    if options.password_file.is_some() && is_daemon != Some(true) {
        let text = "The --password-file option may only be used when accessing an rsync daemon.";
        return Err(misuse(role, text));
    }
    if options.contimeout > 0 && is_daemon != Some(true) {
        let text = "The --contimeout option may only be used when connecting to an rsync daemon.";
        return Err(misuse(role, text));
    }
    match (first, far_dest) {
        (Some(_), _) => pull(sources, dest),
        (None, Some(dest)) => {
            Ok(Plan::Push { sources: sources.to_vec(), place: place(dest, role)? })
        }
        (None, None) => local(sources, dest, options),
    }
}

/// Checks that the sources behind a remote one are on the same machine and of the same kind.
fn check_others(first: HostSpec<'_>, others: &[Vec<u8>]) -> Result<(), Misuse> {
    for other in others {
        let Some(spec) = HostSpec::of(other) else {
            let text = format!(
                "Unexpected local arg: {}\n\
                 If arg is a remote file/dir, prefix it with a colon (:).",
                printable(other)
            );
            return Err(misuse(RECEIVER, &text));
        };
        if !spec.host.is_empty() && spec.host != first.host {
            return Err(misuse(RECEIVER, "All source args must come from the same machine."));
        }
        if spec.daemon != first.daemon {
            return Err(misuse(RECEIVER, "All source args must use the same hostspec format."));
        }
    }
    Ok(())
}

fn check_local(sources: &[Vec<u8>]) -> Result<(), Misuse> {
    for source in sources {
        if source.is_empty() {
            return Err(misuse(SENDER, "Empty source arg specified."));
        }
        if HostSpec::of(source).is_some() {
            let text = format!("Unexpected remote arg: {}", printable(source));
            return Err(misuse(SENDER, &text));
        }
    }
    Ok(())
}

fn pull(sources: &[Vec<u8>], dest: Option<&Vec<u8>>) -> Result<Plan, Misuse> {
    let place = place(&sources[0], RECEIVER)?;
    if let Place::Daemon { module, .. } = &place
        && module.is_empty()
    {
        return Ok(Plan::Modules(place));
    }
    let specs = sources.iter().filter_map(|source| HostSpec::of(source));
    let paths = specs.map(|spec| spec.path.to_vec()).collect();
    Ok(Plan::Pull { place, paths, dest: dest.cloned() })
}

fn local(sources: &[Vec<u8>], dest: Option<&Vec<u8>>, options: &Options) -> Result<Plan, Misuse> {
    let dest = match dest {
        Some(dest) if dest.is_empty() && options.old_args > 0 => Some(b".".to_vec()),
        Some(dest) if dest.is_empty() => {
            let text = "Empty destination arg specified (use \".\" or see --old-args).";
            return Err(misuse(SENDER, text));
        }
        dest => dest.cloned(),
    };
    Ok(Plan::Local { sources: sources.to_vec(), dest })
}

fn place(text: &[u8], role: &'static str) -> Result<Place, Misuse> {
    let spec = HostSpec::of(text);
    let host = spec.map_or(&b""[..], |spec| spec.host);
    let host = host.rsplit(|byte| *byte == b'@').next().unwrap_or_default();
    if host.starts_with(b"-") {
        return Err(misuse(role, "Invalid remote host: hostnames may not start with '-'."));
    }
    if spec.is_some_and(|spec| spec.daemon && spec.path.starts_with(b"/")) {
        let text = "ERROR: The remote path must start with a module name not a /".to_owned();
        return Err(Misuse { text, code: wire::exit::START, role });
    }
    Place::parse_any(text).map_err(|error| misuse(role, &error.to_string()))
}

fn misuse(role: &'static str, text: &str) -> Misuse {
    Misuse { text: text.to_owned(), code: wire::exit::SYNTAX, role }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(words: &[&str]) -> Result<Plan, Misuse> {
        let words: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        plan(&words, &Options::default())
    }

    #[test]
    fn operands_are_refused_in_the_words_of_rsync() {
        let cases: [(&[&str], &str); 14] = [
            (&["a:b", "c:d"], "The source and destination cannot both be remote."),
            (&["s", "h1:a", "h2:b"], "Unexpected remote arg: h1:a"),
            (&["h1:a", "h2:b", "d"], "All source args must come from the same machine."),
            (&["u@h1:a", "h1:b", "d"], "All source args must come from the same machine."),
            (&["h1:a", "s", "d"], "Unexpected local arg: s\nIf arg is"),
            (&["s", "h1:a", "d"], "Unexpected remote arg: h1:a"),
            (&["h1::m/a", "h2::m/b", "d"], "All source args must come from the same machine."),
            (&["h1::m/a", "h1:b", "d"], "All source args must use the same hostspec format."),
            (&["rsync://h1/m/a", ":b", "d"], "All source args must use the same hostspec format."),
            (&["", "d"], "Empty source arg specified."),
            (&["s", ""], "Empty destination arg specified"),
            (&["-h:a", "d"], "Invalid remote host: hostnames may not start with '-'."),
            (&["me@-h:a", "d"], "Invalid remote host"),
            (&["h1::/m", "d"], "ERROR: The remote path must start with a module name"),
        ];
        for (words, text) in cases {
            let misuse = planned(words).unwrap_err();
            assert!(misuse.text.starts_with(text), "{words:?}: {}", misuse.text);
        }
    }

    #[test]
    fn further_sources_may_leave_out_the_host_and_a_lone_source_is_listed() {
        let Ok(Plan::Pull { paths, dest, .. }) =
            planned(&["me@h::m/a", "::m/b", "rsync://me@h/m/c", "d"])
        else {
            panic!("no pull");
        };
        assert_eq!(paths, [b"m/a".to_vec(), b"m/b".to_vec(), b"m/c".to_vec()]);
        assert_eq!(dest, Some(b"d".to_vec()));
        assert!(matches!(planned(&["h:"]), Ok(Plan::Pull { dest: None, .. })));
        assert!(matches!(planned(&["s"]), Ok(Plan::Local { dest: None, .. })));
        assert!(matches!(planned(&["h::"]), Ok(Plan::Modules(_))));
        assert!(matches!(planned(&["s", "h:"]), Ok(Plan::Push { .. })));
    }
}
