//! Point formulas that a set-up describes: fluxes and conditions with its parameters.

use dgsuite_ops::Form;
use dgsuite_physics::{
    Backflow, FaceMean, Law as Formulas, NoSlipWall, NumericalFlux, PressureOutlet, SubsonicInflow, WallHeat,
};

use super::{BoundaryKind, Setup};
use crate::two_point::SplitFlux;

/// A flux with the dissipation of the set-up.
pub(crate) fn in_setup<L: Formulas<D, N>, F: NumericalFlux<L, D, N>, const D: usize, const N: usize>(
    flux: F,
    setup: &Setup,
) -> F {
    let Some(share) = setup.dissipation else { return flux };
    let mean = match (setup.form, setup.split_flux) {
        (Form::Split, SplitFlux::KennedyGruber) => FaceMean::KennedyGruber,
        (Form::Split, SplitFlux::Ranocha) => FaceMean::Ranocha,
        _ => FaceMean::Fluxes,
    };
    flux.with_share(share, mean)
}

/// The condition of an outlet with a pressure.
pub(crate) fn outlet(kind: &BoundaryKind, gas_constant: f64) -> Option<PressureOutlet> {
    let BoundaryKind::PressureOutlet { p, temperature, velocity, .. } = *kind else { return None };
    let backflow = temperature.map(|temperature| Backflow { temperature, gas_constant, velocity });
    Some(PressureOutlet { p, backflow })
}

/// The condition of a subsonic inflow.
pub(crate) fn inflow(kind: &BoundaryKind, gas_constant: f64) -> Option<SubsonicInflow> {
    match *kind {
        BoundaryKind::SubsonicInflow { total_pressure, total_temperature, direction, .. } => {
            Some(SubsonicInflow { total_pressure, total_temperature, gas_constant, direction })
        }
        _ => None,
    }
}

/// The condition of a wall at which the fluid sticks.
pub(crate) fn no_slip(kind: &BoundaryKind) -> Option<NoSlipWall> {
    let BoundaryKind::NoSlipWall { velocity, temperature, .. } = *kind else { return None };
    let heat = temperature.map_or(WallHeat::Adiabatic, |temperature| WallHeat::Isothermal { temperature });
    Some(NoSlipWall { heat, velocity })
}

/// The point formulas of the conditions of a gas: `$make!(formula)` for the one of `$kind`, with the specific
/// gas constant `$r`, of an `inviscid` or a `viscous` gas; returns `None` for others.
macro_rules! match_condition {
    (inviscid $kind:ident, $r:expr, $make:ident) => {
        match_condition!($kind, $r, $make, CurvedSlipWall => dgsuite_physics::CurvedSlipWall)
    };
    (viscous $kind:ident, $r:expr, $make:ident) => {
        match_condition!($kind, $r, $make, NoSlipWall => $crate::setup::formulas::no_slip($kind)?)
    };
    ($kind:ident, $r:expr, $make:ident, $only:ident => $formula:expr) => {
        match $kind {
            BoundaryKind::Prescribed(_) => $make!(dgsuite_physics::Prescribed),
            BoundaryKind::Outflow => $make!(dgsuite_physics::Outflow),
            BoundaryKind::FarField(_) => $make!(dgsuite_physics::FarField),
            BoundaryKind::SlipWall => $make!(dgsuite_physics::SlipWall),
            BoundaryKind::Symmetry => $make!(dgsuite_physics::Symmetry),
            BoundaryKind::PressureOutlet { .. } => $make!($crate::setup::formulas::outlet($kind, $r)?),
            BoundaryKind::SubsonicInflow { .. } => $make!($crate::setup::formulas::inflow($kind, $r)?),
            BoundaryKind::$only { .. } => $make!($formula),
            _ => return None,
        }
    };
}
pub(crate) use match_condition;
