//! What is to be synced, where to, and what of the surroundings it may use.

use std::path::PathBuf;

use transport::{Place, RemoteShell, Route, SshOptions, Terminal};
use wire::options::Options;

use crate::config::{DefaultExcludes, Job, Target, Via};
use crate::history::RunRecord;

/// One push: the sources of one job to one place.
#[derive(Clone, Debug)]
pub struct Task {
    /// The job's name, or what a push by hand is called.
    pub name: String,
    /// The session's options.
    pub options: Options,
    /// What is sent.
    pub sources: Vec<PathBuf>,
    /// Where it goes.
    pub way: Way,
    /// What may be left out where the far side has no such thing.
    pub wishes: Wishes,
    /// Whether missing directories of the destination path are made.
    pub makes_path: bool,
    /// The job's last complete run.
    pub last_run: Option<RunRecord>,
}

impl Task {
    /// Describes a push of paths, with what a job has by default.
    pub fn by_hand(way: Way, sources: Vec<PathBuf>) -> Self {
        let mut options = Options::archive();
        options.numeric_ids = true;
        options.hard_links = 1;
        options.acls = true;
        options.xattrs = 1;
        Self {
            name: "push".into(),
            options,
            sources,
            way,
            wishes: Wishes { acls: true, xattrs: true },
            makes_path: false,
            last_run: None,
        }
    }

    /// Describes the run of a job. Its options may be changed before it is run.
    pub fn of_job(target: &Target, job: &Job, excludes: DefaultExcludes) -> Self {
        let mut options = job.options(excludes);
        options.rsync_path = target.rsync_path.as_ref().map(|path| path.clone().into_bytes());
        if let Via::Daemon(daemon) = &target.via {
            options.password_file = daemon.password_file.clone();
        }
        Self {
            name: job.name.clone(),
            options,
            sources: job.sources.clone(),
            way: Way::to(target, target.destination(job)),
            wishes: Wishes { acls: !job.attributes.named, xattrs: !job.attributes.named },
            makes_path: true,
            last_run: None,
        }
    }
}

/// Attributes that were not asked for by name: they are kept where the far side can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wishes {
    /// Access control lists.
    pub acls: bool,
    /// Extended attributes.
    pub xattrs: bool,
}

/// A way to the far side and the path there.
#[derive(Clone, Debug)]
pub struct Way {
    /// The place as it was written or put together.
    pub place: Place,
    /// How ssh is called, unless the options name another remote shell.
    pub ssh: SshOptions,
}

/// What the process around us offers; a library does not look for it by itself.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The name that a daemon's module is asked by, where no other is given.
    pub user: String,
    /// The value of `RSYNC_RSH`.
    pub rsync_rsh: Option<Vec<u8>>,
    /// The value of `RSYNC_PASSWORD`.
    pub rsync_password: Option<Vec<u8>>,
    /// The home directory, for `.cvsignore`.
    pub home: Option<PathBuf>,
    /// The value of `CVSIGNORE`.
    pub cvsignore: Option<Vec<u8>>,
    /// Whether a person can be asked.
    pub terminal: bool,
    /// The process's file mode mask.
    pub umask: u32,
}

impl std::fmt::Display for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = |bytes: &[u8]| wire::escape::printable(bytes);
        match &self.place {
            Place::Local(path) => f.write_str(&text(path)),
            Place::Shell { host, path, .. } => write!(f, "{host}:{}", text(path)),
            Place::Daemon { host, port, module, path, .. } => {
                let (module, path) = (text(module), text(path));
                match port {
                    Some(port) => write!(f, "rsync://{host}:{port}/{module}/{path}"),
                    None => write!(f, "{host}::{module}/{path}"),
                }
            }
            _ => f.write_str("the far side"),
        }
    }
}

impl Way {
    /// Returns the way to a path on a target.
    pub fn to(target: &Target, path: Vec<u8>) -> Self {
        let host = target.host.clone();
        let place = match &target.via {
            Via::Daemon(daemon) => Place::Daemon {
                user: daemon.user.clone(),
                host,
                port: Some(daemon.port),
                module: daemon.module.clone().into_bytes(),
                path,
            },
            Via::Ssh => Place::Shell { user: target.ssh.user.clone(), host, path },
        };
        let ssh = SshOptions {
            port: target.ssh.port,
            identity: target.ssh.identity.clone(),
            cipher: target.ssh.cipher.clone(),
            options: target.ssh.options.clone(),
            ..SshOptions::default()
        };
        Self { place, ssh }
    }

    /// Returns the route, and the path for the far side's argument list.
    pub(crate) fn route(
        &self,
        options: &Options,
        around: &Surroundings,
    ) -> Result<(Route, Vec<u8>), transport::Error> {
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
        };
        let not_here = || transport::Error::BadPlace {
            place: "the destination".to_owned(),
            why: "it is on this machine, and this version copies to other machines only",
        };
        let route = Route::to(&self.place, &choice).ok_or_else(not_here)?;
        Ok((route, far_path(&self.place)))
    }
}

/// The path as the server gets it: with the module in front, where there is one.
fn far_path(place: &Place) -> Vec<u8> {
    match place {
        Place::Daemon { module, path, .. } => [module.as_slice(), b"/", path].concat(),
        Place::Shell { path, .. } | Place::Local(path) => path.clone(),
        _ => Vec::new(),
    }
}
