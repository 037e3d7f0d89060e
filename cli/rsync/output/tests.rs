//! What rsync 3.5.0 printed of these sessions, byte by byte.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use engine::{Counts, Direction, Trouble, Who};
use wire::dialect::SumName;

use super::*;

/// Changes options.
type Set = fn(&mut Options);

/// Bytes that two can see.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Paper {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

struct Desk {
    state: State,
    out: Paper,
    err: Paper,
    log: Paper,
}

impl Desk {
    fn new(options: &Options, way: Way) -> Self {
        let (out, err, log) = (Paper::default(), Paper::default(), Paper::default());
        let sink = Sink {
            out: Box::new(out.clone()),
            err: Box::new(err.clone()),
            log: options.log_file.is_some().then(|| Box::new(log.clone()) as Stream),
            high: High::Utf8,
            quiet: options.quiet,
            collects: false,
            all_to_err: options.stderr == StderrMode::All,
            open: false,
            zone: TimeZone::UTC,
        };
        let state = State::new(Manner::of(options, way, TimeZone::UTC), sink);
        Self { state, out, err, log }
    }

    fn levels(mut self, progress: u8, flist: u8) -> Self {
        self.state.manner.levels.progress = progress;
        self.state.manner.levels.flist = flist;
        self.state.meter = Meter::new(progress > 1, self.state.manner.human);
        self
    }

    fn begins(&mut self, incremental: bool) {
        let session = Session { protocol: 32, incremental, sum: SumName::Xxh128 };
        self.state.event(&Event::Begins(session), 0);
    }

    fn tell(&mut self, events: &[Event<'_>]) {
        for event in events {
            self.state.event(event, 0);
        }
    }

    /// The log without times and process numbers.
    fn log(&self) -> String {
        let text = self.log.text();
        let lines = text.lines().map(|line| line.split_once("] ").unwrap().1);
        lines.map(|line| format!("{line}\n")).collect()
    }
}

fn options(set: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::archive();
    set(&mut options);
    options
}

fn item(name: &[u8], iflags: u16, kind: Kind) -> Event<'_> {
    Event::Item(Item::new(name, iflags, kind, Direction::Sent))
}

/// What the engine tells of a first copy of three items into a new directory.
fn first_copy() -> Vec<Event<'static>> {
    let link = Item {
        link_target: Some(b"a.txt"),
        ..Item::new(b"link", 0x6002, Kind::Symlink, Direction::Sent)
    };
    let hard = Item {
        leader: Some(b"hard"),
        ..Item::new(b"a.txt", 0x7000, Kind::Regular, Direction::Sent)
    };
    vec![
        Event::Notice { notice: Notice::CreatedDirectory, name: b"dst" },
        item(b".", 0x6000, Kind::Dir),
        item(b"odd\x01\nname\xff", 0xa000, Kind::Regular),
        Event::Item(link),
        Event::Item(hard),
    ]
}

fn numbers() -> Summary {
    Summary {
        files: Counts { regular: 1234, dirs: 4, links: 1, devices: 0, specials: 1 },
        created: Counts { regular: 9, dirs: 3, links: 1, devices: 0, specials: 1 },
        transferred: 9,
        total_size: 200_036,
        transferred_size: 200_031,
        literal_bytes: 200_031,
        list_bytes: 248,
        list_build: Duration::from_millis(1),
        sent_bytes: 200_752,
        received_bytes: 245,
        elapsed: Duration::from_millis(30),
        ..Summary::default()
    }
}

#[test]
fn a_first_copy_with_v_prints_and_logs_what_rsync_does() {
    let options = options(|options| {
        options.verbose = 1;
        options.log_file = Some("log".into());
    });
    let mut desk = Desk::new(&options, Way::Local);
    desk.begins(true);
    desk.tell(&first_copy());
    desk.state.totals(&numbers());
    assert_eq!(
        desk.out.text(),
        "sending incremental file list\ncreated directory dst\n./\nodd\\#001\\#012name\\#377\n\
         link -> a.txt\na.txt => hard\n\n\
         sent 200,752 bytes  received 245 bytes  401,994.00 bytes/sec\n\
         total size is 200,036  speedup is 1.00\n"
    );
    let log = desk.log.0.lock().unwrap().clone();
    let lines: Vec<_> = log.split(|&byte| byte == b'\n').collect();
    assert!(lines[3].ends_with(b"] >f+++++++++ odd\\#001\\#012name\xff"), "{:?}", lines[3]);
    assert!(lines[0].ends_with(b"] building file list"));
    assert!(lines[5].ends_with(b"] hf+++++++++ a.txt => hard"));
    assert!(lines[7].ends_with(b"] total size is 200,036  speedup is 1.00"));
}

