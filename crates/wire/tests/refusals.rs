//! Is a wrong command line refused as stock rsync refuses it, to the letter?
//!
//! `recorded/refusals.tsv` holds what rsync 3.5.0 printed; `recorded/record_refusals.sh` says how
//! it was recorded.

use wire::options::{Side, parse_line};
use wire::server_args::parse_server_args;

const RECORDED: &str = include_str!("recorded/refusals.tsv");

#[test]
fn a_wrong_command_line_is_refused_in_rsyncs_words() {
    let mut cases = 0;
    for line in RECORDED.lines() {
        let (line, refusal) = line.split_once("\t=>\t").unwrap();
        let words: Vec<Vec<u8>> = line.split(' ').map(|word| word.into()).collect();
        let (error, side) = match line.starts_with("--server") {
            true => (parse_server_args(&words).err(), Side::Server),
            false => (parse_line(&words, &|_| None).err(), Side::Client),
        };
        let Some(error) = error else {
            panic!("not refused: {line}");
        };
        let found = format!("{}\t{}", error.exit_code(), error.stock_line(side));
        assert_eq!(found, refusal, "{line}");
        cases += 1;
    }
    assert!(cases > 140, "{cases}");
}
