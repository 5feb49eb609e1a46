//! Monitors with resolved names: solutions, formulas, and points in the mesh.

mod columns;

use std::path::Path;
use std::sync::Arc;

use dgsuite_physics::Exact;
use dgsuite_physics::formula::Formula;

pub use self::columns::{LIMITED_COLUMNS, tables};
use super::begin::Begin;
use super::samples::{Placed, Places, coordinates};
use super::states::States;
use super::variables::Variables;
use super::vocabulary::Vocabulary;
use crate::pipeline::Pipeline;
use crate::pipeline::expression::COORDINATES;
use crate::pipeline::monitors::{ForcesSpec, HistorySpec, MonitorKind, MonitorSpec, NamedFormula, Norm};
use crate::pipeline::output::Every;
use crate::pipeline::problem::mistakes::{both, each};
use crate::pipeline::problem::{InputError, Problem};
use crate::pipeline::reference::{Reference, unit};
use crate::pipeline::source::{Located, read_text};
use dgsuite_solve::flow::Law;
use dgsuite_solve::post::forces::Scales;
use dgsuite_solve::post::history::Series;
use dgsuite_solve::post::line;
use dgsuite_solve::{Place, RankMesh};

/// A monitor, resolved.
pub struct MonitorPlan {
    /// The recorded quantities.
    pub kind: MonitorJob,
    /// Its times, besides the end.
    pub every: Every,
    /// From when on it records.
    pub from: Begin,
}

/// The quantities that a monitor records, resolved.
pub enum MonitorJob {
    /// The residual.
    Residual,
    /// Errors.
    Error {
        /// The solution to compare with.
        exact: Arc<dyn Exact>,
        /// The norms.
        norms: Vec<Norm>,
    },
    /// Integrals over the domain.
    Integral {
        /// Names: those given, or the formulas as written.
        names: Vec<String>,
        /// Their formulas.
        formulas: Vec<Integrand>,
        /// Reference data for their history.
        references: Vec<Option<Series>>,
    },
    /// The divergence of the velocity, whose square this formula in the variables of
    /// [`Integrand::Derivatives`] is.
    Divergence(Box<Formula>),
    /// The mean velocity and the force that keeps it.
    FlowRate,
    /// Elements that a limiter changed, and the smallest density and pressure.
    Limited,
    /// Values at points.
    Probe {
        /// The points.
        points: Vec<Placed>,
        /// Names: those given, or the formulas as written.
        names: Vec<String>,
        /// Formulas with the arguments of [`Vocabulary::new`].
        formulas: Vec<Formula>,
        /// Whether one of them uses a derivative.
        gradients: bool,
    },
    /// Values at many points.
    Sample {
        /// The points.
        places: Places,
        /// Names: those given, or the formulas as written.
        names: Vec<String>,
        /// Formulas with the arguments of [`Vocabulary::new`].
        formulas: Vec<Formula>,
        /// Whether one of them uses a derivative.
        gradients: bool,
    },
    /// Forces on boundaries.
    Forces(ForcesJob),
    /// Curves along boundaries.
    Wall(ForcesJob),
    /// The length of a recirculation region.
    Recirculation {
        /// Distances from the start of the line.
        s: Vec<f64>,
        /// Points along the line with their elements; `None` outside of the mesh.
        places: Vec<Option<(usize, [f64; 3])>>,
        /// The unit vector along the line.
        along: [f64; 3],
    },
}

/// The formula of an integral.
pub enum Integrand {
    /// A formula in the variables of [`integral_variables`].
    Values(Formula),
    /// A formula in the primitive variables, their derivatives, and `x, y, z, t`.
    Derivatives(Formula),
}

/// Boundaries and scales, resolved.
#[derive(Clone, Debug)]
pub struct ForcesJob {
    /// The name in tables and in the summary: the names of the boundaries, joined by `+`.
    pub name: String,
    /// The boundaries.
    pub boundaries: Vec<String>,
    /// Reference quantities of the coefficients.
    pub scales: Scales,
    /// From when on means and frequencies are computed, if they are.
    pub from: Option<Begin>,
}

