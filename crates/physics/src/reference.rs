//! Reference states: density, velocity, pressure, viscosity from Mach and Reynolds numbers.

use crate::euler::Euler;
use crate::navier_stokes::{NavierStokes, Viscosity};

/// The dependence of the viscosity on the temperature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ViscosityModel {
    /// A constant viscosity.
    Constant,
    /// `(T/T∞)^ω`.
    PowerLaw {
        /// The exponent `ω`.
        exponent: f64,
    },
    /// Sutherland's law with `S/T∞`, Sutherland's temperature relative to the temperature of the free stream.
    Sutherland {
        /// `S/T∞`; for air 110.4 K divided by the temperature in kelvin.
        s_over_t: f64,
    },
}

/// The units of the free stream.
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

/// The free stream of a flow with given Mach and Reynolds numbers.
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
    /// The parameters of the equations.
    pub equations: NavierStokes,
}

/// Why a reference state cannot be derived.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReferenceError {
    /// A number that must be positive is not.
    #[error("`{name}` is {value}, expected a number above {least}")]
    NotAbove {
        /// The number.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The bound that it must exceed.
        least: f64,
    },
}

impl ReferenceState {
    /// Derives the free stream.
    ///
    /// # Errors
    /// [`ReferenceError`] if `γ ≤ 1`, or if another number is not positive and finite.
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
            equations: NavierStokes { gas, prandtl, viscosity, gas_constant, closure: None },
        })
    }

    /// Returns the primitive state of the free stream along a unit vector: density, velocity, pressure.
    pub fn primitive(&self, direction: [f64; 3]) -> (f64, [f64; 3], f64) {
        (self.density, direction.map(|a| a * self.speed), self.pressure)
    }

    /// Lists the derived quantities: name, value, formula.
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
