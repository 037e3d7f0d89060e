//! What does a person, and what does a program, get to read?

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::Value;
use snapbox::{assert_data_eq, str};
use tempfile::TempDir;

use crate::harness::daemon;
use crate::harness::odd_tree::{self, Odd, set_mtime};
use crate::harness::program::contents_of;
use crate::harness::proxy::{Fault, Proxy};
use crate::harness::random::Random;
use crate::harness::{Daemon, FarSide, Outcome, Program, Rsync, Way, repl, temp_dir};
use crate::words;

/// What the last line of `--json` tells.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) files_sent: u64,
    pub(crate) literal_bytes: u64,
    wire_bytes: u64,
}

/// Reads the summary out of a run with `--json`.
#[track_caller]
pub(crate) fn summary_of(outcome: &Outcome) -> Summary {
    let lines = json_lines(outcome);
    let summary = &lines.last().unwrap_or_else(|| panic!("{}", outcome.told()))["summary"];
    let number =
        |name: &str| summary[name].as_u64().unwrap_or_else(|| panic!("no {name}: {summary}"));
    Summary {
        files_sent: number("transferred"),
        literal_bytes: number("literal_bytes"),
        wire_bytes: number("sent_bytes") + number("received_bytes"),
    }
}

#[track_caller]
fn json_lines(outcome: &Outcome) -> Vec<Value> {
    let parse = |line: &str| {
        serde_json::from_str(line)
            .unwrap_or_else(|error| panic!("{error}: {line}\n{}", outcome.told()))
    };
    outcome.stdout().lines().map(parse).collect()
}

/// A source of a few files, of which the far side has an older state with one file too many.
struct Small {
    folder: TempDir,
    daemon: Daemon,
}

impl Small {
    fn new() -> Self {
        let folder = temp_dir();
        let daemon = Daemon::start(Rsync::Installed);
        for (root, letter) in
            [(folder.path().join("source"), 1500), (daemon.root().to_owned(), 900)]
        {
            fs::create_dir_all(root.join("inner")).unwrap();
            fs::write(root.join("letter"), Random::new(1).text(letter)).unwrap();
            fs::write(root.join("same"), "same\n").unwrap();
        }
        let small = Self { folder, daemon };
        fs::write(small.source().join("inner/new"), "new\n").unwrap();
        symlink("letter", small.source().join("link")).unwrap();
        fs::write(small.daemon.root().join("surplus"), "surplus\n").unwrap();
        for root in [small.source(), small.daemon.root().to_owned()] {
            for name in ["same", "inner", ""] {
                set_mtime(&root.join(name), 1_700_000_000, 0);
            }
        }
        set_mtime(&small.source().join("letter"), 1_700_000_000, 0);
        small
    }

    fn source(&self) -> PathBuf {
        self.folder.path().join("source")
    }

    fn push(&self, options: &[&str]) -> Outcome {
        self.push_to(self.daemon.url(""), options)
    }

    fn push_to(&self, to: String, options: &[&str]) -> Outcome {
        let words = words!["push", "--to", to, contents_of(&self.source())];
        repl(words).args(options).run().expect_success()
    }
}

