//! Solvers of flow problems: built from a mesh and parameters, they advance a state. No file is read or
//! written.
//!
//! | concept | type | content |
//! |---|---|---|
//! | flow | [`flow::Flow`] | a conservation law, or incompressible flow, on a mesh |
//! | what it solves | [`flow::Setup`] | mesh, law, boundaries, space, scheme, device; most fields have defaults |
//! | linear system | [`elliptic::Elliptic`] | the screened Poisson equation on a mesh |
//! | one rank's part | [`RankMesh`] | the mesh of a rank among several |
//! | speed | [`mod@bench`] | the operators against the speed limits of a machine |
//! | after a run | [`post`] | forces, wall curves, spectra, cuts: plain functions of samples |
//!
//! ```
//! use std::sync::Arc;
//!
//! use dgsuite_mesh::{Shape, generate};
//! use dgsuite_physics::exact::{Context, Model, by_name};
//! use dgsuite_solve::flow::{Flow, Law, Setup};
//!
//! let mut mesh = generate::Box::unit(Shape::Quadrilateral, 4).build()?;
//! mesh.make_periodic("xmin", "xmax")?;
//! mesh.make_periodic("ymin", "ymax")?;
//! let context = Context { dim: 2, model: Model::Euler { gamma: 1.4 }, period: [1.0, 1.0, 0.0] };
//! let wave = by_name("entropy-wave", &[].into(), &context)?;
//! let setup = Setup::new(Arc::new(mesh), Law::Euler { gamma: 1.4, gas_constant: 1.0 }, 3);
//! let mut solver = Flow::new(setup, wave.as_ref(), 0.0)?;
//! let dt = solver.stable_cfl()? * solver.stable_dt()?;
//! solver.step(dt)?;
//! assert!(solver.errors(wave.as_ref(), solver.time()).l2[0] < 1e-2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//! * Nothing is printed and no file is touched, but for the cache of compiled kernels of `dgsuite-gpu`.
//! * Results are the same, bit for bit, for any number of threads.
//! * An error leaves the state of the last accepted step.
#![deny(unsafe_code)]

pub mod bench;
#[allow(unsafe_code)] // stages are replayed by the addresses of their arrays
mod cuda_engine;
pub mod curved_wall;
mod device;
mod dispatch;
pub mod elliptic;
mod engine;
mod error;
pub mod flow;
pub mod implicit;
pub mod incompressible;
mod kernel_choice;
mod measured;
pub mod post;
mod precision;
mod ranges;
mod rank_mesh;
mod ranked;
mod sampled;
pub mod setup;
mod solves;
mod state;
pub mod two_point;
pub mod words;

pub use engine::Ahead;
pub use error::SystemError;
pub use ranges::Ranges;
pub use rank_mesh::{Place, ROOT, RankMesh};
pub use setup::own;
pub use solves::{Driven, Histories, Iterations, LinearSystem, PhaseSeconds, SolveStatistics};

/// The example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctests;
