//! Does a sender that lies ever reach beyond the destination, or break the receiver?

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use walkdir::WalkDir;
use wire::flist::{DirMark, FileEntry};
use wire::int::put_varint;
use wire::item::{Request, basis, iflags};
use wire::ndx::NDX_FLIST_EOF;
use wire::sums::SumHead;

use crate::harness::liar::{Liar, Lie, Ours, Terms, meet, whole};
use crate::harness::odd_tree::set_mtime;
use crate::harness::random::Random;
use crate::harness::{Outcome, temp_dir};

/// The memory that may be resident in a session with a liar.
const RESIDENT_LIMIT: u64 = 32 << 20;
/// A liar that has said its lie hangs up, so nothing is left to wait for.
const TIME_LIMIT: Duration = Duration::from_secs(10);

const MTIME: i64 = 1_700_000_000;
const PLAIN: Terms = Terms { letters: "", long: &[], incremental: false };
const INCREMENTAL: Terms = Terms { incremental: true, ..PLAIN };

/// What a broken protocol ends with.
const REFUSED: &[i32] = &[2, 12];
/// What a session ends with that goes on without the files in question.
const LEFT_OUT: &[i32] = &[0, 2, 12, 23];

/// Says a lie.
type Say = fn(&mut Liar) -> wire::Result<()>;
/// Returns the bytes of a lie.
type Bytes = fn(&mut Liar) -> Vec<u8>;
/// Returns a token, knowing how many blocks there are.
type Token = fn(u32) -> i32;

/// A destination with something in it, and something beside it that must stay as it is.
struct Place {
    folder: TempDir,
    outside: BTreeMap<PathBuf, (Vec<u8>, u32, i64, i64)>,
}

impl Place {
    fn new() -> Self {
        let folder = temp_dir();
        let (inside, outside) = (folder.path().join("in"), folder.path().join("outside"));
        fs::create_dir_all(inside.join("dir")).unwrap();
        fs::create_dir_all(outside.join("sub")).unwrap();
        fs::write(inside.join("precious"), "precious").unwrap();
        fs::write(inside.join("dir/inner"), "inner").unwrap();
        fs::write(inside.join("letter"), Random::new(1).text(30_000)).unwrap();
        fs::write(outside.join("secret"), "secret").unwrap();
        fs::write(outside.join("sub/other"), "other").unwrap();
        symlink("../outside", inside.join("away")).unwrap();
        for path in [inside.join("precious"), inside.join("dir/inner"), outside.join("secret")] {
            set_mtime(&path, MTIME, 0);
        }
        let outside = seen(&outside);
        Self { folder, outside }
    }

    fn inside(&self) -> PathBuf {
        self.folder.path().join("in")
    }

    /// Lets the receiver meet a liar, and fails when anything is harmed.
    #[track_caller]
    fn try_lie(
        &self,
        what: &str,
        ours: Ours,
        terms: Terms,
        codes: &[i32],
        lie: impl Lie,
    ) -> Outcome {
        let run = meet(ours, terms, &self.inside(), lie);
        let shown = format!("{what}, our side is the {ours:?}: {}", run.told());
        run.expect_no_panic();
        assert!(codes.contains(&run.code()), "code {} for {shown}", run.code());
        assert!(run.wall < TIME_LIMIT, "{:?} for {shown}", run.wall);
        assert_eq!(seen(&self.folder.path().join("outside")), self.outside, "{shown}");
        for (name, content) in [("precious", "precious"), ("dir/inner", "inner")] {
            let kept = fs::read_to_string(self.inside().join(name)).unwrap_or_default();
            assert_eq!(kept, content, "{name} is lost: {shown}");
        }
        let left = WalkDir::new(self.inside()).into_iter().filter_map(Result::ok);
        let left =
            left.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b".letter."));
        assert_eq!(left.count(), 0, "a temporary file is left: {shown}");
        run
    }
}

