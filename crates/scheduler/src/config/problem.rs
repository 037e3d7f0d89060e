//! How is a mistake in the configuration shown to the person who made it?

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Is one mistake, with the place where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong and what to do, in one line.
    pub message: String,
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    text: String,
    width: usize,
}

impl Problem {
    /// Finds line and column of `span` in the source.
    pub(crate) fn at(source: &Source<'_>, span: Range<usize>, message: String) -> Problem {
        let text = source.text;
        let start = floor_boundary(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let marked_end = floor_boundary(text, span.end.clamp(start, line_end));
        Problem {
            message,
            file: source.file.to_path_buf(),
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            text: text[line_start..line_end].trim_end().replace(char::is_control, " "),
            width: text[start..marked_end].chars().count().max(1),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { message, line, column, text, .. } = self;
        let number = line.to_string();
        let gutter = " ".repeat(number.len());
        let indent = " ".repeat(column - 1);
        let carets = "^".repeat(self.width);
        writeln!(f, "{}:{line}:{column}: {message}", self.file.display())?;
        writeln!(f, "{gutter} |")?;
        writeln!(f, "{number} | {text}")?;
        write!(f, "{gutter} | {indent}{carets}")
    }
}

/// Is the text of a configuration and the name of its file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) text: &'a str,
    pub(crate) file: &'a Path,
}

/// Collects mistakes, so that a person sees all of them at once.
#[derive(Debug)]
pub(crate) struct Problems<'a> {
    source: Source<'a>,
    found: Vec<Problem>,
}

impl<'a> Problems<'a> {
    pub(crate) fn new(source: Source<'a>) -> Problems<'a> {
        Problems { source, found: Vec::new() }
    }

    pub(crate) fn add(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.found.push(Problem::at(&self.source, span, message.into()));
    }

    /// Adds a mistake that is the key itself, given where its value stands.
    pub(crate) fn add_key(&mut self, key: &str, value: Range<usize>, message: impl Into<String>) {
        let span = self.key_span(key, value);
        self.add(span, message);
    }

    /// Returns the mistakes in the order of the file.
    pub(crate) fn into_found(mut self) -> Vec<Problem> {
        self.found.sort_by_key(|problem| (problem.line, problem.column));
        self.found
    }

    /// Finds the key in the line of its value; a key that stands elsewhere leaves the value.
    fn key_span(&self, key: &str, value: Range<usize>) -> Range<usize> {
        let text = self.source.text;
        let start = floor_boundary(text, value.start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        // The value of a table with a header is its header, and the key stands inside.
        let inside = text.get(value.clone()).filter(|inside| inside.starts_with('['));
        if let Some(at) = inside.and_then(|inside| inside.rfind(key)) {
            return start + at..start + at + key.len();
        }
        match text[line_start..start].rfind(key) {
            Some(at) => line_start + at..line_start + at + key.len(),
            None => value,
        }
    }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
