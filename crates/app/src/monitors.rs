//! Numbers that are recorded during a run: one file for each monitor.
//!
//! A file declares a [`Kind`]: the word and the keys of the pipeline file, how they are read (a [`Spec`]),
//! what they mean on a mesh (a [`Monitor`]), the columns and rows of the table, its picture, and the values
//! in `summary.json` with the paths that checks may name. A new monitor is a new file and its line in
//! [`KINDS`].

pub mod charts;
mod directions;
mod divergence;
mod error;
mod flow_rate;
mod forces;
mod formulas;
mod integral;
mod kinetic_energy;
mod limited;
pub mod not_finite;
mod nusselt;
mod places;
mod probe;
mod profile;
mod recirculation;
mod reference;
mod residual;
mod sample;
pub mod samples;
pub mod sampling;
mod spectrum;
pub mod surface;
mod wall;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use dgsuite_physics::Exact;
use dgsuite_timeint::TimePoint;
use serde_json::{Map, Value};

pub use self::error::{Norm, norm_of};
pub use self::integral::integral_variables;
use self::not_finite::NotFinite;
use crate::file::beginning::{Begin, Beginning};
use crate::file::every::Every;
use crate::file::expression::wrong_type;
use crate::file::keys::{Absent, FLOW, Kind as Of, Row, row};
use crate::file::node::{Node, Value as Written};
use crate::file::problem::InputError;
use crate::file::problem::mistakes::each;
use crate::file::section::Section;
use crate::file::source::{Located, Place};
use crate::models::reference::Reference;
use crate::models::states::States;
use crate::models::variables::Variables;
use crate::models::vocabulary::Vocabulary;
use dgsuite_output::writer::WriterError;
use dgsuite_output::writer::csv::{Columns, Table};
use dgsuite_output::writer::plot::Chart;
use dgsuite_solve::flow::Flow;
use dgsuite_solve::post::homogeneous::NotInColumns;
use dgsuite_solve::{RankMesh, SystemError};

/// All monitors, in the order of the table of keys.
pub static KINDS: [&Kind; 15] = [
    &residual::MONITOR,
    &error::MONITOR,
    &integral::MONITOR,
    &kinetic_energy::MONITOR,
    &divergence::MONITOR,
    &flow_rate::MONITOR,
    &nusselt::MONITOR,
    &limited::MONITOR,
    &forces::MONITOR,
    &wall::MONITOR,
    &recirculation::MONITOR,
    &probe::MONITOR,
    &profile::MONITOR,
    &spectrum::MONITOR,
    &sample::MONITOR,
];

/// The key of the list.
static LIST: [Row; 1] = [row(
    "monitors",
    &[Of::List("monitors", &[Of::Section])],
    Absent::Nothing,
    "Numbers that are recorded during the run, in tables `monitors/*.csv` with their curves `*.svg`. \
     Rows are written at the start and the end as well.",
)
.of(FLOW)];

/// The monitors of a program that is built on this crate.
static OWN: OnceLock<Vec<&'static Kind>> = OnceLock::new();

/// Makes the monitors of a program known; only the first call of a process does.
pub(crate) fn install(own: Vec<&'static Kind>) {
    OWN.get_or_init(|| own);
}

/// All monitors, those of the program included.
pub fn kinds() -> impl Iterator<Item = &'static Kind> {
    KINDS.into_iter().chain(OWN.get().into_iter().flatten().copied())
}

/// The keys of all monitors.
pub fn keys() -> impl Iterator<Item = &'static Row> {
    let of_kinds = kinds().flat_map(|kind| kind.keys.iter().copied().flatten());
    LIST.iter().chain(of_kinds).chain(surface::KEYS).chain(formulas::KEYS)
}

