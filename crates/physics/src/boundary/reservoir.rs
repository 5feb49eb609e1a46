//! Gas at rest outside of a face, which is drawn in or takes up what leaves.

use crate::euler::{Euler, Side};
use crate::law::Law;
use crate::real::{Real, array};

/// A reservoir of gas at rest behind a face.
pub(super) struct Reservoir<R> {
    /// Pressure `p₀`.
    pub(super) p: R,
    /// Density `ρ₀`.
    pub(super) rho: R,
}

impl<R: Real> Reservoir<R> {
    /// Returns the outer state `u⁺` at a face between the inner state and the reservoir, from which gas
    /// enters with the velocity `q a + b`:
    ///
    /// ```text
    /// gas leaves, v⁻·n ≥ 0:  p_f = p₀,                                 v⁺ = v⁻,       entropy from inside
    /// gas enters:            p_f = p₀ (1 − ½ (γ−1) q²/c₀²)^{γ/(γ−1)},  v⁺ = q a + b,  that of the reservoir
    /// p⁺ = p_f (1 − d/(1 + d²)),   d = p⁻/p_f − 1
    /// ```
    ///
    /// The speed `q`, which the caller takes from inside such that `v⁺·n = v⁻·n`, is limited to that of
    /// sound. If the inner state leaves faster than sound, it is returned.
    ///
    /// Near `p_f` the outer pressure mirrors the inner one, and the normal velocity does not jump, so that
    /// the pressure at the face is `p_f` for any numerical flux: about uniform flow no disturbance gains
    /// energy. Outer states with the pressure `p_f` itself lack this property for fluxes of little or of much
    /// dissipation. Beside a pressure that is far from `p_f`, as at the start of a run, `p⁺` tends to `p_f`.
    #[inline(always)]
    pub(super) fn outer<const D: usize, const N: usize>(
        &self,
        law: &Euler,
        inner: &Side<R, D>,
        q: R,
        a: &[R; D],
        b: &[R; D],
    ) -> [R; N]
    where
        Euler: Law<D, N>,
    {
        let (half, one, two) = (R::lit(0.5), R::lit(1.0), R::lit(2.0));
        let gamma = law.gamma::<R>();
        let g1 = law.gamma_minus_one::<R>();
        let supersonic = inner.c2.sqrt().le(inner.vn);
        let enters = inner.vn.lt(R::lit(0.0));

        let c02 = gamma * self.p / self.rho;
        let q = q.min((two * c02 / (gamma + one)).sqrt());
        let static_part = (one - half * g1 * q * q / c02).powf(gamma / g1);
        let at_face = R::select(enters, self.p * static_part, self.p);
        let d = inner.p / at_face - one;
        let mirrored = at_face * (one - d / d.mul_add(d, one));
        let p = R::select(supersonic, inner.p, mirrored);
        let (rho_k, p_k) = (R::select(enters, self.rho, inner.rho), R::select(enters, self.p, inner.p));
        let rho = rho_k * (p / p_k).powf(gamma.recip());
        let v: [R; D] = array!(D, |d| R::select(enters, q.mul_add(a[d], b[d]), inner.v[d]));
        law.conserved(rho, &v, p)
    }
}
