//! Why a linear solve failed, and what to do about it.

use std::fmt::Write as _;

use dgsuite_amg::SolveError;
use dgsuite_gpu::GpuError;

use crate::code::Code;
use crate::file::problem::unsolved;
use crate::plan::elliptic::EllipticPlan;
use crate::plan::thin;
use crate::run::Status;
use dgsuite_solve::elliptic::{BadDatum, LineDescription, Orders, Preconditioning, Solved};

/// A solve that did not succeed.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The status of the run.
    pub status: Status,
    /// The kind of the error; `None` for a solve that was stopped.
    pub code: Option<Code>,
    /// The error.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// No smooth coefficient on a sensible mesh changes by this factor within an element.
const JUMP: f64 = 1e3;

/// Why a solve takes many iterations, as far as this case tells, and what helps.
fn slow(plan: &EllipticPlan, lines: Option<&LineDescription>) -> String {
    let (setup, solver) = (&plan.setup, &plan.setup.solver);
    let mut causes = thin::causes("solver", solver, &setup.mesh, lines);
    let jump = plan.largest_jump();
    if jump > JUMP {
        causes.push(format!(
            "`physics.kappa` changes by a factor {jump:.1e} within an element: give a coefficient that jumps by regions of the \
             mesh, such as {{ steel: 50, air: 0.02 }}"
        ));
    }
    if setup.penalty > thin::LARGE {
        causes.push(format!(
            "iterations grow with the root of the penalty, which is {} times the usual one: \
             `space.viscous: {{ sipdg: {{ penalty: 1 }} }}` is stable",
            setup.penalty
        ));
    }
    let mut raise = "raise `solver.max_iterations`".to_owned();
    if solver.preconditioner.is_multigrid() && solver.degree() < DEGREE {
        let _ = write!(raise, ", or `solver.degree`, to {DEGREE}");
    }
    if solver.preconditioner == Preconditioning::PmgAmg && solver.orders() == Orders::Half && setup.order > 2
    {
        raise.push_str("; `solver.coarsening: minus-one` saves iterations at high order");
    }
    unsolved::joined(&causes, &raise)
}

/// Above this degree a smoother does more work than it saves.
const DEGREE: usize = 5;

impl Failure {
    /// Translates the error of the solver for a user; `lines` are the linelets of its smoother.
    pub fn of(
        error: &SolveError,
        bad_datum: Option<&BadDatum>,
        (plan, lines): (&EllipticPlan, Option<&LineDescription>),
    ) -> Self {
        if let Some(datum) = bad_datum {
            return Self::of_datum(datum, plan);
        }
        let solver = &plan.setup.solver;
        let multigrid = solver.preconditioner.is_multigrid();
        let (status, hint) = match error {
            SolveError::MaxIterations { .. } => (Status::Failed, slow(plan, lines)),
            SolveError::Stagnated { residual, target, .. } => {
                let least = solver.tolerance * residual / target;
                let hint = format!(
                    "rounding allows no smaller residual here: set `solver.tolerance` to {:.0e} or above",
                    2.0 * least
                );
                (Status::Failed, hint)
            }
            SolveError::NotPositiveDefinite { .. } => {
                let penalty = plan.setup.penalty;
                let hint = format!(
                    "the penalty is too small on this mesh: `space.viscous: {{ sipdg: {{ penalty: {} }} }}` \
                     (it is {penalty} times the usual one)",
                    2.0 * penalty.max(1.0)
                );
                (Status::Failed, hint)
            }
            SolveError::PreconditionerNotPositive { .. } if multigrid => {
                let hint = "try `solver.inner_precision: double`, `solver.cycle: v`, or a larger penalty in \
                            `space.viscous`";
                (Status::Failed, hint.to_owned())
            }
            SolveError::PreconditionerNotPositive { .. } => {
                (Status::Failed, "try `solver.preconditioner: pmg-amg`".to_owned())
            }
            SolveError::Range { .. } => {
                let hint = "scale `physics.forcing` and the data of `boundaries`: the solution is as many times larger";
                (Status::Failed, hint.to_owned())
            }
            SolveError::NotFinite { .. } => {
                let hint = "a formula may give values that are not finite, such as 1/x at 0: check \
                            `physics.forcing` and the data of `boundaries`";
                (Status::Diverged, hint.to_owned())
            }
            SolveError::Diverged { .. } => {
                let hint = "the mesh may have very bad elements: `dgsuite mesh info` shows them; or try \
                            `solver.inner_precision: double`";
                (Status::Diverged, hint.to_owned())
            }
        };
        Self { status, code: Some(error.into()), message: error.to_string(), hint }
    }

    /// Describes a right-hand side or boundary datum that is not finite.
    fn of_datum(datum: &BadDatum, plan: &EllipticPlan) -> Self {
        let key = match &datum.boundary {
            None => "physics.forcing".to_owned(),
            Some(name) => format!("boundaries.{name}"),
        };
        let at: Vec<String> = datum.at[..plan.setup.mesh.dim]
            .iter()
            .map(|x| format!("{:.6}", if x.abs() < 5e-7 { 0.0 } else { *x }))
            .collect();
        let message =
            format!("`{key}` is {} in element {} at ({})", datum.value, datum.element, at.join(", "));
        let mut hint = "formulas must be finite everywhere in the elements: 1/x is not at x = 0, \
                 log(x) and sqrt(x) are not for x < 0"
            .to_owned();
        if plan.exact.is_some() {
            hint.push_str(
                "; where none is written, they are derived from `physics.exact` and its derivatives",
            );
        }
        Self { status: Status::Diverged, code: Some(Code::NotFinite), message, hint }
    }

    /// Describes a failure of the device, or of the communication with other ranks.
    pub fn of_device(error: &GpuError) -> Self {
        if let GpuError::Ranks(lost) = error {
            let hint = "see what that rank has said; the solve can be started again".to_owned();
            return Self { status: Status::Failed, code: Some(Code::Ranks), message: lost.to_string(), hint };
        }
        let hint = "`device: cpu` solves the same problem without it".to_owned();
        Self { status: Status::Failed, code: Some(Code::Device), message: error.to_string(), hint }
    }

    /// Describes a solve that was stopped from outside.
    pub fn stopped(solved: &Solved) -> Self {
        let message = format!(
            "stopped after {} iterations at {:.2e} of the first residual",
            solved.iterations(),
            solved.reduction()
        );
        Self { status: Status::Stopped, code: None, message, hint: String::new() }
    }
}
