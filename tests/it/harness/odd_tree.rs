//! What is in a tree that holds one of everything a backup can meet?

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, Timespec, Timestamps, XattrFlags, lsetxattr, makedev, mknodat,
    setxattr, utimensat,
};

use walkdir::WalkDir;

use super::random::Random;

/// Which things only some protocols carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Odd {
    /// Times outside of 1970 to 2038.
    pub(crate) far_times: bool,
    /// ACLs and extended attributes.
    pub(crate) attributes: bool,
}

impl Odd {
    pub(crate) const EVERYTHING: Odd = Odd { far_times: true, attributes: true };

    /// Returns what a session of `protocol` can carry.
    pub(crate) fn for_protocol(protocol: u32) -> Odd {
        Odd { far_times: protocol >= 30, attributes: protocol >= 30 }
    }
}

/// Fills the new folder `root`.
pub(crate) fn build(root: &Path, odd: Odd) {
    fs::create_dir(root).unwrap();
    regular_files(root);
    names(root);
    links(root);
    special_files(root);
    modes_and_owners(root);
    if odd.attributes {
        attributes(root);
    }
    times(root, odd);
    settle_times(root, 1_600_000_000);
}

fn regular_files(root: &Path) {
    let mut random = Random::new(1);
    let folder = root.join("files");
    fs::create_dir(&folder).unwrap();
    for len in [0, 1, 7, 699, 700, 701, 32_767, 32_768, 32_769, 131_073] {
        fs::write(folder.join(format!("text-{len}")), random.text(len)).unwrap();
        fs::write(folder.join(format!("random-{len}")), random.bytes(len)).unwrap();
    }
    fs::write(folder.join("movie.mkv"), random.bytes(1 << 20)).unwrap();
    fs::write(folder.join("big-text"), random.text(3 << 20)).unwrap();
    holes(&folder.join("holes"));
    fs::create_dir(root.join("empty")).unwrap();
    let many = root.join("many");
    fs::create_dir(&many).unwrap();
    for number in 0..300 {
        fs::write(many.join(format!("{number}")), format!("{number}\n")).unwrap();
    }
    let mut deep = root.join("deep");
    for _ in 0..140 {
        deep.push("a-folder-in-a-folder");
    }
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("bottom"), "far down\n").unwrap();
}

fn holes(path: &Path) {
    use std::os::unix::fs::FileExt;
    let file = File::create(path).unwrap();
    file.write_all_at(b"start", 0).unwrap();
    file.write_all_at(b"middle", 1 << 20).unwrap();
    file.set_len(4 << 20).unwrap();
}

fn names(root: &Path) {
    let folder = root.join("names");
    fs::create_dir(&folder).unwrap();
    let longest = [b'n'; 255];
    let names: [&[u8]; 22] = [
        b"caf\xe9",
        b"\xff\xfe",
        "ümläut".as_bytes(),
        "日本語".as_bytes(),
        b"line\nbreak",
        b"carriage\rreturn",
        b"tab\there",
        b"\x1b[31mred",
        b"\x01\x7f",
        b"-rf",
        b"--delete",
        b" leading blank",
        b"trailing blank ",
        b"back\\slash",
        b"quote'\"quote",
        b"star*?[x]",
        b"colon:name",
        b"#hash",
        b"$HOME `id` $(id)",
        b"a\\",
        b".hidden",
        &longest,
    ];
    for name in names {
        fs::write(folder.join(OsStr::from_bytes(name)), name).unwrap();
    }
    // Names where a folder sorts otherwise than a file of the same letters.
    for name in ["foo", "foo.d", "foo-bar"] {
        fs::create_dir(folder.join(name)).unwrap();
        fs::write(folder.join(name).join("inside"), name).unwrap();
        fs::write(folder.join(format!("{name}0")), name).unwrap();
    }
}

