//! The table of keys as text: for the terminal, for error messages, and as a page of the book.

use std::fmt::Write as _;

use super::{Absent, Kind, Low, Part, Range, Row, Scope, all, at, steps};
use dgsuite_output::nearest::nearest;

/// A path for which the table has no key.
#[derive(Debug, thiserror::Error)]
#[error("the pipeline file has no key `{path}`{}", hint(near.as_deref()))]
pub struct KeysError {
    /// The path as given.
    pub path: String,
    /// The nearest path or name of a key.
    pub near: Option<String>,
}

fn hint(near: Option<&str>) -> String {
    near.map(|near| format!("\nhint: did you mean `{near}`?")).unwrap_or_default()
}

/// The largest number of characters in a line of the terminal, and of the page.
const WIDTH: usize = 110;

/// A number as a person writes it.
pub(crate) fn shown(x: f64) -> String {
    if x != 0.0 && x.abs() <= 1e-3 { format!("{x:e}") } else { x.to_string() }
}

impl Kind {
    /// The kind in words; `mark` is put around words of the file.
    fn shown(&self, mark: &str) -> String {
        match *self {
            Self::Section => "section".into(),
            Self::Flag => format!("{mark}true{mark} or {mark}false{mark}"),
            Self::Text => "text".into(),
            Self::Vector => "list of one number for each direction".into(),
            Self::Formula(names) => format!("formula in {names}"),
            Self::List(what, _) => format!("list of {what}"),
            Self::Words([word]) => format!("{mark}{word}{mark}"),
            Self::Words(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("{mark}{word}{mark}")).collect();
                format!("one of {}", words.join(", "))
            }
            Self::Whole(0, usize::MAX) => "whole number".into(),
            Self::Whole(least, usize::MAX) => format!("whole number, at least {least}"),
            Self::Whole(least, most) => format!("whole number from {least} to {most}"),
            Self::Number(range) => match range {
                Range::Any => "number".into(),
                Range::Above(low) => format!("number greater than {}", shown(low)),
                Range::AtLeast(low) => format!("number, at least {}", shown(low)),
                Range::Between(low, high) => format!("number from {} to {}", shown(low), shown(high)),
                Range::Below(Low::From(low), high) => {
                    format!("number from {} to below {}", shown(low), shown(high))
                }
                Range::Below(Low::Over(low), high) => {
                    format!("number between {} and {}", shown(low), shown(high))
                }
            },
        }
    }
}

impl Row {
    /// The kinds of values in words.
    fn type_shown(&self, mark: &str) -> String {
        self.kinds.iter().map(|kind| kind.shown(mark)).collect::<Vec<_>>().join(", or ")
    }

    /// The default in words.
    fn default_shown(&self, mark: &str) -> String {
        match self.default {
            Absent::Required => "required".into(),
            Absent::Nothing => "default: none".into(),
            Absent::Value(value) => format!("default: {mark}{value}{mark}"),
            Absent::Says(words) => format!("default: {words}"),
        }
    }

