//! Outlet with a prescribed static pressure.

use super::{Boundary, Given};
use crate::diffusion::{Diffusion, DiffusiveBoundary};
use crate::euler::Euler;
use crate::law::Law;
use crate::navier_stokes::NavierStokes;
use crate::real::Real;

/// Pressure outlet: density and velocity from inside. The pressure is prescribed if the normal velocity is
/// subsonic, and taken from inside if it is supersonic.
///
/// This pressure does not enter diffusion: nothing is lifted, and the diffusive flux is that of the gradient
/// along the face, as in [`Outflow`](super::Outflow). A gradient of zero across the face is well posed for
/// any viscosity.
///
/// # Source
/// Hartmann & Houston, J. Comput. Phys. 183 (2002) 508–532 (subsonic outflow condition).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PressureOutlet {
    /// Static pressure outside; if prescribed, the last entry of the data.
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
        // Only the energy of the pressure difference is added, so that a supersonic state is returned
        // unchanged.
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
