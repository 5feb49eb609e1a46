//! Sponge layers: damping towards a reference state.

use super::Reaction;
use crate::coefficients::Coefficients;
use crate::exact::Exact;
use crate::real::{Real, array};
use std::sync::Arc;

/// Damping towards a reference state, `S = σ(x) (u_ref(x) − u)`, with the coefficients
/// `c = (σ, u_ref,1, …, u_ref,N)`. The same formula implements `Reaction<N, N + 1>` for every `N`.
///
/// ```
/// use dgsuite_physics::reaction::{Reaction, Sponge};
/// let s = Sponge.rate(&[1.5, 0.25], &[2.0, 1.0, 0.0]); // u = (1.5, 0.25), σ = 2, u_ref = (1, 0)
/// assert_eq!(s, [-1.0, -0.5]);
/// ```
///
/// # Source
/// Israeli & Orszag, J. Comput. Phys. 41 (1981) 115–135 (a linear friction in a layer beside the
/// boundary); Mani, J. Comput. Phys. 231 (2012) 704–716 (choice of the strength).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sponge;

impl<const N: usize, const C: usize> Reaction<N, C> for Sponge {
    #[inline(always)]
    fn rate<R: Real>(&self, u: &[R; N], c: &[R; C]) -> [R; N] {
        const { assert!(C == N + 1, "the strength and a reference state") };
        array!(N, |k| c[0] * (c[k + 1] - u[k]))
    }

    fn stiffness(&self, c: &[f64; C]) -> f64 {
        c[0].abs()
    }

    fn is_idle(&self, c: &[f64; C]) -> bool {
        c[0] == 0.0
    }
}

/// The coefficients of a [`Sponge`]: its strength and its reference state.
pub struct SpongeCoefficients {
    /// The strength `σ`, per time: one coefficient, 0 or more.
    pub strength: Arc<dyn Coefficients>,
    /// The reference state, taken at time 0; it should not depend on time.
    pub state: Arc<dyn Exact>,
}

impl Coefficients for SpongeCoefficients {
    fn count(&self) -> usize {
        1 + self.state.n_fields()
    }

    fn eval(&self, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        let (strength, state) = out.split_at_mut(1);
        self.strength.eval(x, strength);
        self.state.eval(0.0, x, state);
    }
}
