//! Outlet with a prescribed static pressure.

use super::reservoir::Reservoir;
use super::{Boundary, Given};
use crate::diffusion::{Diffusion, DiffusiveBoundary};
use crate::euler::Euler;
use crate::law::Law;
use crate::navier_stokes::NavierStokes;
use crate::real::{Real, array, dot};

/// Pressure outlet: gas that leaves has the static pressure `p`; entropy and velocity come from inside. If
/// the inner state leaves faster than sound, the outer state is the inner one.
///
/// Where the flow is reversed, `p` is the total pressure of gas at rest outside, as at a
/// [`SubsonicInflow`](super::SubsonicInflow) along the normal; [`Backflow`] has its temperature and its
/// velocity along the boundary.
///
/// About uniform flow no disturbance gains energy at this boundary, with any numerical flux: the pressure
/// outside mirrors the one inside, `p⁺ ≈ 2p − p⁻`, so that `p` is the pressure at the face. The state with
/// the inner density and velocity and the pressure `p` itself feeds disturbances where the flow is slow and
/// the numerical flux is Rusanov's or HLL.
///
/// This pressure does not enter diffusion: nothing is lifted, and the diffusive flux is that of the gradient
/// along the face, as in [`Outflow`](super::Outflow). A gradient of zero across the face is well posed for
/// any viscosity.
///
/// # Source
/// Hartmann & Houston, J. Comput. Phys. 183 (2002) 508–532 (subsonic outflow: density and velocity from
/// inside), with the pressure mirrored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PressureOutlet {
    /// Static pressure of leaving gas, total pressure of entering gas; if prescribed, the last entry of the
    /// data.
    pub p: Given,
    /// The gas outside. `None` takes entropy and tangential velocity of entering gas from inside, so that a
    /// disturbance of them that enters is not bounded.
    pub backflow: Option<Backflow>,
}

/// The gas outside of a [`PressureOutlet`], which enters where the flow returns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backflow {
    /// Temperature of the gas at rest, `ρ = p/(RT)`; if prescribed, the first entry of the data.
    pub temperature: Given,
    /// Specific gas constant `R` in `p = ρ R T`.
    pub gas_constant: f64,
    /// A velocity of which the entering gas has the part along the boundary; if prescribed, component `d` is
    /// entry `1 + d` of the data. `None` means none.
    pub velocity: Option<[Given; 3]>,
}

impl PressureOutlet {
    /// The outlet with a constant pressure, without [`Backflow`].
    #[must_use]
    pub const fn at(p: f64) -> Self {
        Self { p: Given::Constant(p), backflow: None }
    }
}

impl<const D: usize, const N: usize> Boundary<Euler, D, N> for PressureOutlet
where
    Euler: Law<D, N>,
{
    const NAME: &'static str = "pressure-outlet";
    const USES_DATA: bool = true;

    #[inline(always)]
    fn outer<R: Real>(&self, law: &Euler, um: &[R; N], n: &[R; D], data: &[R; N]) -> [R; N] {
        const NAMES: [&str; 3] = ["outside_u", "outside_v", "outside_w"];
        let p = self.p.value("outlet_pressure", data[N - 1]);
        let inner = law.side(um, n);
        // The gas outside, at rest, and its velocity along the boundary.
        let (rho, along) = match self.backflow {
            Some(Backflow { temperature, gas_constant, velocity }) => {
                let t = temperature.value("outside_temperature", data[0]);
                let v = match velocity {
                    Some(v) => array!(D, |d| v[d].value(NAMES[d], data[1 + d])),
                    None => [R::lit(0.0); D],
                };
                (p / (R::param("gas_constant", gas_constant) * t), v)
            }
            None => (inner.rho * (p / inner.p).powf(law.gamma::<R>().recip()), inner.v),
        };
        let across = dot(&along, n);
        let along = array!(D, |d| along[d] - across * n[d]);
        Reservoir { p, rho }.outer(law, &inner, -inner.vn, &n.map(|n| -n), &along)
    }
}

impl<const D: usize, const N: usize> DiffusiveBoundary<NavierStokes, D, N> for PressureOutlet
where
    Euler: Law<D, N>,
    NavierStokes: Diffusion<D, N>,
{
    const LEVEL: bool = true;
}
