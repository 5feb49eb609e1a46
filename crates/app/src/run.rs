//! A run: carries out a plan and writes its results and the summary.

pub mod answer;
pub mod averages;
pub mod checks;
pub mod directory;
pub mod elliptic;
pub mod error;
pub mod fields;
pub mod flow;
mod limited;
pub mod log;
pub mod march;
pub mod monitors;
pub mod not_finite;
pub mod outputs;
pub mod pictures;
pub mod pieces;
mod projection;
pub mod sampling;
pub mod schedule;
pub mod summary;
pub mod surfaces;
pub mod triggers;

use std::fmt::Write as _;
use std::time::Instant;

use dgsuite_gpu::comm::Communicator;
use dgsuite_ops::{OpsError, agree};
use dgsuite_timeint::{StepSize, TimeError, TimePoint};
use serde_json::{Map, Value, json};

use self::checks::CheckResult;
use self::directory::{Directory, Former};
pub use self::error::RunError;
use self::log::Log;
use self::march::March;
use self::monitors::LastValues;
use self::outputs::Outputs;
use self::summary::Facts;
pub use self::summary::Status;
use crate::code::Code;
use crate::pipeline::Document;
use crate::pipeline::problem::{InputError, Problem};
use crate::pipeline::unsolved;
use crate::plan::print::{self, grouped};
use crate::plan::{Choices, Plan};
use crate::systems::hyperbolic::{
    Coldest, Description, Device, Hyperbolic, KernelChoice, Law, Norms, Origin, StepMeasure, Trail,
};
use crate::systems::{ROOT, SystemError};
use crate::writer::WriterError;

/// A run that is ready to start: the plan is made and the solver is set up, so that the input is known to be
/// valid.
pub struct Prepared {
    /// The plan.
    pub plan: Plan,
    /// The solver, with the initial state or the state of the checkpoint.
    pub solver: Hyperbolic,
    /// The solver's description of itself.
    pub description: Description,
    /// How the state of a checkpoint was projected, in words.
    projection: Option<String>,
    /// Seconds of the set-up.
    pub setup_s: f64,
    /// The stable CFL number in the initial state, if there is one.
    stable_cfl: Option<f64>,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// The summary, as written to `summary.json`.
    pub summary: Value,
    /// Why it stopped, in words.
    pub failure: Option<String>,
    /// The results of the checks.
    pub checks: Vec<CheckResult>,
}

impl Prepared {
    /// Makes the plan and the solver.
    ///
    /// # Errors
    /// The first mistake found in the input; nothing has been written then.
    pub fn new(document: &Document, choices: &Choices) -> Result<Self, InputError> {
        let start = Instant::now();
        let plan = match &choices.comm {
            // The set-up of the solver needs all ranks.
            Some(comm) => agree(comm.as_ref(), Plan::new(document, choices))?,
            None => Plan::new(document, choices)?,
        };
        if let Some(comm) = &choices.comm {
            same_kind_of_device(comm.as_ref(), plan.setup.device)?;
        }
        let refused = |error| InputError::at(plan.places.of(&error), Problem::Setup { error });
        let (mut solver, projection) = match &plan.restart {
            Some((file, saved)) if plan.projected => {
                let (solver, projection) = projection::onto_mesh(&plan, choices, file, saved)?;
                (solver, Some(projection))
            }
            restart => {
                let new = || Hyperbolic::new(plan.setup.clone(), plan.initial.as_ref(), 0.0);
                let mut solver = new().map_err(refused)?;
                if let Some((_, saved)) = restart {
                    solver.restore(&saved.state).map_err(refused)?;
                }
                let projection = match restart {
                    Some((file, saved)) => projection::to_order(&solver, file, saved),
                    None => None,
                };
                (solver, projection)
            }
        };
        let description = solver.describe();
        let stable_cfl = solver.stable_cfl().ok();
        let setup_s = start.elapsed().as_secs_f64();
        Ok(Self { plan, solver, description, projection, setup_s, stable_cfl })
    }

    /// The kernels that a GPU runs or, for a run on the CPU, would run; these are added to the plan's `text`.
    pub fn forecast(&self, text: &mut String) -> Vec<KernelChoice> {
        if !self.description.device_name.is_empty() {
            return self.description.kernels.clone();
        }
        let kernels = self.solver.forecast();
        text.push_str(&print::forecast(&kernels));
        kernels
    }

