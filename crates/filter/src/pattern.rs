//! Does a rule's pattern match a name of the transfer?
//!
//! A pattern is prepared once: where it may stand in the name (`Reach`), which name it is held
//! against (`Root`), and how (`Shape`). See `docs/protocol/filters.md`, "Matching a name".

use std::borrow::Cow;

use bstr::ByteSlice;

use crate::wildmatch::Wildmatch;

/// A name that is asked about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name<'a> {
    /// The path from the transfer root, without a slash in front.
    pub(crate) path: &'a [u8],
    /// The last component of the path.
    pub(crate) last: &'a [u8],
    pub(crate) is_dir: bool,
    pub(crate) is_xattr: bool,
    /// The directory it lies in is about to be deleted as a whole.
    pub(crate) in_doomed_dir: bool,
    /// The absolute path of the transfer root, without a slash in front.
    pub(crate) base: &'a [u8],
}

impl<'a> Name<'a> {
    /// Describes a file or directory.
    pub(crate) fn file(path: &'a [u8], is_dir: bool, base: &'a [u8]) -> Self {
        let last = path.rfind_byte(b'/').map_or(path, |slash| &path[slash + 1..]);
        Self { path, last, is_dir, is_xattr: false, in_doomed_dir: false, base }
    }
}

/// The place that a pattern with a leading slash is anchored at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// The root of the transfer.
    Transfer,
    /// The root of the file system: the `/` modifier.
    FileSystem,
    /// This directory below the root of the transfer.
    Below(Box<[u8]>),
    /// A directory above the transfer's root, whose path from there this is.
    Above(Box<[u8]>),
}

/// The part of the name that a pattern is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    LastComponent,
    /// So many last components.
    LastComponents(usize),
    Whole,
    /// The whole and whatever follows a slash.
    AfterEverySlash,
}

#[derive(Clone, Debug)]
enum Shape {
    Literal(Box<[u8]>),
    /// `*` and a literal rest.
    Ending(Box<[u8]>),
    Wild(Wildmatch),
    /// A pattern that begins with `**`, and what remains of it when that stands for nothing and
    /// the slash behind it is the one in front of the whole path.
    WildOrTop(Wildmatch, Wildmatch),
}

/// A prepared pattern.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    text: Box<[u8]>,
    dirs_only: bool,
    /// The pattern ends in `***`: a directory is matched with a slash behind its name.
    slash_after_dirs: bool,
    root: Root,
    reach: Reach,
    shape: Shape,
}

impl Pattern {
    /// Prepares a pattern, given without the slash that restricts it to directories.
    ///
    /// `root` is where its leading slash would be; `Root::FileSystem` says that the rule has the
    /// `/` modifier.
    pub(crate) fn new(text: &[u8], dirs_only: bool, root: &Root) -> Self {
        let slashes = text.iter().filter(|&&byte| byte == b'/').count();
        let wild = text.iter().any(|byte| b"*?[".contains(byte));
        let crosses = wild && text.contains_str("**");
        let anchored = text.starts_with(b"/");
        let whole = slashes > 0 || crosses;
        let reach = if !whole {
            Reach::LastComponent
        } else if anchored || text.starts_with(b"**") {
            Reach::Whole
        } else if crosses {
            Reach::AfterEverySlash
        } else {
            Reach::LastComponents(slashes + 1)
        };
        let root = match root {
            Root::FileSystem if whole => Root::FileSystem,
            Root::Below(_) | Root::Above(_) if anchored => root.clone(),
            _ => Root::Transfer,
        };
        Self {
            text: text.into(),
            dirs_only,
            slash_after_dirs: crosses && text.ends_with(b"***"),
            shape: shape(text, wild, reach, &root),
            root,
            reach,
        }
    }

    /// Gives the pattern as it was written, without the slash that restricts it to directories.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Says whether the pattern matches directories only.
    pub(crate) fn dirs_only(&self) -> bool {
        self.dirs_only
    }

