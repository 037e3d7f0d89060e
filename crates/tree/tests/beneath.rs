//! Does anything lead out of the root, whichever way names are resolved?

#![allow(clippy::unwrap_used, reason = "a helper of a test may end the test")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tree::{Dir, Follow, Resolver, Root};

const RESOLVERS: [Resolver; 2] = [Resolver::Kernel, Resolver::ByHand];

/// A tree with all that may stand where a directory is expected.
fn make_tree(base: &Path) {
    let inside = base.join("in");
    fs::create_dir_all(inside.join("a/b/c")).unwrap();
    fs::create_dir_all(base.join("out/deep")).unwrap();
    fs::write(base.join("out/secret"), "secret").unwrap();
    fs::write(inside.join("file"), "file").unwrap();
    symlink("../out", inside.join("away")).unwrap();
    symlink(base.join("out"), inside.join("absolute")).unwrap();
    symlink("b", inside.join("a/inner")).unwrap();
    symlink("loop", inside.join("loop")).unwrap();
    symlink("file", inside.join("to-file")).unwrap();
    symlink("../out/secret", inside.join("to-secret")).unwrap();
    let dir = Root::open(&inside).unwrap().open_dir(b".").unwrap();
    dir.make_node(b"fifo", 0o010_644, (0, 0)).unwrap();
    dir.make_node(b"null", 0o020_666, (1, 3)).unwrap();
    dir.make_node(b"socket", 0o140_755, (0, 0)).unwrap();
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Outcome {
    Opens,
    Missing,
    Refused,
}
use Outcome::{Missing, Opens, Refused};

fn outcome(opened: &tree::Result<Dir>) -> Outcome {
    match opened {
        Ok(_) => Opens,
        Err(error) if error.is_not_found() => Missing,
        Err(_) => Refused,
    }
}

#[test]
fn both_resolvers_open_and_refuse_the_same_directories() {
    let temp = tempfile::tempdir().unwrap();
    make_tree(temp.path());
    let out = temp.path().join("out");
    let long = [b"x".repeat(256), b"/y".to_vec()].concat();
    let deep = b"deep/".repeat(1000);
    // The name, what becomes of it, and what becomes of it when links to directories count.
    let cases: &[(&[u8], Outcome, Outcome)] = &[
        (b"", Opens, Opens),
        (b".", Opens, Opens),
        (b"a", Opens, Opens),
        (b"a/b/c", Opens, Opens),
        (b"a/gone", Missing, Missing),
        (b"gone/b", Missing, Missing),
        (b"away", Refused, Opens),
        (b"away/deep", Refused, Opens),
        (b"absolute", Refused, Opens),
        (b"a/inner", Refused, Opens),
        (b"a/inner/c", Refused, Opens),
        (b"loop", Refused, Refused),
        (b"to-file", Refused, Refused),
        (b"..", Refused, Refused),
        (b"../out", Refused, Refused),
        (b"a/../../out", Refused, Refused),
        (b"a/..", Refused, Refused),
        (b"a/./b", Refused, Refused),
        (b"a//b", Refused, Refused),
        (b"a/", Refused, Refused),
        (b"/", Refused, Refused),
        (b"/tmp", Refused, Refused),
        (out.as_os_str().as_encoded_bytes(), Refused, Refused),
        (b"a\0b", Refused, Refused),
        (b"file", Refused, Refused),
        (b"fifo", Refused, Refused),
        (b"null", Refused, Refused),
        (b"socket", Refused, Refused),
        (b"fifo/x", Refused, Refused),
        (&long, Refused, Refused),
        (&deep[..deep.len() - 1], Missing, Refused),
    ];
    for resolver in RESOLVERS {
        let root = Root::open_with(&temp.path().join("in"), resolver).unwrap();
        for (name, strict, linked) in cases {
            let shown = format!("{resolver:?} {}", name.escape_ascii());
            assert_eq!(outcome(&root.open_dir(name)), *strict, "{shown}");
            assert_eq!(outcome(&root.open_dir_with(name, Follow::DirLinks)), *linked, "{shown}");
        }
    }
}

#[test]
fn a_path_longer_than_one_call_takes_opens_both_ways() {
    let temp = tempfile::tempdir().unwrap();
    let name = [b'd'; 200];
    for resolver in RESOLVERS {
        let root = Root::open_with(temp.path(), resolver).unwrap();
        let mut dir = root.open_dir(b".").unwrap();
        let mut rel = Vec::new();
        for _ in 0..25 {
            let _ = dir.make_dir(&name, 0o755);
            dir = dir.open_dir(&name, Follow::Never).unwrap();
            rel.extend_from_slice(&name);
            rel.push(b'/');
        }
        rel.pop();
        assert_eq!(root.open_dir(&rel).unwrap().stat_self().unwrap(), dir.stat_self().unwrap());
    }
}

#[test]
fn a_name_is_one_component_and_no_symlink_is_written_through() {
    let temp = tempfile::tempdir().unwrap();
    make_tree(temp.path());
    let dir = Root::open(&temp.path().join("in")).unwrap().open_dir(b".").unwrap();
    for name in [&b""[..], b".", b"..", b"../out/new", b"a/new", b"/tmp/new", b"away/new"] {
        let shown = name.escape_ascii().to_string();
        assert!(dir.open_dir(name, Follow::DirLinks).is_err(), "{shown}");
        assert!(dir.make_dir(name, 0o755).is_err(), "{shown}");
        assert!(dir.make_symlink(b"x", name).is_err(), "{shown}");
        assert!(dir.make_node(name, 0o010_644, (0, 0)).is_err(), "{shown}");
        assert!(dir.hard_link(b"file", &dir, name).is_err(), "{shown}");
        assert!(dir.rename(b"file", &dir, name).is_err(), "{shown}");
        assert!(dir.stage(name.to_vec(), 0o600).is_err(), "{shown}");
        assert!(dir.create(name, 0o600).is_err(), "{shown}");
        assert!(dir.open_rw(name).is_err(), "{shown}");
        assert!(dir.remove_file(name).is_err(), "{shown}");
        assert!(dir.remove_dir(name).is_err(), "{shown}");
    }
    for name in [&b"to-file"[..], b"to-secret", b"loop", b"away", b"a", b"fifo", b"null", b"socket"]
    {
        assert!(dir.open_rw(name).is_err(), "{}", name.escape_ascii());
        assert!(dir.create(name, 0o600).is_err(), "{}", name.escape_ascii());
    }
    assert!(dir.open_device(b"file").is_err());
    assert!(dir.open_device(b"null").is_ok());
    assert_eq!(fs::read_to_string(temp.path().join("out/secret")).unwrap(), "secret");
    assert_eq!(fs::read_dir(temp.path().join("out")).unwrap().count(), 2);
}

#[test]
fn a_symlink_swapped_in_meanwhile_leads_nowhere() {
    for resolver in RESOLVERS {
        let temp = tempfile::tempdir().unwrap();
        let (inside, out) = (temp.path().join("in"), temp.path().join("out"));
        fs::create_dir_all(inside.join("a/real/sub")).unwrap();
        fs::create_dir_all(out.join("sub")).unwrap();
        symlink("../../out", inside.join("a/link")).unwrap();
        let root = Root::open_with(&inside, resolver).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let place = |name: &str| inside.join("a").join(name);
                while !done.load(Ordering::Relaxed) {
                    fs::rename(place("real"), place("swap")).unwrap();
                    fs::rename(place("link"), place("real")).unwrap();
                    fs::rename(place("real"), place("link")).unwrap();
                    fs::rename(place("swap"), place("real")).unwrap();
                }
            });
            for number in 0..3000 {
                let Ok(dir) = root.open_dir(b"a/real/sub") else { continue };
                let mut staged = dir.stage(format!(".{number}.abc123").into(), 0o600).unwrap();
                staged.commit(&dir, b"file").unwrap();
                if let Ok(a) = root.open_dir(b"a") {
                    let set = tree::Attributes { mode: Some(0o2700), ..Default::default() };
                    a.apply(b"real", None, &set);
                }
            }
            done.store(true, Ordering::Relaxed);
        });
        assert_eq!(fs::read_dir(out.join("sub")).unwrap().count(), 0);
        let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(&out).unwrap());
        assert_eq!(mode & 0o7777 & 0o2000, 0);
    }
}

#[test]
fn missing_directories_of_a_users_own_path_are_made_outermost_first() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("a/b/./c/");
    let made = Root::make_path(&path, 0o755).unwrap();
    let expected = ["a", "a/b", "a/b/c"].map(|name| temp.path().join(name));
    assert_eq!(made, expected);
    assert!(Root::make_path(&path, 0o755).unwrap().is_empty());
    fs::write(temp.path().join("file"), "").unwrap();
    assert!(Root::make_path(&temp.path().join("file/x"), 0o755).is_err());
}
