//! Linear advection with a constant velocity, `∂u/∂t + a·∇u = 0`.

use crate::law::{Law, finite};
use crate::real::{Real, array, dot};

/// Linear advection `∂u/∂t + ∇·(a u) = 0` of one scalar in `D` dimensions.
///
/// ```
/// use dgsuite_physics::{Advection, Law};
/// let law = Advection { velocity: [2.0, -1.0] };
/// assert_eq!(law.flux(&[3.0]), [[6.0], [-3.0]]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advection<const D: usize> {
    /// The constant velocity `a`.
    pub velocity: [f64; D],
}

impl<const D: usize> Advection<D> {
    /// The velocity as numbers of the formula's type.
    #[inline(always)]
    pub(crate) fn velocity<R: Real>(&self) -> [R; D] {
        const NAMES: [&str; 3] = ["velocity_x", "velocity_y", "velocity_z"];
        const { assert!(D >= 1 && D <= 3) };
        array!(D, |d| R::param(NAMES[d], self.velocity[d]))
    }
}

impl<const D: usize> Law<D, 1> for Advection<D> {
    const NAME: &'static str = "advection";

    fn variables(&self) -> [&'static str; 1] {
        ["u"]
    }

    fn primitives(&self) -> [&'static str; 1] {
        ["u"]
    }

    #[inline(always)]
    fn flux<R: Real>(&self, u: &[R; 1]) -> [[R; 1]; D] {
        let a = self.velocity::<R>();
        array!(D, |d| [a[d] * u[0]])
    }

    #[inline(always)]
    fn normal_flux<R: Real>(&self, u: &[R; 1], n: &[R; D]) -> [R; 1] {
        [dot(&self.velocity(), n) * u[0]]
    }

    #[inline(always)]
    fn normal_speed<R: Real>(&self, _u: &[R; 1], n: &[R; D]) -> R {
        dot(&self.velocity(), n).abs()
    }

    #[inline(always)]
    fn max_speed<R: Real>(&self, _u: &[R; 1]) -> R {
        let a = self.velocity::<R>();
        dot(&a, &a).sqrt()
    }

    #[inline(always)]
    fn to_primitive<R: Real>(&self, u: &[R; 1]) -> [R; 1] {
        *u
    }

    #[inline(always)]
    fn to_conserved<R: Real>(&self, w: &[R; 1]) -> [R; 1] {
        *w
    }

    #[inline(always)]
    fn admissibility<R: Real>(&self, u: &[R; 1]) -> R {
        finite(u)
    }
}
