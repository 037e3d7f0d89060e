//! What do words in rsync's syntax ask for?

use crate::escape::printable;
use crate::option_table::{
    self, Effect, InConfig, OptionSpec, Rejection, Status, find_long, find_negated, find_short,
    spelled,
};

use super::{OptionError, Options, nearest};

/// Obeys the words in order and returns those that are no options.
///
/// Takes `--opt=value`, `--opt value`, clusters like `-aHz` and `-B4096`, `--no-OPT`; `--` ends
/// the options. On an error the options are left half changed.
///
/// # Errors
///
/// Names the word that cannot be obeyed, or the two options that exclude each other.
pub fn parse(words: &[Vec<u8>], options: &mut Options) -> Result<Vec<Vec<u8>>, OptionError> {
    let mut operands = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == b"--" {
            operands.extend(rest.by_ref().cloned());
        } else if word.len() > 1 && word.starts_with(b"-") {
            for setting in settings(word, &mut rest)? {
                setting.apply(options)?;
            }
        } else {
            operands.push(word.clone());
        }
    }
    options.check()?;
    Ok(operands)
}

/// Obeys the words of a job's `options` key, where some options must not stand.
///
/// # Errors
///
/// As [`parse`]; and for an option that [`refused_in_config`] refuses, or a word that is none.
pub fn parse_config(words: &[Vec<u8>], options: &mut Options) -> Result<(), OptionError> {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word.len() < 2 || !word.starts_with(b"-") || word == b"--" {
            let why = "only options can stand here".to_string();
            return Err(OptionError::Refused { option: printable(word), why });
        }
        check_config(word)?;
        for setting in settings(word, &mut rest)? {
            setting.apply(options)?;
        }
    }
    options.check()
}

/// Returns why a word must not stand in a job's `options` key, if so.
///
/// Looks into clusters: `-ave` holds `-e`.
pub fn refused_in_config(word: &[u8]) -> Option<String> {
    check_config(word).err().map(|error| error.to_string())
}

fn check_config(word: &[u8]) -> Result<(), OptionError> {
    // A value that stands in the next word does not matter here, nor what is wrong otherwise.
    let next = [b"0".to_vec()];
    let settings = settings(word, &mut next.iter()).unwrap_or_default();
    settings.iter().try_for_each(Setting::check_config)
}

/// Is one option with its value, as typed.
struct Setting {
    spec: &'static OptionSpec,
    spelled: String,
    value: Value,
}

enum Value {
    On,
    Off,
    Text(Vec<u8>),
}

impl Setting {
    fn check_config(&self) -> Result<(), OptionError> {
        let why = match self.spec.in_config {
            InConfig::Allowed => return Ok(()),
            InConfig::Key(key) => format!("the job's key `{key}` says it"),
            InConfig::Refused(why) => why.to_string(),
        };
        Err(OptionError::Refused { option: self.spelled.clone(), why })
    }

    fn apply(&self, options: &mut Options) -> Result<(), OptionError> {
        match self.spec.status {
            Status::Works => {}
            Status::NotYet => {
                return Err(OptionError::NotYet { option: self.spelled.clone() });
            }
            Status::Never(why) => {
                let option = self.spelled.clone();
                return Err(OptionError::Refused { option, why: why.to_string() });
            }
        }
        match (&self.spec.effect, &self.value) {
            (Effect::Switch(set), Value::Off) => set(options, false),
            (Effect::Switch(set), _) => set(options, true),
            (Effect::Flag(set), _) => set(options),
            (Effect::Delete(timing), _) => return options.set_delete_timing(*timing),
            (Effect::Value(_, Some(off)), Value::Off) => off(options),
            (Effect::Value(set, _), Value::Text(text)) => {
                return set(options, text).map_err(|rejection| self.rejected(text, rejection));
            }
            (Effect::Value(..) | Effect::Nothing, _) => {}
        }
        Ok(())
    }

    fn rejected(&self, text: &[u8], rejection: Rejection) -> OptionError {
        let (option, value) = (self.spelled.clone(), printable(text));
        match rejection {
            Rejection::Value(why) => OptionError::BadValue { option, value, why },
            Rejection::Algorithm(known) => OptionError::UnknownAlgorithm { option, value, known },
        }
    }
}

/// Takes one word apart; a value that is not in it is taken from the words behind it.
fn settings<'a>(
    word: &[u8],
    rest: &mut impl Iterator<Item = &'a Vec<u8>>,
) -> Result<Vec<Setting>, OptionError> {
    match word.strip_prefix(b"--") {
        Some(long) => Ok(vec![long_setting(long, rest)?]),
        None => cluster(&word[1..], rest),
    }
}

