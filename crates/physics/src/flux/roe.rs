//! Roe's flux with the entropy fix of Harten and Hyman.

use super::NumericalFlux;
use super::roe_average::roe_average;
use crate::euler::Euler;
use crate::law::Law;
use crate::real::{Real, array, dot};
use crate::two_point::{KennedyGruber, Ranocha, TwoPointFlux};

/// Roe's flux for the Euler equations:
///
/// ```text
/// f* = ½ (F⁻ + F⁺) − ½ Σ_i |λ_i| α_i r_i
/// ```
///
/// with waves `v̂_n ∓ ĉ` (sound, `α = (Δp ∓ ρ̂ ĉ Δv_n)/(2ĉ²)`) and `v̂_n` (entropy, `α = Δρ − Δp/ĉ²`, and
/// shear, `ρ̂ (Δv − Δv_n n)`), `ρ̂ = √(ρ⁻ρ⁺)`.
///
/// Entropy fix: if a sound wave is a rarefaction with speeds `λ_a < 0 < λ_b` at its ends, `|λ|` becomes the
/// chord of `|·|` between them,
///
/// ```text
/// |λ| ← (λ (λ_a + λ_b) − 2 λ_a λ_b) / (λ_b − λ_a)
/// ```
///
/// It has no parameter and does not change contacts, shear layers and supersonic flow. The state between the
/// sound waves comes from the linearised jump and the Riemann invariant of the wave.
///
/// # Source
/// Roe 1981; Toro 2009, §11.2 and §11.4 (Harten & Hyman, J. Comput. Phys. 50 (1983) 235–269).
///
/// # Low Mach numbers
/// The sound waves dissipate jumps of the normal velocity by `½ ρ̂ ĉ Δv_n`, which at a Mach number `M` is
/// `1/M` times what convection needs. With [`low_mach`](Self::low_mach) they dissipate jumps `min(1, M) Δv_n`
/// instead (Rieper, J. Comput. Phys. 230 (2011) 5263–5287), where `M` is the larger of the Mach numbers
/// `|v|/c` of the two sides (as in Oßwald, Siegmund, Birken, Hannemann & Meister, Int. J. Numer. Methods
/// Fluids 81 (2016) 71–87): the Mach number of the mean velocity vanishes between streams with opposite
/// velocities. Supersonic flow is the same as with Roe's flux; weak shocks, and sound in a gas at rest, are
/// dissipated less.
///
/// # Less dissipation
/// The dissipation of a numerical flux is designed for steps between elements that are poorly resolved or not
/// resolved. In under-resolved turbulence it removes more energy than the missing scales would. With a
/// `dissipation` `κ` below 1, and any of the means `f#`, the flux is
///
/// ```text
/// f* = f#(u⁻, u⁺, n) − κ ½ Σ_i |λ_i| α_i r_i
/// ```
///
/// which is no longer upwind in supersonic flow. With the two-point flux of the split form for `f#`, only the
/// dissipation of the waves changes the quantities that this form conserves: kinetic energy, or entropy
/// (Gassner, Winters & Kopriva, J. Comput. Phys. 327 (2016) 39–66; a small `κ` as in Flad & Gassner, J.
/// Comput. Phys. 350 (2017) 782–795).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roe {
    /// Whether jumps of the normal velocity are scaled by the Mach number.
    pub low_mach: bool,
    /// The mean to which the dissipation of the waves is added.
    pub mean: FaceMean,
    /// The share `κ` of the dissipation, from 0 to 1.
    pub dissipation: f64,
}

/// A mean of two states' fluxes to which the dissipation of a numerical flux is added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FaceMean {
    /// `½ (F⁻ + F⁺)`.
    #[default]
    Fluxes,
    /// The two-point flux of [`KennedyGruber`].
    KennedyGruber,
    /// The two-point flux of [`Ranocha`].
    Ranocha,
}

impl Roe {
    /// Roe's flux.
    pub const PLAIN: Self = Self { low_mach: false, mean: FaceMean::Fluxes, dissipation: 1.0 };
    /// With the fix for low Mach numbers.
    pub const LOW_MACH: Self = Self { low_mach: true, ..Self::PLAIN };
}

