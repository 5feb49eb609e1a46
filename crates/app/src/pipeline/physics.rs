//! The section `physics`: the model and its parameters.

use super::problem::{InputError, Problem};
use super::section::Section;
use super::source::{Located, Place};

/// The model as written.
#[derive(Clone, Debug)]
pub struct PhysicsSpec {
    /// Model and parameters.
    pub model: Model,
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
    },
}

impl Model {
    /// The word of the pipeline file.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Advection { .. } => "advection",
            Self::Euler { .. } => "euler",
        }
    }
}

/// Each parameter and the models that have it.
const PARAMETERS: [(&str, &[&str]); 8] = [
    ("gamma", &["euler", "navier-stokes"]),
    ("prandtl", &["navier-stokes"]),
    ("gas_constant", &["navier-stokes"]),
    ("viscosity", &["navier-stokes", "incompressible"]),
    ("velocity", &["advection"]),
    ("forcing", &["poisson"]),
    ("lambda", &["poisson"]),
    ("kappa", &["poisson"]),
];

impl PhysicsSpec {
    /// Reads the section.
    ///
    /// # Errors
    /// No model or one that is not there yet, parameters of another model, values out of range.
    pub fn read(top: &Section<'_>) -> Result<Self, InputError> {
        let mut known = vec!["model"];
        known.extend(PARAMETERS.iter().map(|(key, _)| *key));
        let section = top
            .section("physics", &known)?
            .ok_or_else(|| top.missing("physics", "physics: { model: euler }"))?;
        let words = ["advection", "poisson", "euler", "navier-stokes", "incompressible"];
        let model = section
            .choice("model", &words.map(|w| (w, w)))?
            .ok_or_else(|| section.missing("model", "advection or euler"))?;
        if !["advection", "euler"].contains(&model.value) {
            return Err(InputError::at(
                &model.place,
                Problem::Unsupported {
                    key: model.key,
                    value: model.value.into(),
                    instead: "the models of this version are advection and euler".into(),
                },
            ));
        }
        for (key, owners) in PARAMETERS {
            if section.has(key) && !owners.contains(&model.value) {
                let owner = format!("the model {}", model.value);
                return Err(section.misplaced(key, &owner, &format!("the model {}", owners.join(" or "))));
            }
        }
        let place = model.place.clone();
        let model = if model.value == "advection" {
            let velocity = section.vector("velocity")?.ok_or_else(|| {
                section.missing("velocity", "one number for each direction, such as [1, 0]")
            })?;
            Model::Advection { velocity }
        } else {
            let gamma = section.number("gamma")?;
            if let Some(gamma) = gamma.as_ref().filter(|g| g.value <= 1.0) {
                return Err(InputError::range(gamma, "greater than 1"));
            }
            Model::Euler { gamma: gamma.map_or(1.4, |g| g.value) }
        };
        Ok(Self { model, place })
    }
}
