//! Does the page about rsync's options say what the command line does?

use std::collections::BTreeSet;

use wire::option_table::{all, find_long, find_negated, find_short};
use wire::options::{Ask, parse_line};

const PAGE: &str = include_str!("../../../docs/rsync-options.md");

/// One option as the page writes it, and its verdict.
struct Entry {
    name: &'static str,
    takes_value: bool,
    verdict: &'static str,
}

fn entries() -> Vec<Entry> {
    let mut entries = Vec::new();
    for line in PAGE.lines().filter(|line| line.starts_with("| `")) {
        let (options, verdict) =
            line.trim_matches(['|', ' ']).split_once("` | ").unwrap_or_default();
        let values = options.contains('=');
        for option in options.split(", ") {
            let (name, value) = match option.trim_matches('`').split_once('=') {
                Some((name, _)) => (name, true),
                None => (option.trim_matches('`'), false),
            };
            entries.push(Entry { name, takes_value: value || values, verdict });
        }
    }
    entries.retain(|entry| entry.name != "--no-OPTION");
    entries
}

/// A value that makes sense for an option.
fn value(name: &str) -> &'static str {
    match name {
        "--info" => "name2,stats",
        "--debug" => "del,filter3",
        "--stderr" => "all",
        "--checksum-choice" | "--cc" => "xxh64,md5",
        "--compress-choice" | "--zc" => "zstd",
        "--chmod" => "Dg+s,F644",
        "--confine-root" => "/srv",
        "--remote-option" | "-M" => "--fake-super",
        "--outbuf" => "L",
        "--stop-at" => "23:59",
        "--bwlimit" => "1.5m",
        "--max-alloc" => "2G",
        _ => "29",
    }
}

#[test]
fn what_the_page_calls_the_same_is_taken_and_what_it_refuses_is_refused() {
    let entries = entries();
    assert!(entries.len() > 200, "{}", entries.len());
    for entry in entries {
        // -r lets the deletions through; these values make sense with all of them.
        let mut words = vec![b"-r".to_vec(), entry.name.into()];
        if entry.takes_value {
            words.push(value(entry.name).into());
        }
        words.extend([b"src".to_vec(), b"dst".to_vec()]);
        let line = parse_line(&words, &|_| None);
        let taken = line.as_ref().is_ok_and(|line| match line.ask {
            Ask::Transfer => line.operands.len() == 2,
            ask => ask != Ask::Daemon,
        });
        match entry.verdict {
            "same" => assert!(taken, "{}: {line:?}", entry.name),
            verdict if verdict.starts_with("differs: ") => assert!(taken, "{}", entry.name),
            verdict if verdict.starts_with("refused: ") => assert!(!taken, "{}", entry.name),
            verdict => panic!("{}: {verdict}", entry.name),
        }
    }
}

#[test]
fn page_and_table_name_the_same_options() {
    let told: BTreeSet<&str> = entries().iter().map(|entry| entry.name).collect();
    for spec in all() {
        for name in spec.names {
            let dashes = if name.len() == 1 { "-" } else { "--" };
            assert!(told.contains(format!("{dashes}{name}").as_str()), "{name} is not on the page");
        }
    }
    for name in told {
        let known = match name.strip_prefix("--") {
            Some(long) => find_long(long).or_else(|| find_negated(long.strip_prefix("no-")?)),
            None => name.chars().nth(1).and_then(find_short),
        };
        assert!(known.is_some(), "{name} is not in the table");
    }
}
