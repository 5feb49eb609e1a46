//! Records formulas with a number type that remembers its operations, and prints them as CUDA C++.
//!
//! ```
//! use dgsuite_physics::trace::{Parameters, device_fn};
//! use dgsuite_physics::{Advection, Law};
//!
//! let law = Advection { velocity: [1.0, 2.0] };
//! let mut parameters = Parameters::new();
//! let text = device_fn("flux", &[("u", 1)], &mut parameters, |args| law.flux(&args.array("u")).concat())?;
//! assert!(text.contains("out[1] = parameters.velocity_y * u[0];"));
//! assert_eq!(parameters.values(), [1.0, 2.0]);
//! # Ok::<(), dgsuite_physics::trace::TraceError>(())
//! ```

mod of_state;
mod print;
mod recording;
mod symbol;

pub use of_state::StateRecording;
pub use print::{Arguments, PRELUDE, Parameters, ROOTS, TraceError, device_fn};
pub use recording::Recording;
pub use symbol::{Condition, Sym, input, record};
