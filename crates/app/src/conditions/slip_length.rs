//! The condition `slip-length-wall`.

use super::{ConditionKind, value};
use crate::file::keys::Absent::Required;
use crate::file::keys::Kind::Number;
use crate::file::keys::Range::Above;
use crate::file::keys::{NAVIER_STOKES, row};
use dgsuite_physics::SlipLengthWall;
use dgsuite_solve::own::wall;

pub(super) const CONDITION: ConditionKind = ConditionKind {
    name: "slip-length-wall",
    models: NAVIER_STOKES,
    keys: &[row(
        "boundaries.<name>.slip_length",
        &[Number(Above(0.0))],
        Required,
        "The length `l` in `v = -l ∂v/∂n`, with which the gas slips along the wall.",
    )
    .of(NAVIER_STOKES)
    .with(&["slip-length-wall"])],
    elsewhere: ": it needs viscosity; use slip-wall for an inviscid gas",
    read: |section, _| {
        let missing = || section.missing("slip_length", "the length of a layer with the same friction");
        let length = section.positive("slip_length")?.ok_or_else(missing)?.value;
        Ok(value(wall(SlipLengthWall { length }, Some(length))))
    },
};
