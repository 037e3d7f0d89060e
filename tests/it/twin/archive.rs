//! What does each part of `-a` alone, and with others, do in a local copy?

use super::Twins;

const TREE: &str = "tree src; mkdir dst";

#[test]
fn each_part_of_archive_does_alone_what_stock_does() {
    Twins::of(TREE).check(&[
        "rsync src/ dst",
        "rsync src/one dst",
        "rsync -r src/ dst",
        "rsync -r src dst",
        "rsync -l src/ dst",
        "rsync -lr src/ dst",
        "rsync -rt src/ dst",
        "rsync -rp src/ dst",
        "rsync -rlp src/ dst",
        "rsync -rlptgoD src/ dst",
        "rsync -d src/ dst",
        "rsync -d src dst",
        "rsync -dirs src/ dst",
        "rsync --dirs src/dir/ dst",
        "rsync --old-dirs src/ dst",
        "rsync -a --no-d src/ dst",
        "rsync -a src/ dst",
        "rsync -a src dst",
        "rsync -a src/ dst/",
        "rsync -a src/ new",
        "rsync -a src new",
        "rsync -a --no-t src/ dst",
        "rsync -a --no-times --no-perms src/ dst",
        "rsync -a --no-r src/ dst",
        "rsync -a --no-l src/ dst",
        "rsync -a --no-links -v src/ dst",
        "rsync -a --no-owner --no-g src/ dst",
        "rsync --archive --no-D src/ dst",
        "rsync -rE src/ dst",
        "rsync -rtE src/ dst; chmod 700 src/one; rsync -rtEi src/ dst",
        "rsync -aO src/ dst",
        "rsync -aJ src/ dst",
        "rsync -aOJ --omit-dir-times src/ dst; rsync -aOJi src/ dst; rsync -ai src/ dst",
        "rsync -r src/ dst; rsync -ai src/ dst",
        "rsync -rt src/ dst; rsync -rpi src/ dst",
        "chmod 2775 dst :: rsync -r src/ dst",
        "chmod 2775 dst :: rsync -a --no-p src/ dst",
        "umask 077; rsync -r src/ dst",
        "umask 027; rsync -rp src/ dst",
        "chmod 4711 src/one; chmod 1777 src/empty :: rsync -a src/ dst",
        "chmod 4711 src/one; chmod 1777 src/empty :: rsync -r src/ dst",
    ]);
}

#[test]
fn owners_and_groups_go_as_stock_carries_them() {
    Twins::of(
        "tree src; mkdir dst; chown 1:2 src/one; chown -h 3:4 src/link; chown 54321:54322 src/dir",
    )
    .check(&[
        "rsync -a src/ dst",
        "rsync -rl src/ dst",
        "rsync -rlo src/ dst",
        "rsync -rlg src/ dst",
        "rsync -a --numeric-ids -i src/ dst",
        "rsync -a src/ dst; chown 9:9 dst/one; chown -h 0:0 dst/link; rsync -ai src/ dst",
        "rsync -a src/ dst; chown 9:9 dst/one; rsync -rlti src/ dst",
        "rsync -a --chown=7:8 src/ dst",
        "rsync -a --chown=daemon:bin src/ dst",
        "rsync -a --chown=:8 -i src/ dst",
        "rsync -a --chown=9 -i src/ dst",
        "rsync -r --chown=7:8 src/ dst",
        "rsync -a --usermap=1:11,3-5:12,*:13 src/ dst",
        "rsync -a --usermap=daemon:sys --groupmap=2:22,tty:23 src/ dst",
        "rsync -a --usermap=54321:root --groupmap=*:nogroup -ii src/ dst",
        "rsync -a --usermap=:99 --groupmap=:98 src/ dst",
        "rsync -a --chown=1:1 --usermap=1:2 src/ dst",
        "rsync -a --usermap=nosuchname:3 src/ dst",
        "rsync -a --usermap=3:nosuchname src/ dst",
        "rsync -a --usermap=3 src/ dst",
        "chmod 777 dst :: nobody rsync -ai src/ dst",
        // Which of our threads fails first is not settled.
        "chmod 777 dst; chmod 644 src/other/four.o :: first nobody rsync -ai --super src/ dst",
        "rsync -ai --no-super src/ dst",
    ]);
}