    /// Describes the plan in words, with the first step size.
    pub fn describe(&mut self) -> String {
        let first = match self.plan.time.step {
            StepSize::Fixed(dt) => Some(dt),
            StepSize::Cfl(cfl) => self.solver.first_dt().ok().map(|limit| cfl * limit),
        };
        let substeps = first.and_then(|dt| self.solver.substeps(dt).ok());
        let mut text = print::plan(&self.plan, &self.description, (first, substeps), self.stable_cfl);
        if let Some(projection) = &self.projection {
            let _ = writeln!(text, "restart     {projection}");
        }
        for warning in &self.plan.warnings {
            let _ = writeln!(text, "warning     {warning}");
        }
        // A smaller step costs time only; a larger one makes the run blow up. In incompressible flow,
        // viscosity may damp what extrapolation excites.
        let explicit = !matches!(self.plan.setup.law, Law::Incompressible(_));
        if let (StepSize::Fixed(dt), Ok(limit), true) =
            (self.plan.time.step, self.solver.stable_dt(), explicit)
        {
            let stable = self.plan.time.stable_radius * limit;
            if dt > stable {
                let times = dt / stable;
                let _ = writeln!(
                    text,
                    "warning     time.dt {dt} is {times:.1} times the step that is stable on this mesh, {stable:.4e}"
                );
            }
        }
        let given = (self.plan.setup.step_measure == StepMeasure::Cfl).then_some(self.plan.time.step);
        if let (Some(StepSize::Cfl(cfl)), Some(stable)) = (given, self.stable_cfl)
            && cfl > stable
        {
            let times = cfl / stable;
            let _ = writeln!(
                text,
                "warning     time.cfl {cfl} is {times:.1} times the number that is stable on this mesh, {stable:.4}"
            );
        }
        text
    }

    /// Runs, writes results and the summary.
    ///
    /// # Errors
    /// Only if the summary cannot be written; every other failure is in the report.
    pub fn execute(&mut self, log: &mut Log) -> Result<Report, WriterError> {
        let directory = match self.plan.setup.comm.rank() {
            ROOT => Directory::prepare(&self.plan.directory, self.plan.former)?,
            _ => Directory::temporary()?,
        };
        log.open(&directory.log(), self.plan.former == Former::Continue)?;
        directory.warning().iter().for_each(|warning| log.warn(warning));
        directory.write_summary(&summary::running(&self.plan.title))?;
        directory.write_pipeline(&self.plan.resolved)?;
        if let Some(reason) = &self.plan.device_note {
            log.note(&format!("running on the CPU: {reason}"));
        }
        log.note(&self.describe());
        if let Some((file, saved)) = &self.plan.restart {
            let (t, step) = (saved.now.t, saved.now.step);
            log.note(&format!("continued from {} at t = {t}, step {step}", file.display()));
        }
        let report = self.march(&directory, log);
        directory.write_summary(&report.summary)?;
        Ok(report)
    }

    fn march(&mut self, directory: &Directory, log: &mut Log) -> Report {
        let (plan, description) = (&self.plan, &self.description);
        let start = plan.restart.as_ref().map_or(START, |(_, saved)| saved.now);
        let mut end = start;
        let mut tally = march::Tally::default();
        let mut last = LastValues::default();
        let mut output_s = 0.0;
        let mut explained = false;
        let opened = Outputs::open(plan, directory.clone(), start);
        let opened = match self.solver.any(opened.is_err()) {
            true => opened.and(Err(WriterError::Elsewhere.into())),
            false => opened,
        };
        let outcome = opened.and_then(|mut outputs| {
            let mut march = March::new(plan, &mut self.solver, log, description.dofs)?;
            let result = march.run(&mut outputs);
            end = march.now();
            tally = march.tally.clone();
            last = outputs.last().clone();
            output_s = outputs.spent().as_secs_f64();
            let trail = std::mem::take(&mut march.trail);
            if let Err(error) = &result {
                let known = (&self.plan, self.stable_cfl, &trail);
                explain(error, &outputs, &mut self.solver, known, end, log);
                explained = true;
            }
            outputs.not_finite().take().iter().for_each(|warning| log.warn(warning));
            result
        });
        // Files that could not be written are reported at the end.
        if let (Err(error), false) = (&outcome, explained || matches!(outcome, Err(RunError::Writer(_)))) {
            log.warn(&format!("error[{}]: {error}", Code::from(error)));
        }
        let facts = Facts {
            plan,
            description,
            tally: &tally,
            end: (end.t, end.step),
            setup_s: self.setup_s,
            output_s,
            last: &last,
        };
        let mut summary = summary::facts(&facts, &self.solver);
        self.conclude(&outcome, end, tally.stopped, &mut summary, log)
    }

