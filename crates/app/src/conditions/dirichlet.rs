//! The condition `dirichlet`: the outer state is given.

use super::{ConditionKind, given_state};
use crate::file::keys::FLOW;
use dgsuite_solve::flow::BoundaryKind;

pub(super) const CONDITION: ConditionKind = ConditionKind {
    name: "dirichlet",
    models: FLOW,
    keys: given_state::KEYS,
    elsewhere: "",
    read: |section, _| given_state::read(section, BoundaryKind::Prescribed, false),
};