/// The keys that a monitor's section has, of the models `$models`: itself with its meaning, and the interval
/// of its rows; `$steps` is the default of `every_steps`.
#[macro_export]
macro_rules! monitor_section {
    ($name:literal, $models:expr, $text:expr, $steps:expr) => {
        &[
            $crate::file::keys::row(
                concat!("monitors[].", $name),
                &[$crate::file::keys::Kind::Section],
                $crate::file::keys::Absent::Nothing,
                $text,
            )
            .of($models),
            $crate::file::keys::row(
                concat!("monitors[].", $name, ".every"),
                &[$crate::file::every::TIME],
                $crate::file::keys::Absent::Nothing,
                "The interval of time between rows, in place of `every_steps`.",
            )
            .of($models),
            $crate::file::keys::row(
                concat!("monitors[].", $name, ".every_steps"),
                &[$crate::file::every::STEPS],
                $steps,
                "The number of steps between rows.",
            )
            .of($models),
        ]
    };
}

/// The key `from` of a monitor, from when on it records.
#[macro_export]
macro_rules! monitor_beginning {
    ($name:literal, $models:expr, $default:literal, $text:literal) => {
        &[
            $crate::file::keys::row(
                concat!("monitors[].", $name, ".from"),
                &[
                    $crate::file::keys::Kind::Number($crate::file::keys::Range::Any),
                    $crate::file::keys::Kind::Section,
                ],
                $crate::file::keys::Absent::Says($default),
                $text,
            )
            .of($models),
            $crate::file::keys::row(
                concat!("monitors[].", $name, ".from.when"),
                &[$crate::file::beginning::CONDITION],
                $crate::file::keys::Absent::Required,
                "The condition that must hold once: a formula in `t`, `step` and columns of monitors, such as \
                 `integral_energy` or `forces_cd`.",
            )
            .of($models),
        ]
    };
    ($name:literal, $models:expr) => {
        $crate::monitor_beginning!(
            $name,
            $models,
            "the start",
            "The time from which rows are recorded, or `when: CONDITION`."
        )
    };
}
use {monitor_beginning as beginning, monitor_section as section};

/// The default of `every_steps` for [`Every::End`].
pub const ENDS: Absent = Absent::Says("rows at the start and the end only");

