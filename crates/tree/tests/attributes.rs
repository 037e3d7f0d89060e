//! Does a file get the attributes that are asked for, and only those calls that it needs?

#![allow(clippy::unwrap_used, reason = "a helper of a test may end the test")]

use std::fs;
use std::io::Write;

use tree::{Attributes, Dir, Kind, Root, Stat};

/// A directory on the disk, which unlike some `tmpfs` has attributes and ACLs.
fn place() -> (tempfile::TempDir, Dir) {
    let temp = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dir = Root::open(temp.path()).unwrap().open_dir(b".").unwrap();
    (temp, dir)
}

fn applied(dir: &Dir, name: &[u8], set: &Attributes<'_>) -> Stat {
    let errors = dir.apply(name, None, set);
    assert!(errors.is_empty(), "{errors:?}");
    dir.stat(name).unwrap()
}

const ALL: Attributes<'_> = Attributes {
    now: None,
    is_new: false,
    mode: Some(0o6751),
    owner: Some(12),
    group: Some(34),
    rdev: None,
    mtime: Some((-5, 123_456_789)),
    atime: Some((77, 5)),
    access_acl: None,
    default_acl: None,
    xattrs: None,
    may_remove: None,
    fake_super: false,
};

fn summary(stat: &Stat) -> (u32, u32, u32, i64, u32, i64) {
    (stat.mode & 0o7777, stat.uid, stat.gid, stat.mtime, stat.mtime_nsec, stat.atime)
}

#[test]
fn a_staged_file_gets_everything_before_its_name() {
    let (temp, dir) = place();
    for round in 0..3 {
        let mut staged = dir.stage(b".file.abc123".to_vec(), 0o600).unwrap();
        staged.file.write_all(b"content").unwrap();
        let errors = staged.apply(&ALL);
        assert!(errors.is_empty(), "{errors:?}");
        let name = format!("file{round}").into_bytes();
        staged.commit(&dir, &name).unwrap();
        drop(staged);
        let stat = dir.stat(&name).unwrap();
        assert_eq!(summary(&stat), (0o6751, 12, 34, -5, 123_456_789, 77));
        assert!(dir.stat(b".file.abc123").unwrap_err().is_not_found());
    }
    let first = dir.stage(b".file.abc123".to_vec(), 0o600).unwrap();
    let second = dir.stage(b".file.abc123".to_vec(), 0o600).unwrap();
    assert_eq!(second.temp_name(), b".file0.abc123");
    let kept = first.keep();
    drop(second);
    let mut left: Vec<_> =
        fs::read_dir(temp.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left[0].as_encoded_bytes(), kept);
    assert_eq!(left.len(), 4);
}

#[test]
fn every_kind_of_file_takes_attributes_by_name() {
    let (_temp, dir) = place();
    dir.make_dir(b"dir", 0o700).unwrap();
    dir.make_node(b"fifo", 0o010_600, (0, 0)).unwrap();
    dir.make_node(b"device", 0o020_600, (1, 7)).unwrap();
    dir.make_node(b"socket", 0o140_600, (0, 0)).unwrap();
    dir.make_symlink(b"nowhere", b"link").unwrap();
    dir.create(b"file", 0o400).unwrap();
    for name in [&b"dir"[..], b"fifo", b"device", b"socket", b"link", b"file"] {
        let is_link = name == b"link";
        let set = Attributes { is_new: true, ..ALL };
        let stat = applied(&dir, name, &set);
        let mode = if is_link { 0o777 } else { 0o6751 };
        assert_eq!(summary(&stat), (mode, 12, 34, -5, 123_456_789, 77));
        let set = Attributes { now: Some(stat), mtime: Some((9, 0)), ..ALL };
        assert_eq!(applied(&dir, name, &set).mtime, 9);
    }
    assert_eq!(dir.stat(b"device").unwrap().rdev, (1, 7));
    let file = dir.stat(b"file").unwrap();
    let set = Attributes { now: Some(file), mode: Some(0), ..Attributes::default() };
    assert_eq!(dir.apply(b"dir", None, &set).len(), 1, "another file took the place");
}

#[test]
fn a_read_only_file_opens_for_writing_in_place_and_stays_read_only() {
    let (_temp, dir) = place();
    dir.create(b"file", 0o400).unwrap().write_all(b"x").unwrap();
    dir.open_rw(b"file").unwrap().write_all(b"yy").unwrap();
    let stat = dir.stat(b"file").unwrap();
    assert_eq!((stat.mode & 0o7777, stat.size, stat.kind()), (0o400, 2, Kind::Regular));
}
