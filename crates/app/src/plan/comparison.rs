//! Published values that a report shows beside the results: the table is read and matched with the cases.

use std::path::Path;

use crate::file::node::{Node, Value};
use crate::file::problem::{InputError, Problem};
use crate::file::source::{Located, read_text};
use crate::pipeline::references::ReferenceSpec;
use crate::pipeline::study::full_path;
use crate::plan::values::KnownValues;

/// A table of published values of one quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Author, year and table.
    pub source: String,
    /// The path of the value in the summary.
    pub value: String,
    /// The keys that choose a row, as written.
    pub by: Vec<String>,
    /// The keys' values and the published value of each row; `None` where there is none.
    rows: Vec<(Vec<String>, Option<f64>)>,
}

impl Comparison {
    /// Reads the table of each entry, and rejects values, columns and keys that do not exist. `resolved` is
    /// the file of a case with its defaults, `base` the directory of the pipeline file.
    ///
    /// # Errors
    /// The first mistake, with the nearest name.
    pub fn all(
        specs: &[ReferenceSpec],
        base: &Path,
        known: &KnownValues,
        resolved: &Node,
    ) -> Result<Vec<Self>, InputError> {
        let one = |spec: &ReferenceSpec| {
            known.admit_path(&spec.value)?;
            let comparison = Self::read(spec, base)?;
            for key in &spec.by {
                if at(resolved, &key.value).is_none() {
                    let mut names = Vec::new();
                    leaves(resolved, "", &mut names);
                    return Err(unknown(key, names));
                }
            }
            Ok(comparison)
        };
        specs.iter().map(one).collect()
    }

    fn read(spec: &ReferenceSpec, base: &Path) -> Result<Self, InputError> {
        let shown = spec.table.with(spec.table.value.display().to_string());
        let text = read_text(&base.join(&spec.table.value))
            .map_err(|error| InputError::range(&shown, format!("a table that can be read: {error}")))?;
        let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let head = lines.next().map(|(_, line)| cells(line)).unwrap_or_default();
        let find = |name: &Located<String>| {
            let found = head.iter().position(|column| *column == name.value);
            found.ok_or_else(|| unknown(name, head.clone()))
        };
        let keys = spec.by.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let column = find(&spec.column)?;
        let row = |(line, text): (usize, &str)| {
            let cells = cells(text);
            let cell = |i: usize| cells.get(i).cloned().unwrap_or_default();
            let number = match cell(column) {
                empty if empty.is_empty() => None,
                text => Some(text.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(|| {
                    let expected = format!("a table with numbers in the column {}", head[column]);
                    InputError::range(&shown, format!("{expected}, but line {line} has \"{text}\""))
                })?),
            };
            Ok((keys.iter().map(|&i| cell(i)).collect(), number.map(|x| x * spec.factor)))
        };
        Ok(Self {
            source: spec.source.clone(),
            value: spec.value.value.clone(),
            by: spec.by.iter().map(|key| key.value.clone()).collect(),
            rows: lines.map(row).collect::<Result<_, InputError>>()?,
        })
    }

    /// Returns the values of the keys in the file of a case.
    pub fn keys(&self, resolved: &Node) -> Vec<String> {
        self.by
            .iter()
            .map(|key| at(resolved, key).map_or_else(String::new, |node| words(&node.value)))
            .collect()
    }

    /// Returns the published value for these values of the keys.
    pub fn published(&self, keys: &[String]) -> Option<f64> {
        let fits = |row: &&(Vec<String>, Option<f64>)| row.0.iter().zip(keys).all(|(a, b)| same(a, b));
        self.rows.iter().find(fits)?.1
    }
}

/// Returns whether two values of a key are the same text or the same number.
fn same(a: &str, b: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    match (number(a), number(b)) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-12 * a.abs(),
        _ => a == b,
    }
}

fn unknown(name: &Located<String>, known: Vec<String>) -> InputError {
    let problem = Problem::UnknownValue { key: name.key.clone(), found: name.value.clone(), known };
    InputError::at(&name.place, problem)
}

/// Returns the value of a key; `order` and `refine` are short for their paths.
fn at<'a>(root: &'a Node, key: &str) -> Option<&'a Node> {
    full_path(key).split('.').try_fold(root, |node, step| match &node.value {
        Value::List(items) => items.get(step.parse::<usize>().ok()?),
        _ => node.get(step),
    })
}

/// Lists the paths of all values below a node.
fn leaves(node: &Node, path: &str, names: &mut Vec<String>) {
    match &node.value {
        Value::Map(entries) => {
            for entry in entries {
                let dot = if path.is_empty() { "" } else { "." };
                leaves(&entry.node, &format!("{path}{dot}{}", entry.key), names);
            }
        }
        _ => names.push(path.to_owned()),
    }
}

/// A value as a file has it.
pub fn words(value: &Value) -> String {
    match value {
        Value::List(items) => {
            format!("[{}]", items.iter().map(|i| words(&i.value)).collect::<Vec<_>>().join(", "))
        }
        Value::Map(entries) => {
            let parts: Vec<String> =
                entries.iter().map(|e| format!("{}: {}", e.key, words(&e.node.value))).collect();
            format!("{{{}}}", parts.join(", "))
        }
        scalar => scalar.scalar_text().unwrap_or_else(|| "null".to_owned()),
    }
}

/// Splits a line of a table at its commas; commas between double quotes belong to a cell.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match (c, cells.last_mut()) {
            ('"', _) => quoted = !quoted,
            (',', _) if !quoted => cells.push(String::new()),
            (c, Some(cell)) => cell.push(c),
            _ => {}
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_at_commas_outside_of_quotes() {
        assert_eq!(cells("1, \"[512, 512]\" ,,x"), ["1", "[512, 512]", "", "x"]);
    }

    #[test]
    fn rows_are_found_by_numbers_and_by_words() {
        let row = |keys: [&str; 2], x| (keys.map(str::to_owned).to_vec(), x);
        let comparison = Comparison {
            source: "S".into(),
            value: "error.l2.u".into(),
            by: vec!["order".into(), "space.riemann".into()],
            rows: vec![row(["1", "roe"], Some(2.0)), row(["2", "roe"], None), row(["2.0", "hll"], Some(3.0))],
        };
        let find = |keys: [&str; 2]| comparison.published(&keys.map(str::to_owned));
        assert_eq!(find(["1", "roe"]), Some(2.0));
        assert_eq!(find(["2", "hll"]), Some(3.0));
        assert_eq!(find(["2", "roe"]), None, "the table has no number there");
        assert_eq!(find(["3", "roe"]), None);
    }
}
