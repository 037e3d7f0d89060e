//! How is the text of one rule read?
//!
//! The grammar is that of `docs/protocol/filters.md`, "Grammar".

use crate::error::Reason;
use crate::limits::{MAX_PATTERN, MAX_RULE};
use crate::rule::{MergeRule, Perishable, Sides, Split, Style, Traits, Verdict};

/// What a rule takes over from the rule that merged its file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Inherited {
    absolute: bool,
    perishable: Perishable,
    sides: Sides,
    dirs_only: bool,
}

impl Inherited {
    /// Gives what the rules in a merged file take over.
    pub(crate) fn from_merge(merge: &MergeRule) -> Self {
        Self {
            absolute: merge.traits.absolute,
            perishable: merge.traits.perishable,
            sides: merge.traits.sides,
            dirs_only: merge.dirs_only,
        }
    }
}

/// A rule's text, taken apart.
#[derive(Debug)]
pub(crate) enum Parsed<'a> {
    /// An empty text.
    Nothing,
    Clear,
    Match {
        verdict: Verdict,
        traits: Traits,
        pattern: &'a [u8],
        dirs_only: bool,
    },
    Cvs {
        verdict: Verdict,
        traits: Traits,
    },
    /// A file to read now.
    Merge {
        merge: MergeRule,
        hide_file: bool,
    },
    /// A file to look for in every directory.
    DirMerge {
        merge: MergeRule,
        hide_file: bool,
    },
}

/// Takes the text of one rule apart.
pub(crate) fn parse<'a>(
    text: &'a [u8],
    style: Style,
    inherited: Inherited,
) -> Result<Parsed<'a>, Reason> {
    if text.len() >= MAX_RULE {
        return Err(Reason::TooLong);
    }
    // A path holds no NUL, and rsync reads no further than to the first.
    let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
    if text.is_empty() {
        return Ok(Parsed::Nothing);
    }
    match style {
        Style::Rules => Prefix::parse(text)?.finish(inherited),
        Style::Prefixed(_) | Style::Cvs if text == b"!" => Ok(Parsed::Clear),
        Style::Prefixed(verdict) => prefixed(text, verdict, inherited),
        Style::Bare(verdict) => matching(verdict, Traits::default(), text, inherited),
        Style::Cvs => matching(Verdict::Exclude, Traits::default(), text, inherited),
    }
}

fn prefixed(text: &[u8], verdict: Verdict, inherited: Inherited) -> Result<Parsed<'_>, Reason> {
    let (verdict, pattern) = match text {
        [b'-', b' ', pattern @ ..] => (Verdict::Exclude, pattern),
        [b'+', b' ', pattern @ ..] => (Verdict::Include, pattern),
        pattern => (verdict, pattern),
    };
    matching(verdict, Traits::default(), pattern, inherited)
}

fn matching(
    verdict: Verdict,
    traits: Traits,
    pattern: &[u8],
    inherited: Inherited,
) -> Result<Parsed<'_>, Reason> {
    let traits = inherit(traits, inherited)?;
    let (pattern, dirs_only) = operand(pattern, inherited)?;
    Ok(Parsed::Match { verdict, traits, pattern, dirs_only })
}

fn inherit(traits: Traits, inherited: Inherited) -> Result<Traits, Reason> {
    if !traits.sides.unnamed() && !inherited.sides.unnamed() {
        return Err(Reason::SideTwice);
    }
    Ok(Traits {
        absolute: traits.absolute || inherited.absolute,
        perishable: traits.perishable.max(inherited.perishable),
        sides: if traits.sides.unnamed() { inherited.sides } else { traits.sides },
        ..traits
    })
}

