//! The condition `far-field`: waves enter from a given free stream. Its keys stand in `given_state.rs`.

use super::{ConditionKind, given_state};
use crate::file::keys::EXPLICIT;
use dgsuite_solve::flow::BoundaryKind;

pub(super) const CONDITION: ConditionKind = ConditionKind {
    name: "far-field",
    models: EXPLICIT,
    keys: &[],
    elsewhere: "",
    read: |section, _| given_state::read(section, BoundaryKind::FarField, true),
};