#[test]
fn the_summary_has_files_bytes_matches_speedup_and_errors() {
    let run = Small::new().push(&["--delete"]);
    assert_data_eq!(
        run.stdout(),
        str![[r#"
push to rsync://127.0.0.1:[..]/m/
sent 2 of 3 files (1.5 KiB of 1.5 KiB), created 2, deleted 1 in [..] s
content: [..] bytes literal, [..] bytes matched
sent [..] bytes  received [..] bytes  [..]/s
total size is 1,515  speedup is [..]  errors: 0

"#]]
    );
    assert_eq!(run.stderr(), "");
}

#[test]
fn a_preview_says_what_would_be_sent_made_and_deleted() {
    let run = Small::new().push(&["-n", "--delete"]);
    assert_data_eq!(
        run.stdout(),
        str![[r#"
preview of push to rsync://127.0.0.1:[..]/m/ (nothing is changed)
delete   surplus
send     letter (1.5 KiB, changed)
create   link
send     inner/new (4 B, new)
would send 2 of 3 files (1.5 KiB of 1.5 KiB), create 2, delete 1

"#]]
    );
}

#[test]
fn itemized_changes_are_written_as_rsync_writes_them() {
    let run = Small::new().push(&["-i", "--delete", "-q"]);
    let changes: String = run
        .stdout()
        .lines()
        .filter(|line| is_itemized(line))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_data_eq!(
        changes,
        str![[r#"
*deleting   surplus
<f.st...... letter
cL+++++++++ link
<f+++++++++ inner/new

"#]]
    );
}

fn is_itemized(line: &str) -> bool {
    line.starts_with(['<', '>', 'c', 'h', '.', '*']) && line.as_bytes().get(11) == Some(&b' ')
        || line.starts_with("*deleting")
}

#[test]
fn quiet_prints_nothing_and_verbose_prints_names() {
    let quiet = Small::new().push(&["-q", "--delete"]);
    assert_eq!((quiet.stdout(), quiet.stderr()), (String::new(), String::new()));
    let verbose = Small::new().push(&["-v", "--delete"]);
    for line in ["letter", "inner/new", "link", "deleting surplus"] {
        assert!(
            verbose.stdout().lines().any(|found| found == line),
            "no {line}: {}",
            verbose.told()
        );
    }
    assert!(!verbose.stdout().contains("same"), "{}", verbose.told());
}

#[test]
fn very_verbose_says_which_block_size_was_chosen_and_why() {
    let run = Small::new().push(&["-vv"]);
    let told = run.stdout() + &run.stderr();
    assert!(
        told.lines().any(|line| line.contains("block") && line.contains("1500 bytes")),
        "{told}"
    );
}

#[test]
fn json_is_one_object_a_line_from_start_to_end() {
    let run = Small::new().push(&["--json", "--delete"]);
    let lines = json_lines(&run);
    let events: Vec<_> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(events.first(), Some(&"start"), "{}", run.told());
    assert_eq!(events.last(), Some(&"end"), "{}", run.told());
    let letter = lines.iter().find(|line| line["name"] == "letter").unwrap();
    assert_eq!(letter["event"], "item");
    assert_eq!(letter["size"], 1500);
    assert!(lines.iter().any(|line| line["event"] == "deleted" && line["name"] == "surplus"));
    assert_eq!(lines.last().unwrap()["code"], 0);
    assert_eq!(run.stderr(), "");
}

#[test]
fn the_summary_counts_the_bytes_that_went_over_the_wire() {
    let small = Small::new();
    let proxy = Proxy::to(small.daemon.port, Fault::None);
    let run = small.push_to(daemon::url(proxy.port, ""), &["--json"]);
    let (told, seen) = (summary_of(&run).wire_bytes, proxy.traffic());
    // The text lines of the daemon protocol may be left out, as stock leaves them out.
    assert!(told <= seen && seen - told < 600, "told {told}, seen {seen}");
}

#[test]
fn failures_are_objects_too() {
    let port = daemon::free_port();
    let run = repl(["push", "--json", "--to", &daemon::url(port, ""), "/etc/hostname"]).run();
    let lines = json_lines(&run);
    let end = lines.last().unwrap_or_else(|| panic!("{}", run.told()));
    assert_eq!(end["code"].as_i64(), Some(i64::from(run.code())));
    assert!(end["error"]["what"].as_str().unwrap().contains("127.0.0.1"), "{end}");
}

#[test]
fn without_a_terminal_there_are_no_control_codes_whatever_the_names() {
    let folder = temp_dir();
    let source = folder.path().join("source");
    odd_tree::build(&source, Odd::EVERYTHING);
    let far = FarSide::start(Way::Daemon, Rsync::Installed);
    for options in [&["-n"][..], &["-vv", "-i"], &["--json"], &["-v", "--delete"]] {
        let run = repl(far.push(options, &source, "copy")).run().expect_success();
        for output in [&run.stdout, &run.stderr] {
            let control = output.iter().position(|byte| matches!(byte, 0..=8 | 11..=31 | 127));
            assert_eq!(
                control,
                None,
                "{options:?}: {}",
                String::from_utf8_lossy(output).escape_debug()
            );
        }
    }
}

#[test]
fn a_terminal_gets_a_bar_with_percent_rate_and_time_left() {
    let shown = on_a_terminal(&[]);
    let percents: Vec<u32> = shown
        .split(" %")
        .filter_map(|text| {
            text.rsplit(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
        })
        .collect();
    assert!(percents.is_sorted(), "{percents:?}");
    assert!(percents.iter().any(|percent| (5..100).contains(percent)), "{}", shown.escape_debug());
    for word in ["/s", "left", "large"] {
        assert!(shown.contains(word), "no {word}: {}", shown.escape_debug());
    }
    assert!(shown.contains("speedup is"), "{}", shown.escape_debug());
}

#[test]
fn a_terminal_without_colours_gets_none() {
    let shown = on_a_terminal(&[("NO_COLOR", "1")]);
    let colours = shown.split("\x1b[").skip(1).filter(|text| {
        let end = text.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ';');
        end.starts_with('m')
    });
    assert_eq!(colours.count(), 0, "{}", shown.escape_debug());
}

/// Pushes for about two seconds on a terminal of its own, and returns what is drawn there.
fn on_a_terminal(environment: &[(&str, &str)]) -> String {
    let folder = temp_dir();
    let source = folder.path().join("source");
    fs::create_dir(&source).unwrap();
    fs::write(source.join("large"), Random::new(1).bytes(6 << 20)).unwrap();
    let far = FarSide::start(Way::Daemon, Rsync::Installed);
    let mut line = format!("'{}'", env!("CARGO_BIN_EXE_repl"));
    for word in far.push(&["--bwlimit=3M"], &source, "copy") {
        line.push_str(&format!(" '{}'", word.to_str().unwrap()));
    }
    let mut terminal = Program::new("script").args(["-qec", &line, "/dev/null"]);
    terminal = terminal.env("TERM", "xterm-256color").env("COLUMNS", "100");
    for (name, value) in environment {
        terminal = terminal.env(name, value);
    }
    terminal.run().expect_success().stdout()
}

#[test]
fn a_log_file_gets_a_line_an_event() {
    let small = Small::new();
    let log = small.folder.path().join("log");
    small.push(&["-q", "--delete", "--log-file", log.to_str().unwrap()]);
    let text = fs::read_to_string(&log).unwrap();
    for word in ["letter", "inner/new", "*deleting", "surplus", "speedup is"] {
        assert!(text.contains(word), "no {word}: {text}");
    }
    assert!(text.lines().all(starts_with_a_date), "{text}");
}

fn starts_with_a_date(line: &str) -> bool {
    let date = line.as_bytes().get(..10).unwrap_or_default();
    date.iter().filter(|byte| byte.is_ascii_digit()).count() == 8
}

#[test]
fn the_help_names_the_places_the_options_and_the_exit_codes() {
    let help = repl(["push", "--help"]).run().expect_success();
    let words = [
        "--to",
        "host:path",
        "rsync://",
        "--config",
        "--dry-run",
        "--delete",
        "--exclude",
        "--include",
        "--filter",
        "--checksum",
        "--compress",
        "--bwlimit",
        "--timeout",
        "--protocol",
        "--json",
        "--log-file",
        "--password-file",
        "--rsh",
        "--rsync-path",
        "Exit codes",
        "23",
    ];
    for word in words {
        assert!(help.stdout().contains(word), "no {word}: {}", help.stdout());
    }
    assert_eq!(help.stderr(), "");
}

#[test]
fn wrong_usage_is_rsyncs_code_1_and_points_to_the_right_word() {
    let run = repl(["push", "--to", "far:/srv", "--delet", "/etc/hostname"]).run().expect_code(1);
    assert!(run.stderr().contains("--delete"), "{}", run.told());
    let run = repl(["push", "/etc/hostname"]).run().expect_code(1);
    assert!(run.stderr().contains("--to"), "{}", run.told());
}

#[test]
fn the_jobs_of_a_target_go_to_folders_of_their_own() {
    let folder = temp_dir();
    let daemon = Daemon::start(Rsync::Installed);
    for name in ["photo", "video"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("file"), name).unwrap();
        fs::create_dir(folder.path().join(name).join("@eaDir")).unwrap();
    }
    fs::create_dir(daemon.root().join("backup")).unwrap();
    let config = write_config(folder.path(), daemon.port);
    repl(words!["push", "--config", &config, "--to", "nas"]).run().expect_success();
    for (job, name) in [("nightly", "photo"), ("nightly", "video"), ("films", "video")] {
        let copy = daemon.root().join("backup").join(job).join(name);
        assert_eq!(fs::read_to_string(copy.join("file")).unwrap(), name);
        assert!(!copy.join("@eaDir").exists(), "left out without being told");
    }
    fs::remove_dir_all(daemon.root().join("backup")).unwrap();
    fs::create_dir(daemon.root().join("backup")).unwrap();
    repl(words!["push", "--config", &config, "--to", "nas", "films"]).run().expect_success();
    assert!(daemon.root().join("backup/films/video/file").exists());
    assert!(!daemon.root().join("backup/nightly").exists(), "only the named job runs");
}

fn write_config(folder: &Path, port: u16) -> PathBuf {
    let config = folder.join("repl.toml");
    let text = format!(
        "[targets.nas]\nhost = \"127.0.0.1\"\nvia = \"daemon\"\nport = {port}\nmodule = \"m\"\npath = \"backup\"\n\
         [jobs.nightly]\ntarget = \"nas\"\nsources = [\"{0}/photo\", \"{0}/video\"]\ndelete = true\n\
         [jobs.films]\ntarget = \"nas\"\nsources = [\"{0}/video\"]\n",
        folder.display(),
    );
    fs::write(&config, text).unwrap();
    config
}
