//! Monitors during a run: rows of numbers in tables, and the last values for the summary.

use dgsuite_timeint::TimePoint;

use super::error::RunError;
use super::triggers::Triggers;
use crate::directory::Directory;
use crate::file::beginning::Begin;
use crate::monitors::not_finite::NotFinite;
use crate::monitors::{Finished, MonitorPlan, Now, Values, tables};
use crate::outputs::schedule::Schedule;
use crate::plan::Plan;
use dgsuite_output::writer::csv::{Columns, Table};
use dgsuite_solve::flow::Flow;

/// A monitor during a run.
pub struct Recorder<'a> {
    plan: &'a MonitorPlan,
    /// From when on it records.
    pub from: Begin,
    /// The name of its table.
    name: String,
    schedule: Schedule,
    table: Table,
    columns: Vec<String>,
}

/// Opens the tables of a plan's monitors; the tables of a continued run continue at its start. Collective.
///
/// # Errors
/// Errors of the file system, a table with other columns, or a solution that a monitor cannot record.
pub fn open<'a>(
    plan: &'a Plan,
    directory: &Directory,
    solver: &Flow,
    now: TimePoint,
) -> Result<Vec<Recorder<'a>>, RunError> {
    // All ranks ask all monitors before one of them can fail.
    let columns: Vec<_> =
        plan.monitors.iter().map(|m| m.monitor.columns_of(&plan.variables, solver)).collect();
    plan.monitors
        .iter()
        .zip(tables(&plan.monitors, &plan.variables))
        .zip(columns)
        .map(|((monitor, (file, _)), columns)| {
            let path = directory.monitor(&file)?;
            let columns = columns?;
            let names: Vec<&str> =
                ["step", "time"].into_iter().chain(columns.iter().map(String::as_str)).collect();
            let table = if plan.restart.is_some() {
                Table::resume(path, &names, now.step as f64)?
            } else {
                Table::create(path, &names)?
            };
            let schedule = Schedule::new(monitor.every, now);
            Ok(Recorder { plan: monitor, from: monitor.from, name: file, schedule, table, columns })
        })
        .collect()
}

impl Recorder<'_> {
    /// Returns whether a row is due now.
    pub fn due(&mut self, now: TimePoint) -> bool {
        self.schedule.due(now)
    }

    /// As [`due`](Self::due) at a time between two steps.
    pub fn due_between(&mut self, now: TimePoint) -> bool {
        self.schedule.due_between(now)
    }

    /// Returns the time of the next row, if rows are at intervals of time.
    pub fn next_time(&self) -> Option<f64> {
        self.schedule.next_time()
    }

    /// Returns the number of steps that can be done after `step` before a row may be due by its number of
    /// steps.
    pub fn steps_left(&self, now: TimePoint, local: bool) -> u64 {
        self.schedule.steps_left(now, local)
    }

    /// Writes a row, keeps its values, and returns those after step and time; none where none was written.
    ///
    /// # Errors
    /// The errors of the solver and of the file system.
    pub fn record(
        &mut self,
        solver: &mut Flow,
        time: TimePoint,
        last: &mut Values,
        not_finite: &NotFinite,
    ) -> Result<Vec<f64>, RunError> {
        let now = Now { time, name: &self.name, table: &mut self.table, not_finite };
        let Some(values) = self.plan.monitor.record(solver, now, last)? else { return Ok(Vec::new()) };
        if self.plan.monitor.is_finite() {
            not_finite.look_at_row(&self.name, &self.columns, &values, time.t);
        }
        let row: Vec<f64> = [time.step as f64, time.t].into_iter().chain(values.iter().copied()).collect();
        self.table.row(&row)?;
        Ok(values)
    }

    /// Evaluates the whole table at the end of a run: its curves as a picture (over steps, if these are
    /// `local_steps` without a common time), means, amplitudes and frequencies.
    ///
    /// # Errors
    /// A table that cannot be read, a picture that cannot be written.
    pub fn finish(
        &self,
        last: &mut Values,
        triggers: &Triggers<'_>,
        local_steps: bool,
    ) -> Result<(), RunError> {
        let path = self.table.path();
        let table = Columns::read(path)?;
        let x = if local_steps { "step" } else { "time" };
        let chart = (self.plan.kind.chart)(self.plan.kind.name, &table, x);
        let began = &|begin| triggers.time(begin);
        let end = Finished { name: &self.name, path, table: &table, began, chart };
        Ok(self.plan.monitor.finish(&end, last)?)
    }
}
