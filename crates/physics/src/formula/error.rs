//! Errors of formulas, with their place.

use std::ops::Range;

/// A formula that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at column {} of `{}`{}", self.column(), self.shown(), self.hint_in_parentheses())]
pub struct FormulaError {
    /// The whole formula.
    pub text: String,
    /// The bytes of the text to which the error refers; empty at the end of the text.
    pub span: Range<usize>,
    /// The error.
    pub kind: FormulaErrorKind,
    /// A hint how to write it instead, if known.
    pub hint: Option<String>,
}

/// The kinds of errors in a formula.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormulaErrorKind {
    /// The text is empty or blank.
    #[error("empty formula")]
    Empty,
    /// A character that is not part of the language.
    #[error("unexpected character `{0}`")]
    UnexpectedCharacter(char),
    /// Digits that do not form a number.
    #[error("malformed number `{0}`")]
    BadNumber(String),
    /// A number beyond the range of double precision.
    #[error("the number `{0}` is too large: double precision ends at 1.8e308")]
    TooLarge(String),
    /// A token that is not allowed here.
    #[error("unexpected {found}, expected {expected}")]
    Unexpected {
        /// The token found.
        found: String,
        /// The tokens allowed.
        expected: &'static str,
    },
    /// A parenthesis is not closed.
    #[error("parenthesis is not closed")]
    Unclosed,
    /// A name that is neither a variable nor a constant.
    #[error("unknown name `{0}`")]
    UnknownName(String),
    /// A name before a parenthesis that is not a function.
    #[error("unknown function `{0}`")]
    UnknownFunction(String),
    /// A function has too few or too many arguments.
    #[error("`{function}` takes {expected}, found {found}")]
    ArgumentCount {
        /// The function.
        function: &'static str,
        /// The allowed number of arguments.
        expected: &'static str,
        /// The number of arguments found.
        found: usize,
    },
    /// `a < b < c`, which does not have its mathematical meaning.
    #[error("comparisons cannot be chained")]
    ChainedComparison,
    /// More levels of parentheses and signs than the parser supports.
    #[error("nested too deeply")]
    TooDeep,
}

impl FormulaError {
    /// Column of the first character of the span, counted in characters from 1.
    pub fn column(&self) -> usize {
        self.text[..self.span.start].chars().count() + 1
    }

    /// The text, or for a long text the part around the span.
    fn shown(&self) -> String {
        let (first, n) = (self.column() - 1, self.text.chars().count());
        let (start, end) = (first.saturating_sub(60), (first + 60).min(n));
        let part: String = self.text.chars().skip(start).take(end - start).collect();
        let mark = |cut: bool| if cut { "…" } else { "" };
        format!("{}{part}{}", mark(start > 0), mark(end < n))
    }

    fn hint_in_parentheses(&self) -> String {
        self.hint.as_ref().map(|h| format!(" ({h})")).unwrap_or_default()
    }

    /// The text with carets under the span, on two lines.
    pub fn snippet(&self) -> String {
        let width = self.text[self.span.clone()].chars().count().max(1);
        // Tabs and line ends would shift the carets.
        let line: String = self.text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
        format!("{line}\n{}{}", " ".repeat(self.column() - 1), "^".repeat(width))
    }
}
