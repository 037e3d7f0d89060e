//! What rules does a text or a file of rules add to a list?

use std::io;

use crate::error::{Error, Origin};
use crate::limits::{MAX_DIR_MERGES, MAX_NESTING};
use crate::lines;
use crate::list::Settings;
use crate::parse::{Inherited, Parsed, parse};
use crate::pattern::{Pattern, Root};
use crate::rule::{CvsRule, MatchRule, MergeRule, Rule, Source, Split, Style, Traits, Verdict};

/// Reads a file of rules; `None` when there is none.
///
/// A missing per-directory file is nothing unusual. Any error that this gives ends the run, so a
/// caller who wants to go on without an unreadable file gives `None`, as rsync does.
pub type ReadFile<'a> = dyn FnMut(&[u8]) -> io::Result<Option<Vec<u8>>> + 'a;

/// Where the rules that are being read belong.
pub(crate) enum Place<'a> {
    /// In the list that the options make.
    Options,
    /// In one directory.
    Directory {
        /// The directory's path, for the files named in its file with a slash.
        path: &'a [u8],
        /// The transfer root's path, for those named without.
        base: &'a [u8],
        /// What a leading slash means.
        root: Root,
    },
}

impl Place<'_> {
    /// Gives the path of a file that a `.` rule names here.
    fn locate(&self, name: &[u8]) -> Vec<u8> {
        match self {
            Place::Directory { path, base, .. } if !name.starts_with(b"/") => {
                let dir = if name.contains(&b'/') { path } else { base };
                [dir, &b"/"[..], name].concat()
            }
            _ => name.to_vec(),
        }
    }

    fn root(&self, traits: Traits) -> &Root {
        match self {
            _ if traits.absolute => &Root::FileSystem,
            Place::Options => &Root::Transfer,
            Place::Directory { root, .. } => root,
        }
    }
}

/// Adds rules to a list.
pub(crate) struct Loader<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) place: Place<'a>,
    /// The base names of per-directory merge files in force outside the list.
    pub(crate) taken: Vec<Box<[u8]>>,
    pub(crate) rules: &'a mut Vec<Rule>,
    /// The list was cleared: what it inherited is void.
    pub(crate) cleared: bool,
    pub(crate) saw_xattr_rule: bool,
    /// How many rules about per-directory files were met.
    dir_merges: usize,
}

impl<'a> Loader<'a> {
    /// Prepares to add to `rules`.
    pub(crate) fn new(settings: &'a Settings, place: Place<'a>, rules: &'a mut Vec<Rule>) -> Self {
        Self {
            settings,
            place,
            taken: Vec::new(),
            rules,
            cleared: false,
            saw_xattr_rule: false,
            dir_merges: 0,
        }
    }

    /// Adds the rule that an option gives.
    pub(crate) fn add_option(
        &mut self,
        text: &[u8],
        style: Style,
        read: &mut ReadFile<'_>,
    ) -> Result<(), Error> {
        self.add(text, style, Inherited::default(), &Origin::Option, 0, read)
    }

    /// Adds a rule that the far side sent; it may not name a file to be read now.
    pub(crate) fn add_from_wire(&mut self, text: &[u8]) -> Result<(), Error> {
        let refuse = &mut |_: &[u8]| {
            let text = "the far side may not have a file read";
            Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
        };
        self.add(text, Style::Rules, Inherited::default(), &Origin::FarSide, 0, refuse)
    }

    /// Adds the rules of a file's content; `depth` counts the files that led to it.
    pub(crate) fn add_file(
        &mut self,
        path: &[u8],
        contents: &[u8],
        merge: &MergeRule,
        depth: usize,
        read: &mut ReadFile<'_>,
    ) -> Result<(), Error> {
        let inherited = Inherited::from_merge(merge);
        for (number, text) in lines::rules(contents, merge.split, self.settings.line_ends) {
            let line = if merge.split == Split::Lines { number } else { 0 };
            let origin = Origin::line_of(path, line);
            self.add(text, merge.style, inherited, &origin, depth, read)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        text: &[u8],
        style: Style,
        inherited: Inherited,
        origin: &Origin,
        depth: usize,
        read: &mut ReadFile<'_>,
    ) -> Result<(), Error> {
        let parsed = parse(text, style, inherited).map_err(|reason| Error::Syntax {
            rule: text.into(),
            origin: origin.clone(),
            reason,
        })?;
        match parsed {
            Parsed::Nothing => {}
            Parsed::Clear => {
                self.rules.clear();
                self.cleared = true;
            }
            Parsed::Match { verdict, traits, pattern, dirs_only } => {
                let source = match origin {
                    Origin::Option | Origin::FarSide => Source::Option,
                    _ => Source::File,
                };
                let pattern = Pattern::new(pattern, dirs_only, self.place.root(traits));
                self.add_match(MatchRule { verdict, traits, pattern, source });
            }
            Parsed::Cvs { verdict, traits } => {
                self.saw_xattr_rule |= traits.xattr;
                self.rules.push(Rule::Cvs(CvsRule { verdict, traits }));
            }
            Parsed::Merge { merge, hide_file } => {
                self.hide(&merge, hide_file);
                self.splice(&merge, origin, depth, read)?;
            }
            Parsed::DirMerge { merge, hide_file } => {
                self.hide(&merge, hide_file);
                self.add_dir_merge(merge)?;
            }
        }
        Ok(())
    }

    fn add_match(&mut self, rule: MatchRule) {
        self.saw_xattr_rule |= rule.traits.xattr;
        self.rules.push(Rule::Match(rule));
    }

    /// Excludes the merge file itself, when its rule has the `e` modifier.
    fn hide(&mut self, merge: &MergeRule, hide_file: bool) {
        if hide_file {
            let traits = Traits::default();
            let pattern = Pattern::new(merge.base_name(), false, self.place.root(traits));
            let (verdict, source) = (Verdict::Exclude, Source::Option);
            self.add_match(MatchRule { verdict, traits, pattern, source });
        }
    }

    /// Reads a file now and puts its rules here.
    fn splice(
        &mut self,
        merge: &MergeRule,
        origin: &Origin,
        depth: usize,
        read: &mut ReadFile<'_>,
    ) -> Result<(), Error> {
        self.saw_xattr_rule |= merge.traits.xattr;
        let path = self.place.locate(&merge.name);
        if depth >= MAX_NESTING {
            return Err(Error::TooDeep { path: path.into(), origin: origin.clone() });
        }
        let contents = read(&path).and_then(|found| {
            found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such file"))
        });
        match contents {
            Ok(contents) => self.add_file(&path, &contents, merge, depth + 1, read),
            Err(source) => Err(Error::Merge { path: path.into(), origin: origin.clone(), source }),
        }
    }

    /// Adds a per-directory merge, unless a file of that name is in force already.
    fn add_dir_merge(&mut self, merge: MergeRule) -> Result<(), Error> {
        // Counted before the search for the name, which so takes no more than linear time.
        self.dir_merges += 1;
        if self.dir_merges > MAX_DIR_MERGES {
            return Err(Error::TooManyMerges { path: merge.name.into_vec().into() });
        }
        self.saw_xattr_rule |= merge.traits.xattr;
        let name = merge.base_name();
        let here = self
            .rules
            .iter()
            .any(|rule| matches!(rule, Rule::DirMerge(other) if other.base_name() == name));
        if !here && !self.taken.iter().any(|taken| **taken == *name) {
            self.rules.push(Rule::DirMerge(merge));
        }
        Ok(())
    }
}
