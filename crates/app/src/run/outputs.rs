//! Everything that a run writes as it proceeds: fields, tables of monitors, checkpoints.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dgsuite_timeint::{Memory, Progress, TimePoint};

use super::averages::Averages;
use super::counts::{self, Counts, Tally};
use super::error::RunError;
use super::fields;
use super::monitors::{self, Recorder};
use super::pieces::Pieces;
use super::schedule::{self, Schedule};
use super::sections;
use super::shared;
use super::surfaces;
use super::triggers::{self, Triggers};
use crate::directory::{CHECKPOINTS, Directory, Former};
use crate::monitors::not_finite::NotFinite;
use crate::monitors::{MonitorPlan, Values};
use crate::plan::fields::OutputField;
use crate::plan::{Plan, SurfacesPlan};
use dgsuite_output::checkpoint::{self, Checkpoint};
use dgsuite_output::writer::background::BackgroundSeries;
use dgsuite_output::writer::pvd::Series;
use dgsuite_solve::ROOT;
use dgsuite_solve::flow::Flow;
use dgsuite_solve::post::settled::Settled;

use dgsuite_output::writer::{Format, VtuOptions, WriterError};

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

/// The fields of a run.
enum FieldSeries {
    /// Of all elements on rank 0, written while the run continues.
    Gathered(BackgroundSeries),
    /// Of several ranks, which write together.
    Ranked(Pieces),
}

/// The open results of a run.
pub struct Outputs<'a> {
    plan: &'a Plan,
    directory: Directory,
    lattice_order: usize,
    series: Option<(FieldSeries, Schedule)>,
    monitors: Vec<Recorder<'a>>,
    surfaces: Option<(&'a SurfacesPlan, BackgroundSeries, Schedule)>,
    newest_surfaces: Option<u64>,
    averages: Option<Averages<'a>>,
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
    checkpoints: Option<Schedule>,
    written: Vec<PathBuf>,
    /// The steps whose fields and whose checkpoint were written last.
    newest_fields: Option<u64>,
    newest_checkpoint: Option<u64>,
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
    /// After a step.
    Step,
    /// After the last step.
    End,
}

