//! A Newton step of a discretisation: its direction, and shares of it.

use std::time::Instant;

use dgsuite_amg::{Gmres, Reference, SolveError, Stop};
use dgsuite_gpu::Vector;
use dgsuite_ops::OpsError;
use dgsuite_timeint::{Direction, SteadyProblem};

use super::NewtonStatistics;
use super::linear::Linear;
use super::parts::{Evolving, Parts};
use crate::setup::Newton;

/// The largest relative decrease of density and pressure in a step.
const DECREASE: f64 = 0.2;
/// Attempts to find a share that is admissible.
const ATTEMPTS: usize = 8;

/// A step in progress.
pub(super) struct Problem<'a, P: Parts, E> {
    pub(super) state: E,
    /// The scaled residual, and the direction.
    pub(super) right: P::Vector,
    pub(super) delta: P::Vector,
    pub(super) linear: &'a mut Linear<P>,
    pub(super) gmres: &'a mut Gmres<P::Vector>,
    pub(super) statistics: &'a mut NewtonStatistics,
}

impl<P: Parts, E: Evolving<P>> Problem<'_, P, E> {
    /// The norm of the scaled residual at the start of a step.
    pub(super) fn residual(&mut self) -> Result<f64, OpsError> {
        let steps = self.state.begin(&mut self.linear.parts)?;
        self.linear.parts.set_pseudo_time(&vec![0.0; steps.len()], &steps)?;
        self.state.residual(&self.linear.parts, &mut self.right)?;
        Ok(self.right.norm2())
    }
}

impl<P: Parts, E: Evolving<P>> SteadyProblem for Problem<'_, P, E> {
    type Error = OpsError;

    fn direction(&mut self, cfl: f64) -> Result<Direction, OpsError> {
        let steps = self.state.begin(&mut self.linear.parts)?;
        let shifts: Vec<f64> = steps.iter().map(|dt| 1.0 / (cfl * dt)).collect();
        self.linear.parts.set_pseudo_time(&shifts, &steps)?;
        self.state.residual(&self.linear.parts, &mut self.right)?;
        let residual = self.right.norm2();
        let unsolved = |iterations| Direction { residual, iterations, solved: false };
        self.linear.prepare(self.statistics)?;
        let (begun, before) = (Instant::now(), self.linear.parts.products());
        self.delta.fill(0.0);
        let Newton { tolerance, max_iterations, .. } = self.linear.newton;
        let reference = Reference::InitialResidual;
        let stop = Stop { relative: tolerance, reference, absolute: 0.0, max_iterations };
        let (operator, mut inverse) = self.linear.problem();
        let solved = self.gmres.solve(&operator, &mut inverse, &self.right, &mut self.delta, &stop);
        self.statistics.solve_s += begun.elapsed().as_secs_f64();
        if let Some(failure) = self.linear.parts.failure() {
            return Err(failure.into());
        }
        let direction = match &solved {
            Ok(solution) => Direction { residual, iterations: solution.iterations, solved: true },
            // The last iterate is a direction as well.
            Err(SolveError::MaxIterations { iterations, .. } | SolveError::Stagnated { iterations, .. }) => {
                unsolved(*iterations)
            }
            Err(_) => {
                self.delta.fill(0.0);
                unsolved(0)
            }
        };
        let products = self.linear.parts.products() - before;
        self.linear.took(products, direction.solved);
        Ok(direction)
    }

    fn admissible(&mut self) -> Result<f64, OpsError> {
        let mut share = 1.0;
        let before = self.state.bounds()?;
        for _ in 0..ATTEMPTS {
            self.state.set_share(share, &self.delta)?;
            let after = self.state.bounds()?;
            let worst = before.iter().zip(&after).fold(1.0, |worst: f64, (before, after)| {
                let ratio = after / before;
                if ratio.is_nan() { f64::NEG_INFINITY } else { worst.min(ratio) }
            });
            let worst = self.linear.parts.smallest(worst);
            if worst >= 1.0 - DECREASE {
                return Ok(share);
            }
            // The decrease is proportional to the share, nearly.
            share *= (0.9 * DECREASE / (1.0 - worst)).clamp(0.1, 0.9);
        }
        Ok(0.0)
    }

    fn try_share(&mut self, share: f64) -> Result<[f64; 2], OpsError> {
        self.state.set_share(share, &self.delta)?;
        if !self.state.is_admissible() {
            return Ok([f64::NAN; 2]);
        }
        self.state.residual(&self.linear.parts, &mut self.right)?;
        let residual = self.right.norm2();
        self.linear.parts.subtract_pseudo_time(share, &self.delta, &mut self.right);
        Ok([residual, self.right.norm2()])
    }

    fn go_back(&mut self) -> Result<(), OpsError> {
        self.state.set_share(0.0, &self.delta)
    }
}
