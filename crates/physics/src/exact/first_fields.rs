//! The first fields of an exact solution, for a law that has only these.

use super::Exact;
use crate::trace::Recording;
use std::sync::Arc;

/// The first `n` fields of another solution. The velocity of a flow `(u_1, …, u_D, p)` is thus data for a law
/// without the pressure, such as [`Convection`](crate::Convection).
///
/// ```
/// use dgsuite_physics::exact::{Exact, FirstFields};
/// use dgsuite_physics::trace::Recording;
/// use std::sync::Arc;
/// let flow = Arc::new(Recording::new(|t, x| [x[1] * t, -x[0], x[0] * x[1]]));
/// let velocity = FirstFields { of: flow, n: 2 };
/// let mut out = vec![Vec::new(); velocity.n_fields()];
/// velocity.eval(2.0, &[[3.0, 4.0, 0.0]], &mut out);
/// assert_eq!(out, [[8.0], [-3.0]]);
/// ```
#[derive(Clone)]
pub struct FirstFields {
    /// The solution.
    pub of: Arc<dyn Exact>,
    /// Number of fields, at most that of the solution.
    pub n: usize,
}

impl Exact for FirstFields {
    fn n_fields(&self) -> usize {
        self.n
    }

    fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        assert_eq!(out.len(), self.n, "one vector per field");
        let mut all: Vec<Vec<f64>> = out.iter_mut().map(std::mem::take).collect();
        all.resize(self.of.n_fields(), Vec::new());
        self.of.eval(t, x, &mut all);
        for (o, values) in out.iter_mut().zip(all) {
            *o = values;
        }
    }

    fn is_steady(&self) -> bool {
        self.of.is_steady()
    }

    fn recorded(&self) -> Option<Recording> {
        self.of.recorded().map(|all| all.first(self.n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real::Real as _;

    #[test]
    fn the_first_fields_and_their_recording_have_the_same_bits() {
        let flow: Arc<dyn Exact> =
            Arc::new(Recording::new(|t, x| [(x[0] + t).sin(), x[1].exp(), (x[2] * t).cos()]));
        let x: Vec<[f64; 3]> = (0..5).map(|i| [0.3 * f64::from(i), 0.7, 1.0 - f64::from(i)]).collect();
        let mut all = vec![Vec::new(); 3];
        flow.eval(0.4, &x, &mut all);
        for n in 1..=3 {
            let first = FirstFields { of: flow.clone(), n };
            let recording = first.recorded().unwrap();
            assert_eq!((first.n_fields(), recording.n_outputs(), first.is_steady()), (n, n, false));
            let mut out = vec![vec![9.0; 8]; n];
            first.eval(0.4, &x, &mut out);
            assert_eq!(out, all[..n]);
            recording.eval_batch(0.4, &x, &mut out);
            assert_eq!(out, all[..n]);
        }
        // What is left out no longer counts.
        let mixed = Recording::new(|t, x| [x[0], x[1] * t]);
        assert!(mixed.depends_on_time() && !mixed.first(1).depends_on_time());
    }
}