/// Everything below a folder, with content, mode, time and change time.
fn seen(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, u32, i64, i64)> {
    let entries = WalkDir::new(folder).into_iter().map(Result::unwrap);
    let seen = entries.map(|entry| {
        let stat = entry.path().symlink_metadata().unwrap();
        let content = fs::read(entry.path()).unwrap_or_default();
        (entry.path().to_owned(), (content, stat.mode(), stat.mtime(), stat.ctime_nsec()))
    });
    seen.collect()
}

/// Tries a lie with our receiver at either end, each time in a place of its own.
#[track_caller]
fn try_both(what: &str, terms: Terms, codes: &[i32], lie: impl Lie + Copy) {
    for ours in [Ours::Client, Ours::Server] {
        let run = Place::new().try_lie(what, ours, terms, codes, lie);
        assert!(run.peak_bytes < RESIDENT_LIMIT, "{what}: {} bytes", run.peak_bytes);
    }
}

fn top() -> FileEntry<'static> {
    FileEntry {
        name: b".",
        mode: 0o40755,
        mtime: MTIME,
        dir_mark: DirMark::Top,
        ..Default::default()
    }
}

fn dir(name: &[u8]) -> FileEntry<'_> {
    FileEntry { name, mode: 0o40755, mtime: MTIME, ..Default::default() }
}

fn file(name: &[u8]) -> FileEntry<'_> {
    FileEntry { name, mode: 0o100_644, mtime: MTIME, size: 4, ..Default::default() }
}

/// A symlink that leads out of the destination.
fn way_out(name: &[u8]) -> FileEntry<'_> {
    let link_target = Some(&b"../outside"[..]);
    FileEntry { name, mode: 0o120_777, mtime: MTIME, link_target, ..Default::default() }
}

#[test]
fn names_that_lead_out_are_refused() {
    let names: [&[u8]; 9] = [
        b"..",
        b"../outside/evil",
        b"a/../../outside/evil",
        b"a/..",
        b"/tmp/evil-of-a-liar",
        b"/",
        b"",
        b"a\0b",
        b"./..",
    ];
    for name in names {
        for terms in [PLAIN, INCREMENTAL] {
            try_both(
                &format!("the name {}", name.escape_ascii()),
                terms,
                REFUSED,
                move |liar: &mut Liar| {
                    liar.list(&[top(), file(name)])?;
                    liar.finish(b"evil")
                },
            );
        }
    }
    assert!(!Path::new("/tmp/evil-of-a-liar").exists());
}

#[test]
fn nothing_goes_through_a_symlink_that_the_sender_has_made() {
    for letters in ["", "H", "K", "R", "KR"] {
        for long in
            [&[][..], &["--delete-after"], &["--inplace"], &["--delay-updates"], &["--backup"]]
        {
            // What is not listed may be deleted; this is listed, and as it is.
            let kept = |name| FileEntry { size: 8, ..file(name) };
            let terms = Terms { letters, long, incremental: false };
            try_both(
                &format!("a way made out, {letters} {long:?}"),
                terms,
                LEFT_OUT,
                move |liar: &mut Liar| {
                    let inner = FileEntry { size: 5, ..file(b"dir/inner") };
                    liar.list(&[
                        top(),
                        kept(b"precious"),
                        way_out(b"way"),
                        dir(b"dir"),
                        inner,
                        way_out(b"dir/way"),
                        dir(b"dir/way/sub"),
                        file(b"dir/way/sub/evil"),
                        file(b"way/evil"),
                        file(b"way/secret"),
                    ])?;
                    liar.finish(b"evil")
                },
            );
        }
    }
}

#[test]
fn a_directory_and_a_symlink_of_one_name_lead_nowhere() {
    for letters in ["", "K"] {
        let terms = Terms { letters, ..INCREMENTAL };
        try_both("a list for a symlink", terms, LEFT_OUT, |liar: &mut Liar| {
            liar.list(&[top(), way_out(b"way"), dir(b"way")])?;
            liar.sub_list(1, &[file(b"way/evil"), file(b"way/secret")])?;
            liar.index(NDX_FLIST_EOF)?;
            liar.finish(b"evil")
        });
        let terms = Terms { letters, ..PLAIN };
        try_both("a symlink for a directory that is there", terms, LEFT_OUT, |liar: &mut Liar| {
            liar.list(&[top(), way_out(b"dir"), file(b"dir/evil")])?;
            liar.finish(b"evil")
        });
    }
}

