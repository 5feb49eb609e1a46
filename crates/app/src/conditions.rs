//! Boundary conditions of models in time: one file for each.
//!
//! A file declares a [`ConditionKind`]: the word of the pipeline file, the models that have it, its keys, and
//! how they become a [`Condition`]: what is on the boundary, with what it warns of. Words, schema, messages,
//! the plan and the solvers of all devices follow. A new condition is its formulas in `dgsuite-physics`, a
//! file here and its line in [`KINDS`].

mod curved_slip_wall;
mod dirichlet;
pub(crate) mod faces;
mod far_field;
mod given_state;
mod no_slip_wall;
mod numbers;
mod outflow;
mod pressure_outlet;
mod slip_length;
mod slip_wall;
mod subsonic_inflow;
mod symmetry;
mod value;
mod wall_model;

use std::fmt;
use std::sync::{Arc, OnceLock};

pub use self::value::value;
use crate::file::keys::{GAS, INCOMPRESSIBLE_FLOW, Row, Scope};
use crate::file::problem::{InputError, Problem};
use crate::file::section::Section;
use crate::file::source::Located;
use crate::models::scalars::{self, OnBoundary};
use crate::models::state::StateSpec;
use crate::models::states::States;
use dgsuite_physics::Exact;
use dgsuite_solve::RankMesh;
use dgsuite_solve::flow::{BoundaryKind, Riemann};
use dgsuite_solve::own::OwnCondition;

/// The conditions of this workspace, in the order in which messages list them.
pub static KINDS: [ConditionKind; 10] = [
    dirichlet::CONDITION,
    outflow::CONDITION,
    slip_wall::CONDITION,
    curved_slip_wall::CONDITION,
    no_slip_wall::CONDITION,
    symmetry::CONDITION,
    far_field::CONDITION,
    subsonic_inflow::CONDITION,
    pressure_outlet::CONDITION,
    slip_length::CONDITION,
];

/// Those that a program adds.
static OWN: OnceLock<Vec<ConditionKind>> = OnceLock::new();

/// Makes conditions of a program known; only the first call of a process does.
pub(crate) fn install(own: Vec<ConditionKind>) {
    OWN.get_or_init(|| own);
}

/// All conditions, those of the program included.
pub fn kinds() -> impl Iterator<Item = &'static ConditionKind> {
    KINDS.iter().chain(OWN.get().into_iter().flatten())
}

/// The words of the conditions that a model has.
pub(crate) fn words(model: &str) -> impl Iterator<Item = &'static str> {
    kinds().filter(move |kind| kind.models.contains(&model)).map(|kind| kind.name)
}

/// A kind of boundary condition.
#[derive(Clone, Copy)]
pub struct ConditionKind {
    /// The word of `boundaries.<name>.type`.
    pub name: &'static str,
    /// The models that have it, such as [`GAS`].
    pub models: &'static [&'static str],
    /// Its own keys, `boundaries.<name>.KEY`, each with the word in [`with`](Row::with).
    pub keys: &'static [Row],
    /// What a file of another model of a gas is told after the models that have it.
    pub elsewhere: &'static str,
    /// Reads the section, whose keys are known. A condition that is a value is made by [`value`].
    pub read: fn(&Section<'_>, OfModel<'_>) -> Result<Arc<dyn Condition>, InputError>,
}

impl fmt::Debug for ConditionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The model of the file in which a condition stands.
#[derive(Clone, Copy, Debug)]
pub struct OfModel<'a> {
    /// Its word.
    pub model: &'a str,
    /// The names of its scalars.
    pub scalars: &'a [String],
}

/// A boundary condition as written.
pub trait Condition: fmt::Debug + Send + Sync {
    /// What is on the boundary, of which all numbers have been checked.
    ///
    /// # Errors
    /// Formulas that do not parse, data that is impossible there.
    fn resolve(&self, on: &On<'_>) -> Result<Resolved, InputError>;

    /// The texts of its formulas.
    fn formulas(&self) -> Vec<&Located<String>> {
        Vec::new()
    }

    /// Checks that the condition can be part of a steady run, if the run is one.
    ///
    /// # Errors
    /// Data that changes all the time.
    fn suits(&self, _steady: bool) -> Result<(), InputError> {
        Ok(())
    }

    /// Whether heat can leave through the boundary.
    fn passes_heat(&self) -> bool {
        true
    }

    /// Whether the condition is a wall on which the corners of straight faces matter, with what is said of it
    /// beside a mesh of higher order.
    fn on_straight_faces(&self) -> Option<&'static str> {
        None
    }

    /// The angle of a corner in radians, if the condition needs the curve through the points of the boundary.
    fn estimates_curve(&self) -> Option<f64> {
        None
    }

    /// A warning about a numerical flux that does not suit the condition on the boundary `name`.
    fn with_flux(&self, _name: &str, _riemann: Riemann) -> Option<String> {
        None
    }

    /// The condition as a value, if it is one.
    fn as_value(&self) -> Option<&dyn OwnCondition> {
        None
    }

