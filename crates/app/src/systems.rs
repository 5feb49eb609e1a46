//! Solvers without YAML: a mesh and parameters in, a stepper out.

mod dispatch;
mod engine;
pub mod hyperbolic;

pub use hyperbolic::SystemError;
