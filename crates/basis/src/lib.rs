//! Reference elements: orthonormal and nodal bases, cubature and operators on seven shapes.
//!
//! The operators of a discontinuous Galerkin or flux reconstruction scheme are a small set of reference
//! matrices. This crate computes them for any order and for modal, nodal or Taylor, collocated or
//! over-integrated schemes. Their components are available separately: polynomial bases, quadrature rules,
//! node sets, geometry bases. The crate is independent of meshes and equations.
//!
//! | task | items |
//! |---|---|
//! | shapes, their faces, relative orientation of two faces | [`Shape`], [`face_permutation`] |
//! | orthonormal modes and their gradients | [`OrthonormalBasis`] |
//! | integration | [`Quadrature`]; one-dimensional rules in [`jacobi`] |
//! | nodes and their quality | [`nodes()`], [`NodeSet`], [`conditioning`] |
//! | interpolation, curved geometry | [`LagrangeBasis`] on the [`lattice`](mod@lattice) |
//! | all matrices of a scheme | [`ElementSpec`] → [`ReferenceElement`], [`TensorFactors`] |
//! | flux reconstruction | [`Correction`], [`correction`] |
//! | values at points, by sum factorisation | [`Evaluation`] |
//! | change of the order of a field | [`degree_change`] |
//! | cell averages and derivatives | [`TaylorBasis`] |
//!
//! Integrate, differentiate and lift on a tetrahedron:
//!
//! ```
//! use dgsuite_basis::{ElementSpec, ReferenceElement, Shape};
//!
//! let e = ReferenceElement::new(&ElementSpec::over_integrated(Shape::Tetrahedron, 4))?;
//! // Project f = r² t onto the modes, differentiate, compare with 2 r t at the volume points.
//! let f: Vec<f64> = e.volume.points.iter().map(|x| x[0] * x[0] * x[2]).collect();
//! let slope = e.derivative[0].mul_vec(&e.project_volume.mul_vec(&f));
//! for (s, x) in slope.iter().zip(&e.volume.points) {
//!     assert!((s - 2.0 * x[0] * x[2]).abs() < 1e-12);
//! }
//! # Ok::<(), dgsuite_basis::BasisError>(())
//! ```
//!
//! # Conventions
//!
//! Points are `[r, s, t]`, unused coordinates are zero. Matrices are row-major; their documentation gives the
//! meaning of rows and columns: `[point][function]` evaluates, `[function][point]` projects. In products of
//! lines `r` runs fastest. Other nodes follow the lattice, shown here for order 2 (a face's frame starts at
//! its first listed vertex):
//!
//! ```text
//!   s                     s
//!   ^  5                  ^  6---7---8
//!   |  | \                |  |       |
//!   |  3   4              |  3   4   5
//!   |  |     \            |  |       |
//!   |  0---1---2          |  0---1---2
//!   +-----------> r       +-----------> r
//! ```
#![forbid(unsafe_code)]

pub mod conditioning;
pub mod correction;
mod degree;
pub mod element;
mod error;
mod evaluation;
pub mod jacobi;
mod lagrange;
pub mod lattice;
mod matrix;
pub mod nodes;
mod orientation;
mod orthonormal;
mod quadrature;
pub mod shape;
mod taylor;

pub use correction::Correction;
pub use degree::degree_change;
pub use element::{Cubature, ElementSpec, ReferenceElement, Representation, TensorFactors};
pub use error::BasisError;
pub use evaluation::{Evaluation, PointMap};
pub use lagrange::LagrangeBasis;
pub use matrix::Matrix;
pub use nodes::{NodeSet, nodes};
pub use orientation::face_permutation;
pub use orthonormal::{OrthonormalBasis, Polynomials};
pub use quadrature::Quadrature;
pub use shape::Shape;
pub use taylor::TaylorBasis;

/// The examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctests;