    /// Reads what stands beside it for the scalars of incompressible flow; nothing where the condition has
    /// them.
    ///
    /// # Errors
    /// Unknown keys, values of the wrong kind.
    fn scalars(&self, _section: &Section<'_>, _names: &[String]) -> Result<Vec<OnBoundary>, InputError> {
        Ok(Vec::new())
    }
}

/// A boundary on which a condition is.
#[derive(Clone, Copy)]
pub struct On<'a> {
    /// The boundary's name in the mesh.
    pub name: &'a Located<String>,
    /// The mesh.
    pub mesh: &'a RankMesh,
    /// How states are resolved.
    pub states: &'a States<'a>,
    /// The state at the start of the run, if it is known.
    pub start: Option<&'a dyn Exact>,
    /// The geometry nodes on the boundary.
    pub points: &'a [[f64; 3]],
    /// Whether straight faces of a mesh file have been split by refinement.
    pub split: bool,
}

impl On<'_> {
    /// Resolves a state and checks it at the points of the boundary.
    fn state(&self, spec: &StateSpec) -> Result<Arc<dyn Exact>, InputError> {
        let state = self.states.resolve(spec)?;
        self.states.admissible(state.as_ref(), spec, 0.0, self.points)?;
        Ok(state)
    }

    /// Whether pressures are compared with those of the start: the model is a gas, whose start is known.
    fn is_compared(&self) -> bool {
        self.start.is_some() && self.states.variables.law().gas().is_some()
    }

    /// The pressures of a state of a gas at the points of the boundary.
    pub(crate) fn pressures(&self, state: &dyn Exact) -> Vec<f64> {
        let mut values = vec![Vec::new(); state.n_fields()];
        state.eval(0.0, self.points, &mut values);
        self.states.variables.to_primitive(&mut values);
        values.pop().unwrap_or_default()
    }

    /// The midpoint of each face with the normal out of the domain.
    fn outward_normals(&self) -> impl Iterator<Item = ([f64; 3], [f64; 3])> {
        let mesh = &**self.mesh.seen();
        let sides = faces::sides_of(mesh, &self.name.value).into_iter();
        sides.map(move |side| (mesh.side_centroid(side), faces::outward(side, mesh)))
    }
}

/// What a condition becomes.
pub struct Resolved {
    /// The condition of the solvers.
    pub kind: BoundaryKind,
    /// The pressures outside at the points of the boundary, where they can be compared with those of the
    /// start.
    pub pressures: Option<Vec<f64>>,
    /// Warnings about settings that are probably not intended.
    pub warnings: Vec<String>,
}

impl From<BoundaryKind> for Resolved {
    fn from(kind: BoundaryKind) -> Self {
        Self { kind, pressures: None, warnings: Vec::new() }
    }
}

/// A boundary's condition, as written.
#[derive(Clone, Debug)]
pub struct BoundarySpec {
    /// The boundary's name in the mesh.
    pub name: Located<String>,
    /// Its condition.
    pub condition: Arc<dyn Condition>,
    /// What it prescribes for scalars of incompressible flow, where `condition` does not have them.
    pub scalars: Vec<OnBoundary>,
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
                let condition = read(&inner, OfModel { model, scalars: &names })?;
                let scalars = match model {
                    INCOMPRESSIBLE_FLOW => condition.scalars(&inner, &names)?,
                    _ => Vec::new(),
                };
                Ok(Self { name, condition, scalars })
            })
            .collect()
    }
}

fn read(section: &Section<'_>, of: OfModel<'_>) -> Result<Arc<dyn Condition>, InputError> {
    section.lacks("type", &["periodic"], "join two boundaries by `mesh.periodic: [[NAME, NAME]]`")?;
    if let Some(word) = section.text("type")?
        && let Some(kind) = kinds().find(|kind| kind.name == word.value)
        && !kind.models.contains(&of.model)
    {
        return Err(of_other_models(kind, &word, of.model));
    }
    let words: Vec<_> =
        kinds().filter(|kind| kind.models.contains(&of.model)).map(|kind| (kind.name, kind)).collect();
    let names = || words.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let kind = section.choice("type", &words)?.ok_or_else(|| section.missing("type", &names()))?.value;
    section.known_in(Scope { model: Some(of.model), kind: Some(kind.name) })?;
    (kind.read)(section, of)
}

/// The error for a condition that the model does not have.
fn of_other_models(kind: &ConditionKind, word: &Located<String>, model: &str) -> InputError {
    let belongs = if GAS.contains(&model) {
        format!("the model {}{}", kind.models.first().copied().unwrap_or_default(), kind.elsewhere)
    } else {
        let words: Vec<&str> = words(model).collect();
        let (last, first) = words.split_last().map_or(("", &[][..]), |(last, first)| (*last, first));
        format!("the models of a gas; {model} has {} and {last}", first.join(", "))
    };
    let key = format!("{}: {}", word.key, word.value);
    let problem = Problem::Misplaced { key, owner: format!("the model {model}"), belongs };
    InputError::at(&word.place, problem)
}
