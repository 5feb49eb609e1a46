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
