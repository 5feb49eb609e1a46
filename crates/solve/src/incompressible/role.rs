//! What a boundary is for velocity and pressure.

use crate::setup::BoundaryKind;
use dgsuite_ops::Height;
use dgsuite_physics::WallModel;
use std::collections::BTreeMap;

/// The condition that a kind of boundary sets for velocity and pressure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The velocity is prescribed.
    Wall,
    /// The normal velocity is zero, without friction, or with that of a wall model.
    Symmetry,
    /// The pressure is prescribed.
    Open,
}

impl Role {
    /// The role of a condition, if incompressible flow has it.
    pub(super) fn of(kind: &BoundaryKind) -> Option<Self> {
        match kind {
            BoundaryKind::Prescribed(_) | BoundaryKind::NoSlipWall { .. } => Some(Self::Wall),
            BoundaryKind::Symmetry | BoundaryKind::SlipWall => Some(Self::Symmetry),
            kind if model(kind).is_some() => Some(Self::Symmetry),
            BoundaryKind::Open { .. } | BoundaryKind::Outflow | BoundaryKind::PressureOutlet { .. } => {
                Some(Self::Open)
            }
            BoundaryKind::FarField(_)
            | BoundaryKind::Own(_)
            | BoundaryKind::OfState { .. }
            | BoundaryKind::SubsonicInflow { .. }
            | BoundaryKind::CurvedSlipWall { .. } => None,
        }
    }
}

/// The names of the boundaries with a role, in the order of the set-up.
pub(super) fn named(kinds: &BTreeMap<String, BoundaryKind>, role: Role) -> Vec<&str> {
    kinds.iter().filter(|(_, kind)| Role::of(kind) == Some(role)).map(|(name, _)| name.as_str()).collect()
}

/// A wall with a model.
#[derive(Clone, Copy, Debug)]
pub(super) struct WithModel {
    pub(super) model: WallModel,
    pub(super) height: Height,
    /// The velocity of the wall.
    pub(super) velocity: [f64; 3],
}

/// The model of a wall, if the condition has one.
pub(super) fn model(kind: &BoundaryKind) -> Option<WithModel> {
    let BoundaryKind::Own(own) = kind else { return None };
    Some(WithModel {
        model: own.model()?,
        height: own.height()?,
        velocity: own.velocity().unwrap_or_default(),
    })
}
