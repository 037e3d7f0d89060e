//! Does a wildcard pattern match a text?
//!
//! The wildcards are those of `docs/protocol/filters.md`, "Wildcards". A pattern is compiled once;
//! matching allocates nothing and goes back to the nearest `*` and the nearest `**` only, so no
//! pattern costs exponential time.

use crate::bracket::ByteSet;

/// A compiled wildcard pattern.
#[derive(Clone, Debug)]
pub(crate) struct Wildmatch {
    /// `None` when no text can match (an unfinished bracket, a lone backslash at the end).
    elements: Option<Box<[Element]>>,
}

#[derive(Clone, Debug)]
enum Element {
    Byte(u8),
    /// `?`: a byte that is not a slash.
    Any,
    /// `[...]`
    Set(Box<ByteSet>),
    /// `*`: a run without a slash.
    Star,
    /// `**` and longer: any run.
    DoubleStar,
}

/// Says whether a wildcard pattern matches the whole of a text.
pub fn matches_pattern(pattern: &[u8], text: &[u8]) -> bool {
    Wildmatch::new(pattern).matches(text)
}

impl Wildmatch {
    /// Compiles a pattern; a malformed one compiles to what matches nothing.
    pub(crate) fn new(pattern: &[u8]) -> Self {
        Self { elements: compile(pattern) }
    }

    /// Says whether the pattern matches the whole text.
    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        self.search(text, || {})
    }

    /// Matches, and calls `tick` for every step, so that a test can count them.
    fn search(&self, text: &[u8], mut tick: impl FnMut()) -> bool {
        let Some(elements) = self.elements.as_deref() else {
            return false;
        };
        let mut search =
            Search { elements, text, element: 0, at: 0, star: None, double_star: None };
        loop {
            tick();
            match search.step() {
                Step::Go => {}
                Step::Matched => return true,
                Step::Failed => return false,
            }
        }
    }
}

fn compile(pattern: &[u8]) -> Option<Box<[Element]>> {
    let mut elements = Vec::with_capacity(pattern.len());
    let mut at = 0;
    while let Some(&byte) = pattern.get(at) {
        at += 1;
        elements.push(match byte {
            b'?' => Element::Any,
            b'*' => {
                let more = pattern[at..].iter().take_while(|&&byte| byte == b'*').count();
                at += more;
                if more == 0 { Element::Star } else { Element::DoubleStar }
            }
            b'[' => {
                let (set, length) = ByteSet::parse(&pattern[at..])?;
                at += length;
                Element::Set(Box::new(set))
            }
            b'\\' => {
                at += 1;
                Element::Byte(*pattern.get(at - 1)?)
            }
            byte => Element::Byte(byte),
        });
    }
    Some(elements.into_boxed_slice())
}

impl Element {
    fn accepts(&self, byte: u8) -> bool {
        match self {
            Element::Byte(wanted) => *wanted == byte,
            Element::Any => byte != b'/',
            Element::Set(set) => set.contains(byte),
            Element::Star | Element::DoubleStar => false,
        }
    }
}

/// A place to go on from: the element after a star, and the text position tried last.
#[derive(Clone, Copy)]
struct Retry {
    element: usize,
    at: usize,
}

struct Search<'a> {
    elements: &'a [Element],
    text: &'a [u8],
    element: usize,
    at: usize,
    star: Option<Retry>,
    double_star: Option<Retry>,
}

enum Step {
    Go,
    Matched,
    Failed,
}

