//! The list `monitors`: numbers that are recorded during a run.

mod places;

pub use places::PlacesSpec;

use std::path::PathBuf;

use super::beginning::Beginning;
use super::keys::{self, Scope};
use super::node::{Node, Value};
use super::output::Every;
use super::problem::InputError;
use super::section::{self, Section};
use super::source::{Located, Place};
use super::state::StateSpec;

/// The words for monitors, which are also the names of their files.
pub const KINDS: [&str; 11] = [
    "residual",
    "error",
    "integral",
    "divergence",
    "flow_rate",
    "limited",
    "forces",
    "wall",
    "recirculation",
    "probe",
    "sample",
];

/// A monitor as written.
#[derive(Clone, Debug)]
pub struct MonitorSpec {
    /// The recorded quantities.
    pub kind: MonitorKind,
    /// The interval of its rows.
    pub every: Every,
    /// From when on it records, but for forces.
    pub from: Option<Beginning>,
    /// Where it was written.
    pub place: Place,
}

/// The recorded quantities.
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
        /// Formulas of the solution.
        fields: Vec<NamedFormula>,
        /// The table to compare their history with.
        reference: Option<HistorySpec>,
    },
    /// The L² norm of the divergence of the velocity.
    Divergence,
    /// The mean velocity and the force that keeps it.
    FlowRate,
    /// Elements that a limiter changed, and the smallest density and pressure.
    Limited,
    /// Values at points.
    Probe {
        /// The points.
        points: Vec<Located<Vec<f64>>>,
        /// Formulas of the solution.
        fields: Vec<NamedFormula>,
    },
    /// Values at many points, in a table of one row for each.
    Sample {
        /// The points.
        places: PlacesSpec,
        /// Formulas of the solution.
        fields: Vec<NamedFormula>,
    },
    /// Forces on a boundary, with coefficients.
    Forces(ForcesSpec),
    /// Pressure, friction and heat along a boundary.
    Wall(ForcesSpec),
    /// The length of the recirculation along a line.
    Recirculation {
        /// The start, on the body.
        from: Located<Vec<f64>>,
        /// The end, in the wake.
        to: Located<Vec<f64>>,
    },
}

/// A formula and the name of its values; the text of the formula if the file gives no name.
#[derive(Clone, Debug)]
pub struct NamedFormula {
    /// The name in tables and the summary.
    pub name: String,
    /// The formula.
    pub formula: Located<String>,
}

/// A table of numbers over time to compare with, as written.
#[derive(Clone, Debug)]
pub struct HistorySpec {
    /// The file, relative to the pipeline file; its first column is time.
    pub file: Located<PathBuf>,
    /// The column of an integral by its name, counted from 1.
    pub columns: Vec<(String, Located<usize>)>,
}

/// Boundaries and the scales of coefficients, as written; `None` for the values of `physics.reference`.
#[derive(Clone, Debug)]
pub struct ForcesSpec {
    /// The boundaries.
    pub boundaries: Vec<Located<String>>,
    /// Density, speed, pressure, area and length.
    pub scales: [Option<f64>; 5],
    /// Direction of drag.
    pub drag: Option<Located<Vec<f64>>>,
    /// Direction of lift.
    pub lift: Option<Located<Vec<f64>>>,
    /// The point that moments are taken about.
    pub origin: Option<Located<Vec<f64>>>,
    /// From when on means and frequencies are computed.
    pub from: Option<Beginning>,
    /// Where the section starts.
    pub place: Place,
    /// Its key path.
    pub path: String,
}

/// The keys of the scales, in the order of [`ForcesSpec::scales`].
pub const SCALES: [&str; 5] = ["density", "velocity", "pressure", "area", "length"];

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

/// The default number of steps between the rows of the monitors `residual`, `divergence` and
/// `limited`.
const RESIDUAL_STEPS: usize = 100;

/// The default number of steps between the rows of the monitors `forces`, `flow_rate` and `recirculation`.
const FORCE_STEPS: usize = 10;

impl MonitorSpec {
    /// Reads the list.
    ///
    /// # Errors
    /// Unknown monitors, values of the wrong kind.
    pub fn read_all(top: &Section<'_>, model: &str) -> Result<Vec<Self>, InputError> {
        let Some(items) = top.list("monitors")? else { return Ok(Vec::new()) };
        items.iter().enumerate().map(|(i, item)| Self::read(item, i, top, model)).collect()
    }