#[test]
fn itemized_lines_depend_on_the_way_and_silence_on_neither_v_nor_i() {
    for (way, arrow) in [(Way::Local, '>'), (Way::Push, '<')] {
        let mut desk = Desk::new(&options(|options| options.itemize = 1), way);
        desk.begins(true);
        desk.tell(&first_copy());
        desk.state.totals(&numbers());
        let expected = format!(
            "created directory dst\ncd+++++++++ ./\n{arrow}f+++++++++ odd\\#001\\#012name\\#377\n\
             cL+++++++++ link -> a.txt\nhf+++++++++ a.txt => hard\n"
        );
        assert_eq!(desk.out.text(), expected);
    }
    let mut desk = Desk::new(&options(|_| {}), Way::Local);
    desk.begins(true);
    // Of a directory that was made nobody is told then.
    let all = first_copy();
    let told = all.iter().position(|event| matches!(event, Event::Item(_))).unwrap();
    desk.tell(&all[told..]);
    desk.state.totals(&numbers());
    assert_eq!(desk.out.text() + &desk.err.text(), "");
}

#[test]
fn attributes_alone_have_a_line_only_where_it_says_which() {
    let changes = || {
        [
            item(b"a", 0x0010, Kind::Regular),
            item(b"p", 0x0018, Kind::Special),
            item(b"d", 0x0018, Kind::Dir),
            item(b"d/b", 0x8008, Kind::Regular),
        ]
    };
    let verbose = options(|options| options.verbose = 1);
    let mut desk = Desk::new(&verbose, Way::Local);
    desk.tell(&changes());
    assert_eq!(desk.out.text(), "d/\nd/b\n");
    let mut desk = Desk::new(&options(|options| options.itemize = 1), Way::Local);
    desk.tell(&changes());
    assert_eq!(desk.out.text(), ".f...p..... a\n.S..tp..... p\n.d..tp..... d/\n>f..t...... d/b\n");
    let logging = options(|options| options.log_file = Some("log".into()));
    let mut desk = Desk::new(&logging, Way::Local);
    desk.begins(true);
    desk.tell(&changes());
    desk.state.totals(&numbers());
    assert_eq!(
        desk.log(),
        "building file list\n.d..tp..... d/\n>f..t...... d/b\n\
         sent 200752 bytes  received 245 bytes  total size 200036\n"
    );
    assert_eq!(desk.out.text(), "");
}

#[test]
fn unchanged_items_are_itemized_or_said_to_be_uptodate_but_not_both() {
    let unchanged = || {
        [
            Event::Notice { notice: Notice::UpToDate, name: b"a" },
            item(b"a", 0, Kind::Regular),
            Event::Notice { notice: Notice::Exists, name: b"b" },
        ]
    };
    let table: [(Set, &str); 5] = [
        (|options| options.verbose = 1, ""),
        (|options| options.verbose = 2, "a is uptodate\nb exists\n"),
        (|options| options.itemize = 2, ".f          a\n"),
        (|options| (options.itemize, options.out_format) = (2, Some(b"%n".into())), ""),
        (|options| (options.verbose, options.itemize) = (2, 1), ".f          a\nb exists\n"),
    ];
    for (set, expected) in table {
        let mut desk = Desk::new(&options(set), Way::Local);
        desk.tell(&unchanged());
        assert_eq!(desk.out.text(), expected);
    }
}

#[test]
fn rules_that_decide_are_named_under_vv() {
    let hits = |who| {
        let hit = |includes, is_dir, name, rule| {
            Event::RuleHit(RuleHit { who, includes, is_dir, name, rule })
        };
        [hit(false, true, b"e", b"e"), hit(true, false, b"d/x.o", b"*.o [per-dir .rules]")]
    };
    let mut desk = Desk::new(&options(|options| options.verbose = 2), Way::Local);
    desk.tell(&hits(Who::Sender));
    desk.tell(&hits(Who::Generator));
    assert_eq!(
        desk.out.text(),
        "[sender] hiding directory e because of pattern e\n\
         [sender] showing file d/x.o because of pattern *.o [per-dir .rules]\n\
         [generator] protecting directory e because of pattern e\n\
         [generator] risking file d/x.o because of pattern *.o [per-dir .rules]\n"
    );
    let mut desk = Desk::new(&options(|options| options.verbose = 1), Way::Local);
    desk.tell(&hits(Who::Sender));
    assert_eq!(desk.out.text(), "");
}