    /// The models and types that have the key, where not all do.
    fn scope_shown(&self) -> Option<String> {
        let models = (!self.models.is_empty()).then(|| self.models.join(", "));
        let types = (!self.types.is_empty()).then(|| format!("type {}", self.types.join(", ")));
        let parts: Vec<String> = models.into_iter().chain(types).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// The type and the default of the key at a path of a file, in a line for each of at most two answers.
pub fn describe(path: &str, model: Option<&str>) -> Option<String> {
    let mut rows = at(&steps(path), Scope { model, kind: None });
    rows.retain(|key| key.kinds != [Kind::Section]);
    let mut lines: Vec<String> =
        rows.iter().map(|key| format!("{path}: {}; {}", key.type_shown(""), key.default_shown(""))).collect();
    lines.dedup();
    (1..=2).contains(&lines.len()).then(|| lines.join("\n  = "))
}

/// Whether a key is at or below a query such as `monitors.forces`; if so, whether the query's last step names
/// it.
fn within(key: &Row, query: &[&str]) -> Option<bool> {
    let mut left = query.iter().peekable();
    let mut named = true;
    for part in &key.parts() {
        let Some(step) = left.peek() else { break };
        match part {
            Part::Item if step.parse::<usize>().is_err() => continue,
            Part::Each(names) if !names.contains(step) => return None,
            _ => named = *part != Part::Free,
        }
        left.next();
    }
    left.peek().is_none().then_some(named)
}

/// The keys at and below a path. If there are none and the path has one step, the keys whose paths contain
/// this step.
///
/// # Errors
/// [`KeysError`] for a path without keys.
fn find(path: &str) -> Result<Vec<&'static Row>, KeysError> {
    let query: Vec<&str> =
        path.split(['.', '[', ']']).map(str::trim).filter(|step| !step.is_empty()).collect();
    let rows: Vec<_> = all().filter_map(|key| Some((key, within(key, &query)?))).collect();
    let is_named = rows.iter().any(|(_, named)| *named);
    let mut keys: Vec<_> =
        rows.into_iter().filter(|(_, named)| *named || !is_named).map(|(key, _)| key).collect();
    if let ([step], true) = (query.as_slice(), keys.is_empty()) {
        let has = |part: &Part| matches!(part, Part::Each(names) if names.contains(step));
        keys = all().filter(|key| key.parts().iter().any(has)).collect();
    }
    if !keys.is_empty() {
        return Ok(keys);
    }
    let paths: Vec<&str> = all().map(|key| key.path).collect();
    let names: Vec<&str> = all().map(Row::name).filter(|name| !name.starts_with(['<', '{'])).collect();
    let plain = query.join(".");
    let last = query.last().copied().unwrap_or_default();
    let near = nearest(&plain, &paths).or_else(|| nearest(last, &names)).map(str::to_owned);
    Err(KeysError { path: path.to_owned(), near })
}

/// The table for the terminal, or the keys at and below a path.
///
/// # Errors
/// [`KeysError`] for a path without keys.
pub fn text(path: Option<&str>) -> Result<String, KeysError> {
    let keys = match path {
        Some(path) => find(path)?,
        None => all().collect(),
    };
    let mut text = String::new();
    for key in keys {
        let scope = key.scope_shown().map(|scope| format!("  [{scope}]")).unwrap_or_default();
        let _ = writeln!(text, "{}{scope}", key.path);
        let line = format!("{}; {}", key.type_shown(""), key.default_shown(""));
        text.push_str(&filled(&line, "    "));
        text.push_str(&filled(key.text, "    "));
    }
    Ok(text)
}

const INTRODUCTION: [&str; 2] = [
    "This page lists every key of the pipeline file with its type, its default and its meaning. [The \
     pipeline file](pipeline.md) explains how a file is written and what the keys do. The command `dgsuite \
     keys` prints the same table, and `dgsuite keys space` a part of it.",
    "In a path `<name>` stands for a name that you choose, `[]` for an entry of a list, and `{a,b}` for each of \
     the names in the braces. A *number* may be an expression; a *formula* may also use the names that are \
     listed with it. Models are listed for keys that only some models have.",
];

/// The page of the book.
pub fn markdown() -> String {
    let mut page = String::from("# Every key\n\n");
    page.push_str("<!-- Generated: dgsuite keys --markdown > docs/src/keys.md -->\n");
    for paragraph in INTRODUCTION {
        page.push('\n');
        page.push_str(&filled(paragraph, ""));
    }
    let (mut open, mut path) = (None, "");
    for key in all() {
        let first = key.path.split(['.', '[']).next().unwrap_or(key.path);
        let below =
            |other: &Row| other.path.strip_prefix(first).is_some_and(|rest| rest.starts_with(['.', '[']));
        // Keys of the top level without keys below them share one heading.
        let group = all().any(below).then_some(first);
        if open != Some(group) {
            open = Some(group);
            let _ = match group {
                Some(group) => writeln!(page, "\n## `{group}`"),
                None => writeln!(page, "\n## General"),
            };
        }
        if key.path != path && Some(key.path) != group {
            let _ = writeln!(page, "\n### `{}`", key.path);
        }
        path = key.path;
        let scope = match (key.models, key.types) {
            ([], _) => String::new(),
            (models, []) => format!(" Models: {}.", models.join(", ")),
            (models, types) => format!(" Models: {}. Types: {}.", models.join(", "), types.join(", ")),
        };
        let line = format!(
            "Type: {}. {}.{scope} Since {}.",
            key.type_shown("`"),
            sentence(&key.default_shown("`")),
            key.since
        );
        page.push('\n');
        page.push_str(&filled(key.text, ""));
        page.push('\n');
        page.push_str(&filled(&line, ""));
    }
    page
}

/// With a capital letter at the start.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The text in lines of at most [`WIDTH`] characters, each behind `indent`. No line begins with a sign that
/// has a meaning in Markdown.
fn filled(text: &str, indent: &str) -> String {
    let mut lines = String::new();
    let mut line = String::new();
    let words: Vec<&str> = text.split_whitespace().collect();
    for (at, word) in words.iter().enumerate() {
        let sign = words.get(at + 1).filter(|next| next.starts_with(['-', '=', '+', '*', '|', '#', '>']));
        let needed = word.chars().count() + 1 + sign.map_or(0, |next| next.chars().count() + 1);
        if !line.is_empty() && indent.len() + line.chars().count() + needed > WIDTH {
            let _ = writeln!(lines, "{indent}{line}");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(lines, "{indent}{line}");
    lines
}
