//! Where are the configuration and the state of this user?

use std::path::{Path, PathBuf};

use crate::error::Error;

/// The name of the configuration in each place.
const CONFIG_NAME: &str = "repl/repl.toml";
/// The configuration of the machine.
const SYSTEM_CONFIG: &str = "/etc/repl/repl.toml";
/// The state of the machine's own runs.
const SYSTEM_STATE: &str = "/var/lib/repl";

/// Holds what the environment says; whoever calls reads it.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// `XDG_CONFIG_HOME`.
    pub xdg_config_home: Option<PathBuf>,
    /// `XDG_STATE_HOME`.
    pub xdg_state_home: Option<PathBuf>,
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// Whether root runs this.
    pub is_root: bool,
}

impl Surroundings {
    /// Returns the configuration to read: `given`, else the user's, else the machine's.
    ///
    /// # Errors
    ///
    /// Says where it was looked for if there is none. A file that is there and cannot be read is
    /// found all the same: reading it will say why.
    pub fn config_file(&self, given: Option<&Path>) -> Result<PathBuf, Error> {
        if let Some(given) = given {
            return Ok(given.to_path_buf());
        }
        let tried: Vec<PathBuf> = base(&self.xdg_config_home, &self.home, ".config")
            .map(|base| base.join(CONFIG_NAME))
            .into_iter()
            .chain([PathBuf::from(SYSTEM_CONFIG)])
            .collect();
        let found = tried.iter().find(|path| !matches!(path.try_exists(), Ok(false))).cloned();
        found.ok_or(Error::NoConfig { tried })
    }

    /// Returns the directory for what is kept between runs; it need not exist yet. Root's is the
    /// machine's, unless the environment names another.
    pub fn state_dir(&self) -> PathBuf {
        if self.is_root && self.xdg_state_home.is_none() {
            return PathBuf::from(SYSTEM_STATE);
        }
        let base = base(&self.xdg_state_home, &self.home, ".local/state");
        base.map_or_else(|| PathBuf::from(SYSTEM_STATE), |base| base.join("repl"))
    }
}

/// Returns an XDG base directory; a relative one counts as not set.
fn base(xdg: &Option<PathBuf>, home: &Option<PathBuf>, below_home: &str) -> Option<PathBuf> {
    let absolute = |path: &&PathBuf| path.is_absolute();
    let xdg = xdg.as_ref().filter(absolute).cloned();
    xdg.or_else(|| home.as_ref().filter(absolute).map(|home| home.join(below_home)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_given_file_wins_then_the_users_then_the_machines() {
        let home = tempfile::tempdir().unwrap();
        let mut around =
            Surroundings { home: Some(home.path().to_path_buf()), ..Surroundings::default() };
        let given = Path::new("/no/such.toml");
        assert_eq!(around.config_file(Some(given)).unwrap(), given);

        let users = home.path().join(".config/repl/repl.toml");
        std::fs::create_dir_all(users.parent().unwrap()).unwrap();
        std::fs::write(&users, "").unwrap();
        assert_eq!(around.config_file(None).unwrap(), users);

        around.xdg_config_home = Some("relative".into());
        assert_eq!(around.config_file(None).unwrap(), users);

        around.xdg_config_home = Some(home.path().join("elsewhere"));
        if let Err(error) = around.config_file(None) {
            let text = error.to_string();
            assert!(text.contains("elsewhere/repl/repl.toml and /etc/repl/repl.toml"), "{text}");
            assert_eq!(error.exit_code(), 1);
        }
    }

    #[test]
    fn state_is_kept_with_the_machine_or_with_the_user() {
        let mut around = Surroundings { home: Some("/home/u".into()), ..Surroundings::default() };
        assert_eq!(around.state_dir(), Path::new("/home/u/.local/state/repl"));
        around.is_root = true;
        assert_eq!(around.state_dir(), Path::new("/var/lib/repl"));
        for is_root in [false, true] {
            around.is_root = is_root;
            around.xdg_state_home = Some("/state".into());
            assert_eq!(around.state_dir(), Path::new("/state/repl"));
        }
    }
}