    /// Adds errors, checks and status, and prints how the run ended.
    fn conclude(
        &self,
        outcome: &Result<(), RunError>,
        end: TimePoint,
        stopped: bool,
        summary: &mut Map<String, Value>,
        log: &mut Log,
    ) -> Report {
        let plan = &self.plan;
        let failure = outcome.as_ref().err().map(ToString::to_string);
        let mut status =
            outcome.as_ref().err().map_or(if stopped { Status::Stopped } else { Status::Ok }, Status::of);
        if let Err(error) = outcome {
            summary.insert("failure".into(), summary::failure(error));
        }
        let mut table = None;
        if let Some(exact) = plan.exact.as_ref().filter(|_| status != Status::Diverged) {
            let errors = self.solver.errors(exact.as_ref(), end.t);
            summary.insert("error".into(), summary::norms(&errors));
            table = Some(error_table(&errors));
        }
        let so_far = Value::Object(summary.clone());
        let measured = plan
            .checks
            .iter()
            .filter_map(|check| checks::measure(check, &so_far, &plan.constants, check.value.value.clone()));
        let checks: Vec<CheckResult> = if status == Status::Ok { measured.collect() } else { Vec::new() };
        // The results are printed last, after the line about steps and speed.
        if status == Status::Ok {
            log.result(&closing(summary, &plan.directory));
        }
        if status != Status::Diverged {
            answer::lines(summary).iter().for_each(|line| log.result(line));
            table.iter().for_each(|table| log.result(table));
        }
        if !checks::told(&checks, log) {
            status = Status::CheckFailed;
        }
        summary.insert("checks".into(), checks.iter().map(CheckResult::to_json).collect());
        summary.insert("status".into(), json!(status.word()));
        if status == Status::Stopped {
            let go_on = match self.plan.checkpoint {
                Some(_) => "; continue with --restart latest",
                None => "; no checkpoint was written",
            };
            let local = plan.time.steady.is_some_and(|steady| steady.local_steps);
            // With local steps, elements have no common time.
            let at = if local { String::new() } else { format!("t = {}, ", end.t) };
            log.warn(&format!("stopped at {at}step {}{go_on}", end.step));
        }
        if let Err(RunError::Writer(cause)) = outcome {
            log.warn(&format!("error[{}]: {cause}", Code::from(cause)));
            if cause.is_storage_full() {
                log.warn("hint: the disk is full; free space and continue with --restart latest");
            }
        }
        if let Err(error) = outcome {
            log.warn(&Code::more_about(&[error.into()]));
        }
        Report { status, summary: Value::Object(summary.clone()), failure, checks }
    }
}

/// Checks that all ranks run on the CPU, or all on GPUs. Collective.
fn same_kind_of_device(comm: &dyn Communicator, device: Device) -> Result<(), InputError> {
    let rank = comm.rank() as f64;
    // The lowest ranks of both kinds, with the sign changed.
    let mut lowest = [f64::NEG_INFINITY; 2];
    lowest[usize::from(device == Device::Cpu)] = -rank;
    comm.max(&mut lowest).map_err(|error| InputError::from(OpsError::from(error)))?;
    let [gpu, cpu] = lowest;
    if gpu == f64::NEG_INFINITY || cpu == f64::NEG_INFINITY {
        return Ok(());
    }
    Err(InputError::nowhere(Problem::MixedRanks { with: -gpu as usize, without: -cpu as usize }))
}

const START: TimePoint = TimePoint { t: 0.0, low: 0.0, step: 0 };

