//! The section `study`: a matrix of cases, each the file with some keys changed.

use super::overrides::Override;
use crate::file::keys::{self, Scope};
use crate::file::node::{Node, Value};
use crate::file::problem::{InputError, Problem};
use crate::file::section::{self, Section};
use crate::file::source::{Located, Place};

/// A study, as written.
#[derive(Clone, Debug)]
pub struct StudySpec {
    /// The keys that change; the last one changes fastest.
    pub axes: Vec<Axis>,
    /// The quantity that rates are measured in.
    pub rate_in: RateIn,
    /// Further values of the summary in the table, with a value to compare with.
    pub values: Vec<(Located<String>, Option<f64>)>,
    /// Whether a case starts from the last state of the case before.
    pub continued: bool,
}

/// A key and its values.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The short name in tables (`order`, `refine`, or the path).
    pub name: String,
    /// The full path, such as `space.order`.
    pub path: String,
    /// Where the key was written.
    pub place: Place,
    /// The values.
    pub values: Vec<Node>,
}

/// The quantity whose ratio between two cases defines the rate of an error.
#[derive(Clone, Debug, PartialEq)]
pub enum RateIn {
    /// The mesh size.
    H,
    /// A key of the study with numbers as values, such as `time.dt`.
    Key(Located<String>),
}

/// The short names of axes.
const SHORT: [(&str, &str); 2] = [("order", "space.order"), ("refine", "mesh.refine")];

/// Returns the path of a key; `order` and `refine` are short for theirs.
pub fn full_path(key: &str) -> &str {
    SHORT.iter().find(|(short, _)| *short == key).map_or(key, |(_, path)| path)
}

/// The largest number of cases of a study.
const MAX_CASES: usize = 1000;

impl StudySpec {
    /// Reads the section.
    ///
    /// # Errors
    /// Values that are no lists, an unknown quantity for rates.
    pub fn read(top: &Section<'_>) -> Result<Option<Self>, InputError> {
        let Some(section) = top.section("study")? else { return Ok(None) };
        let mut axes = Vec::new();
        let own = keys::known(section.steps(), Scope::default()).names;
        for entry in section.entries().iter().filter(|e| !own.contains(&e.key.as_str())) {
            let key = section.key(&entry.key);
            let values = section::list(&entry.node, &key)?.to_vec();
            if values.is_empty() {
                let problem =
                    Problem::OutOfRange { key, value: "[]".into(), expected: "at least one value".into() };
                return Err(InputError::at(&entry.node.place, problem));
            }
            let path = full_path(&entry.key);
            axes.push(Axis {
                name: entry.key.clone(),
                path: path.into(),
                place: entry.place.clone(),
                values,
            });
        }
        if axes.is_empty() {
            return Err(section.missing("order", "a list of orders, or of values for any key path"));
        }
        let cases: usize = axes.iter().map(|a| a.values.len()).product();
        if cases > MAX_CASES {
            let value = format!("a study of {cases} cases");
            let problem =
                Problem::OutOfRange { key: "study".into(), value, expected: format!("at most {MAX_CASES}") };
            return Err(InputError::at(section.place(), problem));
        }
        let continued = section.flag("continued")?.filter(|flag| flag.value);
        if let (Some(flag), Some(axis)) = (&continued, axes.iter().find(|a| a.path.starts_with("mesh"))) {
            let expected =
                format!("false, as `{}` changes the mesh and a state belongs to its mesh", axis.name);
            return Err(InputError::range(&flag.with("true"), expected));
        }
        let continued = continued.is_some();
        Ok(Some(Self { rate_in: rate_in(&section, &axes)?, values: values(&section)?, axes, continued }))
    }

    /// The overrides of every case, in order; the last axis changes fastest.
    ///
    /// # Errors
    /// A path with an empty key.
    pub fn cases(&self) -> Result<Vec<Vec<Override>>, InputError> {
        let mut cases = vec![Vec::new()];
        for axis in &self.axes {
            let mut next = Vec::with_capacity(cases.len() * axis.values.len());
            for case in &cases {
                for value in &axis.values {
                    let mut case = case.clone();
                    case.push(Override::new(&axis.path, &axis.place, value)?);
                    next.push(case);
                }
            }
            cases = next;
        }
        Ok(cases)
    }
}

/// Reads `values`: paths of the summary in a list, or each with a number to compare it with.
fn values(section: &Section<'_>) -> Result<Vec<(Located<String>, Option<f64>)>, InputError> {
    let (Some(node), key) = (section.node("values"), section.key("values")) else { return Ok(Vec::new()) };
    if let Value::Map(entries) = &node.value {
        return entries
            .iter()
            .map(|e| {
                let path = Located { value: e.key.clone(), key: key.clone(), place: e.place.clone() };
                let number = match e.node.value {
                    Value::Null => None,
                    _ => Some(section.constants().number(&e.node, &format!("{key}.{}", e.key))?.value),
                };
                Ok((path, number))
            })
            .collect();
    }
    let expected = "a value of the summary, such as forces.body.cd";
    let items = section::list(node, &key)?;
    items.iter().map(|item| Ok((section::text(item, &key, expected)?, None))).collect()
}

fn rate_in(section: &Section<'_>, axes: &[Axis]) -> Result<RateIn, InputError> {
    let Some(word) = section.text("rate_in")? else { return Ok(RateIn::H) };
    if word.value == "h" {
        return Ok(RateIn::H);
    }
    match axes.iter().find(|a| a.name == word.value || a.path == word.value) {
        Some(axis) => {
            for value in &axis.values {
                section.constants().number(value, &axis.path)?;
            }
            Ok(RateIn::Key(word.with(axis.path.clone())))
        }
        None => {
            let known = std::iter::once("h".to_owned()).chain(axes.iter().map(|a| a.name.clone())).collect();
            let problem = Problem::UnknownValue { key: word.key.clone(), found: word.value, known };
            Err(InputError::at(&word.place, problem))
        }
    }
}
