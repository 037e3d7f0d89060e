//! What does the process around us say: the environment, the terminal, the file mode mask?

use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use scheduler::sync::Surroundings;

/// Returns what decides where configuration and state are.
pub(crate) fn places() -> scheduler::places::Surroundings {
    scheduler::places::Surroundings {
        xdg_config_home: variable("XDG_CONFIG_HOME").map(PathBuf::from),
        xdg_state_home: variable("XDG_STATE_HOME").map(PathBuf::from),
        home: variable("HOME").map(PathBuf::from),
        is_root: rustix::process::geteuid().is_root(),
    }
}

/// Returns what a copy may use.
pub(crate) fn surroundings() -> Surroundings {
    let bytes = |name| variable(name).map(OsStringExt::into_vec);
    let user = ["USER", "LOGNAME"].into_iter().find_map(variable);
    Surroundings {
        user: user.map_or_else(|| "nobody".into(), |name| name.to_string_lossy().into_owned()),
        rsync_rsh: bytes("RSYNC_RSH"),
        rsync_password: bytes("RSYNC_PASSWORD"),
        rsync_connect_prog: bytes("RSYNC_CONNECT_PROG"),
        rsync_shell: bytes("RSYNC_SHELL"),
        rsync_proxy: bytes("RSYNC_PROXY"),
        home: variable("HOME").map(PathBuf::from),
        cvsignore: bytes("CVSIGNORE"),
        terminal: std::io::stdin().is_terminal(),
        umask: umask(),
        state_dir: Some(places().state_dir()),
    }
}

/// Reads the mask from what the kernel tells of us: asking for it by `umask` would change it.
fn umask() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    line.and_then(|text| u32::from_str_radix(text.trim(), 8).ok()).unwrap_or(0o022)
}

/// Returns a variable of the environment that is set to something.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
