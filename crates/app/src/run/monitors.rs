//! Monitors: write rows of numbers to tables during a run and keep the last row for the summary.

mod limited;

use dgsuite_timeint::TimePoint;
use serde_json::{Map, Value, json};

use super::bodies;
use super::error::RunError;
use super::not_finite::NotFinite;
use super::pictures;
use super::sampling;
use super::schedule::Schedule;
use super::triggers::Triggers;
use crate::directory::Directory;
use crate::pipeline::monitors::Norm;
use crate::plan::monitors::tables;
use crate::plan::triggers::Begin;
use crate::plan::{ForcesJob, Integrand, MonitorJob, Plan};
use dgsuite_output::writer::csv::{Columns, Table};
use dgsuite_output::writer::{VtuOptions, atomic};
use dgsuite_solve::flow::{Flow, Norms};

/// A monitor during a run.
pub struct Monitor<'a> {
    job: &'a MonitorJob,
    /// From when on it records.
    pub from: Begin,
    /// The name of its table.
    name: String,
    schedule: Schedule,
    table: Table,
    columns: Vec<String>,
}

/// The last values of all monitors, for the summary.
#[derive(Clone, Debug, Default)]
pub struct LastValues {
    /// Residuals by conserved variable.
    pub residual: Map<String, Value>,
    /// Integrals by name.
    pub integral: Map<String, Value>,
    /// Norms of the divergence and of the normal jumps of the velocity.
    pub divergence: Map<String, Value>,
    /// Elements that a limiter changed, over the run.
    pub limited: Map<String, Value>,
    /// Decay and deviation from reference data, by name of the integral.
    pub history: Map<String, Value>,
    /// Values at points, by the name of the monitor's table: `{field: {point: value}}`, of samples `{field:
    /// {min, max, mean}}`.
    pub probe: Map<String, Value>,
    /// Forces by boundary.
    pub forces: Map<String, Value>,
    /// Wall quantities by boundary.
    pub wall: Map<String, Value>,
    /// Lengths of recirculation regions, by name.
    pub recirculation: Map<String, Value>,
    /// The triggers, and when they held.
    pub triggers: Vec<Value>,
}

/// Opens the tables of a plan's monitors; the tables of a continued run continue at its start.
///
/// # Errors
/// Errors of the file system, or a table with other columns.
pub fn open<'a>(plan: &'a Plan, directory: &Directory, now: TimePoint) -> Result<Vec<Monitor<'a>>, RunError> {
    plan.monitors
        .iter()
        .zip(tables(&plan.monitors, &plan.variables))
        .map(|(monitor, (file, _))| {
            let path = directory.monitor(&file)?;
            let columns = monitor.kind.columns(&plan.variables);
            let names: Vec<&str> = columns.iter().map(String::as_str).collect();
            let table = if plan.restart.is_some() {
                Table::resume(path, &names, now.step as f64)?
            } else {
                Table::create(path, &names)?
            };
            let schedule = Schedule::new(monitor.every, now);
            Ok(Monitor { job: &monitor.kind, from: monitor.from, name: file, schedule, table, columns })
        })
        .collect()
}

