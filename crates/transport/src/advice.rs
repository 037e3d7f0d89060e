//! What do the known texts and codes of a far side mean, and what is to be done about them?

use crate::dsm;

/// A known trouble of the far side, in our words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// What is the matter.
    pub what: String,
    /// What to do.
    pub hint: String,
}

/// Looks for known trouble at the end of a failed run.
///
/// `code` is the exit code of the far side or of the remote shell, `stderr` what was written there,
/// `messages` the texts that came inside the protocol. The most specific match counts.
pub fn translate(code: Option<i32>, stderr: &str, messages: &[String]) -> Option<Advice> {
    let text = messages.iter().fold(stderr.to_lowercase(), |mut text, message| {
        text.push('\n');
        text.push_str(&message.to_lowercase());
        text
    });
    let known = dsm::advice(code, &text)
        .or_else(|| KNOWN.iter().find(|known| known.matches(&text)).map(Known::words))
        .or_else(|| by_code(code?))?;
    Some(Advice { what: known.0.to_owned(), hint: known.1.to_owned() })
}

/// What is the matter, and what to do.
pub(crate) type Words = (&'static str, &'static str);

struct Known {
    /// Lower case; one of them has to occur.
    any: &'static [&'static str],
    what: &'static str,
    hint: &'static str,
}

impl Known {
    fn matches(&self, text: &str) -> bool {
        self.any.iter().any(|part| text.contains(part))
    }

    fn words(&self) -> Words {
        (self.what, self.hint)
    }
}

fn by_code(code: i32) -> Option<Words> {
    match code {
        126 => Some((
            "rsync cannot be run on the far side",
            "check the rights of the program that --rsync-path names",
        )),
        127 => Some((
            "rsync was not found on the far side",
            "install it there, or name it with --rsync-path (rsync_path in the configuration); \
             on a Synology that is /usr/syno/bin/rsync or /usr/bin/rsync",
        )),
        255 => Some((
            "ssh could not connect",
            "try the same `ssh HOST` by hand; its own message is shown here",
        )),
        _ => None,
    }
}

