//! Two-point fluxes of split forms, by law.

use dgsuite_ops::{PackScalar, TwoPoint, TwoPointKernels};
use dgsuite_physics::two_point::{Central, KennedyGruber, Ranocha};
use dgsuite_physics::{Advection, Euler, Law, Tangent, TwoPointFlux};

/// The two-point flux of a split form. Advection has only the mean flux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SplitFlux {
    /// Preserves kinetic energy; has no logarithms.
    KennedyGruber,
    /// Conserves entropy and preserves kinetic energy.
    #[default]
    Ranocha,
}

/// A law with two-point fluxes.
pub trait SplitForms<T, const D: usize, const N: usize>: Law<D, N> {
    /// Returns the kernels of the two-point flux.
    fn two_point(&self, flux: SplitFlux) -> Box<dyn TwoPointKernels<T>>;
}

impl<T: PackScalar, const D: usize> SplitForms<T, D, 1> for Advection<D> {
    /// Always the mean flux: the other fluxes are for a gas.
    fn two_point(&self, _: SplitFlux) -> Box<dyn TwoPointKernels<T>> {
        Box::new(TwoPoint::<_, _, D, 1> { law: *self, flux: Central })
    }
}

impl<T: PackScalar, const D: usize, const N: usize> SplitForms<T, D, N> for Euler
where
    Self: Law<D, N>,
{
    fn two_point(&self, flux: SplitFlux) -> Box<dyn TwoPointKernels<T>> {
        match flux {
            SplitFlux::KennedyGruber => Box::new(TwoPoint::<_, _, D, N> { law: *self, flux: KennedyGruber }),
            SplitFlux::Ranocha => Box::new(TwoPoint::<_, _, D, N> { law: *self, flux: Ranocha }),
        }
    }
}

/// The two-point flux of a gas with its derivative along a direction; `M = 2N`.
pub fn tangent<const D: usize, const N: usize, const M: usize>(
    gas: Euler,
    flux: SplitFlux,
) -> Box<dyn TwoPointKernels<f64>>
where
    Euler: Law<D, N>,
{
    fn of<S, const D: usize, const N: usize, const M: usize>(
        gas: Euler,
        flux: S,
    ) -> Box<dyn TwoPointKernels<f64>>
    where
        Euler: Law<D, N>,
        S: TwoPointFlux<Euler, D, N>,
    {
        Box::new(TwoPoint::<_, _, D, M> { law: Tangent::<_, N>(gas), flux: Tangent::<_, N>(flux) })
    }
    match flux {
        SplitFlux::KennedyGruber => of::<_, D, N, M>(gas, KennedyGruber),
        SplitFlux::Ranocha => of::<_, D, N, M>(gas, Ranocha),
    }
}
