//! Does a run with other folders to compare with, or with alike names, take from them what stock takes?

use super::Twins;

#[test]
fn other_folders_serve_as_a_basis() {
    let set_up = "tree src; mkdir dst; cp -a src old; older older; chmod 640 old/dir/two; chmod 700 old/dir; \
        age 2001-01-01 old/other/three.txt; mk old/other/four.o OBJECT; age '2020-02-02 02:02:02.123456789' old/other/four.o";
    Twins::of(set_up).check(&[
        "rsync -ai --link-dest=../old src/ dst",
        "rsync -aii --link-dest=../old src/ dst",
        "rsync -avv --link-dest=../old src/ dst | sort",
        "rsync -ai --link-dest=$PWD/old src/ dst",
        "rsync -ai --link-dest=../older --link-dest=../old src/ dst",
        "rsync -ai --link-dest=../old --link-dest=../older src/ dst",
        "rsync -ai --link-dest=../nothing src/ dst",
        "rsync -ai --link-dest=old src/ dst",
        "rsync -ai --link-dest=../old src/ new",
        "rsync -aic --link-dest=../old src/ dst",
        "rsync -aiI --link-dest=../old src/ dst",
        "rsync -ai --size-only --link-dest=../old src/ dst",
        "rsync -aiO --no-p --link-dest=../old src/ dst",
        "rsync -rti --link-dest=../old src/ dst",
        "rsync -ri --link-dest=../old src/ dst",
        "rsync -ain --link-dest=../old src/ dst",
        "rsync -ai --link-dest=../../old src/ dst/inner",
        "rsync -ai --link-dest=../old src/one dst",
        "rsync -ai --link-dest=../old src/one src/dir dst",
        "rsync -aiR --link-dest=../ src/./one dst",
        "rsync -ai --no-W --link-dest=../older src/ dst",
        "rsync -ai --copy-dest=../old src/ dst",
        "rsync -aii --copy-dest=../old src/ dst",
        "rsync -ai --copy-dest=../older --copy-dest=../old src/ dst",
        "rsync -aiv --stats --copy-dest=../old src/ dst",
        "rsync -ain --copy-dest=../old src/ dst",
        "rsync -ai --compare-dest=../old src/ dst",
        "rsync -aii --compare-dest=../old src/ dst",
        "rsync -ai --compare-dest=../older --compare-dest=../old src/ dst",
        "rsync -aic --compare-dest=../old src/ dst",
        "rsync -aim --compare-dest=../old src/ dst",
        "rsync -ai --compare-dest=../old --link-dest=../older src/ dst",
        "rsync -ai --link-dest=../old --delete src/ older",
        "rsync -aiH --link-dest=../old src/ dst",
        "rsync -aiX --link-dest=../old src/ dst",
        "rsync -ai --chmod=F600 --link-dest=../old src/ dst",
        "rsync -ai --ignore-existing --link-dest=../old src/ older",
        "rsync -ai --backup --link-dest=../old src/ older",
        "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do set -- \"$@\" --link-dest=../old; done; rsync -a \"$@\" src/ dst",
        "mkfifo src/fifo old/fifo; mknod src/null c 1 3; mknod old/null c 1 3; age 2001-01-01 src/fifo old/fifo src/null old/null :: rsync -ai --link-dest=../old src/ dst",
    ]);
}

#[test]
fn alike_names_serve_as_a_basis() {
    let set_up = "mkdir -p src dst old; fill src/report-2.txt 40000 5; fill dst/report-1.txt 40000; fill dst/other 40000 5
        fill src/b/new.bin 30000 7; fill dst/b/old.bin 30000 7; age 2010-01-01 src/b/new.bin dst/b/old.bin; fill old/b/new-1.bin 30000 7";
    Twins::of(set_up).check(&[
        "rsync -aiy --no-W --stats src/ dst",
        "rsync -aiyy --no-W --stats --link-dest=../old src/ dst",
        "rsync -aiy --no-W --delete --stats src/ dst",
        "rsync -aiy --no-W --delete-before src/ dst",
        "rsync -aiy --no-W --delete-after --stats src/ dst",
        "rsync -ai --fuzzy --no-fuzzy --no-W --stats src/ dst",
        "rsync -aiyy --no-W --compare-dest=../old --stats src/ dst",
        "rsync -aiy src/ dst",
    ]);
    Twins::of(set_up).far().check(&[
        "rsync -aiy src/ far:dst",
        "rsync -aiy --delete src/ far:dst",
        "rsync -aiyy --link-dest=../old src/ far:dst",
        "rsync -ai --link-dest=../old src/ far:dst",
    ]);
    Twins::of(set_up)
        .far()
        .in_any_order()
        .check(&["rsync -aiy --stats far:src/ dst", "rsync -aiyy --link-dest=../old far:src/ dst"]);
}
