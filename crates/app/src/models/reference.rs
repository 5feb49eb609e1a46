//! The section `physics.reference`: one state of the gas from its Mach and Reynolds numbers, and the
//! viscosity that belongs to it.
//!
//! The state can be given in two ways.
//!
//! * **Without units.** No `gas_constant` is given: density, speed and temperature are 1 unless they are
//!   given; the speed of sound `c = |v|/M`, the gas constant `R = c²/(γ T)` and the pressure `p = ρ R T`
//!   follow.
//! * **With units.** `gas_constant` and `temperature` are given: `c = √(γ R T)`, `|v| = M c`. The density is
//!   that of `density` or `pressure`; where a law with its own viscosity and a Reynolds number are given,
//!   `ρ = Re μ/(|v| L)`.
//!
//! A Reynolds number `Re = ρ |v| L/μ` determines the remaining quantity: the viscosity, or the density.

use std::f64::consts::TAU;
use std::ops::RangeInclusive;

use crate::file::expression::Constants;
use crate::file::problem::{InputError, Problem};
use crate::file::section::Section;
use crate::file::source::{Located, Place};
use dgsuite_physics::navier_stokes::Viscosity;

/// The reference state, with its derived quantities.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The numbers of a gas; `None` for incompressible flow, whose density is 1.
    pub gas: Option<GasNumbers>,
    /// Reynolds number `ρ |v| L/μ`, where there is a viscosity and a length.
    pub reynolds: Option<f64>,
    /// The length `L`.
    pub length: Option<f64>,
    /// Density `ρ`.
    pub density: f64,
    /// Speed `|v|`.
    pub speed: f64,
    /// Unit vector of the velocity.
    pub direction: [f64; 3],
    /// Where the block is written.
    pub place: Place,
    /// Pressure `p`; 0 for incompressible flow.
    pub pressure: f64,
    /// Dynamic viscosity at the temperature; `None` for an inviscid gas.
    pub viscosity: Option<f64>,
}

/// The numbers of a reference state that only a gas has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GasNumbers {
    /// Mach number `|v|/c`.
    pub mach: f64,
    /// Temperature `T`.
    pub temperature: f64,
    /// Speed of sound `c`.
    pub sound: f64,
    /// Specific gas constant `R`.
    pub constant: f64,
}

/// A viscosity as written; a reference state may complete it.
#[derive(Clone, Debug)]
pub struct ViscositySpec {
    /// The law.
    pub kind: ViscosityKind,
    /// `mu`, or `mu_ref` of the laws in temperature.
    pub mu: Option<Located<f64>>,
    /// `t_ref` of the laws in temperature.
    pub t_ref: Option<f64>,
    /// Where it was written.
    pub place: Place,
}

/// How a viscosity depends on the temperature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ViscosityKind {
    /// Not at all.
    Constant,
    /// `(T/T_ref)^exponent`.
    Power(f64),
    /// Sutherland's law with the temperature `S`.
    Sutherland(f64),
}

/// The accepted ratio of Sutherland's temperature to `t_ref`: it is 0.38 for air at 288 K, and near 1 for all
/// gases.
const SUTHERLAND_RATIO: RangeInclusive<f64> = 0.01..=10.0;

impl ViscositySpec {
    /// Rejects a temperature of Sutherland's law in another unit than `t_ref`.
    fn check(&self, t_ref: f64) -> Result<(), InputError> {
        match self.kind {
            ViscosityKind::Sutherland(s) if !SUTHERLAND_RATIO.contains(&(s / t_ref)) => {
                let key = "physics.viscosity.sutherland.s".to_owned();
                let expected = format!(
                    "0.01 to 10 times the temperature {t_ref} of the viscosity mu_ref, in the same unit: 110.4/288.15 for \
                     air if that temperature is 1"
                );
                Err(InputError::range(&Located { value: s, key, place: self.place.clone() }, expected))
            }
            _ => Ok(()),
        }
    }