fn long_setting<'a>(
    long: &[u8],
    rest: &mut impl Iterator<Item = &'a Vec<u8>>,
) -> Result<Setting, OptionError> {
    let mut parts = long.splitn(2, |byte| *byte == b'=');
    let name = printable(parts.next().unwrap_or_default());
    let attached = parts.next().map(<[u8]>::to_vec);
    if let Some(spec) = find_long(&name) {
        return with_value(spec, format!("--{name}"), attached, rest);
    }
    let Some(spec) = name.strip_prefix("no-").and_then(find_negated) else {
        return Err(unknown(&name));
    };
    let spelled = format!("--{name}");
    match attached {
        Some(_) => Err(OptionError::UnexpectedValue { option: spelled }),
        None => Ok(Setting { spec, spelled, value: Value::Off }),
    }
}

/// Takes a cluster of letters; the first that has a value takes what is left of the word.
fn cluster<'a>(
    letters: &[u8],
    rest: &mut impl Iterator<Item = &'a Vec<u8>>,
) -> Result<Vec<Setting>, OptionError> {
    let mut settings = Vec::new();
    for (at, letter) in letters.iter().enumerate() {
        let option = format!("-{}", printable(&[*letter]));
        let Some(spec) = find_short(char::from(*letter)) else {
            return Err(OptionError::Unknown { option, nearest: None });
        };
        if spec.value.is_none() {
            settings.push(Setting { spec, spelled: option, value: Value::On });
            continue;
        }
        let tail = &letters[at + 1..];
        let attached = tail.strip_prefix(b"=").unwrap_or(tail);
        let attached = (!tail.is_empty()).then(|| attached.to_vec());
        settings.push(with_value(spec, option, attached, rest)?);
        break;
    }
    Ok(settings)
}

fn with_value<'a>(
    spec: &'static OptionSpec,
    spelled: String,
    attached: Option<Vec<u8>>,
    rest: &mut impl Iterator<Item = &'a Vec<u8>>,
) -> Result<Setting, OptionError> {
    let value = match (spec.value, attached) {
        (None, None) => Value::On,
        (None, Some(_)) => return Err(OptionError::UnexpectedValue { option: spelled }),
        (Some(_), Some(text)) => Value::Text(text),
        (Some(placeholder), None) => match rest.next() {
            Some(text) => Value::Text(text.clone()),
            None => {
                return Err(OptionError::MissingValue { option: spelled, placeholder });
            }
        },
    };
    Ok(Setting { spec, spelled, value })
}

