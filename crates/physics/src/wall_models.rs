//! Wall models: the shear stress of a turbulent boundary layer from the velocity at a height above the wall.
//!
//! An equilibrium model assumes the mean profile `u⁺(y⁺)` of a layer without pressure gradient between the
//! wall and the height h, with `u⁺ = u/u_τ` and `y⁺ = y u_τ/ν`. The velocity U along the wall at h gives the
//! Reynolds number `Re = U h/ν = y⁺ u⁺(y⁺)`, which determines `y⁺`, and with it
//!
//! ```text
//! τ_w = ρ u_τ² = μ (U/h) y⁺/u⁺,   u_τ = y⁺ ν/h
//! ```
//!
//! Below `y⁺ ≈ 5` the factor `y⁺/u⁺` is 1, as in laminar flow.
//!
//! ```
//! use dgsuite_physics::wall_models::WallModel;
//! for model in WallModel::ALL {
//!     let (y, u): (f64, f64) = model.at(300.0 * model.velocity(300.0));
//!     assert!((y - 300.0).abs() < 1e-9 && (u - model.velocity(300.0)).abs() < 1e-11);
//! }
//! ```

use crate::real::Real;

/// Kármán's constant κ of both profiles.
///
/// # Source
/// Lee & Moser, J. Fluid Mech. 774 (2015) 395–415, §3.2: κ = 0.384 and B = 4.27 fit a channel of Re_τ = 5186.
pub const KAPPA: f64 = 0.384;

/// The intercept B of the logarithmic law, `u⁺ = ln(y⁺)/κ + B`.
pub const INTERCEPT: f64 = 4.27;

/// A profile of the mean velocity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WallModel {
    /// ```text
    /// u⁺ = ln(1 + κ y⁺)/κ + C (1 − e^{−y⁺/11} − (y⁺/11) e^{−y⁺/3}),   C = B − ln(κ)/κ
    /// ```
    ///
    /// # Source
    /// Reichardt, ZAMM 31 (1951) 208–219.
    Reichardt,
    /// ```text
    /// y⁺ = u⁺ + e^{−κB} (e^{κu⁺} − 1 − κu⁺ − (κu⁺)²/2 − (κu⁺)³/6)
    /// ```
    ///
    /// # Source
    /// Spalding, J. Appl. Mech. 28 (1961) 455–458.
    Spalding,
}

/// Newton steps; from the start below five are enough for double precision.
const STEPS: usize = 8;

/// Reynolds numbers below this one are replaced by it: the flow is laminar.
const LEAST: f64 = 1e-10;

impl WallModel {
    /// All models.
    pub const ALL: [Self; 2] = [Self::Reichardt, Self::Spalding];

    /// The word in pipeline files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reichardt => "reichardt",
            Self::Spalding => "spalding",
        }
    }

    /// `u⁺` at `y⁺`.
    ///
    /// ```
    /// use dgsuite_physics::wall_models::WallModel;
    /// // The viscous sublayer, and the logarithmic law.
    /// for model in WallModel::ALL {
    ///     assert!((model.velocity(0.5_f64) - 0.5).abs() < 0.01);
    ///     assert!((model.velocity(1e4_f64) - (1e4_f64.ln() / 0.384 + 4.27)).abs() < 0.01);
    /// }
    /// ```
    pub fn velocity<R: Real>(self, y: R) -> R {
        match self {
            Self::Reichardt => reichardt(y)[0],
            Self::Spalding => {
                // y⁺ as a function of u⁺ is inverted as y⁺ u⁺ is: by Newton steps in logarithms.
                let mut u = R::select(y.lt(R::lit(11.0)), y, y.powf(R::lit(1.0 / 7.0)) * R::lit(8.3));
                for _ in 0..STEPS {
                    let [height, slope] = spalding(u);
                    u = u * ((y / height).ln() * height / (u * slope)).exp();
                }
                u
            }
        }
    }

    /// `y⁺` and `u⁺` where `y⁺ u⁺ = Re`.
    #[inline(always)]
    pub fn at<R: Real>(self, reynolds: R) -> (R, R) {
        let re = reynolds.max(R::lit(LEAST));
        // u⁺ = y⁺, and a power law.
        let laminar = re.sqrt();
        let turbulent = (re * R::lit(1.0 / 8.3)).powf(R::lit(7.0 / 8.0));
        let start = R::select(re.lt(R::lit(140.0)), laminar, turbulent);
        match self {
            Self::Reichardt => {
                let mut y = start;
                for _ in 0..STEPS {
                    let [u, slope] = reichardt(y);
                    let step = (re / (y * u)).ln() * u / y.mul_add(slope, u);
                    y = y * step.exp();
                }
                (y, re / y)
            }
            Self::Spalding => {
                let mut u = re / start;
                for _ in 0..STEPS {
                    let [y, slope] = spalding(u);
                    let step = (re / (y * u)).ln() * y / u.mul_add(slope, y);
                    u = u * step.exp();
                }
                (re / u, u)
            }
        }
    }
}

