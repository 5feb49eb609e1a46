//! Solvers without YAML: built from a mesh and parameters, they advance a state.

mod boundary_points;
#[allow(unsafe_code)] // stages are replayed by the addresses of their arrays
mod cuda_engine;
pub mod curved_wall;
mod device;
mod dispatch;
pub mod elliptic;
pub(crate) mod engine;
mod error;
pub mod hyperbolic;
pub mod incompressible;
mod kernel_choice;
mod measured;
mod precision;
mod ranges;
mod rank_mesh;
mod ranked;
mod sampled;
pub mod setup;
mod solves;
mod state;
pub(crate) mod two_point;
pub(crate) mod words;

pub use error::SystemError;
pub use ranges::Ranges;
pub use rank_mesh::{Place, RankMesh};
pub(crate) use ranked::ROOT;
pub use solves::{Driven, Histories, Iterations, LinearSystem, PhaseSeconds, SolveStatistics};
