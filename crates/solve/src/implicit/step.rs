//! A Newton step of a discretisation: its direction, and shares of it.

use std::time::Instant;

use dgsuite_amg::{Gmres, Reference, SolveError, Stop};
use dgsuite_gpu::{HostVector, Vector};
use dgsuite_ops::{Discretization, OpsError, PackScalar};
use dgsuite_timeint::{Direction, SteadyProblem};

use super::NewtonStatistics;
use super::linear::{Inverse, Linear, Operator};
use crate::setup::Newton;

/// The largest relative decrease of density and pressure in a step.
const DECREASE: f64 = 0.2;
/// Attempts to find a share that is admissible.
const ATTEMPTS: usize = 8;

/// A step in progress.
pub(super) struct Problem<'a, T: PackScalar> {
    pub(super) d: &'a mut Discretization<T>,
    pub(super) t: f64,
    pub(super) u: &'a mut HostVector<T>,
    pub(super) rate: HostVector<T>,
    /// The state before the step, in canonical order.
    pub(super) start: Vec<f64>,
    /// The scaled residual, and the direction.
    pub(super) right: HostVector<f64>,
    pub(super) delta: HostVector<f64>,
    pub(super) linear: &'a mut Linear,
    pub(super) gmres: &'a mut Gmres<HostVector<f64>>,
    pub(super) statistics: &'a mut NewtonStatistics,
}

impl<T: PackScalar> Problem<'_, T> {
    /// The scaled residual of the present state.
    fn residual(&mut self) {
        self.d.eval(self.t, self.u, &mut self.rate);
        self.right.copy_from_slice(&self.d.to_canonical(&self.rate));
        self.linear.scale(&mut self.right, false);
    }

    fn set_share(&mut self, share: f64) {
        let moved: Vec<f64> = self.start.iter().zip(self.delta.iter()).map(|(u, d)| u + share * d).collect();
        // The lengths agree by construction.
        let _ = self.d.from_canonical(&moved, self.u);
    }
}

/// Densities and pressures at points of all elements.
fn bounds_of<T: PackScalar>(d: &Discretization<T>, u: &HostVector<T>) -> Vec<f64> {
    let n = d.physics().n_fields();
    let (mut state, mut primitive) = (vec![0.0; n], vec![0.0; n]);
    let mut all = Vec::new();
    for sample in d.sample(u, d.order() + 1) {
        for i in 0..sample.points.len() {
            state.iter_mut().zip(&sample.values).for_each(|(u, field)| *u = field[i]);
            d.physics().to_primitive(&state, &mut primitive);
            all.extend([primitive[0], primitive[n - 1]]);
        }
    }
    all
}

impl<T: PackScalar> SteadyProblem for Problem<'_, T> {
    type Error = OpsError;

    fn direction(&mut self, cfl: f64) -> Result<Direction, OpsError> {
        let mut steps = Vec::new();
        self.d.time_step(self.u, Some(&mut steps))?;
        let steps = self.d.of_elements(&steps);
        self.linear.shifts = steps.iter().map(|dt| 1.0 / (cfl * dt)).collect();
        self.linear.scales = steps;
        self.linear.jacobian.linearise(self.t, &self.start);
        self.residual();
        let residual = self.right.norm2();
        let unsolved = |iterations| Direction { residual, iterations, solved: false };
        self.linear.prepare(self.statistics)?;
        let (begun, before) = (Instant::now(), self.linear.jacobian.products());
        self.delta.fill(0.0);
        let Newton { tolerance, max_iterations, .. } = self.linear.newton;
        let reference = Reference::InitialResidual;
        let stop = Stop { relative: tolerance, reference, absolute: 0.0, max_iterations };
        // `prepare` has made it.
        let Some(mut made) = self.linear.made.take() else { return Ok(unsolved(0)) };
        let mut inverse = Inverse::new(self.linear, &mut made)?;
        let operator = Operator(self.linear);
        let solved = self.gmres.solve(&operator, &mut inverse, &self.right, &mut self.delta, &stop);
        self.linear.made = Some(made);
        self.statistics.solve_s += begun.elapsed().as_secs_f64();
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
        let products = self.linear.jacobian.products() - before;
        self.linear.took(products, direction.solved);
        Ok(direction)
    }

    fn admissible(&mut self) -> f64 {
        let mut share = 1.0;
        let before = bounds_of(self.d, self.u);
        for _ in 0..ATTEMPTS {
            self.set_share(share);
            let after = bounds_of(self.d, self.u);
            let worst = before.iter().zip(&after).fold(1.0, |worst: f64, (before, after)| {
                let ratio = after / before;
                if ratio.is_nan() { f64::NEG_INFINITY } else { worst.min(ratio) }
            });
            if worst >= 1.0 - DECREASE {
                return share;
            }
            // The decrease is proportional to the share, nearly.
            share *= (0.9 * DECREASE / (1.0 - worst)).clamp(0.1, 0.9);
        }
        0.0
    }

    fn try_share(&mut self, share: f64) -> Result<[f64; 2], OpsError> {
        self.set_share(share);
        if self.d.time_step(self.u, None).is_err() {
            return Ok([f64::NAN; 2]);
        }
        self.residual();
        let residual = self.right.norm2();
        let Linear { jacobian, shifts, scales, .. } = &*self.linear;
        for (range, (shift, scale)) in jacobian.offsets.windows(2).zip(shifts.iter().zip(scales)) {
            let factor = share * shift * scale;
            for (r, d) in self.right[range[0]..range[1]].iter_mut().zip(&self.delta[range[0]..range[1]]) {
                *r -= factor * d;
            }
        }
        Ok([residual, self.right.norm2()])
    }

    fn go_back(&mut self) {
        self.set_share(0.0);
    }
}
