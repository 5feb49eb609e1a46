//! Conditions of a gas that are values, which other crates can add, and walls with a model.

use std::sync::Arc;

use super::{Condition, On, Resolved, no_slip_wall, numbers};
use crate::file::problem::InputError;
use crate::file::quantity::VectorQuantity;
use crate::file::section::Section;
use crate::models::scalars::{OnBoundary, ScalarWord};
use dgsuite_solve::flow::BoundaryKind;
use dgsuite_solve::own::OwnCondition;

/// A condition of a gas that needs nothing of its boundary.
#[must_use]
pub fn value(condition: Arc<dyn OwnCondition>) -> Arc<dyn Condition> {
    moving(condition, None)
}

/// Does the same for one with a velocity of numbers, which must fit the mesh.
pub(super) fn moving(
    condition: Arc<dyn OwnCondition>,
    velocity: Option<VectorQuantity>,
) -> Arc<dyn Condition> {
    Arc::new(AsValue { condition, velocity })
}

#[derive(Debug)]
struct AsValue {
    condition: Arc<dyn OwnCondition>,
    velocity: Option<VectorQuantity>,
}

impl Condition for AsValue {
    fn resolve(&self, on: &On<'_>) -> Result<Resolved, InputError> {
        if let Some(velocity) = &self.velocity {
            numbers::fits(velocity, on.states)?;
        }
        Ok(BoundaryKind::Own(Arc::clone(&self.condition)).into())
    }

    fn passes_heat(&self) -> bool {
        self.condition.passes_heat()
    }

    fn on_straight_faces(&self) -> Option<&'static str> {
        self.condition.is_wall().then_some("")
    }

    fn as_value(&self) -> Option<&dyn OwnCondition> {
        Some(self.condition.as_ref())
    }

    /// Of incompressible flow, the only condition that is a value is a wall with a model.
    fn scalars(&self, section: &Section<'_>, names: &[String]) -> Result<Vec<OnBoundary>, InputError> {
        let all = OnBoundary::read_wall(section, no_slip_wall::CONDITION.name, names)?;
        if let Some(given) = all.iter().find(|given| matches!(given.condition, ScalarWord::Value(_))) {
            let belongs = "a wall without `model`: one with a model has a flux or a heat transfer";
            return Err(section.misplaced(&given.name, "a wall with a model", belongs));
        }
        Ok(all)
    }
}
