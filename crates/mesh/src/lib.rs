//! Unstructured curved meshes in two and three dimensions, for discontinuous Galerkin methods.
//!
//! A [`Mesh`] is read from a Gmsh file or built by a generator. It stores the elements by shape and geometry
//! order, every face once with both sides and their relative orientation, and named boundaries. A mesh can be
//! made periodic, curved, refined, renumbered, measured and written. This crate is independent of fields,
//! equations and devices.
//!
//! | task | items |
//! |---|---|
//! | read a `.msh` file, with a report of warnings | [`Mesh::read`], [`gmsh::read`] |
//! | generate a box of any shape, or of all shapes | [`generate::Box`], [`generate::MixedBox`] |
//! | generate a ring, or a channel with a cylinder | [`generate::Annulus`], [`generate::CylinderInChannel`] |
//! | find the neighbour across a face | [`Face`], [`Across`], [`Shape::meet`] |
//! | make boundaries periodic | [`Mesh::make_periodic`], [`PeriodicLink`] |
//! | curve elements | [`Mesh::elevate`], [`Mesh::map`] |
//! | estimate the normals of a curved boundary with straight faces | [`Mesh::boundary_curve`] |
//! | refine | [`Mesh::refine_uniform`] |
//! | extrude a mesh of the plane | [`Mesh::extrude`] |
//! | renumber for locality | [`Mesh::renumber`] |
//! | compute volumes, sizes and quality | [`Mesh::volumes`], [`quality::statistics`] |
//! | write a `.msh` file | [`Mesh::write`] |
//! | cut a mesh into parts | [`Partition`], [`Cutter`], [`Part`] |
//! | send parts to other processes | [`Part::to_bytes`], [`Overview`] |
//! | identify a mesh | [`Mesh::digest`] |
//!
//! ```
//! use dgsuite_mesh::{Shape, SpaceFillingCurve, generate::Box, quality};
//! let mut mesh = Box::unit(Shape::Triangle, 8).build()?;
//! mesh.make_periodic("xmin", "xmax")?;
//! mesh.elevate(3)?;
//! mesh.map(|[x, y, z]| [x, y + 0.05 * (6.283185307179586 * x).sin(), z])?;
//! mesh.refine_uniform()?;
//! mesh.renumber(SpaceFillingCurve::Hilbert);
//! assert_eq!((mesh.n_elements(), mesh.max_order()), (512, 3));
//! assert_eq!(mesh.boundary_names(), ["ymin", "ymax"]);
//! assert!((quality::statistics(&mesh).volume - 1.0).abs() < 1e-12);
//! # Ok::<(), dgsuite_mesh::MeshError>(())
//! ```
//!
//! # Invariants
//!
//! * Elements have positive Jacobians everywhere, by a certain bound ([`Mesh::check_orientation`]): the
//!   reader reverses inverted ones or refuses them.
//! * Meshes are conforming: hanging nodes, unmerged nodes and faces with three elements are errors.
//! * Geometry nodes are in lattice order ([`dgsuite_basis::lattice`]), vertices and faces as in
//!   [`Shape`].
//! * The same input gives the same mesh, for any number of threads.
#![forbid(unsafe_code)]

mod bernstein;
mod bytes;
mod chords;
mod conform;
mod connect;
mod curve;
mod digest;
mod elevate;
mod error;
mod extrude;
pub mod generate;
mod geometry;
pub mod gmsh;
mod jacobian_bound;
mod locate;
mod mesh;
mod names;
mod nearby;
mod orient;
mod overview;
mod partition;
mod periodic;
pub mod quality;
mod refine;
mod renumber;
mod side_nodes;
mod sides;
mod skeleton;
mod topology;

// Re-exports of the types in the public interface, so that a program needs no other dependency.
pub use curve::BoundaryCurve;
pub use dgsuite_basis as basis;
pub use dgsuite_basis::{BasisError, Shape};
pub use error::{Location, MeshError};
pub use extrude::{ENDS, extruded_shape};
pub use locate::Locator;
pub use mesh::{
    Across, BoundaryTag, ElementSet, Face, Mesh, PeriodicFace, PeriodicLink, RegionTag, Side, UNNAMED,
};
pub use overview::{Overview, SetSize};
pub use partition::{
    CUT, Cut, Cutter, Cutting, Neighbour, OverlappingPart, Part, Partition, PartitionStatistics,
};
pub use renumber::SpaceFillingCurve;

/// The examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctests;