/// Number of points on the line that is searched for the end of a recirculation region.
const LINE_POINTS: usize = 2000;

/// The arguments of integrated formulas: conserved variables, primitive variables, then `x, y, z, t`.
///
/// A name in both lists means the conserved variable. The primitive variable keeps its position under the
/// name `primitive_…`, so that positions do not depend on the law.
pub fn integral_variables(variables: &Variables) -> Vec<String> {
    let conserved = variables.conserved.iter().map(|&name| name.to_owned());
    let primitive = variables.primitive.iter().map(|&name| match variables.conserved.contains(&name) {
        true => format!("primitive_{name}"),
        false => name.to_owned(),
    });
    conserved.chain(primitive).chain(COORDINATES.map(str::to_owned)).collect()
}

/// Returns the monitors with solutions and formulas resolved and with tables of reference data read; paths
/// are relative to `base`.
///
/// # Errors
/// Unknown names, formulas that do not parse, points outside of the mesh, missing tables.
pub fn resolve(
    specs: &[MonitorSpec],
    states: &States<'_>,
    mesh: &RankMesh,
    reference: Option<&Reference>,
    base: &Path,
) -> Result<Vec<MonitorPlan>, InputError> {
    let vocabulary = Vocabulary::new(states.variables, states.constants);
    let named = |fields: &[NamedFormula]| -> Result<(Vec<String>, Vec<Formula>), InputError> {
        let formulas = each(fields.iter().map(|f| vocabulary.formula(&f.formula)))?;
        Ok((fields.iter().map(|f| f.name.clone()).collect(), formulas))
    };
    each(specs.iter().map(|spec| {
        let kind = match &spec.kind {
            MonitorKind::Residual => MonitorJob::Residual,
            MonitorKind::Error { exact, norms } => {
                MonitorJob::Error { exact: states.resolve(exact)?, norms: norms.clone() }
            }
            MonitorKind::Integral { fields, reference } => {
                let names: Vec<String> = fields.iter().map(|f| f.name.clone()).collect();
                let references = match reference {
                    Some(spec) => histories(spec, &names, base),
                    None => Ok(vec![None; names.len()]),
                };
                let formulas = each(fields.iter().map(|f| integrand(f, states, &vocabulary)));
                let (formulas, references) = both(formulas, references)?;
                MonitorJob::Integral { names, formulas, references }
            }
            MonitorKind::Divergence => MonitorJob::Divergence(Box::new(divergence(states, &vocabulary)?)),
            MonitorKind::FlowRate if !has_flow_rate(states.variables.law()) => {
                let (key, expected) = ("physics.flow_rate", "a mean velocity, such as { mean: 1 }");
                let problem = Problem::MissingKey { key: key.to_owned(), expected: expected.to_owned() };
                return Err(InputError::at(&spec.place, problem));
            }
            MonitorKind::FlowRate => MonitorJob::FlowRate,
            MonitorKind::Limited => MonitorJob::Limited,
            MonitorKind::Probe { points, fields } => {
                let points = each(points.iter().map(|point| probe_point(point, mesh)));
                let ((names, formulas), points) = both(named(fields), points)?;
                let gradients = formulas.iter().any(|f| states.variables.uses_gradients(f));
                MonitorJob::Probe { points, names, formulas, gradients }
            }
            MonitorKind::Sample { places, fields } => {
                let ((names, formulas), places) = both(named(fields), Places::find(places, mesh, base))?;
                let gradients = formulas.iter().any(|f| states.variables.uses_gradients(f));
                MonitorJob::Sample { places, names, formulas, gradients }
            }
            MonitorKind::Forces(spec) => MonitorJob::Forces(forces(spec, mesh, reference)?),
            MonitorKind::Wall(spec) => MonitorJob::Wall(forces(spec, mesh, reference)?),
            MonitorKind::Recirculation { from, to } => {
                let (a, b) = (coordinates(from, mesh.dim())?, coordinates(to, mesh.dim())?);
                let along = unit(&to.with((0..mesh.dim()).map(|d| b[d] - a[d]).collect()))?;
                let (s, points) = line::points(a, b, LINE_POINTS);
                // Done once, because the search goes through all elements. A part gets them from rank 0.
                let find = |&x: &[f64; 3]| if mesh.is_part() { None } else { mesh.seen().find_point(x) };
                let places: Vec<_> = points.iter().map(find).collect();
                if places.iter().all(Option::is_none) && !mesh.is_part() {
                    return Err(InputError::at(&from.place, Problem::LineOutside { from: a, to: b }));
                }
                MonitorJob::Recirculation { s, places, along }
            }
        };
        Ok(MonitorPlan { kind, every: spec.every, from: Begin::START })
    }))
}

