//! The time loop: steps to the final time, to a number of steps, or to a steady state.

mod adaptive;
mod ahead;
mod ask;
mod entering;
mod pace;
mod retry;

use std::io;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::communication::{Communication, so_far};
use dgsuite_timeint::{
    Adaptive, Controller, Patience, Progress, Schedule, Steady, StepSize, TimePoint, Tolerance, Verdict,
    same_time,
};

use super::counts::Tally;
use super::error::{RunError, Stagnant};
use super::log::{Log, clock};
use super::outputs::{Moment, Outputs};
use super::sections;
use crate::pipeline::time::SteadySpec;
use crate::plan::Plan;
use dgsuite_output::writer::WriterError;
use dgsuite_solve::flow::{BoundaryKind, Flow, Taken, Trail};
use dgsuite_solve::post::{Surface, slow_outflow};
use dgsuite_solve::{ROOT, SystemError};

/// Newton steps smaller than this multiple of the explicit step that are rejected end the run.
const LEAST_CFL: f64 = 1e-3;

/// Steps between two evaluations of the residual in a steady run: each costs a right-hand side.
const RESIDUAL_INTERVAL: u64 = 10;

/// A residual up to this multiple of the effect of rounding the state once may be nothing but rounding: the
/// sums of a right-hand side are rounded as well, and so are the metric terms (most visible for a free stream
/// on curved elements).
const ROUNDINGS: f64 = 30.0;

/// The least time between two residuals for the progress bar.
const BAR_RESIDUAL_INTERVAL: Duration = Duration::from_secs(2);

/// A run in progress.
pub struct March<'a> {
    plan: &'a Plan,
    solver: &'a mut Flow,
    log: &'a mut Log,
    controller: Controller,
    /// Step control by an estimate of the error, if chosen.
    adaptive: Option<Adaptive>,
    /// Whether the states at faces are admissible, as far as steps by error know.
    faces: bool,
    /// Number of steps with local step sizes, which have no common time.
    local: u64,
    /// The stable step of the current state at CFL number one.
    limit: f64,
    dofs: usize,
    started: Instant,
    drawn: Instant,
    measured: Option<Instant>,
    residual: Option<f64>,
    dt: f64,
    /// The share of its size that a step has after failures; grows back to 1.
    shrink: f64,
    /// Where the steps began that tell how fast the run gets on.
    paced: TimePoint,
    /// Number of steps that must be checked one by one.
    careful: u64,
    /// The step of the states at boundaries at CFL number one, if they do not depend on time.
    entering: Option<f64>,
    /// The residuals of the initial state, where steps of lower orders have changed it.
    pub(crate) first: Option<Vec<f64>>,
    /// The last steps before the current state.
    pub(crate) trail: Trail,
    /// The counters.
    pub tally: Tally,
}

impl<'a> March<'a> {
    /// Starts a run at its initial time, or at the time of its checkpoint.
    ///
    /// # Errors
    /// Times that are impossible.
    pub fn new(
        plan: &'a Plan,
        solver: &'a mut Flow,
        log: &'a mut Log,
        dofs: usize,
    ) -> Result<Self, RunError> {
        // A steady run ends by its residual; the controller only counts steps and time.
        let most = plan.time.steps.or(plan.time.steady.map(|s| s.max_steps));
        let restart = plan.restart.as_ref().map(|(_, saved)| saved.now);
        let multistep = plan.is_multistep();
        // A multistep scheme interpolates between its steps.
        let events = match multistep {
            true => Vec::new(),
            false => Outputs::times(plan, restart.map_or(0.0, |now| now.t))?,
        };
        let steps = most.map(|n| n as u64);
        let schedule = Schedule { start: 0.0, end: plan.time.end, steps, events };
        let mut controller = Controller::new(&schedule, plan.time.step)?;
        if multistep {
            controller = controller.smooth();
        }
        if let Some(now) = restart {
            controller.resume(now);
        }
        let (now, paced) = (Instant::now(), controller.now());
        Ok(Self {
            plan,
            solver,
            log,
            controller,
            adaptive: None,
            faces: true,
            local: 0,
            limit: 0.0,
            dofs,
            started: now,
            drawn: now,
            measured: None,
            residual: None,
            dt: 0.0,
            shrink: retry::shrink(plan),
            paced,
            careful: 0,
            entering: None,
            first: None,
            trail: Trail::default(),
            tally: Tally::default(),
        })
    }

