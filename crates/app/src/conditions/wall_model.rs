//! The keys `model` and `exchange` of a no-slip wall: a wall model in place of a resolved wall.

use std::sync::Arc;

use super::no_slip_wall::{NoSlipWall, WallMotion};
use super::{Condition, value};
use crate::file::every::AUTO;
use crate::file::node::Value;
use crate::file::problem::InputError;
use crate::file::quantity::{Quantity, VectorQuantity};
use crate::file::section::Section;
use dgsuite_ops::Height;
use dgsuite_physics::{ModelledWall, WallModel};
use dgsuite_solve::own::{ModelSetting, wall_with_height};

/// The height with `exchange: auto`: this share of the thickness of the elements at the wall. Near the far
/// side of an element the solution is better than near the wall, where the model is coarse.
const SHARE: f64 = 0.8;

/// The wall with a model in place of this one, if the section has one.
///
/// # Errors
/// Keys that a wall with a model does not have, and `exchange` without a model.
pub(super) fn read(
    section: &Section<'_>,
    wall: &NoSlipWall,
) -> Result<Option<Arc<dyn Condition>>, InputError> {
    let words = WallModel::ALL.map(|model| (model.name(), model));
    let Some(model) = section.choice("model", &words)? else {
        if section.node("exchange").is_some() {
            return Err(section.missing("model", "reichardt or spalding, the model that uses `exchange`"));
        }
        return Ok(None);
    };
    if section.node("rotation").is_some() {
        let belongs = "a wall without `model`: one with a model has a `velocity` of numbers";
        return Err(section.misplaced("rotation", "a wall with a model", belongs));
    }
    let motion = match &wall.motion {
        Some(WallMotion::Velocity(given)) => Some(given),
        _ => None,
    };
    let velocity = motion.map(numbers).transpose()?;
    let temperature = match &wall.temperature {
        Some(Quantity::Constant(t)) => Some(t.value),
        Some(Quantity::Formula(formula)) => {
            return Err(InputError::range(formula, "a number on a wall with a model"));
        }
        None => None,
    };
    let height = match section.node("exchange") {
        Some(node) if matches!(&node.value, Value::Text(word) if word == AUTO) => Height::Share(SHARE),
        Some(_) => section.positive("exchange")?.map_or(Height::Share(SHARE), |h| Height::Length(h.value)),
        None => Height::Share(SHARE),
    };
    let condition = ModelledWall { model: model.value, temperature, velocity };
    let passes_heat = temperature.is_some();
    let setting = ModelSetting { model: model.value, height, passes_heat, velocity };
    Ok(Some(value::moving(wall_with_height(condition, setting), motion.cloned())))
}

/// The components of a velocity, all of them numbers.
fn numbers(given: &VectorQuantity) -> Result<[f64; 3], InputError> {
    let mut out = [0.0; 3];
    for (number, component) in out.iter_mut().zip(&given.components) {
        match component {
            Some(Quantity::Constant(value)) => *number = value.value,
            Some(Quantity::Formula(formula)) => {
                return Err(InputError::range(formula, "a number on a wall with a model"));
            }
            None => {}
        }
    }
    Ok(out)
}