/// A kind of monitor.
pub struct Kind {
    /// The word of the pipeline file, after which its tables are named.
    pub name: &'static str,
    /// Its keys, in groups.
    pub keys: &'static [&'static [Row]],
    /// The default interval of its rows.
    pub every: Every,
    /// Whether `from` begins its rows.
    pub begins: bool,
    /// Reads the section, whose keys are known.
    pub read: fn(&Section<'_>) -> Result<Arc<dyn Spec>, InputError>,
    /// Charts the table over time, or over steps that have no common time, as the third argument says.
    pub chart: fn(&str, &Columns, &str) -> Chart,
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A monitor as written.
pub trait Spec: fmt::Debug + Send + Sync {
    /// Resolves names, formulas and points.
    ///
    /// # Errors
    /// Unknown names, formulas that do not parse, points outside of the mesh, missing tables.
    fn resolve(&self, context: &Context<'_>) -> Result<Box<dyn Monitor>, InputError>;

    /// The paths in the summary that checks may name.
    fn values(&self, table: &str, variables: &Variables) -> Vec<String> {
        let _ = (table, variables);
        Vec::new()
    }

    /// From when on means are computed, if that was given.
    fn means(&self) -> Option<&Beginning> {
        None
    }

    /// The files that it reads: keys below that of the monitor, and paths.
    fn files(&self) -> Vec<(&'static str, &Located<PathBuf>)> {
        Vec::new()
    }

    /// Whether it compares with an exact solution.
    fn has_exact(&self) -> bool {
        false
    }

    /// Whether it records what a limiter does.
    fn is_of_limiters(&self) -> bool {
        false
    }
}

/// What names mean in this run.
pub struct Context<'a> {
    /// Exact solutions and variables.
    pub states: &'a States<'a>,
    /// Names in formulas.
    pub vocabulary: &'a Vocabulary,
    /// The mesh.
    pub mesh: &'a RankMesh,
    /// The reference state.
    pub reference: Option<&'a Reference>,
    /// The directory that paths are relative to.
    pub base: &'a Path,
    /// Where it was written.
    pub place: &'a Place,
}

/// A monitor, resolved.
pub trait Monitor: Send + Sync {
    /// The columns of its table, after step and time.
    fn columns(&self, variables: &Variables) -> Vec<String>;

    /// The columns where the solution determines them, such as those of a boundary's points: these begin with
    /// [`columns`](Self::columns). Collective.
    ///
    /// # Errors
    /// The errors of the solver, and a solution that cannot be recorded.
    fn columns_of(&self, variables: &Variables, solver: &Flow) -> Result<Vec<String>, MonitorError> {
        let _ = solver;
        Ok(self.columns(variables))
    }

    /// Evaluates a row without step and time; `None` if there is none now.
    ///
    /// # Errors
    /// The errors of the solver and of the file system.
    fn record(
        &self,
        solver: &mut Flow,
        now: Now<'_>,
        values: &mut Values,
    ) -> Result<Option<Vec<f64>>, MonitorError>;

    /// Evaluates the whole table at the end of the run, and writes its chart.
    ///
    /// # Errors
    /// The errors of the file system.
    fn finish(&self, end: &Finished<'_>, values: &mut Values) -> Result<(), MonitorError> {
        let _ = values;
        Ok(end.write(&end.chart)?)
    }

    /// What it records, for the plan: ` of …`, and what else is to be said.
    fn about(&self) -> [String; 2] {
        Default::default()
    }

    /// The places of its points in the mesh; a rank with a part of the mesh gets them from rank 0.
    fn places(&mut self) -> Vec<&mut Option<dgsuite_solve::Place>> {
        Vec::new()
    }

    /// The solution that it compares with.
    fn exact(&self) -> Option<&Arc<dyn Exact>> {
        None
    }

    /// From when on means are computed, which is resolved after all monitors.
    fn means_mut(&mut self) -> Option<&mut Option<Begin>> {
        None
    }

    /// Forces of the present state, with the path of their section in the summary; `None` for other monitors.
    ///
    /// # Errors
    /// Those of the solver.
    fn forces(&self, _solver: &mut Flow) -> Result<Option<([String; 2], Map<String, Value>)>, MonitorError> {
        Ok(None)
    }

    /// Whether its rows are forces, which end a steady run when they settle.
    fn has_forces(&self) -> bool {
        false
    }

    /// Whether the rows of one time are points, which are written by the monitor itself.
    fn has_points(&self) -> bool {
        false
    }

    /// Whether a value that is not finite is a mistake.
    fn is_finite(&self) -> bool {
        true
    }
}

/// When and where a row is recorded.
pub struct Now<'a> {
    /// Time and step.
    pub time: TimePoint,
    /// The name of the table.
    pub name: &'a str,
    /// The table.
    pub table: &'a mut Table,
    /// Where values that are not finite are reported.
    pub not_finite: &'a NotFinite,
}

/// The end of a table.
pub struct Finished<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its file.
    pub path: &'a Path,
    /// The table; of rows that are points the last ones.
    pub table: &'a Columns,
    /// The time at which something began, if it did.
    pub began: &'a dyn Fn(Begin) -> Option<f64>,
    /// The chart of the table, drawn by [`Kind::chart`].
    pub chart: Chart,
}

impl Finished<'_> {
    /// Writes a chart beside the table.
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn write(&self, chart: &Chart) -> Result<(), WriterError> {
        chart.write(&self.path.with_extension("svg")).map(|_| ())
    }
}

