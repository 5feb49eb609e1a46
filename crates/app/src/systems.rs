//! Solvers without YAML: a mesh and parameters in, a stepper out.

mod boundary_points;
#[allow(unsafe_code)] // stages are replayed by the addresses of their arrays
mod cuda_engine;
mod device;
mod dispatch;
pub mod elliptic;
pub(crate) mod engine;
mod error;
pub mod hyperbolic;
pub mod setup;
mod state;
pub(crate) mod two_point;

pub use hyperbolic::SystemError;
