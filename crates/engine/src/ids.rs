//! Which users and groups of this machine the sender's are
//! (docs/protocol/file-list.md, "Mapping at the receiver").

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tree::IdNames;
use wire::flist::IdKind;
use wire::options::Options;

use crate::event::{Gravity, Problem};
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
    /// Prepares the mapping that the options ask for. The rules that name nobody are returned as
    /// text for the user.
    pub(crate) fn new(options: &Options) -> (Self, Vec<(&'static str, String)>) {
        let local = IdNames::of_system();
        let mut unknown = Vec::new();
        let users = ("--usermap", options.usermap.as_deref());
        let users = rules(users, |name| local.user_id(name), &mut unknown);
        let groups = ("--groupmap", options.groupmap.as_deref());
        let groups = rules(groups, |name| local.group_id(name), &mut unknown);
        let map = Self {
            local,
            numeric: options.numeric_ids,
            users,
            groups,
            own_groups: tree::own_groups(),
            is_root: options.fake_super || options.super_user.unwrap_or_else(tree::is_root),
            known: Mutex::default(),
        };
        (map, unknown)
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

/// Returns what is told of a rule that names nobody; `name` is the option and the name.
pub(crate) fn unknown((option, name): &(&'static str, String)) -> Problem {
    let ours = format!("nobody here is called {name}: the rule that names it is dropped");
    let stock = format!("Unknown {option} name on receiver: {name}");
    let trouble = Trouble::Other { ours, stock };
    Problem { path: PathBuf::new(), trouble, gravity: Gravity::Warning, who: Who::Receiver }
}

/// Reads `FROM:TO,FROM:TO`.
fn rules(
    (option, text): (&'static str, Option<&[u8]>),
    find: impl Fn(&[u8]) -> Option<u32>,
    unknown: &mut Vec<(&'static str, String)>,
) -> Vec<(From, u32)> {
    let mut rules = Vec::new();
    for rule in text.unwrap_or_default().split(|byte| *byte == b',').filter(|rule| !rule.is_empty())
    {
        let Some(colon) = rule.iter().rposition(|byte| *byte == b':') else { continue };
        let (from, to) = (&rule[..colon], &rule[colon + 1..]);
        match number(to).or_else(|| find(to)) {
            Some(to) => rules.push((from_of(from), to)),
            None => unknown.push((option, String::from_utf8_lossy(to).into_owned())),
        }
    }
    rules
}

fn from_of(text: &[u8]) -> From {
    if text.is_empty() {
        return From::Nameless;
    }
    if text.iter().any(|byte| b"*?[".contains(byte)) {
        return From::Pattern(text.to_vec());
    }
    if let Some(id) = number(text) {
        return From::Ids(id, id);
    }
    let range = text
        .iter()
        .position(|byte| *byte == b'-')
        .and_then(|dash| Some((number(&text[..dash])?, number(&text[dash + 1..])?)));
    match range {
        Some((low, 0)) => From::Ids(low, low),
        Some((low, high)) => From::Ids(low, high),
        None => From::Name(text.to_vec()),
    }
}

fn number(text: &[u8]) -> Option<u32> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| is_number)?.parse().ok()
}