/// Returns the formula of an integral; one that uses derivatives has no conserved variables as arguments.
fn integrand(
    field: &NamedFormula,
    states: &States<'_>,
    vocabulary: &Vocabulary,
) -> Result<Integrand, InputError> {
    let formula = vocabulary.formula(&field.formula)?;
    if states.variables.uses_gradients(&formula) {
        return Ok(Integrand::Derivatives(formula));
    }
    let values = integral_variables(states.variables);
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let of_values = Vocabulary::with_arguments(states.variables, states.constants, &values);
    // A formula may name a derivative without depending on it.
    Ok(match of_values.parse(&field.formula.value) {
        Ok(formula) => Integrand::Values(formula),
        Err(_) => Integrand::Derivatives(formula),
    })
}

/// Returns the square of the divergence of the velocity.
fn divergence(states: &States<'_>, vocabulary: &Vocabulary) -> Result<Formula, InputError> {
    let text = if states.variables.dim() == 3 { "(u_x + v_y + w_z)^2" } else { "(u_x + v_y)^2" };
    vocabulary.known("monitors.divergence", text)
}

/// Warns of means that would begin at or after the end of the run and never be computed.
pub(super) fn late_means(pipeline: &Pipeline, end: Option<f64>) -> Vec<String> {
    let averages = pipeline.output.averages.iter().filter_map(|spec| spec.from.time());
    let averages = averages.map(|from| ("output.averages.from".to_owned(), from));
    let forces = pipeline.monitors.iter().enumerate().filter_map(|(i, monitor)| match &monitor.kind {
        MonitorKind::Forces(spec) => Some((format!("monitors.{i}.forces.from"), spec.from.as_ref()?.time()?)),
        _ => None,
    });
    let late = |(key, from): (String, f64)| {
        let end = end.filter(|&end| from >= end)?;
        Some(format!("{key} {from} is not before the end, {end}: there will be no means"))
    };
    averages.chain(forces).filter_map(late).collect()
}

/// Returns the reference table of each integral.
fn histories(spec: &HistorySpec, names: &[String], base: &Path) -> Result<Vec<Option<Series>>, InputError> {
    let path = base.join(&spec.file.value);
    let shown = spec.file.value.display().to_string();
    let text = read_text(&path).map_err(|error| {
        InputError::range(&spec.file.with(&shown), format!("a table that can be read: {error}"))
    })?;
    let one = |name: &String| {
        let Some((_, column)) = spec.columns.iter().find(|(n, _)| n == name) else { return Ok(None) };
        let series = Series::parse(&text, column.value).map_err(|error| {
            InputError::range(
                &spec.file.with(&shown),
                format!("numbers in columns, the first of them time: {error}"),
            )
        })?;
        Ok(Some(series))
    };
    names.iter().map(one).collect()
}