    /// The law with all its numbers.
    fn law(&self, mu: f64, t_ref: f64) -> Viscosity {
        match self.kind {
            ViscosityKind::Constant => Viscosity::Constant { mu },
            ViscosityKind::Power(exponent) => Viscosity::PowerLaw { mu_ref: mu, t_ref, exponent },
            ViscosityKind::Sutherland(s) => Viscosity::Sutherland { mu_ref: mu, t_ref, s },
        }
    }

    /// The law without a reference state to complete it.
    ///
    /// # Errors
    /// Numbers that are missing; a law in temperature without a gas constant.
    pub fn alone(&self, gas_constant: Option<f64>, physics: &Section<'_>) -> Result<Viscosity, InputError> {
        let (name, numbers) = match self.kind {
            ViscosityKind::Constant => ("constant", "the dynamic viscosity"),
            ViscosityKind::Power(_) => ("power.mu_ref", "the viscosity at t_ref"),
            ViscosityKind::Sutherland(_) => ("sutherland.mu_ref", "the viscosity at t_ref"),
        };
        let missing = |key: &str, expected: &str| {
            let expected = format!("{expected}, or a `reference` with a Reynolds number and a length");
            let problem = Problem::MissingKey { key: format!("physics.viscosity.{key}"), expected };
            InputError::at(&self.place, problem)
        };
        let mu = self.mu.as_ref().ok_or_else(|| missing(name, numbers))?.value;
        if self.kind == ViscosityKind::Constant {
            return Ok(self.law(mu, 1.0));
        }
        let t_ref = self.t_ref.ok_or_else(|| missing(&name.replace("mu_ref", "t_ref"), "a temperature"))?;
        if gas_constant.is_none() {
            return Err(physics.missing(
                "gas_constant",
                "the specific gas constant R in p = rho R T, as the viscosity depends on the temperature",
            ));
        }
        self.check(t_ref)?;
        Ok(self.law(mu, t_ref))
    }
}

