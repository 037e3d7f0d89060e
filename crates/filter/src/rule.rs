//! What does one rule say, and for whom?

use crate::pattern::{Name, Pattern};

/// The side of a transfer that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The side that builds the file list: an excluded name is hidden.
    Sender,
    /// The side that deletes: an excluded name is protected.
    Receiver,
}

/// What the rules say about a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The name takes part (on the receiving side: may be deleted).
    Include,
    /// The name is left out (on the receiving side: is kept).
    Exclude,
}

/// The sides that a rule names; with none, the rule concerns both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sides {
    pub(crate) sender: bool,
    pub(crate) receiver: bool,
}

impl Sides {
    pub(crate) const SENDER: Self = Self { sender: true, receiver: false };
    pub(crate) const RECEIVER: Self = Self { sender: false, receiver: true };

    /// Says whether the rule names no side.
    pub(crate) fn unnamed(self) -> bool {
        self == Self::default()
    }

    /// Says whether a rule with these sides concerns `side`; `unnamed` decides where none is named.
    pub(crate) fn concern(self, side: Side, unnamed: bool) -> bool {
        match side {
            _ if self.unnamed() => unnamed,
            Side::Sender => self.sender,
            Side::Receiver => self.receiver,
        }
    }
}

/// Whether a rule is ignored inside a directory that is being deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Perishable {
    #[default]
    No,
    /// Only where the protocol knows the modifier, which is from 30 on.
    Since30,
    Yes,
}

/// The modifiers that every kind of rule may carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traits {
    /// `/`: match against the absolute path.
    pub(crate) absolute: bool,
    /// `!`: the rule decides where the pattern does not match.
    pub(crate) negated: bool,
    /// `x`: match names of extended attributes only.
    pub(crate) xattr: bool,
    pub(crate) perishable: Perishable,
    pub(crate) sides: Sides,
}

/// Where a rule was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// In an option, or at the far side.
    Option,
    File,
    /// In the global CVS list.
    Cvs,
}

/// An include or exclude rule.
#[derive(Clone, Debug)]
pub(crate) struct MatchRule {
    pub(crate) verdict: Verdict,
    pub(crate) traits: Traits,
    pub(crate) pattern: Pattern,
    pub(crate) source: Source,
}

impl MatchRule {
    /// Says whether this rule decides about the name.
    pub(crate) fn decides(&self, name: &Name<'_>) -> bool {
        if self.traits.xattr != name.is_xattr {
            return false;
        }
        if name.in_doomed_dir && self.traits.perishable != Perishable::No {
            return false;
        }
        self.pattern.matches(name) != self.traits.negated
    }
}

/// The global CVS list, standing at this place.
#[derive(Clone, Debug)]
pub(crate) struct CvsRule {
    pub(crate) verdict: Verdict,
    pub(crate) traits: Traits,
}

/// How the texts of rules in a file are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// The full grammar.
    Rules,
    /// Patterns; `- ` or `+ ` in front overrides the kind, and `!` clears.
    Prefixed(Verdict),
    /// Patterns and nothing else.
    Bare(Verdict),
    /// CVS words: excludes, and `!` clears.
    Cvs,
}

/// How a file is cut into rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Split {
    Lines,
    Words,
}

/// A file of rules: read once (`.`), or looked for in every directory (`:`).
#[derive(Clone, Debug)]
pub(crate) struct MergeRule {
    pub(crate) name: Box<[u8]>,
    pub(crate) dirs_only: bool,
    pub(crate) style: Style,
    pub(crate) split: Split,
    /// Without `n`: the rules also hold in sub-directories.
    pub(crate) inherited: bool,
    pub(crate) traits: Traits,
}

impl MergeRule {
    /// Gives the name without its directory.
    pub(crate) fn base_name(&self) -> &[u8] {
        self.name.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
    }

    /// Gives the directory part of the name, when it has one.
    pub(crate) fn directory(&self) -> Option<&[u8]> {
        let slash = self.name.iter().rposition(|&byte| byte == b'/')?;
        Some(if slash == 0 { b"/" } else { &self.name[..slash] })
    }

    /// Says whether the file holds patterns of one kind only, so that no rule in it names a side.
    pub(crate) fn is_plain_list(&self) -> bool {
        self.style != Style::Rules
    }
}

/// One rule of a list.
#[derive(Clone, Debug)]
pub(crate) enum Rule {
    Match(MatchRule),
    Cvs(CvsRule),
    DirMerge(MergeRule),
}

impl Rule {
    pub(crate) fn traits(&self) -> Traits {
        match self {
            Rule::Match(rule) => rule.traits,
            Rule::Cvs(rule) => rule.traits,
            Rule::DirMerge(rule) => rule.traits,
        }
    }

    /// Says whether the rule concerns `side`.
    ///
    /// `--delete-excluded` takes the receiver out of every rule that names no side, except a
    /// per-directory merge whose file may still hold rules that do.
    pub(crate) fn concerns(&self, side: Side, delete_excluded: bool) -> bool {
        let open = side == Side::Sender || !delete_excluded;
        let holds_others = matches!(self, Rule::DirMerge(rule) if !rule.is_plain_list());
        self.traits().sides.concern(side, open || holds_others)
    }
}
