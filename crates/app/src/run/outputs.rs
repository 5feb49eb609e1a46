//! Everything that a run writes as it proceeds: tables of monitors, and the list of its outputs.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use dgsuite_timeint::{Memory, Progress, TimePoint};

use super::counts::{self, Counts, Tally};
use super::error::RunError;
use super::monitors::{self, Recorder};
use super::sections;
use super::triggers::{self, Triggers};
use crate::directory::{Directory, Former};
use crate::file::beginning::Begin;
use crate::monitors::not_finite::NotFinite;
use crate::monitors::{MonitorError, MonitorPlan, Values};
use crate::outputs::{At, Kept, Kind, Opening, OutputPlan, Writer, fields, sampled, schedule};
use crate::plan::Plan;
use dgsuite_output::writer::{VtuOptions, WriterError};
use dgsuite_solve::ROOT;
use dgsuite_solve::flow::Flow;
use dgsuite_solve::post::settled::Settled;

/// Results that could not be written. On several ranks the others do not know yet: rank 0 goes on with what
/// all of them do together, until all learn of it.
struct Failures {
    several: bool,
    first: Option<RunError>,
}

impl Failures {
    fn keep<E: Into<RunError>>(&mut self, result: Result<(), E>) -> Result<(), RunError> {
        match result.map_err(Into::into) {
            Err(error @ RunError::Writer(_)) if self.several => {
                self.first.get_or_insert(error);
                Ok(())
            }
            other => other,
        }
    }
}

/// An output with its files open.
struct Open {
    kind: &'static Kind,
    from: Begin,
    writer: Box<dyn Writer>,
    /// The step and the time at which it was written last.
    newest: Option<(u64, f64)>,
}

/// The open results of a run.
pub struct Outputs<'a> {
    plan: &'a Plan,
    directory: Directory,
    monitors: Vec<Recorder<'a>>,
    outputs: Vec<Open>,
    triggers: Triggers<'a>,
    /// The state of the error control, for checkpoints.
    pub control: Option<Memory>,
    /// The share of the step size after failed steps, for checkpoints.
    pub shrink: f64,
    /// The residuals of a steady run, for checkpoints.
    pub steady: Option<Progress>,
    settled: Option<Settled>,
    /// The counters of the time loop, for checkpoints.
    pub tally: Tally,
    /// The counts of the parts of the run before this one.
    before: Counts,
    /// The step whose fields [`Self::new_fields`] has announced.
    asked: Option<u64>,
    last: Values,
    not_finite: NotFinite,
    spent: Duration,
}

/// The stage of the run at which results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before the first step.
    Start,
    /// Within a step that has been done, at a time that [`Outputs::next_time`] returned.
    Between,
    /// After a step.
    Step,
    /// After the last step.
    End,
}

impl<'a> Outputs<'a> {
    /// Opens the results; the results of a continued run continue at `now`. Collective.
    ///
    /// # Errors
    /// Errors of the file system, or results of another program.
    pub fn open(
        plan: &'a Plan,
        directory: Directory,
        solver: &Flow,
        now: TimePoint,
    ) -> Result<Self, RunError> {
        let saved = plan.restart.as_ref().map(|(_, saved)| saved);
        let triggers =
            Triggers::new(&plan.conditions, saved.and_then(|saved| saved.section(triggers::SECTION)));
        let not_finite = NotFinite::default();
        let open = |output: &OutputPlan| -> Result<Open, RunError> {
            let writer = (output.output.open)(&Opening {
                directory: directory.clone(),
                shared: &plan.outline.directory,
                fields: &plan.fields,
                setup: &plan.setup,
                mesh_digest: plan.outline.mesh_digest,
                now,
                saved,
                continues: plan.outline.former == Former::Continue,
                from: output.from,
                begun: triggers.begun(output.from, now),
                not_finite: not_finite.clone(),
            })?;
            Ok(Open { kind: output.kind, from: output.from, writer, newest: None })
        };
        Ok(Self {
            monitors: monitors::open(plan, &directory, solver, now)?,
            outputs: plan.outputs.iter().map(open).collect::<Result<_, _>>()?,
            triggers,
            control: None,
            shrink: 1.0,
            steady: None,
            settled: plan
                .time
                .steady
                .and_then(|steady| steady.forces)
                .map(|forces| Settled::new(forces.tolerance, forces.rows)),
            tally: Tally::default(),
            before: Counts::continued(saved.and_then(|saved| saved.section(counts::SECTION)), now.step),
            asked: None,
            last: Values::default(),
            not_finite,
            spent: Duration::ZERO,
            plan,
            directory,
        })
    }

    /// Returns the times that the run must land on.
    ///
    /// # Errors
    /// Too many times to list.
    pub fn times(plan: &Plan, start: f64) -> Result<Vec<f64>, RunError> {
        let mut times = Vec::new();
        for (_, every) in plan.intervals() {
            times.extend(schedule::times(every, start, plan.time.end)?);
        }
        Ok(times)
    }