    /// Returns the time and step of the run. With local steps the number of steps replaces the time.
    pub fn now(&self) -> TimePoint {
        let now = self.controller.now();
        match self.local {
            0 => now,
            n => TimePoint { t: now.t + n as f64, low: 0.0, step: now.step + n },
        }
    }

    /// Runs to the end and writes results when they are due.
    ///
    /// # Errors
    /// A solution that is no longer finite, a result that cannot be written, no steady state.
    pub fn run(&mut self, outputs: &mut Outputs<'_>) -> Result<(), RunError> {
        self.limit = self.solver.stable_dt()?;
        self.plan.fits_a_step(self.now().t, self.limit)?;
        self.begin_adaptive()?;
        self.write(outputs, Moment::Start)?;
        self.log.start_bar();
        self.started = Instant::now();
        let before = so_far(Some(&self.plan.setup.comm));
        let result = match self.plan.time.steady {
            Some(steady) => self.run_steady(steady, outputs),
            None => self.run_unsteady(outputs),
        };
        self.log.stop_bar();
        let result = result.map_err(|error| self.with_fastest(error));
        // A run that did not reach a steady state still has a valid state.
        if matches!(result, Ok(()) | Err(RunError::NotSteady { .. })) {
            let sent = Communication::since(before, Some(&self.plan.setup.comm));
            if let (Some(dt), Some(_)) = (self.tally.dt_max, self.plan.setup.implicit) {
                self.tally.explicit_steps = Some(dt / self.solver.explicit_dt()?);
            }
            self.tally.communication = sent.map_err(|lost| SystemError::Ops(lost.into()))?;
            self.write(outputs, Moment::End)?;
            self.warn_of_slow_outflows()?;
        }
        result
    }

    fn run_unsteady(&mut self, outputs: &mut Outputs<'_>) -> Result<(), RunError> {
        while self.run_ahead(outputs.steps_left(self.now(), false))? || self.step()? {
            self.write(outputs, Moment::Step)?;
            self.draw(None)?;
            if self.stops()? {
                break;
            }
            self.gets_on()?;
        }
        Ok(())
    }

    /// Writes results that are due, and warns of values that are not finite.
    fn write(&mut self, outputs: &mut Outputs<'_>, moment: Moment) -> Result<(), RunError> {
        if moment == Moment::Step && self.plan.is_multistep() {
            self.write_between(outputs)?;
        }
        (outputs.control, outputs.shrink) = (self.memory(), self.shrink);
        outputs.tally = self.tally.clone();
        outputs.write(self.solver, self.now(), moment)?;
        if self.plan.outline.ask {
            self.ask(outputs)?;
        }
        outputs.triggers().news().iter().for_each(|news| self.log.note(news));
        outputs.news().iter().for_each(|warning| self.log.warn(warning));
        outputs.not_finite().take().iter().for_each(|warning| self.log.warn(warning));
        if moment == Moment::End && !self.tally.stopped {
            outputs.triggers().never().iter().for_each(|warning| self.log.warn(warning));
        }
        Ok(())
    }

    /// Writes what was due within the last step, from the interpolant of a multistep scheme.
    fn write_between(&mut self, outputs: &mut Outputs<'_>) -> Result<(), RunError> {
        let TimePoint { t: end, step, .. } = self.now();
        while let Some(t) = outputs.next_time().filter(|&t| t < end && !same_time(t, end)) {
            let then = TimePoint { t, low: 0.0, step };
            self.solver.at_earlier(t, |flow| outputs.write(flow, then, Moment::Between))??;
        }
        Ok(())
    }

    /// Asks whether to go on if fields have been written. Collective.
    fn ask(&mut self, outputs: &mut Outputs<'_>) -> Result<(), RunError> {
        let new = outputs.new_fields(self.now());
        match (self.solver.any(new.is_err())?, new) {
            (true, new) => return Err(new.err().unwrap_or_else(|| WriterError::Elsewhere.into())),
            (false, Ok(true)) if self.plan.setup.comm.rank() == ROOT => {
                let goes_on = ask::goes_on(self.now(), io::stdout(), io::stdin().lock());
                self.plan.outline.stop.fetch_or(!goes_on, Ordering::Relaxed);
            }
            _ => {}
        }
        Ok(())
    }

