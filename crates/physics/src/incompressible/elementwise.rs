//! The flux of the inner side, with which a weak form is a derivative element by element.

use crate::flux::NumericalFlux;
use crate::law::Law;
use crate::real::Real;

/// The flux of the inner side, `f* = F(u⁻)·n`. A right-hand side with it is `−∇·F(u)` in each element alone,
/// without any coupling: the divergence that a penalty reduces.
///
/// The flux is consistent but **not conservative**, `f*(a, b, n) ≠ −f*(b, a, −n)`: the residual of an element
/// evaluates all its faces with the element on the minus side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ElementwiseFlux;

impl<L: Law<D, N>, const D: usize, const N: usize> NumericalFlux<L, D, N> for ElementwiseFlux {
    const NAME: &'static str = "elementwise";

    #[inline(always)]
    fn eval<R: Real>(&self, law: &L, um: &[R; N], _up: &[R; N], n: &[R; D]) -> [R; N] {
        law.normal_flux(um, n)
    }
}
