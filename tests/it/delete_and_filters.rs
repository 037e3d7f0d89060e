//! Do `--delete` and the filter rules leave the far side as stock would leave it?

use std::fs;
use std::path::Path;

use crate::harness::compare::{self, Look, Times};
use crate::harness::odd_tree::settle_times;
use crate::harness::{FarSide, Rsync, Way, repl, stock, temp_dir};

/// Each line is a set of options that stock and `repl` are both given.
const CASES: [&[&str]; 21] = [
    &["--delete"],
    &["--delete-before"],
    &["--delete-after"],
    &["--delete-delay"],
    &["--delete", "--exclude=*.o"],
    &["--delete", "--delete-excluded", "--exclude=*.o"],
    &["--exclude=/top/"],
    &["--include=*/", "--include=*.c", "--exclude=*"],
    &["--include=/top/***", "--exclude=/*"],
    &["--exclude=top/**/deep"],
    &["--exclude=[!a-m]*.c"],
    &["--delete", "--filter=P kept*"],
    &["--delete", "--filter=protect kept-by-rule", "--filter=hide secret"],
    &["--delete", "--filter=R *.o", "--filter=P *"],
    &["--delete", "--filter=: .rules"],
    &["--delete", "--filter=dir-merge,- .ignored"],
    &["-F", "--delete"],
    &["-C", "--delete"],
    &["--delete", "--filter=-s_*.o"],
    &["--delete", "--filter=-p empty-if-excluded", "--exclude=*.o"],
    &["--delete", "--max-delete=2"],
];

#[test]
fn every_set_of_rules_ends_as_stock_ends_it_at_protocol_32() {
    compare_all(&["--protocol=32"]);
}

#[test]
fn every_set_of_rules_ends_as_stock_ends_it_at_protocol_29() {
    compare_all(&["--protocol=29"]);
}

fn compare_all(first: &[&str]) {
    for case in CASES {
        println!("{first:?} {case:?}");
        let mut options = first.to_vec();
        options.extend(case);
        compare_with_stock(&options);
    }
}

fn compare_with_stock(options: &[&str]) {
    let folder = temp_dir();
    let source = folder.path().join("source");
    lay_source(&source);
    let far = FarSide::start(Way::Pipe, Rsync::Installed);
    lay_old_copy(&far.folder("stock"));
    lay_old_copy(&far.folder("ours"));
    let theirs = stock(Rsync::Installed, far.stock_push(options, &source, "stock")).run();
    let mut options = options.to_vec();
    options.extend(["--no-acls", "--no-xattrs", "--no-default-excludes"]);
    let ours = repl(far.push(&options, &source, "ours")).run();
    assert_eq!(ours.code(), theirs.code(), "{}\n{}", ours.told(), theirs.told());
    let look = Look { times: Times::Ignored, attributes: false, ..Look::CLOSELY };
    compare::assert_equal(&far.folder("stock"), &far.folder("ours"), look);
}

fn lay_source(root: &Path) {
    for (name, content) in [
        ("a.c", "1"),
        ("a.o", "2"),
        ("kept.c", "3"),
        ("secret", "4"),
        ("top/b.c", "5"),
        ("top/b.o", "6"),
        ("top/x/deep/c.c", "7"),
        ("top/x/y/deep/d.c", "8"),
        ("deep/e.c", "9"),
        ("only-objects/f.o", "10"),
        ("zoo/z.c", "11"),
        ("zoo/core", "12"),
        ("zoo/.rules", "- z.*\n+ core\n- *\n"),
        ("zoo/.ignored", "core\n"),
        (".rsync-filter", "- /only-objects\n"),
        ("top/.cvsignore", "*.c\n"),
        ("same", "same"),
        ("RCS/history", "13"),
    ] {
        write(root, name, content);
    }
}

/// What an earlier run and a person left at the far side.
fn lay_old_copy(root: &Path) {
    for (name, content) in [
        ("a.c", "old"),
        ("same", "same"),
        ("gone.c", "gone"),
        ("gone.o", "gone"),
        ("kept-by-rule", "kept"),
        ("secret", "4"),
        ("top/gone", "gone"),
        ("gone-folder/inside", "gone"),
        ("gone-folder/inside.o", "gone"),
        ("zoo/old", "old"),
        ("zoo/core", "12"),
        ("empty-if-excluded/x.o", "x"),
        ("zoo/z.c", "11"),
    ] {
        write(root, name, content);
    }
}

fn write(root: &Path, name: &str, content: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

#[test]
fn a_preview_changes_nothing_and_names_what_would_be_sent_and_deleted() {
    let folder = temp_dir();
    let source = folder.path().join("source");
    lay_source(&source);
    let far = FarSide::start(Way::Daemon, Rsync::Installed);
    lay_old_copy(&far.folder("copy"));
    lay_old_copy(&far.folder("untouched"));
    settle_times(&far.folder("copy"), 1_600_000_000);
    settle_times(&far.folder("untouched"), 1_600_000_000);
    let preview = repl(far.push(&["-n", "--delete"], &source, "copy")).run().expect_success();
    let look = Look { times: Times::Nanoseconds, attributes: true, ..Look::CLOSELY };
    compare::assert_equal(&far.folder("untouched"), &far.folder("copy"), look);
    for name in ["a.c", "top/b.c", "gone.c", "gone-folder"] {
        assert!(preview.stdout().contains(name), "no {name}: {}", preview.told());
    }
}