fn links(root: &Path) {
    let folder = root.join("links");
    fs::create_dir_all(folder.join("other")).unwrap();
    symlink("../files/text-700", folder.join("relative")).unwrap();
    symlink("/etc/passwd", folder.join("absolute")).unwrap();
    symlink("nowhere/to/be/found", folder.join("dangling")).unwrap();
    symlink("other", folder.join("to-folder")).unwrap();
    symlink("../../outside", folder.join("upwards")).unwrap();
    symlink(OsString::from_vec(vec![0xe9; 100]), folder.join("odd-target")).unwrap();
    symlink("x/".repeat(1500), folder.join("long-target")).unwrap();
    fs::write(folder.join("one"), "linked three times\n").unwrap();
    fs::hard_link(folder.join("one"), folder.join("other/two")).unwrap();
    fs::hard_link(folder.join("one"), root.join("zz-three")).unwrap();
    fs::hard_link(folder.join("dangling"), folder.join("other/dangling-too")).unwrap();
    for number in 0..20 {
        let name = folder.join(format!("pair-{number}"));
        fs::write(&name, format!("pair {number}\n")).unwrap();
        fs::hard_link(&name, folder.join(format!("other/pair-{}", 19 - number))).unwrap();
    }
}

fn special_files(root: &Path) {
    let folder = root.join("special");
    fs::create_dir(&folder).unwrap();
    drop(UnixListener::bind(folder.join("socket")).unwrap());
    let make = |name: &str, kind, device| {
        mknodat(CWD, folder.join(name), kind, Mode::from_raw_mode(0o640), device).unwrap();
    };
    make("fifo", FileType::Fifo, 0);
    make("null", FileType::CharacterDevice, makedev(1, 3));
    make("tty", FileType::CharacterDevice, makedev(5, 0));
    make("disk", FileType::BlockDevice, makedev(259, 70_000));
    fs::hard_link(folder.join("fifo"), folder.join("fifo-again")).unwrap();
    fs::hard_link(folder.join("null"), folder.join("null-again")).unwrap();
}

fn modes_and_owners(root: &Path) {
    let folder = root.join("modes");
    fs::create_dir(&folder).unwrap();
    for mode in [0o0, 0o400, 0o200, 0o111, 0o777, 0o644, 0o1644, 0o2755, 0o4755, 0o6711, 0o7777] {
        let file = folder.join(format!("file-{mode:04o}"));
        fs::write(&file, format!("{mode:o}")).unwrap();
        fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
        let inner = folder.join(format!("folder-{mode:04o}"));
        fs::create_dir(&inner).unwrap();
        fs::write(inner.join("inside"), "x").unwrap();
        fs::set_permissions(&inner, PermissionsExt::from_mode(mode)).unwrap();
    }
    for (name, owner, group) in [
        ("root", 0, 0),
        ("daemon", 1, 1),
        ("nobody", 65_534, 65_534),
        ("nameless", 54_321, 65_433),
        ("large", 2_000_000_000, 4_000_000_000),
    ] {
        let file = folder.join(format!("owner-{name}"));
        fs::write(&file, name).unwrap();
        lchown(&file, Some(owner), Some(group)).unwrap();
        let link = folder.join(format!("link-{name}"));
        symlink("nothing", &link).unwrap();
        lchown(&link, Some(owner), Some(group)).unwrap();
    }
}

fn attributes(root: &Path) {
    let folder = root.join("attributes");
    fs::create_dir_all(folder.join("inherits")).unwrap();
    fs::write(folder.join("noted"), "noted\n").unwrap();
    fs::write(folder.join("guarded"), "guarded\n").unwrap();
    symlink("noted", folder.join("noted-link")).unwrap();
    // Values over 32 bytes travel as a sum first, and only on request in full.
    let long = Random::new(2).bytes(900);
    for (name, value) in [
        ("user.short", &b"blue"[..]),
        ("user.empty", b""),
        ("user.long", &long),
        ("trusted.t", b"t\0t"),
    ] {
        setxattr(folder.join("noted"), name, value, XattrFlags::empty()).unwrap();
        setxattr(folder.join("inherits"), name, value, XattrFlags::empty()).unwrap();
    }
    // As much as one block of a disk takes.
    fs::write(folder.join("full"), "full\n").unwrap();
    let largest = Random::new(4).bytes(3500);
    setxattr(folder.join("full"), "user.largest", &largest, XattrFlags::empty()).unwrap();
    lsetxattr(folder.join("noted-link"), "trusted.link", b"on a link", XattrFlags::empty())
        .unwrap();
    setfacl(&["-m", "u:12345:rw,g:daemon:r,m::rw"], &folder.join("guarded"));
    setfacl(&["-m", "u:nobody:rwx,d:u:54321:rx,d:g::-,d:o::-"], &folder.join("inherits"));
    // Children of the folder start with its default ACL.
    fs::write(folder.join("inherits/child"), "child\n").unwrap();
    fs::create_dir(folder.join("inherits/folder")).unwrap();
}

