//! The run of an elliptic problem: set-up, solve, results, summary.

mod failure;
pub(crate) mod outputs;
mod summary;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub use self::failure::Failure;
use super::answer;
use super::checks::{self, CheckResult};
use super::directory::Directory;
use super::log::Log;
use super::not_finite::NotFinite;
use super::{Report, Status};
use crate::code::Code;
use crate::pipeline::Document;
use crate::pipeline::problem::{InputError, Problem};
use crate::plan::Choices;
use crate::plan::elliptic::{EllipticPlan, print};
use crate::systems::elliptic::{Elliptic, EllipticError, Errors, Solved};
use crate::systems::hyperbolic::OpsError;
use crate::writer::WriterError;

/// A run that is ready to start: the plan is made and the solver is set up.
pub struct PreparedElliptic {
    /// The plan.
    pub plan: EllipticPlan,
    /// Operator and preconditioner.
    pub solver: Elliptic,
    /// Seconds of the set-up.
    pub setup_s: f64,
}

/// Time between two lines of progress.
const INTERVAL: Duration = Duration::from_secs(1);

impl PreparedElliptic {
    /// Makes the plan, the operator and the preconditioner.
    ///
    /// # Errors
    /// The first mistake found in the input; nothing has been written then.
    pub fn new(document: &Document, choices: &Choices) -> Result<Self, InputError> {
        let start = Instant::now();
        let plan = EllipticPlan::new(document, choices)?;
        let solver = Elliptic::new(plan.setup.clone()).map_err(|error| {
            let place = match &error {
                EllipticError::Operator(OpsError::Jacobian { .. } | OpsError::Empty) => &plan.places.mesh,
                EllipticError::Operator(OpsError::Coefficient { .. })
                | EllipticError::Matrix(_)
                | EllipticError::Overflow
                | EllipticError::NearlySingular
                | EllipticError::Floating { .. } => &plan.physics,
                EllipticError::Machine(error) => plan.places.of_machine(error),
                _ => &plan.places.space,
            };
            InputError::at(place, Problem::Elliptic { error })
        })?;
        Ok(Self { plan, solver, setup_s: start.elapsed().as_secs_f64() })
    }

    /// Describes the plan in words: equation, unknowns, memory, levels.
    pub fn describe(&self) -> String {
        let mut text = print::plan(&self.plan, self.solver.describe());
        for warning in &self.plan.warnings {
            let _ = writeln!(text, "warning     {warning}");
        }
        text
    }

    /// Solves, writes results and the summary.
    ///
    /// # Errors
    /// Only if the summary cannot be written; every other failure is in the report.
    pub fn execute(&mut self, log: &mut Log) -> Result<Report, WriterError> {
        let directory = Directory::prepare(&self.plan.directory, self.plan.former)?;
        log.open(&directory.log(), false)?;
        directory.warning().iter().for_each(|warning| log.warn(warning));
        directory.write_summary(&super::summary::running(&self.plan.title))?;
        directory.write_pipeline(&self.plan.resolved)?;
        if let Some(reason) = &self.plan.device_note {
            log.note(&format!("running on the CPU: {reason}"));
        }
        log.note(&self.describe());
        let described = self.solver.describe();
        log.note(&format!(
            "set-up in {:.2} s: operator {:.2} s, preconditioner {:.2} s",
            self.setup_s,
            described.operator_s + described.device_s,
            described.preconditioner_s
        ));
        let solved = self.solve(log);
        let failed = |error| Failure::of(error, solved.bad_datum.as_ref(), &self.plan);
        let failure = solved.outcome.as_ref().err().map(failed);
        let failure = failure.map(|failure| if solved.stopped { Failure::stopped(&solved) } else { failure });
        let failure = solved.refused.as_ref().map(Failure::of_device).or(failure);
        let start = Instant::now();
        let not_finite = NotFinite::default();
        let written =
            outputs::write(&self.plan, &self.solver, &solved, failure.as_ref(), &directory, &not_finite);
        not_finite.take().iter().for_each(|warning| log.warn(warning));
        let output_s = start.elapsed().as_secs_f64();
        let report = self.conclude(&solved, failure.as_ref(), written.as_ref().err(), output_s, log);
        directory.write_summary(&report.summary)?;
        Ok(report)
    }