#[test]
fn deletion_stays_within_the_transfer() {
    for timing in
        [&["--delete-before"][..], &["--delete-during"], &["--delete-delay"], &["--delete-after"]]
    {
        let terms = Terms { long: timing, ..PLAIN };
        try_both(
            &format!("deletion in a directory that is a symlink, {timing:?}"),
            terms,
            LEFT_OUT,
            |liar: &mut Liar| {
                let (inner, precious) = (
                    FileEntry { size: 5, ..file(b"dir/inner") },
                    FileEntry { size: 8, ..file(b"precious") },
                );
                liar.list(&[top(), dir(b"away"), dir(b"dir"), inner, precious])?;
                liar.finish(b"evil")
            },
        );
    }
}

#[test]
fn directories_of_options_are_not_reached_through_a_symlink_of_the_sender() {
    for (name, long) in [
        (&b".part"[..], &["--partial-dir=.part"][..]),
        (b".~tmp~", &["--delay-updates"]),
        (b".part", &["--partial-dir=.part", "--delay-updates"]),
    ] {
        let terms = Terms { long, ..PLAIN };
        try_both("a partial dir that is a symlink", terms, LEFT_OUT, move |liar: &mut Liar| {
            liar.list(&[top(), way_out(name), file(b"new"), file(b"secret")])?;
            liar.finish(b"evil")
        });
        try_both("a partial file for a symlink", terms, LEFT_OUT, move |liar: &mut Liar| {
            liar.list(&[top(), way_out(name), FileEntry { size: 1 << 20, ..file(b"new") }])?;
            let wish = liar.wish()?;
            let begin = whole(&[b'x'; 30_000]);
            liar.reply(&wish, &begin[..20_000])
        });
    }
}

#[test]
fn lists_that_are_not_due_are_refused() {
    let lies: [(&str, Say); 6] = [
        ("a list for directory 10,000,000", |liar| liar.sub_list(10_000_000, &[file(b"x")])),
        ("a list for a file", |liar| liar.sub_list(2, &[file(b"precious/x")])),
        ("names of another directory", |liar| liar.sub_list(1, &[file(b"away/evil")])),
        ("the same list twice", |liar| {
            liar.sub_list(1, &[file(b"dir/inner")])?;
            liar.sub_list(1, &[file(b"dir/inner")])
        }),
        ("a list after the last", |liar| {
            liar.index(NDX_FLIST_EOF)?;
            liar.sub_list(1, &[file(b"dir/inner")])
        }),
        ("the end of the lists twice", |liar| {
            liar.index(NDX_FLIST_EOF)?;
            liar.index(NDX_FLIST_EOF)
        }),
    ];
    for (what, lie) in lies {
        try_both(what, INCREMENTAL, REFUSED, move |liar: &mut Liar| {
            liar.list(&[top(), dir(b"dir"), file(b"precious")])?;
            lie(liar)?;
            liar.finish(b"evil")
        });
    }
}

