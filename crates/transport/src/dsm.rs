//! What do the private exit codes of a Synology's rsync mean?

use crate::advice::Words;

/// Finds a Synology's own code, given as the exit code or as `(code NN)` in the text.
///
/// The text is in lower case.
pub(crate) fn advice(code: Option<i32>, text: &str) -> Option<Words> {
    let named = CODES.iter().find(|(known, ..)| text.contains(&format!("(code {known})")));
    let found = named.or_else(|| CODES.iter().find(|(known, ..)| Some(*known) == code));
    found.map(|&(_, what, hint)| (what, hint))
}

const CODES: &[(i32, &str, &str)] = &[
    (40, "the Synology reports a system error", "look at its log centre"),
    (41, "the Synology's volume is full", "free space there"),
    (42, "the Synology could not connect", "check its network and its rsync service"),
    (
        43,
        "the Synology's rsync service is off, or the path is no registered shared folder",
        "tick Control Panel > File Services > rsync > Enable rsync service, and copy into a shared \
         folder that was created in the Control Panel",
    ),
    (44, "the Synology did not accept the password", "check the rsync account's password there"),
    (45, "a path is too long for the Synology", "shorten the path"),
    (46, "a path is too long for the Synology", "shorten the path"),
    (
        47,
        "the Synology has no NetBackup module",
        "create the shared folder NetBackup there, or name another one",
    ),
    (48, "the Synology's rsync does not support an option", "leave the named option out"),
    (49, "ssh is off on the Synology", "tick Control Panel > Terminal & SNMP > Enable SSH service"),
    (
        50,
        "the Synology blocks this machine's address",
        "remove it from Control Panel > Security > Protection there",
    ),
    (51, "the Synology does not know the command", "use the plain rsync path there"),
    (
        52,
        "the rsync service is off for this user on the Synology",
        "allow rsync for the user under Control Panel > User > Applications",
    ),
    (
        53,
        "the user has no right to the shared folder on the Synology",
        "give the user read/write on that folder",
    ),
    (54, "the user's quota on the Synology is used up", "raise the quota or free space there"),
];

#[cfg(test)]
mod tests {
    use super::advice;

    #[test]
    fn the_code_is_known_from_the_text_and_from_the_exit_code() {
        let text = "permission denied, please try again.\nrsync service is no running (code 43)";
        assert!(advice(Some(255), text).unwrap().0.contains("rsync service is off"));
        assert!(advice(Some(52), "").unwrap().0.contains("off for this user"));
        assert_eq!(advice(Some(23), "partial transfer (code 23)"), None);
    }
}
