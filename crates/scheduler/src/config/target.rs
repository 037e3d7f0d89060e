//! Where do the copies go, and how is it reached?

use std::path::PathBuf;

use toml::Spanned;

use super::check::{self, Below};
use super::file::{SshKeys, TargetKeys, Text, ViaKey};
use super::problem::Problems;

/// The port of an rsync daemon.
const DAEMON_PORT: u16 = 873;

/// Is one machine that jobs go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its name in the configuration.
    pub name: String,
    /// The host name or address; empty for a disk of this machine.
    pub host: String,
    /// How it is reached.
    pub via: Via,
    /// The directory that holds the jobs, below the module, on the far machine or on this one;
    /// without a slash at its end, empty for the module itself or the login directory.
    pub path: String,
    /// How ssh is called; also given where `via` is the daemon, for what only ssh can do.
    pub ssh: Ssh,
    /// The rsync program on the far machine.
    pub rsync_path: Option<String>,
}

/// Tells how a target is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Via {
    /// By its rsync daemon.
    Daemon(Daemon),
    /// By ssh.
    Ssh,
    /// It is a directory of this machine, such as a mounted disk.
    Path,
}

/// Describes a module of an rsync daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Daemon {
    /// The TCP port.
    pub port: u16,
    /// The module.
    pub module: String,
    /// The account of the module.
    pub user: Option<String>,
    /// The file that holds the account's password.
    pub password_file: Option<PathBuf>,
}

/// Says how ssh is called; what is absent is left to the user's ssh configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ssh {
    /// The login.
    pub user: Option<String>,
    /// The port.
    pub port: Option<u16>,
    /// The private key.
    pub identity: Option<PathBuf>,
    /// The list of ciphers; `auto` in the file is none here.
    pub cipher: Option<String>,
    /// Further `-o` options, each `Name=value`.
    pub options: Vec<String>,
}

impl Target {
    /// Returns the directory of a job, with a slash at its end: `path/job/`.
    ///
    /// Over the daemon it is below the module, over ssh below the login directory or absolute.
    pub fn destination(&self, job: &str) -> Vec<u8> {
        [self.below(job).as_slice(), b"/"].concat()
    }

    /// Returns a path below the target's own; empty for the target itself.
    pub fn below(&self, path: &str) -> Vec<u8> {
        match (self.path.as_str(), path) {
            ("", path) => path.to_string(),
            (base, "") => base.to_string(),
            ("/", path) => format!("/{path}"),
            (base, path) => format!("{base}/{path}"),
        }
        .into_bytes()
    }
}

impl TargetKeys {
    /// Checks what the keys say together.
    pub(super) fn check(self, name: String, problems: &mut Problems<'_>) -> Target {
        for user in self.user.iter().chain(self.ssh.iter().filter_map(|ssh| ssh.user.as_ref())) {
            check::user(user, problems);
        }
        let below = match self.via.get_ref() {
            ViaKey::Daemon => Below::Module,
            ViaKey::Path => Below::Here,
            ViaKey::Ssh | ViaKey::Tls => Below::Login,
        };
        if let Some(path) = &self.path {
            check::far_path(path, below, problems);
        }
        let via = self.check_via(problems);
        let path = self.path.map(Spanned::into_inner).unwrap_or_default();
        Target {
            name,
            host: self.host.map(Spanned::into_inner).unwrap_or_default(),
            via,
            path: without_slash(path),
            ssh: self.ssh.map(|ssh| ssh.check(problems)).unwrap_or_default(),
            rsync_path: self.rsync_path.map(|program| not_empty(program, problems)),
        }
    }

    fn check_via(&self, problems: &mut Problems<'_>) -> Via {
        match self.via.get_ref() {
            ViaKey::Path => {
                self.check_disk(problems);
                return Via::Path;
            }
            ViaKey::Daemon | ViaKey::Ssh | ViaKey::Tls => match &self.host {
                Some(host) => check::host(host, problems),
                None => problems.add(self.via.span(), "such a target needs the key `host`"),
            },
        }
        match self.via.get_ref() {
            ViaKey::Daemon => Via::Daemon(self.check_daemon(problems)),
            ViaKey::Tls => {
                let what = check::not_yet("this way to a target");
                let message = format!("{what}; take \"daemon\", \"ssh\" or \"path\"");
                problems.add(self.via.span(), message);
                Via::Ssh
            }
            ViaKey::Ssh | ViaKey::Path => {
                self.refuse_daemon_keys(problems);
                Via::Ssh
            }
        }
    }

