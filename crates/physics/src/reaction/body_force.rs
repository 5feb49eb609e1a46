//! Body forces on a gas, such as gravity.

use super::Reaction;
use crate::real::Real;

/// A force per mass `g(x)` on a gas, `S = (0, ρ g, ρ u·g)`, with the coefficients `c = g`, one for each
/// direction. The same formula implements `Reaction<4, 2>` and `Reaction<5, 3>`.
///
/// ```
/// use dgsuite_physics::reaction::{BodyForce, Reaction};
/// let u = [2.0, 4.0, -2.0, 9.0]; // ρ, ρu, ρv, ρE
/// assert_eq!(BodyForce.rate(&u, &[0.0, -10.0]), [0.0, 0.0, -20.0, 20.0]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BodyForce;

impl<const N: usize, const C: usize> Reaction<N, C> for BodyForce {
    #[inline(always)]
    fn rate<R: Real>(&self, u: &[R; N], c: &[R; C]) -> [R; N] {
        const { assert!(C > 0 && N == C + 2, "one component for each direction") };
        let mut work = u[1] * c[0];
        for d in 1..C {
            work = u[d + 1].mul_add(c[d], work);
        }
        let mut s = [R::lit(0.0); N];
        for d in 0..C {
            s[d + 1] = u[0] * c[d];
        }
        s[N - 1] = work;
        s
    }

    /// The eigenvalues are 0: the force depends on the density, which it does not change.
    fn stiffness(&self, _c: &[f64; C]) -> f64 {
        0.0
    }

    fn is_idle(&self, c: &[f64; C]) -> bool {
        c.iter().all(|g| *g == 0.0)
    }
}