impl Monitor<'_> {
    /// Returns whether a row is due now.
    pub fn due(&mut self, now: TimePoint) -> bool {
        self.schedule.due(now)
    }

    /// Returns the number of steps that can be done after `step` before a row may be due by its number of
    /// steps.
    pub fn steps_left(&self, now: TimePoint, local: bool) -> u64 {
        self.schedule.steps_left(now, local)
    }

    /// Writes a row, keeps its values, and returns those after step and time; of a sample none.
    ///
    /// # Errors
    /// The errors of the solver and of the file system.
    pub fn record(
        &mut self,
        solver: &mut Flow,
        now: TimePoint,
        last: &mut LastValues,
        not_finite: &NotFinite,
    ) -> Result<Vec<f64>, RunError> {
        let mut row = vec![now.step as f64, now.t];
        match self.job {
            MonitorJob::Residual => {
                let residual = solver.residual()?;
                // Rates that follow from past steps are infinite at the start, and where the past of a
                // checkpoint does not fit.
                if solver.solves().is_some() && residual.iter().all(|&rate| rate == f64::INFINITY) {
                    return Ok(Vec::new());
                }
                for (name, x) in solver.variables().iter().zip(&residual) {
                    last.residual.insert((*name).to_owned(), json!(x));
                }
                row.extend(residual);
            }
            MonitorJob::Error { exact, norms } => {
                let errors = solver.errors(exact.as_ref(), now.t);
                row.extend(norms.iter().flat_map(|norm| norm_of(&errors, *norm)));
            }
            MonitorJob::Integral { names, formulas, .. } => {
                let values = integrals(solver, formulas);
                for (name, x) in names.iter().zip(&values) {
                    last.integral.insert(name.clone(), json!(x));
                }
                row.extend(values);
            }
            MonitorJob::Divergence(square) => {
                let norm = solver.integral_of_derivatives(&[square]).iter().sum::<f64>().sqrt();
                let jumps = solver.normal_jumps()?.unwrap_or(f64::NAN);
                last.divergence.insert("l2".to_owned(), json!(norm));
                last.divergence.insert("jumps".to_owned(), json!(jumps));
                row.extend([norm, jumps]);
            }
            MonitorJob::FlowRate => {
                // No row without a step whose force it could name: at the start, and where the past of a
                // checkpoint does not fit.
                let Some(driven) = solver.driven().filter(|driven| driven.after_step) else {
                    return Ok(Vec::new());
                };
                row.extend([driven.mean, driven.force]);
            }
            MonitorJob::Limited => row.extend(limited::row(solver)),
            MonitorJob::Probe { points, formulas, names, gradients } => {
                let values = sampling::at_points(solver, points, formulas, *gradients);
                row.extend(values.into_iter().flatten());
                last.probe.insert(self.name.clone(), by_field(names, &row[2..]));
            }
            MonitorJob::Sample { places, names, formulas, gradients } => {
                let values = sampling::at_points(solver, &places.points, formulas, *gradients);
                let inside = places.points.iter().zip(&values).filter(|((_, place), _)| place.is_some());
                inside.for_each(|(_, row)| not_finite.look_at_row(&self.name, names, row, now.t));
                let rows = sampling::rows(&row, places, &values, solver.dim());
                last.probe.insert(self.name.clone(), sampling::extremes(names, &values));
                if let Some(cells) = sampling::cells(places, names, &values, now.t) {
                    cells.write(&self.table.path().with_extension("vtu"), &VtuOptions::default())?;
                }
                self.table.rows(&rows)?;
                return Ok(Vec::new());
            }
            MonitorJob::Forces(job) => {
                let (values, mut summary) = bodies::forces(solver, job)?;
                row.extend(values);
                summary["table"] = json!(self.name);
                last.forces.insert(job.name.clone(), summary);
            }
            MonitorJob::Wall(job) => {
                let (curves, summary) = bodies::wall(solver, job)?;
                let path = self.table.path().with_file_name(format!("{}-curve.csv", self.name));
                atomic::write(&path, bodies::table(&curves).as_bytes())?;
                row.extend(bodies::extremes(&curves));
                last.wall.insert(job.name.clone(), summary);
            }
            MonitorJob::Recirculation { s, places, along } => {
                let length = bodies::recirculation(solver, s, places, *along);
                row.push(length.unwrap_or(f64::NAN));
                let name = self.name.replacen("recirculation", "length", 1);
                last.recirculation.insert(name, json!(length));
            }
        }
        // For a wake, no length means that there is none.
        if !matches!(self.job, MonitorJob::Recirculation { .. }) {
            not_finite.look_at_row(&self.name, &self.columns[2..], &row[2..], now.t);
        }
        self.table.row(&row)?;
        Ok(row.split_off(2))
    }

    /// Evaluates the whole table at the end of a run: its curves as a picture (over steps, if these are
    /// `local_steps` without a common time), means, amplitudes and frequencies.
    ///
    /// # Errors
    /// A table that cannot be read, a picture that cannot be written.
    pub fn finish(
        &self,
        last: &mut LastValues,
        triggers: &Triggers<'_>,
        local_steps: bool,
    ) -> Result<(), RunError> {
        let path = self.table.path();
        if let MonitorJob::Sample { places, .. } = self.job {
            // The rows of one time are a curve along a line; other points have none.
            if places.distances.is_some() {
                pictures::of_sample(&Columns::read(path)?).write(&path.with_extension("svg"))?;
            }
            return Ok(());
        }
        let mut chart = pictures::of_monitor(self.job.name(), &Columns::read(path)?, local_steps);
        if let MonitorJob::Forces(ForcesJob { name, .. }) = self.job {
            chart.title = pictures::title_of_forces(name);
        }
        chart.write(&path.with_extension("svg"))?;
        if let MonitorJob::Wall(_) = self.job {
            let curve = path.with_file_name(format!("{}-curve.csv", self.name));
            pictures::along_a_wall(&Columns::read(&curve)?).write(&curve.with_extension("svg"))?;
        }
        match self.job {
            MonitorJob::Divergence(_) => {
                last.divergence.insert("growth".to_owned(), Value::Object(bodies::growth(path)?));
            }
            MonitorJob::Limited => last.limited = limited::summary(&Columns::read(path)?),
            MonitorJob::Integral { names, references, .. } => {
                last.history.extend(bodies::decays(path, names, references)?);
            }
            MonitorJob::Forces(ForcesJob { name, scales, from: Some(from), .. }) => {
                // There are no means before they begin.
                let Some(from) = triggers.time(*from) else { return Ok(()) };
                let history = bodies::history(path, from, scales)?;
                if let Some(Value::Object(summary)) = last.forces.get_mut(name) {
                    summary.extend(history);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Returns integrals over the domain; those of derivatives share one sampling of the solution.
fn integrals(solver: &Flow, all: &[Integrand]) -> Vec<f64> {
    let (mut of_values, mut of_derivatives) = (Vec::new(), Vec::new());
    for integrand in all {
        match integrand {
            Integrand::Values(formula) => of_values.push(formula.clone()),
            Integrand::Derivatives(formula) => of_derivatives.push(formula),
        }
    }
    let empty = of_derivatives.is_empty();
    let derived = if empty { Vec::new() } else { solver.integral_of_derivatives(&of_derivatives) };
    let plain = if of_values.is_empty() { Vec::new() } else { solver.integral(&of_values) };
    let (mut derived, mut plain) = (derived.into_iter(), plain.into_iter());
    let next = |integrand: &Integrand| match integrand {
        Integrand::Values(_) => plain.next(),
        Integrand::Derivatives(_) => derived.next(),
    };
    all.iter().map(next).map(|value| value.unwrap_or(f64::NAN)).collect()
}

/// Returns the values of a probe, `[point][field]`, by field and then by the number of the point; of two
/// points also the first value less the second, as `difference`.
fn by_field(names: &[String], values: &[f64]) -> Value {
    let of_field = |(k, name): (usize, &String)| {
        let column: Vec<f64> = values.iter().skip(k).step_by(names.len()).copied().collect();
        let mut by_point: Map<String, Value> =
            column.iter().enumerate().map(|(i, x)| (i.to_string(), json!(x))).collect();
        if let [first, second] = column[..] {
            by_point.insert("difference".to_owned(), json!(first - second));
        }
        (name.clone(), Value::Object(by_point))
    };
    Value::Object(names.iter().enumerate().map(of_field).collect())
}

/// Returns the values of one norm.
pub fn norm_of(norms: &Norms, norm: Norm) -> &[f64] {
    match norm {
        Norm::L1 => &norms.l1,
        Norm::L2 => &norms.l2,
        Norm::Linf => &norms.linf,
    }
}
