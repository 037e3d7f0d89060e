//! Which words start rsync on another machine through a remote shell?

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use wire::escape::printable;
use wire::options::IpFamily;

use crate::error::Error;
use crate::shell_words;

/// Whether a person sits at a terminal who can be asked for a password or a host key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Terminal {
    /// Nobody can be asked: ssh runs in batch mode and fails instead.
    #[default]
    Absent,
    /// ssh may ask.
    Present,
}

/// What the configuration says about ssh; everything else is the user's `ssh_config`.
#[derive(Clone, Debug, Default)]
pub struct SshOptions {
    /// The port (`-p`).
    pub port: Option<u16>,
    /// The key file (`-i`).
    pub identity: Option<PathBuf>,
    /// The cipher list (`-c`).
    pub cipher: Option<String>,
    /// Further `-o` options such as `ServerAliveInterval=15`.
    pub options: Vec<String>,
    /// The limit for connecting, in seconds (`ConnectTimeout`).
    pub connect_timeout: Option<u64>,
    /// Whether ssh may ask.
    pub terminal: Terminal,
}

/// A remote-shell command without the host: ssh with its options, or the words of `-e`.
#[derive(Clone, Debug)]
pub struct RemoteShell {
    words: Vec<Vec<u8>>,
    terminal: Terminal,
}

impl RemoteShell {
    /// Makes the ssh command: no terminal there, no X11, and no compression of its own.
    ///
    /// The given options come before ours, because ssh takes the first value it meets.
    pub fn ssh(options: &SshOptions) -> Self {
        let mut words: Vec<Vec<u8>> = vec![b"ssh".to_vec(), b"-T".to_vec(), b"-x".to_vec()];
        let mut pair = |letter: &[u8], value: &[u8]| {
            words.push(letter.to_vec());
            words.push(value.to_vec());
        };
        for option in &options.options {
            pair(b"-o", option.as_bytes());
        }
        pair(b"-o", b"Compression=no");
        if options.terminal == Terminal::Absent {
            pair(b"-o", b"BatchMode=yes");
        }
        if let Some(seconds) = options.connect_timeout {
            pair(b"-o", format!("ConnectTimeout={seconds}").as_bytes());
        }
        if let Some(port) = options.port {
            pair(b"-p", port.to_string().as_bytes());
        }
        if let Some(identity) = &options.identity {
            pair(b"-i", identity.as_os_str().as_bytes());
        }
        if let Some(cipher) = &options.cipher {
            pair(b"-c", cipher.as_bytes());
        }
        RemoteShell { words, terminal: options.terminal }
    }

    /// Takes the text of `-e` as it is, split by rsync's rules.
    pub fn command(text: &[u8], terminal: Terminal) -> Result<Self, Error> {
        Ok(RemoteShell { words: shell_words::split(text)?, terminal })
    }

    pub(crate) fn terminal(&self) -> Terminal {
        self.terminal
    }

    /// Returns the program's name, made printable.
    pub(crate) fn program(&self) -> String {
        printable(self.words.first().map_or(b"", Vec::as_slice))
    }

    /// Puts the whole command together: shell, user, host, the rsync there, and its arguments.
    ///
    /// `rsync_path` stays one word and unescaped: the shell there splits it, so that
    /// `sudo rsync` works (docs/protocol/connection.md, "The command").
    pub(crate) fn argv(&self, host: &FarHost, arguments: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut argv = self.words.clone();
        if let Some(user) = &host.user {
            argv.push(b"-l".to_vec());
            argv.push(user.as_bytes().to_vec());
        }
        if self.words.first().is_some_and(|program| file_name(program) == b"ssh") {
            argv.extend(host.family.map(|family| family_option(family).to_vec()));
        }
        argv.push(host.name.as_bytes().to_vec());
        argv.push(host.rsync_path.clone());
        argv.extend_from_slice(arguments);
        argv
    }

    /// Says whether the words name a login already, as `-e "ssh -l backup"` does.
    pub(crate) fn names_user(&self) -> bool {
        self.words.iter().rev().skip(1).any(|word| word == b"-l")
    }
}

/// A machine that a remote shell leads to, and the rsync there.
#[derive(Clone, Debug)]
pub struct FarHost {
    /// The host as the remote shell knows it.
    pub name: String,
    /// The login (`-l`).
    pub user: Option<String>,
    /// The address family to insist on; only ssh is told.
    pub family: Option<IpFamily>,
    /// The command that starts rsync there, for the shell there to split.
    pub rsync_path: Vec<u8>,
}

fn file_name(program: &[u8]) -> &[u8] {
    program.rsplit(|&byte| byte == b'/').next().unwrap_or(program)
}

fn family_option(family: IpFamily) -> &'static [u8] {
    match family {
        IpFamily::V4 => b"-4",
        IpFamily::V6 => b"-6",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(user: Option<&str>, family: Option<IpFamily>) -> FarHost {
        FarHost {
            name: "nas".into(),
            user: user.map(str::to_owned),
            family,
            rsync_path: b"sudo rsync".to_vec(),
        }
    }

    fn joined(argv: Vec<Vec<u8>>) -> String {
        argv.iter().map(|word| format!("[{}]", printable(word))).collect()
    }

    #[test]
    fn an_unattended_ssh_asks_nothing_and_keeps_the_host_key_check() {
        let ssh = RemoteShell::ssh(&SshOptions {
            port: Some(2222),
            identity: Some("/etc/repl/id".into()),
            cipher: Some("aes128-gcm@openssh.com".into()),
            options: vec!["ServerAliveInterval=15".into()],
            connect_timeout: Some(20),
            terminal: Terminal::Absent,
        });
        let argv = joined(ssh.argv(&host(Some("me"), Some(IpFamily::V6)), &[b"--server".to_vec()]));
        assert_eq!(
            argv,
            "[ssh][-T][-x][-o][ServerAliveInterval=15][-o][Compression=no][-o][BatchMode=yes]\
             [-o][ConnectTimeout=20][-p][2222][-i][/etc/repl/id][-c][aes128-gcm@openssh.com]\
             [-l][me][-6][nas][sudo rsync][--server]"
        );
        assert!(!argv.contains("StrictHostKeyChecking"));
    }

    #[test]
    fn at_a_terminal_ssh_may_ask() {
        let ssh =
            RemoteShell::ssh(&SshOptions { terminal: Terminal::Present, ..Default::default() });
        let argv = joined(ssh.argv(&host(None, None), &[]));
        assert_eq!(argv, "[ssh][-T][-x][-o][Compression=no][nas][sudo rsync]");
    }

    #[test]
    fn a_command_of_the_user_is_taken_as_it_is() {
        let shell = RemoteShell::command(b"'/opt/my sh' -l you", Terminal::Absent).unwrap();
        assert!(shell.names_user());
        let argv = joined(shell.argv(&host(None, Some(IpFamily::V4)), &[]));
        assert_eq!(argv, "[/opt/my sh][-l][you][nas][sudo rsync]");
        assert!(!RemoteShell::command(b"ssh -l", Terminal::Absent).unwrap().names_user());
    }
}