/// `|λ|`, or its chord over `[a, b]` if this interval contains zero.
#[inline(always)]
fn fixed_speed<R: Real>(lambda: R, a: R, b: R) -> R {
    let zero = R::lit(0.0);
    let transonic = R::and(a.lt(zero), zero.lt(b));
    let width = R::select(transonic, b - a, R::lit(1.0));
    let chord = (lambda * (a + b) - R::lit(2.0) * a * b) / width;
    let size = lambda.abs();
    R::select(transonic, chord.max(size), size)
}

impl<const D: usize, const N: usize> NumericalFlux<Euler, D, N> for Roe
where
    Euler: Law<D, N>,
{
    const NAME: &'static str = "roe";

    fn with_share(self, share: f64, mean: FaceMean) -> Self {
        Self { mean, dissipation: share, ..self }
    }

    #[inline(always)]
    fn eval<R: Real>(&self, law: &Euler, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        let m = law.side(um, n);
        let p = law.side(up, n);
        let roe = roe_average(law, &m, &p);
        let g1 = law.gamma_minus_one::<R>();
        let half = R::lit(0.5);
        let drho = p.rho - m.rho;
        let dp = p.p - m.p;
        let dvn = p.vn - m.vn;
        let dv = array!(D, |d| p.v[d] - m.v[d]);
        let impedance = roe.rho * roe.c;

        // Sound speeds and the normal velocity between the sound waves.
        let (cm, cp) = (m.c2.sqrt(), p.c2.sqrt());
        let vn_star = half * (m.vn + p.vn - dp / impedance);
        let zero = R::lit(0.0);
        let cm_star = (half * g1).mul_add(m.vn - vn_star, cm).max(zero);
        let cp_star = (half * g1).mul_add(vn_star - p.vn, cp).max(zero);
        let slow = fixed_speed(roe.vn - roe.c, m.vn - cm, vn_star - cm_star);
        let fast = fixed_speed(roe.vn + roe.c, vn_star + cp_star, p.vn + cp);
        let middle = roe.vn.abs();

        let inverse = roe.c2.recip();
        let seen = if self.low_mach {
            // The mean velocity would vanish between diverging streams, and there would be no dissipation to
            // couple them.
            let fastest = (dot(&m.v, &m.v) / m.c2).max(dot(&p.v, &p.v) / p.c2);
            // Not every device can compute roots of subnormal numbers.
            impedance * fastest.max(R::lit(1e-16)).min(R::lit(1.0)).sqrt()
        } else {
            impedance
        };
        let a_slow = slow * (half * inverse * (dp - seen * dvn));
        let a_fast = fast * (half * inverse * (dp + seen * dvn));
        let a_entropy = middle * (drho - dp * inverse);
        let a_shear = middle * roe.rho;

        // Sums of |λ|α over the waves that carry 1, v̂ and n, with ½|v̂|² and Ĥ for the energy.
        let carried = a_slow + a_entropy + a_fast;
        let sound = roe.c * (a_fast - a_slow);
        let v2 = dot(&roe.v, &roe.v);
        let enthalpy = (half * v2) + roe.c2 / g1;
        let shear = array!(D, |d| a_shear * (dv[d] - dvn * n[d]));

        let mut upwind = [carried; N];
        for d in 0..D {
            upwind[1 + d] = carried.mul_add(roe.v[d], sound.mul_add(n[d], shear[d]));
        }
        upwind[N - 1] =
            enthalpy * (a_slow + a_fast) + half * v2 * a_entropy + sound * roe.vn + dot(&roe.v, &shear);
        let mean = match self.mean {
            FaceMean::Fluxes => {
                let fm = Euler::flux_of(um, m.vn, m.p, n);
                let fp = Euler::flux_of(up, p.vn, p.p, n);
                if self.dissipation == 1.0 {
                    return array!(N, |k| half * (fm[k] + fp[k] - upwind[k]));
                }
                array!(N, |k| half * (fm[k] + fp[k]))
            }
            FaceMean::KennedyGruber => KennedyGruber.eval(law, um, up, n),
            FaceMean::Ranocha => Ranocha.eval(law, um, up, n),
        };
        let share = half * R::param("dissipation", self.dissipation);
        array!(N, |k| share.mul_add(-upwind[k], mean[k]))
    }
}
