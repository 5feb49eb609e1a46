//! The condition `slip-wall`: no flow through the wall, and no friction.

use std::sync::Arc;

use super::{Condition, ConditionKind, On, Resolved};
use crate::file::keys::GAS;
use crate::file::problem::InputError;
use dgsuite_solve::flow::BoundaryKind;

pub(super) const CONDITION: ConditionKind = ConditionKind {
    name: "slip-wall",
    models: GAS,
    keys: &[],
    elsewhere: "",
    read: |_, _| Ok(Arc::new(SlipWall)),
};

#[derive(Debug)]
struct SlipWall;

impl Condition for SlipWall {
    fn resolve(&self, _: &On<'_>) -> Result<Resolved, InputError> {
        Ok(BoundaryKind::SlipWall.into())
    }

    fn passes_heat(&self) -> bool {
        false
    }

    fn on_straight_faces(&self) -> Option<&'static str> {
        Some(", or use `curved-slip-wall`")
    }
}
