//! Sparse products and multigrid on NVIDIA devices: set up on the CPU, run entirely on the device.
//!
//! ```no_run
//! use dgsuite_amg::cuda::{Cuda, CudaAmg, CudaCsr};
//! use dgsuite_amg::{AmgOptions, Backend, Host, Pcg, Stop, Vector, gallery};
//! let (host, cuda) = (Host::new(0)?, Cuda::new(0)?);
//! let a = gallery::poisson_2d(1000, 1000, 1.0)?;
//! let mut amg = CudaAmg::new(&host, &cuda, &a, &AmgOptions::on_device())?;
//! let a = CudaCsr::new(&cuda, &a)?;
//! let b = cuda.upload(&vec![1.0; a.n_rows()])?;
//! let mut x = b.zeros_like()?;
//! let solution = Pcg::new(&b)?.flexible().solve(&a, &mut amg, &b, &mut x, &Stop::default())?;
//! println!("{} iterations", solution.iterations);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | concept | type | what it is |
//! |---|---|---|
//! | matrix | [`CudaCsr`] | `y = A x`, residual, step of a smoother, each one kernel |
//! | layout | [`RowLayout`] | slices of rows, or several lanes for each row |
//! | preconditioner | [`CudaAmg`] | the hierarchy of [`Amg`](crate::Amg), its cycle recorded as a graph |
//! | given levels | [`CudaMultigrid`] | the cycle of [`Multigrid`](crate::Multigrid) over operators on the device, recorded |
//! | transfer | [`CudaInterpolation`] | a stored prolongation and its transpose |
//! | smoother | [`CudaJacobi`] | the diagonal; a step of a polynomial smoother is the product and one more kernel |
//! | scalars of [`Pcg`](crate::Pcg) | [`CudaScalars`] | stay on the device, so that iterations do not wait |
//! | order of entries | [`CudaReordered`] | a preconditioner whose unknowns lie in another order, or without padding |
//!
//! # Which options to choose
//! A K-cycle on all levels visits level k 2^k times, and on a device each visit costs several launches,
//! however small the level. So the default on a device is K-cycles on the two finest levels only
//! ([`AmgOptions::on_device`](crate::AmgOptions::on_device)); if that takes many iterations, three levels may
//! be faster.
//!
//! On an H200, with a million rows, to 10⁻⁸:
//!
//! | cycle | launches | 5 points: iterations, solve | 7 points: iterations, solve |
//! |---|---|---|---|
//! | V | 36 | 111, 61 ms | 36, 22 ms |
//! | K on 2 levels | 128 | 23, 20 ms | 14, 13 ms |
//! | K on 3 levels | 224 | 15, 16 ms | 14, 17 ms |
//! | K on all levels | 888 | 15, 39 ms | 14, 39 ms |
//!
//! # Invariants
//! * Sums have a fixed order, so that results have the same bits on every run. The order differs from the
//!   host's, except in [`RowLayout::Slices`].
//! * A cycle never waits for the host, and neither does an iteration of a Krylov method.

mod amg;
mod csr;
mod interpolation;
mod jacobi;
mod layout;
mod levels;
mod multigrid;
mod pcg;
mod reordered;

pub use amg::CudaAmg;
pub use csr::CudaCsr;
pub use interpolation::CudaInterpolation;
pub use jacobi::CudaJacobi;
pub use layout::RowLayout;
pub use multigrid::CudaMultigrid;
pub use pcg::CudaScalars;
pub use reordered::{CudaReordered, NOWHERE};

pub use dgsuite_gpu::CudaVector;
pub use dgsuite_gpu::cuda::Cuda;

use dgsuite_gpu::Scalar;
use dgsuite_gpu::cuda::Source;

/// All kernel texts of this module in the precision `T`, for
/// [`Cuda::compile_ahead`](dgsuite_gpu::cuda::Cuda::compile_ahead).
pub fn sources<T: Scalar>() -> Vec<Source> {
    vec![
        csr::own_source::<T>(),
        levels::own_source::<T>(),
        jacobi::own_source::<T>(),
        reordered::own_source(),
        pcg::own_source(),
    ]
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use dgsuite_gpu::GpuError;
    use dgsuite_gpu::cuda::nvrtc;

    use super::{csr, sources};

    /// For two generations of devices, in both precisions, without register spills.
    #[test]
    fn kernels_compile_for_devices() {
        for source in sources::<f64>().into_iter().chain(sources::<f32>()) {
            let compiled = match nvrtc::compile_for("sm_90", &source) {
                Ok(compiled) => compiled,
                Err(reason @ GpuError::NoCompiler { .. }) => {
                    assert!(std::env::var_os("DGSUITE_REQUIRE_TOOLS").is_none_or(|v| v != "1"), "{reason}");
                    // Not eprintln!: the test harness hides its output in tests that pass.
                    let _ = writeln!(std::io::stderr(), "SKIPPED kernels_compile_for_devices: {reason}");
                    return;
                }
                Err(reason) => panic!("{reason}"),
            };
            for kernel in compiled.resources() {
                println!("{} {kernel:?}", source.name);
                // Four blocks of 256 threads have room on a multiprocessor.
                assert!(kernel.spill_stores == 0 && kernel.registers <= 64, "{kernel:?}");
            }
        }
        nvrtc::compile_for("sm_80", &csr::own_source::<f64>()).unwrap();
    }
}