/// Prints what stopped a run, writes the state for inspection, and names the last good checkpoint.
fn explain(
    error: &RunError,
    outputs: &Outputs<'_>,
    solver: &mut Hyperbolic,
    (plan, stable_cfl, trail): (&Plan, Option<f64>, &Trail),
    now: TimePoint,
    log: &mut Log,
) {
    if let RunError::Writer(_) = error {
        return;
    }
    log.warn(&format!("error[{}]: {error}", Code::from(error)));
    let unsolved = match error {
        RunError::System(SystemError::Solve { system, cause }) => Some((*system, cause)),
        _ => None,
    };
    unsolved.iter().for_each(|(_, cause)| log.warn(&unsolved::residuals(cause)));
    if let RunError::NotSteady { stagnant, .. } = error {
        log.warn(match stagnant.is_some() {
            true => "hint: the flow may have no steady state here; try time.steady.damping, local steps, a lower space.order, or a larger tolerance",
            false => "hint: continue with --restart latest and a larger time.steady.max_steps, or allow a larger tolerance; time.steady.damping damps waves",
        });
        return;
    }
    let of_formula = bad_formula(plan, solver, trail, now);
    of_formula.iter().for_each(|text| log.warn(text));
    if let RunError::Time(TimeError::Rejected { .. }) = error {
        log.warn("hint: allow a larger time.adaptive.tolerance; rounding alone is about 1e-15 of the solution, in single precision 1e-7");
        return;
    }
    if let Some(Origin { element, at: [x, y, z], bad }) = solver.origin_of_failure() {
        log.warn(&format!(
            "it is not finite in {bad} elements, and began near the middle of them: element {element} at ({x:.6}, {y:.6}, {z:.6})"
        ));
    }
    let before = solver.before(trail);
    if let Some(Coldest { element, at: [x, y, z], temperature, state, time, .. }) = &before {
        let state: Vec<String> = state.iter().map(|(name, value)| format!("{name} = {value:.6e}")).collect();
        log.warn(&format!(
            "before this step, at time {time:.6e}, the lowest temperature was {temperature:.6e}, in element {element} at ({x:.6}, {y:.6}, {z:.6}): {}",
            state.join(", ")
        ));
    }
    match outputs.write_failed(solver, now) {
        Ok(path) => log.warn(&format!("the state at the failure is in {}", path.display())),
        Err(second) => log.warn(&format!("the state at the failure could not be written: {second}")),
    }
    match outputs.latest_checkpoint() {
        Some(path) => log.warn(&format!("the last good checkpoint is {}", path.display())),
        None => log.warn(
            "hint: `output.checkpoint: { every: T }` writes checkpoints from which a run can be restarted",
        ),
    }
    if of_formula.is_some() {
        log.warn("hint: the formula must be finite during the whole run");
        return;
    }
    if let Some((system, cause)) = unsolved {
        log.warn(&format!("hint: {}", unsolved::hint(system, cause)));
        return;
    }
    if let RunError::TooFast { .. } | RunError::TooFastAtBoundary { .. } = error {
        log.warn("hint: look for a source term, a boundary value or a step that drives the gas there");
        return;
    }
    let time = &plan.time;
    let stable = before.map(|before| time.stable_radius * before.limit);
    // A step beyond the stable one is reason enough.
    let too_large = match time.step {
        _ if time.adaptive.is_some() => false,
        StepSize::Fixed(dt) => stable.is_some_and(|stable| dt > stable && stable > 0.0),
        StepSize::Cfl(cfl) => {
            let by_radius = solver.setup().step_measure == StepMeasure::Radius;
            !by_radius && stable_cfl.is_some_and(|stable| cfl > stable)
        }
    };
    let size = match (time.step, stable) {
        _ if time.adaptive.is_some() => "time.adaptive.tolerance".to_owned(),
        (StepSize::Fixed(dt), Some(stable)) if dt > stable && stable > 0.0 => {
            format!("time.dt than {dt} (the stable step was {stable:.4e} before)")
        }
        (StepSize::Fixed(_), _) => "time.dt".to_owned(),
        (StepSize::Cfl(cfl), _) => match stable_cfl {
            Some(stable) if solver.setup().step_measure == StepMeasure::Radius => {
                format!("time.cfl than {stable:.4}, the stable number at the start of this run")
            }
            Some(stable) if cfl > stable => format!("time.cfl than {cfl} (up to {stable:.4} is stable)"),
            _ => "time.cfl".to_owned(),
        },
    };
    let setup = solver.setup();
    let shocks = match setup.law.gas().is_some() && setup.limiting.is_none() && !too_large {
        true => "`space.shock: entropy-filter` if the flow has shocks, or strong gradients; otherwise ",
        false => "",
    };
    log.warn(&format!("hint: try {shocks}a smaller {size}, a lower space.order, or a finer mesh"));
}

