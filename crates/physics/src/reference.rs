//! From Mach and Reynolds number to the numbers that a run needs: density, velocity, pressure, temperature,
//! viscosity.

use crate::euler::Euler;
use crate::navier_stokes::{NavierStokes, Viscosity};

/// How far the viscosity follows the temperature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ViscosityModel {
    /// Not at all.
    Constant,
    /// `(T/T∞)^ω`.
    PowerLaw {
        /// The exponent `ω`.
        exponent: f64,
    },
    /// Sutherland's law with `S/T∞`, Sutherland's temperature over that of the free stream (both in the same
    /// unit).
    Sutherland {
        /// `S/T∞`: for air 110.4 K over the temperature in kelvin.
        s_over_t: f64,
    },
}

/// The units that the free stream is described in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scales {
    /// Density, speed and temperature of the free stream are one. The gas constant follows, `R = 1/(γ M²)`.
    Unit,
    /// Temperature, gas constant and viscosity at that temperature are given; density follows from the
    /// Reynolds number.
    Dimensional {
        /// Temperature of the free stream.
        temperature: f64,
        /// Specific gas constant.
        gas_constant: f64,
        /// Dynamic viscosity at that temperature.
        mu: f64,
    },
}

/// The free stream of a flow that is given by Mach and Reynolds number.
///
/// ```text
/// c = √(γ R T),   V = M c,   p = ρ R T,   Re = ρ V L/μ
/// ```
///
/// ```
/// use dgsuite_physics::reference::{ReferenceState, Scales, ViscosityModel};
/// use dgsuite_physics::Euler;
/// let gas = Euler { gamma: 1.4 };
/// let r = ReferenceState::new(gas, 0.72, 0.2, 40.0, 1.0, Scales::Unit, ViscosityModel::Constant)?;
/// assert!((r.mu - 1.0 / 40.0).abs() < 1e-15 && (r.pressure - 1.0 / (1.4 * 0.04)).abs() < 1e-12);
/// # Ok::<(), dgsuite_physics::reference::ReferenceError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReferenceState {
    /// Mach number `M`.
    pub mach: f64,
    /// Reynolds number `Re`.
    pub reynolds: f64,
    /// Length `L` of the Reynolds number.
    pub length: f64,
    /// Density `ρ`.
    pub density: f64,
    /// Speed `V`.
    pub speed: f64,
    /// Pressure `p`.
    pub pressure: f64,
    /// Temperature `T`.
    pub temperature: f64,
    /// Dynamic viscosity `μ` at that temperature.
    pub mu: f64,
    /// The equations' parameters.
    pub equations: NavierStokes,
}

/// What can be wrong with a reference state.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReferenceError {
    /// A number that must be positive is not.
    #[error("`{name}` is {value}, expected a number above {least}")]
    NotAbove {
        /// The number.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it must exceed.
        least: f64,
    },
}

impl ReferenceState {
    /// Derives the free stream.
    ///
    /// # Errors
    /// [`ReferenceError`] if `γ ≤ 1`, or any other number is not positive and finite.
    pub fn new(
        gas: Euler,
        prandtl: f64,
        mach: f64,
        reynolds: f64,
        length: f64,
        scales: Scales,
        viscosity: ViscosityModel,
    ) -> Result<Self, ReferenceError> {
        let above = |name: &'static str, value: f64, least: f64| {
            let fine = value > least && value.is_finite();
            if fine { Ok(()) } else { Err(ReferenceError::NotAbove { name, value, least }) }
        };
        above("gamma", gas.gamma, 1.0)?;
        for (name, value) in
            [("prandtl", prandtl), ("mach", mach), ("reynolds", reynolds), ("length", length)]
        {
            above(name, value, 0.0)?;
        }
        let (density, speed, temperature, gas_constant, mu) = match scales {
            Scales::Unit => (1.0, 1.0, 1.0, 1.0 / (gas.gamma * mach * mach), length / reynolds),
            Scales::Dimensional { temperature, gas_constant, mu } => {
                for (name, value) in
                    [("temperature", temperature), ("gas_constant", gas_constant), ("mu", mu)]
                {
                    above(name, value, 0.0)?;
                }
                let speed = mach * (gas.gamma * gas_constant * temperature).sqrt();
                (reynolds * mu / (speed * length), speed, temperature, gas_constant, mu)
            }
        };
        let viscosity = match viscosity {
            ViscosityModel::Constant => Viscosity::Constant { mu },
            ViscosityModel::PowerLaw { exponent } => {
                Viscosity::PowerLaw { mu_ref: mu, t_ref: temperature, exponent }
            }
            ViscosityModel::Sutherland { s_over_t } => {
                above("s_over_t", s_over_t, 0.0)?;
                Viscosity::Sutherland { mu_ref: mu, t_ref: temperature, s: s_over_t * temperature }
            }
        };
        Ok(Self {
            mach,
            reynolds,
            length,
            density,
            speed,
            pressure: density * gas_constant * temperature,
            temperature,
            mu,
            equations: NavierStokes { gas, prandtl, viscosity, gas_constant },
        })
    }

    /// Primitive state of the free stream along a unit vector: density, velocity, pressure.
    pub fn primitive(&self, direction: [f64; 3]) -> (f64, [f64; 3], f64) {
        (self.density, direction.map(|a| a * self.speed), self.pressure)
    }

    /// What was derived, each with its value and how: name, value, formula.
    pub fn derived(&self) -> Vec<(&'static str, f64, &'static str)> {
        let ns = &self.equations;
        let cp = ns.gas.gamma / (ns.gas.gamma - 1.0) * ns.gas_constant;
        vec![
            ("density", self.density, "rho = Re mu/(V L)"),
            ("speed", self.speed, "V = M c"),
            ("speed of sound", self.speed / self.mach, "c = sqrt(gamma R T)"),
            ("pressure", self.pressure, "p = rho R T"),
            ("temperature", self.temperature, "T"),
            ("gas constant", ns.gas_constant, "R = p/(rho T)"),
            ("viscosity", self.mu, "mu = rho V L/Re"),
            ("heat conductivity", self.mu * cp / ns.prandtl, "kappa = mu cp/Pr"),
            ("dynamic pressure", 0.5 * self.density * self.speed * self.speed, "q = rho V^2/2"),
            ("convective time", self.length / self.speed, "L/V"),
        ]
    }
}
