//! What do the rules say about a name, here and now?

use crate::accel::Accelerator;
use crate::cvs;
use crate::error::Error;
use crate::limits::MAX_DIR_MERGES;
use crate::list::{RuleList, Settings};
use crate::merge::{Loader, Place, ReadFile};
use crate::parents::{above, anchor, normalize};
use crate::pattern::{Name, Pattern};
use crate::rule::{MatchRule, MergeRule, Rule, Side, Source, Verdict};

/// A list of rules in force on one side, with the per-directory merge files that a walk has met.
///
/// The walk calls [`enter_dir`](Self::enter_dir) before it asks about the names in a directory and
/// [`leave_dir`](Self::leave_dir) when all below it is done.
pub struct ActiveFilter {
    settings: Settings,
    side: Side,
    /// The transfer root's absolute path, normal.
    base: Vec<u8>,
    steps: Vec<Step>,
    accelerator: Option<Accelerator>,
    dir_merges: Vec<DirMerge>,
    /// How many directories are entered.
    depth: usize,
    has_xattr_rules: bool,
}

/// Stands for a rule of a file.
const FROM_FILE: &[u8] = b"<rule from a file read earlier>";

enum Step {
    Rule(MatchRule),
    /// The rules that this per-directory merge has gathered.
    DirMerge(usize),
}

impl Step {
    /// Gives the pattern of a rule that cannot decide where its pattern does not match.
    fn positive_pattern(&self) -> Option<&Pattern> {
        match self {
            Step::Rule(rule) if !rule.traits.negated => Some(&rule.pattern),
            _ => None,
        }
    }
}

/// A per-directory merge in force, and the rules it has gathered on the way down.
struct DirMerge {
    rule: MergeRule,
    /// The depth at which the merge began; 0 for one of the options'.
    since: usize,
    scopes: Vec<Scope>,
}

/// The rules of one directory's file.
struct Scope {
    depth: usize,
    /// The file cleared what it inherited.
    cuts: bool,
    steps: Vec<Step>,
}

/// The rule that decides about a name.
#[derive(Clone, Copy, Debug)]
pub struct Hit<'a> {
    rule: &'a MatchRule,
    /// The per-directory merge that brought it in.
    merge: Option<&'a MergeRule>,
}

impl Hit<'_> {
    /// Says what it decides.
    pub fn verdict(&self) -> Verdict {
        self.rule.verdict
    }

    /// Gives the rule as rsync shows it, which keeps the text of files to itself.
    pub fn shown(&self) -> Vec<u8> {
        let MatchRule { pattern, source, .. } = self.rule;
        let slash: &[u8] = if pattern.dirs_only() { b"/" } else { b"" };
        match (self.merge, source) {
            (Some(merge), _) => [FROM_FILE, b" [per-dir ", merge.base_name(), b"]"].concat(),
            (None, Source::File) => FROM_FILE.to_vec(),
            (None, Source::Cvs) => [pattern.text(), slash, b" [global CVS]"].concat(),
            (None, Source::Option) => [pattern.text(), slash].concat(),
        }
    }
}

impl ActiveFilter {
    /// Puts a list in force for one side of a transfer whose root has the absolute path `base`.
    ///
    /// The root is the directory in which the first component of every name lies: `/home` when
    /// `/home/me` is sent, `/home/me` when `/home/me/` is.
    pub fn new(list: &RuleList, side: Side, base: &[u8]) -> Self {
        let mut filter = Self {
            settings: list.settings.clone(),
            side,
            base: normalize(base),
            steps: Vec::new(),
            accelerator: None,
            dir_merges: Vec::new(),
            depth: 0,
            has_xattr_rules: list.has_xattr_rules(),
        };
        filter.steps = filter.prepare(list.rules.clone());
        filter.accelerator = Accelerator::new(filter.steps.iter().map(Step::positive_pattern));
        filter
    }

    /// Goes on to a source whose transfer root is another; no directory may be entered.
    pub fn set_base(&mut self, base: &[u8]) {
        self.base = normalize(base);
    }

    /// Says what the rules decide about a name, given as its path from the transfer root.
    pub fn check(&self, path: &[u8], is_dir: bool) -> Verdict {
        self.hit(path, is_dir).map_or(Verdict::Include, |hit| hit.verdict())
    }

