//! Algebraic multigrid and Krylov methods for sparse linear systems, in Rust alone.
//!
//! ```
//! use dgsuite_amg::{Csr, solve};
//! // −u″ = 1 on 1000 points between zero ends; or read_matrix_market("matrix.mtx")?
//! let n = 1000;
//! let line = (0..n).flat_map(|i| [(i, i, 2.0), (i, (i + 1) % n, -1.0), ((i + 1) % n, i, -1.0)]);
//! let a = Csr::from_triplets(n, n, line.filter(|&(i, j, _)| i.abs_diff(j) < 2))?;
//! let b = vec![1.0; n];
//! let solved = solve(&a, &b)?;
//! println!("{} iterations, residual {:.1e}", solved.iterations, solved.residual);
//! assert!((solved.x[0] - 500.0).abs() < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The same in steps, to keep the hierarchy, to choose each part, and to see what was built:
//!
//! ```
//! use dgsuite_amg::{Amg, AmgOptions, Backend, Host, Pcg, Stop, Vector, gallery};
//! let host = Host::new(0)?; // all CPU threads
//! let a = gallery::poisson_2d(300, 200, 1.0)?;
//! let b = host.upload(&vec![1.0; a.n_rows()])?;
//! let mut x = b.zeros_like()?;
//! let mut amg = Amg::new(&host, &a, &AmgOptions::default())?;
//! let solution = Pcg::new(&b)?.flexible().solve(&a, &mut amg, &b, &mut x, &Stop::default())?;
//! println!("{}\n{} iterations", amg.summary(), solution.iterations);
//! assert!(solution.iterations < 20);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Amg`] needs the matrix alone: it builds the coarser levels from the entries, by pairwise aggregation
//! with quality control or around maximal independent sets. Levels are stored in single precision inside a
//! solve in double precision. Set-up and cycles run on all threads of a [`Host`]; results have the same bits
//! for any number of threads. Cycles and products also run entirely on NVIDIA devices ([`cuda`]).
//!
//! | concept | type | what it is |
//! |---|---|---|
//! | one call | [`solve`], [`Solved`] | multigrid and conjugate gradients with their defaults |
//! | matrix | [`Csr`] | compressed rows, checked; from triplets, arrays, [`sprs`] or Matrix Market files |
//! | operator | [`LinearOperator`] | `y = A x`, stored or not |
//! | preconditioner | [`Preconditioner`], [`Amg`], [`Jacobi`], [`Identity`] | `z = M⁻¹ r` |
//! | given levels | [`Multigrid`], [`LevelSpec`], [`Transfer`] | a V-cycle over your own operators, such as polynomial orders |
//! | single precision | [`InSingle`] | any preconditioner, inside a solve in double precision |
//! | on NVIDIA devices | [`cuda::CudaCsr`], [`cuda::CudaAmg`] | the matrix; the hierarchy, its cycle recorded as a CUDA graph |
//! | given levels there | [`cuda::CudaMultigrid`], [`cuda::CudaJacobi`] | the cycle over your own operators, recorded; its smoother |
//! | options | [`AmgOptions`]: [`Coarsening`], [`Smoother`], [`Cycle`], [`NullSpace`] | each can be parsed from a word |
//! | machine | [`Host`], [`cuda::Cuda`], [`Vector`] | of the crate `dgsuite-gpu`, re-exported as [`gpu`] |
//! | levels | [`HierarchySummary`] | a table: rows, entries, bytes, complexities |
//! | solver | [`Pcg`], [`Stop`], [`Solution`] | conjugate gradients, plain and flexible |
//! | nonsymmetric systems | [`Gmres`] | generalised minimal residuals, restarted, flexible |
//! | initial guess | [`Projection`] | from former solutions of the same matrix |
//! | file | [`read_matrix_market`] | Matrix Market, real, general or symmetric |
//! | test matrices | [`gallery`] | known spectra, jumps, stretched grids, random graphs |
//! | failure | [`MatrixError`], [`MatrixMarketError`], [`AmgError`], [`SolveError`], [`SystemError`] | with the entry, line, level or history |
//!
//! # Which options to choose
//! * The default (double pairwise aggregation, Chebyshev smoother of degree 2, K-cycle) works for scalar
//!   elliptic problems on any mesh, with jumps of the coefficient and stretched cells.
//! * For interior penalty methods choose [`Coarsening::PAIRWISE_STRICT`]; for degrees above 1 put a
//!   [`Multigrid`] over the degrees in front.
//! * V-cycles are linear maps, need no flexible solver and cost least, but their iterations grow with the
//!   mesh. Use K-cycles with aggregation whose prolongation is not smoothed.
//! * For a pure Neumann problem choose [`NullSpace::Constant`] and [`Pcg::without_mean`].
//!
//! # Invariants
//! * Columns of a [`Csr`] ascend in each row, and its entries are finite.
//! * A [`Solution`] is returned only if the true residual `b − A x` meets the target.
//! * Levels and iterates do not depend on the number of threads, not even in the last bit.
#![deny(unsafe_code)]

mod amg;
mod csr;
#[allow(unsafe_code, reason = "launches of kernels, whose arguments the compiler does not see")]
pub mod cuda;
mod dense;
mod error;
pub mod gallery;
mod gmres;
mod hierarchy;
mod lanczos;
mod matrix_market;
mod multigrid;
mod operator;
mod options;
mod pcg;
mod preconditioner;
mod projection;
mod sliced;
mod smoother;
mod solve;
mod sparse;

pub use amg::{Amg, HierarchySummary, LevelSummary};
pub use csr::{Csr, MAX_ROWS};
pub use error::{AmgError, MatrixError, MatrixMarketError, SolveError};
pub use gmres::Gmres;
pub use lanczos::rough_entry;
pub use matrix_market::{parse_matrix_market, read_matrix_market};
pub use multigrid::{
    CoarseSpec, Interpolation, LevelSmoother, LevelSpec, Multigrid, MultigridLevel, MultigridSummary,
    Transfer,
};
pub use operator::{LinearOperator, Preconditioner};
pub use options::{AmgOptions, Coarsening, Cycle, NullSpace, Smoother, Strength};
pub use pcg::scalars::{CgScalars, HostScalars, KrylovPart, KrylovVector, Progress, Status};
pub use pcg::{Pcg, Reference, Solution, Stop};
pub use preconditioner::{Identity, InSingle, Jacobi, JacobiError};
pub use projection::Projection;
pub use sliced::SlicedCsr;
pub use solve::{Solved, SystemError, solve};

// Re-exports of the types in the public interface, so that a program needs no other dependency.
pub use dgsuite_gpu as gpu;
pub use dgsuite_gpu::{Backend, GpuError, Host, HostVector, Scalar, Vector};
pub use sprs;

/// The examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctests;