    fn read(item: &Node, i: usize, top: &Section<'_>, model: &str) -> Result<Self, InputError> {
        let expected = "a monitor such as `residual: { every_steps: 100 }`";
        let list_key = format!("monitors.{i}");
        let entry = match &item.value {
            Value::Map(entries) => match entries.as_slice() {
                [only] => only,
                _ => return Err(super::expression::wrong_type(item, &list_key, expected)),
            },
            _ => return Err(super::expression::wrong_type(item, &list_key, expected)),
        };
        let (name, place) = (entry.key.as_str(), &entry.place);
        let monitor = top.item("monitors", i, item)?;
        monitor.known()?;
        monitor.of_model(model)?;
        let section = monitor.named(entry)?;
        let every = |default| Every::read(&section, default);
        let (kind, every) = match name {
            "residual" => {
                section.known()?;
                (MonitorKind::Residual, every(Every::Steps(RESIDUAL_STEPS))?)
            }
            "divergence" => {
                section.known()?;
                (MonitorKind::Divergence, every(Every::Steps(RESIDUAL_STEPS))?)
            }
            "flow_rate" => {
                section.known()?;
                (MonitorKind::FlowRate, every(Every::Steps(FORCE_STEPS))?)
            }
            "limited" => {
                section.known()?;
                (MonitorKind::Limited, every(Every::Steps(RESIDUAL_STEPS))?)
            }
            "error" => (error(&section)?, every(Every::End)?),
            "integral" => {
                section.known()?;
                let fields = formulas(&section)?;
                let reference = history(&section, &fields)?;
                (MonitorKind::Integral { fields, reference }, every(Every::End)?)
            }
            "probe" => {
                section.known()?;
                let fields = formulas(&section)?;
                (MonitorKind::Probe { points: places::listed(&section)?, fields }, every(Every::Steps(1))?)
            }
            "sample" => {
                section.known()?;
                let fields = formulas(&section)?;
                (MonitorKind::Sample { places: PlacesSpec::read(&section)?, fields }, every(Every::End)?)
            }
            "forces" => (MonitorKind::Forces(forces(&section, true)?), every(Every::Steps(FORCE_STEPS))?),
            "wall" => (MonitorKind::Wall(forces(&section, false)?), every(Every::End)?),
            _ => {
                section.known()?;
                let end = |key: &str, expected: &str| {
                    section.vector(key)?.ok_or_else(|| section.missing(key, expected))
                };
                let from = end("from", "the point of the body where the wake begins")?;
                let to = end("to", "a point in the wake, beyond the recirculation")?;
                (MonitorKind::Recirculation { from, to }, every(Every::Steps(FORCE_STEPS))?)
            }
        };
        let begins = matches!(name, "integral" | "probe" | "sample" | "wall");
        let from = if begins { Beginning::read(&section)? } else { None };
        Ok(Self { kind, every, from, place: place.clone() })
    }
}

fn error(section: &Section<'_>) -> Result<MonitorKind, InputError> {
    if !section.has("exact") {
        section.only(&keys::known(section.steps(), Scope::default()).names)?;
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

/// Reads boundaries and scales; only forces have means, and a time from which they are computed.
fn forces(section: &Section<'_>, history: bool) -> Result<ForcesSpec, InputError> {
    section.known()?;
    let key = section.key("boundary");
    let node =
        section.node("boundary").ok_or_else(|| section.missing("boundary", "the name of a boundary"))?;
    let expected = "the name of a boundary, or a list of them";
    let boundaries = match &node.value {
        Value::List(items) => {
            items.iter().map(|item| section::text(item, &key, expected)).collect::<Result<Vec<_>, _>>()?
        }
        _ => vec![section::text(node, &key, expected)?],
    };
    if boundaries.is_empty() {
        return Err(super::expression::wrong_type(node, &key, expected));
    }
    section::once(&boundaries)?;
    let mut spec = ForcesSpec {
        boundaries,
        scales: [None; 5],
        drag: None,
        lift: None,
        origin: None,
        from: if history { Beginning::read(section)? } else { None },
        place: section.place().clone(),
        path: section.path().to_owned(),
    };
    if let Some(inner) = section.unchecked("reference")? {
        // The state of the gas is given in `physics.reference`, which also has the default scales.
        for key in ["mach", "reynolds", "temperature", "angle"] {
            if inner.entries().iter().any(|entry| entry.key == key) {
                let owner = "the scales of coefficients";
                return Err(inner.misplaced(
                    key,
                    owner,
                    "`physics.reference`, whose density, velocity, pressure and length they are",
                ));
            }
        }
        inner.known()?;
        for (key, scale) in SCALES.iter().zip(&mut spec.scales) {
            let found = if *key == "pressure" { inner.number(key)? } else { inner.positive(key)? };
            *scale = found.map(|x| x.value);
        }
        spec.drag = inner.vector("direction")?;
        spec.lift = inner.vector("lift")?;
        spec.origin = inner.vector("origin")?;
        spec.place = inner.place().clone();
    }
    Ok(spec)
}

/// Reads formulas, each alone or as `Name: formula`.
fn formulas(section: &Section<'_>) -> Result<Vec<NamedFormula>, InputError> {
    let expected = "a list of formulas in the variables of the model";
    let items = section.list("fields")?.ok_or_else(|| section.missing("fields", expected))?;
    let key = section.key("fields");
    let one = |item: &Node| {
        let (name, node) = match &item.value {
            Value::Map(entries) => match entries.as_slice() {
                [only] => (Some(only.key.clone()), &only.node),
                _ => {
                    let expected = "a formula, or a name with a formula";
                    return Err(super::expression::wrong_type(item, &key, expected));
                }
            },
            _ => (None, item),
        };
        let formula = section.constants().text(node, &key)?;
        // The name of a column has one line, also if the formula has several.
        let own = || formula.value.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(NamedFormula { name: name.unwrap_or_else(own), formula })
    };
    let formulas = items.iter().map(one).collect::<Result<Vec<_>, _>>()?;
    section::once(&formulas.iter().map(|f| f.formula.with(f.name.clone())).collect::<Vec<_>>())?;
    Ok(formulas)
}

/// Reads the table that integrals are compared with.
fn history(section: &Section<'_>, fields: &[NamedFormula]) -> Result<Option<HistorySpec>, InputError> {
    let Some(inner) = section.section("reference")? else { return Ok(None) };
    let file = inner.text("file")?.ok_or_else(|| inner.missing("file", "a table of numbers over time"))?;
    let expected = "the column of each integral by its name, such as { energy: 2 }";
    let columns = inner.unchecked("columns")?.ok_or_else(|| inner.missing("columns", expected))?;
    let known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    columns.only(&known)?;
    let column = |name: &&str| Some(columns.count(name, 2).transpose()?.map(|n| ((*name).to_owned(), n)));
    let columns = known.iter().filter_map(column).collect::<Result<_, _>>()?;
    Ok(Some(HistorySpec { file: file.with(PathBuf::from(&file.value)), columns }))
}
