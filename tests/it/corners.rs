//! Do the corners in which a sender easily goes wrong end as stock ends them?

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::harness::compare::{self, Look, Times};
use crate::harness::program::contents_of;
use crate::harness::random::Random;
use crate::harness::{FarSide, Outcome, Rsync, Way, repl, stock, temp_dir};
use crate::words;

const LOOK: Look = Look { times: Times::Ignored, attributes: false, ..Look::CLOSELY };

fn write(path: PathBuf, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Has stock and `repl` do the same onto two equal copies, and returns how each ended.
fn both(
    options: &[&str],
    sources: &[OsString],
    lay_copy: impl Fn(&Path),
) -> (FarSide, Outcome, Outcome) {
    let far = FarSide::start(Way::Pipe, Rsync::Installed);
    for name in ["stock", "ours"] {
        fs::create_dir_all(far.folder(name)).unwrap();
        lay_copy(&far.folder(name));
    }
    let (mut theirs, to) = far.reach("stock");
    theirs.extend(words!["-aH", "--numeric-ids"]);
    theirs.extend(options.iter().map(OsString::from));
    theirs.extend(sources.iter().cloned().chain([OsString::from(to)]));
    let theirs = stock(Rsync::Installed, theirs).run();
    let (reach, to) = far.reach("ours");
    let mut ours = words!["push", "--no-acls", "--no-xattrs", "--no-default-excludes"].to_vec();
    ours.extend(options.iter().map(OsString::from));
    ours.extend(reach);
    ours.extend(words!["--to", to, "--"]);
    ours.extend(sources.iter().cloned());
    let ours = repl(ours).run();
    (far, theirs, ours)
}

/// The same, where both must end alike and leave the same behind.
fn alike(options: &[&str], sources: &[OsString], lay_copy: impl Fn(&Path)) {
    let (far, theirs, ours) = both(options, sources, lay_copy);
    assert_eq!(ours.code(), theirs.code(), "{}\n{}", ours.told(), theirs.told());
    compare::assert_equal(&far.folder("stock"), &far.folder("ours"), LOOK);
}

#[test]
fn nothing_is_deleted_when_a_source_is_missing() {
    let folder = temp_dir();
    let (here, gone) = (folder.path().join("here"), folder.path().join("gone"));
    write(here.join("1"), "1");
    let sources = [contents_of(&here), contents_of(&gone)];
    for options in [&["--delete"][..], &["--delete-before"], &["--delete", "--protocol=29"]] {
        alike(options, &sources, |copy| {
            write(copy.join("1"), "1");
            write(copy.join("2"), "from the source that is not there");
        });
    }
}

#[test]
fn a_missing_source_may_be_passed_over() {
    let folder = temp_dir();
    write(folder.path().join("here/1"), "1");
    let here = contents_of(&folder.path().join("here"));
    let gone = folder.path().join("gone").into_os_string();
    alike(&["--ignore-missing-args"], &[here, gone.clone()], |_| ());
    let (_, _, ours) = both(&["--ignore-missing-args"], &[gone], |_| ());
    ours.expect_success();
}

#[test]
fn appended_files_whose_beginning_differs_are_mended() {
    let folder = temp_dir();
    let source = folder.path().join("source");
    write(source.join("log"), Random::new(1).bytes(300_000));
    let sources = [contents_of(&source)];
    for protocol in ["--protocol=29", "--protocol=30", "--protocol=31", "--protocol=32"] {
        for option in ["--append", "--append-verify"] {
            alike(&[protocol, option], &sources, |copy| write(copy.join("log"), [0; 200_000]));
        }
    }
}

#[test]
fn every_way_to_say_a_level_of_compression_is_understood() {
    let folder = temp_dir();
    let source = folder.path().join("source");
    write(source.join("text"), Random::new(1).text(300_000));
    write(source.join("noise"), Random::new(2).bytes(300_000));
    for level in ["--compress-level=0", "--compress-level=1", "--compress-level=9"] {
        let choices: [&[&str]; 4] =
            [&[], &["-z"], &["--compress-choice=zlib"], &["--compress-choice=zstd"]];
        for choice in choices {
            let options = [choice, &[level]].concat();
            alike(&options, &[contents_of(&source)], |_| ());
            let old = [&options[..], &["--protocol=30"]].concat();
            alike(&old, &[contents_of(&source)], |_| ());
        }
    }
}

#[test]
fn each_source_has_the_rules_of_its_own_merge_files() {
    let folder = temp_dir();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    write(a.join(".rf"), "- *.tmp\n");
    write(a.join("sub/x.tmp"), "x");
    write(a.join("sub/deep/y.tmp"), "y");
    write(a.join("sub/keep"), "k");
    write(b.join("inner/.rf"), "- *.log\n");
    write(b.join("inner/only/b.log"), "l");
    write(b.join("inner/only/b"), "b");
    let rule = ["--filter=: .rf"];
    let (contents, whole) = (contents_of(&a), b.clone().into_os_string());
    alike(&rule, &[contents.clone(), whole.clone()], |_| ());
    alike(&rule, &[whole, contents], |_| ());
    // Where two sources meet in a folder, stock mixes their rules up; here each keeps its own.
    write(a.join("both/.rf"), "- a.*\n");
    write(b.join("both/.rf"), "- b.*\n");
    for name in ["a.1", "b.1", "c.1"] {
        write(a.join("both").join(format!("{name}-of-a")), "");
        write(b.join("both").join(format!("{name}-of-b")), "");
    }
    let (far, _, ours) = both(&rule, &[contents_of(&a), contents_of(&b)], |_| ());
    ours.expect_success();
    let found = fs::read_dir(far.folder("ours/both")).unwrap();
    let mut found: Vec<_> = found.map(|entry| entry.unwrap().file_name()).collect();
    found.sort();
    assert_eq!(found, [".rf", "a.1-of-b", "b.1-of-a", "c.1-of-a", "c.1-of-b"]);
}

#[test]
fn a_directory_keeps_its_long_attributes_at_every_place() {
    let folder = temp_dir();
    let source = folder.path().join("source");
    fs::create_dir_all(source.join("sub/inner")).unwrap();
    for (path, value) in [("", 40), ("sub", 33), ("sub/inner", 400)] {
        let value = "v".repeat(value);
        let path = source.join(path);
        rustix::fs::setxattr(&path, "user.long", value.as_bytes(), rustix::fs::XattrFlags::empty())
            .unwrap();
    }
    for options in [&[][..], &["--no-inc-recursive"]] {
        let far = FarSide::start(Way::Pipe, Rsync::Installed);
        for _ in 0..2 {
            repl(far.push(options, &source, "copy")).run().expect_success();
        }
        let look = Look { times: Times::Seconds, attributes: true, ..Look::CLOSELY };
        compare::assert_equal(&source, &far.folder("copy"), look);
    }
}

#[test]
fn without_recursion_a_directory_sends_nothing() {
    let folder = temp_dir();
    write(folder.path().join("source/file"), "1");
    alike(&["--no-r"], &[contents_of(&folder.path().join("source"))], |_| ());
}

#[test]
fn what_a_push_does_not_do_is_refused_by_its_name() {
    for (option, name) in [
        ("--list-only", "--list-only"),
        ("--write-batch=x", "--write-batch"),
        ("--only-write-batch=x", "--only-write-batch"),
        ("--read-batch=x", "--read-batch"),
        ("-N", "--crtimes"),
    ] {
        let run = repl(words!["push", option, "--to", "nas:x", "./"]).run().expect_code(1);
        assert!(run.stderr().contains(&format!("{name} ")), "{}", run.told());
        assert_eq!(run.stderr().lines().count(), 1, "{}", run.told());
    }
}

#[test]
fn a_mount_point_is_kept_empty_or_left_out_as_asked() {
    let folder = temp_dir();
    let source = folder.path().join("source");
    write(source.join("here"), "1");
    fs::create_dir(source.join("mounted")).unwrap();
    // The mount is the program's own: it ends with it.
    let script = "mount -t tmpfs none \"$1/mounted\" && echo 2 >\"$1/mounted/there\" && shift && \
                  exec \"$@\"";
    for (option, expected) in [("-x", true), ("-xx", false)] {
        let far = FarSide::start(Way::Pipe, Rsync::Installed);
        let program = env!("CARGO_BIN_EXE_repl");
        let mut words = words!["--mount", "sh", "-c", script, "sh", &source, program].to_vec();
        words.extend(far.push(&[option], &source, "copy"));
        crate::harness::Program::new("unshare").args(words).run().expect_success();
        assert!(far.folder("copy/here").exists());
        assert!(!far.folder("copy/mounted/there").exists());
        assert_eq!(far.folder("copy/mounted").exists(), expected, "{option}");
    }
}

#[test]
fn attributes_asked_for_at_an_old_protocol_end_with_stocks_words_and_code() {
    let folder = temp_dir();
    write(folder.path().join("source/file"), "1");
    let source = folder.path().join("source");
    let far = FarSide::start(Way::Pipe, Rsync::Installed);
    for option in ["-A", "-X"] {
        let options = [option, "--protocol=29"];
        let theirs = stock(Rsync::Installed, far.stock_push(&options, &source, "stock")).run();
        let ours = repl(far.push(&options, &source, "ours")).run().expect_code(theirs.code());
        let told = theirs.stderr();
        let words = told.lines().next().unwrap();
        assert!(words.contains("requires protocol 30"), "{told}");
        assert!(ours.stderr().contains(words), "{}", ours.told());
    }
}
