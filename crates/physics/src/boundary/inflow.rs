//! Inflow from a reservoir with given total pressure, total temperature and direction.

use super::{Boundary, Given};
use crate::diffusion::{Diffusion, DiffusiveBoundary};
use crate::euler::Euler;
use crate::law::Law;
use crate::navier_stokes::NavierStokes;
use crate::real::{Real, array, dot};

/// Subsonic inflow with total pressure `p₀`, total temperature `T₀` and a direction `a`; the outgoing
/// pressure wave determines the speed:
///
/// ```text
/// J = v⁻·n + 2c⁻/(γ−1) = q a·n + 2c/(γ−1),   c² + ½ (γ−1) q² = c₀² = γ R T₀
/// T = T₀ c²/c₀²,   p = p₀ (T/T₀)^{γ/(γ−1)},   v = q a
/// ```
///
/// The speed `q` is limited to the range from zero to the speed of sound. The reservoir does not enter
/// diffusion: nothing is lifted, and the diffusive flux is that of the gradient along the face, as in
/// [`FarField`](super::FarField).
///
/// # Source
/// Carlson, *Inflow/Outflow Boundary Conditions with Application to FUN3D*, NASA/TM–2011-217181, 2011.
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
        let (zero, half, two) = (R::lit(0.0), R::lit(0.5), R::lit(2.0));
        let gamma = law.gamma::<R>();
        let g1 = law.gamma_minus_one::<R>();
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
        let c02 = gamma * rt0;

        // (a² + 2/(γ−1)) c² − 2J c + ½ (γ−1) J² − a² c₀² = 0 for a = −a·n
        let inner = law.side(um, n);
        let j = inner.vn + two * inner.c2.sqrt() / g1;
        let a2 = inward * inward;
        let lead = a2 + two / g1;
        let discriminant = (a2 * (lead * c02 - half * g1 * j * j)).max(zero);
        let c = (j + discriminant.sqrt()) / lead;
        let sonic = (two * c02 / (gamma + R::lit(1.0))).sqrt();
        let q = ((two * c / g1 - j) / inward).max(zero).min(sonic);
        let ratio = R::lit(1.0) - half * g1 * q * q / c02;
        let p = p0 * ratio.powf(gamma / g1);
        law.conserved(p / (rt0 * ratio), &array!(D, |d| q * direction[d]), p)
    }
}

impl<const D: usize, const N: usize> DiffusiveBoundary<NavierStokes, D, N> for SubsonicInflow
where
    Euler: Law<D, N>,
    NavierStokes: Diffusion<D, N>,
{
    const LEVEL: bool = true;
}
