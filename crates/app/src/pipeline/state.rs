//! States of the flow: initial values, boundary data and exact solutions, by formulas or by a known name.

use std::path::PathBuf;

use super::node::{Node, Value};
use super::problem::{InputError, Problem};
use super::quantity::{Quantity, VectorQuantity};
use super::section::Section;
use super::source::{Located, Place};

/// A state as a function of place and time, as written. Names of variables and parameters are checked in the
/// plan, where the mesh's dimension is known.
#[derive(Clone, Debug)]
pub enum StateSpec {
    /// A known solution with its parameters; `bare` where only its name was given.
    Named {
        /// The name.
        name: Located<String>,
        /// The parameters that were given.
        parameters: Vec<Located<f64>>,
        /// No parameters were given.
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

/// What a run starts from.
#[derive(Clone, Debug)]
pub enum InitialSpec {
    /// The default: the gas at rest, or u = 0.
    Rest,
    /// A state.
    State(StateSpec),
    /// A checkpoint; relative to the pipeline file.
    Restart(Located<PathBuf>),
}

impl InitialSpec {
    /// Reads the section `initial`.
    ///
    /// # Errors
    /// Values of the wrong kind.
    pub fn read(top: &Section<'_>) -> Result<Self, InputError> {
        let Some(node) = top.node("initial") else { return Ok(Self::Rest) };
        let section = Section::open_any(node, "initial", top.constants())?;
        if let Some(file) = section.text("restart")? {
            section.only(&["restart"])?;
            return Ok(Self::Restart(file.with(PathBuf::from(&file.value))));
        }
        Ok(Self::State(StateSpec::read(&section, &[])?))
    }
}

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
                let inner = Section::open_any(exact, &section.key("exact"), section.constants())?;
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
                let expected = "the name of a solution, or a section with a formula for each variable";
                let name = super::section::text(exact, &section.key("exact"), expected)?;
                Self::named(section, name, beside)
            }
        }
    }

    fn named(
        section: &Section<'_>,
        name: Located<String>,
        is_parameter: impl Fn(&str) -> bool,
    ) -> Result<Self, InputError> {
        let given = section.entries().iter().filter(|e| is_parameter(&e.key) && !is_null(&e.node));
        let parameters = given
            .map(|e| section.constants().number(&e.node, &section.key(&e.key)))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self::Named { name, bare: parameters.is_empty(), parameters })
    }
}

fn is_null(node: &Node) -> bool {
    matches!(node.value, Value::Null)
}

