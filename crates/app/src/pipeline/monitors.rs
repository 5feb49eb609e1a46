//! The list `monitors`: numbers that a run records while it goes.

use super::node::{Node, Value};
use super::output::Every;
use super::problem::{InputError, Problem};
use super::section::{self, Section};
use super::source::{Located, Place};
use super::state::StateSpec;

/// A monitor as written.
#[derive(Clone, Debug)]
pub struct MonitorSpec {
    /// What is recorded.
    pub kind: MonitorKind,
    /// When.
    pub every: Every,
    /// Where it was written.
    pub place: Place,
}

/// What is recorded.
#[derive(Clone, Debug)]
pub enum MonitorKind {
    /// The L2 norm of du/dt for each conserved variable.
    Residual,
    /// Norms of the error against a solution.
    Error {
        /// The solution.
        exact: StateSpec,
        /// The norms.
        norms: Vec<Norm>,
    },
    /// Integrals over the domain.
    Integral {
        /// Formulas in the conserved and primitive variables, x, y, z and t.
        fields: Vec<Located<String>>,
    },
    /// Values at points.
    Probe {
        /// The points.
        points: Vec<Located<Vec<f64>>>,
        /// Formulas in the primitive variables.
        fields: Vec<Located<String>>,
    },
}

/// A norm over the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// `∫ |e|`.
    L1,
    /// `√∫ e²`.
    L2,
    /// The largest value at the quadrature points.
    Linf,
}

impl Norm {
    /// All norms with their words.
    pub const ALL: [(&'static str, Self); 3] = [("l1", Self::L1), ("l2", Self::L2), ("linf", Self::Linf)];

    /// The word of the pipeline file and of the summary.
    pub fn name(self) -> &'static str {
        match self {
            Self::L1 => "l1",
            Self::L2 => "l2",
            Self::Linf => "linf",
        }
    }
}

/// The interval of a residual monitor that gives none.
const RESIDUAL_STEPS: usize = 100;

impl MonitorSpec {
    /// Reads the list.
    ///
    /// # Errors
    /// Unknown monitors, values of the wrong kind.
    pub fn read_all(top: &Section<'_>) -> Result<Vec<Self>, InputError> {
        let Some(items) = top.list("monitors")? else { return Ok(Vec::new()) };
        items.iter().enumerate().map(|(i, item)| Self::read(item, i, top)).collect()
    }

    fn read(item: &Node, i: usize, top: &Section<'_>) -> Result<Self, InputError> {
        let expected = "a monitor such as `residual: { every_steps: 100 }`";
        let list_key = format!("monitors.{i}");
        let (name, place, node) = match &item.value {
            Value::Map(entries) => match entries.as_slice() {
                [only] => (only.key.as_str(), &only.place, &only.node),
                _ => return Err(super::expression::wrong_type(item, &list_key, expected)),
            },
            _ => return Err(super::expression::wrong_type(item, &list_key, expected)),
        };
        let key = format!("{list_key}.{name}");
        let section = Section::open_any(node, &key, top.constants())?;
        let every = |default| Every::read(&section, default);
        let (kind, every) = match name {
            "residual" => {
                section.only(&["every", "every_steps"])?;
                (MonitorKind::Residual, every(Every::Steps(RESIDUAL_STEPS))?)
            }
            "error" => (error(&section)?, every(Every::End)?),
            "integral" => {
                section.only(&["fields", "every", "every_steps"])?;
                let fields = formulas(&section, "conserved or primitive variables")?;
                (MonitorKind::Integral { fields }, every(Every::End)?)
            }
            "probe" => {
                section.only(&["points", "fields", "every", "every_steps"])?;
                let fields = formulas(&section, "primitive variables")?;
                (MonitorKind::Probe { points: points(&section)?, fields }, every(Every::Steps(1))?)
            }
            "forces" => {
                let problem = Problem::Unsupported {
                    key: list_key,
                    value: name.to_owned(),
                    instead: "the monitors of this version are residual, error, integral and probe".into(),
                };
                return Err(InputError::at(place, problem));
            }
            _ => {
                let known = ["residual", "error", "integral", "forces", "probe"].map(str::to_owned).to_vec();
                let problem = Problem::UnknownKey { key: name.to_owned(), section: list_key, known };
                return Err(InputError::at(place, problem));
            }
        };
        Ok(Self { kind, every, place: place.clone() })
    }
}

fn error(section: &Section<'_>) -> Result<MonitorKind, InputError> {
    if !section.has("exact") {
        let known = ["exact", "norms", "every", "every_steps"];
        section.only(&known)?;
        return Err(section.missing("exact", "the name of a solution, or a formula for each variable"));
    }
    let exact = StateSpec::read(section, &["norms", "every", "every_steps"])?;
    let norms = match section.list("norms")? {
        None => Norm::ALL.map(|(_, norm)| norm).to_vec(),
        Some(items) => items
            .iter()
            .map(|item| Ok(section::choice(item, &section.key("norms"), &Norm::ALL)?.value))
            .collect::<Result<_, InputError>>()?,
    };
    Ok(MonitorKind::Error { exact, norms })
}

fn formulas(section: &Section<'_>, variables: &str) -> Result<Vec<Located<String>>, InputError> {
    let expected = format!("a list of formulas in the {variables}");
    let items = section.list("fields")?.ok_or_else(|| section.missing("fields", &expected))?;
    let key = section.key("fields");
    items.iter().map(|item| section.constants().text(item, &key)).collect()
}

fn points(section: &Section<'_>) -> Result<Vec<Located<Vec<f64>>>, InputError> {
    let items = section.list("points")?.ok_or_else(|| section.missing("points", "a list of points"))?;
    let key = section.key("points");
    items
        .iter()
        .map(|item| {
            let numbers = section::list(item, &key)?;
            if numbers.is_empty() || numbers.len() > 3 {
                return Err(super::expression::wrong_type(item, &key, "a point of two or three numbers"));
            }
            let numbers = numbers.iter().map(|number| Ok(section.constants().number(number, &key)?.value));
            let value = numbers.collect::<Result<_, InputError>>()?;
            Ok(Located { value, key: key.clone(), place: item.place.clone() })
        })
        .collect()
}