#[test]
fn deletions_follow_the_format_where_it_says_what_is_done() {
    let deletions = || {
        [
            Event::Deleted { name: b"olddir/x", is_dir: false },
            Event::Deleted { name: b"olddir", is_dir: true },
        ]
    };
    let table: [(Option<&str>, u8, u8, &str); 5] = [
        (None, 1, 0, "deleting olddir/x\ndeleting olddir/\n"),
        (None, 0, 1, "*deleting   olddir/x\n*deleting   olddir/\n"),
        (Some("%n"), 0, 0, "deleting olddir/x\ndeleting olddir/\n"),
        (
            Some("%o %n %f %l %i"),
            1,
            0,
            "del. olddir/x olddir/x 0 *deleting  \ndel. olddir/ olddir 0 *deleting  \n",
        ),
        (None, 0, 0, ""),
    ];
    for (format, verbose, itemize, expected) in table {
        let options = options(|options| {
            options.out_format = format.map(|format| format.into());
            (options.verbose, options.itemize) = (verbose, itemize);
        });
        let mut desk = Desk::new(&options, Way::Local);
        desk.tell(&deletions());
        assert_eq!(desk.out.text(), expected);
    }
}

#[test]
fn a_preview_logs_what_would_change_but_not_what_would_move() {
    let options = options(|options| {
        (options.verbose, options.dry_run) = (1, true);
        options.log_file = Some("log".into());
    });
    let mut desk = Desk::new(&options, Way::Local);
    desk.tell(&[
        Event::Deleted { name: b"old", is_dir: false },
        item(b"d", 0x0018, Kind::Dir),
        item(b"d/b", 0x8008, Kind::Regular),
    ]);
    desk.state.totals(&numbers());
    assert_eq!(
        desk.out.text(),
        "deleting old\nd/\nd/b\n\nsent 200,752 bytes  received 245 bytes  401,994.00 bytes/sec\n\
         total size is 200,036  speedup is 1.00 (DRY RUN)\n"
    );
    assert!(desk.log().starts_with(".d..tp..... d/\nsent 200,752"));
}

#[test]
fn a_list_in_one_piece_is_told_on_one_line() {
    let verbose = options(|options| options.verbose = 1);
    let mut desk = Desk::new(&verbose, Way::Push);
    desk.begins(false);
    desk.tell(&[Event::Listing(0), Event::Listing(100), Event::ListComplete(150)]);
    assert_eq!(desk.out.text(), "building file list ... done\n");

    let mut desk = Desk::new(&verbose, Way::Push).levels(0, 2);
    desk.begins(false);
    desk.tell(&[Event::Listing(0), Event::Listing(100), Event::ListComplete(150)]);
    assert_eq!(
        desk.out.text(),
        "building file list ... \n 0 files...\r 100 files...\r150 files to consider\n"
    );

    let mut desk = Desk::new(&verbose, Way::Pull).levels(0, 2);
    desk.begins(false);
    desk.tell(&[Event::Listing(0), Event::ListComplete(1)]);
    assert_eq!(desk.out.text(), "receiving file list ... 1 file to consider\n");
}

#[test]
fn an_error_ends_the_open_line_where_it_is_printed() {
    let verbose = options(|options| options.verbose = 1);
    let mut desk = Desk::new(&verbose, Way::Push);
    desk.begins(false);
    let stock = "rsync: [sender] link_stat \"/nope\" failed: No such file or directory (2)";
    let problem = Problem {
        path: "/nope".into(),
        trouble: Trouble::Other { ours: "not there".into(), stock: stock.into() },
        gravity: engine::Gravity::Error,
        who: Who::Sender,
    };
    desk.tell(&[Event::Problem(problem), Event::ListComplete(2)]);
    assert_eq!(desk.out.text(), "building file list ... done\n");
    assert_eq!(desk.err.text(), format!("\n{stock}\n"));
}

