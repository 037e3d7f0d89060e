//! What does the transport need to know to reach a target?

use transport::{Place, SshOptions, Terminal};

use super::{Job, Target, Via};

impl Target {
    /// Returns where a job's copy is, as if it had been typed as `host::module/path`.
    pub fn place(&self, job: &Job) -> Place {
        let path = self.destination(job);
        match &self.via {
            Via::Daemon(daemon) => Place::Daemon {
                user: daemon.user.clone(),
                host: self.host.clone(),
                port: Some(daemon.port),
                module: daemon.module.clone().into_bytes(),
                path,
            },
            Via::Ssh => Place::Shell { user: self.ssh.user.clone(), host: self.host.clone(), path },
        }
    }

    /// Returns how ssh is called for this target.
    pub fn ssh_options(&self, terminal: Terminal) -> SshOptions {
        SshOptions {
            port: self.ssh.port,
            identity: self.ssh.identity.clone(),
            cipher: self.ssh.cipher.clone(),
            options: self.ssh.options.clone(),
            connect_timeout: None,
            terminal,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::Config;

    fn place(target: &str) -> Place {
        let job = "[jobs.j]\ntarget = \"nas\"\nsources = [\"/a\"]\n";
        let text = format!("[targets.nas]\n{target}\n{job}");
        let config = Config::parse(&text, Path::new("t.toml")).unwrap();
        config.targets[0].place(&config.jobs[0])
    }

    #[test]
    fn a_target_is_the_place_that_a_person_would_type() {
        let daemon =
            "host = \"nas\"\nvia = \"daemon\"\nmodule = \"m\"\npath = \"p/\"\nuser = \"u\"";
        let typed = Place::parse(b"rsync://u@nas:873/m/p/j/").unwrap();
        assert_eq!(place(daemon), typed);

        let shell = "host = \"nas\"\nvia = \"ssh\"\npath = \"/v\"\nssh = { user = \"u\" }";
        assert_eq!(place(shell), Place::parse(b"u@nas:/v/j/").unwrap());
    }
}
