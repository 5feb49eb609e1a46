//! Conditions for any law: a prescribed state, and a copy of the inner one.

use super::Boundary;
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

/// The outer state is the inner state, `u⁺ = u⁻` (supersonic outlet).
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