/// Takes off the slash that restricts a pattern to directories.
fn operand(text: &[u8], inherited: Inherited) -> Result<(&[u8], bool), Reason> {
    if text.is_empty() {
        return Err(Reason::MissingPattern);
    }
    if text.len() >= MAX_PATTERN {
        return Err(Reason::TooLong);
    }
    Ok(match text {
        [body @ .., b'/'] if !body.is_empty() => (body, true),
        text => (text, inherited.dirs_only),
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Match(Verdict),
    /// Hide, show, protect, risk: the name says the side.
    Sided(Verdict),
    Merge,
    DirMerge,
    Clear,
}

/// A rule of the full grammar: its name, its modifiers, and what follows.
#[derive(Debug)]
struct Prefix<'a> {
    action: Action,
    traits: Traits,
    cvs: bool,
    hide_file: bool,
    not_inherited: bool,
    words: bool,
    /// The `-` or `+` modifier of a merge.
    bare: Option<Verdict>,
    operand: &'a [u8],
}

impl<'a> Prefix<'a> {
    fn parse(text: &'a [u8]) -> Result<Self, Reason> {
        let (action, sides, rest) = action(text)?;
        let rest = rest.strip_prefix(b",").unwrap_or(rest);
        let mut prefix = Prefix {
            action,
            traits: Traits { sides, ..Traits::default() },
            cvs: false,
            hide_file: false,
            not_inherited: false,
            words: false,
            bare: None,
            operand: b"",
        };
        if action == Action::Clear {
            return if rest.is_empty() { Ok(prefix) } else { Err(Reason::TrailingText) };
        }
        let end = rest.iter().position(|byte| b" _".contains(byte));
        let (modifiers, operand) = match end {
            Some(end) => (&rest[..end], &rest[end + 1..]),
            None => (rest, &b""[..]),
        };
        for &modifier in modifiers {
            prefix.apply(modifier).ok_or(Reason::BadModifier(modifier))?;
        }
        prefix.operand = operand;
        Ok(prefix)
    }

    fn apply(&mut self, modifier: u8) -> Option<()> {
        let is_merge = matches!(self.action, Action::Merge | Action::DirMerge);
        let is_sided = matches!(self.action, Action::Sided(_));
        match modifier {
            b'/' => self.traits.absolute = true,
            b'p' => self.traits.perishable = Perishable::Yes,
            b'x' => self.traits.xattr = true,
            b'!' if !is_merge => self.traits.negated = true,
            b's' if !is_sided => self.traits.sides.sender = true,
            b'r' if !is_sided => self.traits.sides.receiver = true,
            b'C' if !is_sided && self.bare.is_none() => self.cvs = true,
            b'e' if is_merge => self.hide_file = true,
            b'n' if is_merge => self.not_inherited = true,
            b'w' if is_merge => self.words = true,
            b'-' if is_merge && self.bare.is_none() && !self.cvs => {
                self.bare = Some(Verdict::Exclude);
            }
            b'+' if is_merge && self.bare.is_none() && !self.cvs => {
                self.bare = Some(Verdict::Include);
            }
            _ => return None,
        }
        Some(())
    }

    fn finish(self, inherited: Inherited) -> Result<Parsed<'a>, Reason> {
        match self.action {
            Action::Clear => Ok(Parsed::Clear),
            Action::Match(verdict) if self.cvs => {
                Ok(Parsed::Cvs { verdict, traits: inherit(self.traits, inherited)? })
            }
            Action::Match(verdict) | Action::Sided(verdict) => {
                matching(verdict, self.traits, self.operand, inherited)
            }
            Action::Merge => {
                let hide_file = self.hide_file;
                Ok(Parsed::Merge { merge: self.merge(inherited)?, hide_file })
            }
            Action::DirMerge => {
                let hide_file = self.hide_file;
                Ok(Parsed::DirMerge { merge: self.merge(inherited)?, hide_file })
            }
        }
    }

    fn merge(self, inherited: Inherited) -> Result<MergeRule, Reason> {
        let name = match self.operand {
            b"" if self.cvs => b".cvsignore",
            name => name,
        };
        let (name, dirs_only) = operand(name, inherited)?;
        let style = match self.bare {
            _ if self.cvs => Style::Cvs,
            Some(verdict) => Style::Bare(verdict),
            None => Style::Rules,
        };
        Ok(MergeRule {
            name: name.into(),
            dirs_only,
            style,
            split: if self.words || self.cvs { Split::Words } else { Split::Lines },
            inherited: !self.not_inherited && !self.cvs,
            traits: inherit(self.traits, inherited)?,
        })
    }
}

const LONG_NAMES: [(&[u8], u8); 9] = [
    (b"exclude", b'-'),
    (b"include", b'+'),
    (b"merge", b'.'),
    (b"dir-merge", b':'),
    (b"hide", b'H'),
    (b"show", b'S'),
    (b"protect", b'P'),
    (b"risk", b'R'),
    (b"clear", b'!'),
];

/// Reads the rule's name; gives what it means, the sides it names, and the text behind it.
fn action(text: &[u8]) -> Result<(Action, Sides, &[u8]), Reason> {
    let long = LONG_NAMES.iter().find_map(|(name, short)| {
        let rest = text.strip_prefix(*name)?;
        let ended = rest.first().is_none_or(|&b| b.is_ascii_whitespace() || b"_,".contains(&b));
        ended.then_some((*short, rest))
    });
    let (short, rest) = match long {
        Some(found) => found,
        None => {
            text.split_first().map(|(first, rest)| (*first, rest)).ok_or(Reason::UnknownRule)?
        }
    };
    let (action, sides) = match short {
        b'-' => (Action::Match(Verdict::Exclude), Sides::default()),
        b'+' => (Action::Match(Verdict::Include), Sides::default()),
        b'H' => (Action::Sided(Verdict::Exclude), Sides::SENDER),
        b'S' => (Action::Sided(Verdict::Include), Sides::SENDER),
        b'P' => (Action::Sided(Verdict::Exclude), Sides::RECEIVER),
        b'R' => (Action::Sided(Verdict::Include), Sides::RECEIVER),
        b'.' => (Action::Merge, Sides::default()),
        b':' => (Action::DirMerge, Sides::default()),
        b'!' => (Action::Clear, Sides::default()),
        _ => return Err(Reason::UnknownRule),
    };
    Ok((action, sides, rest))
}