/// Special ones before general ones: the first that matches counts.
const KNOWN: &[Known] = &[
    // The remote shell.
    Known {
        any: &["remote host identification has changed"],
        what: "the far side's ssh host key is not the known one",
        hint: "if the machine was set up anew, remove the old key with `ssh-keygen -R HOST`; \
               otherwise find out who answers there",
    },
    Known {
        any: &["host key verification failed", "no matching host key"],
        what: "the far side's ssh host key is not accepted",
        hint: "log in by hand once with `ssh HOST`, as the user that runs this, and compare the key",
    },
    Known {
        any: &[
            "permission denied (publickey",
            "permission denied (password",
            "permission denied (keyboard-interactive",
            "too many authentication failures",
        ],
        what: "the ssh login was not accepted",
        hint: "install this machine's key there with `ssh-copy-id USER@HOST`; unattended runs \
               cannot type a password",
    },
    Known {
        any: &["could not resolve hostname", "name or service not known"],
        what: "the host is unknown",
        hint: "check the name, or give the address instead",
    },
    Known {
        any: &["no matching cipher found", "unknown cipher type", "bad ssh2 cipher spec"],
        what: "the ssh cipher asked for is not there on both sides",
        hint: "leave the cipher to ssh (cipher = \"auto\"), or choose from `ssh -Q cipher`",
    },
    Known {
        any: &["bad owner or permissions on", "unprotected private key file"],
        what: "ssh does not trust one of its files",
        hint: "close the file that ssh names to others (chmod 600)",
    },
    Known {
        any: &["connect to host"],
        what: "ssh could not reach the far side",
        hint: "check that the machine is on, that ssh is switched on there, and the port",
    },
    Known {
        any: &["kex_exchange_identification", "ssh_exchange_identification"],
        what: "the far side closed the connection at ssh's greeting",
        hint: "too many logins or a block list there; check its ssh service and log",
    },
    Known {
        any: &["sudo: a terminal is required", "sudo: a password is required", "sudo: no tty"],
        what: "sudo on the far side asks for a password",
        hint: "allow that command there without one (NOPASSWD in sudoers)",
    },
    Known {
        any: &[
            "closed by remote host",
            "client_loop: send disconnect",
            "timeout, server",
            "connection reset by",
        ],
        what: "the connection to the far side broke",
        hint: "run it again, what arrived is kept; the ssh option ServerAliveInterval=15 notices \
               a broken line sooner",
    },
    // The daemon, before the transfer.
    Known {
        any: &["unknown module"],
        what: "the daemon has no such module",
        hint: "name a module, not a path (NetBackup, not volume1/NetBackup); \
               `rsync HOST::` lists them",
    },
    Known {
        any: &["access denied to"],
        what: "the daemon does not let this machine in",
        hint: "add this machine's address to `hosts allow` of the module",
    },
    Known {
        any: &["max connections"],
        what: "the daemon has as many connections as it allows",
        hint: "try again later; if nobody else is there, old connections hang on the far side",
    },
    Known {
        any: &["auth failed on module"],
        what: "user or password was not accepted",
        hint: "check user and password against the module's own accounts",
    },
    Known {
        any: &["chroot failed", "@error: chroot"],
        what: "the daemon cannot enter the module's directory as its root",
        hint: "the module's path is missing or its volume is not mounted there; \
               or set `use chroot = no`",
    },
    Known {
        any: &["chdir failed", "change_dir"],
        what: "a directory cannot be entered on the far side",
        hint: "check that the path is there, its volume is mounted, and the user may enter it",
    },
    // The receiver.
    Known {
        any: &["module is read only"],
        what: "the module is read only",
        hint: "allow writing to it there (`read only = no`); \
               a wrong module or a blank in the path says the same on a Synology",
    },
    Known {
        any: &["module is write only"],
        what: "the module is write only",
        hint: "allow reading from it there (`write only = no`)",
    },
    Known {
        any: &["no space left on device"],
        what: "the far side is full",
        hint: "free space there; what arrived is kept and the next run goes on from it",
    },
    Known {
        any: &["disk quota exceeded"],
        what: "the quota on the far side is used up",
        hint: "raise the quota of that user or folder, or free space there",
    },
    Known {
        any: &["read-only file system"],
        what: "the far side's file system is mounted read only",
        hint: "a file system that met an error is often switched to that; look at its log",
    },
    Known {
        any: &["acls are not supported on this", "sys_acl_set_file", "set_acl:"],
        what: "the far side cannot store ACLs",
        hint: "leave out -A there (attributes without \"acls\")",
    },
    Known {
        any: &["extended attributes are not supported on this", "rsync_xal_set", "lsetxattr"],
        what: "the far side cannot store these extended attributes",
        hint: "leave out -X there (attributes without \"xattrs\")",
    },
    Known {
        any: &["file name too long"],
        what: "a name is too long for the far side",
        hint: "an encrypted shared folder of a Synology takes names of up to 143 bytes",
    },
    Known {
        any: &["too many links"],
        what: "a file has more hard links than the far side's file system allows",
        hint: "ext4 allows 65000; leave out -H for that folder",
    },
    Known {
        any: &["no such file or directory (2)"],
        what: "a path is not there on the far side",
        hint: "create the directory above it there, or use --mkpath",
    },
    Known {
        any: &["operation not permitted", "permission denied"],
        what: "the far side's user may not write there",
        hint: "give that user the right to the folder, or leave out owner and group \
               (--no-owner --no-group)",
    },
    Known {
        any: &["requested action not supported", "unknown option", "unrecognized option"],
        what: "the far side's rsync does not know an option",
        hint: "its release is older; leave the named option out",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn what(code: Option<i32>, stderr: &str) -> String {
        translate(code, stderr, &[]).map(|advice| advice.what).unwrap_or_default()
    }

    #[test]
    fn the_special_text_wins_over_the_general_one() {
        let refused = "ssh: connect to host nas port 22: Connection refused";
        assert_eq!(what(Some(255), refused), "ssh could not reach the far side");
        let key = "me@nas: Permission denied (publickey,password).";
        assert_eq!(what(Some(255), key), "the ssh login was not accepted");
        let plain = "rsync: [receiver] mkstemp \"/x/.a\" failed: Permission denied (13)";
        assert_eq!(what(Some(23), plain), "the far side's user may not write there");
    }

    #[test]
    fn texts_inside_the_protocol_count_as_well() {
        let message = "rsync: write failed on \"x\": No space left on device (28)".to_owned();
        let advice = translate(Some(11), "", &[message]).unwrap();
        assert_eq!(advice.what, "the far side is full");
    }

    #[test]
    fn what_nobody_knows_gets_no_advice() {
        assert_eq!(translate(Some(23), "some files were not there", &[]), None);
        assert_eq!(translate(None, "", &[]), None);
    }

    #[test]
    fn every_pattern_can_match_because_it_is_in_lower_case() {
        for known in KNOWN {
            for part in known.any {
                assert_eq!(*part, part.to_lowercase());
            }
        }
    }
}
