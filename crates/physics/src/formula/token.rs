//! Splits a formula into numbers, names and signs.

use super::error::{FormulaError, FormulaErrorKind};
use std::ops::Range;

/// A piece of a formula.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(f64),
    Name(String),
    /// An operator, a parenthesis or a comma; `**` is written `^`.
    Sign(&'static str),
    End,
}

impl Token {
    /// Describes the token in words, for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Number(x) => format!("number `{x}`"),
            Self::Name(name) => format!("name `{name}`"),
            Self::Sign(sign) => format!("`{sign}`"),
            Self::End => "end of formula".to_owned(),
        }
    }
}

/// Longest first, so that `<=` is not read as `<`.
const SIGNS: [(&str, &str); 20] = [
    ("**", "^"),
    ("<=", "<="),
    (">=", ">="),
    ("==", "=="),
    ("!=", "!="),
    ("&&", "&&"),
    ("||", "||"),
    ("+", "+"),
    ("-", "-"),
    ("*", "*"),
    ("/", "/"),
    ("^", "^"),
    ("(", "("),
    (")", ")"),
    (",", ","),
    ("<", "<"),
    (">", ">"),
    ("!", "!"),
    // The minus and times signs that word processors insert.
    ("\u{2212}", "-"),
    ("\u{00d7}", "*"),
];

/// Returns the tokens with their places, followed by [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>, FormulaError> {
    let mut list = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let rest = &text[at..];
        let (token, length) =
            if c.is_ascii_digit() || (c == '.' && rest[1..].starts_with(|d: char| d.is_ascii_digit())) {
                number(text, at)?
            } else if c.is_ascii_alphabetic() || c == '_' {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                (Token::Name(rest[..end].to_owned()), end)
            } else if let Some((written, sign)) = SIGNS.iter().find(|(s, _)| rest.starts_with(s)) {
                (Token::Sign(sign), written.len())
            } else {
                return Err(unexpected(text, at, c));
            };
        list.push((token, at..at + length));
        at += length;
    }
    list.push((Token::End, text.len()..text.len()));
    Ok(list)
}

/// A number such as `1`, `1.5`, `.5`, `1.`, `2e-3`.
fn number(text: &str, at: usize) -> Result<(Token, usize), FormulaError> {
    let bytes = &text.as_bytes()[at..];
    let digits = |mut i: usize| {
        while i < bytes.len() && bytes[i].is_ascii_digit() {
            i += 1;
        }
        i
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    // "1.2.3": the error shows all of it.
    let mut all = end;
    while all < bytes.len() && (bytes[all] == b'.' || bytes[all].is_ascii_digit()) {
        all += 1;
    }
    let written = &text[at..at + all];
    match written.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok((Token::Number(x), all)),
        parsed => {
            let kind = if parsed.is_ok() { FormulaErrorKind::TooLarge } else { FormulaErrorKind::BadNumber };
            let (text, span) = (text.to_owned(), at..at + all);
            Err(FormulaError { text, span, kind: kind(written.to_owned()), hint: None })
        }
    }
}

fn unexpected(text: &str, at: usize, c: char) -> FormulaError {
    let hint = match c {
        '=' => Some("to compare, write =="),
        '&' => Some("for `and`, write &&"),
        '|' => Some("for `or`, write ||; for the absolute value, abs(x)"),
        '²' => Some("write ^2"),
        '³' => Some("write ^3"),
        '%' => Some("for the remainder of x/y, write x - y*floor(x/y)"),
        '[' | '{' => Some("use round parentheses"),
        'π' => Some("write pi"),
        '.' => Some("numbers look like 0.5, 1e-3"),
        _ => None,
    };
    FormulaError {
        text: text.to_owned(),
        span: at..at + c.len_utf8(),
        kind: FormulaErrorKind::UnexpectedCharacter(c),
        hint: hint.map(str::to_owned),
    }
}