    /// Finds the rule that decides about a name, given as its path from the transfer root.
    pub fn hit(&self, path: &[u8], is_dir: bool) -> Option<Hit<'_>> {
        if self.steps.is_empty() {
            return None;
        }
        self.first_hit(&Name::file(path, is_dir, self.absolute_base()))
    }

    /// The same for a name in a directory that is being deleted: perishable rules do not count.
    pub fn hit_in_doomed_dir(&self, path: &[u8], is_dir: bool) -> Option<Hit<'_>> {
        let name = Name::file(path, is_dir, self.absolute_base());
        self.first_hit(&Name { in_doomed_dir: true, ..name })
    }

    /// Says what the rules decide about the name of an extended attribute.
    pub fn check_xattr(&self, name: &[u8]) -> Verdict {
        let name = Name::file(name, false, self.absolute_base());
        self.first_hit(&Name { is_xattr: true, ..name })
            .map_or(Verdict::Include, |hit| hit.verdict())
    }

    /// Says whether any rule met so far was about names of extended attributes.
    pub fn has_xattr_rules(&self) -> bool {
        self.has_xattr_rules
    }

    /// Enters a directory, given as its path from the transfer root (empty or `.` for the root),
    /// and reads the merge files in force there.
    ///
    /// The first directory entered also brings in the files of the directories above it that a
    /// rule such as `: /.rsync-filter` asks for. The directory counts as entered even after an
    /// error.
    pub fn enter_dir(&mut self, dir: &[u8], read: &mut ReadFile<'_>) -> Result<(), Error> {
        self.depth += 1;
        let mut index = 0;
        // A file that is read here can add to the merges.
        while index < self.dir_merges.len() {
            self.enter_merge(index, dir, read)?;
            index += 1;
        }
        Ok(())
    }

    /// Leaves the directory entered last; the rules of its files end.
    pub fn leave_dir(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        let depth = self.depth;
        self.dir_merges.retain(|merge| merge.since <= depth);
        for merge in &mut self.dir_merges {
            merge.scopes.retain(|scope| scope.depth <= depth && depth > 0);
        }
    }

    fn absolute_base(&self) -> &[u8] {
        self.base.strip_prefix(b"/").unwrap_or(&self.base)
    }

    fn first_hit(&self, name: &Name<'_>) -> Option<Hit<'_>> {
        match &self.accelerator {
            Some(accelerator) if !accelerator.may_match(name.last) => {
                self.first_match(accelerator.others.iter().map(|&index| &self.steps[index]), name)
            }
            _ => self.first_match(self.steps.iter(), name),
        }
    }

    fn first_match<'a>(
        &'a self,
        mut steps: impl Iterator<Item = &'a Step>,
        name: &Name<'_>,
    ) -> Option<Hit<'a>> {
        steps.find_map(|step| match step {
            Step::Rule(rule) => rule.decides(name).then_some(Hit { rule, merge: None }),
            Step::DirMerge(index) => self.first_match_in(&self.dir_merges[*index], name),
        })
    }

    /// Asks the rules of this directory, then those of its parent, and so on.
    fn first_match_in<'a>(&'a self, merge: &'a DirMerge, name: &Name<'_>) -> Option<Hit<'a>> {
        for scope in merge.scopes.iter().rev() {
            if !merge.rule.inherited && scope.depth != self.depth {
                return None;
            }
            let found = self.first_match(scope.steps.iter(), name);
            if found.is_some() || scope.cuts {
                let merge = Some(&merge.rule);
                return found.map(|hit| Hit { merge: hit.merge.or(merge), ..hit });
            }
        }
        None
    }

    /// Turns rules into steps, and puts their per-directory merges in force.
    fn prepare(&mut self, rules: Vec<Rule>) -> Vec<Step> {
        let (side, delete_excluded) = (self.side, self.settings.delete_excluded);
        let mut steps = Vec::with_capacity(rules.len());
        for rule in rules.into_iter().filter(|rule| rule.concerns(side, delete_excluded)) {
            match rule {
                Rule::Match(rule) => steps.push(Step::Rule(rule)),
                Rule::Cvs(rule) => {
                    let rules = cvs::expand(&rule, &self.settings.cvs_ignore);
                    steps.extend(rules.into_iter().map(Step::Rule));
                }
                Rule::DirMerge(rule) => {
                    steps.push(Step::DirMerge(self.dir_merges.len()));
                    self.dir_merges.push(DirMerge { rule, since: self.depth, scopes: Vec::new() });
                }
            }
        }
        steps
    }

    fn enter_merge(
        &mut self,
        index: usize,
        dir: &[u8],
        read: &mut ReadFile<'_>,
    ) -> Result<(), Error> {
        let merge = &self.dir_merges[index];
        let begins = merge.since == self.depth || self.depth == 1;
        let named = merge.rule.directory().filter(|_| begins).map(<[u8]>::to_vec);
        let here = normalize(&[&self.base, &b"/"[..], dir].concat());
        for parent in named.map(|named| above(&named, &here)).unwrap_or_default() {
            self.read_merge(index, &parent, self.depth - 1, read)?;
        }
        self.read_merge(index, &here, self.depth, read)
    }

    /// Reads the file of one directory, if it has one.
    fn read_merge(
        &mut self,
        index: usize,
        dir: &[u8],
        depth: usize,
        read: &mut ReadFile<'_>,
    ) -> Result<(), Error> {
        let merge = self.dir_merges[index].rule.clone();
        let path = [dir, b"/", merge.base_name()].concat();
        let contents =
            read(&path).map_err(|source| Error::Read { path: path.clone().into(), source })?;
        let Some(contents) = contents else {
            return Ok(());
        };
        let root = anchor(dir, &self.base);
        let mut rules = Vec::new();
        let place = Place::Directory { path: dir, base: &self.base, root };
        let mut loader = Loader::new(&self.settings, place, &mut rules);
        loader.taken = self.dir_merges.iter().map(|merge| merge.rule.base_name().into()).collect();
        loader.add_file(&path, &contents, &merge, 1, read)?;
        let cuts = loader.cleared;
        self.has_xattr_rules |= loader.saw_xattr_rule;
        let steps = self.prepare(rules);
        if self.dir_merges.len() > MAX_DIR_MERGES {
            return Err(Error::TooManyMerges { path: path.into() });
        }
        self.dir_merges[index].scopes.push(Scope { depth, cuts, steps });
        Ok(())
    }
}
