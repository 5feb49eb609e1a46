//! A kinematic viscosity that varies: its formula, and what does not go together with it.

use std::sync::Arc;

use dgsuite_physics::incompressible::ViscosityFormula;
use dgsuite_physics::trace::StateRecording;
use dgsuite_solve::flow::{BoundaryKind, Setup};
use dgsuite_solve::incompressible::Scalar;

use crate::file::number::short;
use crate::file::problem::{InputError, Problem};
use crate::file::source::Located;
use crate::pipeline::Pipeline;
use crate::pipeline::physics::{Model, SourceSpec};

/// Shear rates at which a formula without scalars is tried: of a fluid at rest, and others.
const TRIED: [f64; 4] = [0.0, 1e-3, 1.0, 1e3];

/// The formula `text` of the scalars and of the shear rate.
///
/// # Errors
/// A formula that does not parse, or is not a viscosity; a force that is derived from an exact solution.
pub(super) fn resolve(
    pipeline: &Pipeline,
    text: &Located<String>,
    scalars: &[Scalar],
) -> Result<Box<ViscosityFormula>, InputError> {
    if let Some(SourceSpec::Manufactured(_)) = &pipeline.physics.source {
        let instead =
            "a manufactured force does not know a viscosity that varies: give formulas of the force";
        return Err(unsupported(text, instead));
    }
    let names: Vec<&str> =
        scalars.iter().map(|scalar| scalar.name).chain([ViscosityFormula::SHEAR]).collect();
    let formula = pipeline.constants.located_formula(text, &names)?;
    if scalars.is_empty() {
        let value = |shear: f64| (shear, formula.eval(&[shear]));
        let bad = TRIED.into_iter().map(value).find(|(_, nu)| !(nu.is_finite() && *nu >= 0.0));
        if let Some((shear, nu)) = bad {
            let what =
                text.with(format!("{}, at the shear rate {}, {}", text.value, short(shear), short(nu)));
            let expected = "finite and not negative at all shear rates, that of a fluid at rest included: limit \
                            it, as max(shear, 1e-3) does";
            return Err(InputError::range(&what, expected));
        }
    }
    let recording = StateRecording::new(names.len(), |w, _, _| vec![formula.trace(w)]);
    Ok(Box::new(ViscosityFormula::new(text.value.clone(), scalars.len(), Arc::new(recording))))
}

/// Refuses walls with a model: it has a constant viscosity.
pub(super) fn fits_the_walls(pipeline: &Pipeline, setup: &Setup) -> Result<(), InputError> {
    let Model::Incompressible { viscosity_formula: Some(text), .. } = &pipeline.physics.model else {
        return Ok(());
    };
    let modelled = |kind: &BoundaryKind| matches!(kind, BoundaryKind::Own(own) if own.height().is_some());
    match setup.boundaries.iter().find(|(_, kind)| modelled(kind)) {
        None => Ok(()),
        Some((name, _)) => {
            let instead =
                format!("the model of the wall `{name}` is that of a fluid with a constant viscosity");
            Err(unsupported(text, &instead))
        }
    }
}

fn unsupported(text: &Located<String>, instead: &str) -> InputError {
    let (key, value) = ("physics.viscosity.formula".to_owned(), text.value.clone());
    InputError::at(&text.place, Problem::Unsupported { key, value, instead: instead.to_owned() })
}