    /// Warns of each `outflow` of a gas that is not supersonic at the end of the run.
    fn warn_of_slow_outflows(&mut self) -> Result<(), RunError> {
        let setup = self.solver.setup();
        let Some(gas) = setup.law.gas() else { return Ok(()) };
        let outflow = |kind: &BoundaryKind| matches!(kind, BoundaryKind::Outflow);
        let names: Vec<String> =
            setup.boundaries.iter().filter(|(_, kind)| outflow(kind)).map(|(name, _)| name.clone()).collect();
        for name in names {
            let Surface { points, normals, values, .. } = self.solver.surface(&name)?;
            if let Some(slow) = slow_outflow::slowest(gas, &points, &normals, &values) {
                let when = format!("at the end, t = {},", self.now().t);
                self.log.warn(&format!("warning: {}", slow.warning(&name, &when, self.solver.dim())));
            }
        }
        Ok(())
    }

    /// Returns whether a stop was requested.
    fn stops(&mut self) -> Result<bool, RunError> {
        // A signal may reach some ranks only, or at another step.
        self.tally.stopped = self.solver.any(self.plan.outline.stop.load(Ordering::Relaxed))?;
        Ok(self.tally.stopped)
    }

    /// Takes one step; `false` if there is none left.
    fn step(&mut self) -> Result<bool, RunError> {
        if let Some(spec) = self.plan.time.adaptive {
            return self.attempt(spec);
        }
        let start = Instant::now();
        let mut retries = 0;
        let dt = loop {
            let wanted = self.shrink * self.solver.next_size(self.present_step()).min(self.entering_step());
            let Some(step) = self.controller.plan_size(wanted, self.limit)? else { return Ok(false) };
            let (t, before) = (self.solver.time(), self.controller.now());
            self.solver.note(&mut self.trail, Taken::Step { t, dt: step.dt });
            if let Err(error) = self.solver.step(step.dt) {
                self.retry_unsolved(error, step.dt / wanted, &mut retries)?;
                continue;
            }
            // A step that lands on a time ends at exactly this time.
            self.solver.set_time(step.t_next);
            self.controller.accept(&step);
            // This finds an invalid state, and comes before anything of the new state is written.
            match self.solver.stable_dt() {
                Ok(limit) => {
                    self.limit = limit;
                    break step.dt;
                }
                Err(error) => self.retry(error, before, step.dt / wanted, &mut retries)?,
            }
        };
        self.recover();
        self.tally.spent += start.elapsed();
        self.count(dt);
        self.careful = self.careful.saturating_sub(1);
        Ok(true)
    }

    /// Counts a step of size `dt`.
    fn count(&mut self, dt: f64) {
        self.dt = dt;
        self.tally.steps += 1;
        self.tally.dt_max = Some(self.tally.dt_max.map_or(dt, |most| most.max(dt)));
        self.tally.dt_min = Some(self.tally.dt_min.map_or(dt, |least| least.min(dt)));
    }