impl Search<'_> {
    fn step(&mut self) -> Step {
        let last = self.element + 1 == self.elements.len();
        match (self.elements.get(self.element), self.text.get(self.at)) {
            (Some(Element::DoubleStar), _) if last => Step::Matched,
            (Some(Element::DoubleStar), _) => {
                self.element += 1;
                self.star = None;
                self.double_star = Some(self.here());
                Step::Go
            }
            (Some(Element::Star), _) if last && !self.text[self.at..].contains(&b'/') => {
                Step::Matched
            }
            (Some(Element::Star), _) if last => self.retry_double_star(),
            (Some(Element::Star), _) => {
                self.element += 1;
                self.star = Some(self.here());
                Step::Go
            }
            (None, None) => Step::Matched,
            // Every later start would leave even less text for the same elements.
            (Some(_), None) => Step::Failed,
            (Some(element), Some(&byte)) if element.accepts(byte) => {
                self.element += 1;
                self.at += 1;
                Step::Go
            }
            (_, Some(_)) => self.retry(),
        }
    }

    fn here(&self) -> Retry {
        Retry { element: self.element, at: self.at }
    }

    /// Lets the nearest `*` take one byte more; at a slash it is the turn of the nearest `**`.
    ///
    /// Stars before those need no second look: each stopped at the first place where the elements
    /// behind it matched, and a later place would only leave less text.
    fn retry(&mut self) -> Step {
        match self.star {
            Some(star) if self.text.get(star.at).is_some_and(|&byte| byte != b'/') => {
                self.star = Some(Retry { at: star.at + 1, ..star });
                self.element = star.element;
                self.at = star.at + 1;
                Step::Go
            }
            _ => self.retry_double_star(),
        }
    }

    fn retry_double_star(&mut self) -> Step {
        match self.double_star {
            Some(retry) if retry.at < self.text.len() => {
                self.star = None;
                self.double_star = Some(Retry { at: retry.at + 1, ..retry });
                self.element = retry.element;
                self.at = retry.at + 1;
                Step::Go
            }
            _ => Step::Failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Tries every way, by the definition of each element.
    fn naive(elements: &[Element], text: &[u8]) -> bool {
        match (elements, text) {
            ([], text) => text.is_empty(),
            ([Element::DoubleStar, rest @ ..], _) => {
                (0..=text.len()).any(|skip| naive(rest, &text[skip..]))
            }
            ([Element::Star, rest @ ..], _) => (0..=text.len())
                .take_while(|&skip| !text[..skip].contains(&b'/'))
                .any(|skip| naive(rest, &text[skip..])),
            ([first, rest @ ..], [byte, tail @ ..]) => first.accepts(*byte) && naive(rest, tail),
            (_, []) => false,
        }
    }

    fn steps(pattern: &str, text: &str) -> (bool, u64) {
        let mut count = 0;
        let matched = Wildmatch::new(pattern.as_bytes()).search(text.as_bytes(), || count += 1);
        (matched, count)
    }

    #[test]
    fn every_element_matches_what_it_stands_for() {
        let cases = [
            ("", "", true),
            ("a?c", "abc", true),
            ("a?c", "a/c", false),
            ("*", "", true),
            ("*", "a/b", false),
            ("**", "a/b", true),
            ("**", "", true),
            ("*/b", "a/b", true),
            ("*b*", "xxbyy", true),
            ("*b*", "xxb/y", false),
            ("a/**/b", "a/b", false),
            ("a/**/b", "a/x/y/b", true),
            ("**/x*z", "a/xy/xyz", true),
            ("**x*z", "ax/xyz", true),
            ("a***c", "a/b/c", true),
            ("a\\*b", "a*b", true),
            ("a\\*b", "axb", false),
            ("a\\", "a\\", false),
            ("[a-c]1", "b1", true),
            ("[c-a]1", "b1", false),
            ("[!a-c]1", "d1", true),
            ("[^a-c]1", "b1", false),
            ("[]x]1", "]1", true),
            ("[!]x]1", "]1", false),
            ("[a-]1", "-1", true),
            ("[--0]q", ".q", true),
            ("[a-e-n]q", "fq", false),
            ("[a-e-n]q", "-q", true),
            ("[\\1-\\3]q", "2q", true),
            ("[a\\]b]1", "]1", true),
            ("[[:upper:][:digit:]]", "Z", true),
            ("[[:alpha:]-z]q", "-q", true),
            ("[[:bogus:]]x", "bx", false),
            ("[[:digit]x", "dx", true),
            ("[[:]ab]", ":ab]", true),
            ("[![:space:]]q", "aq", true),
            ("[/]", "/", false),
            ("[!a]", "/", false),
            ("[a", "[a", false),
            ("?", "é", false),
            ("??", "é", true),
        ];
        for (pattern, text, expected) in cases {
            let matched = Wildmatch::new(pattern.as_bytes()).matches(text.as_bytes());
            assert_eq!(matched, expected, "{pattern:?} against {text:?}");
        }
    }

    #[test]
    fn each_class_is_the_ascii_one() {
        let sizes = [
            ("alnum", 62),
            ("alpha", 52),
            ("blank", 2),
            ("cntrl", 33),
            ("digit", 10),
            ("graph", 94),
            ("lower", 26),
            ("print", 95),
            ("punct", 32),
            ("space", 6),
            ("upper", 26),
            ("xdigit", 22),
        ];
        for (name, size) in sizes {
            let wildmatch = Wildmatch::new(format!("[[:{name}:]]").as_bytes());
            let count = (0..=u8::MAX).filter(|&byte| wildmatch.matches(&[byte])).count();
            // The slash is in three of the classes and matches in none.
            let slash = usize::from(matches!(name, "graph" | "print" | "punct"));
            assert_eq!(count, size - slash, "{name}");
        }
    }

    #[test]
    fn patterns_full_of_stars_end_quickly() {
        let text = "a".repeat(4000);
        let dirs = "aaaaaaaa/".repeat(400);
        for pattern in ["*a".repeat(60) + "b", "**a*".repeat(60) + "b", "*a*?*a".repeat(200) + "/"]
        {
            for text in [&text, &dirs] {
                let (matched, steps) = steps(&pattern, text);
                assert!(!matched);
                let bound = 4 * (pattern.len() * text.len()) as u64;
                assert!(steps < bound, "{steps} steps for {pattern:.20}");
            }
        }
    }

    #[test]
    fn the_worst_pattern_costs_a_component_times_itself_for_each_byte_of_the_path() {
        let path = ("a".repeat(255) + "/").repeat(15);
        for repeats in [10, 60, 127] {
            let pattern = format!("**a*{}b", "a".repeat(repeats));
            let (matched, steps) = steps(&pattern, &path);
            assert!(!matched);
            let bound = (path.len() * 255 * pattern.len()) as u64;
            assert!(steps < bound, "{steps} steps, bound {bound}");
        }
    }

    proptest! {
        #[test]
        fn it_matches_what_a_naive_search_matches(
            pattern in "(a|b|/|\\?|\\*|\\*\\*|\\[ab\\]|\\[!a\\]){0,9}",
            text in "[ab/]{0,10}",
        ) {
            let wildmatch = Wildmatch::new(pattern.as_bytes());
            let expected = naive(wildmatch.elements.as_deref().unwrap(), text.as_bytes());
            prop_assert_eq!(wildmatch.matches(text.as_bytes()), expected);
        }

        #[test]
        fn no_bytes_make_it_panic(
            pattern in prop::collection::vec(prop::sample::select(&b"[]!^-\\:*?/a\xff"[..]), 0..20),
            text in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            Wildmatch::new(&pattern).matches(&text);
        }
    }
}
