//! How does new content come to its place, and what is kept of the old?

use super::Twins;
use super::twins::PRELUDE;
use crate::harness::{Program, temp_dir};

#[test]
fn backups_are_kept_where_stock_keeps_them() {
    Twins::of("tree src; older dst; ln -s elsewhere dst/link; mk dst/dir/x; mk dst/old~").check(&[
        "rsync -aib src/ dst",
        "rsync -avb src/ dst",
        "rsync -aib src/ dst; rsync -aibI src/ dst",
        "rsync -aib --suffix=.bak src/ dst",
        "rsync -ai --suffix=.bak src/ dst",
        "rsync -aib --suffix= src/ dst",
        "rsync -aib --suffix=a/b src/ dst",
        "rsync -aib --backup-dir=kept src/ dst",
        "rsync -aib --backup-dir=../kept src/ dst",
        "rsync -aib --backup-dir=$PWD/kept/far src/ dst",
        "rsync -ai --backup-dir=kept src/ dst",
        "rsync -aib --backup-dir=kept --suffix=.1 src/ dst",
        "rsync -aib --delete src/ dst",
        "rsync -aib --delete --backup-dir=kept src/ dst",
        "rsync -avb --delete --backup-dir=../kept src/ dst",
        "rsync -aibb --delete src/ dst",
        "rsync -aib --delete-excluded --delete --exclude='*.o' src/ dst",
        "rsync -aib --inplace src/ dst",
        "rsync -aib --inplace --no-W --backup-dir=kept src/ dst",
        "rsync -aibn --delete src/ dst",
        "rsync -aibH --delete src/ dst",
        "rsync -aiRb --backup-dir=kept src/./dir/two dst",
        "rsync -aib --existing --backup-dir=kept/deeper/still src/ dst",
        "rsync -aib --no-backup src/ dst",
        "mkdir dst/one~ :: rsync -aib src/ dst",
        "rm dst/one; mkdir dst/one :: rsync -aib src/ dst",
        "rsync -aib --info=backup --delete src/ dst | sort",
        "rsync -aib --no-t src/ dst",
    ]);
}

#[test]
fn content_is_written_in_place_or_beside_as_stock_does() {
    let set_up = "mkdir src dst; fill src/grown 90000; fill dst/grown 50000; fill src/shrunk 20000; fill dst/shrunk 60000
        fill src/edited 80000; fill dst/edited 80000 3; fill src/new 5000; fill src/same 100; fill dst/same 100; fill src/other 100; fill dst/other 60000 9
        ln dst/grown hard-link; age 2010-01-01 dst/grown dst/shrunk dst/edited";
    Twins::of(set_up).check(&[
        "rsync -ai --inplace src/ dst",
        "rsync -ai --inplace --no-W --stats src/ dst",
        "rsync -ai --no-W --stats src/ dst",
        "rsync -ai --no-W -v src/ dst",
        "rsync -aivv --no-W src/grown dst | grep -v total:",
        "rsync -ai --append --stats src/ dst",
        "rsync -ai --append-verify --stats src/ dst",
        "rsync -avv --append src/ dst | sort",
        "rsync -ai --append -c src/ dst",
        "rsync -ai --append --no-W src/ dst",
        "rsync -ai --append -W src/ dst",
        "rsync -ai --append --inplace src/ dst",
        "rsync -ai --append --partial-dir=p src/ dst",
        "rsync -ai --inplace --partial-dir=p src/ dst",
        "rsync -ai --inplace --delay-updates src/ dst",
        "rsync -ai --inplace --temp-dir=/tmp src/ dst",
        "rsync -ai --partial src/ dst",
        "rsync -ai --partial-dir=p src/ dst",
        "mkdir dst/p; fill dst/p/new 3000; fill dst/p/edited 70000 1 :: rsync -ai --no-W --stats --partial-dir=p src/ dst",
        "mkdir dst/p; fill dst/p/new 3000; fill dst/p/x 1 :: rsync -ai --delete --partial-dir=p src/ dst",
        "mkdir p; fill p/new 3000 :: rsync -ai --no-W --stats --partial-dir=$PWD/p src/ dst",
        "RSYNC_PARTIAL_DIR=p rsync -ai --partial src/ dst",
        "mkdir dst/p; fill dst/p/new 3000 :: RSYNC_PARTIAL_DIR=p rsync -ai --partial --no-W --stats src/ dst",
        "RSYNC_PARTIAL_DIR=p rsync -ai --delay-updates src/ dst",
        "rsync -ai --partial --no-partial src/ dst",
        "rsync -ai --delay-updates src/ dst",
        "rsync -ai --delay-updates --delete --no-W src/ dst",
        "rsync -ai --delay-updates --partial-dir=p src/ dst",
        "rsync -aib --delay-updates src/ dst",
        "mkdir t :: rsync -ai --temp-dir=$PWD/t src/ dst",
        "mkdir dst/t :: rsync -ai -T t src/ dst",
        "rsync -ai --temp-dir=nothing src/ dst",
        "rsync -ai --fsync --inplace src/ dst",
        "rsync -ai --no-W -B700 --stats src/ dst",
        "rsync -aiz --no-W --stats src/ dst",
        "rsync -aizc --no-W --zl=9 src/ dst",
        "rsync -ai --no-W --zc=zlibx src/ dst",
        "rsync -ai --no-W -z --zc=lz4 --stats src/ dst",
        "rsync -ai --zc=nosuch src/ dst",
        "rsync -aizz src/ dst; rsync -ai --old-compress src/ dst",
        "rsync -aiz --skip-compress=gz/o --new-compress src/ dst",
        "rsync -ai --remove-source-files src/ dst",
        "rsync -ain --remove-source-files src/ dst",
        "rsync -av --remove-sent-files src/ dst",
        "rsync -ai --remove-source-files --existing src/ dst",
        "mk src/d/x; ln -s x src/d/l :: rsync -ai --remove-source-files src/d dst",
        "rsync -ai --inplace --sparse src/ dst",
    ]);
}

