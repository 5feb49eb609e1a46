//! The run of a model in time: set-up, march, results, summary.

mod backflow;
mod beside;
mod doubts;
mod failure;
mod lower_orders;
mod sensitivities;
mod summary;

use std::fmt::Write as _;
use std::time::Instant;

use dgsuite_timeint::{StepSize, TimePoint};
use serde_json::{Map, Value};

use self::failure::explain;
use self::lower_orders::LowerOrders;
use self::sensitivities::Varied;
use self::summary::Facts;
use super::counts::{Counts, Tally};
use super::log::Log;
use super::march::March;
use super::outputs::Outputs;
use super::{Ending, Run, RunError, Status, projection, shared};
use crate::code::Code;
use crate::directory::Directory;
use crate::file::number::grouped;
use crate::file::problem::{InputError, Problem};
use crate::monitors::Values;
use crate::pipeline::Document;
use crate::plan::print::{self, FirstSteps};
use crate::plan::{Choices, Outline, Plan, same_kind_of_device, thin};
use dgsuite_output::writer::WriterError;
use dgsuite_solve::flow::{Description, Flow, KernelChoice, Law, Norms};
use dgsuite_solve::{ROOT, SystemError};

/// A run that is ready to start: the plan is made and the solver is set up, so that the input is known to be
/// valid.
pub struct FlowRun {
    /// The plan.
    pub plan: Plan,
    /// The solver, with the initial state or the state of the checkpoint.
    pub solver: Flow,
    /// The solver's description of itself.
    pub description: Description,
    /// The set-ups beside this one, by which forces are differentiated.
    varied: Vec<Varied>,
    /// The set-ups of lower orders, at which Newton steps begin.
    lower: LowerOrders,
    /// How the state of a checkpoint was projected, in words.
    projection: Option<String>,
    /// Seconds of the set-up, and of its first part: reading the mesh and making the plan.
    pub setup_s: f64,
    plan_s: f64,
    /// The stable CFL number in the initial state, if there is one.
    stable_cfl: Option<f64>,
    /// The largest stable step at the start, where it is known.
    stable_dt: Option<f64>,
}

/// Number of basis functions of a tensor basis, from which linear solvers take seconds to set up.
const LARGE: usize = 50_000;

impl FlowRun {
    /// Makes the plan and the solver.
    ///
    /// # Errors
    /// The first mistake found in the input; nothing has been written then.
    pub fn new(document: &Document, choices: &Choices) -> Result<Self, InputError> {
        let start = Instant::now();
        let plan = match &choices.comm {
            // The set-up of the solver needs all ranks.
            Some(comm) => Plan::on_ranks(document, choices, comm)?,
            None => Plan::new(document, choices)?,
        };
        let varied = Varied::all(document, choices, &plan)?;
        let lower = LowerOrders::new(document, choices, &plan)?;
        let plan_s = start.elapsed().as_secs_f64();
        if let Some(comm) = &choices.comm {
            same_kind_of_device(comm.as_ref(), plan.setup.device)?;
        }
        let refused = |error: SystemError| {
            let place = plan.outline.places.of(&error);
            let causes = thin::causes_in_step(&plan, &error);
            let unsolved = matches!(error, SystemError::Solve { .. });
            let problem =
                if unsolved { Problem::Unsolved { error, causes } } else { Problem::Setup { error } };
            InputError::at(place, problem)
        };
        let (mut solver, projection) = match &plan.restart {
            Some((file, saved)) if plan.projected => {
                let (solver, projection) = projection::onto_mesh(&plan, choices, file, saved)?;
                (solver, Some(projection))
            }
            restart => {
                let mut setup = plan.setup.clone();
                // Of small problems a check sets up all, and finds what only the first solves notice.
                let size =
                    plan.outline.mesh.n_elements() * (setup.order + 1).pow(plan.outline.mesh.dim() as u32);
                setup.only_described = choices.only_described && size > LARGE;
                let new = || Flow::new(setup, plan.initial.as_ref(), 0.0);
                let mut solver = new().map_err(refused)?;
                // Past states belong to the run before.
                shared::restore(&mut solver, &plan, !choices.project)?;
                let projection = match restart {
                    Some((file, saved)) => projection::to_order(&solver, file, saved),
                    None => None,
                };
                (solver, projection)
            }
        };
        let description = solver.describe();
        let stable_cfl = solver.stable_cfl().ok();
        let stable_dt = doubts::stable_step(&plan, &mut solver);
        let setup_s = start.elapsed().as_secs_f64();
        Ok(Self {
            plan,
            solver,
            description,
            varied,
            lower,
            projection,
            setup_s,
            plan_s,
            stable_cfl,
            stable_dt,
        })
    }

