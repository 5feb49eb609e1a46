//! Two-point fluxes of split forms: which ones a law has.

use super::hyperbolic::{Form, Setup};
use dgsuite_ops::{PackScalar, TwoPoint, TwoPointKernels};
use dgsuite_physics::two_point::{Central, KennedyGruber, Ranocha};
use dgsuite_physics::{Advection, Euler, Law};

/// The two-point flux of a split form. Advection has one only, the mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SplitFlux {
    /// Kinetic-energy preserving; without logarithms.
    KennedyGruber,
    /// Entropy-conservative and kinetic-energy preserving.
    #[default]
    Ranocha,
}

impl Setup {
    /// The same in split form, at Lobatto points.
    #[must_use]
    pub fn split(self, flux: SplitFlux) -> Self {
        Self { form: Form::Split, split_flux: flux, ..self.collocated() }
    }
}

/// A law with two-point fluxes.
pub(crate) trait SplitForms<T, const D: usize, const N: usize>: Law<D, N> {
    /// The kernels of the two-point flux that is asked for.
    fn two_point(&self, flux: SplitFlux) -> Box<dyn TwoPointKernels<T>>;
}

impl<T: PackScalar, const D: usize> SplitForms<T, D, 1> for Advection<D> {
    /// The mean, whatever is asked for: the others are fluxes of a gas.
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
