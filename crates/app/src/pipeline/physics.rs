//! The section `physics`: the model and its parameters.

use dgsuite_physics::navier_stokes::Viscosity;

use crate::file::keys::MODELS;
use crate::file::node::Value;
use crate::file::problem::{InputError, Problem};
use crate::file::quantity::VectorQuantity;
use crate::file::section::Section;
use crate::file::source::{Located, Place};
use crate::models::reference::{Reference, ViscosityKind, ViscositySpec};
use crate::models::scalars::{BuoyancySpec, ScalarSpec};
use crate::models::state::{self, Formula, StateSpec};
use crate::pipeline::closure::ClosureSpec;

/// The model as written.
#[derive(Clone, Debug)]
pub struct PhysicsSpec {
    /// Model and parameters.
    pub model: Model,
    /// The reference state, where the file gives one.
    pub reference: Option<Reference>,
    /// A source term.
    pub source: Option<SourceSpec>,
    /// A sponge layer.
    pub sponge: Option<SpongeSpec>,
    /// A force per mass on a gas.
    pub body_force: Option<VectorQuantity>,
    /// The mean velocity that a uniform force keeps, if any.
    pub flow_rate: Option<FlowRateSpec>,
    /// Where the model was chosen.
    pub place: Place,
}

/// A model of this version.
#[derive(Clone, Debug)]
pub enum Model {
    /// `∂u/∂t + a·∇u = 0`.
    Advection {
        /// The velocity a, one number for each direction.
        velocity: Located<Vec<f64>>,
    },
    /// The compressible Euler equations of an ideal gas.
    Euler {
        /// Ratio of specific heats.
        gamma: f64,
        /// Specific gas constant.
        gas_constant: f64,
    },
    /// The compressible Navier–Stokes equations of an ideal gas.
    NavierStokes {
        /// Ratio of specific heats.
        gamma: f64,
        /// Prandtl number.
        prandtl: f64,
        /// Dynamic viscosity.
        viscosity: Viscosity,
        /// Specific gas constant.
        gas_constant: f64,
        /// A model of unresolved scales.
        closure: Option<ClosureSpec>,
    },
    /// The incompressible Navier–Stokes equations.
    Incompressible {
        /// Kinematic viscosity; its constant part if it varies.
        viscosity: f64,
        /// The viscosity as a formula.
        viscosity_formula: Option<Located<String>>,
        /// The temperature, then other scalars.
        scalars: Vec<ScalarSpec>,
        /// The force of buoyancy.
        buoyancy: Option<BuoyancySpec>,
        /// A model of unresolved scales.
        closure: Option<ClosureSpec>,
    },
}

/// A prescribed flow rate as written.
#[derive(Clone, Debug)]
pub struct FlowRateSpec {
    /// The direction of flow and force, of any length; `None` for the x-axis.
    pub direction: Option<Located<Vec<f64>>>,
    /// The mean velocity in this direction.
    pub mean: f64,
    /// Whether the work of the force on a gas is taken out as heat.
    pub balanced: bool,
    /// Where the section starts.
    pub place: Place,
}

impl FlowRateSpec {
    /// Reads `flow_rate: { mean, direction, heat }`.
    fn read(physics: &Section<'_>) -> Result<Option<Self>, InputError> {
        let Some(section) = physics.section("flow_rate")? else { return Ok(None) };
        let mean = section.number("mean")?;
        let mean = mean.ok_or_else(|| section.missing("mean", "the mean velocity, such as 1"))?;
        let heat = section.choice("heat", &[("free", false), ("balanced", true)])?;
        Ok(Some(Self {
            direction: section.vector("direction")?,
            mean: mean.value,
            balanced: heat.is_some_and(|heat| heat.value),
            place: section.place().clone(),
        }))
    }
}

/// A source term as written.
#[derive(Clone, Debug)]
pub enum SourceSpec {
    /// The source for which the exact solution solves the equations.
    Manufactured(Place),
    /// A formula for each conserved variable; 0 for the others.
    Formulas(Vec<Formula>),
}

/// A sponge layer as written.
#[derive(Clone, Debug)]
pub struct SpongeSpec {
    /// The damping rate, a formula in `x, y, z`.
    pub strength: Located<String>,
    /// The state towards which it damps; that of `initial` if there is none.
    pub state: Option<StateSpec>,
    /// Where the section starts.
    pub place: Place,
}