    /// Says whether only the last component of a name counts.
    pub(crate) fn is_for_last_component(&self) -> bool {
        self.reach == Reach::LastComponent
    }

    /// Says whether the pattern matches this name.
    pub(crate) fn matches(&self, name: &Name<'_>) -> bool {
        if self.dirs_only && !name.is_dir {
            return false;
        }
        if self.reach == Reach::LastComponent {
            return self.shape.matches(name.last);
        }
        match &self.root {
            Root::Transfer => self.matches_path(name.path, name.is_dir),
            Root::Below(dir) => {
                below(name.path, dir).is_some_and(|rest| self.matches_path(rest, name.is_dir))
            }
            Root::Above(dir) => self.matches_joined(dir, name),
            Root::FileSystem => self.matches_joined(name.base, name),
        }
    }

    fn matches_joined(&self, dir: &[u8], name: &Name<'_>) -> bool {
        if dir.is_empty() {
            return self.matches_path(name.path, name.is_dir);
        }
        match (&self.shape, self.reach) {
            (Shape::Literal(literal), Reach::Whole) => below(literal, dir) == Some(name.path),
            _ => self.matches_path(&[dir, b"/", name.path].concat(), name.is_dir),
        }
    }

    fn matches_path(&self, path: &[u8], is_dir: bool) -> bool {
        let mut path = Cow::Borrowed(path);
        if self.slash_after_dirs && is_dir {
            path.to_mut().push(b'/');
        }
        match self.reach {
            Reach::LastComponent | Reach::Whole => self.shape.matches(&path),
            Reach::LastComponents(count) => {
                last_components(&path, count).is_some_and(|end| self.shape.matches(end))
            }
            Reach::AfterEverySlash => {
                self.shape.matches(&path)
                    || path.find_iter(b"/").any(|slash| self.shape.matches(&path[slash + 1..]))
            }
        }
    }
}

fn shape(text: &[u8], wild: bool, reach: Reach, root: &Root) -> Shape {
    let body = text.strip_prefix(b"/").unwrap_or(text);
    if !wild {
        return Shape::Literal(body.into());
    }
    if reach == Reach::LastComponent
        && let Some(rest) = body.strip_prefix(b"*")
        && !rest.iter().any(|byte| b"*?[\\".contains(byte))
    {
        return Shape::Ending(rest.into());
    }
    let wildmatch = Wildmatch::new(body);
    // Such a pattern is held against the path with a slash in front. The stars can stand for that
    // slash, which changes nothing, or it can be the pattern's own.
    let rest = body.trim_start_with(|char| char == '*');
    let top = rest.strip_prefix(b"/").or_else(|| rest.strip_prefix(b"\\/"));
    match top {
        Some(top) if text.starts_with(b"**") && *root == Root::Transfer => {
            Shape::WildOrTop(wildmatch, Wildmatch::new(top))
        }
        _ => Shape::Wild(wildmatch),
    }
}

impl Shape {
    fn matches(&self, text: &[u8]) -> bool {
        match self {
            Shape::Literal(literal) => **literal == *text,
            Shape::Ending(ending) => text.ends_with(ending),
            Shape::Wild(wildmatch) => wildmatch.matches(text),
            Shape::WildOrTop(wildmatch, top) => wildmatch.matches(text) || top.matches(text),
        }
    }
}

/// Gives what follows `dir` and a slash.
fn below<'a>(path: &'a [u8], dir: &[u8]) -> Option<&'a [u8]> {
    path.strip_prefix(dir)?.strip_prefix(b"/")
}

fn last_components(path: &[u8], count: usize) -> Option<&[u8]> {
    let mut start = path.len();
    for left in (0..count).rev() {
        match path[..start].rfind_byte(b'/') {
            Some(slash) if left == 0 => return Some(&path[slash + 1..]),
            Some(slash) => start = slash,
            None => return (left == 0).then_some(path),
        }
    }
    None
}
