//! Point formulas, written once: conservation laws, Riemann solvers, boundary states, exact solutions.
//!
//! Every formula is a Rust function over a number type [`Real`]. With `f64`, `f32` or [`Lanes`] it runs on a
//! CPU, with [`Dual`] it gives exact derivatives, and with [`trace::Sym`] it is recorded and printed as a
//! CUDA C++ function. The crate does not depend on meshes, arrays or devices; its only dependency is an error
//! macro.
//!
//! | idea | items |
//! |---|---|
//! | number types | [`Real`], [`Lanes`], [`Dual`], [`trace::Sym`] |
//! | `∂u/∂t + ∇·F(u) = 0` | [`Law`]: [`Advection`], [`Euler`]; of incompressible flow [`Convection`], [`Incompressible`], [`Penalty`], [`Transport`] |
//! | diffusive flux `F_v(u, ∇u)` | [`Diffusion`]: [`ScalarDiffusion`], [`NavierStokes`] |
//! | eddy viscosity of unresolved scales | [`Closure`], [`closures::EddyViscosity`] |
//! | numerical flux `f*(u⁻, u⁺, n)` | [`NumericalFlux`]: [`Rusanov`], [`Central`], [`Hll`], [`Hllc`], [`Roe`] (about a [`FaceMean`]), [`Slau2`], [`PenaltyFlux`], [`TransportFlux`] |
//! | two-point flux `f#(u_l, u_r, n)` | [`TwoPointFlux`]: [`two_point::KennedyGruber`], [`two_point::Ranocha`], [`two_point::Central`] |
//! | outer state `u⁺` at a boundary | [`Boundary`]: [`Prescribed`], [`Outflow`], [`SlipWall`], [`CurvedSlipWall`], [`Symmetry`], [`NoSlipWall`], [`FarField`], [`PressureOutlet`], [`SubsonicInflow`], [`ZeroVelocity`], [`ZeroPressure`], [`ZeroNormalVelocity`], [`InflowProtected`]; its diffusive part is [`DiffusiveBoundary`]; with a wall model [`ModelledWall`], [`AboveWall`] |
//! | open boundaries and wall forces of incompressible flow | [`incompressible::OpenPressure`], [`incompressible::wall_force`] |
//! | output fields, wall forces, reference states | [`derived`], [`reference::ReferenceState`] |
//! | positive density and pressure, entropy | [`Bounded`] |
//! | exact solutions | [`Exact`], [`exact::by_name`], [`exact::RiemannProblem`], vortices, waves |
//! | source terms | [`Source`]: [`source::Manufactured`], [`source::FormulaSource`] |
//! | source terms of the state, with [`Coefficients`] of place | [`Reaction`]: [`reaction::Sponge`], [`reaction::BodyForce`] |
//! | a law and its linearisation as one law | [`Tangent`], also of the fluxes, conditions and source terms above |
//! | formulas of users | [`formula::Formula`], [`formula::FormulaExact`] |
//! | device code | [`trace::device_fn`], [`trace::Parameters`], [`trace::Recording`], [`graph::Graph`] |
//!
//! ```
//! use dgsuite_physics::{Dual, Euler, Hllc, Law, NumericalFlux};
//!
//! let gas = Euler { gamma: 1.4 };
//! let left = gas.to_conserved(&[1.0, 0.0, 0.0, 1.0]); // ρ u v p
//! let right = gas.to_conserved(&[0.125, 0.0, 0.0, 0.1]);
//! let f = Hllc.eval(&gas, &left, &right, &[1.0, 0.0]);
//! assert!(f[0] > 0.0); // mass flows to the right
//!
//! // The same flux on dual numbers: its change when the density on the left grows.
//! let mut seeded = left.map(Dual::constant);
//! seeded[0] = Dual::variable(left[0]);
//! let df = Hllc.eval(&gas, &seeded, &right.map(Dual::constant), &[1.0, 0.0].map(Dual::constant));
//! assert_eq!(df[0].value, f[0]);
//! ```
//!
//! Conventions: states are conserved unless a name says primitive; `n` points from the minus to the plus
//! side; arrays are indexed `[direction][unknown]`. Quantities are in any consistent system of units.
#![forbid(unsafe_code)]

pub mod advection;
pub mod boundary;
pub mod bounded;
pub mod closures;
pub mod coefficients;
pub mod derived;
pub mod diffusion;
pub mod euler;
pub mod exact;
pub mod flux;
pub mod formula;
pub mod graph;
pub mod incompressible;
pub mod law;
pub mod navier_stokes;
pub mod reaction;
pub mod real;
pub mod reference;
pub mod source;
pub mod suggest;
pub mod tangent;
pub mod trace;
pub mod two_point;
pub mod wall_models;

pub use advection::Advection;
pub use boundary::*;
pub use bounded::Bounded;
pub use closures::Closure;
pub use coefficients::Coefficients;
pub use diffusion::{Diffusion, DiffusiveBoundary, NoDiffusion, ScalarDiffusion};
pub use euler::Euler;
pub use exact::Exact;
pub use flux::*;
pub use incompressible::{Convection, Incompressible, Penalty, PenaltyFlux, Transport, TransportFlux};
pub use law::Law;
pub use navier_stokes::NavierStokes;
pub use reaction::Reaction;
pub use real::{Dual, Lanes, Real};
pub use source::Source;
pub use tangent::Tangent;
pub use two_point::TwoPointFlux;
pub use wall_models::WallModel;

/// The example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctests;
