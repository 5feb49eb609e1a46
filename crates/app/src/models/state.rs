//! States of the flow: initial values, boundary data and exact solutions, by formulas or by a known name.

use std::f64::consts::PI;
use std::path::PathBuf;
use std::sync::Arc;

use super::inflow::TurbulenceSpec;
use super::initial_waves::WavesSpec;
use super::scalars::{self, OnBoundary};
use super::wall_model;
use crate::own;
use dgsuite_physics::exact::catalogue;
use dgsuite_solve::incompressible::Backflow;
use dgsuite_solve::own::OwnCondition;

use crate::file::keys::INCOMPRESSIBLE_FLOW;
use crate::file::keys::{FLOW, Scope};
use crate::file::node::{Node, Value};
use crate::file::problem::{InputError, Problem};
use crate::file::quantity::{Quantity, VectorQuantity};
use crate::file::section::Section;
use crate::file::source::{Located, Place};

/// A state as a function of place and time, as written. The plan checks the names of variables and
/// parameters, because they depend on the dimension of the mesh.
#[derive(Clone, Debug)]
pub enum StateSpec {
    /// A known solution with its parameters; `bare` if only its name was given.
    Named {
        /// The name.
        name: Located<String>,
        /// The parameters that were given.
        parameters: Vec<Located<f64>>,
        /// What else stands beside the name: formulas of the scalars of incompressible flow.
        scalars: Vec<Formula>,
        /// Nothing but the name was given.
        bare: bool,
    },
    /// A formula for each primitive variable.
    Formulas {
        /// The formulas; the key's last part is the variable.
        formulas: Vec<Formula>,
        /// Where the section starts.
        place: Place,
        /// Its key path.
        path: String,
    },
}

/// A formula for one variable.
#[derive(Clone, Debug)]
pub struct Formula {
    /// The variable, with the place of its key.
    pub variable: Located<String>,
    /// The text, with its place.
    pub text: Located<String>,
}

/// The start of a run.
#[derive(Clone, Debug)]
pub enum InitialSpec {
    /// The default: the gas at rest, or u = 0.
    Rest,
    /// A state, with turbulence on it or not.
    State(StateSpec, Option<Box<WavesSpec>>),
    /// A checkpoint; relative to the pipeline file.
    Restart(Located<PathBuf>),
}

impl InitialSpec {
    /// Reads the section `initial`.
    ///
    /// # Errors
    /// Values of the wrong kind.
    pub fn read(top: &Section<'_>) -> Result<Self, InputError> {
        let Some(section) = top.section("initial")? else { return Ok(Self::Rest) };
        if let Some(file) = section.text("restart")? {
            section.only(&["restart"])?;
            return Ok(Self::Restart(file.with(PathBuf::from(&file.value))));
        }
        let waves = WavesSpec::read(&section)?.map(Box::new);
        Ok(Self::State(StateSpec::read(&section, &["turbulence"])?, waves))
    }
}

/// The expected value of the key `exact`.
const SOLUTION: &str = "the name of a solution, or a section with a formula for each variable";

impl StateSpec {
    /// Reads a state from a section that may have the further keys `others`.
    ///
    /// # Errors
    /// Values of the wrong kind, or variables beside a formula map.
    pub fn read(section: &Section<'_>, others: &[&str]) -> Result<Self, InputError> {
        let Some(exact) = section.node("exact") else {
            let formulas = formulas(section, others)?;
            return Ok(Self::Formulas {
                formulas,
                place: section.place().clone(),
                path: section.path().into(),
            });
        };
        let beside = |key: &str| !others.contains(&key) && key != "exact";
        match &exact.value {
            Value::Map(_) => {
                let Some(inner) = section.section("exact")? else {
                    return Err(section.missing("exact", SOLUTION));
                };
                if let Some(extra) = section.entries().iter().find(|e| beside(&e.key)) {
                    return Err(InputError::at(
                        &extra.place,
                        Problem::Conflict { first: section.key("exact"), second: section.key(&extra.key) },
                    ));
                }
                match inner.text("name")? {
                    Some(name) => Self::named(&inner, name, |key| key != "name"),
                    None => Ok(Self::Formulas {
                        formulas: formulas(&inner, &[])?,
                        place: exact.place.clone(),
                        path: section.key("exact"),
                    }),
                }
            }
            _ => {
                let name = crate::file::section::text(exact, &section.key("exact"), SOLUTION)?;
                Self::named(section, name, beside)
            }
        }
    }