    fn run_steady(&mut self, spec: SteadySpec, outputs: &mut Outputs<'_>) -> Result<(), RunError> {
        let n = self.solver.variables().len();
        let mut floor = self.solver.rounding()?.unwrap_or_else(|| vec![0.0; n]);
        floor.iter_mut().for_each(|x| *x *= ROUNDINGS);
        let tolerance = Tolerance::Largest(spec.tolerance);
        // Sound waves between body and far field keep residuals high for a long time, so the number of steps
        // without progress that is allowed grows with the number of allowed steps. The time of slower
        // processes is computed when that number is reached.
        let steps = Patience::default().steps.max((spec.max_steps / 4) as u64);
        let patience = Patience { steps, ..Patience::default() };
        let mut steady = Steady::new(tolerance, patience).rounding(floor);
        // Residuals are relative to those of the whole run, not of its last part.
        let saved = self.plan.restart.as_ref().map(|(_, saved)| saved);
        if let Some(progress) = saved.and_then(|saved| sections::steady(saved, self.solver.variables().len()))
        {
            steady = steady.resume(progress);
            // For the checkpoint of a run that has no step to take.
            outputs.steady = steady.progress();
        }
        if let Some(reference) = self.first.take() {
            steady = steady.resume(Progress { reference, best: f64::INFINITY, since: self.now().step });
        }
        let mut ratio = 1.0;
        let mut mean = Vec::new();
        loop {
            let step = self.now().step;
            let looks = spec.newton || step.is_multiple_of(RESIDUAL_INTERVAL);
            if looks && spec.local_steps && !spec.newton && self.solver.keep_mass()? {
                self.limit = self.solver.stable_dt()?;
                self.trail.lose();
            }
            if looks || step >= spec.max_steps as u64 {
                let residual = self.solver.residual()?;
                let verdict = match looks {
                    true => steady.observe(step, &residual),
                    // A run that goes on from here does not know that it was looked at.
                    false => steady.clone().observe(step, &residual),
                };
                ratio = match verdict {
                    Verdict::Continue { ratio } => ratio,
                    Verdict::Rounding { ratio } => {
                        self.tally.ratio = Some(ratio);
                        self.log.note(&format!(
                            "the residual has reached rounding level at {ratio:.3e} of its largest value"
                        ));
                        return Ok(());
                    }
                    Verdict::Converged { ratio } => {
                        self.tally.ratio = Some(ratio);
                        return Ok(());
                    }
                    Verdict::Stagnated { best, since } => {
                        let (slowest, dt) = (self.solver.slowest_time(), self.present_step());
                        // Casts saturate.
                        let needed = slowest.map_or(0, |time| (time / dt).ceil() as u64);
                        if step - since >= needed {
                            let steps = step - since;
                            let time = (!spec.local_steps).then_some(steps as f64 * dt);
                            let stagnant = Some(Stagnant { steps, time, slowest });
                            return Err(self.not_steady(spec, best, stagnant));
                        }
                        steady.wait(needed);
                        ratio
                    }
                    // The state is still valid but its rate is not; the next step finds the element.
                    Verdict::Diverged { .. } => f64::NAN,
                };
                self.tally.ratio = Some(ratio);
            }
            if step >= spec.max_steps as u64 {
                return Err(self.not_steady(spec, ratio, None));
            }
            if let (Some(width), true) = (spec.damping, step.is_multiple_of(RESIDUAL_INTERVAL)) {
                self.solver.damp(&mut mean, width, RESIDUAL_INTERVAL)?;
                self.limit = self.solver.stable_dt()?;
                self.trail.lose();
            }
            let residual = RESIDUAL_INTERVAL - step % RESIDUAL_INTERVAL;
            let due = outputs.steps_left(self.now(), spec.local_steps);
            let most = due.min(residual).min(spec.max_steps as u64 - step);
            if spec.newton {
                self.step_by_newton(spec, ratio)?;
            } else if spec.local_steps {
                if !self.run_locally_ahead(most)? {
                    self.step_locally()?;
                }
            } else if !self.run_ahead(most)? {
                self.step()?;
            }
            outputs.steady = steady.progress();
            self.write(outputs, Moment::Step)?;
            if let Some(forces) = spec.forces
                && outputs.forces_have_settled(self.solver)?
            {
                self.log.note(&format!(
                    "the forces have settled: drag and lift stay within {:e} of their size over {} rows",
                    forces.tolerance, forces.rows
                ));
                return Ok(());
            }
            self.draw(Some((ratio, spec)))?;
            if self.stops()? {
                return Ok(());
            }
        }
    }

    fn step_locally(&mut self) -> Result<(), RunError> {
        let start = Instant::now();
        let mut retries = 0;
        loop {
            let cfl = self.shrink * self.local_cfl();
            self.solver.note(&mut self.trail, Taken::Local { cfl });
            self.solver.step_local(cfl)?;
            match self.solver.stable_dt() {
                Ok(limit) => {
                    self.limit = limit;
                    break;
                }
                Err(error) => self.retry_locally(error, &mut retries)?,
            }
        }
        self.recover();
        self.local += 1;
        self.tally.steps += 1;
        self.tally.spent += start.elapsed();
        self.careful = self.careful.saturating_sub(1);
        Ok(())
    }

    /// Takes a Newton step and reports it.
    fn step_by_newton(&mut self, spec: SteadySpec, ratio: f64) -> Result<(), RunError> {
        let start = Instant::now();
        let step = self.solver.newton_step()?;
        self.limit = self.solver.stable_dt()?;
        self.local += 1;
        self.tally.steps += 1;
        self.tally.spent += start.elapsed();
        self.tally.newton.push((self.now().step, ratio, step));
        let taken = match step.share {
            0.0 => "rejected".to_owned(),
            1.0 => "whole step".to_owned(),
            share => format!("{share:.3} of the step"),
        };
        self.log.note(&format!(
            "Newton step {}: residual {ratio:.2e} before, CFL {:.1e}, {} linear iterations, {taken}",
            self.now().step,
            step.cfl,
            step.iterations
        ));
        // Steps that are rejected again and again become explicit ones, and these find no state either.
        if step.share == 0.0 && step.cfl < LEAST_CFL {
            return Err(self.not_steady(spec, ratio, None));
        }
        Ok(())
    }

