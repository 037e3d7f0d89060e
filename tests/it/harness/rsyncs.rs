//! Which real rsyncs do the tests run against, and where are they?

use std::path::PathBuf;

/// A stock rsync on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rsync {
    /// The machine's own.
    Installed,
    /// Debian bookworm's first one.
    V3_2_7,
    /// Debian bullseye's, which speaks protocol 31.
    V3_2_3,
}

impl Rsync {
    /// Every stock rsync that the tests know, the machine's own first.
    pub(crate) const ALL: [Rsync; 3] = [Rsync::Installed, Rsync::V3_2_7, Rsync::V3_2_3];

    /// Returns the program, and says how to get it when it is not there.
    pub(crate) fn path(self) -> PathBuf {
        let path = match self {
            Rsync::Installed => PathBuf::from("/usr/bin/rsync"),
            Rsync::V3_2_7 => fetched("3.2.7"),
            Rsync::V3_2_3 => fetched("3.2.3"),
        };
        assert!(
            path.exists(),
            "no {}: `sh tests/run.sh` installs what the tests need",
            path.display()
        );
        path
    }

    /// Returns the highest protocol that it speaks.
    pub(crate) fn newest_protocol(self) -> u32 {
        match self {
            Rsync::Installed | Rsync::V3_2_7 => 32,
            Rsync::V3_2_3 => 31,
        }
    }
}

fn fetched(version: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/rsyncs").join(version).join("rsync")
}