    fn named(
        section: &Section<'_>,
        name: Located<String>,
        is_parameter: impl Fn(&str) -> bool,
    ) -> Result<Self, InputError> {
        let entries = catalogue().iter().filter(|entry| entry.name == name.value);
        let known: Vec<&str> = entries.flat_map(|entry| entry.parameters).map(|of| of.name).collect();
        let (mut parameters, mut scalars) = (Vec::new(), Vec::new());
        for e in section.entries().iter().filter(|e| is_parameter(&e.key) && !is_null(&e.node)) {
            let key = section.key(&e.key);
            match section.constants().text(&e.node, &key) {
                Ok(text) if !known.is_empty() && !known.contains(&e.key.as_str()) => {
                    let variable = Located { value: e.key.clone(), key, place: e.place.clone() };
                    scalars.push(Formula { variable, text });
                }
                _ => parameters.push(section.constants().number(&e.node, &key)?),
            }
        }
        Ok(Self::Named { name, bare: parameters.is_empty() && scalars.is_empty(), parameters, scalars })
    }
}

fn is_null(node: &Node) -> bool {
    matches!(node.value, Value::Null)
}

/// The formula of each key of a section, without those of `others`.
///
/// # Errors
/// Values that are no formulas.
pub(crate) fn formulas(section: &Section<'_>, others: &[&str]) -> Result<Vec<Formula>, InputError> {
    let given = section.entries().iter().filter(|e| !others.contains(&e.key.as_str()) && !is_null(&e.node));
    given
        .map(|e| {
            let key = section.key(&e.key);
            let text = section.constants().text(&e.node, &key)?;
            let variable = Located { value: e.key.clone(), key, place: e.place.clone() };
            Ok(Formula { variable, text })
        })
        .collect()
}

/// The default of `corner`: 40 degrees.
const CORNER: f64 = 40.0 * (PI / 180.0);

/// A boundary's condition, as written.
#[derive(Clone, Debug)]
pub struct BoundarySpec {
    /// The boundary's name in the mesh.
    pub name: Located<String>,
    /// Its condition.
    pub condition: Condition,
    /// What it prescribes for scalars of incompressible flow, where `condition` does not have them.
    pub scalars: Vec<OnBoundary>,
    /// Turbulence on the prescribed state.
    pub turbulence: Option<TurbulenceSpec>,
    /// The velocity of a wall with a model, which its condition has too.
    pub velocity: Option<VectorQuantity>,
}

/// The kinds of boundary conditions.
#[derive(Clone, Debug)]
pub enum Condition {
    /// The outer state is prescribed.
    Dirichlet(StateSpec),
    /// The outer state is the inner one.
    Outflow,
    /// An open boundary of incompressible flow.
    Open {
        /// How the pressure is reduced where the flow enters.
        backflow: Option<Backflow>,
        /// The solution whose pressure and normal derivative of the velocity are imposed.
        exact: Option<StateSpec>,
    },
    /// No flow through the wall, mirrored momentum.
    SlipWall,
    /// No flow through the curve of which the faces are chords.
    CurvedSlipWall {
        /// The curve's normal, of any length; estimated from the boundary's points if none is given.
        normal: Option<VectorQuantity>,
        /// The angle above which a point of the boundary is a corner, in radians.
        corner: f64,
    },
    /// A plane of symmetry.
    Symmetry,
    /// Characteristic condition with a given outer state.
    FarField(StateSpec),
    /// A pressure is imposed on a subsonic outflow.
    PressureOutlet {
        /// The pressure.
        p: Quantity,
        /// The temperature of gas that comes back; that of the start of the run if none is given.
        temperature: Option<Quantity>,
        /// A velocity of which gas that comes back has the part along the boundary; that of the start of the
        /// run if none is given.
        velocity: Option<VectorQuantity>,
    },
    /// Total pressure, total temperature and direction are imposed on a subsonic inflow.
    SubsonicInflow {
        /// The total pressure.
        total_pressure: Quantity,
        /// The total temperature.
        total_temperature: Quantity,
        /// The direction; inwards along the normal if none is given.
        direction: Option<VectorQuantity>,
    },
    /// One that is a value.
    Own(Arc<dyn OwnCondition>),
    /// A no-slip wall.
    NoSlipWall {
        /// The wall's temperature; none for an adiabatic wall.
        temperature: Option<Quantity>,
        /// The motion of the wall; at rest if none is given.
        motion: Option<WallMotion>,
    },
}