/// The formula of each key of a section, without those of `others`.
///
/// # Errors
/// Values that are no formulas.
pub(super) fn formulas(section: &Section<'_>, others: &[&str]) -> Result<Vec<Formula>, InputError> {
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

/// A boundary's condition, as written.
#[derive(Clone, Debug)]
pub struct BoundarySpec {
    /// The boundary's name in the mesh.
    pub name: Located<String>,
    /// Its condition.
    pub condition: Condition,
}

/// The kinds of boundary conditions.
#[derive(Clone, Debug)]
pub enum Condition {
    /// The outer state is prescribed.
    Dirichlet(StateSpec),
    /// The outer state is the inner one.
    Outflow,
    /// No flow through the wall, mirrored momentum.
    SlipWall,
    /// A plane of symmetry.
    Symmetry,
    /// Characteristic condition against a state far away.
    FarField(StateSpec),
    /// A pressure is imposed where the flow leaves below the speed of sound.
    PressureOutlet {
        /// The pressure.
        p: Quantity,
    },
    /// Total pressure, total temperature and direction are imposed where the flow enters below the speed of
    /// sound.
    SubsonicInflow {
        /// The total pressure.
        total_pressure: Quantity,
        /// The total temperature.
        total_temperature: Quantity,
        /// The direction; inwards along the normal where none is given.
        direction: Option<VectorQuantity>,
    },
    /// A wall that the gas sticks to.
    NoSlipWall {
        /// The wall's temperature; none for an adiabatic wall.
        temperature: Option<Quantity>,
        /// How the wall moves; at rest where nothing is given.
        motion: Option<WallMotion>,
    },
}

/// The velocity of a wall, along itself.
#[derive(Clone, Debug)]
pub enum WallMotion {
    /// By its components.
    Velocity(VectorQuantity),
    /// As a rigid body turns: `v = omega × (x − centre)`.
    Rotation {
        /// The angular velocity, counter-clockwise seen against the axis.
        omega: Quantity,
        /// A point of the axis; the origin where none is given.
        centre: Option<Located<Vec<f64>>>,
        /// The direction of the axis in space; z where none is given.
        axis: Option<Located<Vec<f64>>>,
    },
}

/// The kinds, and the models that have them.
const KINDS: [(&str, &[&str]); 8] = [
    ("dirichlet", &["euler", "navier-stokes", "advection"]),
    ("outflow", &["euler", "navier-stokes", "advection"]),
    ("slip-wall", &["euler", "navier-stokes"]),
    ("no-slip-wall", &["navier-stokes"]),
    ("symmetry", &["euler", "navier-stokes"]),
    ("far-field", &["euler", "navier-stokes", "advection"]),
    ("subsonic-inflow", &["euler", "navier-stokes"]),
    ("pressure-outlet", &["euler", "navier-stokes"]),
];

impl BoundarySpec {
    /// Reads the section `boundaries`.
    ///
    /// # Errors
    /// Unknown types, missing or surplus data.
    pub fn read_all(top: &Section<'_>, model: &str) -> Result<Vec<Self>, InputError> {
        let Some(node) = top.node("boundaries") else { return Ok(Vec::new()) };
        let section = Section::open_any(node, "boundaries", top.constants())?;
        section
            .entries()
            .iter()
            .map(|entry| {
                let key = section.key(&entry.key);
                let inner = Section::open_any(&entry.node, &key, section.constants())?;
                let name = Located { value: entry.key.clone(), key, place: entry.place.clone() };
                Ok(Self { name, condition: Condition::read(&inner, model)? })
            })
            .collect()
    }
}

impl Condition {
    fn read(section: &Section<'_>, model: &str) -> Result<Self, InputError> {
        section.lacks("type", &["curved-slip-wall"], "use slip-wall on a mesh with curved elements")?;
        section.lacks("type", &["periodic"], "join two boundaries by `mesh.periodic: [[NAME, NAME]]`")?;
        if let Some(word) = section.text("type")? {
            let owners = KINDS.iter().find(|(kind, _)| *kind == word.value).map(|(_, owners)| *owners);
            if owners.is_some_and(|owners| !owners.contains(&model)) {
                return Err(of_other_models(&word, model));
            }
        }
        let offered: Vec<_> = KINDS
            .iter()
            .filter(|(_, owners)| owners.contains(&model))
            .map(|&(kind, _)| (kind, kind))
            .collect();
        let names = || offered.iter().map(|(kind, _)| *kind).collect::<Vec<_>>().join(", ");
        let kind = section.choice("type", &offered)?.ok_or_else(|| section.missing("type", &names()))?;
        let bare = |condition: Self| section.only(&["type"]).map(|()| condition);
        match kind.value {
            "dirichlet" => Ok(Self::Dirichlet(StateSpec::read(section, &["type"])?)),
            "far-field" => Ok(Self::FarField(StateSpec::read(section, &["type"])?)),
            "outflow" => bare(Self::Outflow),
            "slip-wall" => bare(Self::SlipWall),
            "symmetry" => bare(Self::Symmetry),
            "pressure-outlet" => {
                section.only(&["type", "p"])?;
                let p = section
                    .positive_quantity("p")?
                    .ok_or_else(|| section.missing("p", "the pressure outside"))?;
                Ok(Self::PressureOutlet { p })
            }
            "subsonic-inflow" => inflow(section),
            _ => wall(section),
        }
    }
}

/// The error for a condition that the model does not have.
fn of_other_models(word: &Located<String>, model: &str) -> InputError {
    let belongs = match model {
        "advection" => {
            "the models of a gas; advection has dirichlet (which lets out what leaves), far-field and outflow"
        }
        _ => "the model navier-stokes: it needs viscosity; the wall of a gas without is slip-wall",
    };
    let key = format!("{}: {}", word.key, word.value);
    let problem = Problem::Misplaced { key, owner: format!("the model {model}"), belongs: belongs.into() };
    InputError::at(&word.place, problem)
}

fn inflow(section: &Section<'_>) -> Result<Condition, InputError> {
    section.only(&["type", "total_pressure", "total_temperature", "direction"])?;
    let given = |key: &str| {
        section
            .positive_quantity(key)?
            .ok_or_else(|| section.missing(key, "the value that the gas has when it is brought to rest"))
    };
    Ok(Condition::SubsonicInflow {
        total_pressure: given("total_pressure")?,
        total_temperature: given("total_temperature")?,
        direction: section.quantities("direction", ["x", "y", "z"])?,
    })
}

/// A no-slip wall: adiabatic, or with a temperature; at rest or moving.
fn wall(section: &Section<'_>) -> Result<Condition, InputError> {
    section.only(&["type", "adiabatic", "temperature", "velocity", "rotation"])?;
    let temperature = section.positive_quantity("temperature")?;
    match (section.flag("adiabatic")?, &temperature) {
        (Some(flag), Some(_)) if flag.value => section.exclusive("adiabatic", "temperature")?,
        (Some(flag), None) if !flag.value => {
            return Err(section.missing("temperature", "the wall's temperature, as it is not adiabatic"));
        }
        _ => {}
    }
    section.exclusive("velocity", "rotation")?;
    let motion = match section.section("rotation", &["omega", "centre", "axis"])? {
        Some(rotation) => Some(WallMotion::Rotation {
            omega: rotation
                .quantity("omega")?
                .ok_or_else(|| rotation.missing("omega", "the angular velocity in radians per time"))?,
            centre: rotation.vector("centre")?,
            axis: rotation.vector("axis")?,
        }),
        None => section.quantities("velocity", ["u", "v", "w"])?.map(WallMotion::Velocity),
    };
    Ok(Condition::NoSlipWall { temperature, motion })
}