/// Number of times within a step at which formulas are checked: the stages of any scheme are close to one of
/// them.
const LOOKS: usize = 16;

/// Returns a message about the formula of a boundary or source term that is not finite in the step that
/// failed, with its place in the file.
fn bad_formula(plan: &Plan, solver: &Hyperbolic, trail: &Trail, now: TimePoint) -> Option<String> {
    let (start, dt) = trail.last_step().unwrap_or((now.t, solver.time() - now.t));
    let times: Vec<f64> = (0..=LOOKS).map(|i| start + dt * i as f64 / LOOKS as f64).collect();
    let order = plan.setup.order.max(1);
    plan.formulas.iter().find_map(|formula| {
        let points: Vec<[f64; 3]> = match &formula.boundary {
            Some(name) => solver.surface(name).map(|surface| surface.points).unwrap_or_default(),
            None => solver.sample(order).into_iter().flat_map(|set| set.points).collect(),
        };
        let bad = formula.first_bad(&times, &points)?;
        let ([x, y, z], place) = (bad.point, &formula.text.place);
        Some(format!(
            "`{}` is {} at ({x:.6}, {y:.6}, {z:.6}) at time {:.6e}\n --> {place}\n{}",
            formula.text.key,
            bad.value,
            bad.time,
            place.excerpt()
        ))
    })
}

/// The norms of the error, a line for each variable.
fn error_table(errors: &Norms) -> String {
    let mut text = format!("{:<11} {:>12} {:>12} {:>12}", "error", "L1", "L2", "Linf");
    for (k, name) in errors.names.iter().enumerate() {
        let _ = write!(
            text,
            "\n{name:<11} {:>12.4e} {:>12.4e} {:>12.4e}",
            errors.l1[k], errors.l2[k], errors.linf[k]
        );
    }
    text
}

/// The last line of a run: steps, time, speed, and where the results are.
fn closing(summary: &Map<String, Value>, directory: &std::path::Path) -> String {
    let number = |section: &str, key: &str| {
        summary.get(section).and_then(|s| s.get(key)).and_then(Value::as_f64).unwrap_or(0.0)
    };
    let reached = match summary.contains_key("steady") {
        true => "a steady state".to_owned(),
        false => format!("t = {}", number("time", "end")),
    };
    let work = match summary.get("linear") {
        Some(linear) => {
            let [pressure, velocity] = ["pressure", "velocity"].map(|solver| {
                linear.get(solver).and_then(|s| s.get("iterations")).and_then(Value::as_f64).unwrap_or(0.0)
            });
            let substeps = summary.get("time").and_then(|time| time.get("substeps")).map(|substeps| {
                let of = |key: &str| substeps.get(key).and_then(Value::as_f64).unwrap_or(0.0);
                format!("sub-steps {:.1} (at most {}), ", of("mean"), of("max"))
            });
            let substeps = substeps.unwrap_or_default();
            format!("{substeps}iterations per step: pressure {pressure:.1}, velocity {velocity:.1}")
        }
        None => format!("{:.1} MDOF/s", number("timing", "gdofs_per_s") * 1e3),
    };
    format!(
        "{} steps to {reached} in {:.2} s, {work}; results in {}",
        grouped(number("time", "steps") as usize),
        number("timing", "run_s"),
        directory.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_gpu::comm::{on_each, threads};

    #[test]
    fn ranks_are_all_on_cpus_or_all_on_gpus() {
        let refused = |on_cpu: fn(usize) -> bool| {
            on_each(threads(4), |comm| {
                let rank = comm.rank();
                let device = if on_cpu(rank) { Device::Cpu } else { Device::Cuda(rank) };
                same_kind_of_device(&comm, device).err().map(|error| error.to_string())
            })
        };
        let agreed = vec![None; 4];
        assert_eq!((refused(|_| true), refused(|_| false)), (agreed.clone(), agreed));
        // All ranks end with the same sentence.
        for (on_cpu, gpu, cpu) in [((|rank| rank == 2) as fn(usize) -> bool, 0, 2), (|rank| rank < 3, 3, 0)] {
            for sentence in refused(on_cpu) {
                let expected = format!("rank {gpu} has a GPU, but rank {cpu} has none");
                assert!(sentence.as_ref().is_some_and(|s| s.contains(&expected)), "{sentence:?}");
            }
        }
    }
}
