//! Which rules does the far side need, and in what words?
//!
//! See `docs/protocol/filters.md`, "The list on the wire".

use crate::cvs;
use crate::error::Error;
use crate::list::RuleList;
use crate::rule::{MatchRule, MergeRule, Perishable, Rule, Side, Split, Style, Traits, Verdict};

/// The first protocol with the `p` modifier.
const PERISHABLE_SINCE: u32 = 30;

impl RuleList {
    /// Gives the texts to send to a receiver that speaks `protocol` (29 or later).
    ///
    /// Whether a list is sent at all depends on the options, not on the rules. Rules that only
    /// concern this side stay here. At protocol 29 a perishable rule is an error.
    pub fn wire_rules(&self, protocol: u32) -> Result<Vec<Vec<u8>>, Error> {
        let mut texts = Vec::new();
        for rule in self.for_side(Side::Receiver) {
            match rule {
                Rule::Match(rule) => texts.push(match_text(rule, protocol)?),
                Rule::DirMerge(merge) => texts.push(merge_text(merge, protocol)?),
                Rule::Cvs(rule) => {
                    for rule in cvs::expand(rule, &self.settings.cvs_ignore) {
                        texts.push(match_text(&rule, protocol)?);
                    }
                }
            }
        }
        Ok(texts)
    }
}

fn match_text(rule: &MatchRule, protocol: u32) -> Result<Vec<u8>, Error> {
    let mut text = vec![if rule.verdict == Verdict::Include { b'+' } else { b'-' }];
    put_leading(&mut text, rule.traits);
    put_trailing(&mut text, rule.traits, protocol);
    put_operand(&mut text, rule.pattern.text(), rule.pattern.dirs_only());
    check(text, rule.traits, protocol)
}

fn merge_text(merge: &MergeRule, protocol: u32) -> Result<Vec<u8>, Error> {
    let mut text = vec![b':'];
    put_leading(&mut text, merge.traits);
    let modifiers = [
        (merge.style == Style::Cvs, b'C'),
        (merge.style != Style::Cvs && !merge.inherited, b'n'),
        (merge.style != Style::Cvs && merge.split == Split::Words, b'w'),
        (merge.style == Style::Bare(Verdict::Exclude), b'-'),
        (merge.style == Style::Bare(Verdict::Include), b'+'),
    ];
    put(&mut text, &modifiers);
    put_trailing(&mut text, merge.traits, protocol);
    put_operand(&mut text, &merge.name, merge.dirs_only);
    check(text, merge.traits, protocol)
}

fn put_leading(text: &mut Vec<u8>, traits: Traits) {
    put(text, &[(traits.absolute, b'/'), (traits.negated, b'!')]);
}

fn put_trailing(text: &mut Vec<u8>, traits: Traits, protocol: u32) {
    let perishable = match traits.perishable {
        Perishable::No => false,
        Perishable::Since30 => protocol >= PERISHABLE_SINCE,
        Perishable::Yes => true,
    };
    let sides = traits.sides;
    put(
        text,
        &[(traits.xattr, b'x'), (sides.sender, b's'), (sides.receiver, b'r'), (perishable, b'p')],
    );
}

fn put(text: &mut Vec<u8>, modifiers: &[(bool, u8)]) {
    text.extend(modifiers.iter().filter(|(present, _)| *present).map(|(_, modifier)| modifier));
}

fn put_operand(text: &mut Vec<u8>, operand: &[u8], dirs_only: bool) {
    text.push(b' ');
    text.extend_from_slice(operand);
    if dirs_only {
        text.push(b'/');
    }
}

fn check(text: Vec<u8>, traits: Traits, protocol: u32) -> Result<Vec<u8>, Error> {
    if traits.perishable == Perishable::Yes && protocol < PERISHABLE_SINCE {
        return Err(Error::TooNew { rule: text.into(), protocol });
    }
    Ok(text)
}
