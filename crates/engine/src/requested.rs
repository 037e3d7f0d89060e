//! Did we ask for the names that a sender lists?
//!
//! A client that receives takes no other, so that a sender cannot slip in files of its own
//! choosing (docs/protocol/filters.md, "Enforcement").

use std::collections::HashMap;

use filter::{ActiveFilter, RuleList, Side, Verdict, wildmatch};
use wire::flist::{DirMark, ReceivedEntry};
use wire::options::Options;

use crate::error::{Error, Result};
use crate::sources::{inside, plain_argument, relative_argument};

/// What a client asked its sender for.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// Paths, in which the far side expands wildcards.
    Paths(&'a [Vec<u8>]),
    /// The names of a list that lies here, as they are.
    Names(&'a [Vec<u8>]),
    /// The far side chooses: it has the list, or the client trusts it.
    Anything,
}

/// What listed names are held against.
pub(crate) struct Requested {
    /// Names as they were given, and with them those of the directories above.
    names: HashMap<Vec<u8>, Standing>,
    /// Names with wildcards, by component.
    patterns: Vec<Vec<Vec<u8>>>,
    /// How many levels below a name come with it.
    depth: usize,
    /// Our own rules, as far as names alone decide.
    rules: Option<ActiveFilter>,
}

/// How a name stands to what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// It was asked for, or lies below what was.
    Asked,
    /// It is a directory that leads to what was asked for.
    Above,
}

impl Requested {
    /// Prepares to check; `None` where the far side may list what it likes.
    pub(crate) fn new(request: Request<'_>, rules: &RuleList, options: &Options) -> Option<Self> {
        let depth = match options.recursive {
            true => usize::MAX,
            false => usize::from(options.lists_dirs()),
        };
        let rules = rules.judge_names_alone().then(|| ActiveFilter::new(rules, Side::Sender, b""));
        let mut requested = Self { names: HashMap::new(), patterns: Vec::new(), depth, rules };
        let relative = options.relative;
        match request {
            Request::Anything => return None,
            Request::Names(names) => {
                names.iter().for_each(|name| requested.ask(&inside(name), relative, false));
            }
            Request::Paths(paths) => {
                paths.iter().for_each(|path| requested.ask(path, relative, true));
            }
        }
        Some(requested)
    }

    fn ask(&mut self, path: &[u8], relative: bool, expands: bool) {
        let argument = if relative { relative_argument(path) } else { plain_argument(path) };
        let name = if argument.name == b"." { Vec::new() } else { argument.name };
        if expands && name.iter().any(|byte| b"*?[".contains(byte)) {
            self.patterns.push(name.split(|byte| *byte == b'/').map(<[u8]>::to_vec).collect());
        }
        for above in prefixes(&name).skip(1).filter(|above| *above != name) {
            self.names.entry(above.to_vec()).or_insert(Standing::Above);
        }
        self.names.insert(name, Standing::Asked);
    }

    /// Refuses an entry that we did not ask for. A directory that only leads to something is no
    /// more than that, whatever the sender says.
    pub(crate) fn check(&self, entry: &mut ReceivedEntry) -> Result<()> {
        if entry.name == b"." {
            return Ok(());
        }
        let refused = |what| Err(Error::Unasked { name: entry.name.clone(), what });
        let excludes = |rules: &ActiveFilter| rules.check(&entry.name, entry.is_dir());
        if self.rules.as_ref().map(excludes) == Some(Verdict::Exclude) {
            return refused("excluded");
        }
        match self.standing(&entry.name) {
            Some(Standing::Asked) => {}
            Some(Standing::Above) if entry.is_dir() => entry.dir_mark = DirMark::Implied,
            Some(Standing::Above) | None => return refused("unrequested"),
        }
        Ok(())
    }

    fn standing(&self, name: &[u8]) -> Option<Standing> {
        let levels = name.split(|byte| *byte == b'/').count();
        let is_near = |level: usize| levels - level <= self.depth;
        let asked = |(prefix, level): (&[u8], usize)| {
            self.names.get(prefix) == Some(&Standing::Asked) && is_near(level)
        };
        if prefixes(name).zip(0..).any(asked) {
            return Some(Standing::Asked);
        }
        let by_pattern = self.patterns.iter().filter_map(|pattern| {
            let mut parts = name.split(|byte| *byte == b'/').zip(pattern);
            match pattern.len() {
                _ if !parts.all(|(part, pattern)| wildmatch(pattern, part)) => None,
                len if len > levels => Some(Standing::Above),
                len => is_near(len).then_some(Standing::Asked),
            }
        });
        let by_name = self.names.get(name).copied();
        by_pattern.chain(by_name).min_by_key(|standing| *standing == Standing::Above)
    }
}

/// Returns the empty path, and each directory on the way to a name, and the name.
fn prefixes(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = name.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let ends = slashes.map(|(at, _)| at).chain([name.len()]);
    std::iter::once(&name[..0]).chain(ends.map(|end| &name[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(words: &[&str], options: Options, names: &[&str]) -> String {
        let paths: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        let rules = RuleList::default();
        let requested = Requested::new(Request::Paths(&paths), &rules, &options).unwrap();
        let answer = |name: &&str| match requested.standing(name.as_bytes()) {
            Some(Standing::Asked) => 'y',
            Some(Standing::Above) => 'u',
            None => 'n',
        };
        names.iter().map(answer).collect()
    }

    #[test]
    fn only_what_was_asked_for_and_what_lies_below_or_leads_to_it_is_taken() {
        let deep = Options { recursive: true, ..Options::default() };
        let flat = Options { dirs: true, ..Options::default() };
        let relative = Options { relative: true, ..deep.clone() };
        let names = ["a", "a/b", "a/b/c", "d", "a.d/a"];
        assert_eq!(answers(&["x/a"], deep.clone(), &names), "yyynn");
        assert_eq!(answers(&["x/a*"], deep.clone(), &names), "yyyny");
        assert_eq!(answers(&["x/"], deep.clone(), &names), "yyyyy");
        assert_eq!(answers(&["a"], Options::default(), &names), "ynnnn");
        assert_eq!(answers(&["a/"], flat, &names), "ynnyn");
        assert_eq!(answers(&["a/b"], relative.clone(), &names), "uyynn");
        assert_eq!(answers(&["/x/./a/[b]"], relative.clone(), &names), "uyynn");
        assert_eq!(answers(&["*/b/c", "d"], relative, &names), "uuyyn");
    }
}