    /// Returns the first time of outputs that are at intervals of time, of those that are not bound to the
    /// ends of steps as checkpoints are.
    pub fn next_time(&mut self) -> Option<f64> {
        let free = self.outputs.iter_mut().filter(|open| !open.kind.after_all);
        let outputs = free.filter_map(|open| open.writer.schedule().next_time());
        outputs.chain(self.monitors.iter().filter_map(Recorder::next_time)).min_by(f64::total_cmp)
    }

    /// Returns the number of steps that can be done after `now` before anything may be due by its number of
    /// steps. Output at given times is landed on.
    pub fn steps_left(&mut self, now: TimePoint, local: bool) -> u64 {
        let outputs = self.outputs.iter_mut().map(|open| open.writer.schedule().steps_left(now, local));
        let monitors = self.monitors.iter().map(|monitor| monitor.steps_left(now, local));
        outputs.chain(monitors).chain([self.triggers.steps_left()]).min().unwrap_or(u64::MAX)
    }

    /// Writes everything that is due.
    ///
    /// # Errors
    /// The errors of the solver and of the file system.
    pub fn write(&mut self, solver: &mut Flow, now: TimePoint, moment: Moment) -> Result<(), RunError> {
        let start = Instant::now();
        let result = self.write_due(solver, now, moment);
        self.spent += start.elapsed();
        result
    }

    fn write_due(&mut self, solver: &mut Flow, now: TimePoint, moment: Moment) -> Result<(), RunError> {
        let mut failures = Failures { several: self.plan.setup.comm.size() > 1, first: None };
        // The same on all ranks.
        let due = self.write_each(solver, now, moment, &mut failures)?;
        match failures {
            Failures { several: true, first } if due => match solver.any(first.is_some()) {
                Ok(false) => Ok(()),
                Ok(true) => Err(first.unwrap_or_else(|| WriterError::Elsewhere.into())),
                Err(lost) => Err(first.unwrap_or_else(|| lost.into())),
            },
            _ => Ok(()),
        }
    }

    /// Writes everything that is due and returns whether that was anything.
    fn write_each(
        &mut self,
        solver: &mut Flow,
        now: TimePoint,
        moment: Moment,
        failures: &mut Failures,
    ) -> Result<bool, RunError> {
        let outside = matches!(moment, Moment::Start | Moment::End);
        let between = moment == Moment::Between;
        let mut any = outside;
        // A continued run already has the row and the file of its start.
        let always = moment == Moment::End || (moment == Moment::Start && self.plan.restart.is_none());
        let first = moment == Moment::Start && self.plan.restart.is_none();
        // Tables that go on have the row of the start, if it was due.
        let goes_on = self.plan.outline.former == Former::Continue;
        let rows = moment == Moment::End || (moment == Moment::Start && !goes_on);
        for (i, monitor) in self.monitors.iter_mut().enumerate() {
            let due = if between { monitor.due_between(now) } else { monitor.due(now) };
            let due = due && !outside || first;
            if (due || rows) && self.triggers.begun(monitor.from, now) {
                any = true;
                let row = monitor.record(solver, now, &mut self.last, &self.not_finite);
                if due {
                    // Also on ranks without the values, and if the row could not be written.
                    self.triggers.note(i, row.as_deref().unwrap_or_default());
                }
                if let (Some(settled), Ok(values)) = (&mut self.settled, &row)
                    && self.plan.monitors[i].monitor.has_forces()
                    && !outside
                {
                    settled.note(i, values);
                }
                failures.keep(row.map(|_| ()))?;
            }
        }
        let root = self.plan.setup.comm.rank() == 0;
        self.triggers.evaluate(now, |holds| solver.any(root && holds))?;
        // What begins with this step; a continued run already has it.
        let may_begin = first || !outside;
        for monitor in &mut self.monitors {
            if may_begin && self.triggers.begins(monitor.from, now) {
                any = true;
                let row = monitor.record(solver, now, &mut self.last, &self.not_finite);
                failures.keep(row.map(|_| ()))?;
            }
            if moment == Moment::End && self.triggers.begun(monitor.from, now) {
                let local = self.plan.time.steady.is_some_and(|steady| steady.local_steps);
                failures.keep(monitor.finish(&mut self.last, &self.triggers, local))?;
            }
        }
        for i in 0..self.outputs.len() {
            let Open { kind, from, newest, .. } = self.outputs[i];
            if between && kind.after_all {
                continue;
            }
            let at = At {
                now,
                between,
                end: moment == Moment::End,
                always,
                begun: self.triggers.begun(from, now),
                begins: may_begin && self.triggers.begins(from, now),
            };
            let wanted = self.outputs[i].writer.wanted(&at);
            if between && !wanted {
                // What has not begun does not ask whether it is due.
                self.outputs[i].writer.schedule().due_between(now);
            }
            if !wanted || kind.writes_files && newest == Some((now.step, now.t)) {
                continue;
            }
            any |= kind.writes_files;
            let mut stored = Kept::default();
            if kind.after_all {
                // A continued run does not write again what was due up to here: without it there is no
                // checkpoint.
                failures.keep(self.flush(false))?;
                if failures.several && solver.any(failures.first.is_some())? {
                    continue;
                }
                stored = self.kept(solver);
            }
            let open = &mut self.outputs[i];
            failures.keep(open.writer.write(solver, &at, stored))?;
            open.newest = Some((now.step, now.t));
        }
        if moment == Moment::End {
            let triggers = self.triggers.summary();
            if !triggers.is_empty() {
                self.last.put(&["triggers"], triggers);
            }
            failures.keep(self.flush(true))?;
        }
        Ok(any)
    }

