//! Which users and groups of this machine the sender's are
//! (docs/protocol/file-list.md, "Mapping at the receiver").

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tree::IdNames;
use wire::flist::IdKind;
use wire::options::Options;

use crate::error::{Error, Result};
use crate::event::{Event, Gravity, Monitor, Problem};
use crate::trouble::{Trouble, Who};

/// How a rule of `--usermap` or `--groupmap` recognizes an id.
#[derive(Clone, Debug)]
enum From {
    Ids(u32, u32),
    Name(Vec<u8>),
    Pattern(Vec<u8>),
    Nameless,
}

/// The mapping of a session.
#[derive(Debug)]
pub(crate) struct IdMap {
    local: IdNames,
    numeric: bool,
    users: Vec<(From, u32)>,
    groups: Vec<(From, u32)>,
    own_groups: Vec<u32>,
    is_root: bool,
    known: Mutex<HashMap<(IdKind, u32), u32>>,
}

impl IdMap {
    /// Prepares the mapping that the options ask for. A rule that names nobody is told and left out.
    pub(crate) fn new(options: &Options, monitor: Monitor<'_>) -> Result<Self> {
        let local = IdNames::of_system();
        let (usermap, groupmap) = (options.usermap.as_deref(), options.groupmap.as_deref());
        let users = rules("--usermap", usermap, |name| local.user_id(name), monitor)?;
        let groups = rules("--groupmap", groupmap, |name| local.group_id(name), monitor)?;
        Ok(Self {
            local,
            numeric: options.numeric_ids,
            users,
            groups,
            own_groups: tree::own_groups(),
            is_root: options.super_user.unwrap_or_else(tree::is_root),
            known: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(IdKind, u32), u32>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns the name that an id has at the sender.
    pub(crate) fn learn(&self, kind: IdKind, id: u32, name: &[u8]) {
        let mapped = self.find(kind, id, Some(name));
        self.lock().insert((kind, id), mapped);
    }

    /// Returns the id of this machine.
    pub(crate) fn map(&self, kind: IdKind, id: u32) -> u32 {
        if let Some(known) = self.lock().get(&(kind, id)) {
            return *known;
        }
        let name: Option<&[u8]> = (id == 0 && !self.numeric).then_some(b"root");
        let mapped = match name {
            Some(name) => self.by_rule(kind, id, Some(name)).unwrap_or(0),
            None => self.find(kind, id, None),
        };
        self.lock().insert((kind, id), mapped);
        mapped
    }

    /// Tells whether we may give files to a group.
    pub(crate) fn may_set_group(&self, gid: u32) -> bool {
        self.is_root || self.own_groups.contains(&gid)
    }

    fn find(&self, kind: IdKind, id: u32, name: Option<&[u8]>) -> u32 {
        let name = name.filter(|name| !name.is_empty() && !self.numeric);
        if let Some(mapped) = self.by_rule(kind, id, name) {
            return mapped;
        }
        let by_name = name.filter(|_| id != 0).and_then(|name| match kind {
            IdKind::User => self.local.user_id(name),
            IdKind::Group => self.local.group_id(name),
        });
        by_name.unwrap_or(id)
    }

    fn by_rule(&self, kind: IdKind, id: u32, name: Option<&[u8]>) -> Option<u32> {
        let rules = match kind {
            IdKind::User => &self.users,
            IdKind::Group => &self.groups,
        };
        let matches = |from: &From| match from {
            From::Ids(low, high) => (*low..=*high).contains(&id),
            From::Name(wanted) => name == Some(wanted),
            From::Pattern(pattern) => match name {
                Some(name) => filter::matches_pattern(pattern, name),
                None => pattern == b"*",
            },
            From::Nameless => name.is_none(),
        };
        rules.iter().find(|(from, _)| matches(from)).map(|(_, to)| *to)
    }
}

/// Reads `FROM:TO,FROM:TO`.
fn rules(
    option: &str,
    text: Option<&[u8]>,
    find: impl Fn(&[u8]) -> Option<u32>,
    monitor: Monitor<'_>,
) -> Result<Vec<(From, u32)>> {
    let mut rules = Vec::new();
    for rule in text.unwrap_or_default().split(|byte| *byte == b',').filter(|rule| !rule.is_empty())
    {
        let wrong = |what: &str| {
            let text = format!("{what} {option}: {}", String::from_utf8_lossy(rule));
            Error::Option { text, code: wire::exit::SYNTAX }
        };
        let colon = rule.iter().position(|byte| *byte == b':');
        let colon = colon.ok_or_else(|| wrong("No colon found in"))?;
        let (from, to) = (&rule[..colon], &rule[colon + 1..]);
        if to.is_empty() {
            return Err(wrong("No name found after colon"));
        }
        let from = from_of(from).ok_or_else(|| wrong("Invalid number in"))?;
        match number(to).or_else(|| find(to)) {
            Some(to) => rules.push((from, to)),
            None => {
                let to = String::from_utf8_lossy(to);
                let ours = format!("nobody here is called {to}: the rule that names it is dropped");
                let stock = format!("Unknown {option} name on receiver: {to}");
                let trouble = Trouble::Other { ours, stock };
                let (who, gravity) = (Who::Receiver, Gravity::Warning);
                let path = PathBuf::from(option);
                monitor(Event::Problem(Problem { path, trouble, gravity, who }));
            }
        }
    }
    Ok(rules)
}

/// Reads what a rule applies to; `None` for a range that is none.
fn from_of(text: &[u8]) -> Option<From> {
    if text.is_empty() {
        return Some(From::Nameless);
    }
    if text.iter().any(|byte| b"*?[".contains(byte)) {
        return Some(From::Pattern(text.to_vec()));
    }
    if let Some(id) = number(text) {
        return Some(From::Ids(id, id));
    }
    if !text[0].is_ascii_digit() {
        return Some(From::Name(text.to_vec()));
    }
    let dash = text.iter().position(|byte| *byte == b'-')?;
    match (number(&text[..dash])?, number(&text[dash + 1..])?) {
        (low, 0) => Some(From::Ids(low, low)),
        (low, high) => Some(From::Ids(low, high)),
    }
}

fn number(text: &[u8]) -> Option<u32> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| is_number)?.parse().ok()
}
