//! Which cases are known to differ from stock, and why do we leave them so?
//!
//! A case of this list runs like any other; one that is equal again has to be taken out.

/// Whether a case differs at every run, or depends on which thread comes first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Always,
    Sometimes,
}

use How::{Always, Sometimes};

const OWN_HELP: &str = "help and version are in our own words";
const LIST_BYTES: &str =
    "the bytes of the file list are counted at other borders, the list is equal";
const ERROR_BYTES: &str = "error lines count among the bytes, and stock may lose its pipe";
const NO_DAEMON: &str = "there is no daemon yet";
const OTHER_CULPRIT: &str =
    "of several things that are wrong another one is named, with the same code";
const WHICH_FIRST: &str = "two threads tell of their troubles in either order";

const APART: &[(&str, How, &str)] = &[
    ("rsync", Always, OWN_HELP),
    ("rsync -a", Always, OWN_HELP),
    ("rsync --version | grep -c .", Always, OWN_HELP),
    ("rsync -V | head -n 1", Always, OWN_HELP),
    ("rsync --help | head -n 3", Always, OWN_HELP),
    ("rsync -h | head -n 1", Always, OWN_HELP),
    ("rsync --server", Always, OWN_HELP),
    (
        "rsync -ai -e 'sh late' --rsync-path=nosuchprogram src/ far:dst",
        Sometimes,
        "stock's code depends on which of its ends is seen first",
    ),
    ("first rsync -an --protocol=99 src/ dst", Always, "we refuse before a far side is asked"),
    ("first rsync -an --protocol=19 src/ dst", Always, "we refuse before a far side is asked"),
    ("rsync -a --protocol=28 src/ dst", Always, "protocols below 29 are not spoken"),
    ("rsync -a --inplace --partial-dir=x --delay-updates src/ dst", Always, OTHER_CULPRIT),
    ("rsync -a --del --delete-before --no-del src/ dst", Always, OTHER_CULPRIT),
    ("rsync -a -M-nosuch src/ dst", Always, "what -M says of the far half alone fails another way"),
    ("rsync -a --daemon --nosuch", Always, NO_DAEMON),
    ("rsync -a --config=x src/ dst", Always, NO_DAEMON),
    ("nobody rsync -a --delete -i src/ theirs", Sometimes, WHICH_FIRST),
    ("first rsync -an --copy-as=nosuch src/ dst", Always, "--copy-as is refused, whoever is named"),
    (
        "first rsync -ai -e nosuchshell src/ far:dst",
        Sometimes,
        "a remote shell that is not there is told in other words",
    ),
    ("nobody rsync -av src/ dst", Sometimes, ERROR_BYTES),
    ("rsync -av --old-args 'far:src/*e src/a*' dst", Sometimes, ERROR_BYTES),
    ("RSYNC_OLD_ARGS=1 rsync -av 'far:src/*e src/a*' dst", Sometimes, ERROR_BYTES),
    ("RSYNC_PROTECT_ARGS=1 rsync -av 'far:src/*e' dst", Sometimes, ERROR_BYTES),
    ("nobody rsync -ai --inplace src/one src/other mine/locked", Sometimes, WHICH_FIRST),
    (
        "nobody rsync -rlti --delete src/empty/ mine/locked",
        Always,
        "stock tries to change the mode of a folder of another owner, and says so",
    ),
    (
        "nobody rsync -ab --backup-dir=/nosuch/there src/one theirs",
        Always,
        "a backup that cannot be made costs one file, not the session",
    ),
    ("rsync -av --delete-after src/ dst", Always, "late deletions count among the bytes received"),
    (
        "rsync -a --delete-after --max-delete=2 -v src/ dst",
        Always,
        "late deletions count among the bytes received",
    ),
    ("rsync -aiy --stats far:src/ dst", Always, LIST_BYTES),
    ("rsync -av --stats far:src/ new", Always, LIST_BYTES),
    ("rsync -avv far:src/ dst", Always, "our server does not send the line of totals"),
    (
        "rsync -ai --munge-links far:src/ empty",
        Always,
        "the name of a munged link is told as it came",
    ),
    ("rsync -ai far:src/dir/.. empty", Always, "stock refuses the list that it asked for"),
    (
        "rsync -ai --remote-option=--log-file=$PWD/log src/ far:dst; cat log; rm log",
        Always,
        "our server writes no log file",
    ),
    (
        "rsync -ai --no-d --files-from=list src dst",
        Always,
        "folders that are passed over are named in the order of the list",
    ),
    (
        "mkdir -p dst/src/real; ln -s real dst/src/dir :: rsync -aiRK src/dir/two dst",
        Always,
        "both fail with code 23, for another attribute",
    ),
    (
        "mkdir -p dst/src/real; ln -s real dst/src/dir :: rsync -aiR --no-implied-dirs src/dir/two dst",
        Always,
        "safety: a symlink of the destination is not followed",
    ),
];

/// Tells why a case may differ from stock.
pub(crate) fn reason(case: &str) -> Option<&'static str> {
    find(case).map(|(_, _, reason)| *reason)
}

/// Tells whether it differs at every run.
pub(crate) fn always(case: &str) -> bool {
    find(case).is_some_and(|(_, how, _)| *how == Always)
}

fn find(case: &str) -> Option<&'static (&'static str, How, &'static str)> {
    APART.iter().find(|(known, _, _)| *known == case)
}
