//! The machine: threads, instruction levels, NVIDIA devices, arrays, reproducible vector arithmetic.
//!
//! Solvers are written once against [`Backend`] and [`Vector`]; this crate says where arrays live and how
//! loops over them run. It knows no meshes, no equations and no physics. Its promise is that results do not
//! depend on the number of threads, on the instruction level, on the device, or on the run: not in the last
//! bit.
//!
//! | concept | type | what it is |
//! |---|---|---|
//! | machine | [`Backend`] | makes vectors, moves numbers to and from them |
//! | CPU | [`Host`] | an own pool of threads and a [`SimdLevel`] |
//! | NVIDIA device | [`cuda::Cuda`] | memory, streams, kernels compiled at run time, graphs |
//! | array | [`Buffer`], [`cuda::DeviceBuffer`] | fixed length, aligned to 64 bytes; on a device |
//! | vector | [`Vector`], [`HostVector`], [`CudaVector`] | updates, dot products, norms |
//! | number | [`Scalar`] | `f64` or `f32` |
//! | speed limits | [`probe`] | copy, triad and read bandwidth, multiply-add rate, launch time |
//! | kernels without a device | [`shim`] | the same text on the host, under sanitizers |
//! | allocator | [`HugePages`] | for programs with large arrays |
//! | failure | [`GpuError`] | memory, threads, instruction sets, drivers, compilers, kernels |
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
//! * A vector on a device has the bits of one on the host: the same operations in the same order.
//! * Without a driver, a compiler or a device there is an error with a sentence, never a panic.
//! * A [`Host`]'s instruction level never exceeds that of the CPU. Every `unsafe` block says why it is sound.

mod allocator;
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

pub use allocator::HugePages;
pub use backend::Backend;
pub use buffer::{ALIGNMENT, Buffer, Element};
pub use error::{CudaVersion, GpuError};
pub use host::{Host, MAX_THREADS, Vectorized};
pub use scalar::Scalar;
pub use simd::{SIMD_VARIABLE, SimdLevel};
pub use vector::{CudaVector, HostVector, Vector};