    /// A disk has a path and nothing else.
    fn check_disk(&self, problems: &mut Problems<'_>) {
        if self.path.is_none() {
            problems.add(self.via.span(), "a target via \"path\" needs the key `path`");
        }
        let spans = [
            ("host", self.host.as_ref().map(Spanned::span)),
            ("module", self.module.as_ref().map(Spanned::span)),
            ("port", self.port.as_ref().map(Spanned::span)),
            ("user", self.user.as_ref().map(Spanned::span)),
            ("password_file", self.password_file.as_ref().map(Spanned::span)),
            ("rsync_path", self.rsync_path.as_ref().map(Spanned::span)),
        ];
        for (key, span) in spans {
            if let Some(span) = span {
                let message = format!("the key `{key}` is for another machine, not for a path");
                problems.add_key(key, span, message);
            }
        }
        if self.ssh.is_some() {
            problems.add(self.via.span(), "the key `ssh` is for another machine, not for a path");
        }
    }

    fn check_daemon(&self, problems: &mut Problems<'_>) -> Daemon {
        let module = match &self.module {
            Some(module) => {
                check::module(module, problems);
                module.get_ref().clone()
            }
            None => {
                let message = "a target via \"daemon\" needs the key `module`";
                problems.add(self.via.span(), message);
                String::new()
            }
        };
        Daemon {
            port: self.port.as_ref().map_or(DAEMON_PORT, |port| check_port(port, problems)),
            module,
            user: self.user.as_ref().map(|user| user.get_ref().clone()),
            password_file: self.password_file.clone().map(|file| local_file(file, problems)),
        }
    }

    /// A key that would change nothing is a mistake, not a decoration.
    fn refuse_daemon_keys(&self, problems: &mut Problems<'_>) {
        let spans = [
            ("module", self.module.as_ref().map(Spanned::span), "only a daemon has modules"),
            ("port", self.port.as_ref().map(Spanned::span), "ssh has `port` in its own table"),
            ("user", self.user.as_ref().map(Spanned::span), "ssh has `user` in its own table"),
            (
                "password_file",
                self.password_file.as_ref().map(Spanned::span),
                "ssh has `identity` in its own table",
            ),
        ];
        for (key, span, hint) in spans {
            if let Some(span) = span {
                let message = format!("the key `{key}` is for via = \"daemon\": {hint}");
                problems.add_key(key, span, message);
            }
        }
    }
}

impl SshKeys {
    fn check(self, problems: &mut Problems<'_>) -> Ssh {
        for option in &self.options {
            if !option.get_ref().contains(['=', ' ']) || option.get_ref().starts_with('-') {
                problems.add(option.span(), "an ssh option looks like \"Name=value\"");
            }
        }
        let cipher = self.cipher.map(|cipher| not_empty(cipher, problems));
        Ssh {
            user: self.user.map(Spanned::into_inner),
            port: self.port.map(|port| check_port(&port, problems)),
            identity: self.identity.map(|file| local_file(file, problems)),
            cipher: cipher.filter(|cipher| cipher != "auto"),
            options: self.options.into_iter().map(Spanned::into_inner).collect(),
        }
    }
}

fn check_port(port: &Spanned<u16>, problems: &mut Problems<'_>) -> u16 {
    if *port.get_ref() == 0 {
        problems.add(port.span(), "0 is no port");
    }
    *port.get_ref()
}

/// Takes the path of a file on this machine; a job runs from anywhere, so it must be absolute.
fn local_file(file: Text, problems: &mut Problems<'_>) -> PathBuf {
    if !file.get_ref().starts_with('/') {
        problems.add(file.span(), "the file's path must be absolute");
    }
    PathBuf::from(file.into_inner())
}

fn not_empty(text: Text, problems: &mut Problems<'_>) -> String {
    if text.get_ref().trim().is_empty() {
        problems.add(text.span(), "this is empty; leave the key out instead");
    }
    text.into_inner()
}

fn without_slash(path: String) -> String {
    match path.trim_end_matches('/') {
        "" if path.starts_with('/') => "/".to_string(),
        trimmed => trimmed.to_string(),
    }
}