/// The velocity of a wall, along itself.
#[derive(Clone, Debug)]
pub enum WallMotion {
    /// Components of the velocity.
    Velocity(VectorQuantity),
    /// Rotation of a rigid body: `v = omega × (x − centre)`.
    Rotation {
        /// The angular velocity, counter-clockwise seen against the axis.
        omega: Quantity,
        /// A point of the axis; the origin if none is given.
        centre: Option<Located<Vec<f64>>>,
        /// The direction of the axis in space; z if none is given.
        axis: Option<Located<Vec<f64>>>,
    },
}

impl BoundarySpec {
    /// Reads the section `boundaries`.
    ///
    /// # Errors
    /// Unknown types, missing or surplus data.
    pub fn read_all(top: &Section<'_>, model: &str) -> Result<Vec<Self>, InputError> {
        let Some(section) = top.section("boundaries")? else { return Ok(Vec::new()) };
        let names = scalars::names(top, model);
        section
            .entries()
            .iter()
            .map(|entry| {
                let key = section.key(&entry.key);
                let inner = section.named(entry)?;
                let name = Located { value: entry.key.clone(), key, place: entry.place.clone() };
                let condition = Condition::read(&inner, model, &names)?;
                let scalars = match model {
                    INCOMPRESSIBLE_FLOW => OnBoundary::read_all(&inner, &condition, &names)?,
                    _ => Vec::new(),
                };
                let turbulence = match condition {
                    Condition::Dirichlet(_) | Condition::FarField(_) => TurbulenceSpec::read(&inner)?,
                    _ => None,
                };
                let velocity = match &condition {
                    Condition::Own(own) if own.velocity().is_some() => {
                        inner.quantities("velocity", ["u", "v", "w"])?
                    }
                    _ => None,
                };
                Ok(Self { name, condition, scalars, turbulence, velocity })
            })
            .collect()
    }
}

impl Condition {
    fn read(section: &Section<'_>, model: &str, scalars: &[String]) -> Result<Self, InputError> {
        section.lacks("type", &["periodic"], "join two boundaries by `mesh.periodic: [[NAME, NAME]]`")?;
        let offered = section.words("type", Scope { model: Some(model), kind: None });
        if let Some(word) = section.text("type")?
            && !offered.contains(&word.value.as_str())
            && FLOW.iter().any(|&model| {
                section.words("type", Scope { model: Some(model), kind: None }).contains(&word.value.as_str())
            })
        {
            return Err(of_other_models(&word, model));
        }
        let words: Vec<_> = offered.iter().map(|&word| (word, word)).collect();
        let kind =
            section.choice("type", &words)?.ok_or_else(|| section.missing("type", &offered.join(", ")))?;
        section.known_in(Scope { model: Some(model), kind: Some(kind.value) })?;
        if let Some(own) = own::conditions().find(|own| own.name == kind.value) {
            return (own.read)(section).map(Self::Own);
        }
        match kind.value {
            "dirichlet" => Ok(Self::Dirichlet(StateSpec::read(section, &["type", "turbulence"])?)),
            "far-field" => Ok(Self::FarField(StateSpec::read(section, &["type", "turbulence"])?)),
            "outflow" if model == INCOMPRESSIBLE_FLOW => open(section, scalars),
            "outflow" => Ok(Self::Outflow),
            "slip-wall" => Ok(Self::SlipWall),
            "curved-slip-wall" => curved(section),
            "symmetry" => Ok(Self::Symmetry),
            "pressure-outlet" => outlet(section, model),
            "subsonic-inflow" => inflow(section),
            _ if model == INCOMPRESSIBLE_FLOW => {
                wall_model::read(section, Self::NoSlipWall { temperature: None, motion: motion(section)? })
            }
            _ => wall(section),
        }
    }
}

/// The error for a condition that the model does not have.
fn of_other_models(word: &Located<String>, model: &str) -> InputError {
    let belongs = match model {
        INCOMPRESSIBLE_FLOW => {
            "the models of a gas; incompressible has dirichlet, no-slip-wall, symmetry, outflow and pressure-outlet"
        }
        "advection" => {
            "the models of a gas; advection has far-field, outflow and dirichlet (without effect on an outflow)"
        }
        _ if word.value == "curved-slip-wall" => "the model euler; use slip-wall on curved elements",
        _ => "the model navier-stokes: it needs viscosity; use slip-wall for an inviscid gas",
    };
    let key = format!("{}: {}", word.key, word.value);
    let problem = Problem::Misplaced { key, owner: format!("the model {model}"), belongs: belongs.into() };
    InputError::at(&word.place, problem)
}

