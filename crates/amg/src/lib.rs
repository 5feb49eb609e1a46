//! Sparse operators and conjugate gradients for symmetric positive definite systems.
//!
//! This crate holds what an iterative solver is made of: matrices in compressed rows (over `sprs`), operators
//! that need not be matrices, preconditioners, and the method of conjugate gradients with a residual history and
//! typed failures. Everything runs on the vectors of `dgsuite-gpu` and gives the same bits for any number of
//! threads. Preconditioners here are the identity and Jacobi's; any other implements one method.
//!
//! | concept | type | what it is |
//! |---|---|---|
//! | matrix | [`Csr`] | compressed rows, checked |
//! | operator | [`LinearOperator`] | `y = A x`, stored or not |
//! | preconditioner | [`Preconditioner`], [`Identity`], [`Jacobi`] | `z = M⁻¹ r` |
//! | solver | [`Pcg`], [`Stop`], [`Solution`] | preconditioned conjugate gradients |
//! | file | [`read_matrix_market`] | Matrix Market, real, general or symmetric |
//! | test matrices | [`gallery`] | known spectra |
//! | failure | [`MatrixError`], [`MatrixMarketError`], [`SolveError`] | with the entry, line or history |
//!
//! ```
//! use dgsuite_amg::{Csr, Jacobi, Pcg, Stop};
//! use dgsuite_gpu::{Backend, Host, Vector};
//! let host = Host::new(1)?;
//! let a = Csr::from_triplets(2, 2, [(0, 0, 4.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 3.0)])?;
//! let b = host.upload(&[1.0f64, 2.0])?;
//! let mut x = b.zeros_like()?;
//! let mut jacobi = Jacobi::new(&host, &a)?;
//! let solution = Pcg::new(&b)?.solve(&a, &mut jacobi, &b, &mut x, &Stop::default())?;
//! assert!(solution.iterations <= 2 && (x[0] - 1.0 / 11.0).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//! * A [`Csr`] has ascending columns in each row and finite entries.
//! * A [`Solution`] is returned only if the true residual `b − A x` meets the target.
#![forbid(unsafe_code)]

mod csr;
mod error;
pub mod gallery;
mod matrix_market;
mod operator;
mod pcg;
mod preconditioner;

pub use csr::{Csr, MAX_ROWS};
pub use error::{MatrixError, MatrixMarketError, SolveError};
pub use matrix_market::{parse_matrix_market, read_matrix_market};
pub use operator::{LinearOperator, Preconditioner};
pub use pcg::{Pcg, Reference, Solution, Stop};
pub use preconditioner::{Identity, Jacobi, JacobiError};
