//! The machine: threads, SIMD levels, NVIDIA devices, arrays, reproducible vector arithmetic.
//!
//! Solvers are written once, generic over [`Backend`] and [`Vector`]; this crate implements both for CPUs and
//! NVIDIA devices. It is independent of discretisations and physics. Results do not depend on the number of
//! threads, on the SIMD level, on the device, or on the run, not even in the last bit.
//!
//! | concept | type | what it is |
//! |---|---|---|
//! | machine | [`Backend`] | creates vectors, copies numbers to and from them |
//! | CPU | [`Host`] | a thread pool of its own and a [`SimdLevel`] |
//! | NVIDIA device | [`cuda::Cuda`] | memory, streams, kernels compiled at run time, graphs |
//! | array | [`Buffer`], [`cuda::DeviceBuffer`] | fixed length, aligned to 64 bytes; on a device |
//! | vector | [`Vector`], [`HostVector`], [`CudaVector`] | updates, dot products, norms |
//! | number | [`Scalar`] | `f64` or `f32` |
//! | ranks | [`comm::Communicator`] | processes or threads that work together: exchanges, sums, failures |
//! | messages between devices | [`cuda::nccl::Nccl`] | sends, receives and sums of integers in streams |
//! | exact sum | [`ExactSum`] | a sum whose bits do not depend on order, grouping or number of ranks |
//! | speed limits | [`probe`] | copy, triad and read bandwidth, multiply-add rate, launch time |
//! | kernels without a device | [`shim`] | runs the same text on the host, under sanitizers |
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
//! * The tree of a reduction depends only on the vector's length.
//! * Operations on vectors do not allocate; inside [`Host::install`] they do not switch threads.
//! * A vector on a device has the same bits as on the host: the same operations in the same order.
//! * Sums over ranks are sums of integers. Every wait for another rank has a deadline.
//! * A missing driver, compiler or device is an error that explains what is missing, never a panic.
//! * A [`Host`]'s SIMD level never exceeds that of the CPU. Every `unsafe` block explains why it is sound.

mod allocator;
mod backend;
mod buffer;
pub mod comm;
pub mod cores;
pub mod cuda;
mod error;
mod exact_sum;
mod host;
mod library;
pub mod probe;
mod scalar;
pub mod shim;
mod simd;
mod vector;

pub use allocator::HugePages;
pub use backend::Backend;
pub use buffer::{ALIGNMENT, Buffer, Element};
pub use error::{CudaVersion, GpuError};
pub use exact_sum::{ExactSum, sum_all};
pub use host::{Host, MAX_THREADS, Vectorized};
pub use scalar::Scalar;
pub use simd::{SIMD_VARIABLE, SimdLevel};
pub use vector::{CudaVector, HostVector, Items, Summation, Vector};

/// The examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctests;