/// Reichardt's `u⁺(y⁺)` and its derivative.
#[inline(always)]
fn reichardt<R: Real>(y: R) -> [R; 2] {
    let c = R::lit(INTERCEPT - KAPPA.ln() / KAPPA);
    let (slow, fast) = ((y * R::lit(-1.0 / 11.0)).exp(), (y * R::lit(-1.0 / 3.0)).exp());
    let log = y.mul_add(R::lit(KAPPA), R::lit(1.0));
    let eleventh = R::lit(1.0 / 11.0);
    let bracket = R::lit(1.0) - slow - y * eleventh * fast;
    let slope = eleventh * (slow - fast + y * R::lit(1.0 / 3.0) * fast);
    [c.mul_add(bracket, log.ln() * R::lit(1.0 / KAPPA)), c.mul_add(slope, log.recip())]
}

/// Spalding's `y⁺(u⁺)` and its derivative.
#[inline(always)]
fn spalding<R: Real>(u: R) -> [R; 2] {
    let x = u * R::lit(KAPPA);
    let factor = R::lit((-KAPPA * INTERCEPT).exp());
    let half = R::lit(0.5) * x * x;
    let cubic = half * x * R::lit(1.0 / 3.0);
    let rest = x.exp() - R::lit(1.0) - x - half;
    [factor.mul_add(rest - cubic, u), R::lit(KAPPA) * factor * rest + R::lit(1.0)]
}

/// The temperature difference in wall units, `T⁺ = (T − T_w) ρ c_p u_τ/q_w`, at `y⁺`.
///
/// ```text
/// T⁺ = Pr y⁺ e^{−Γ} + (2.12 ln(1 + y⁺) + β) e^{−1/Γ}
/// β = (3.85 Pr^{1/3} − 1.3)² + 2.12 ln Pr,   Γ = 0.01 (Pr y⁺)⁴/(1 + 5 Pr³ y⁺)
/// ```
///
/// # Source
/// Kader, Int. J. Heat Mass Transfer 24 (1981) 1541–1544, eq. 9.
///
/// ```
/// use dgsuite_physics::wall_models::temperature;
/// // Conduction, and the logarithmic law of air.
/// assert!((temperature(0.1_f64, 0.71) - 0.071).abs() < 1e-7);
/// let log = 2.12 * 501.0_f64.ln() + (3.85 * 0.71_f64.cbrt() - 1.3).powi(2) + 2.12 * 0.71_f64.ln();
/// assert!((temperature(500.0_f64, 0.71) - log).abs() < 1e-3);
/// ```
#[inline(always)]
pub fn temperature<R: Real>(y: R, prandtl: f64) -> R {
    let beta = (3.85 * prandtl.cbrt() - 1.3).powi(2) + 2.12 * prandtl.ln();
    let warm = R::param("prandtl", prandtl) * y;
    let square = warm * warm;
    let bend = R::param("prandtl_cubed", 5.0 * prandtl.powi(3)).mul_add(y, R::lit(1.0));
    // The reciprocal stays finite.
    let gamma = (R::lit(0.01) * square * square / bend).max(R::lit(1e-30));
    let log = (y + R::lit(1.0)).ln().mul_add(R::lit(2.12), R::param("kader", beta));
    warm.mul_add((-gamma).exp(), log * (-gamma.recip()).exp())
}
