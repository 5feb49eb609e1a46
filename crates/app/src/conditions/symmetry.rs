//! The condition `symmetry`: a plane of symmetry.

use std::sync::Arc;

use super::{Condition, ConditionKind, On, Resolved};
use crate::file::keys::FLUID;
use crate::file::problem::InputError;
use dgsuite_solve::flow::BoundaryKind;

pub(super) const CONDITION: ConditionKind = ConditionKind {
    name: "symmetry",
    models: FLUID,
    keys: &[],
    elsewhere: "",
    read: |_, _| Ok(Arc::new(Symmetry)),
};

#[derive(Debug)]
struct Symmetry;

impl Condition for Symmetry {
    fn resolve(&self, _: &On<'_>) -> Result<Resolved, InputError> {
        Ok(BoundaryKind::Symmetry.into())
    }

    fn passes_heat(&self) -> bool {
        false
    }
}