impl Model {
    /// The word of the pipeline file.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Advection { .. } => "advection",
            Self::Euler { .. } => "euler",
            Self::NavierStokes { .. } => "navier-stokes",
            Self::Incompressible { .. } => "incompressible",
        }
    }
}

/// The Prandtl number of air.
const PRANDTL: f64 = 0.72;

impl PhysicsSpec {
    /// Reads the section.
    ///
    /// # Errors
    /// No model, an unknown model, parameters of another model, values out of range.
    pub fn read(top: &Section<'_>) -> Result<Self, InputError> {
        let section =
            top.section("physics")?.ok_or_else(|| top.missing("physics", "physics: { model: euler }"))?;
        let instead = "the models of this version are advection, euler, navier-stokes, incompressible and poisson; \
                       large eddies are computed by `model: navier-stokes` or `model: incompressible`, with \
                       `physics.closure` and walls with `model: reichardt` where they help";
        section.lacks("model", &["rans", "les"], instead)?;
        let model = section.choice("model", &MODELS.map(|word| (word, word)))?.ok_or_else(|| {
            section.missing("model", "advection, euler, navier-stokes, incompressible or poisson")
        })?;
        section.of_model(model.value)?;
        let place = model.place.clone();
        if model.value == "incompressible" {
            return Self::incompressible(&section, place);
        }
        let source = source(&section, "source")?;
        let sponge = sponge(&section)?;
        let body_force = section.quantities("body_force", ["x", "y", "z"])?;
        let flow_rate = FlowRateSpec::read(&section)?;
        let with = |model, reference| Self { model, reference, source, sponge, body_force, flow_rate, place };
        if model.value == "advection" {
            let velocity = section.vector("velocity")?.ok_or_else(|| {
                section.missing("velocity", "one number for each direction, such as [1, 0]")
            })?;
            return Ok(with(Model::Advection { velocity }, None));
        }
        let gamma = section.number("gamma")?;
        if let Some(gamma) = gamma.as_ref().filter(|g| g.value <= 1.0) {
            return Err(InputError::range(gamma, "greater than 1"));
        }
        let gamma = gamma.map_or(1.4, |g| g.value);
        if model.value == "euler" {
            let reference = Reference::read(&section, gamma, None, None, false)?.map(|(state, _)| state);
            let gas_constant = reference.as_ref().map_or(1.0, |state| state.gas_constant());
            return Ok(with(Model::Euler { gamma, gas_constant }, reference));
        }
        let prandtl = section.positive("prandtl")?.map_or(PRANDTL, |pr| pr.value);
        let given = section.positive("gas_constant")?.map(|r| r.value);
        let written = viscosity(&section)?;
        let (reference, viscosity) = match Reference::read(&section, gamma, given, written.as_ref(), true)? {
            Some((state, Some(law))) => (Some(state), law),
            _ => match &written {
                Some(spec) => (None, spec.alone(given, &section)?),
                None => {
                    return Err(section.missing(
                        "viscosity",
                        "a viscosity such as { constant: 0.01 }, or a `reference` with Mach number, Reynolds number \
                         and length",
                    ));
                }
            },
        };
        let gas_constant = reference.as_ref().map_or(given.unwrap_or(1.0), |state| state.gas_constant());
        let closure = ClosureSpec::read(&section)?;
        Ok(with(Model::NavierStokes { gamma, prandtl, viscosity, gas_constant, closure }, reference))
    }

    /// Reads the section of incompressible flow.
    fn incompressible(section: &Section<'_>, place: Place) -> Result<Self, InputError> {
        let (given, viscosity_formula) = section.varying("viscosity")?;
        let (reference, viscosity) = match Reference::incompressible(section, given.as_ref())? {
            Some((state, viscosity)) => (Some(state), viscosity),
            None => match &given {
                Some(viscosity) => (None, viscosity.value),
                None => {
                    return Err(section.missing(
                        "viscosity",
                        "the kinematic viscosity, or a `reference` with Reynolds number and length",
                    ));
                }
            },
        };
        let source = source(section, "forcing")?;
        let flow_rate = FlowRateSpec::read(section)?;
        let scalars = ScalarSpec::read_all(section, viscosity)?;
        if let (Some(SourceSpec::Manufactured(_)), Some(given)) =
            (&source, scalars.iter().find_map(|scalar| scalar.source.as_ref()))
        {
            let instead =
                "`forcing: manufactured` derives the sources of scalars too: leave one of the two out";
            let (key, value) = (given.key.clone(), given.value.clone());
            let instead = instead.to_owned();
            return Err(InputError::at(&given.place, Problem::Unsupported { key, value, instead }));
        }
        let buoyancy = BuoyancySpec::read(section)?;
        let closure = ClosureSpec::read(section)?;
        let model = Model::Incompressible { viscosity, viscosity_formula, scalars, buoyancy, closure };
        Ok(Self { model, reference, source, sponge: None, body_force: None, flow_rate, place })
    }
}

