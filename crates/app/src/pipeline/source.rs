//! Where a value was written: the source text, a place in it, and the excerpt that an error shows.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A text that values come from: the pipeline file, or one option of the command line.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// What the user calls it: the path as given, or `command line`.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl Source {
    /// A source with this name and text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { name: name.into(), text: text.into() })
    }

    /// Line `line` (from 1), without its end; empty past the last.
    pub fn line(&self, line: usize) -> &str {
        self.text.lines().nth(line.saturating_sub(1)).unwrap_or("")
    }
}

/// A stretch of one line of a [`Source`]. Lines and columns count from 1, in characters.
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    /// The text that it points into.
    pub source: Arc<Source>,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in characters.
    pub column: usize,
    /// How many characters are meant; at least one is underlined.
    pub length: usize,
}

impl Place {
    /// The whole of a one-line source.
    pub fn whole(source: &Arc<Source>) -> Self {
        Self { source: source.clone(), line: 1, column: 1, length: source.text.chars().count() }
    }

    /// The part `span` (bytes of `text`) of a value whose decoded text is `text`; a quoted value starts one
    /// character later. Where the value is not written on this line as it reads, the place of the whole is kept.
    #[must_use]
    pub fn part(&self, text: &str, span: &Range<usize>) -> Self {
        let rest: String = self.source.line(self.line).chars().skip(self.column - 1).collect();
        let quote = usize::from(rest.starts_with(['"', '\'']));
        let written: String = rest.chars().skip(quote).collect();
        let (Some(before), Some(inside)) = (text.get(..span.start), text.get(span.clone())) else {
            return self.clone();
        };
        if !written.starts_with(text) {
            return self.clone();
        }
        Self {
            source: self.source.clone(),
            line: self.line,
            column: self.column + quote + before.chars().count(),
            length: inside.chars().count(),
        }
    }

    /// The line with the meant part underlined, as compilers print it.
    pub fn excerpt(&self) -> String {
        let line = self.source.line(self.line);
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let room = line.chars().count().saturating_sub(self.column - 1);
        let carets = "^".repeat(self.length.min(room).max(1));
        let indent = " ".repeat(self.column - 1);
        format!("{margin} |\n{number} | {line}\n{margin} | {indent}{carets}")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.source.name, self.line, self.column)
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A value together with its key path (such as `space.order`) and the place where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// The dotted path of its key.
    pub key: String,
    /// Where it was written.
    pub place: Place,
}

impl<T> Located<T> {
    /// The same key and place with another value.
    pub fn with<U>(&self, value: U) -> Located<U> {
        Located { value, key: self.key.clone(), place: self.place.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_underlines_the_part_that_is_meant() {
        let source = Source::new("case.yaml", "a: 1\nrho: \"1 + foo\"\n");
        let value = Place { source, line: 2, column: 6, length: 9 };
        let part = value.part("1 + foo", &(4..7));
        assert_eq!((part.column, part.length), (11, 3));
        assert_eq!(part.excerpt(), "  |\n2 | rho: \"1 + foo\"\n  |           ^^^");
    }

    #[test]
    fn a_folded_value_keeps_the_place_of_the_whole() {
        let source = Source::new("case.yaml", "rho: >\n  1 +\n  foo\n");
        let value = Place { source, line: 1, column: 6, length: 1 };
        assert_eq!(value.part("1 + foo", &(4..7)), value);
    }
}