    /// Returns the multiple of its own stable step that each element takes with local steps.
    fn local_cfl(&self) -> f64 {
        match self.plan.time.step {
            StepSize::Cfl(cfl) | StepSize::Fixed(cfl) => cfl,
        }
    }

    /// Returns the size of a step from the current state; with local steps the size of the smallest one.
    fn present_step(&self) -> f64 {
        match self.plan.time.step {
            StepSize::Cfl(cfl) => cfl * self.limit,
            StepSize::Fixed(dt) => dt,
        }
    }

    fn not_steady(&self, spec: SteadySpec, ratio: f64, stagnant: Option<Stagnant>) -> RunError {
        RunError::NotSteady { ratio, tolerance: spec.tolerance, steps: self.now().step, stagnant }
    }

    /// Reports the progress from time to time, by the bar or a line.
    fn draw(&mut self, steady: Option<(f64, SteadySpec)>) -> Result<(), RunError> {
        if self.log.interval().is_none_or(|interval| self.drawn.elapsed() < interval) {
            return Ok(());
        }
        self.drawn = Instant::now();
        // Ranks do not draw at the same time, and a residual needs all of them.
        let alone = self.plan.setup.comm.size() == 1;
        if alone && steady.is_none() && self.measured.is_none_or(|at| at.elapsed() >= BAR_RESIDUAL_INTERVAL) {
            self.measured = Some(Instant::now());
            self.residual = Some(self.solver.residual()?.into_iter().fold(0.0, f64::max));
        }
        let now = self.now();
        let share = match steady {
            Some((ratio, spec)) => (ratio.log10() / spec.tolerance.log10()).clamp(0.0, 1.0),
            None => self.share(now),
        };
        let residual = steady.map(|(ratio, _)| ratio).or(self.residual);
        let residual = residual.map_or_else(String::new, |residual| format!("  residual {residual:.2e}"));
        let rate = self.dofs as f64 * self.solver.rhs_evaluations() as f64 / self.tally.spent.as_secs_f64();
        // Newton steps have linear iterations instead.
        let speed = if rate > 0.0 { format!("  {:.1} MDOF/s", rate / 1e6) } else { String::new() };
        let speed = match (self.plan.setup.implicit, self.solver.newton_statistics()) {
            (Some(_), Some(taken)) => {
                let steps = self.tally.steps.max(1) as f64;
                // An explicit step needs all ranks, too.
                let explicit = match alone {
                    true => format!("  {:.0} explicit steps", self.dt / self.solver.explicit_dt()?),
                    false => String::new(),
                };
                format!(
                    "{explicit}  {:.1} Newton and {:.0} linear iterations a step",
                    taken.steps as f64 / steps,
                    taken.linear_iterations as f64 / steps
                )
            }
            _ => speed,
        };
        let elapsed = self.started.elapsed();
        let left = if share > 1e-6 { elapsed.mul_f64((1.0 / share - 1.0).min(1e7)) } else { Duration::ZERO };
        let local = steady.is_some_and(|(_, spec)| spec.local_steps);
        let at = place(now, (!local).then_some(self.dt));
        let message = format!("{at}{residual}{speed}  {} left", clock(left));
        self.log.progress(share, message);
        Ok(())
    }

    /// Returns the completed share of the run, by time or by steps, whichever is larger.
    fn share(&self, now: TimePoint) -> f64 {
        let time = &self.plan.time;
        let start = self.plan.restart.as_ref().map_or((0.0, 0), |(_, saved)| (saved.now.t, saved.now.step));
        let by_time = time.end.map_or(0.0, |end| (now.t - start.0) / (end - start.0).max(f64::MIN_POSITIVE));
        let by_steps = time.steps.map_or(0.0, |n| {
            (now.step - start.1) as f64 / ((n as u64).saturating_sub(start.1) as f64).max(1.0)
        });
        by_time.max(by_steps)
    }
}

/// Describes the position of a run in words. With local steps there is no common time and `dt` is `None`.
fn place(now: TimePoint, dt: Option<f64>) -> String {
    match dt {
        Some(dt) => format!("step {}  t {:.4}  dt {dt:.2e}", now.step, now.t),
        None => format!("step {}", now.step),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_steps_are_not_shown_as_time() {
        let now = TimePoint { t: 7.0, low: 0.0, step: 7 };
        assert_eq!(place(now, Some(0.5)), "step 7  t 7.0000  dt 5.00e-1");
        assert_eq!(place(now, None), "step 7");
    }
}
