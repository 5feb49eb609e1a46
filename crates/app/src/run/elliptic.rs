//! The run of an elliptic problem: set-up, solve, results, summary.

mod failure;
pub(crate) mod outputs;
mod summary;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::json;

pub use self::failure::Failure;
use super::log::Log;
use super::{Ending, Run, Status};
use crate::code::Code;
use crate::communication::{Communication, so_far};
use crate::directory::Directory;
use crate::file::problem::{InputError, Problem};
use crate::monitors::not_finite::NotFinite;
use crate::pipeline::Document;
use crate::plan::elliptic::{EllipticPlan, print};
use crate::plan::{Choices, Outline};
use dgsuite_ops::agree;
use dgsuite_solve::elliptic::{Elliptic, EllipticError, Errors, Preconditioning, Solved};
use dgsuite_solve::flow::OpsError;

/// A run that is ready to start: the plan is made and the solver is set up.
pub struct EllipticRun {
    /// The plan.
    pub plan: EllipticPlan,
    /// Operator and preconditioner.
    pub solver: Elliptic,
    /// Seconds of the set-up.
    pub setup_s: f64,
}

/// Number of basis functions of a tensor basis, from which a preconditioner takes seconds to set up.
const LARGE: usize = 200_000;

/// Time between two lines of progress.
const INTERVAL: Duration = Duration::from_secs(1);

impl EllipticRun {
    /// Makes the plan, the operator and the preconditioner.
    ///
    /// # Errors
    /// The first mistake found in the input; nothing has been written then.
    pub fn new(document: &Document, choices: &Choices) -> Result<Self, InputError> {
        let start = Instant::now();
        let plan = match &choices.comm {
            Some(comm) => EllipticPlan::on_ranks(document, choices, comm)?,
            None => EllipticPlan::new(document, choices)?,
        };
        let mut setup = plan.setup.clone();
        // Of small problems a check sets up all, and finds what only multigrid notices.
        let size = setup.mesh.n_elements() * (setup.order + 1).pow(setup.mesh.dim as u32);
        if choices.only_described && size > LARGE {
            setup.solver.preconditioner = Preconditioning::None;
        }
        let comm = setup.comm.clone();
        let solver = Elliptic::new(setup).map_err(|error| {
            let place = match &error {
                EllipticError::Operator(OpsError::Jacobian { .. } | OpsError::Empty) => {
                    &plan.outline.places.mesh
                }
                EllipticError::Operator(OpsError::Coefficient { .. })
                | EllipticError::Matrix(_)
                | EllipticError::Overflow
                | EllipticError::Underflow { .. }
                | EllipticError::NearlySingular
                | EllipticError::Floating { .. } => &plan.physics,
                EllipticError::Mesh(_) => &plan.outline.places.mesh,
                EllipticError::Machine(error) => plan.outline.places.of_machine(error),
                _ => &plan.outline.places.space,
            };
            InputError::at(place, Problem::Elliptic { error })
        });
        let mut solver = match comm {
            Some(comm) => agree(comm.as_ref(), solver)?,
            None => solver?,
        };
        if plan.setup.solver.has_lines() {
            solver.find_lines();
        }
        Ok(Self { plan, solver, setup_s: start.elapsed().as_secs_f64() })
    }

    /// Solves and prints lines of progress.
    fn solve(&mut self, log: &mut Log) -> Solved {
        let mut said = Instant::now();
        let mut first = None;
        let solved = self.solver.solve(&self.plan.outline.stop, &mut |iteration, residual| {
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
        if let Ok(solution) = &solved.outcome
            && solution.true_residual > solution.target
        {
            log.note(&format!(
                "rounding allows no smaller residual than {:.3e}; the tolerance asks for {:.3e}",
                solution.true_residual, solution.target
            ));
        }
        solved
    }

    /// The last line of a run.
    fn closing(&self, solved: &Solved) -> String {
        format!(
            "{} iterations to {:.2e} of the first residual in {:.2} s, {:.2} MDOF/s; results in {}",
            solved.iterations(),
            solved.reduction(),
            solved.solve_s,
            solved.mdofs_per_s(self.solver.describe().dofs),
            self.plan.outline.directory.display()
        )
    }
}

impl Run for EllipticRun {
    fn outline(&self) -> &Outline {
        &self.plan.outline
    }

    fn describe(&mut self) -> String {
        let mut text = print::plan(&self.plan, self.solver.describe());
        for warning in &self.plan.outline.warnings {
            let _ = writeln!(text, "warning     {warning}");
        }
        text
    }

    fn writes(&self) -> bool {
        self.solver.writes()
    }

    fn compute(&mut self, directory: &Directory, log: &mut Log) -> Ending {
        let described = self.solver.describe();
        log.note(&format!(
            "set-up in {:.2} s: operator {:.2} s, preconditioner {:.2} s",
            self.setup_s,
            described.operator_s + described.device_s,
            described.preconditioner_s
        ));
        let comm = self.plan.setup.comm.clone();
        let before = so_far(comm.as_ref());
        let solved = self.solve(log);
        // A failure of the communication is in the outcome.
        let sent = Communication::since(before, comm.as_ref()).unwrap_or_default();
        let lines = self.solver.describe().lines.as_ref();
        let failed = |error| Failure::of(error, solved.bad_datum.as_ref(), (&self.plan, lines));
        let failure = solved.outcome.as_ref().err().map(failed);
        let failure = failure.map(|failure| if solved.stopped { Failure::stopped(&solved) } else { failure });
        let failure = solved.refused.as_ref().map(Failure::of_device).or(failure);
        let start = Instant::now();
        let not_finite = NotFinite::default();
        let written =
            outputs::write(&self.plan, &self.solver, &solved, failure.as_ref(), directory, &not_finite);
        not_finite.take().iter().for_each(|warning| log.warn(warning));
        let output_s = start.elapsed().as_secs_f64();
        let plan = &self.plan;
        let mut summary = summary::facts(plan, &self.solver, (&solved, sent), self.setup_s, output_s);
        let mut last = Vec::new();
        let kind = |code: Option<Code>| code.map_or_else(String::new, |code| format!("[{code}]"));
        let (status, message, code) = match (failure, written) {
            (Some(Failure { status, code, message, hint }), _) => {
                if status == Status::Stopped {
                    log.warn(&message);
                } else {
                    log.warn(&format!("error{}: {message}\nhint: {hint}", kind(code)));
                    log.warn(&format!(
                        "the last iterate is in fields/failed.vtu, residuals in monitors/residual.csv of {}",
                        plan.outline.directory.display()
                    ));
                }
                (status, Some(message), code)
            }
            (None, Err(error)) => {
                // Files that could not be written are reported last.
                let code = Some((&error).into());
                last.push(format!("error{}: {error}", kind(code)));
                (Status::Failed, Some(error.to_string()), code)
            }
            (None, Ok(())) => (Status::Ok, None, None),
        };
        if let Some(message) = message.as_ref().filter(|_| status != Status::Stopped) {
            summary.insert("failure".into(), json!({ "code": code.map(Code::word), "message": message }));
        }
        let errors = plan.exact.as_ref().filter(|_| status != Status::Diverged).map(|exact| {
            let errors =
                self.solver.errors(&solved.u, &|_, x| exact.value.at(x), Some(&|_, x| exact.gradient(x)));
            (summary::errors(&errors), error_line(&errors))
        });
        last.extend(code.map(|code| Code::more_about(&[code])));
        let closing = self.closing(&solved);
        Ending { status, failure: message, summary, errors, closing, answers: true, last }
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
