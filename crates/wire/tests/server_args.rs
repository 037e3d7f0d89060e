//! Does the far side get the arguments that a stock rsync sends, word for word?
//!
//! `recorded/server_args.tsv` holds what rsync 3.5.0 sent; `recorded/record_server_args.sh` says
//! how it was recorded.

use wire::options::{Options, parse};
use wire::server_args::{Channel, server_args, split_secluded};

const RECORDED: &str = include_str!("recorded/server_args.tsv");

#[test]
fn the_arguments_are_those_that_stock_rsync_sends() {
    let mut cases = 0;
    for line in RECORDED.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        let half = words.iter().position(|word| *word == "=>").unwrap();
        let given: Vec<Vec<u8>> =
            words[2..half].iter().map(|word| word.as_bytes().into()).collect();
        let mut options = Options::default();
        parse(&given, &mut options).unwrap();
        let channel = if words[0] == "daemon" { Channel::Daemon } else { Channel::Shell };
        let args = server_args(&options, channel, words[1].as_bytes());
        let shown: Vec<String> =
            args.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        assert_eq!(shown, words[half + 1..], "for: {}", words[..half].join(" "));
        cases += 1;
    }
    assert!(cases > 150, "{cases}");
}

#[test]
fn secluded_arguments_stay_out_of_the_shells_sight() {
    let mut options = Options::archive();
    parse(&[b"-s".to_vec(), b"--delete".to_vec()], &mut options).unwrap();
    let args = server_args(&options, Channel::Shell, b"a b");
    let (seen, secluded) = split_secluded(&args);
    assert_eq!(seen, [b"--server".to_vec(), b"-slogDtpre.iLsfxCIvu".to_vec()]);
    assert_eq!(secluded, [b"--delete".to_vec(), b".".to_vec(), b"a b".to_vec()]);
}
