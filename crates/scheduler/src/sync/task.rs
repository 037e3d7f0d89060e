//! What is to be synced, where to, and what of the surroundings it may use.

use std::path::PathBuf;

use transport::{Place, SshOptions};
use wire::options::Options;

use crate::config::{DefaultExcludes, Job, JobWork, Target, Via};
use crate::history::RunRecord;

/// One copy: what one job takes from one place to another.
#[derive(Clone, Debug)]
pub struct Task {
    /// The job's name, or what a copy by hand is called.
    pub name: String,
    /// The session's options.
    pub options: Options,
    /// What is copied, and in which direction.
    pub work: Work,
    /// The far place: where a push goes to and a pull comes from.
    pub way: Way,
    /// What may be left out where the far side has no such thing.
    pub wishes: Wishes,
    /// Whether missing directories of the destination path are made.
    pub makes_path: bool,
    /// The job's last complete run.
    pub last_run: Option<RunRecord>,
}

/// What is copied, and in which direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// These paths of this machine go to the way's place.
    Push(Vec<PathBuf>),
    /// These paths of the far side come here.
    Pull {
        /// As the far side knows them, without the module.
        from: Vec<Vec<u8>>,
        /// The directory that gets them.
        into: PathBuf,
    },
}

impl Task {
    /// Describes a copy of paths, with what a job has by default.
    pub fn by_hand(way: Way, work: Work) -> Self {
        let mut options = Options::archive();
        options.numeric_ids = true;
        options.hard_links = 1;
        options.acls = true;
        options.xattrs = 1;
        let name = match work {
            Work::Push(_) => "push",
            Work::Pull { .. } => "pull",
        };
        Self {
            name: name.into(),
            options,
            work,
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
        let (work, path) = match &job.work {
            JobWork::Push { sources } => {
                (Work::Push(sources.clone()), target.destination(&job.name))
            }
            JobWork::Pull { from, into } => {
                let from = from.iter().map(|name| target.below(name)).collect();
                (Work::Pull { from, into: into.clone() }, target.below(""))
            }
        };
        Self {
            name: job.name.clone(),
            options,
            work,
            way: Way::to(target, path),
            wishes: Wishes { acls: !job.attributes.named, xattrs: !job.attributes.named },
            makes_path: true,
            last_run: None,
        }
    }
}

impl std::fmt::Display for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.work {
            Work::Push(_) => write!(f, "{} to {}", self.name, self.way),
            Work::Pull { .. } => write!(f, "{} from {}", self.name, self.way),
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
    /// The value of `RSYNC_CONNECT_PROG`.
    pub rsync_connect_prog: Option<Vec<u8>>,
    /// The value of `RSYNC_SHELL`.
    pub rsync_shell: Option<Vec<u8>>,
    /// The value of `RSYNC_PROXY`.
    pub rsync_proxy: Option<Vec<u8>>,
    /// The home directory, for `.cvsignore`.
    pub home: Option<PathBuf>,
    /// The value of `CVSIGNORE`.
    pub cvsignore: Option<Vec<u8>>,
    /// Whether a person can be asked.
    pub terminal: bool,
    /// The process's file mode mask.
    pub umask: u32,
    /// Where is kept what one run has to know of another.
    pub state_dir: Option<PathBuf>,
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
            Via::Path => Place::Local(path),
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
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::Config;

    fn task(target: &str, keys: &str) -> Task {
        let text = format!("[targets.nas]\n{target}\n[jobs.j]\ntarget = \"nas\"\n{keys}\n");
        let config = Config::parse(&text, Path::new("t.toml")).unwrap();
        Task::of_job(&config.targets[0], &config.jobs[0], DefaultExcludes::TakenIn)
    }

    #[test]
    fn a_target_is_the_place_that_a_person_would_type() {
        let push = "sources = [\"/a\"]";
        let daemon =
            "host = \"nas\"\nvia = \"daemon\"\nmodule = \"m\"\npath = \"p/\"\nuser = \"u\"";
        let typed = Place::parse(b"rsync://u@nas:873/m/p/j/").unwrap();
        assert_eq!(task(daemon, push).way.place, typed);
        let shell = "host = \"nas\"\nvia = \"ssh\"\npath = \"/v\"\nssh = { user = \"u\" }";
        assert_eq!(task(shell, push).way.place, Place::parse(b"u@nas:/v/j/").unwrap());
        let disk = "via = \"path\"\npath = \"/mnt/usb\"";
        assert_eq!(task(disk, push).way.place, Place::Local(b"/mnt/usb/j/".to_vec()));

        let pull = "direction = \"pull\"\nfrom = [\"a\", \"b/\"]\ninto = \"/c\"";
        let fetched = task(daemon, pull);
        let Work::Pull { from, .. } = &fetched.work else { panic!("{fetched:?}") };
        let paths: Vec<_> = from.iter().map(|path| fetched.way.far_path(path)).collect();
        assert_eq!(paths, [b"m/p/a".to_vec(), b"m/p/b/".to_vec()]);
    }
}
