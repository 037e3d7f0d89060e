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

/// A Linux ACL of unnamed entries and, with a mask, user 5.
fn acl(owner: u8, user_5: u8, group: u8, mask: u8, other: u8) -> Vec<u8> {
    let entry = |tag: u8, permissions: u8, id: u32| {
        [&[tag, 0, permissions, 0][..], &id.to_le_bytes()].concat()
    };
    let entries = [
        entry(1, owner, u32::MAX),
        entry(2, user_5, 5),
        entry(4, group, u32::MAX),
        entry(16, mask, u32::MAX),
        entry(32, other, u32::MAX),
    ];
    [2u32.to_le_bytes().to_vec(), entries.concat()].concat()
}

#[test]
fn acls_come_and_go_and_the_mode_is_right_each_time() {
    let (_temp, dir) = place();
    dir.create(b"file", 0o600).unwrap();
    dir.make_dir(b"dir", 0o700).unwrap();
    let (open, closed) = (acl(7, 4, 5, 5, 4), acl(6, 6, 4, 0, 0));
    let minimal = [&closed[..12], &closed[20..28], &closed[36..]].concat();
    let read = |name: &[u8]| dir.xattr(name, b"system.posix_acl_access").unwrap();
    for (value, mode, stored) in [
        (&open[..], 0o4754, Some(&open)),
        (&closed, 0o600, Some(&closed)),
        (&open, 0o754, Some(&open)),
        (&minimal, 0o640, None),
        (&open, 0o1754, Some(&open)),
        (&[], 0o644, None),
    ] {
        for name in [&b"file"[..], b"dir"] {
            let set =
                Attributes { mode: Some(mode), access_acl: Some(value), ..Attributes::default() };
            assert_eq!(applied(&dir, name, &set).mode & 0o7777, mode);
            assert_eq!(read(name).as_ref(), stored);
        }
    }
    let set = Attributes { default_acl: Some(&open), ..Attributes::default() };
    applied(&dir, b"dir", &set);
    let inner = dir.open_dir(b"dir", tree::Follow::Never).unwrap();
    for access_acl in [None, Some(&[][..])] {
        let staged = inner.stage(b".new.abc123".to_vec(), 0o600).unwrap();
        let set = Attributes { mode: Some(0o640), access_acl, ..Attributes::default() };
        assert!(staged.apply(&set).is_empty());
        let inherited = inner.xattr(b".new.abc123", b"system.posix_acl_access").unwrap();
        assert_eq!(inherited.is_some(), access_acl.is_none());
        assert_eq!(inner.stat(b".new.abc123").unwrap().mode & 0o7777, 0o640);
    }
    let set = Attributes { default_acl: Some(&[]), ..Attributes::default() };
    applied(&dir, b"dir", &set);
    assert_eq!(dir.xattr(b"dir", b"system.posix_acl_default").unwrap(), None);
}

#[test]
fn the_whole_set_of_extended_attributes_is_made_and_what_is_too_much_goes() {
    let (_temp, dir) = place();
    dir.create(b"file", 0o400).unwrap();
    dir.make_symlink(b"nowhere", b"link").unwrap();
    dir.make_node(b"fifo", 0o010_600, (0, 0)).unwrap();
    let pair = |name: &str, value: &[u8]| (name.as_bytes().to_vec(), value.to_vec());
    let long = vec![b'v'; 3000];
    let first = [pair("trusted.a", b"1"), pair("trusted.b", b""), pair("trusted.long", &long)];
    let second = [pair("trusted.b", b"2"), pair("trusted.c", b"3")];
    let keep = |name: &[u8]| name != b"trusted.a";
    for name in [&b"file"[..], b"link", b"fifo"] {
        let set = Attributes { xattrs: Some(&first), is_new: true, ..Attributes::default() };
        applied(&dir, name, &set);
        for (attribute, value) in &first {
            assert_eq!(dir.xattr(name, attribute).unwrap().as_ref(), Some(value));
        }
        let set = Attributes { xattrs: Some(&second), may_remove: Some(&keep), ..set };
        applied(&dir, name, &Attributes { is_new: false, ..set });
        let mut names = dir.xattr_names(name).unwrap();
        names.sort();
        assert_eq!(names, [&b"trusted.a"[..], b"trusted.b", b"trusted.c"]);
        assert_eq!(dir.xattr(name, b"trusted.b").unwrap().unwrap(), b"2");
    }
    let set = Attributes { xattrs: Some(&[]), ..Attributes::default() };
    assert_eq!(applied(&dir, b"file", &set).mode & 0o7777, 0o400);
    assert!(dir.xattr_names(b"file").unwrap().is_empty());
    let wrong = [pair("nonsense", b"1"), pair("user.good", b"1")];
    let set = Attributes { xattrs: Some(&wrong), mtime: Some((1, 0)), ..Attributes::default() };
    assert_eq!(dir.apply(b"file", None, &set).len(), 1);
    assert_eq!(dir.stat(b"file").unwrap().mtime, 1);
    assert!(dir.xattr(b"file", b"user.good").unwrap().is_some());
}

