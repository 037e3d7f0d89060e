//! Which extended attributes and ACLs an item should get, and which values have to be asked for
//! (docs/protocol/attributes.md).

use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;

use filter::Verdict;
use tree::{Dir, Kind, Stat};
use wire::acl::{ACCESS_XATTR, Acl, DEFAULT_XATTR};
use wire::flist::IdKind;
use wire::item::iflags;
use wire::xattr::{self, ReceivedXattrs, Value};

use super::Generator;
use super::entry::Case;
use crate::event::{Event, Gravity, Problem};
use crate::received::Entry;
use crate::trouble::{Doing, Who};
use crate::wanted::LongAttributes;

/// What is to be done about the extended attributes and ACLs of one item.
#[derive(Debug, Default)]
pub(super) struct Long {
    /// The bits of [`iflags`] for what differs.
    pub(super) flags: u16,
    pub(super) values: LongAttributes,
}

impl<W: Write> Generator<'_, W> {
    /// Compares what was listed with what there is.
    pub(super) fn long_of(&mut self, case: &Case<'_>, now: Option<&Stat>) -> Long {
        let mut long = Long::default();
        let options = self.rules.options;
        if !options.acls && options.xattrs == 0 {
            return long;
        }
        let present = case.dir.as_deref().filter(|_| now.is_some());
        if options.acls && case.entry.kind() != Kind::Symlink {
            self.acls_of(case, present, now, &mut long);
        }
        if options.xattrs > 0
            && let Some(set) = case.entry.xattrs()
        {
            self.xattrs_of(case, present, &Arc::clone(set), &mut long);
        }
        long
    }

    fn acls_of(&self, case: &Case<'_>, present: Option<&Dir>, now: Option<&Stat>, long: &mut Long) {
        let entry = case.entry;
        let plain = Acl::default();
        let mode = self.keeps().mode(entry, now, case.dir.as_deref());
        let access = entry.access_acl().unwrap_or(&plain).completed(mode);
        let access = if access.is_plain_mode() { Vec::new() } else { self.stored(&access) };
        let default = entry.is_dir().then(|| {
            let acl = entry.default_acl().and_then(Acl::completed_default);
            acl.map(|acl| self.stored(&acl)).unwrap_or_default()
        });
        let has = |attribute: &str| {
            let (dir, name) = (present?, case.name);
            let value = match now.filter(|_| self.rules.options.fake_super) {
                Some(now) => dir.acl_fake(name, now, attribute == DEFAULT_XATTR),
                None => dir.xattr(name, attribute.as_bytes()),
            };
            Some(value.ok()?.unwrap_or_default())
        };
        // A new item is compared with nothing: its bits say all there is to say.
        if present.is_some() {
            let differs = has(ACCESS_XATTR).is_some_and(|value| value != access)
                || default.as_ref().is_some_and(|default| {
                    has(DEFAULT_XATTR).is_some_and(|value| value != *default)
                });
            if differs {
                long.flags |= iflags::REPORT_ACL;
            }
        }
        long.values.access_acl = Some(access);
        long.values.default_acl = default;
    }

    fn stored(&self, acl: &Acl) -> Vec<u8> {
        let ids = self.rules.ids;
        acl.to_linux(&|kind: IdKind, id: u32| ids.map(kind, id))
    }

    fn xattrs_of(
        &mut self,
        case: &Case<'_>,
        present: Option<&Dir>,
        set: &Arc<ReceivedXattrs>,
        long: &mut Long,
    ) {
        let local = present.map(|dir| self.local_xattrs(dir, case.name)).unwrap_or_default();
        let mut known = Vec::new();
        let mut differs = false;
        for item in set.iter() {
            let Some(name) = self.stored_name(item.name) else { continue };
            let here = local.iter().find(|(local, _)| *local == name).map(|(_, value)| value);
            let is_equal = here.is_some_and(|value| item.value.is(value));
            differs |= !is_equal;
            match (item.value, here) {
                (Value::Whole(value), _) => known.push((name, value.to_vec())),
                (Value::Long { .. }, Some(value)) if is_equal => known.push((name, value.clone())),
                (Value::Long { .. }, _) => {
                    if !self.rules.is_preview() && self.rules.come_values.ask(set, item.number) {
                        long.values.wanted.push(item.number);
                    }
                    long.values.missing.push((name, item.number));
                }
            }
        }
        differs |= local.len() != known.len() + long.values.missing.len();
        if differs {
            long.flags |= iflags::REPORT_XATTR;
        }
        long.values.set = Some(Arc::clone(set));
        long.values.xattrs = Some(known);
    }

    /// Returns the name under which an attribute is stored, if it is kept at all.
    fn stored_name(&self, sent: &[u8]) -> Option<Vec<u8>> {
        let (times, verdict) = (self.rules.options.xattrs, self.verdict(sent));
        xattr::stored_name(sent, times, verdict, self.keeps().standing()).map(Cow::into_owned)
    }

    fn verdict(&self, attribute: &[u8]) -> Option<bool> {
        let is_ruled = self.filter.has_xattr_rules();
        is_ruled.then(|| self.filter.check_xattr(attribute) == Verdict::Include)
    }

    /// Reads the attributes that count as the item's own.
    fn local_xattrs(&self, dir: &Dir, name: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let names = dir.xattr_names(name).unwrap_or_default();
        let counts = |attribute: &Vec<u8>| {
            xattr::is_touched(attribute, self.verdict(attribute), self.keeps().standing())
        };
        let values = names.into_iter().filter(counts).filter_map(|attribute| {
            let value = dir.xattr(name, &attribute).ok()??;
            Some((attribute, value))
        });
        values.collect()
    }

    /// Returns what can be set of an item at once. Where values are still to come, the receiver
    /// sets the extended attributes when it has them.
    pub(super) fn at_once(&self, ndx: i32, long: &LongAttributes) -> LongAttributes {
        if long.missing.is_empty() {
            return long.clone();
        }
        self.board.await_values(ndx, long.clone());
        LongAttributes { xattrs: None, ..long.clone() }
    }

    /// Tells of an attribute that could not be set.
    pub(super) fn attribute_problem(&mut self, error: tree::Error) {
        self.problem(Doing::of_attribute(&error), error);
    }

    /// Tells whether the file there has the checksum that was listed.
    pub(super) fn has_same_checksum(&self, dir: Option<&Dir>, name: &[u8], entry: &Entry) -> bool {
        let (Some(dir), Some(listed)) = (dir, entry.checksum()) else { return false };
        let (problem, sum) = match crate::digests::of_file(self.rules.file_sum, dir, name) {
            Ok(sum) => return sum == listed,
            Err(error) => (error, Gravity::Warning),
        };
        let problem = Problem::system(Who::Generator, Doing::OPEN_SOURCE, problem, sum);
        (self.rules.monitor)(Event::Problem(problem));
        false
    }
}
