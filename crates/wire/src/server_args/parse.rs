//! What does a client say behind `--server`?

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use crate::option_table::Effect;
use crate::options::{Append, Ask, FilesFrom, OptionError, Options, Setting, walk};

/// Holds what a client asks of its server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerArgs {
    /// Whether the server is the sender.
    pub sends: bool,
    /// Whether it is to be a daemon on this connection; all else is empty then.
    pub daemon: bool,
    /// What it has to do; [`FilesFrom::Local`] is a file of the server.
    pub options: Options,
    /// The letters behind `e.` with which the client says what it can.
    pub capabilities: Vec<u8>,
    /// What follows the lone dot: the sources, or the one destination.
    pub paths: Vec<Vec<u8>>,
}

/// Reads the words of a client, with or without `--server` itself.
///
/// If [`Options::secluded_args`] is set, the other words come over the connection: they are read
/// together with these once they are there, without the word `rsync` before them.
///
/// # Errors
///
/// As [`crate::options::parse`]; [`OptionError::stock_line`] with [`crate::options::Side::Server`]
/// is what the client gets to see.
pub fn parse_server_args(words: &[Vec<u8>]) -> Result<ServerArgs, OptionError> {
    let mut args = ServerArgs::default();
    let mut appends = 0;
    let walked = walk(words, &mut |setting| {
        appends += usize::from(setting.spec.names[0] == "append");
        args.obey(setting)?;
        Ok(args.daemon)
    });
    let mut paths = walked.map_err(as_server)?;
    if args.daemon {
        return Ok(ServerArgs { daemon: true, ..ServerArgs::default() });
    }
    if appends > 1 && args.options.append != Append::No {
        args.options.append = Append::Verifying;
    }
    if paths.first().is_some_and(|first| first == b".") {
        paths.remove(0);
    }
    args.paths = paths;
    if args.options.files_from.is_none() {
        // The client has said all that it means, also where its words stand for directories.
        args.options.said.dirs.get_or_insert(false);
    }
    args.options.settle()?;
    Ok(args)
}

impl ServerArgs {
    /// Obeys one option; some mean something else here than to a client.
    fn obey(&mut self, setting: &Setting) -> Result<(), OptionError> {
        match (setting.spec.names[0], setting.text()) {
            ("sender", _) => self.sends = true,
            ("rsh", Some(client)) => {
                let version = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
                let version = client.iter().take_while(version).count();
                self.capabilities = client[version..].to_vec();
            }
            ("out-format", Some(b"%i")) => self.options.itemize = 1,
            ("out-format", Some(b"%i%I")) => self.options.itemize = 2,
            ("files-from", Some(b"-")) => self.options.files_from = Some(FilesFrom::Connection),
            ("files-from", Some(path)) => {
                // A colon has no meaning here.
                let local = PathBuf::from(OsString::from_vec(path.to_vec()));
                self.options.files_from = Some(FilesFrom::Local(local));
            }
            _ => match setting.spec.effect {
                Effect::Ask(ask) => self.daemon |= ask == Ask::Daemon,
                _ => setting.apply(&mut self.options)?,
            },
        }
        Ok(())
    }
}

/// Says what a server says.
fn as_server(error: OptionError) -> OptionError {
    match error.without_guess() {
        OptionError::Invalid(text) => {
            OptionError::Invalid(text.replace("This rsync does not", "The server does not"))
        }
        other => other,
    }
}
