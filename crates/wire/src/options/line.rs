//! What does a whole command line of rsync ask for?

use crate::dialect::{CompressName, SumName};
use crate::option_table::Effect;

use super::parse::{obey, walk};
use super::{Append, OptionError, Options, Side};

/// Is a command line of rsync, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What to do.
    pub ask: Ask,
    /// All options; only half filled where `ask` is no transfer.
    pub options: Options,
    /// The words that are no options.
    pub operands: Vec<Vec<u8>>,
}

/// Tells what a command line asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// To transfer or to list.
    Transfer,
    /// `--help`, or `-h` as the only word.
    Help,
    /// `--version`.
    Version,
    /// `-VV`: the same as JSON.
    VersionJson,
    /// `--info=help`.
    InfoHelp,
    /// `--debug=help`.
    DebugHelp,
    /// `--server`: see [`crate::server_args::parse_server_args`].
    Server,
    /// `--daemon`, or an option that only a daemon has.
    Daemon,
}

/// Takes a command line of rsync apart; `variable` looks into the environment.
///
/// Obeys `RSYNC_ICONV`, `RSYNC_MAX_ALLOC`, `RSYNC_OLD_ARGS`, `RSYNC_PROTECT_ARGS` and
/// `RSYNC_PARTIAL_DIR` where no word says otherwise. Words behind `--help`, `--server` and
/// `--daemon` are not looked at.
///
/// # Errors
///
/// As [`super::parse`], without a guess at what was meant.
pub fn parse_line(
    words: &[Vec<u8>],
    variable: &dyn Fn(&str) -> Option<Vec<u8>>,
) -> Result<Line, OptionError> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let mut options = Options::default();
    if let Some(spec) = set("RSYNC_ICONV") {
        obey(&[[b"--iconv=", spec.as_slice()].concat()], &mut options)?;
    }
    if let Some(size) = set("RSYNC_MAX_ALLOC") {
        obey(&[[b"--max-alloc=", size.as_slice()].concat()], &mut options)?;
    }
    obey_algorithm_lists(&mut options, Side::Client, variable);
    let mut ask = Ask::Transfer;
    let walked = walk(words, &mut |setting| {
        match setting.spec.effect {
            Effect::Ask(Ask::Version) if ask == Ask::Transfer => ask = Ask::Version,
            Effect::Ask(Ask::Version) => ask = Ask::VersionJson,
            Effect::Ask(now) => ask = now,
            _ => setting.apply(&mut options)?,
        }
        if let Some(help) = setting.level_help() {
            ask = help;
        }
        Ok(!matches!(ask, Ask::Transfer | Ask::Version | Ask::VersionJson))
    });
    let operands = walked.map_err(OptionError::without_guess)?;
    if words.len() == 1 && operands.is_empty() && options.human_readable > 1 {
        ask = Ask::Help;
    }
    if ask == Ask::Transfer {
        obey_environment(&mut options, &set);
        options.settle()?;
    }
    Ok(Line { ask, options, operands })
}

/// Obeys `RSYNC_CHECKSUM_LIST` and `RSYNC_COMPRESS_LIST`, whose parts behind an `&` are for servers.
pub fn obey_algorithm_lists(
    options: &mut Options,
    side: Side,
    variable: &dyn Fn(&str) -> Option<Vec<u8>>,
) {
    let words = |name| {
        let list = variable(name).filter(|list| !list.is_empty())?;
        let mut parts = list.splitn(2, |&byte| byte == b'&');
        let (client, server) = (parts.next(), parts.next());
        let part = if side == Side::Server { server.or(client) } else { client };
        Some(String::from_utf8_lossy(part?).into_owned())
    };
    options.sums = words("RSYNC_CHECKSUM_LIST")
        .map(|list| list.split_whitespace().filter_map(SumName::parse).collect());
    options.compressions = words("RSYNC_COMPRESS_LIST")
        .map(|list| list.split_whitespace().filter_map(CompressName::parse).collect());
}