#[test]
fn replies_that_differ_from_the_request_are_refused() {
    let lies: [(&str, Say); 12] = [
        ("an index that no list has", |liar| transfer(liar, |request| request.ndx = 10_000_000)),
        ("the index of a directory", |liar| transfer(liar, |request| request.ndx = 0)),
        ("a negative index", |liar| liar.index(-50)),
        ("the least index", |liar| liar.index(-i32::MAX)),
        ("other flags", |liar| transfer(liar, |request| request.iflags ^= iflags::REPORT_TIME)),
        ("a basis of the sender's choice", |liar| {
            transfer(liar, |request| {
                request.iflags |= iflags::BASIS_TYPE_FOLLOWS | iflags::XNAME_FOLLOWS;
                request.basis_type = Some(basis::FUZZY);
                request.xname = Some(b"../outside/secret".to_vec());
            })
        }),
        ("an alternative directory that does not exist", |liar| {
            transfer(liar, |request| {
                request.iflags |= iflags::BASIS_TYPE_FOLLOWS;
                request.basis_type = Some(5);
            })
        }),
        ("a report on an index that no list has", |liar| {
            let (iflags, ndx) = (iflags::REPORT_TIME, 10_000_000);
            liar.head(&Request { ndx, iflags, basis_type: None, xname: None })
        }),
        ("the same reply twice", |liar| {
            let wish = liar.wish()?;
            liar.reply(&wish, &whole(b"good"))?;
            liar.reply(&wish, &whole(b"evil"))
        }),
        ("more blocks than there are", |liar| head(liar, |head| head.count += 1)),
        ("a longer strong sum than any", |liar| head(liar, |head| head.strong_len = 0x7fff_ffff)),
        ("a block of 2 GiB", |liar| head(liar, |head| head.block_len = 0x7fff_ffff)),
    ];
    for (what, lie) in lies {
        for terms in [PLAIN, Terms { letters: "y", ..PLAIN }] {
            try_both(what, terms, REFUSED, move |liar: &mut Liar| {
                liar.list(&[top(), FileEntry { size: 30_001, ..file(b"letter") }, file(b"new")])?;
                lie(liar)?;
                liar.finish(b"evil")
            });
        }
    }
}

/// Answers the first wish with a changed head.
fn transfer(liar: &mut Liar, change: fn(&mut Request)) -> wire::Result<()> {
    let mut wish = liar.wish()?;
    change(&mut wish.request);
    liar.reply(&wish, &whole(b"evil"))
}

/// Answers the first wish with another description of the basis.
fn head(liar: &mut Liar, change: fn(&mut SumHead)) -> wire::Result<()> {
    let mut wish = liar.wish()?;
    change(&mut wish.head);
    liar.reply(&wish, &whole(b"evil"))
}

#[test]
fn tokens_of_no_meaning_are_refused() {
    let lies: [(&str, Token); 4] = [
        ("the block behind the last", |count| -1 - count as i32),
        ("the most negative length", |_| i32::MIN),
        ("a far block", |_| -1_000_000),
        ("a literal of 2 GiB that does not come", |_| i32::MAX),
    ];
    for (what, token) in lies {
        for long in [&[][..], &["--inplace"], &["--sparse"], &["--append"]] {
            try_both(what, Terms { long, ..PLAIN }, REFUSED, move |liar: &mut Liar| {
                liar.list(&[top(), FileEntry { size: 60_000, ..file(b"letter") }])?;
                let wish = liar.wish()?;
                liar.reply(&wish, &token(wish.head.count).to_le_bytes())
            });
        }
    }
}

#[test]
fn absurd_counts_in_a_list_are_refused() {
    const ACL_NAMES: u8 = 0x10;
    let lies: [(&str, &str, Bytes); 6] = [
        ("a further name of entry 77", "H", |liar| hard_link(liar, 77)),
        ("a further name of an entry of a negative number", "H", |liar| hard_link(liar, -5)),
        ("2^31-1 xattrs", "X", |liar| behind(liar, &[], i32::MAX)),
        ("an xattr of 2 GiB", "X", |liar| behind(liar, &[1, 5], i32::MAX)),
        ("the xattrs of entry 2^31-1", "X", |liar| {
            let mut bytes = behind(liar, &[], 0);
            bytes.truncate(bytes.len() - 2);
            put_varint(&mut bytes, i32::MAX);
            bytes
        }),
        ("2^31-1 names in an ACL", "A", |liar| behind(liar, &[ACL_NAMES], i32::MAX)),
    ];
    for (what, letters, lie) in lies {
        try_both(what, Terms { letters, ..PLAIN }, REFUSED, move |liar: &mut Liar| {
            let bytes = lie(liar);
            liar.say(&bytes)
        });
    }
    try_both("a list that does not end", PLAIN, REFUSED, |liar: &mut Liar| {
        let bytes = liar.begun_list(&[top(), file(b"precious")]);
        liar.say(&bytes)
    });
}

