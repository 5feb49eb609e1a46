//! Conditions for any law: a prescribed state, or a copy of the inner state.

use super::Boundary;
use crate::diffusion::{Diffusion, DiffusiveBoundary};
use crate::law::Law;
use crate::real::Real;

/// The outer state is the prescribed data, `u⁺ = g` (Dirichlet, exact solution, supersonic inlet).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prescribed;

impl<L: Law<D, N>, const D: usize, const N: usize> Boundary<L, D, N> for Prescribed {
    const NAME: &'static str = "dirichlet";
    const USES_DATA: bool = true;

    #[inline(always)]
    fn outer<R: Real>(&self, _law: &L, _um: &[R; N], _n: &[R; D], data: &[R; N]) -> [R; N] {
        *data
    }
}

/// The diffusive flux is that of the prescribed state and the inner gradient, which is lifted towards this
/// state.
impl<V: Diffusion<D, N>, const D: usize, const N: usize> DiffusiveBoundary<V, D, N> for Prescribed {
    #[inline(always)]
    fn face_state<R: Real>(&self, _diffusion: &V, _um: &[R; N], _n: &[R; D], data: &[R; N]) -> [R; N] {
        *data
    }
}

/// The outer state is the inner state, `u⁺ = u⁻` (supersonic outlet). The solution is constant across the
/// face: nothing is lifted, and the diffusive flux is that of the gradient along the face.
///
/// The one-sided flux of the inner gradient would impose nothing; where diffusion outweighs the flow on the
/// scale of an element, disturbances grow without a condition. A gradient of zero is always well posed, and
/// exact if the flow leaves without changing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outflow;

impl<L: Law<D, N>, const D: usize, const N: usize> Boundary<L, D, N> for Outflow {
    const NAME: &'static str = "outflow";
    const USES_DATA: bool = false;

    #[inline(always)]
    fn outer<R: Real>(&self, _law: &L, um: &[R; N], _n: &[R; D], _data: &[R; N]) -> [R; N] {
        *um
    }
}

impl<V: Diffusion<D, N>, const D: usize, const N: usize> DiffusiveBoundary<V, D, N> for Outflow {
    const LEVEL: bool = true;
}