#[test]
fn progress_of_each_file_stands_below_its_name() {
    let options = options(|options| options.progress = true);
    let mut desk = Desk::new(&options, Way::Local);
    desk.begins(true);
    let standing = Standing { file: Some(3), left: 4, listed: 6, complete: false, total_size: 10 };
    desk.tell(&[
        item(b"a", 0xa000, Kind::Regular),
        Event::Moving { offset: 3, size: 3, total_size: 10 },
        Event::Passed(standing),
        Event::Passed(Standing { file: None, ..standing }),
        item(b"d", 0x6000, Kind::Dir),
    ]);
    assert_eq!(
        desk.out.text(),
        "sending incremental file list\na\n\r              3 100%    0.00kB/s    0:00:00  \
         \r              3 100%    0.00kB/s    0:00:00 (xfr#1, ir-chk=4/6)\nd/\n"
    );
}

#[test]
fn progress_of_the_whole_leaves_its_line_open_until_something_else_is_said() {
    let mut desk = Desk::new(&options(|options| options.itemize = 1), Way::Local).levels(2, 0);
    let standing = Standing { file: Some(3), left: 4, listed: 6, complete: true, total_size: 10 };
    desk.tell(&[
        item(b"a", 0xa000, Kind::Regular),
        Event::Passed(standing),
        item(b"d", 0x6000, Kind::Dir),
        Event::Passed(Standing { file: None, left: 0, ..standing }),
    ]);
    desk.state.totals(&numbers());
    assert_eq!(
        desk.out.text(),
        ">f+++++++++ a\n\r              3  30%    0.00kB/s    0:00:00 (xfr#1, to-chk=4/6)\n\
         cd+++++++++ d/\n\r              3  30%    0.00kB/s    0:00:00 (xfr#1, to-chk=0/6)\n"
    );
}

#[test]
fn the_numbers_of_stats_are_those_of_rsync() {
    let lines = totals::stats(&numbers(), 32, 1).join("\n");
    assert_eq!(
        lines,
        "Number of files: 1,240 (reg: 1,234, dir: 4, link: 1, special: 1)\n\
         Number of created files: 14 (reg: 9, dir: 3, link: 1, special: 1)\n\
         Number of deleted files: 0\n\
         Number of regular files transferred: 9\n\
         Total file size: 200,036 bytes\n\
         Total transferred file size: 200,031 bytes\n\
         Literal data: 200,031 bytes\n\
         Matched data: 0 bytes\n\
         File list size: 248\n\
         File list generation time: 0.001 seconds\n\
         File list transfer time: 0.000 seconds\n\
         Total bytes sent: 200,752\n\
         Total bytes received: 245"
    );
    let old = totals::stats(&Summary::default(), 29, 2).join("\n");
    assert!(old.starts_with("Number of files: 0\nNumber of created files: 0\nNumber of regular"));
    assert!(!old.contains("time"));
    let [sent, total] = totals::totals(&numbers(), 2, " (BATCH ONLY)");
    assert_eq!(sent, "sent 200.75K bytes  received 245 bytes  401.99K bytes/sec");
    assert_eq!(total, "total size is 200.04K  speedup is 1.00 (BATCH ONLY)");
    assert_eq!(
        totals::search(&numbers()),
        "total: matches=0  hash_hits=0  false_alarms=0 data=200031"
    );
}

#[test]
fn words_of_the_far_side_pass_through_and_quiet_keeps_the_errors() {
    let texts = || {
        [
            Event::FarText { kind: TextKind::Info, text: b"\nrsync[7] heap statistics:\n" },
            Event::FarText { kind: TextKind::Info, text: b"skipping \"odd\xff\x1b[2J\"\n" },
            Event::FarText { kind: TextKind::ErrorXfer, text: b"rsync: no\n" },
        ]
    };
    let table: [(Set, &str, &str); 3] = [
        (|_| {}, "\nrsync[7] heap statistics:\nskipping \"odd\\#377\\#033[2J\"\n", "rsync: no\n"),
        (|options| options.quiet = true, "", "rsync: no\n"),
        (
            |options| options.stderr = StderrMode::All,
            "",
            "\nrsync[7] heap statistics:\nskipping \"odd\\#377\\#033[2J\"\nrsync: no\n",
        ),
    ];
    for (set, out, err) in table {
        let mut desk = Desk::new(&options(set), Way::Push);
        desk.tell(&texts());
        assert_eq!((desk.out.text().as_str(), desk.err.text().as_str()), (out, err));
    }
}
