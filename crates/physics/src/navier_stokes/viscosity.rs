//! Dynamic viscosity as a function of temperature.

use crate::real::Real;

/// The dynamic viscosity `μ(T)` of a gas.
///
/// # Source
/// Sutherland, Phil. Mag. 36 (1893) 507–531. For air, `S` = 110.4 K and `μ_ref` = 1.716e-5 kg/(m s) at 273.15
/// K, from the U.S. Standard Atmosphere 1976, eq. 51.
///
/// ```
/// use dgsuite_physics::navier_stokes::Viscosity;
/// let air = Viscosity::Sutherland { mu_ref: 1.716e-5, t_ref: 273.15, s: 110.4 };
/// assert!((air.at(288.15) - 1.789e-5_f64).abs() < 1e-8);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Viscosity {
    /// A constant viscosity `μ`.
    Constant {
        /// Dynamic viscosity.
        mu: f64,
    },
    /// A power of the temperature, `μ = μ_ref (T/T_ref)^ω`.
    PowerLaw {
        /// Dynamic viscosity at `t_ref`.
        mu_ref: f64,
        /// Reference temperature.
        t_ref: f64,
        /// The exponent `ω`, about 0.7 for air.
        exponent: f64,
    },
    /// Sutherland's law, `μ = μ_ref (T/T_ref)^{3/2} (T_ref + S)/(T + S)`.
    Sutherland {
        /// Dynamic viscosity at `t_ref`.
        mu_ref: f64,
        /// Reference temperature.
        t_ref: f64,
        /// Sutherland's temperature `S`.
        s: f64,
    },
}

impl Viscosity {
    /// Returns the viscosity at a temperature, which must be positive.
    #[inline(always)]
    pub fn at<R: Real>(&self, temperature: R) -> R {
        match *self {
            Self::Constant { mu } => R::param("mu", mu),
            Self::PowerLaw { mu_ref, t_ref, exponent } => {
                let ratio = R::param("inverse_t_ref", 1.0 / t_ref) * temperature;
                R::param("mu_ref", mu_ref) * ratio.powf(R::param("viscosity_exponent", exponent))
            }
            Self::Sutherland { mu_ref, t_ref, s } => {
                // μ_ref (1 + S/T_ref) θ^{3/2}/(θ + S/T_ref) with θ = T/T_ref: one root and one division.
                let ratio = R::param("inverse_t_ref", 1.0 / t_ref) * temperature;
                let s = s / t_ref;
                let size = R::param("mu_sutherland", mu_ref * (1.0 + s)) * ratio;
                size * ratio.sqrt() / (ratio + R::param("sutherland", s))
            }
        }
    }

    /// Returns whether the viscosity is the same at all temperatures, so that no gas constant is needed.
    pub fn is_constant(&self) -> bool {
        matches!(self, Self::Constant { .. })
    }
}
