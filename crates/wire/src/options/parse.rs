//! What do words in rsync's syntax ask for?

use crate::escape::printable;
use crate::option_table::{
    self, Effect, InConfig, OptionSpec, Rejection, Status, find_long, find_negated, find_short,
    spelled,
};

use super::{Ask, Debug, Info, LevelWord, OptionError, Options, level_words, nearest};

/// Obeys the words in order and returns those that are no options.
///
/// Takes `--opt=value`, `--opt value`, clusters like `-aHz` and `-B4096`, `--no-OPT`; `--` ends
/// the options. On an error the options are left half changed. What only rsync's own command
/// line has is refused: that is [`super::parse_line`].
///
/// # Errors
///
/// Names the word that cannot be obeyed, or the two options that exclude each other.
pub fn parse(words: &[Vec<u8>], options: &mut Options) -> Result<Vec<Vec<u8>>, OptionError> {
    let operands = obey(words, options)?;
    options.settle()?;
    Ok(operands)
}

/// Obeys the words without a look at what they mean for each other.
pub(super) fn obey(words: &[Vec<u8>], options: &mut Options) -> Result<Vec<Vec<u8>>, OptionError> {
    walk(words, &mut |setting| {
        if let Status::RsyncOnly(why) = setting.spec.status {
            return Err(setting.refused(why));
        }
        setting.apply(options)?;
        Ok(false)
    })
}

/// Takes the words apart, shows each option to `each` until it says true, and returns the words
/// that are no options.
pub(crate) fn walk(
    words: &[Vec<u8>],
    each: &mut dyn FnMut(&Setting) -> Result<bool, OptionError>,
) -> Result<Vec<Vec<u8>>, OptionError> {
    let mut operands = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == b"--" {
            operands.extend(rest.by_ref().cloned());
        } else if word.len() > 1 && word.starts_with(b"-") {
            for setting in settings(word, &mut rest)? {
                if each(&setting)? {
                    return Ok(operands);
                }
            }
        } else {
            operands.push(word.clone());
        }
    }
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
    options.settle()
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

/// Returns the words that are options, each with the word behind it that is its value.
pub(crate) fn option_words(words: &[Vec<u8>]) -> Vec<(&Vec<u8>, Option<&Vec<u8>>)> {
    let (mut found, mut rest) = (Vec::new(), words.iter());
    while let Some(word) = rest.next().filter(|word| *word != b"--") {
        if word.len() > 1 && word.starts_with(b"-") {
            let mut behind = rest.clone();
            let _ = settings(word, &mut rest);
            let value = behind.next().filter(|_| behind.len() >= rest.len());
            found.push((word, value.filter(|_| behind.len() == rest.len())));
        }
    }
    found
}

/// Is one option with its value, as typed.
pub(crate) struct Setting {
    /// What the table says of it.
    pub(crate) spec: &'static OptionSpec,
    spelled: String,
    /// The word that holds the value, for what is wrong with a number.
    word: String,
    value: Value,
}

enum Value {
    On,
    Off,
    Text(Vec<u8>),
}

impl Setting {
    /// Does to the options what the table says.
    pub(crate) fn apply(&self, options: &mut Options) -> Result<(), OptionError> {
        if let (Status::Never(why), Value::On | Value::Text(_)) = (self.spec.status, &self.value) {
            return Err(OptionError::Invalid(why.to_string()));
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
            (Effect::Value(..) | Effect::Ask(_), _) => {}
        }
        Ok(())
    }

    /// Returns the value, if there is one.
    pub(crate) fn text(&self) -> Option<&[u8]> {
        match &self.value {
            Value::Text(text) => Some(text),
            Value::On | Value::Off => None,
        }
    }

    /// Tells whether this asks for the words of `--info` or `--debug`.
    pub(super) fn level_help(&self) -> Option<Ask> {
        let (option, names, ask): (_, &[&str], _) = match self.spec.names[0] {
            "info" => ("--info", &Info::WORDS, Ask::InfoHelp),
            "debug" => ("--debug", &Debug::WORDS, Ask::DebugHelp),
            _ => return None,
        };
        let words = level_words(option, names, self.text()?).ok()?;
        words.contains(&LevelWord::Help).then_some(ask)
    }

    fn refused(&self, why: &str) -> OptionError {
        OptionError::Refused { option: self.spelled.clone(), why: why.to_string() }
    }

    fn check_config(&self) -> Result<(), OptionError> {
        match self.spec.in_config {
            InConfig::Allowed => Ok(()),
            InConfig::Key(key) => Err(self.refused(&format!("the job's key `{key}` says it"))),
            InConfig::Refused(why) => Err(self.refused(why)),
        }
    }

    fn rejected(&self, text: &[u8], rejection: Rejection) -> OptionError {
        match rejection {
            Rejection::Number(why) => OptionError::BadNumber { word: self.word.clone(), why },
            Rejection::Said(error) => error,
            Rejection::Value(why) => {
                OptionError::BadValue { option: self.spec.spelled(), value: printable(text), why }
            }
        }
    }
}