/// Obeys the variables that count only where the words left something open.
fn obey_environment(options: &mut Options, set: &dyn Fn(&str) -> Option<Vec<u8>>) {
    let number = |name: &str| {
        let text = set(name)?;
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        std::str::from_utf8(&text[..digits]).ok()?.parse::<u8>().ok()
    };
    let asks_old = !options.said.old_args && !options.secluded_args;
    if let Some(times) = number("RSYNC_OLD_ARGS").filter(|_| asks_old) {
        options.old_args = times.min(2);
    } else if !options.said.secluded_args && options.old_args == 0 {
        options.secluded_args = number("RSYNC_PROTECT_ARGS").unwrap_or(0) > 0;
    }
    let stages = !options.inplace && options.append == Append::No && !options.delay_updates;
    if options.partial && options.partial_dir.is_none() && stages {
        options.partial_dir = set("RSYNC_PARTIAL_DIR");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &str, environment: &[(&str, &str)]) -> Result<Line, OptionError> {
        let words: Vec<Vec<u8>> = words.split_whitespace().map(|word| word.into()).collect();
        let found = |name: &str| environment.iter().find(|(known, _)| *known == name);
        parse_line(&words, &|name| Some(found(name)?.1.into()))
    }

    #[test]
    fn what_is_no_transfer_is_told_apart() {
        let cases = [
            ("-a src dst", Ask::Transfer),
            ("-h src", Ask::Transfer),
            ("-h", Ask::Help),
            ("-vh", Ask::Help),
            ("--help --foo", Ask::Help),
            ("-V src", Ask::Version),
            ("-VV", Ask::VersionJson),
            ("--version -V", Ask::VersionJson),
            ("-a --info=name,help", Ask::InfoHelp),
            ("--debug=help", Ask::DebugHelp),
            ("--server --sender -e.LsfxCIvu . x", Ask::Server),
            ("--daemon --foo", Ask::Daemon),
            ("--no-detach", Ask::Daemon),
            ("--config=x", Ask::Daemon),
        ];
        for (words, ask) in cases {
            assert_eq!(line(words, &[]).unwrap().ask, ask, "{words}");
        }
        assert_eq!(line("-V --foo", &[]).unwrap_err().to_string(), "--foo: unknown option");
    }

    #[test]
    fn the_environment_speaks_where_the_words_are_silent() {
        let both = [("RSYNC_PROTECT_ARGS", "1"), ("RSYNC_OLD_ARGS", "3")];
        let options = |words, environment| line(words, environment).unwrap().options;
        let silent = options("-a", &both);
        assert_eq!((silent.secluded_args, silent.old_args), (false, 2));
        assert!(options("-a", &both[..1]).secluded_args);
        assert!(!options("-a --no-s", &both[..1]).secluded_args);
        assert!(options("-a --no-old-args", &both).secluded_args);
        assert_eq!(options("-a --no-s", &both).old_args, 2);
        let kept = [("RSYNC_PARTIAL_DIR", ".rsync-tmp")];
        assert_eq!(options("-aP", &kept).partial_dir, Some(b".rsync-tmp".to_vec()));
        assert_eq!(options("-aP --inplace", &kept).partial_dir, None);
        assert_eq!(options("-aP --delay-updates", &kept).partial_dir, None);
        assert_eq!(options("-a --partial-dir=", &kept).partial_dir, None);
        assert_eq!(options("-a", &kept).partial_dir, None);
        assert_eq!(options("-a", &[("RSYNC_ICONV", "utf8")]).iconv, Some(b"utf8".to_vec()));
        let lists = [("RSYNC_CHECKSUM_LIST", "md4 foo md5 & sha1"), ("RSYNC_COMPRESS_LIST", "foo")];
        assert_eq!(options("-a", &lists).offer().sums, [SumName::Md4, SumName::Md5]);
        assert_eq!(options("-a", &lists).offer().compressions, []);
        assert_eq!(options("-a --no-iconv", &[("RSYNC_ICONV", "utf8")]).iconv, None);
    }
}
