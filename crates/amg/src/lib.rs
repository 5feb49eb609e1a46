//! Algebraic multigrid and conjugate gradients for symmetric positive definite systems, in Rust alone.
//!
//! ```
//! use dgsuite_amg::{Amg, AmgOptions, Pcg, Stop, gallery};
//! use dgsuite_gpu::{Backend, Host, Vector};
//! let host = Host::new(0)?;                                        // all cores
//! let a = gallery::poisson_2d(300, 200, 1.0)?;                     // or read_matrix_market("matrix.mtx")?
//! let b = host.upload(&vec![1.0; a.n_rows()])?;
//! let mut x = b.zeros_like()?;
//! let mut amg = Amg::new(&host, &a, &AmgOptions::default())?;
//! let solution = Pcg::new(&b)?.flexible().solve(&a, &mut amg, &b, &mut x, &Stop::default())?;
//! println!("{}\n{} iterations", amg.summary(), solution.iterations);
//! assert!(solution.iterations < 20);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A matrix is all that is asked for: levels are made from its entries, by aggregation with quality control
//! or around maximal independent sets. Levels are kept in single precision inside a solve in double
//! precision. Set-up and cycles run on all threads of a [`Host`](dgsuite_gpu::Host), and give the same bits
//! for any number of them. Cycles and products also run wholly on NVIDIA devices ([`cuda`]).
//!
//! | concept | type | what it is |
//! |---|---|---|
//! | matrix | [`Csr`] | compressed rows, checked |
//! | operator | [`LinearOperator`] | `y = A x`, stored or not |
//! | preconditioner | [`Preconditioner`], [`Amg`], [`Jacobi`], [`Identity`] | `z = M⁻¹ r` |
//! | given levels | [`Multigrid`], [`LevelSpec`], [`Transfer`] | a V-cycle over your own operators, such as polynomial orders |
//! | single precision | [`InSingle`] | any preconditioner, inside a solve in double precision |
//! | on NVIDIA devices | [`cuda::CudaCsr`], [`cuda::CudaAmg`] | the matrix; the hierarchy, its cycle a recorded graph |
//! | given levels there | [`cuda::CudaMultigrid`], [`cuda::CudaJacobi`] | the cycle over your own operators, recorded; its smoother |
//! | choices | [`AmgOptions`]: [`Coarsening`], [`Smoother`], [`Cycle`], [`NullSpace`] | each also by its word |
//! | levels | [`HierarchySummary`] | a table: rows, entries, bytes, complexities |
//! | solver | [`Pcg`], [`Stop`], [`Solution`] | conjugate gradients, plain and flexible |
//! | without symmetry | [`Gmres`] | generalised minimal residuals, restarted, flexible |
//! | initial guess | [`Projection`] | from former solutions of the same matrix |
//! | file | [`read_matrix_market`] | Matrix Market, real, general or symmetric |
//! | test matrices | [`gallery`] | known spectra, jumps, stretched grids, random graphs |
//! | failure | [`MatrixError`], [`MatrixMarketError`], [`AmgError`], [`SolveError`] | with the entry, line, level or history |
//!
//! # Which choice when
//! * The default (double pairwise aggregation, Chebyshev of degree 2, K-cycle) serves scalar elliptic
//!   problems on any mesh, with jumps and stretched cells.
//! * Interior penalty methods want [`Coarsening::PAIRWISE_STRICT`]; for higher degrees put [`Multigrid`] over
//!   the degrees in front.
//! * V-cycles are linear maps, need no flexible solver and do least work, but their iterations grow with the
//!   mesh: aggregation without smoothing of the prolongation wants K-cycles.
//! * A pure Neumann problem wants [`NullSpace::Constant`] and [`Pcg::without_mean`].
//!
//! # Invariants
//! * A [`Csr`] has ascending columns in each row and finite entries.
//! * A [`Solution`] is returned only if the true residual `b − A x` meets the target.
//! * Neither levels nor iterates depend on the number of threads, not in the last bit.
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
mod sparse;

pub use amg::{Amg, HierarchySummary, LevelSummary};
pub use csr::{Csr, MAX_ROWS};
pub use error::{AmgError, MatrixError, MatrixMarketError, SolveError};
pub use gmres::Gmres;
pub use matrix_market::{parse_matrix_market, read_matrix_market};
pub use multigrid::{
    CoarseSpec, Interpolation, LevelSmoother, LevelSpec, Multigrid, MultigridLevel, MultigridSummary,
    Transfer,
};
pub use operator::{LinearOperator, Preconditioner};
pub use options::{AmgOptions, Coarsening, Cycle, NullSpace, Smoother, Strength};
pub use pcg::{Pcg, Reference, Solution, Stop};
pub use preconditioner::{Identity, InSingle, Jacobi, JacobiError};
pub use projection::Projection;
pub use sliced::SlicedCsr;
