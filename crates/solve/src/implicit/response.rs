//! How a steady state changes with a parameter: one linear problem with the Jacobian.

use dgsuite_amg::{Reference, SolveError, Stop};
use dgsuite_gpu::Vector;
use dgsuite_ops::OpsError;

use super::parts::{Evolving, Parts};
use super::{Implicit, is_closed};
use crate::setup::Setup;

/// The change of a steady state with a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The change of the coefficients of this rank's elements, in canonical order.
    pub change: Vec<f64>,
    /// Iterations of the linear solver.
    pub iterations: usize,
    /// The residual of the linear problem relative to its right-hand side.
    pub residual: f64,
}

impl Response {
    /// Whether the linear problem was solved.
    #[must_use]
    pub fn is_solved(&self) -> bool {
        self.residual <= 2.0 * TOLERANCE
    }
}

/// The residual at which a linear problem is solved, relative to its right-hand side.
const TOLERANCE: f64 = 1e-10;
/// The largest number of iterations of an attempt.
const MOST: usize = 1000;

/// Why the steady state of a set-up has no derivatives, as what to do instead; `None` if it has them.
#[must_use]
pub fn lacks_responses(setup: &Setup) -> Option<String> {
    is_closed(setup).then(|| {
        "the steady state between walls depends on the mass at the start, and its linear problem has no unique \
         solution: leave `sensitivities` out"
            .to_owned()
    })
}

impl<P: Parts> Implicit<P> {
    /// Solves `−R′(u) w = r`. Where `R(u, α) = 0` and `r = ∂R/∂α`, the change of the steady state `u` with
    /// the parameter α is `w = du/dα`.
    ///
    /// The preconditioner is that of the last Newton step; it is made anew if the problem is not solved with
    /// it. Collective.
    pub(crate) fn response<E: Evolving<P>>(&mut self, mut state: E, r: &[f64]) -> Result<Response, OpsError> {
        let linear = &mut self.linear;
        let steps = state.begin(&mut linear.parts)?;
        let given = linear.parts.vector(r)?;
        let (mut right, mut change) = (given.zeros_like()?, given.zeros_like()?);
        // The rows have the scale of their element.
        linear.parts.set_pseudo_time(&vec![1.0; steps.len()], &steps)?;
        linear.parts.subtract_pseudo_time(-1.0, &given, &mut right);
        linear.parts.set_pseudo_time(&vec![0.0; steps.len()], &steps)?;
        let reference = Reference::RightHandSide;
        let stop = Stop { relative: TOLERANCE, reference, absolute: 0.0, max_iterations: MOST };
        let size = right.norm2();
        let mut iterations = 0;
        for attempt in 0..2 {
            if attempt > 0 {
                linear.forget();
            }
            linear.prepare(&mut self.statistics)?;
            let (operator, mut inverse) = linear.problem();
            let solved = self.gmres.solve(&operator, &mut inverse, &right, &mut change, &stop);
            if let Some(failure) = linear.parts.failure() {
                return Err(failure.into());
            }
            iterations += match &solved {
                Ok(solution) => solution.iterations,
                Err(
                    SolveError::MaxIterations { iterations, .. } | SolveError::Stagnated { iterations, .. },
                ) => *iterations,
                Err(_) => {
                    change.fill(0.0);
                    0
                }
            };
            if solved.is_ok() {
                break;
            }
        }
        let mut rest = given;
        linear.parts.apply(&change, &mut rest);
        rest.axpby(1.0, &right, -1.0);
        let residual = if size > 0.0 { rest.norm2() / size } else { 0.0 };
        self.saved.set(true);
        Ok(Response { change: linear.parts.values(&change)?, iterations, residual })
    }
}
