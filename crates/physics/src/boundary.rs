//! Boundary conditions: compute the state outside of a face from the state inside.

mod carried;
mod curved_wall;
mod far_field;
mod given;
mod incompressible;
mod inflow;
mod modelled_wall;
mod no_slip;
mod open;
mod outlet;
mod reservoir;
mod slip_length;
mod variable_viscosity;
mod wall;

pub use carried::{CarriedIn, GivenScalars};
pub use curved_wall::CurvedSlipWall;
pub use far_field::FarField;
pub use given::Given;
pub use incompressible::{GivenVelocity, InflowProtected, ZeroNormalVelocity, ZeroPressure, ZeroVelocity};
pub use inflow::SubsonicInflow;
pub use modelled_wall::ModelledWall;
pub use no_slip::{NoSlipWall, WallHeat};
pub use open::{Outflow, Prescribed};
pub use outlet::{Backflow, PressureOutlet};
pub use slip_length::SlipLengthWall;
pub use variable_viscosity::{StressThere, VelocityThere};
pub use wall::{SlipWall, Symmetry};

/// Hands walls that are at rest, and adiabatic or without viscosity, to a macro, for the tests that all of
/// them must pass: a name, and the condition. A new wall is a row.
#[macro_export]
macro_rules! walls {
    ($to:ident! { $($head:tt)* }) => {
        $to! { $($head)*
            slip_wall $crate::SlipWall;
            symmetry $crate::Symmetry;
            sticky_wall $crate::NoSlipWall { heat: $crate::WallHeat::Adiabatic, velocity: None };
            slip_length_wall $crate::SlipLengthWall { length: 0.3 };
        }
    };
}

use crate::diffusion::Diffusion;
use crate::law::Law;
use crate::real::Real;

/// A boundary condition, imposed weakly: the numerical flux uses the outer state `u⁺` that
/// [`outer`](Boundary::outer) returns.
pub trait Boundary<L: Law<D, N>, const D: usize, const N: usize>: Clone + Send + Sync + 'static {
    /// Name in pipeline files.
    const NAME: &'static str;

    /// Whether [`outer`](Boundary::outer) uses the prescribed data.
    const USES_DATA: bool;

    /// Returns the outer state `u⁺` for the inner state `um`, the outward unit normal `n` and prescribed
    /// `data`: a conserved state, or the numbers for which the condition has [`Given::Prescribed`]. The data
    /// is ignored by conditions that do not use it.
    fn outer<R: Real>(&self, law: &L, um: &[R; N], n: &[R; D], data: &[R; N]) -> [R; N];
}

/// A condition whose data are numbers of the state at a height above each point of the boundary, such as the
/// stress of a wall model.
pub trait AboveWall<V: Diffusion<D, N>, const D: usize, const N: usize>:
    Clone + Send + Sync + 'static
{
    /// Returns the data of the condition at a point with the outward unit normal `n` from the conserved state
    /// at this height above it.
    fn wall_data<R: Real>(&self, diffusion: &V, above: &[R; N], n: &[R; D], height: R) -> [R; N];
}
