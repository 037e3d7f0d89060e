//! Which rules do the options of a run make?

use crate::cvs::CvsIgnore;
use crate::error::Error;
use crate::lines::LineEnds;
use crate::merge::{Loader, Place, ReadFile};
use crate::pattern::{Pattern, Root};
use crate::rule::{
    MatchRule, MergeRule, Perishable, Rule, Side, Source, Split, Style, Traits, Verdict,
};

/// What has to be known before the first rule is read.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// How lines end in files of rules (`--from0`).
    pub line_ends: LineEnds,
    /// The user's additions to the global CVS list.
    pub cvs_ignore: CvsIgnore,
    /// `--delete-excluded`: a rule that names no side hides and does not protect.
    pub delete_excluded: bool,
}

/// What follows the last rule option.
#[derive(Clone, Copy, Debug, Default)]
pub struct Closing<'a> {
    /// The suffix of backup files, where they lie beside the files and deleting is on.
    pub backup_suffix: Option<&'a [u8]>,
    /// The directory for partial files; an absolute one adds no rule.
    pub partial_dir: Option<&'a [u8]>,
    /// `-C`: per-directory `.cvsignore` files and the global CVS list.
    pub cvs_exclude: bool,
}

/// The list of rules that the options of a run make, in their order.
///
/// Evaluate it with [`ActiveFilter`](crate::ActiveFilter).
#[derive(Clone, Debug, Default)]
pub struct RuleList {
    pub(crate) settings: Settings,
    pub(crate) rules: Vec<Rule>,
    has_xattr_rules: bool,
    rsync_filters: u32,
    /// How many rules there were before those that the option `-C` implies.
    before_cvs: Option<usize>,
}

impl RuleList {
    /// Makes a list without rules.
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Returns what was known before the first rule.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Says how lines end in the files of rules that are read from now on (`--from0`).
    pub fn set_line_ends(&mut self, line_ends: LineEnds) {
        self.settings.line_ends = line_ends;
    }

    /// Adds a rule of the full grammar (`--filter`).
    pub fn add_filter(&mut self, rule: &[u8], read: &mut ReadFile<'_>) -> Result<(), Error> {
        self.load(|loader| loader.add_option(rule, Style::Rules, read))
    }

    /// Adds a pattern to leave out (`--exclude`).
    pub fn add_exclude(&mut self, pattern: &[u8]) -> Result<(), Error> {
        self.add_prefixed(pattern, Verdict::Exclude)
    }

    /// Adds a pattern to take in (`--include`).
    pub fn add_include(&mut self, pattern: &[u8]) -> Result<(), Error> {
        self.add_prefixed(pattern, Verdict::Include)
    }

    /// Adds the patterns of a file to leave out (`--exclude-from`); `path` is for messages.
    pub fn add_exclude_from(&mut self, path: &[u8], contents: &[u8]) -> Result<(), Error> {
        self.add_contents(path, contents, Verdict::Exclude)
    }

    /// Adds the patterns of a file to take in (`--include-from`); `path` is for messages.
    pub fn add_include_from(&mut self, path: &[u8], contents: &[u8]) -> Result<(), Error> {
        self.add_contents(path, contents, Verdict::Include)
    }

    /// Adds what one `-F` stands for: the first obeys `.rsync-filter` files, the second hides them.
    pub fn add_rsync_filter(&mut self) -> Result<(), Error> {
        self.rsync_filters += 1;
        match self.rsync_filters {
            1 => self.add_filter(b": /.rsync-filter", &mut |_| Ok(None)),
            2 => self.add_filter(b"- .rsync-filter", &mut |_| Ok(None)),
            _ => Ok(()),
        }
    }

    /// Adds the rules that other options imply; to be called once, after all rules.
    pub fn close(&mut self, closing: &Closing<'_>) -> Result<(), Error> {
        let no_files = &mut |_: &[u8]| Ok(None);
        if let Some(suffix) = closing.backup_suffix
            && !self.settings.delete_excluded
        {
            self.add_filter(&[b"P *", suffix].concat(), no_files)?;
        }
        if let Some(dir) = closing.partial_dir
            && !dir.starts_with(b"/")
        {
            let text = dir.strip_suffix(b"/").unwrap_or(dir);
            self.rules.push(Rule::Match(MatchRule {
                verdict: Verdict::Exclude,
                traits: Traits { perishable: Perishable::Since30, ..Traits::default() },
                pattern: Pattern::new(text, true, &Root::Transfer),
                source: Source::Option,
            }));
        }
        if closing.cvs_exclude {
            self.before_cvs = Some(self.rules.len());
            // A `:C` of the user's own, further up, takes the place of this one.
            self.add_filter(b":C", no_files)?;
            self.add_filter(b"-C", no_files)?;
        }
        Ok(())
    }

    /// Says whether there is no rule at all.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Says whether the rules decide by names alone, without merge files of directories and
    /// without knowing where the transfer's root lies.
    pub fn judge_names_alone(&self) -> bool {
        self.rules.iter().all(|rule| !matches!(rule, Rule::DirMerge(_)) && !rule.traits().absolute)
    }

    /// Says whether any rule, even a cleared one, was about names of extended attributes; then the
    /// built-in choice of names is off.
    pub fn has_xattr_rules(&self) -> bool {
        self.has_xattr_rules
    }

    /// Gives the rules that concern `side`.
    pub(crate) fn for_side(&self, side: Side) -> impl Iterator<Item = &Rule> {
        let delete_excluded = self.settings.delete_excluded;
        self.rules.iter().filter(move |rule| rule.concerns(side, delete_excluded))
    }

    /// Gives those of them that the option `-C` does not imply.
    pub(crate) fn without_implied_cvs(&self, side: Side) -> impl Iterator<Item = &Rule> {
        let delete_excluded = self.settings.delete_excluded;
        let own = self.rules.iter().take(self.before_cvs.unwrap_or(self.rules.len()));
        own.filter(move |rule| rule.concerns(side, delete_excluded))
    }

    fn add_prefixed(&mut self, pattern: &[u8], verdict: Verdict) -> Result<(), Error> {
        let style = Style::Prefixed(verdict);
        self.load(|loader| loader.add_option(pattern, style, &mut |_| Ok(None)))
    }

    fn add_contents(
        &mut self,
        path: &[u8],
        contents: &[u8],
        verdict: Verdict,
    ) -> Result<(), Error> {
        let merge = MergeRule {
            name: path.into(),
            dirs_only: false,
            style: Style::Prefixed(verdict),
            split: Split::Lines,
            inherited: true,
            traits: Traits::default(),
        };
        self.load(|loader| loader.add_file(path, contents, &merge, 0, &mut |_| Ok(None)))
    }

    pub(crate) fn load(
        &mut self,
        add: impl FnOnce(&mut Loader<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut loader = Loader::new(&self.settings, Place::Options, &mut self.rules);
        add(&mut loader)?;
        self.has_xattr_rules |= loader.saw_xattr_rule;
        Ok(())
    }
}
