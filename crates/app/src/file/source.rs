//! Where a value was written: the source text, a place in it, and the excerpt that an error shows.

use std::fmt;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Why a text cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// The system reported an error.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is larger than a text file can be: it is a device or another kind of file.
    #[error("it is larger than {} MiB, the limit of text files", MOST_BYTES >> 20)]
    TooLong,
    /// Bytes that are not UTF-8.
    #[error(
        "it is not UTF-8 text: byte {byte} of line {line} is 0x{value:02x}; save it with the encoding UTF-8"
    )]
    NotUtf8 {
        /// The line, from 1.
        line: usize,
        /// The byte of the line, from 1.
        byte: usize,
        /// Its value.
        value: u8,
    },
}

/// The most bytes of a text.
const MOST_BYTES: u64 = 64 << 20;

/// The text of a file.
///
/// # Errors
/// [`TextError`].
pub fn read_text(path: &Path) -> Result<String, TextError> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(TextError::TooLong);
    }
    String::from_utf8(bytes).map_err(|error| {
        let (at, bytes) = (error.utf8_error().valid_up_to(), error.as_bytes());
        let before = &bytes[..at];
        let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |end| end + 1);
        let line = 1 + before.iter().filter(|&&b| b == b'\n').count();
        TextError::NotUtf8 { line, byte: 1 + at - start, value: bytes.get(at).copied().unwrap_or_default() }
    })
}

/// The most characters of a line that an excerpt shows, and how many of them before the place.
const EXCERPT: [usize; 2] = [100, 60];

/// The largest number of nested lists and sections. Each level needs some kilobytes of stack, and a stack
/// overflow would abort the program without a message.
pub const DEEPEST: usize = 32;

/// A text that contains values: the pipeline file, or one option of the command line.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name in messages: the path as given, or `command line`.
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

/// A part of one line of a [`Source`]. Lines and columns count from 1, in characters.
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    /// The text that contains it.
    pub source: Arc<Source>,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in characters.
    pub column: usize,
    /// The number of characters; at least one is underlined.
    pub length: usize,
}

impl Place {
    /// The whole of a one-line source.
    pub fn whole(source: &Arc<Source>) -> Self {
        Self { source: source.clone(), line: 1, column: 1, length: source.text.chars().count() }
    }

    /// The part `span` (bytes of `text`) of a value whose decoded text is `text`; a quoted value starts one
    /// character later. Where the value is not written on this line as it reads, the place of the whole is
    /// kept.
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

    /// The line with this part underlined, as compilers print it; of a long line the text around this part.
    pub fn excerpt(&self) -> String {
        let all: Vec<char> = self.source.line(self.line).chars().collect();
        let [most, before] = EXCERPT;
        let first = match all.len() > most {
            true => (self.column - 1).saturating_sub(before).min(all.len() - most),
            false => 0,
        };
        let last = all.len().min(first + most);
        // Each becomes one character, so that the marks below stay aligned with the text.
        let shown = all[first..last].iter().map(|&c| if c.is_control() { ' ' } else { c });
        let (left, right) = (if first > 0 { "…" } else { "" }, if last < all.len() { "…" } else { "" });
        let line: String = left.chars().chain(shown).chain(right.chars()).collect();
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let room = last.saturating_sub(self.column - 1);
        let carets = "^".repeat(self.length.min(room).max(1));
        let indent = " ".repeat(left.chars().count() + (self.column - 1).saturating_sub(first));
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
    fn of_a_long_line_the_part_around_the_place_is_shown() {
        let source =
            Source::new("case.yaml", format!("rho: {}foo{}", "1 + ".repeat(1000), " + 1".repeat(1000)));
        let excerpt = Place { source, line: 1, column: 4006, length: 3 }.excerpt();
        let lines: Vec<Vec<char>> = excerpt.lines().map(|line| line.chars().collect()).collect();
        assert!(lines[1].len() < 110, "{excerpt}");
        let marks: Vec<usize> = (0..lines[2].len()).filter(|&i| lines[2][i] == '^').collect();
        let marked: String = marks.iter().map(|&i| lines[1][i]).collect();
        assert_eq!(marked, "foo", "{excerpt}");
    }

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        let source = Source::new("case.yaml", "title:\ta\u{1b}b");
        let excerpt = Place { source, line: 1, column: 8, length: 3 }.excerpt();
        assert_eq!(excerpt, "  |\n1 | title: a b\n  |        ^^^");
    }

    #[test]
    fn a_folded_value_keeps_the_place_of_the_whole() {
        let source = Source::new("case.yaml", "rho: >\n  1 +\n  foo\n");
        let value = Place { source, line: 1, column: 6, length: 1 };
        assert_eq!(value.part("1 + foo", &(4..7)), value);
    }
}
