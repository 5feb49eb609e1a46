//! Exact solutions by name, with their parameters and defaults.

use super::entries::{CATALOGUE, Entry};
use super::reader::Reader;
use super::{
    BetaVortex, ClosedForm, Couette, EntropyWave, Exact, ExactError, GasState, GaussianPulse,
    IsentropicVortex, ManufacturedGas, RiemannProblem, SineWave, Solution, SupersonicVortex, TaylorGreen,
    Uniform, VortexTube, incompressible,
};
use crate::advection::Advection;
use crate::euler::Euler;
use crate::navier_stokes::{NavierStokes, Viscosity};
use crate::suggest::nearest;
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// The law for which an exact solution is requested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Model {
    /// Linear advection with this velocity (the first `dim` components).
    Advection {
        /// The law's velocity.
        velocity: [f64; 3],
    },
    /// The Euler equations of a gas with this ratio of specific heats.
    Euler {
        /// Ratio of specific heats.
        gamma: f64,
    },
    /// The Navier–Stokes equations of this gas.
    NavierStokes(NavierStokes),
    /// The incompressible Navier–Stokes equations with this kinematic viscosity.
    Incompressible {
        /// Kinematic viscosity ν.
        viscosity: f64,
    },
}

impl Model {
    /// Name in pipeline files.
    fn name(&self) -> &'static str {
        match self {
            Self::Advection { .. } => "advection",
            Self::Euler { .. } => "euler",
            Self::NavierStokes(_) => "navier-stokes",
            Self::Incompressible { .. } => "incompressible",
        }
    }

    /// Returns whether the states of an entry are states of this model. States of an inviscid gas serve a
    /// viscous one too, as initial states or as solutions with a manufactured source term.
    fn takes(&self, entry: &Entry) -> bool {
        entry.model == self.name() || (entry.model == "euler" && matches!(self, Self::NavierStokes(_)))
    }
}

/// The domain and law of an exact solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Context {
    /// Number of space dimensions, 2 or 3.
    pub dim: usize,
    /// The law.
    pub model: Model,
    /// Periods of the domain in x, y and z; 0 if it is not periodic. Solutions that move then return.
    pub period: [f64; 3],
}

pub(super) const U: [&str; 3] = ["u", "v", "w"];
pub(super) const X0: [&str; 3] = ["x0", "y0", "z0"];
const K: [&str; 3] = ["kx", "ky", "kz"];

/// All solutions that [`by_name`] accepts. A name may belong to several models, with one entry for each.
pub fn catalogue() -> &'static [Entry] {
    &CATALOGUE
}

/// The exact solution of this name, with the given parameters instead of its defaults.
///
/// # Errors
/// [`ExactError`]: an unknown name or parameter (with the nearest known one), a solution of another model or
/// dimension, an impossible value.
///
/// ```
/// use dgsuite_physics::exact::{Context, Exact, Model, by_name};
/// let context = Context { dim: 2, model: Model::Euler { gamma: 1.4 }, period: [10.0, 10.0, 0.0] };
/// let given = [("mach".to_string(), 0.4)].into();
/// let vortex = by_name("isentropic-vortex", &given, &context)?;
/// assert_eq!(vortex.n_fields(), 4);
/// let error = by_name("isentropic-vorteks", &given, &context).err().unwrap();
/// assert!(error.to_string().contains("did you mean `isentropic-vortex`?"));
/// # Ok::<(), dgsuite_physics::exact::ExactError>(())
/// ```
pub fn by_name(
    name: &str,
    parameters: &BTreeMap<String, f64>,
    context: &Context,
) -> Result<Box<dyn Exact>, ExactError> {
    let model = context.model;
    let mut named = CATALOGUE.iter().filter(|e| e.name == name);
    let first = named.clone().next();
    let Some(entry) = named.find(|e| model.takes(e)).or(first) else {
        let known = || CATALOGUE.iter().filter(|e| model.takes(e)).map(|e| e.name);
        return Err(ExactError::UnknownName {
            name: name.to_owned(),
            hint: nearest(name, known()).map(str::to_owned),
            known: known().map(str::to_owned).collect(),
        });
    };
    if !model.takes(entry) || !entry.dims.contains(&context.dim) {
        let dims: Vec<String> = entry.dims.iter().map(|d| format!("{d}D")).collect();
        return Err(ExactError::Mismatch {
            name: name.to_owned(),
            expected: format!("{} in {}", entry.model, dims.join(" and ")),
            found: format!("{} in {}D", model.name(), context.dim),
        });
    }
    let reader = Reader::new(entry, parameters, context)?;
    match context.model {
        Model::Advection { velocity } => advection(name, &reader, velocity, context.dim),
        Model::Euler { gamma } => euler(name, &reader, Euler { gamma }, context.dim, 0.0),
        Model::NavierStokes(ns) if entry.model == "navier-stokes" => viscous(name, &reader, ns, context.dim),
        Model::NavierStokes(ns) => {
            let mu = if let Viscosity::Constant { mu } = ns.viscosity { mu } else { 0.0 };
            euler(name, &reader, ns.gas, context.dim, mu)
        }
        Model::Incompressible { viscosity } => incompressible::by_name(name, &reader, viscosity, context.dim),
    }
}