/// Takes one word apart; a value that is not in it is taken from the words behind it.
fn settings<'a>(
    word: &[u8],
    rest: &mut impl Iterator<Item = &'a Vec<u8>>,
) -> Result<Vec<Setting>, OptionError> {
    match word.strip_prefix(b"--") {
        Some(long) => Ok(vec![long_setting(word, long, rest)?]),
        None => cluster(word, rest),
    }
}

fn long_setting<'a>(
    word: &[u8],
    long: &[u8],
    rest: &mut impl Iterator<Item = &'a Vec<u8>>,
) -> Result<Setting, OptionError> {
    let mut parts = long.splitn(2, |byte| *byte == b'=');
    let name = printable(parts.next().unwrap_or_default());
    let attached = parts.next().map(<[u8]>::to_vec);
    let spelled = format!("--{name}");
    if let Some(spec) = find_long(&name) {
        return with_value(spec, spelled, word, attached, rest);
    }
    let Some(spec) = name.strip_prefix("no-").and_then(find_negated) else {
        return Err(unknown(word, &name));
    };
    match attached {
        Some(_) => Err(OptionError::UnexpectedValue { option: printable(word) }),
        None => Ok(Setting { spec, spelled, word: printable(word), value: Value::Off }),
    }
}

/// Takes a cluster of letters; the first that has a value takes what is left of the word.
fn cluster<'a>(
    word: &[u8],
    rest: &mut impl Iterator<Item = &'a Vec<u8>>,
) -> Result<Vec<Setting>, OptionError> {
    let mut settings = Vec::new();
    for (at, letter) in word.iter().enumerate().skip(1) {
        let spelled = format!("-{}", printable(&[*letter]));
        let Some(spec) = find_short(char::from(*letter)) else {
            return Err(OptionError::Unknown { option: printable(word), nearest: None });
        };
        let tail = &word[at + 1..];
        if spec.value.is_none() {
            // Nothing but a value can follow the sign.
            let attached = tail.strip_prefix(b"=").map(<[u8]>::to_vec);
            settings.push(with_value(spec, spelled, word, attached, rest)?);
            continue;
        }
        let attached = tail.strip_prefix(b"=").unwrap_or(tail);
        let attached = (!tail.is_empty()).then(|| attached.to_vec());
        settings.push(with_value(spec, spelled, word, attached, rest)?);
        break;
    }
    Ok(settings)
}

fn with_value<'a>(
    spec: &'static OptionSpec,
    spelled: String,
    word: &[u8],
    attached: Option<Vec<u8>>,
    rest: &mut impl Iterator<Item = &'a Vec<u8>>,
) -> Result<Setting, OptionError> {
    let typed = printable(word);
    let (word, value) = match (spec.value, attached) {
        (None, None) => (typed, Value::On),
        (None, Some(_)) => return Err(OptionError::UnexpectedValue { option: typed }),
        (Some(_), Some(text)) => (typed, Value::Text(text)),
        (Some(_), None) => match rest.next() {
            Some(text) => (printable(text), Value::Text(text.clone())),
            None => return Err(OptionError::MissingValue { option: typed }),
        },
    };
    Ok(Setting { spec, spelled, word, value })
}

fn unknown(word: &[u8], name: &str) -> OptionError {
    let on = option_table::all().flat_map(|spec| spec.names).map(|name| (*name).to_string());
    let off = option_table::all()
        .filter(|spec| spec.negatable())
        .flat_map(|spec| spec.names)
        .map(|name| format!("no-{name}"));
    let names: Vec<String> = on.chain(off).filter(|name| name.len() > 1).collect();
    let nearest = nearest(name, names.iter().map(String::as_str)).map(spelled);
    OptionError::Unknown { option: printable(word), nearest }
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
    fn what_cannot_be_obeyed_is_named_with_what_was_probably_meant() {
        let cases: [(&[&str], &str); 5] = [
            (&["--exlude=x"], "--exlude=x: unknown option, did you mean --exclude?"),
            (&["--no-owne"], "--no-owne: unknown option, did you mean --no-owner?"),
            (&["--frobnicate"], "--frobnicate: unknown option"),
            (&["-a\u{7}"], "-a\\x07: unknown option"),
            (
                &["--server"],
                "--server cannot be used here: this command is the client; \
                 `repl rsync` takes rsync's whole line",
            ),
        ];
        for (line, message) in cases {
            let error = parse(&words(line), &mut Options::default()).unwrap_err();
            assert_eq!((error.to_string().as_str(), error.exit_code()), (message, 1), "{line:?}");
        }
        let missing = parse(&words(&["-aB"]), &mut Options::default()).unwrap_err();
        assert_eq!(missing.to_string(), "-aB: missing argument");
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
