//! States of the flow: initial values, boundary data and exact solutions, by formulas or by a known name.

use std::path::PathBuf;

use super::initial_waves::WavesSpec;
use crate::file::node::{Node, Value};
use crate::file::problem::{InputError, Problem};
use crate::file::section::Section;
use crate::file::source::{Located, Place};
use dgsuite_physics::exact::catalogue;

/// A state as a function of place and time, as written. The plan checks the names of variables and
/// parameters, because they depend on the dimension of the mesh.
#[derive(Clone, Debug)]
pub enum StateSpec {
    /// A known solution with its parameters; `bare` if only its name was given.
    Named {
        /// The name.
        name: Located<String>,
        /// The parameters that were given.
        parameters: Vec<Located<f64>>,
        /// What else stands beside the name: formulas of the scalars of incompressible flow.
        scalars: Vec<Formula>,
        /// Nothing but the name was given.
        bare: bool,
    },
    /// A formula for each primitive variable.
    Formulas {
        /// The formulas; the key's last part is the variable.
        formulas: Vec<Formula>,
        /// Where the section starts.
        place: Place,
        /// Its key path.
        path: String,
    },
}

/// A formula for one variable.
#[derive(Clone, Debug)]
pub struct Formula {
    /// The variable, with the place of its key.
    pub variable: Located<String>,
    /// The text, with its place.
    pub text: Located<String>,
}

/// The start of a run.
#[derive(Clone, Debug)]
pub enum InitialSpec {
    /// The default: the gas at rest, or u = 0.
    Rest,
    /// A state, with turbulence on it or not.
    State(StateSpec, Option<Box<WavesSpec>>),
    /// A checkpoint; relative to the pipeline file.
    Restart(Located<PathBuf>),
}

impl InitialSpec {
    /// Reads the section `initial`.
    ///
    /// # Errors
    /// Values of the wrong kind.
    pub fn read(top: &Section<'_>) -> Result<Self, InputError> {
        let Some(section) = top.section("initial")? else { return Ok(Self::Rest) };
        if let Some(file) = section.text("restart")? {
            section.only(&["restart"])?;
            return Ok(Self::Restart(file.with(PathBuf::from(&file.value))));
        }
        let waves = WavesSpec::read(&section)?.map(Box::new);
        Ok(Self::State(StateSpec::read(&section, &["turbulence"])?, waves))
    }
}

/// The expected value of the key `exact`.
const SOLUTION: &str = "the name of a solution, or a section with a formula for each variable";

impl StateSpec {
    /// Reads a state from a section that may have the further keys `others`.
    ///
    /// # Errors
    /// Values of the wrong kind, or variables beside a formula map.
    pub fn read(section: &Section<'_>, others: &[&str]) -> Result<Self, InputError> {
        let Some(exact) = section.node("exact") else {
            let formulas = formulas(section, others)?;
            return Ok(Self::Formulas {
                formulas,
                place: section.place().clone(),
                path: section.path().into(),
            });
        };
        let beside = |key: &str| !others.contains(&key) && key != "exact";
        match &exact.value {
            Value::Map(_) => {
                let Some(inner) = section.section("exact")? else {
                    return Err(section.missing("exact", SOLUTION));
                };
                if let Some(extra) = section.entries().iter().find(|e| beside(&e.key)) {
                    return Err(InputError::at(
                        &extra.place,
                        Problem::Conflict { first: section.key("exact"), second: section.key(&extra.key) },
                    ));
                }
                match inner.text("name")? {
                    Some(name) => Self::named(&inner, name, |key| key != "name"),
                    None => Ok(Self::Formulas {
                        formulas: formulas(&inner, &[])?,
                        place: exact.place.clone(),
                        path: section.key("exact"),
                    }),
                }
            }
            _ => {
                let name = crate::file::section::text(exact, &section.key("exact"), SOLUTION)?;
                Self::named(section, name, beside)
            }
        }
    }

    /// The texts of its formulas.
    pub fn formulas(&self) -> impl Iterator<Item = &Located<String>> {
        let formulas = match self {
            Self::Formulas { formulas, .. } => formulas.as_slice(),
            Self::Named { scalars, .. } => scalars.as_slice(),
        };
        formulas.iter().map(|formula| &formula.text)
    }

    fn named(
        section: &Section<'_>,
        name: Located<String>,
        is_parameter: impl Fn(&str) -> bool,
    ) -> Result<Self, InputError> {
        let entries = catalogue().iter().filter(|entry| entry.name == name.value);
        let known: Vec<&str> = entries.flat_map(|entry| entry.parameters).map(|of| of.name).collect();
        let (mut parameters, mut scalars) = (Vec::new(), Vec::new());
        for e in section.entries().iter().filter(|e| is_parameter(&e.key) && !is_null(&e.node)) {
            let key = section.key(&e.key);
            match section.constants().text(&e.node, &key) {
                Ok(text) if !known.is_empty() && !known.contains(&e.key.as_str()) => {
                    let variable = Located { value: e.key.clone(), key, place: e.place.clone() };
                    scalars.push(Formula { variable, text });
                }
                _ => parameters.push(section.constants().number(&e.node, &key)?),
            }
        }
        Ok(Self::Named { name, bare: parameters.is_empty() && scalars.is_empty(), parameters, scalars })
    }
}

fn is_null(node: &Node) -> bool {
    matches!(node.value, Value::Null)
}

/// The formula of each key of a section, without those of `others`.
///
/// # Errors
/// Values that are no formulas.
pub(crate) fn formulas(section: &Section<'_>, others: &[&str]) -> Result<Vec<Formula>, InputError> {
    let given = section.entries().iter().filter(|e| !others.contains(&e.key.as_str()) && !is_null(&e.node));
    given
        .map(|e| {
            let key = section.key(&e.key);
            let text = section.constants().text(&e.node, &key)?;
            let variable = Located { value: e.key.clone(), key, place: e.place.clone() };
            Ok(Formula { variable, text })
        })
        .collect()
}
