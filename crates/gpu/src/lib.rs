//! The machine: threads, instruction levels, aligned arrays, reproducible vector arithmetic.
//!
//! Solvers are written once against [`Backend`] and [`Vector`]; this crate says where arrays live and how
//! loops over them run. It knows no meshes, no equations and no physics. Its promise is that results do not
//! depend on the number of threads, on the instruction level, or on the run: not in the last bit.
//!
//! | concept | type | what it is |
//! |---|---|---|
//! | machine | [`Backend`] | makes vectors, moves numbers to and from them |
//! | CPU | [`Host`] | an own pool of threads and a [`SimdLevel`] |
//! | array | [`Buffer`] | fixed length, aligned to 64 bytes |
//! | vector | [`Vector`], [`HostVector`] | updates, dot products, norms |
//! | number | [`Scalar`] | `f64` or `f32` |
//! | speed limits | [`probe`] | copy, triad and read bandwidth, multiply-add rate |
//! | failure | [`GpuError`] | memory, threads, instruction sets |
//!
//! ```
//! use dgsuite_gpu::{Backend, Host, Vector};
//! let host = Host::new(2)?;
//! let x = host.upload(&vec![0.1; 100_000])?;
//! let mut y = host.zeros::<f64>(100_000)?;
//! y.lincomb(0.0, &[(2.0, &x), (-1.0, &x)]);
//! let one = Host::new(1)?.upload(&y)?;      // the same numbers, one thread
//! assert_eq!(y.dot(&x).to_bits(), one.dot(&one).to_bits());
//! # Ok::<(), dgsuite_gpu::GpuError>(())
//! ```
//!
//! # Invariants
//! * A reduction's tree depends on the vector's length alone.
//! * No operation on vectors allocates; from inside [`Host::install`] none switches threads.
//! * A [`Host`]'s instruction level never exceeds that of the CPU. Every `unsafe` block says why it is sound.

mod backend;
mod buffer;
pub mod cuda;
mod error;
mod host;
pub mod probe;
mod scalar;
pub mod shim;
mod simd;
mod vector;

pub use backend::Backend;
pub use buffer::{ALIGNMENT, Buffer, Element};
pub use error::{CudaVersion, GpuError};
pub use host::{Host, MAX_THREADS};
pub use scalar::Scalar;
pub use simd::{SIMD_VARIABLE, SimdLevel};
pub use vector::{CudaVector, HostVector, Vector};