    /// Solves and prints lines of progress.
    fn solve(&mut self, log: &mut Log) -> Solved {
        let mut said = Instant::now();
        let mut first = None;
        let solved = self.solver.solve(&self.plan.stop, &mut |iteration, residual| {
            let first = *first.get_or_insert(residual);
            if said.elapsed() >= INTERVAL {
                said = Instant::now();
                let ratio = if first > 0.0 { residual / first } else { 0.0 };
                log.note(&format!(
                    "iteration {iteration}: residual {residual:.3e}, {ratio:.3e} of the first"
                ));
            }
        });
        if let Some(imbalance) = solved.imbalance.filter(|imbalance| !imbalance.is_compatible()) {
            log.warn(&format!(
                "warning: no condition fixes u, so the integral of f plus that of the boundary fluxes must be \
                     0, but it is {:.6e} (of absolute values: {:.3e}); this part was removed from f",
                imbalance.total, imbalance.size
            ));
        }
        solved
    }

    /// Adds errors, checks and status, and prints how the run ended.
    fn conclude(
        &self,
        solved: &Solved,
        failure: Option<&Failure>,
        unwritten: Option<&WriterError>,
        output_s: f64,
        log: &mut Log,
    ) -> Report {
        let plan = &self.plan;
        let mut summary = summary::facts(plan, &self.solver, solved, self.setup_s, output_s);
        let mut status = failure.map_or(Status::Ok, |failure| failure.status);
        let mut message = failure.map(|failure| failure.message.clone());
        let mut code = failure.and_then(|failure| failure.code);
        let kind = |code: Option<Code>| code.map_or_else(String::new, |code| format!("[{code}]"));
        match (failure, unwritten) {
            (Some(failure), _) if status == Status::Stopped => log.warn(&failure.message),
            (Some(failure), _) => {
                log.warn(&format!("error{}: {}\nhint: {}", kind(code), failure.message, failure.hint));
                log.warn(&format!(
                    "the last iterate is in fields/failed.vtu, residuals in monitors/residual.csv of {}",
                    plan.directory.display()
                ));
            }
            (None, Some(error)) => {
                status = Status::Failed;
                message = Some(error.to_string());
                code = Some(error.into());
            }
            (None, None) => {}
        }
        if let Some(message) = message.as_ref().filter(|_| status != Status::Stopped) {
            summary.insert("failure".into(), json!({ "code": code.map(Code::word), "message": message }));
        }
        let mut table = None;
        if let Some(exact) = plan.exact.as_ref().filter(|_| status != Status::Diverged) {
            let errors =
                self.solver.errors(&solved.u, &|_, x| exact.value.at(x), Some(&|_, x| exact.gradient(x)));
            summary.insert("error".into(), summary::errors(&errors));
            table = Some(error_line(&errors));
        }
        let so_far = Value::Object(summary.clone());
        let checks: Vec<CheckResult> = match status {
            Status::Ok => plan
                .checks
                .iter()
                .filter_map(|c| checks::measure(c, &so_far, &plan.constants, c.value.value.clone()))
                .collect(),
            _ => Vec::new(),
        };
        // The results are printed last, after the line about iterations and speed.
        if status == Status::Ok {
            log.result(&self.closing(solved));
        }
        answer::lines(&summary).iter().for_each(|line| log.result(line));
        table.iter().for_each(|table| log.result(table));
        if !checks::told(&checks, log) {
            status = Status::CheckFailed;
        }
        summary.insert("checks".into(), checks.iter().map(CheckResult::to_json).collect());
        summary.insert("status".into(), json!(status.word()));
        // Files that could not be written are reported last.
        if let (None, Some(error)) = (failure, unwritten) {
            log.warn(&format!("error{}: {error}", kind(code)));
        }
        code.iter().for_each(|code| log.warn(&Code::more_about(&[*code])));
        Report { status, summary: Value::Object(summary), failure: message, checks }
    }

    /// The last line of a run.
    fn closing(&self, solved: &Solved) -> String {
        format!(
            "{} iterations to {:.2e} of the first residual in {:.2} s, {:.2} MDOF/s; results in {}",
            solved.iterations(),
            solved.reduction(),
            solved.solve_s,
            solved.mdofs_per_s(self.solver.describe().dofs),
            self.plan.directory.display()
        )
    }
}

/// The norms of the error, two lines.
fn error_line(errors: &Errors) -> String {
    let mut text = format!("{:<11} {:>12} {:>12} {:>12}", "error", "L1", "L2", "Linf");
    if errors.energy.is_some() {
        let _ = write!(text, " {:>12}", "energy");
    }
    let _ = write!(text, "\n{:<11} {:>12.4e} {:>12.4e} {:>12.4e}", "u", errors.l1, errors.l2, errors.linf);
    if let Some(energy) = errors.energy {
        let _ = write!(text, " {energy:>12.4e}");
    }
    text
}
