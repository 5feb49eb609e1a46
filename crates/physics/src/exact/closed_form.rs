//! A formula of a solution combined with its law: conserved states at batches of points.

use super::{Exact, Solution};
use crate::law::Law;
use crate::real::Real;
use crate::trace::Recording;

/// A [`Solution`] in the conserved unknowns of its law.
///
/// ```
/// use dgsuite_physics::exact::{ClosedForm, Exact, SupersonicVortex};
/// use dgsuite_physics::Euler;
///
/// let gas = Euler { gamma: 1.4 };
/// let vortex = ClosedForm::<_, _, 2, 4>::new(gas, SupersonicVortex::new(gas));
/// let mut out = vec![Vec::new(); vortex.n_fields()];
/// vortex.eval(0.0, &[[0.0, 1.0, 0.0]], &mut out);
/// assert_eq!((out[0][0], out[1][0]), (1.0, 2.25)); // ρ and ρu at the inner wall
/// ```
#[derive(Clone, Debug)]
pub struct ClosedForm<L, S, const D: usize, const N: usize> {
    law: L,
    solution: S,
}

impl<L: Law<D, N>, S: Solution<N>, const D: usize, const N: usize> ClosedForm<L, S, D, N> {
    /// Combines a solution with its law.
    pub fn new(law: L, solution: S) -> Self {
        Self { law, solution }
    }

    /// The conserved state at one point, over any number type.
    pub fn state<R: Real>(&self, t: R, x: &[R; 3]) -> [R; N] {
        self.law.to_conserved(&self.solution.primitive(t, x))
    }
}

impl<L: Law<D, N>, S: Solution<N>, const D: usize, const N: usize> Exact for ClosedForm<L, S, D, N> {
    fn n_fields(&self) -> usize {
        N
    }

    fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        assert_eq!(out.len(), N, "one vector per field");
        for o in out.iter_mut() {
            o.clear();
            o.reserve(x.len());
        }
        for point in x {
            for (o, value) in out.iter_mut().zip(self.state(t, point)) {
                o.push(value);
            }
        }
    }

    fn is_steady(&self) -> bool {
        self.solution.is_steady()
    }

    fn recorded(&self) -> Option<Recording> {
        Some(Recording::new(|t, x| self.state(t, &x)))
    }
}
