//! Which words of `--info` concern the far side?

use crate::options::{Info, LevelWord, Options, level_words};

use super::Direction;

/// What the user said outright; what `-v` brings along, the far side knows.
#[derive(Default)]
struct Chosen {
    all: Option<u8>,
    each: [Option<u8>; Info::ALL.len()],
}

/// Returns the value of the far side's `--info`; `--debug` is not sent.
pub(super) fn info_words(options: &Options, direction: Direction) -> Option<String> {
    let chosen = Chosen::of(options);
    let word = |name: &str, level: u8| match level {
        1 => name.to_string(),
        level => format!("{name}{level}"),
    };
    let mut words = Vec::new();
    words.extend(chosen.all.map(|level| match level {
        0 => "NONE".to_string(),
        level => word("ALL", level),
    }));
    for (info, level) in Info::ALL.into_iter().zip(chosen.each) {
        if let Some(level) = level
            && concerns(info, direction)
            && chosen.all != Some(level)
        {
            words.push(word(Info::WORDS[info as usize], level));
        }
    }
    (!words.is_empty()).then(|| words.join(","))
}

impl Chosen {
    fn of(options: &Options) -> Chosen {
        let mut chosen = Chosen::default();
        for value in &options.info {
            // The parser has refused what cannot be read.
            for word in level_words("--info", &Info::WORDS, value).unwrap_or_default() {
                match word {
                    LevelWord::One(at, level) => chosen.each[at] = Some(level),
                    LevelWord::All(level) => {
                        chosen = Chosen { all: Some(level), ..Chosen::default() };
                    }
                    LevelWord::Help => {}
                }
            }
        }
        chosen
    }
}

/// Tells whether a server that receives, or one that sends, has anything to tell of this.
fn concerns(info: Info, direction: Direction) -> bool {
    match info {
        Info::Misc | Info::Mount | Info::Name | Info::Stats | Info::Symsafe => true,
        Info::Flist | Info::Progress => false,
        Info::Remove => direction == Direction::FromServer,
        Info::Backup | Info::Copy | Info::Del | Info::Nonreg | Info::Skip => {
            direction == Direction::ToServer
        }
    }
}