impl<'a> Outputs<'a> {
    /// Opens the results; the results of a continued run continue at `now`.
    ///
    /// # Errors
    /// Errors of the file system, or results of another program.
    pub fn open(plan: &'a Plan, directory: Directory, now: TimePoint) -> Result<Self, RunError> {
        let open = |path: PathBuf, wanted: &[OutputField]| -> Result<BackgroundSeries, RunError> {
            let (format, options) = (plan.fields.format, fields::options(&plan.fields));
            let at_points = wanted.iter().filter(|field| field.of_element.is_none());
            let names: Vec<&str> = at_points.map(|field| field.name.as_str()).collect();
            let series = match plan.restart {
                Some(_) => format.resume(&path, now.t, &names, &options)?,
                None => format.create(&path)?,
            };
            Ok(BackgroundSeries::new(series, options)?)
        };
        let comm = &plan.setup.comm;
        let fields = || -> Result<FieldSeries, RunError> {
            // Rank 0 gathers what one file of all times needs.
            if comm.size() == 1 || plan.fields.format != Format::Vtu {
                return Ok(FieldSeries::Gathered(open(directory.fields(), &plan.fields.fields)?));
            }
            // All ranks write into the directory of rank 0.
            let path = plan.outline.directory.join("fields.pvd");
            let series = match (comm.rank(), &plan.restart) {
                (ROOT, Some(_)) => Some(Series::resume(&path, now.t)?),
                (ROOT, None) => Some(Series::create(&path)?),
                _ => None,
            };
            let options = fields::options(&plan.fields);
            Ok(FieldSeries::Ranked(Pieces::new(Arc::clone(comm), path, series, options)))
        };
        let series = match plan.fields.every {
            Some(every) => Some((fields()?, Schedule::new(every, now))),
            None => None,
        };
        let lattice_order = fields::lattice_order(plan.setup.order, plan.setup.mesh.max_order());
        let saved = plan.restart.as_ref().map(|(_, saved)| saved);
        let triggers =
            Triggers::new(&plan.conditions, saved.and_then(|saved| saved.section(triggers::SECTION)));
        let averages = plan.averages.as_ref().map(|averages| {
            let begun = triggers.begun(averages.from, now);
            Averages::new(averages, lattice_order, now, saved, begun)
        });
        Ok(Self {
            monitors: monitors::open(plan, &directory, now)?,
            surfaces: match &plan.surfaces {
                Some(surfaces) => {
                    let series = open(directory.surfaces(), &surfaces.fields)?;
                    Some((surfaces, series, Schedule::new(surfaces.every, now)))
                }
                None => None,
            },
            triggers,
            newest_surfaces: None,
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
            averages,
            checkpoints: plan.checkpoint.map(|c| Schedule::new(c.every, now)),
            written: match plan.outline.former {
                Former::Continue if comm.rank() == ROOT => {
                    checkpoint::present(&directory.checkpoints(), now.step)?
                }
                _ => Vec::new(),
            },
            newest_fields: None,
            asked: None,
            newest_checkpoint: None,
            last: Values::default(),
            not_finite: NotFinite::default(),
            spent: Duration::ZERO,
            plan,
            directory,
            lattice_order,
            series,
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

    /// Returns the number of steps that can be done after `now` before anything may be due by its number of
    /// steps. Output at given times is landed on.
    pub fn steps_left(&self, now: TimePoint, local: bool) -> u64 {
        let fields = self.series.iter().map(|(_, schedule)| schedule.steps_left(now, local));
        let monitors = self.monitors.iter().map(|monitor| monitor.steps_left(now, local));
        let checkpoints = self.checkpoints.iter().map(|schedule| schedule.steps_left(now, local));
        let surfaces = self.surfaces.iter().map(|(_, _, schedule)| schedule.steps_left(now, local));
        let averages = self.averages.iter().map(|averages| averages.steps_left(now, local));
        let all = fields.chain(monitors).chain(checkpoints).chain(surfaces).chain(averages);
        all.chain([self.triggers.steps_left()]).min().unwrap_or(u64::MAX)
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
        let outside = moment != Moment::Step;
        let mut any = outside;
        // A continued run already has the row and the file of its start.
        let always = moment == Moment::End || (moment == Moment::Start && self.plan.restart.is_none());
        let first = moment == Moment::Start && self.plan.restart.is_none();
        // Tables that go on have the row of the start, if it was due.
        let goes_on = self.plan.outline.former == Former::Continue;
        let rows = moment == Moment::End || (moment == Moment::Start && !goes_on);
        for (i, monitor) in self.monitors.iter_mut().enumerate() {
            let due = monitor.due(now) && moment == Moment::Step || first;
            if (due || rows) && self.triggers.begun(monitor.from, now) {
                any = true;
                let row = monitor.record(solver, now, &mut self.last, &self.not_finite);
                if due {
                    // Also on ranks without the values, and if the row could not be written.
                    self.triggers.note(i, row.as_deref().unwrap_or_default());
                }
                if let (Some(settled), Ok(values)) = (&mut self.settled, &row)
                    && self.plan.monitors[i].monitor.has_forces()
                    && moment == Moment::Step
                {
                    settled.note(i, values);
                }
                failures.keep(row.map(|_| ()))?;
            }
        }
        let root = self.plan.setup.comm.rank() == 0;
        self.triggers.evaluate(now, |holds| solver.any(root && holds))?;
        // What begins with this step; a continued run already has it.
        let begins = |begin| (first || moment == Moment::Step) && self.triggers.begins(begin, now);
        for monitor in &mut self.monitors {
            if begins(monitor.from) {
                any = true;
                let row = monitor.record(solver, now, &mut self.last, &self.not_finite);
                failures.keep(row.map(|_| ()))?;
            }
            if moment == Moment::End && self.triggers.begun(monitor.from, now) {
                let local = self.plan.time.steady.is_some_and(|steady| steady.local_steps);
                failures.keep(monitor.finish(&mut self.last, &self.triggers, local))?;
            }
        }
        let wanted = |due: bool, begin| {
            let begun = self.triggers.begun(begin, now);
            begins(begin) || (due || always) && begun || moment == Moment::End
        };
        if let Some((series, schedule)) = &mut self.series
            && wanted(schedule.due(now), self.plan.fields.from)
            && self.newest_fields != Some(now.step)
        {
            let (order, wanted) = (self.lattice_order, &self.plan.fields.fields);
            let not_finite = self.not_finite.clone();
            any = true;
            failures.keep(match series {
                FieldSeries::Gathered(series) => {
                    let make = match fields::sample_later(solver, now.t, order, wanted) {
                        Some(make) => make,
                        None => {
                            let sampled = fields::sample(solver, now.t, order, wanted, false);
                            Box::new(move || Ok(sampled))
                        }
                    };
                    let looked = move || make().inspect(|fields| not_finite.look_at_fields(fields));
                    series.write_made(Box::new(looked)).map_err(RunError::from)
                }
                FieldSeries::Ranked(pieces) => {
                    let own = fields::sample_own(solver, now.t, order, wanted);
                    pieces.write(&own, &not_finite)
                }
            })?;
            self.newest_fields = Some(now.step);
        }
        if let Some((surfaces, series, schedule)) = &mut self.surfaces
            && wanted(schedule.due(now), surfaces.from)
            && self.newest_surfaces != Some(now.step)
        {
            let (mesh, not_finite) = (Arc::clone(self.plan.setup.mesh.seen()), self.not_finite.clone());
            any = true;
            failures.keep(
                match fields::sample_later(solver, now.t, self.lattice_order, &surfaces.fields) {
                    Some(make) => {
                        let boundaries = surfaces.boundaries.clone();
                        let faces = move || {
                            let faces = surfaces::restrict(&make()?, &mesh, &boundaries);
                            not_finite.look_at_fields(&faces);
                            Ok(faces)
                        };
                        series.write_made(Box::new(faces))
                    }
                    None => {
                        let volume =
                            fields::sample(solver, now.t, self.lattice_order, &surfaces.fields, false);
                        let faces = surfaces::restrict(&volume, &mesh, &surfaces.boundaries);
                        not_finite.look_at_fields(&faces);
                        series.write(faces)
                    }
                },
            )?;
            self.newest_surfaces = Some(now.step);
        }
        if let Some(averages) = &mut self.averages {
            if self.triggers.begun(averages.from(), now) {
                averages.record(solver, now);
            }
            if moment == Moment::End {
                let options = fields::options(&self.plan.fields);
                failures.keep(averages.write(solver, now.t, &self.directory.averages(), &options))?;
            }
        }
        if let Some(schedule) = &mut self.checkpoints
            && (schedule.due(now) || moment == Moment::End)
            && self.newest_checkpoint != Some(now.step)
        {
            any = true;
            // A continued run does not write again what was due up to here: without it there is no
            // checkpoint.
            let written = self.background().try_for_each(BackgroundSeries::flush);
            failures.keep(written)?;
            let complete = !failures.several || !solver.any(failures.first.is_some())?;
            if complete {
                failures.keep(self.write_checkpoint(solver, now))?;
                self.newest_checkpoint = Some(now.step);
            }
        }
        if moment == Moment::End {
            let triggers = self.triggers.summary();
            if !triggers.is_empty() {
                self.last.put(&["triggers"], triggers);
            }
            failures.keep(self.background().try_for_each(BackgroundSeries::finish))?;
        }
        Ok(any)
    }

    /// The series that threads write.
    fn background(&mut self) -> impl Iterator<Item = &mut BackgroundSeries> {
        let series = self.series.iter_mut().filter_map(|(series, _)| match series {
            FieldSeries::Gathered(series) => Some(series),
            FieldSeries::Ranked(_) => None,
        });
        series.chain(self.surfaces.iter_mut().map(|(_, series, _)| series))
    }

    /// Waits until all fields are on the disk if those of `now` were written by the last call of
    /// [`write`](Self::write) for the first time, and returns whether they were.
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn new_fields(&mut self, now: TimePoint) -> Result<bool, RunError> {
        if self.newest_fields != Some(now.step) || self.asked == Some(now.step) {
            return Ok(false);
        }
        self.asked = Some(now.step);
        self.background().try_for_each(BackgroundSeries::flush)?;
        Ok(true)
    }

    /// Returns the counts of all parts of the run.
    pub fn counts(&self, solver: &Flow) -> Counts {
        self.before.and(&self.tally, solver.solves())
    }

    fn write_checkpoint(&mut self, solver: &Flow, now: TimePoint) -> Result<(), RunError> {
        let averages = self.averages.as_ref().map_or_else(Vec::new, Averages::save);
        let sections = self.control.iter().map(sections::of_control).chain(sections::of_share(self.shrink));
        let sections = sections.chain(self.steady.iter().map(sections::of_steady));
        let averaged = self.averages.iter().filter(|_| !averages.is_empty()).map(Averages::section);
        let counts = self.counts(solver).section();
        let sections = sections.chain(self.triggers.section()).chain(averaged).chain([counts]).collect();
        let state = solver.save_own();
        let saved = Checkpoint { now, state, averages, sections };
        let mesh = self.plan.outline.mesh_digest;
        let path = match solver.own_ranges() {
            None => Some(checkpoint::write(&self.directory.checkpoints(), &saved, mesh)?),
            Some(ranges) => {
                // All ranks write into the directory of rank 0.
                let directory = self.plan.outline.directory.join(CHECKPOINTS);
                shared::write(self.plan.setup.comm.as_ref(), &directory, &saved, &ranges, mesh)?
            }
        };
        if let (Some(path), Some(spec)) = (path, self.plan.checkpoint) {
            checkpoint::prune(&mut self.written, path, spec.keep)?;
        }
        Ok(())
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
        let fields = &self.plan.fields.fields;
        fields::write_failed(solver, now.t, self.lattice_order, fields, &path, &VtuOptions::default())?;
        Ok(path)
    }

    /// Returns the newest checkpoint of this run, or of the run that it continues.
    pub fn latest_checkpoint(&self) -> Option<&PathBuf> {
        self.written.last()
    }

    /// Returns the list of values of monitors and fields that were not finite.
    pub fn not_finite(&self) -> &NotFinite {
        &self.not_finite
    }

    /// Returns what is to be said about the means of a checkpoint, once.
    pub fn news_of_averages(&mut self) -> Option<String> {
        self.averages.as_mut().and_then(Averages::news)
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