/// Reads `viscosity: mu | { constant: mu } | { power: … } | { sutherland: … }`.
fn viscosity(physics: &Section<'_>) -> Result<Option<ViscositySpec>, InputError> {
    let words = ["constant", "power", "sutherland"];
    let Some(node) = physics.node("viscosity") else { return Ok(None) };
    // A number is a constant viscosity.
    if matches!(node.value, Value::Number(_) | Value::Text(_)) {
        let Some(mu) = physics.number("viscosity")?.map(not_negative).transpose()? else { return Ok(None) };
        let place = mu.place.clone();
        return Ok(Some(ViscositySpec { kind: ViscosityKind::Constant, mu: Some(mu), t_ref: None, place }));
    }
    if !matches!(node.value, Value::Map(_)) {
        let expected = "a number, or a section such as { sutherland: { mu_ref: …, t_ref: …, s: … } }";
        return Err(crate::file::expression::wrong_type(node, &physics.key("viscosity"), expected));
    }
    let Some(section) = physics.section("viscosity")? else { return Ok(None) };
    for (i, first) in words.iter().enumerate() {
        for second in &words[i + 1..] {
            section.exclusive(first, second)?;
        }
    }
    let place = section.place().clone();
    if let Some(mu) = section.number("constant")? {
        let mu = not_negative(mu)?;
        return Ok(Some(ViscositySpec { kind: ViscosityKind::Constant, mu: Some(mu), t_ref: None, place }));
    }
    let (inner, kind) = if let Some(inner) = section.section("power")? {
        let exponent = inner.number("exponent")?.ok_or_else(|| inner.missing("exponent", "such as 0.76"))?;
        (inner, ViscosityKind::Power(exponent.value))
    } else if let Some(inner) = section.section("sutherland")? {
        let expected = "Sutherland's temperature S: 110.4 in kelvin for air, or 110.4 divided by the reference temperature";
        let s = inner.positive("s")?.ok_or_else(|| inner.missing("s", expected))?;
        (inner, ViscosityKind::Sutherland(s.value))
    } else {
        return Err(section.missing("constant", "one of constant, power, sutherland"));
    };
    let mu = inner.number("mu_ref")?.map(not_negative).transpose()?;
    let t_ref = inner.positive("t_ref")?.map(|t| t.value);
    Ok(Some(ViscositySpec { kind, mu, t_ref, place: inner.place().clone() }))
}

fn not_negative(mu: Located<f64>) -> Result<Located<f64>, InputError> {
    if mu.value < 0.0 { Err(InputError::range(&mu, "0 or more")) } else { Ok(mu) }
}

/// Reads a source term below `key`: `manufactured`, or formulas for variables.
fn source(physics: &Section<'_>, key: &str) -> Result<Option<SourceSpec>, InputError> {
    let Some(node) = physics.node(key) else { return Ok(None) };
    if matches!(node.value, Value::Map(_)) {
        let Some(section) = physics.section(key)? else { return Ok(None) };
        return Ok(Some(SourceSpec::Formulas(state::formulas(&section, &[])?)));
    }
    Ok(physics.choice(key, &[("manufactured", ())])?.map(|word| SourceSpec::Manufactured(word.place)))
}

/// Reads `sponge: { strength: σ, … }`, with a state beside the strength.
fn sponge(physics: &Section<'_>) -> Result<Option<SpongeSpec>, InputError> {
    let Some(section) = physics.section("sponge")? else { return Ok(None) };
    let Some(strength) = section.node("strength") else {
        return Err(section.missing("strength", "the damping rate, a number or a formula in x, y and z"));
    };
    let strength = section.constants().text(strength, &section.key("strength"))?;
    let others = ["strength"];
    let given = section.entries().iter().any(|e| e.key != "strength" && !matches!(e.node.value, Value::Null));
    let state = given.then(|| StateSpec::read(&section, &others)).transpose()?;
    Ok(Some(SpongeSpec { strength, state, place: section.place().clone() }))
}
