//! Incompressible flow: the Navier–Stokes equations of a fluid of constant density.
//!
//! ```text
//! ∂u/∂t + ∇·(u ⊗ u) = −∇p + ν Δu + f,   ∇·u = 0
//! ```
//!
//! `u` is the velocity, `p` the pressure divided by the density, `ν` the kinematic viscosity and `f` a force
//! per mass. The unknowns of a run are `u v [w] p`, then those of scalars that the flow carries, such as a
//! temperature `T`. [`Incompressible`] has the parameters of the law and of
//! the time integration; with [`Law::Incompressible`](super::setup::Law::Incompressible) a
//! [`Flow`](super::flow::Flow) solver runs it.

mod boundary;
mod carried;
mod carrier;
mod components;
mod device;
mod elliptics;
mod engine;
mod first_order;
mod flow;
mod forcing;
mod helmholtz;
mod host;
mod laws;
mod lower_order;
mod machine;
mod mean;
mod modelled;
mod penalty;
mod phases;
mod pressure;
mod role;
mod scalars;
mod shared;
mod slip;
mod subcycles;

pub use super::setup::{
    Backflow, Buoyancy, FlowRate, Incompressible, MOST_SCALARS, Penalties, PressureOrder, Scalar,
    ScalarCondition, ScalarData, Splitting, Subcycling, TEMPERATURE, VelocityOptions, VelocityPreconditioner,
};
pub(super) use engine::engine;
pub use first_order::FirstOrder;
pub use laws::wall_velocity;
