//! Outlet with a prescribed static pressure.

use super::{Boundary, Given};
use crate::diffusion::{Diffusion, DiffusiveBoundary};
use crate::euler::Euler;
use crate::law::Law;
use crate::navier_stokes::NavierStokes;
use crate::real::Real;

/// Pressure outlet: density and velocity from inside; the pressure is prescribed where the normal velocity is
/// below the speed of sound and taken from inside where it is above.
///
/// Diffusion does not see that pressure: nothing is lifted, and the diffusive flux is that of the gradient
/// along the face, as in [`Outflow`](super::Outflow): a gradient of zero across the face is well posed for
/// any viscosity.
///
/// # Source
/// Hartmann & Houston, J. Comput. Phys. 183 (2002) 508–532 (subsonic outflow condition).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PressureOutlet {
    /// Static pressure outside; where it is prescribed, the last entry of the data.
    pub p: Given,
}

impl<const D: usize, const N: usize> Boundary<Euler, D, N> for PressureOutlet
where
    Euler: Law<D, N>,
{
    const NAME: &'static str = "pressure-outlet";
    const USES_DATA: bool = true;

    #[inline(always)]
    fn outer<R: Real>(&self, law: &Euler, um: &[R; N], n: &[R; D], data: &[R; N]) -> [R; N] {
        let inner = law.side(um, n);
        let subsonic = inner.vn.lt(inner.c2.sqrt());
        // Energy of the pressure difference only, so that a supersonic state is returned as it is.
        let dp = R::select(subsonic, self.p.value("outlet_pressure", data[N - 1]) - inner.p, R::lit(0.0));
        let mut up = *um;
        up[N - 1] = um[N - 1] + dp / law.gamma_minus_one();
        up
    }
}

impl<const D: usize, const N: usize> DiffusiveBoundary<NavierStokes, D, N> for PressureOutlet
where
    Euler: Law<D, N>,
    NavierStokes: Diffusion<D, N>,
{
    const LEVEL: bool = true;
}