    /// Waits until all files are on the disk.
    fn flush(&mut self, last: bool) -> Result<(), MonitorError> {
        self.outputs.iter_mut().try_for_each(|open| open.writer.flush(last))
    }

    /// Waits until all fields are on the disk if those of `now` were written by the last call of
    /// [`write`](Self::write) for the first time, and returns whether they were.
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn new_fields(&mut self, now: TimePoint) -> Result<bool, RunError> {
        let fields = self.outputs.iter().find(|open| open.kind.name == fields::OUTPUT.name);
        let newest = fields.and_then(|open| open.newest);
        if newest.is_none_or(|(step, _)| step != now.step) || self.asked == Some(now.step) {
            return Ok(false);
        }
        self.asked = Some(now.step);
        self.flush(false)?;
        Ok(true)
    }

    /// Returns the counts of all parts of the run.
    pub fn counts(&self, solver: &Flow) -> Counts {
        self.before.and(&self.tally, solver.solves())
    }

    /// What checkpoints store beside the solution.
    fn kept(&self, solver: &Flow) -> Kept {
        let (averages, averaged): (Vec<_>, Vec<_>) =
            self.outputs.iter().filter_map(|open| open.writer.sums()).unzip();
        let sections = self.control.iter().map(sections::of_control).chain(sections::of_share(self.shrink));
        let sections = sections.chain(self.steady.iter().map(sections::of_steady));
        let sections = sections.chain(self.triggers.section()).chain(averaged);
        let sections = sections.chain([self.counts(solver).section()]).collect();
        Kept { averages: averages.concat(), sections }
    }

    /// Whether the forces of a steady run have settled, if that is asked for. Collective.
    ///
    /// # Errors
    /// The loss of another rank.
    pub fn forces_have_settled(&self, solver: &Flow) -> Result<bool, RunError> {
        let Some(settled) = &self.settled else { return Ok(false) };
        let forces = |plan: &&MonitorPlan| plan.monitor.has_forces();
        let root = self.plan.setup.comm.rank() == ROOT;
        Ok(solver.any(root && settled.holds(self.plan.monitors.iter().filter(forces).count()))?)
    }

    /// Writes the state of a failed run and returns the path.
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn write_failed(&self, solver: &Flow, now: TimePoint) -> Result<PathBuf, RunError> {
        let path = self.directory.failed();
        let order = sampled::lattice_order(self.plan.setup.order, self.plan.setup.mesh.max_order());
        let fields = &self.plan.fields.fields;
        sampled::write_failed(solver, now.t, order, fields, &path, &VtuOptions::default())?;
        Ok(path)
    }

    /// Writes where the flow of a run is not steady, and returns the path; `None` without Newton steps, and
    /// on ranks other than the first. Collective.
    ///
    /// # Errors
    /// The errors of the solver and of the file system.
    pub fn write_rates(&self, solver: &mut Flow) -> Result<Option<PathBuf>, RunError> {
        let order = sampled::lattice_order(self.plan.setup.order, self.plan.setup.mesh.max_order());
        let Some(sets) = solver.relative_rates(order)? else { return Ok(None) };
        if self.plan.setup.comm.rank() != ROOT {
            return Ok(None);
        }
        let path = self.directory.residual();
        sampled::write_rates(sets, &solver.variables(), order, &path)?;
        Ok(Some(path))
    }

    /// Returns the newest checkpoint of this run, or of the run that it continues.
    pub fn latest_checkpoint(&self) -> Option<&PathBuf> {
        self.outputs.iter().find_map(|open| open.writer.latest())
    }

    /// Returns the list of values of monitors and fields that were not finite.
    pub fn not_finite(&self) -> &NotFinite {
        &self.not_finite
    }

    /// Returns what outputs have to say, once.
    pub fn news(&mut self) -> Vec<String> {
        self.outputs.iter_mut().filter_map(|open| open.writer.news()).collect()
    }

    /// Returns the triggers.
    pub fn triggers(&mut self) -> &mut Triggers<'a> {
        &mut self.triggers
    }

    /// Returns the last values of the monitors.
    pub fn last(&self) -> &Values {
        &self.last
    }

    /// Returns the time that the run waited for results; field files are written while it continues.
    pub fn spent(&self) -> Duration {
        self.spent
    }
}