    /// The time of a step with this CPU, from one evaluation of the rates, and that of the whole run; `None`
    /// where steps solve linear systems.
    fn cost(&mut self) -> Option<String> {
        let setup = &self.plan.setup;
        let explicit = !matches!(setup.law, Law::Incompressible(_)) && setup.implicit.is_none();
        let alone = self.plan.setup.comm.size() == 1;
        if !explicit || !alone || !self.description.device_name.is_empty() {
            return None;
        }
        // The first evaluation finds its data.
        self.solver.residual().ok()?;
        let start = Instant::now();
        self.solver.residual().ok()?;
        let step_s = start.elapsed().as_secs_f64() * self.plan.setup.scheme.n_stages() as f64;
        let dt = match self.plan.time.step {
            StepSize::Fixed(dt) => dt,
            StepSize::Cfl(cfl) => cfl * self.solver.first_dt().ok()?,
        };
        let of_time = self.plan.steps_to_end(dt).filter(|_| self.plan.time.adaptive.is_none());
        let steps = [of_time, self.plan.time.steps].into_iter().flatten().min();
        let whole = steps
            .map(|steps| format!(", {} for about {} steps", lasting(step_s * steps as f64), grouped(steps)));
        Some(format!(
            "roughly {} a step on this CPU{}, without output",
            lasting(step_s),
            whole.unwrap_or_default()
        ))
    }

    /// What is said at the very end.
    fn last_words(&self, outcome: &Result<(), RunError>, status: Status, end: TimePoint) -> Vec<String> {
        let plan = &self.plan;
        let mut last = Vec::new();
        if status == Status::Stopped {
            let stores = plan.outputs.iter().any(|output| output.kind.after_all);
            let go_on = match stores {
                true => "; continue with --restart latest",
                false => "; no checkpoint was written",
            };
            let local = plan.time.steady.is_some_and(|steady| steady.local_steps);
            // With local steps, elements have no common time.
            let at = if local { String::new() } else { format!("t = {}, ", end.t) };
            last.push(format!("stopped at {at}step {}{go_on}", end.step));
        }
        if let Err(RunError::Writer(cause)) = outcome {
            last.push(format!("error[{}]: {cause}", Code::from(cause)));
            if cause.is_storage_full() {
                last.push("hint: the disk is full; free space and continue with --restart latest".to_owned());
            }
        }
        last.extend(outcome.as_ref().err().map(|error| Code::more_about(&[error.into()])));
        last
    }
}

impl Run for FlowRun {
    fn outline(&self) -> &Outline {
        &self.plan.outline
    }

    fn describe(&mut self) -> String {
        let first = match self.plan.time.step {
            StepSize::Fixed(dt) => Some(dt),
            StepSize::Cfl(cfl) => self.solver.first_dt().ok().map(|limit| cfl * limit),
        };
        let steps = FirstSteps {
            dt: first,
            substeps: first.and_then(|dt| self.solver.substeps(dt).ok()),
            stable: self.stable_dt,
            stress: self.solver.largest_step_of_stress().ok(),
            stable_cfl: self.stable_cfl,
        };
        let mut text = print::plan(&self.plan, &self.description, steps);
        if let Some(projection) = &self.projection {
            let _ = writeln!(text, "restart     {projection}");
        }
        let doubts = doubts::doubts(&self.plan, steps);
        for warning in self.plan.outline.warnings.iter().chain(&doubts) {
            let _ = writeln!(text, "warning     {warning}");
        }
        text
    }

    fn forecast(&mut self, text: &mut String) -> Vec<KernelChoice> {
        self.cost().into_iter().for_each(|cost| {
            let _ = writeln!(text, "cost        {cost}");
        });
        if !self.description.device_name.is_empty() {
            return self.description.kernels.clone();
        }
        let kernels = self.solver.forecast();
        text.push_str(&print::forecast(&kernels));
        kernels
    }

    fn writes(&self) -> bool {
        self.plan.setup.comm.rank() == ROOT
    }