/// Why nothing could be recorded.
#[derive(Debug, thiserror::Error)]
pub enum MonitorError {
    /// The solver failed.
    #[error("{0}")]
    System(#[from] SystemError),
    /// A result could not be written.
    #[error("{0}")]
    Writer(#[from] WriterError),
    /// There are no means over a direction.
    #[error("{0}")]
    NotInColumns(#[from] NotInColumns),
}

/// The last values of all monitors, as they stand in the summary.
#[derive(Clone, Debug, Default)]
pub struct Values(Map<String, Value>);

impl Values {
    /// Sets the value at a path.
    pub fn put(&mut self, path: &[&str], value: impl Into<Value>) {
        let Some((last, sections)) = path.split_last() else { return };
        let mut map = &mut self.0;
        for &section in sections {
            let entry = map.entry(section).or_insert_with(|| Value::Object(Map::new()));
            if !entry.is_object() {
                *entry = Value::Object(Map::new());
            }
            let Value::Object(inner) = entry else { return };
            map = inner;
        }
        map.insert((*last).to_owned(), value.into());
    }

    /// Returns all values.
    pub fn all(&self) -> &Map<String, Value> {
        &self.0
    }
}

/// A monitor as written, with the keys that all have.
#[derive(Clone, Debug)]
pub struct MonitorSpec {
    /// Its kind.
    pub kind: &'static Kind,
    /// The recorded quantities.
    pub spec: Arc<dyn Spec>,
    /// The interval of its rows.
    pub every: Every,
    /// From when on it records.
    pub from: Option<Beginning>,
    /// Where it was written.
    pub place: Place,
}

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
        let wrong = || wrong_type(item, &format!("monitors.{i}"), expected);
        let entry = match &item.value {
            Written::Map(entries) => match entries.as_slice() {
                [only] => only,
                _ => return Err(wrong()),
            },
            _ => return Err(wrong()),
        };
        let monitor = top.item("monitors", i, item)?;
        monitor.known()?;
        monitor.of_model(model)?;
        let section = monitor.named(entry)?;
        let kind = kinds().find(|kind| kind.name == entry.key).ok_or_else(wrong)?;
        let spec = (kind.read)(&section)?;
        let every = Every::read(&section, kind.every)?;
        let from = if kind.begins { Beginning::read(&section)? } else { None };
        Ok(Self { kind, spec, every, from, place: entry.place.clone() })
    }
}

/// The names of tables: the word of the monitor, and a number from the second one on.
fn names(kinds: impl Iterator<Item = &'static Kind>) -> Vec<String> {
    let mut seen: Vec<&str> = Vec::new();
    let name = |kind: &Kind| {
        seen.push(kind.name);
        match seen.iter().filter(|n| **n == kind.name).count() {
            1 => kind.name.to_owned(),
            n => format!("{}-{n}", kind.name),
        }
    };
    kinds.map(name).collect()
}

/// The paths in the summary that checks may name.
pub fn values(monitors: &[MonitorSpec], variables: &Variables) -> Vec<String> {
    let names = names(monitors.iter().map(|monitor| monitor.kind));
    monitors.iter().zip(names).flat_map(|(m, name)| m.spec.values(&name, variables)).collect()
}

/// A monitor, resolved, with what all have.
pub struct MonitorPlan {
    /// Its kind.
    pub kind: &'static Kind,
    /// The recorded quantities.
    pub monitor: Box<dyn Monitor>,
    /// Its times, besides the end.
    pub every: Every,
    /// From when on it records.
    pub from: Begin,
}

/// Resolves all monitors; paths are relative to `base`.
///
/// # Errors
/// As [`Spec::resolve`].
pub fn resolve(
    specs: &[MonitorSpec],
    states: &States<'_>,
    mesh: &RankMesh,
    reference: Option<&Reference>,
    base: &Path,
) -> Result<Vec<MonitorPlan>, InputError> {
    let vocabulary = &Vocabulary::new(states.variables, states.constants);
    each(specs.iter().map(|spec| {
        let context = Context { states, vocabulary, mesh, reference, base, place: &spec.place };
        let monitor = spec.spec.resolve(&context)?;
        Ok(MonitorPlan { kind: spec.kind, monitor, every: spec.every, from: Begin::START })
    }))
}

/// Returns the name of each monitor's table, and its columns after step and time; of those whose rows are
/// points none.
pub fn tables(monitors: &[MonitorPlan], variables: &Variables) -> Vec<(String, Vec<String>)> {
    let columns = monitors.iter().map(|plan| match plan.monitor.has_points() {
        true => Vec::new(),
        false => plan.monitor.columns(variables),
    });
    names(monitors.iter().map(|plan| plan.kind)).into_iter().zip(columns).collect()
}

/// The places of points in the mesh, in the order of the monitors: a rank with a part of the mesh gets them
/// from rank 0.
pub fn places(monitors: &mut [MonitorPlan]) -> impl Iterator<Item = &mut Option<dgsuite_solve::Place>> {
    monitors.iter_mut().flat_map(|plan| plan.monitor.places())
}

/// Charts a monitor's table. With `local_steps`, elements have no common time, and the curves are over steps.
#[must_use]
pub fn of_monitor(kind: &str, table: &Columns, local_steps: bool) -> Chart {
    let x = if local_steps { "step" } else { "time" };
    match kinds().find(|known| known.name == kind) {
        Some(known) => (known.chart)(kind, table, x),
        None => charts::all(kind, table, x),
    }
}

/// Charts a table of a run by the name of its file: `kind.csv`, or `kind-` and a number. `local_steps` as in
/// [`of_monitor`].
#[must_use]
pub fn of_table(name: &str, table: &Columns, local_steps: bool) -> Chart {
    let kind = name.split(['-', '.', '_']).next().unwrap_or(name);
    match table.column("s") {
        Some(_) if name.contains("curve") => charts::along_a_wall(table),
        _ if table.column("point").is_some() => charts::of_sample(table),
        _ if table.column("iteration").is_some() => charts::of_linear_solve(table),
        _ if table.column("time").is_some() || table.column("step").is_some() => {
            of_monitor(kind, table, local_steps)
        }
        _ => {
            let x = table.names.first().cloned().unwrap_or_default();
            let others: Vec<&str> = table.names.iter().skip(1).map(String::as_str).collect();
            charts::columns(table, name, &x, &others)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(names: &[&str]) -> Columns {
        let values = (0..names.len()).map(|k| vec![k as f64, k as f64 + 1.0]).collect();
        Columns { names: names.iter().map(|&n| n.to_owned()).collect(), values }
    }

    #[test]
    fn each_monitor_shows_what_its_reader_looks_for() {
        let chart = of_monitor("residual", &table(&["step", "time", "rho", "rho*u"]), false);
        assert_eq!((chart.x.as_str(), chart.log_y, chart.curves.len()), ("step", true, 2));
        let chart = of_monitor("forces", &table(&["step", "time", "cd", "cl", "cd_pressure"]), false);
        let names: Vec<&str> = chart.curves.iter().map(|c| c.name.as_str()).collect();
        assert_eq!((chart.x.as_str(), names), ("time", vec!["cd", "cl"]));
        let sample = Columns {
            values: vec![vec![1.0, 2.0, 2.0]; 5],
            names: table(&["step", "point", "s", "x", "u"]).names,
        };
        let steps = of_monitor("probe", &table(&["step", "time", "u at 0"]), true);
        assert_eq!(steps.x, "step", "local steps have no time");
        let chart = of_table("sample-2", &sample, false);
        assert_eq!((chart.x.as_str(), chart.curves.len()), ("s", 1));
        assert_eq!(chart.curves[0].points, [(2.0, 2.0), (2.0, 2.0)]);
        assert!(of_table("sample", &table(&["step", "point", "x", "u"]), false).curves.is_empty());
        let chart = charts::along_a_wall(&table(&["s", "x", "cp", "cf"]));
        assert_eq!(chart.curves[1].points, [(0.0, 3.0), (1.0, 4.0)]);
    }
}