fn advection(
    name: &str,
    r: &Reader<'_>,
    velocity: [f64; 3],
    dim: usize,
) -> Result<Box<dyn Exact>, ExactError> {
    let velocity = std::array::from_fn(|d| if d < dim { velocity[d] } else { 0.0 });
    let (mean, amplitude) = (r.number("mean"), r.number("amplitude"));
    Ok(match name {
        "sine-wave" => {
            let (waves, length) = (r.vector(K), r.positive("length")?);
            scalar(velocity, dim, SineWave { mean, amplitude, velocity, waves, length })
        }
        "gaussian-pulse" => {
            let (width, period) = (r.positive("width")?, r.periods()?);
            let centre = r.vector(X0);
            scalar(velocity, dim, GaussianPulse { mean, amplitude, width, velocity, centre, period, dim })
        }
        other => unreachable!("`{other}` is in the catalogue of advection"),
    })
}

/// Flows of viscous gases only.
fn viscous(name: &str, r: &Reader<'_>, ns: NavierStokes, dim: usize) -> Result<Box<dyn Exact>, ExactError> {
    match name {
        "couette" => {
            if !ns.viscosity.is_constant() {
                return Err(ExactError::Mismatch {
                    name: name.to_owned(),
                    expected: "navier-stokes with a constant viscosity".to_owned(),
                    found: "a viscosity that changes with temperature".to_owned(),
                });
            }
            let solution = Couette {
                gas: ns,
                speed: r.number("u"),
                height: r.positive("height")?,
                bottom: r.number("y0"),
                t_bottom: r.positive("t_bottom")?,
                t_top: r.positive("t_top")?,
                density: r.positive("rho_top")?,
            };
            Ok(gas_flow(ns.gas, dim, solution, solution))
        }
        other => unreachable!("`{other}` is in the catalogue of Navier–Stokes"),
    }
}

/// Flows of a gas; `mu` is its viscosity if that is constant.
fn euler(name: &str, r: &Reader<'_>, gas: Euler, dim: usize, mu: f64) -> Result<Box<dyn Exact>, ExactError> {
    let g1 = gas.gamma - 1.0;
    Ok(match name {
        "isentropic-vortex" => {
            let mach = r.positive("mach")?;
            // T > 0 at the centre: ε² (γ−1) M² e < 8π².
            let limit = (8.0 * PI * PI / (g1 * 1f64.exp())).sqrt() / mach;
            let epsilon =
                r.between("eps", -limit, limit, "a strength that keeps the temperature positive")?;
            let velocity = r.vector(U);
            if velocity[0] == 0.0 && velocity[1] == 0.0 {
                r.between("u", f64::INFINITY, f64::INFINITY, "a free stream that moves in the x-y plane")?;
            }
            let solution = IsentropicVortex {
                gas,
                mach,
                epsilon,
                radius: r.positive("radius")?,
                density: r.positive("rho")?,
                velocity,
                centre: r.vector(X0),
                period: r.periods()?,
            };
            gas_flow(gas, dim, solution, solution)
        }
        "isentropic-vortex-beta" => {
            let beta = strength(r, &gas)?;
            let (velocity, centre, period) = (r.vector(U), r.vector(X0), r.periods()?);
            let solution = BetaVortex { gas, beta, velocity, centre, period };
            gas_flow(gas, dim, solution, solution)
        }
        "vortex-tube" => {
            let axis = r.direction(["axis_x", "axis_y", "axis_z"])?;
            let mut period = r.periods()?;
            let along = axis.iter().position(|a| a.abs() == 1.0);
            match along {
                // The solution is constant along the axis.
                Some(d) => period[d] = 0.0,
                None if period != [0.0; 3] => {
                    return Err(ExactError::Mismatch {
                        name: name.to_owned(),
                        expected: "domains without periods, or an axis along x, y or z".to_owned(),
                        found: "an oblique axis in a periodic domain".to_owned(),
                    });
                }
                None => {}
            }
            let solution = VortexTube {
                gas,
                beta: strength(r, &gas)?,
                jet: r.number("jet"),
                velocity: r.vector(U),
                centre: r.vector(X0),
                axis,
                period,
            };
            Box::new(ClosedForm::<_, _, 3, 5>::new(gas, solution))
        }
        "supersonic-vortex" => {
            let solution = SupersonicVortex {
                gas,
                inner_radius: r.positive("radius")?,
                mach: r.positive("mach")?,
                density: r.positive("rho")?,
            };
            Box::new(ClosedForm::<_, _, 2, 4>::new(gas, solution))
        }
        "entropy-wave" => {
            let solution = EntropyWave {
                density: r.positive("rho")?,
                amplitude: r.between("amplitude", -1.0, 1.0, "a number between -1 and 1")?,
                velocity: r.vector(U),
                pressure: r.positive("p")?,
                waves: r.vector(K),
                length: r.positive("length")?,
            };
            gas_flow(gas, dim, solution, solution)
        }
        "sod" | "lax" | "le-blanc" | "two-rarefactions" => {
            let [left, right] = tube(name, r.direction(["nx", "ny", "nz"])?);
            shock_tube(r, gas, dim, left, right)?
        }
        "riemann-problem" => {
            let left = GasState {
                density: r.positive("rho_left")?,
                velocity: r.vector(["u_left", "v_left", "w_left"]),
                pressure: r.positive("p_left")?,
            };
            let right = GasState {
                density: r.positive("rho_right")?,
                velocity: r.vector(["u_right", "v_right", "w_right"]),
                pressure: r.positive("p_right")?,
            };
            shock_tube(r, gas, dim, left, right)?
        }
        "uniform" => {
            let (rho, v, pressure) = (r.positive("rho")?, r.vector(U), r.positive("p")?);
            gas_flow(
                gas,
                dim,
                Uniform { primitive: [rho, v[0], v[1], pressure] },
                Uniform { primitive: [rho, v[0], v[1], v[2], pressure] },
            )
        }
        "taylor-green" => {
            let density = r.positive("rho")?;
            let solution = TaylorGreen {
                gas,
                mach: r.positive("mach")?,
                density,
                speed: r.positive("speed")?,
                length: r.positive("length")?,
                viscosity: mu / density,
            };
            gas_flow(gas, dim, solution, solution)
        }
        "manufactured" => {
            let solution = ManufacturedGas {
                density: r.positive("rho")?,
                velocity: r.vector(U),
                pressure: r.positive("p")?,
                amplitude: r.between("amplitude", -1.0, 1.0, "a number between -1 and 1")?,
                length: r.positive("length")?,
                frequency: r.number("frequency"),
            };
            gas_flow(gas, dim, solution, solution)
        }
        other => unreachable!("`{other}` is in the catalogue of Euler"),
    })
}

