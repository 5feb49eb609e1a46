//! Inflow from a reservoir with given total pressure, total temperature and direction.

use super::reservoir::Reservoir;
use super::{Boundary, Given};
use crate::diffusion::{Diffusion, DiffusiveBoundary};
use crate::euler::Euler;
use crate::law::Law;
use crate::navier_stokes::NavierStokes;
use crate::real::{Real, array, dot};

/// Subsonic inflow from a reservoir with total pressure `p₀` and total temperature `T₀` along a direction
/// `a`: the speed follows from inside, and determines the static pressure,
///
/// ```text
/// q = v⁻·n/(a·n),   v = q a,   T = T₀ − ½ (γ−1)/γ q²/R,   p = p₀ (T/T₀)^{γ/(γ−1)}
/// ```
///
/// for speeds up to that of sound. Where the flow is reversed, gas leaves into the reservoir at the pressure
/// `p₀`, as through a [`PressureOutlet`](super::PressureOutlet).
///
/// About uniform flow along the normal no disturbance gains energy at this boundary, with any numerical flux.
/// Where the direction is oblique, the tangential velocity follows the normal one; Rusanov's flux and HLL,
/// which diffuse shear, may then feed disturbances.
///
/// The reservoir does not enter diffusion: nothing is lifted, and the diffusive flux is that of the gradient
/// along the face, as in [`FarField`](super::FarField).
///
/// # Source
/// Carlson, *Inflow/Outflow Boundary Conditions with Application to FUN3D*, NASA/TM–2011-217181, 2011 (total
/// conditions and direction); the outer pressure is mirrored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubsonicInflow {
    /// Total pressure `p₀`; if prescribed, the first entry of the data.
    pub total_pressure: Given,
    /// Total temperature `T₀`; if prescribed, the last entry of the data.
    pub total_temperature: Given,
    /// Specific gas constant `R` in `p = ρ R T`.
    pub gas_constant: f64,
    /// Unit vector of the velocity, into the domain; if prescribed, component `d` is entry `1 + d` of the
    /// data. `None` means against the normal.
    pub direction: Option<[Given; 3]>,
}

impl<const D: usize, const N: usize> Boundary<Euler, D, N> for SubsonicInflow
where
    Euler: Law<D, N>,
{
    const NAME: &'static str = "subsonic-inflow";
    const USES_DATA: bool = true;

    #[inline(always)]
    fn outer<R: Real>(&self, law: &Euler, um: &[R; N], n: &[R; D], data: &[R; N]) -> [R; N] {
        const NAMES: [&str; 3] = ["inflow_x", "inflow_y", "inflow_z"];
        let direction = match self.direction {
            Some(a) => array!(D, |d| a[d].value(NAMES[d], data[1 + d])),
            None => array!(D, |d| -n[d]),
        };
        // The cosine between the direction and the inward normal, with a positive lower bound for faces along
        // the flow.
        let inward = (-dot(&direction, n)).max(R::lit(1e-3));
        let p0 = self.total_pressure.value("total_pressure", data[0]);
        let rt0 = R::param("gas_constant", self.gas_constant)
            * self.total_temperature.value("total_temperature", data[N - 1]);
        let inner = law.side(um, n);
        let q = -(inner.vn / inward);
        Reservoir { p: p0, rho: p0 / rt0 }.outer(law, &inner, q, &direction, &[R::lit(0.0); D])
    }
}

impl<const D: usize, const N: usize> DiffusiveBoundary<NavierStokes, D, N> for SubsonicInflow
where
    Euler: Law<D, N>,
    NavierStokes: Diffusion<D, N>,
{
    const LEVEL: bool = true;
}