#[test]
fn holes_are_made_where_stock_makes_them() {
    let set_up = "mkdir src dst; truncate -s 1M src/all-hole; fill src/start 5000; truncate -s 300000 src/start
        head -c 200000 /dev/zero >src/zeros; fill src/both 3000; head -c 100000 /dev/zero >>src/both; seq 500 >>src/both; truncate -s 400000 src/both
        fill dst/zeros 200000; fill dst/both 380000 4; head -c 3000 /dev/zero >src/little; head -c 1000 /dev/zero >src/tiny";
    Twins::of(set_up).with_holes().check(&[
        "rsync -ai src/ dst",
        "rsync -aiS src/ dst",
        "rsync -ai --sparse --no-W --stats src/ dst",
        "rsync -aiS --inplace src/ dst",
        "rsync -aiS --inplace --no-W src/ dst",
        "rsync -ai --preallocate src/ dst",
        "rsync -ai --preallocate --inplace src/ dst",
        "rsync -aiS --no-sparse src/ dst",
    ]);
    Twins::of(set_up).with_holes().far().check(&[
        "rsync -aiS src/ far:dst",
        "rsync -aiSz src/ far:dst",
        "rsync -aiS --inplace src/ far:dst",
        "rsync -ai --preallocate src/ far:dst",
    ]);
    Twins::of(set_up).with_holes().far().in_any_order().check(&[
        "rsync -aiS far:src/ dst",
        "rsync -aiS --inplace far:src/ dst",
        "rsync -ai --preallocate -z far:src/ dst",
    ]);
}

/// Here stock loses what a user has, or tells of its malloc; docs/rsync-options.md names each.
#[test]
fn where_stock_loses_data_nothing_is_lost() {
    let run = |set_up: &str, line: &str| {
        let place = temp_dir();
        let program = env!("CARGO_BIN_EXE_repl");
        let script = format!("set -eu\n{PRELUDE}\n{set_up}\n{line}");
        let script = script.replace("rsync ", &format!("{program} rsync "));
        Program::new("sh").args(["-c", &script]).inside(place.path()).run().expect_success();
    };
    // Stock's file begins with zeros afterwards.
    run("fill src/a 90000; fill dst/a 50000", "rsync -aS --append src/ dst; cmp src/a dst/a");
    // Stock deletes the directory.
    run("mk src/a longer; mk dst/a; mk dst/a~/own", "! rsync -ab src/ dst; test -f dst/a~/own");
    // Stock takes the older file.
    let newer = "mk src/a 1; mk dst/a 2; age '2021-01-01' src/a; age '2021-01-01 00:00:01' dst/a";
    run(newer, "rsync -au -@-1 src/ dst; grep 2 dst/a");
}