/// Strength `β` of a vortex whose temperature stays positive: `(γ−1) β² e² < 16 γ π²`.
fn strength(r: &Reader<'_>, gas: &Euler) -> Result<f64, ExactError> {
    let limit = 4.0 * PI * (gas.gamma / (gas.gamma - 1.0)).sqrt() / 1f64.exp();
    r.between("beta", -limit, limit, "a strength that keeps the temperature positive")
}

/// The states of a shock tube by name, with velocities along `direction`.
///
/// # Source
/// Sod, J. Comput. Phys. 27 (1978) 1–31; Lax, Comm. Pure Appl. Math. 7 (1954) 159–193; Benson, Comput.
/// Methods Appl. Mech. Engrg. 99 (1992) 235–394 (Le Blanc's tube); Toro 2009, §4.3.3, test 2.
fn tube(name: &str, direction: [f64; 3]) -> [GasState; 2] {
    let state =
        |density, u: f64, pressure| GasState { density, velocity: direction.map(|n| u * n), pressure };
    match name {
        "lax" => [state(0.445, 0.698, 3.528), state(0.5, 0.0, 0.571)],
        "le-blanc" => [state(1.0, 0.0, 2.0 / 30.0), state(1e-3, 0.0, 2e-10 / 3.0)],
        "two-rarefactions" => [state(1.0, -2.0, 0.4), state(1.0, 2.0, 0.4)],
        _ => [state(1.0, 0.0, 1.0), state(0.125, 0.0, 0.1)],
    }
}

fn shock_tube(
    r: &Reader<'_>,
    gas: Euler,
    dim: usize,
    left: GasState,
    right: GasState,
) -> Result<Box<dyn Exact>, ExactError> {
    let direction = r.direction(["nx", "ny", "nz"])?;
    let solution = RiemannProblem::new(gas, left, right, direction, r.number("diaphragm"))?;
    Ok(gas_flow(gas, dim, solution, solution))
}

/// A gas flow in two or three dimensions.
fn gas_flow(gas: Euler, dim: usize, plane: impl Solution<4>, space: impl Solution<5>) -> Box<dyn Exact> {
    if dim == 2 {
        Box::new(ClosedForm::<_, _, 2, 4>::new(gas, plane))
    } else {
        Box::new(ClosedForm::<_, _, 3, 5>::new(gas, space))
    }
}

/// A moving scalar in two or three dimensions.
fn scalar(velocity: [f64; 3], dim: usize, solution: impl Solution<1>) -> Box<dyn Exact> {
    if dim == 2 {
        let law = Advection { velocity: [velocity[0], velocity[1]] };
        Box::new(ClosedForm::<_, _, 2, 1>::new(law, solution))
    } else {
        Box::new(ClosedForm::<_, _, 3, 1>::new(Advection { velocity }, solution))
    }
}