impl Reference {
    /// Reads the section; `gamma`, `gas_constant` and `viscosity` are the values of `physics`. Completes the
    /// viscosity.
    ///
    /// # Errors
    /// Numbers that are missing, out of range, or that contradict each other.
    pub fn read(
        physics: &Section<'_>,
        gamma: f64,
        gas_constant: Option<f64>,
        viscosity: Option<&ViscositySpec>,
        viscous: bool,
    ) -> Result<Option<(Self, Option<Viscosity>)>, InputError> {
        let Some(section) = physics.section("reference")? else { return Ok(None) };
        let mach = section
            .positive("mach")?
            .ok_or_else(|| section.missing("mach", "the Mach number of the reference state"))?
            .value;
        let reynolds = section.positive("reynolds")?;
        if reynolds.is_some() && !viscous {
            return Err(section.misplaced("reynolds", "the model euler", "the model navier-stokes"));
        }
        let length = section.positive("length")?.map(|l| l.value);
        if reynolds.is_some() && length.is_none() {
            return Err(section.missing("length", "the length of the Reynolds number"));
        }
        section.exclusive("density", "pressure")?;
        let given_temperature = section.positive("temperature")?.map(|t| t.value);
        let (speed, temperature, r) = match gas_constant {
            Some(r) => {
                if section.has("velocity") {
                    let problem = Problem::Conflict {
                        first: physics.key("gas_constant"),
                        second: section.key("velocity"),
                    };
                    return Err(InputError::at(
                        section.entry("velocity").map_or(section.place(), |e| &e.place),
                        problem,
                    ));
                }
                let t = given_temperature.ok_or_else(|| {
                    section.missing("temperature", "the temperature, as `gas_constant` is given")
                })?;
                (mach * (gamma * r * t).sqrt(), t, r)
            }
            None => {
                let speed = section.positive("velocity")?.map_or(1.0, |v| v.value);
                let t = given_temperature.unwrap_or(1.0);
                (speed, t, (speed / mach).powi(2) / (gamma * t))
            }
        };
        if let Some(spec) = viscosity {
            spec.check(spec.t_ref.unwrap_or(temperature))?;
        }
        let own =
            viscosity.and_then(|v| v.mu.as_ref().map(|mu| v.law(mu.value, v.t_ref.unwrap_or(temperature))));
        let given_density = match section.positive("pressure")? {
            Some(p) => Some(p.value / (r * temperature)),
            None => section.positive("density")?.map(|rho| rho.value),
        };
        let (density, law) = match (&reynolds, length, own) {
            // The Reynolds number determines the density of a gas with units and a viscosity.
            (Some(re), Some(l), Some(law)) if gas_constant.is_some() && given_density.is_none() => {
                (re.value * law.at(temperature) / (speed * l), Some(law))
            }
            (Some(re), Some(_), Some(_)) => {
                let mu =
                    viscosity.and_then(|v| v.mu.as_ref()).map_or("physics.viscosity", |mu| mu.key.as_str());
                let problem = Problem::Conflict { first: mu.to_owned(), second: re.key.clone() };
                return Err(InputError::at(&re.place, problem));
            }
            (Some(re), Some(l), None) => {
                let density = given_density.unwrap_or(1.0);
                let mu = density * speed * l / re.value;
                let law = match viscosity {
                    None => Viscosity::Constant { mu },
                    Some(spec) => {
                        let t_ref = spec.t_ref.unwrap_or(temperature);
                        spec.law(mu / spec.law(1.0, t_ref).at(temperature), t_ref)
                    }
                };
                (density, Some(law))
            }
            (_, _, own) => (given_density.unwrap_or(1.0), own),
        };
        if viscous && law.is_none() {
            return Err(section.missing(
                "reynolds",
                "the Reynolds number (with `length`), or a `viscosity` with its own numbers",
            ));
        }
        let mu = law.map(|law| law.at(temperature));
        let reference = Self {
            gas: Some(GasNumbers { mach, temperature, sound: speed / mach, constant: r }),
            reynolds: reynolds
                .map(|re| re.value)
                .or_else(|| Some(density * speed * length? / mu.filter(|&mu| mu > 0.0)?)),
            length,
            density,
            speed,
            direction: direction(&section)?,
            place: section.entry("direction").map_or(section.place(), |e| &e.place).clone(),
            pressure: density * r * temperature,
            viscosity: mu,
        };
        Ok(Some((reference, law)))
    }

    /// Reads the section of incompressible flow, whose density is 1, with its viscosity.
    ///
    /// # Errors
    /// Numbers that are missing, out of range, or that contradict each other.
    pub fn incompressible(
        physics: &Section<'_>,
        given: Option<&Located<f64>>,
    ) -> Result<Option<(Self, f64)>, InputError> {
        let Some(section) = physics.section("reference")? else { return Ok(None) };
        section.of_model("incompressible")?;
        let reynolds = section.positive("reynolds")?;
        let length = section.positive("length")?.map(|l| l.value);
        let speed = section.positive("velocity")?.map_or(1.0, |v| v.value);
        let viscosity = match (given, &reynolds, length) {
            (Some(nu), None, _) => nu.value,
            (Some(nu), Some(re), _) => {
                let problem = Problem::Conflict { first: nu.key.clone(), second: re.key.clone() };
                return Err(InputError::at(&re.place, problem));
            }
            (None, Some(re), Some(l)) => speed * l / re.value,
            (None, Some(_), None) => {
                return Err(section.missing("length", "the length of the Reynolds number"));
            }
            (None, None, _) => {
                let expected = "the Reynolds number (with `length`), or `physics.viscosity`";
                return Err(section.missing("reynolds", expected));
            }
        };
        let reference = Self {
            gas: None,
            reynolds: reynolds.map(|re| re.value).or_else(|| Some(speed * length? / viscosity)),
            length,
            density: 1.0,
            speed,
            direction: direction(&section)?,
            place: section.entry("direction").map_or(section.place(), |e| &e.place).clone(),
            pressure: 0.0,
            viscosity: Some(viscosity),
        };
        Ok(Some((reference, viscosity)))
    }

