//! Does the far side get the arguments that a stock rsync sends, and does ours understand them?
//!
//! `recorded/server_args.tsv` holds what rsync 3.5.0 sent; `recorded/record_server_args.sh` says
//! how it was recorded.

use proptest::prelude::*;
use wire::options::{FilesFrom, Options, Side, parse, parse_line};
use wire::server_args::{Channel, Direction, parse_server_args, server_args, split_secluded};

const RECORDED: &str = include_str!("recorded/server_args.tsv");

/// One line of the table.
struct Case {
    what: String,
    channel: Channel,
    direction: Direction,
    paths: Vec<Vec<u8>>,
    given: Vec<Vec<u8>>,
    sent: Vec<Vec<u8>>,
}

fn cases() -> Vec<Case> {
    let bytes = |words: &[&str]| words.iter().map(|word| word.as_bytes().to_vec()).collect();
    let case = |line: &str| {
        let (left, sent) = line.split_once("\t=>\t").unwrap_or((line, ""));
        let words: Vec<&str> = left.split('\t').collect();
        let pulls = words[0].ends_with("-pull");
        Case {
            what: words.join(" "),
            channel: if words[0].starts_with("daemon") { Channel::Daemon } else { Channel::Shell },
            direction: if pulls { Direction::FromServer } else { Direction::ToServer },
            paths: match pulls {
                true => words[1].split('|').map(|path| path.as_bytes().to_vec()).collect(),
                false => vec![words[1].as_bytes().to_vec()],
            },
            given: bytes(&words[2..]),
            sent: bytes(&sent.split('\t').collect::<Vec<_>>()),
        }
    };
    RECORDED.lines().map(case).collect()
}

fn list(options: &Options, case: &Case, paths: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let paths: Vec<&[u8]> = paths.iter().map(Vec::as_slice).collect();
    server_args(options, case.channel, case.direction, &paths)
}

fn shown(words: &[Vec<u8>]) -> Vec<String> {
    words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

#[test]
fn the_arguments_are_those_that_stock_rsync_sends() {
    let cases = cases();
    assert!(cases.len() > 300, "{}", cases.len());
    for case in cases {
        let options = parse_line(&case.given, &|_| None).unwrap().options;
        let sent = list(&options, &case, &case.paths);
        assert_eq!(shown(&sent), shown(&case.sent), "for: {}", case.what);
    }
}

#[test]
fn a_server_understands_what_stock_rsync_sends() {
    for case in cases() {
        // Words of -M can be anything; and -A brings -p back at the far side.
        let odd = |word: &Vec<u8>| word.starts_with(b"-M") || word == b"--no-p";
        if case.given.iter().any(odd) {
            continue;
        }
        // A shell would have taken the backslashes away.
        let arrived: Vec<Vec<u8>> = case.sent.iter().map(|word| unescaped(word)).collect();
        let args = parse_server_args(&arrived).unwrap();
        assert_eq!(args.sends, case.direction == Direction::FromServer, "{}", case.what);
        let letters: &[u8] = match args.capabilities.first() {
            Some(b'i') => b"iLsfxCIvu",
            Some(_) => b"LsfxCIvu",
            None => b"",
        };
        assert_eq!(args.capabilities, letters, "{}", case.what);

        // Whoever sent it again would send the same.
        let mut options = args.options;
        if let Some(FilesFrom::Local(path)) = &options.files_from {
            options.files_from = Some(FilesFrom::Remote(path.to_str().unwrap().into()));
        }
        if args.capabilities.is_empty() {
            options.protocol = Some(29);
        }
        options.inc_recursive &= args.capabilities.first() == Some(&b'i');
        let again = server_args(
            &options,
            Channel::Daemon,
            case.direction,
            &args.paths.iter().map(Vec::as_slice).collect::<Vec<_>>(),
        );
        let again: Vec<Vec<u8>> = again.iter().map(|word| unescaped(word)).collect();
        let options_of = |words: &[Vec<u8>]| {
            let dot = words.iter().rposition(|word| word == b".").unwrap();
            shown(&words[..dot])
        };
        assert_eq!(options_of(&again), options_of(&arrived), "for: {}", case.what);
    }
}

/// Takes the backslashes away that protect one word.
fn unescaped(word: &[u8]) -> Vec<u8> {
    let mut bytes = word.iter();
    let mut plain = Vec::new();
    while let Some(byte) = bytes.next() {
        plain.extend(if *byte == b'\\' { bytes.next() } else { Some(byte) });
    }
    plain
}

#[test]
fn a_server_reads_what_older_clients_send() {
    let parsed = |line: &str| {
        let words: Vec<Vec<u8>> = line.split(' ').map(|word| word.into()).collect();
        parse_server_args(&words)
    };
    let pull = parsed("--server --sender -vlogDtpre.iLsf . mod/a mod/b").unwrap();
    assert!(pull.sends && pull.options.recursive && pull.options.verbose == 1);
    assert_eq!(shown(&pull.paths), ["mod/a", "mod/b"]);
    assert_eq!(pull.capabilities, b"iLsf");
    assert_eq!(parsed("--server -re31.14iLsf . x").unwrap().capabilities, b"iLsf");
    assert!(parsed("--server --daemon .").unwrap().daemon);
    let secluded = parsed("--server -slogDtpre.iLsfxCIvu").unwrap();
    assert!(secluded.options.secluded_args && secluded.paths.is_empty());

    let refusals = [
        ("--server --foo . x", "rsync: on remote machine: --foo: unknown option"),
        ("--server -vl.Z . x", "rsync: on remote machine: -vl.Z: unknown option"),
        (
            "--server --timeout=x . x",
            "rsync: on remote machine: --timeout=x: invalid numeric value",
        ),
        ("--server -B1M . x", "rsync: --block-size=1M is too large (max: 128.00K)"),
        ("--server -N . x", "rsync: The server does not support --crtimes (-N)"),
        ("--server --zc=foo . x", "unknown compress name: foo"),
    ];
    for (line, text) in refusals {
        assert_eq!(parsed(line).unwrap_err().stock_line(Side::Server), text, "{line}");
    }
}

#[test]
fn secluded_arguments_stay_out_of_the_shells_sight() {
    let mut options = Options::archive();
    let given = ["-s", "--delete", "--iconv=utf8,latin1"].map(|word| word.as_bytes().to_vec());
    parse(&given, &mut options).unwrap();
    let args = server_args(&options, Channel::Shell, Direction::ToServer, &[b"a b"]);
    let (seen, secluded) = split_secluded(&args);
    assert_eq!(shown(seen), ["--server", "-slogDtpre.iLsfxCIvu", "--iconv=latin1"]);
    assert_eq!(shown(secluded), ["--delete", ".", "a b"]);
}

proptest! {
    #[test]
    fn no_words_of_a_client_bring_a_server_down(
        words in prop::collection::vec(
            prop_oneof![
                "-[a-zA-Z0-9@.=]{0,8}",
                "--(no-)?(chmod|info|stop-at|max-size|usermap|iconv|B|append|files-from)=[ -~]{0,9}",
                "[^\x00]{0,6}",
            ],
            0..6,
        )
    ) {
        let words: Vec<Vec<u8>> = words.into_iter().map(String::into_bytes).collect();
        let _ = parse_server_args(&words);
    }
}