fn unknown(name: &str) -> OptionError {
    let on = option_table::all().flat_map(|spec| spec.names).map(|name| (*name).to_string());
    let off = option_table::all()
        .filter(|spec| spec.negatable())
        .flat_map(|spec| spec.names)
        .map(|name| format!("no-{name}"));
    let names: Vec<String> = on.chain(off).filter(|name| name.len() > 1).collect();
    let nearest = nearest(name, names.iter().map(String::as_str));
    OptionError::Unknown { option: format!("--{name}"), nearest: nearest.map(spelled) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Delimiter, FilterOption};
    use crate::setup::CompressWish;

    fn words(line: &[&str]) -> Vec<Vec<u8>> {
        line.iter().map(|word| word.as_bytes().to_vec()).collect()
    }

    fn parsed(line: &[&str]) -> Options {
        let mut options = Options::default();
        parse(&words(line), &mut options).unwrap();
        options
    }

    fn refusal(line: &[&str]) -> OptionError {
        parse(&words(line), &mut Options::default()).unwrap_err()
    }

    #[test]
    fn a_value_is_found_in_the_word_or_behind_it() {
        let ways: [&[&str]; 6] = [
            &["--block-size=4096"],
            &["--block-size", "4096"],
            &["-B4096"],
            &["-B=4096"],
            &["-B", "4096"],
            &["-cB4096", "--no-c"],
        ];
        for way in ways {
            assert_eq!(parsed(way).block_size, Some(4096), "{way:?}");
        }
    }

    #[test]
    fn the_last_word_wins() {
        assert!(!parsed(&["-a", "--no-perms"]).perms);
        assert!(parsed(&["--no-perms", "-a"]).perms);
        assert_eq!(parsed(&["-vv", "--no-v", "-v"]).verbose, 1);
        assert_eq!(parsed(&["-z", "--zc=zstd", "--no-z"]).compress, CompressWish::Off);
        assert_eq!(parsed(&["-a"]), Options::archive());
    }

    #[test]
    fn operands_are_returned_in_order() {
        let line = words(&["-a", "src", "-", "--delete", "--", "-v"]);
        let operands = parse(&line, &mut Options::default()).unwrap();
        assert_eq!(operands, words(&["src", "-", "-v"]));
    }

    #[test]
    fn filter_options_keep_their_order_and_delimiter() {
        let line = ["--exclude-from=x", "-F", "-0", "-f", "- a", "--include-from=y", "-FF"];
        let expected = [
            FilterOption::ExcludeFrom("x".into(), Delimiter::Line),
            FilterOption::RsyncFilter,
            FilterOption::Filter(b"- a".to_vec()),
            FilterOption::IncludeFrom("y".into(), Delimiter::Nul),
            FilterOption::RsyncFilter,
            FilterOption::RsyncFilter,
        ];
        assert_eq!(parsed(&line).filters, expected);
    }

    #[test]
    fn what_cannot_be_obeyed_is_named_in_one_line() {
        let cases: [(&[&str], &str, i32); 22] = [
            (&["--exlude=x"], "unknown option --exlude, did you mean --exclude?", 1),
            (&["--no-owne"], "unknown option --no-owne, did you mean --no-owner?", 1),
            (&["--frobnicate"], "unknown option --frobnicate", 1),
            (&["-aZ"], "unknown option -Z", 1),
            (&["-a\u{7}"], "unknown option -\\x07", 1),
            (
                &["-aR"],
                "-R is known from rsync but this version does not do it yet; leave it out",
                1,
            ),
            (
                &["--iconv", "utf8"],
                "--iconv is known from rsync but this version does not do it yet; leave it out",
                1,
            ),
            (
                &["--no-motd"],
                "--no-motd is known from rsync but this version does not do it yet; leave it out",
                1,
            ),
            (
                &["--server"],
                "--server cannot be used here: this command is the client; \
                 `repl rsync` takes rsync's whole line",
                1,
            ),
            (&["--timeout"], "--timeout needs a value (SECONDS)", 1),
            (&["--delete=x"], "--delete does not take a value", 1),
            (&["--no-times=x"], "--no-times does not take a value", 1),
            (&["--timeout=5x"], "--timeout=5x is not a number", 1),
            (&["--timeout=-1"], "--timeout=-1 must not be negative", 1),
            (&["-B1M"], "-B=1M is too large (at most 128K)", 1),
            (&["--protocol=28"], "--protocol=28 is not spoken here (29 to 32 are)", 1),
            (&["-M", "foo"], "-M=foo has to start with a dash", 1),
            (&["--suffix=a/b"], "--suffix=a/b cannot contain slashes", 1),
            (
                &["--chown=a", "--usermap=b:c"],
                "--usermap=b:c conflicts with the earlier --usermap",
                1,
            ),
            (&["--copy-dest=a", "--link-dest=b"], "--link-dest=b conflicts with --copy-dest", 1),
            (
                &["--zc=lzo"],
                "--zc=lzo is not known here; known are auto, zstd, lz4, zlibx, zlib, none",
                4,
            ),
            (
                &["--cc=crc"],
                "--cc=crc is not known here; known are \
                 auto, xxh128, xxh3, xxh64, md5, md4, sha1, none",
                4,
            ),
        ];
        for (line, message, code) in cases {
            let error = refusal(line);
            assert_eq!(
                (error.to_string().as_str(), error.exit_code()),
                (message, code),
                "{line:?}"
            );
        }
    }

    #[test]
    fn a_job_may_not_say_what_its_keys_say() {
        let cases = [
            ("-e", Some("-e cannot be used here: the target's keys `via` and `ssh` say how")),
            ("-ave", Some("-e cannot be used here")),
            ("--rsh=ssh -x", Some("--rsh cannot be used here")),
            ("--remove-source-files", Some("--remove-source-files cannot be used here: a backup")),
            ("--server", Some("--server cannot be used here: a job is always the client")),
            ("-xH", Some("-H cannot be used here: the job's key `attributes` says it")),
            ("--no-acls", Some("--no-acls cannot be used here")),
            ("--delete", Some("--delete cannot be used here: the job's key `delete` says it")),
            ("-zz", Some("-z cannot be used here: the job's key `compress` says it")),
            ("--exclude=x", Some("--exclude cannot be used here")),
            ("--one-file-system", None),
            ("--delete-after", None),
            ("--timeout=60", None),
            ("--exclude-from", None),
        ];
        for (word, start) in cases {
            let refusal = refused_in_config(word.as_bytes());
            match start {
                None => assert_eq!(refusal, None, "{word}"),
                Some(start) => assert!(refusal.unwrap().starts_with(start), "{word}"),
            }
        }
        let mut options = Options::archive();
        let error = parse_config(&words(&["--timeout", "5", "src"]), &mut options).unwrap_err();
        assert_eq!(error.to_string(), "src cannot be used here: only options can stand here");
    }
}