    fn compute(&mut self, directory: &Directory, log: &mut Log) -> Ending {
        if let Some((file, saved)) = &self.plan.restart {
            let (t, step) = (saved.now.t, saved.now.step);
            log.note(&format!("continued from {} at t = {t}, step {step}", file.display()));
        }
        let (plan, description) = (&self.plan, &self.description);
        let start = plan.restart.as_ref().map_or(START, |(_, saved)| saved.now);
        let mut end = start;
        let mut tally = Tally::default();
        let mut last = Values::default();
        let mut counts = Counts::default();
        let mut output_s = 0.0;
        let mut lower = Vec::new();
        let mut explained = false;
        let opened = Outputs::open(plan, directory.clone(), &self.solver, start);
        let opened = match self.solver.any(opened.is_err()) {
            Ok(true) => opened.and(Err(WriterError::Elsewhere.into())),
            Ok(false) => opened,
            Err(lost) => opened.and(Err(lost.into())),
        };
        let outcome = opened.and_then(|mut outputs| {
            let first = self.lower.find(&mut self.solver, log, &mut lower)?;
            let mut march = March::new(plan, &mut self.solver, log, description.dofs)?;
            march.first = first;
            let result = march.run(&mut outputs);
            end = march.now();
            tally = march.tally.clone();
            last = outputs.last().clone();
            output_s = outputs.spent().as_secs_f64();
            outputs.tally = march.tally.clone();
            let trail = std::mem::take(&mut march.trail);
            if let Err(error) = &result {
                let known = (&self.plan, (self.stable_cfl, self.stable_dt), &trail);
                explain(error, &outputs, &mut self.solver, known, end, log);
                explained = true;
            }
            outputs.not_finite().take().iter().for_each(|warning| log.warn(warning));
            counts = outputs.counts(&self.solver);
            result
        });
        // They belong to a steady state.
        let outcome = match outcome {
            Ok(()) if !tally.stopped => {
                self.varied.iter().try_for_each(|varied| varied.put(plan, &mut self.solver, &mut last, log))
            }
            other => other,
        };
        // Files that could not be written are reported at the end.
        if let (Err(error), false) = (&outcome, explained || matches!(outcome, Err(RunError::Writer(_)))) {
            log.warn(&format!("error[{}]: {error}", Code::from(error)));
        }
        let facts = Facts {
            plan,
            description,
            tally: &tally,
            counts: &counts,
            start: start.step,
            end: (end.t, end.step),
            setup_s: self.setup_s,
            plan_s: self.plan_s,
            output_s,
            last: &last,
            lower: &lower,
        };
        let mut summary = summary::facts(&facts, &self.solver);
        let failure = outcome.as_ref().err().map(ToString::to_string);
        let status = match &outcome {
            Err(error) => Status::of(error),
            Ok(()) if tally.stopped => Status::Stopped,
            Ok(()) => Status::Ok,
        };
        if let Err(error) = &outcome {
            summary.insert("failure".into(), summary::failure(error));
        }
        let answers = status != Status::Diverged;
        let errors = plan.exact.as_ref().filter(|_| answers).map(|exact| {
            let norms = self.solver.errors(exact.as_ref(), end.t);
            (summary::norms(&norms), error_table(&norms))
        });
        let closing = closing(&summary, &plan.outline.directory);
        let last = self.last_words(&outcome, status, end);
        Ending { status, failure, summary, errors, closing, answers, last }
    }
}

/// A time in a unit that fits, to two digits.
fn lasting(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s if s < 120.0 => (s, "s"),
        s if s < 7200.0 => (s / 60.0, "min"),
        s => (s / 3600.0, "h"),
    };
    let digits = usize::from(value < 10.0);
    format!("{value:.digits$} {unit}")
}

const START: TimePoint = TimePoint { t: 0.0, low: 0.0, step: 0 };

/// The norms of the error, a line for each variable that has them, and why others have none.
fn error_table(errors: &Norms) -> String {
    let mut text = format!("{:<11} {:>12} {:>12} {:>12}", "error", "L1", "L2", "Linf");
    let mut without = Vec::new();
    for (k, name) in errors.names.iter().enumerate() {
        let norms = [errors.l1[k], errors.l2[k], errors.linf[k]];
        if norms.iter().all(|x| x.is_finite()) {
            let _ = write!(text, "\n{name:<11} {:>12.4e} {:>12.4e} {:>12.4e}", norms[0], norms[1], norms[2]);
        } else {
            without.push(name.as_str());
        }
    }
    if !without.is_empty() {
        let why = match errors.names.iter().any(|name| name == "rho") {
            true => "they are not defined where the density of the exact solution or of the result is 0",
            false => "the exact solution or the result is not finite at some points",
        };
        let _ = write!(text, "\nno error of {}: {why}", without.join(", "));
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
        None if summary.contains_key("newton") => {
            format!("{} linear iterations", grouped(number("newton", "linear_iterations") as usize))
        }
        None => format!("{:.1} MDOF/s", number("timing", "gdofs_per_s") * 1e3),
    };
    let (steps, from) = (number("time", "steps") as usize, number("timing", "from_step") as usize);
    let since = match from {
        0 => String::new(),
        _ => format!(", {} of them since the restart", grouped(steps.saturating_sub(from))),
    };
    format!(
        "{} steps to {reached}{since} in {:.2} s, {work}; results in {}",
        grouped(steps),
        number("timing", "run_s"),
        directory.display()
    )
}