/// An entry that claims to be a further name of entry `first`.
fn hard_link(liar: &mut Liar, first: i32) -> Vec<u8> {
    const HLINKED: i32 = 0x0200;
    let mut bytes = liar.begun_list(&[top()]);
    put_varint(&mut bytes, HLINKED);
    bytes.extend_from_slice(b"\x01x");
    put_varint(&mut bytes, first);
    bytes
}

/// An entry whose attributes, the last byte of it, are `instead` and a number.
fn behind(liar: &mut Liar, instead: &[u8], number: i32) -> Vec<u8> {
    let mut bytes = liar.begun_list(&[file(b"new")]);
    bytes.pop();
    bytes.extend_from_slice(instead);
    put_varint(&mut bytes, number);
    bytes
}

/// How much the bombs make of 16 KiB.
const BOMB: u64 = 256 << 20;

#[test]
fn a_file_that_was_announced_small_may_grow_without_growing_the_memory() {
    for size in [0, 1000] {
        try_both("256 MiB for a small file", PLAIN, REFUSED, move |liar: &mut Liar| {
            liar.list(&[top(), FileEntry { size, ..file(b"new") }])?;
            let wish = liar.wish()?;
            liar.reply(&wish, &(BOMB as u32).to_le_bytes())?;
            let piece = vec![0; 1 << 20];
            (0..BOMB >> 20).try_for_each(|_| liar.say(&piece))
        });
    }
}

#[test]
fn a_compressed_bomb_does_not_grow_the_memory() {
    // The byte says how far back a frame may refer, and so what a receiver has to remember.
    for (window, codes, limit) in
        [(0x50, REFUSED, 32 << 20), (0x88, REFUSED, 200 << 20), (0xf8, REFUSED, 32 << 20)]
    {
        for (size, ours) in [(0, Ours::Client), (BOMB, Ours::Server)] {
            let terms = Terms { letters: "z", ..PLAIN };
            let run = Place::new().try_lie("a bomb", ours, terms, codes, move |liar: &mut Liar| {
                liar.list(&[top(), FileEntry { size, ..file(b"new") }])?;
                let wish = liar.wish()?;
                liar.reply(&wish, &bomb(window))
            });
            assert!(run.peak_bytes < limit, "window {window:#x}: {} bytes", run.peak_bytes);
        }
    }
}

/// A chunk of zstd that is one byte, repeated.
fn bomb(window: u8) -> Vec<u8> {
    const BLOCK: u64 = 128 << 10;
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, window];
    for _ in 0..BOMB / BLOCK {
        frame.extend_from_slice(&(BLOCK << 3 | 2).to_le_bytes()[..3]);
        frame.push(b'x');
    }
    let header = [0x40 | (frame.len() >> 8) as u8, frame.len() as u8];
    [&header[..], &frame].concat()
}

#[test]
fn a_file_of_several_names_whose_sum_was_wrong_comes_again() {
    for terms in [Terms { letters: "H", ..PLAIN }, Terms { letters: "H", ..INCREMENTAL }] {
        for ours in [Ours::Client, Ours::Server] {
            let place = Place::new();
            place.try_lie("a wrong sum", ours, terms, &[0], move |liar: &mut Liar| {
                let linked = |name| FileEntry { hard_link: Some((1, 1)), ..file(name) };
                liar.list(&[top(), linked(b"one"), linked(b"two"), linked(b"zero")])?;
                if terms.incremental {
                    liar.index(NDX_FLIST_EOF)?;
                }
                let wish = liar.wish()?;
                liar.reply(&wish, &[1, 0, 0, 0, b'x', 0, 0, 0, 0])?;
                liar.say(&[0; 16])?;
                liar.finish(b"good")
            });
            for name in ["one", "two", "zero"] {
                let path = place.inside().join(name);
                assert_eq!(fs::read_to_string(&path).unwrap(), "good");
                assert_eq!(fs::metadata(&path).unwrap().nlink(), 3, "{name}, {ours:?}");
            }
        }
    }
}