fn setfacl(words: &[&str], path: &Path) {
    let status = Command::new("setfacl").args(words).arg(path).status().unwrap();
    assert!(status.success(), "setfacl {words:?} {}", path.display());
}

fn times(root: &Path, odd: Odd) {
    let folder = root.join("times");
    fs::create_dir(&folder).unwrap();
    let mut times = vec![("epoch", 0), ("2001", 1_000_000_000), ("2037", 2_145_000_000)];
    if odd.far_times {
        times.extend([
            ("1901", -2_177_000_000),
            ("1969", -1),
            ("2040", 2_210_000_000),
            ("2200", 7_260_000_000),
        ]);
    }
    for (name, seconds) in times {
        let inner = folder.join(name);
        fs::create_dir(&inner).unwrap();
        fs::write(inner.join("file"), name).unwrap();
        symlink("file", inner.join("link")).unwrap();
        for path in [inner.join("file"), inner.join("link"), inner] {
            set_mtime(&path, seconds, 123_456_789);
        }
    }
}

/// Sets the time of `path` itself, also where that is a symlink.
pub(crate) fn set_mtime(path: &Path, seconds: i64, nanoseconds: i64) {
    let time = Timespec { tv_sec: seconds, tv_nsec: nanoseconds };
    let times = Timestamps { last_access: time, last_modification: time };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
}

/// Changes the contents of some files, the names of others, and removes a few, as days of use would.
pub(crate) fn live_in(root: &Path) {
    let mut random = Random::new(3);
    let edit = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let path = root.join("files").join(name);
        let mut content = fs::read(&path).unwrap();
        change(&mut content);
        fs::write(&path, content).unwrap();
    };
    edit("big-text", &|content| content[500_000..500_004].copy_from_slice(b"EDIT"));
    edit("text-131073", &|content| drop(content.splice(1000..1000, *b"inserted")));
    edit("random-131073", &|content| content.truncate(100_000));
    edit("movie.mkv", &|content| content.extend_from_slice(b"appended"));
    fs::remove_file(root.join("files/text-32769")).unwrap();
    fs::rename(root.join("files/text-32768"), root.join("files/renamed")).unwrap();
    fs::remove_dir_all(root.join("names/foo")).unwrap();
    fs::write(root.join("names/new"), random.text(50_000)).unwrap();
    let mut file = OpenOptions::new().append(true).open(root.join("links/one")).unwrap();
    std::io::Write::write_all(&mut file, b"and changed\n").unwrap();
    settle_times(root, 1_700_000_000);
}

/// Gives every entry that has changed just now a time of long ago, each another one.
///
/// A stock receiver leaves a time alone that differs only within the second, so fresh ones would not be equal.
pub(crate) fn settle_times(root: &Path, start: i64) {
    let hour = Duration::from_secs(3600);
    let fresh = SystemTime::now() - hour..SystemTime::now() + hour;
    let entries = WalkDir::new(root).contents_first(true).sort_by_file_name().into_iter();
    for (number, entry) in (0..).zip(entries) {
        let entry = entry.unwrap();
        if fresh.contains(&entry.path().symlink_metadata().unwrap().modified().unwrap()) {
            set_mtime(entry.path(), start + number, number * 1001);
        }
    }
}
