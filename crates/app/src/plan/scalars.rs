//! The scalars of incompressible flow: sources and conditions as functions of place and time.

use std::sync::Arc;

use dgsuite_physics::exact::OneField;
use dgsuite_physics::incompressible::ScalarFormulas;
use dgsuite_physics::source::FormulaSource;
use dgsuite_physics::trace::{Recording, StateRecording};
use dgsuite_physics::{Exact, Real};

use super::fitting;
use crate::file::expression::{COORDINATES, Constants};
use crate::file::problem::InputError;
use crate::file::problem::mistakes::each;
use crate::file::quantity::Quantity;
use crate::file::source::Located;
use crate::models::scalars::{BuoyancySpec, OnBoundary, ScalarSpec, ScalarWord};
use crate::pipeline::Pipeline;
use crate::pipeline::physics::Model;
use dgsuite_solve::flow::{BoundaryKind, Setup};
use dgsuite_solve::incompressible::{Buoyancy, Scalar, ScalarCondition, ScalarData};

/// The scalars of the law.
///
/// # Errors
/// Formulas of diffusivities that do not parse.
pub(super) fn of_law(specs: &[ScalarSpec], constants: &Constants) -> Result<Vec<Scalar>, InputError> {
    let names: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
    each(specs.iter().map(|spec| {
        let recorded = |text: &Located<String>| -> Result<ScalarFormulas, InputError> {
            let formula = constants.located_formula(text, &names)?;
            let recording = StateRecording::new(names.len(), |w, _, _| vec![formula.trace(w)]);
            Ok(ScalarFormulas::new(vec![text.value.clone()], names.len(), Arc::new(recording)))
        };
        let formula = spec.formula.as_ref().map(recorded).transpose()?;
        Ok(Scalar { formula, ..Scalar::new(spec.name, spec.diffusivity) })
    }))
}

/// The buoyancy of the law, in a mesh of this dimension.
pub(super) fn buoyancy(spec: &BuoyancySpec, dim: usize) -> Result<Buoyancy, InputError> {
    let gravity = fitting(&spec.gravity, dim)?;
    let gravity = std::array::from_fn(|d| gravity.get(d).copied().unwrap_or(0.0));
    Ok(Buoyancy { gravity, expansion: spec.expansion, reference: spec.reference })
}

/// Sources and conditions of all scalars, for the conditions of the flow in `setup`.
///
/// # Errors
/// Formulas that do not parse.
pub(super) fn resolve(pipeline: &Pipeline, setup: &Setup) -> Result<Vec<ScalarData>, InputError> {
    let Model::Incompressible { scalars, .. } = &pipeline.physics.model else { return Ok(Vec::new()) };
    let (constants, dim) = (&pipeline.constants, setup.mesh.dim());
    each(scalars.iter().enumerate().map(|(k, spec)| {
        let mut data = ScalarData::default();
        if let Some(text) = &spec.source {
            let formula = constants.located_formula(text, &COORDINATES)?;
            data.source = Some(Arc::new(FormulaSource::of(&formula)));
        }
        for boundary in &pipeline.boundaries {
            let name = &boundary.name.value;
            let Some(kind) = setup.boundaries.get(name) else { continue };
            let own = boundary.scalars.iter().find(|on| on.name == spec.name);
            let condition = match own {
                Some(own) => Some(condition(own, kind, constants)?),
                None => of_state(kind, dim + 1 + k),
            };
            data.conditions.extend(condition.map(|condition| (name.clone(), condition)));
        }
        Ok(data)
    }))
}

/// The condition that a prescribed state has for one of its fields.
fn of_state(kind: &BoundaryKind, field: usize) -> Option<ScalarCondition> {
    let one = |of: &Arc<dyn Exact>| Arc::new(OneField { of: Arc::clone(of), field });
    match kind {
        BoundaryKind::Prescribed(state) => Some(ScalarCondition::Value(one(state))),
        BoundaryKind::Open { data: Some(state), .. } => Some(ScalarCondition::Inflow(one(state))),
        _ => None,
    }
}

fn condition(
    own: &OnBoundary,
    kind: &BoundaryKind,
    constants: &Constants,
) -> Result<ScalarCondition, InputError> {
    let function = |quantity: &Quantity| function(quantity, constants);
    Ok(match &own.condition {
        ScalarWord::Value(value) => match kind {
            BoundaryKind::NoSlipWall { .. } => ScalarCondition::Value(function(value)?),
            _ => ScalarCondition::Inflow(function(value)?),
        },
        ScalarWord::Flux(flux) => ScalarCondition::Flux(function(flux)?),
        ScalarWord::Transfer { coefficient, ambient } => {
            ScalarCondition::Transfer { coefficient: *coefficient, ambient: function(ambient)? }
        }
    })
}

/// A number or formula as a function of place and time.
fn function(quantity: &Quantity, constants: &Constants) -> Result<Arc<dyn Exact>, InputError> {
    Ok(match quantity {
        Quantity::Constant(x) => Arc::new(Recording::new(|_, _| [Real::lit(x.value)])),
        Quantity::Formula(text) => {
            let formula = constants.located_formula(text, &COORDINATES)?;
            Arc::new(Recording::new(|t, [x, y, z]| [formula.trace(&[x, y, z, t])]))
        }
    })
}