/// An outflow of incompressible flow.
fn open(section: &Section<'_>, scalars: &[String]) -> Result<Condition, InputError> {
    let kind = section.choice("kind", &[("dong", true), ("do-nothing", false)])?;
    let dong = kind.is_none_or(|kind| kind.value);
    let mut backflow = Backflow::default();
    let exact = match section.has("exact") {
        true => Some(StateSpec::read(section, &["type", "kind"])?),
        // Without a solution there are no parameters, whose names would be free.
        false => {
            let scales: &[&str] = if dong { &["velocity", "delta"] } else { &[] };
            let names: Vec<&str> = scalars.iter().map(String::as_str).collect();
            section.only(&[&["type", "kind", "exact"], scales, &names].concat())?;
            backflow.velocity = section.positive("velocity")?.map(|given| given.value);
            backflow.delta = section.positive("delta")?.map_or(backflow.delta, |given| given.value);
            None
        }
    };
    Ok(Condition::Open { backflow: dong.then_some(backflow), exact })
}

/// A curved wall on straight faces: with known or estimated normals.
fn curved(section: &Section<'_>) -> Result<Condition, InputError> {
    section.exclusive("normal", "corner")?;
    let corner = section.number("corner")?;
    if let Some(given) = &corner
        && !(0.0..=PI).contains(&given.value)
    {
        return Err(InputError::range(given, "an angle from 0 to pi"));
    }
    let normal = section.quantities("normal", ["x", "y", "z"])?;
    Ok(Condition::CurvedSlipWall { normal, corner: corner.map_or(CORNER, |given| given.value) })
}

/// An outlet: its pressure, and for a gas what comes back.
fn outlet(section: &Section<'_>, model: &str) -> Result<Condition, InputError> {
    let missing = || section.missing("p", "the pressure outside");
    if model == INCOMPRESSIBLE_FLOW {
        // The pressure of incompressible flow is known up to a constant.
        let p = section.quantity("p")?.ok_or_else(missing)?;
        return Ok(Condition::PressureOutlet { p, temperature: None, velocity: None });
    }
    Ok(Condition::PressureOutlet {
        p: section.positive_quantity("p")?.ok_or_else(missing)?,
        temperature: section.positive_quantity("temperature")?,
        velocity: section.quantities("velocity", ["u", "v", "w"])?,
    })
}

fn inflow(section: &Section<'_>) -> Result<Condition, InputError> {
    let given = |key: &str| {
        section
            .positive_quantity(key)?
            .ok_or_else(|| section.missing(key, "the value of the gas brought to rest without losses"))
    };
    Ok(Condition::SubsonicInflow {
        total_pressure: given("total_pressure")?,
        total_temperature: given("total_temperature")?,
        direction: section.quantities("direction", ["x", "y", "z"])?,
    })
}

/// A no-slip wall: adiabatic, or with a temperature; at rest or moving.
fn wall(section: &Section<'_>) -> Result<Condition, InputError> {
    let temperature = section.positive_quantity("temperature")?;
    match (section.flag("adiabatic")?, &temperature) {
        (Some(flag), Some(_)) if flag.value => section.exclusive("adiabatic", "temperature")?,
        (Some(flag), None) if !flag.value => {
            return Err(section.missing("temperature", "the wall's temperature, as it is not adiabatic"));
        }
        _ => {}
    }
    wall_model::read(section, Condition::NoSlipWall { temperature, motion: motion(section)? })
}

/// The motion of a wall.
fn motion(section: &Section<'_>) -> Result<Option<WallMotion>, InputError> {
    section.exclusive("velocity", "rotation")?;
    Ok(match section.section("rotation")? {
        Some(rotation) => Some(WallMotion::Rotation {
            omega: rotation
                .quantity("omega")?
                .ok_or_else(|| rotation.missing("omega", "the angular velocity in radians per time"))?,
            centre: rotation.vector("centre")?,
            axis: rotation.vector("axis")?,
        }),
        None => section.quantities("velocity", ["u", "v", "w"])?.map(WallMotion::Velocity),
    })
}