#[test]
fn what_only_root_may_set_is_kept_in_the_form_that_rsync_reads() {
    let (_temp, dir) = place();
    let cases = [
        (0o100_755, Some((1, 2)), None, Some("100755 0,0 1:2"), 0o755),
        (0o104_711, None, None, Some("104711 0,0 0:0"), 0o711),
        (0o020_644, None, Some((1, 3)), Some("20644 1,3 0:0"), 0o644),
        (0o010_444, None, None, Some("10444 0,0 0:0"), 0o644),
        (0o120_777, None, None, Some("120777 0,0 0:0"), 0o777),
        (0o100_640, None, None, None, 0o640),
    ];
    dir.create(b"file", 0o600).unwrap();
    for (mode, ids, rdev, text, real_mode) in cases {
        let (owner, group) = ids.unwrap_or((0, 0));
        let set = Attributes {
            mode: Some(mode),
            owner: Some(owner),
            group: Some(group),
            rdev,
            fake_super: true,
            xattrs: Some(&[]),
            ..Attributes::default()
        };
        let real = applied(&dir, b"file", &set);
        assert_eq!((real.mode & 0o7777, real.uid, real.gid), (real_mode, 0, 0));
        let stored = dir.xattr(b"file", b"user.rsync.%stat").unwrap();
        assert_eq!(stored.as_deref(), text.map(str::as_bytes));
        let seems = dir.stat_fake(b"file").unwrap();
        assert_eq!((seems.mode, seems.uid, seems.gid), (mode, owner, group));
        assert_eq!(seems.rdev, rdev.unwrap_or((0, 0)));
    }
    fs::write(dir.path_of(b"file"), "some/where").unwrap();
    let mut target = b"old".to_vec();
    dir.read_link_fake(b"file", &mut target).unwrap();
    assert_eq!(target, b"some/where");
    for broken in ["100644 0,0 1", "", "1 2 3 4 5 6", "9 0,0 0:0", "100644 0,0 99999999999:1"] {
        dir.set_xattr(b"file", b"user.rsync.%stat", broken.as_bytes()).unwrap();
        assert_eq!(dir.stat_fake(b"file").unwrap(), dir.stat(b"file").unwrap());
    }
    let value = acl(7, 4, 5, 5, 5);
    let set = Attributes {
        mode: Some(0o100_755),
        access_acl: Some(&value),
        fake_super: true,
        ..Attributes::default()
    };
    applied(&dir, b"file", &set);
    let seems = dir.stat_fake(b"file").unwrap();
    assert_eq!(dir.acl_fake(b"file", &seems, false).unwrap().as_ref(), Some(&value));
    assert_eq!(dir.xattr(b"file", b"system.posix_acl_access").unwrap(), None);
    applied(&dir, b"file", &Attributes { access_acl: Some(&[]), ..set });
    assert_eq!(dir.acl_fake(b"file", &seems, false).unwrap(), None);
}