fn forces(
    spec: &ForcesSpec,
    mesh: &RankMesh,
    reference: Option<&Reference>,
) -> Result<ForcesJob, InputError> {
    let boundaries = named_boundaries(&spec.boundaries, &mesh.boundary_names())?;
    let [density, speed, pressure, area, length] = spec.scales;
    let needed = |given: Option<f64>, own: Option<f64>, key: &str, what: &str| {
        given.or(own).ok_or_else(|| {
            let expected = match reference {
                Some(_) => format!("{what}, here or in `physics.reference`, which has none"),
                None => format!("{what}, or a `physics.reference`"),
            };
            let key = format!("{}.reference.{key}", spec.path);
            InputError::at(&spec.place, Problem::MissingKey { key, expected })
        })
    };
    let vector = |given: &Option<Located<Vec<f64>>>| match given {
        Some(v) => coordinates(v, mesh.dim()).and_then(|_| unit(v)).map(Some),
        None => Ok(None),
    };
    let length = needed(length, reference.and_then(|r| r.length), "length", "the length of coefficients")?;
    let drag = vector(&spec.drag)?.or(reference.map(|r| r.direction)).unwrap_or([1.0, 0.0, 0.0]);
    // In three dimensions a length does not determine the area.
    let own_area = if mesh.dim() == 2 { Some(length) } else { None };
    let area = match area.or(own_area) {
        Some(area) => area,
        None => {
            let key = format!("{}.reference.area", spec.path);
            let expected = "the area of coefficients, such as pi/4 for a sphere of diameter 1".to_owned();
            return Err(InputError::at(&spec.place, Problem::MissingKey { key, expected }));
        }
    };
    let scales = Scales {
        density: needed(density, reference.map(|r| r.density), "density", "the density of coefficients")?,
        speed: needed(speed, reference.map(|r| r.speed), "velocity", "the speed of coefficients")?,
        // A constant pressure exerts no force on a closed surface.
        pressure: pressure.or(reference.map(|r| r.pressure)).unwrap_or(0.0),
        area,
        length,
        drag,
        lift: vector(&spec.lift)?.unwrap_or_else(|| Scales::lift_of(drag)),
        origin: spec.origin.as_ref().map_or(Ok([0.0; 3]), |x| coordinates(x, mesh.dim()))?,
    };
    Ok(ForcesJob { name: boundaries.join("+"), boundaries, scales, from: None })
}

/// Whether a uniform force keeps the mean velocity.
fn has_flow_rate(law: &Law) -> bool {
    matches!(law, Law::Incompressible(law) if law.flow_rate.is_some())
}

/// Returns the names of boundaries, checked against those of the mesh.
///
/// # Errors
/// [`Problem::UnknownBoundary`].
pub fn named_boundaries(given: &[Located<String>], known: &[&str]) -> Result<Vec<String>, InputError> {
    let one = |boundary: &Located<String>| match known.contains(&boundary.value.as_str()) {
        true => Ok(boundary.value.clone()),
        false => {
            let known = known.iter().map(|&name| name.to_owned()).collect();
            let problem = Problem::UnknownBoundary { name: boundary.value.clone(), known };
            Err(InputError::at(&boundary.place, problem))
        }
    };
    each(given.iter().map(one))
}

/// The places of points in the mesh, in the order of the monitors: a rank with a part of the mesh gets them
/// from rank 0.
pub fn places(monitors: &mut [MonitorPlan]) -> impl Iterator<Item = &mut Option<Place>> {
    monitors.iter_mut().flat_map(|monitor| -> Vec<&mut Option<Place>> {
        match &mut monitor.kind {
            MonitorJob::Probe { points, .. } => points.iter_mut().map(|(_, place)| place).collect(),
            MonitorJob::Sample { places, .. } => places.points.iter_mut().map(|(_, place)| place).collect(),
            MonitorJob::Recirculation { places, .. } => places.iter_mut().collect(),
            _ => Vec::new(),
        }
    })
}

fn probe_point(point: &Located<Vec<f64>>, mesh: &RankMesh) -> Result<Placed, InputError> {
    let x = coordinates(point, mesh.dim())?;
    if mesh.is_part() {
        return Ok((x, None));
    }
    match mesh.seen().find_point(x) {
        Some(place) => Ok((x, Some(place))),
        None => Err(InputError::at(&point.place, Problem::PointOutside { point: x })),
    }
}
