//! How do rules go over the wire, and which ones does the far side need?
//!
//! See `docs/protocol/filters.md`, "The list on the wire".

use crate::cvs;
use crate::error::Error;
use crate::list::{RuleList, Settings};
use crate::rule::{
    CvsRule, MatchRule, MergeRule, Perishable, Rule, Side, Split, Style, Traits, Verdict,
};

/// The first protocol with the `p` modifier.
const PERISHABLE_SINCE: u32 = 30;

impl RuleList {
    /// Reads the texts that a client sent, as its server; the full grammar is understood.
    ///
    /// What a client's options imply is among them, but for `-C` in a pull: a server that sends
    /// adds that itself with [`close`](Self::close). No file is read: a `.` rule is refused.
    pub fn from_wire(rules: &[Vec<u8>], settings: Settings) -> Result<Self, Error> {
        let mut list = Self::new(settings);
        list.load(|loader| rules.iter().try_for_each(|rule| loader.add_from_wire(rule)))?;
        Ok(list)
    }

    /// Gives the texts to send to a receiver that speaks `protocol` (29 or later).
    ///
    /// Whether a list is sent at all depends on the options, not on the rules. Rules that only
    /// concern this side stay here. At protocol 29 a perishable rule is an error.
    pub fn wire_rules(&self, protocol: u32) -> Result<Vec<Vec<u8>>, Error> {
        let mut texts = Vec::new();
        for rule in self.for_side(Side::Receiver) {
            match rule {
                Rule::Cvs(rule) => {
                    for rule in cvs::expand(rule, &self.settings.cvs_ignore) {
                        texts.push(receiver_text(&Rule::Match(rule), protocol)?);
                    }
                }
                rule => texts.push(receiver_text(rule, protocol)?),
            }
        }
        Ok(texts)
    }

    /// Gives the texts to send to a sender that speaks `protocol` (29 or later); a pull always has
    /// a list, be it empty.
    ///
    /// A `-C` among the rules goes as it is, and what the option `-C` implies does not go. Protocol
    /// 29 has no perishable rules; there they are ordinary ones.
    pub fn wire_rules_for_pull(&self, protocol: u32) -> Vec<Vec<u8>> {
        self.without_implied_cvs(Side::Sender).map(|rule| text(rule, protocol)).collect()
    }
}

fn receiver_text(rule: &Rule, protocol: u32) -> Result<Vec<u8>, Error> {
    if protocol < PERISHABLE_SINCE && rule.traits().perishable == Perishable::Yes {
        return Err(Error::TooNew { rule: text(rule, PERISHABLE_SINCE).into(), protocol });
    }
    Ok(text(rule, protocol))
}

fn text(rule: &Rule, protocol: u32) -> Vec<u8> {
    match rule {
        Rule::Match(rule) => match_text(rule, protocol),
        Rule::Cvs(rule) => cvs_text(rule, protocol),
        Rule::DirMerge(merge) => merge_text(merge, protocol),
    }
}

fn match_text(rule: &MatchRule, protocol: u32) -> Vec<u8> {
    let mut text = vec![sign(rule.verdict)];
    put_leading(&mut text, rule.traits);
    put_trailing(&mut text, rule.traits, protocol);
    put_operand(&mut text, rule.pattern.text(), rule.pattern.dirs_only());
    text
}

fn cvs_text(rule: &CvsRule, protocol: u32) -> Vec<u8> {
    let mut text = vec![sign(rule.verdict)];
    put_leading(&mut text, rule.traits);
    text.push(b'C');
    put_trailing(&mut text, rule.traits, protocol);
    put_operand(&mut text, b"", false);
    text
}

fn merge_text(merge: &MergeRule, protocol: u32) -> Vec<u8> {
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
    text
}

fn sign(verdict: Verdict) -> u8 {
    if verdict == Verdict::Include { b'+' } else { b'-' }
}

fn put_leading(text: &mut Vec<u8>, traits: Traits) {
    put(text, &[(traits.absolute, b'/'), (traits.negated, b'!')]);
}

fn put_trailing(text: &mut Vec<u8>, traits: Traits, protocol: u32) {
    let perishable = traits.perishable != Perishable::No && protocol >= PERISHABLE_SINCE;
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