    /// The specific gas constant; 1 without a gas.
    pub fn gas_constant(&self) -> f64 {
        self.gas.map_or(1.0, |gas| gas.constant)
    }

    /// The names that expressions may use, with their values.
    pub fn names(&self) -> Vec<(&'static str, f64)> {
        let [x, y, z] = self.direction.map(|d| d * self.speed);
        let mut names = vec![("speed_ref", self.speed), ("u_ref", x), ("v_ref", y), ("w_ref", z)];
        match self.gas {
            None => names.extend(self.viscosity.map(|nu| ("nu_ref", nu))),
            Some(gas) => {
                names.insert(0, ("rho_ref", self.density));
                names.extend([
                    ("p_ref", self.pressure),
                    ("T_ref", gas.temperature),
                    ("c_ref", gas.sound),
                    ("R_ref", gas.constant),
                ]);
                names.extend(self.viscosity.map(|mu| ("mu_ref", mu)));
            }
        }
        names.extend(self.length.map(|length| ("L_ref", length)));
        names
    }

    /// The file's constants with the names of this state.
    ///
    /// # Errors
    /// A constant of the file that has one of the names.
    pub fn extend(&self, constants: &Constants, place: &Place) -> Result<Constants, InputError> {
        let mut more = constants.clone();
        for (name, value) in self.names() {
            if constants.values().iter().any(|(known, _)| known == name) {
                let (first, second) = (format!("constants.{name}"), "physics.reference".to_owned());
                return Err(InputError::at(place, Problem::Conflict { first, second }));
            }
            more = more.and(name, value);
        }
        Ok(more)
    }

    /// Describes the state, for the plan.
    pub fn describe(&self) -> String {
        let mut parts: Vec<String> = self.gas.iter().map(|gas| format!("Mach {}", short(gas.mach))).collect();
        if let (Some(re), Some(length)) = (self.reynolds, self.length) {
            parts.push(format!("Re {} by length {}", short(re), short(length)));
        }
        let names = self.names().into_iter().filter(|(name, _)| *name != "L_ref");
        parts.extend(names.map(|(name, value)| format!("{name} {}", short(value))));
        parts.join(", ")
    }
}

/// A number to six digits.
fn short(x: f64) -> String {
    let rounded: f64 = format!("{x:.5e}").parse().unwrap_or(x);
    rounded.to_string()
}

/// The direction of the velocity: a vector of any length, or the angle to the x-axis in the plane of x and y.
fn direction(section: &Section<'_>) -> Result<[f64; 3], InputError> {
    section.exclusive("direction", "angle")?;
    if let Some(angle) = section.number("angle")? {
        let written = section.node("angle").and_then(|node| node.value.scalar_text()).unwrap_or_default();
        // A bare number probably means degrees, but formulas use radians.
        if angle.value != 0.0 && written.trim().parse::<f64>().is_ok() {
            return Err(InputError::at(&angle.place, Problem::NoUnit { key: angle.key, value: written }));
        }
        if angle.value.abs() > TAU {
            return Err(InputError::range(&angle, "between -360*deg and 360*deg"));
        }
        return Ok([angle.value.cos(), angle.value.sin(), 0.0]);
    }
    match section.vector("direction")? {
        Some(vector) => unit(&vector),
        None => Ok([1.0, 0.0, 0.0]),
    }
}

/// The unit vector along a vector of the file.
///
/// # Errors
/// A vector without a direction.
pub fn unit(vector: &Located<Vec<f64>>) -> Result<[f64; 3], InputError> {
    let length = vector.value.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > 0.0 {
        Ok(std::array::from_fn(|d| vector.value.get(d).map_or(0.0, |x| x / length)))
    } else {
        Err(InputError::range(&vector.with(format!("{:?}", vector.value)), "a vector that is not zero"))
    }
}
