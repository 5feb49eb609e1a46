//! Unstructured curved meshes in two and three dimensions, for discontinuous Galerkin methods.
//!
//! A [`Mesh`] is read from a Gmsh file or made by a generator; it knows its elements by shape and
//! geometry order, every face once with both sides and how they are turned against each other, and
//! its boundaries by name. It can be made periodic, curved, refined, renumbered, measured and
//! written. It knows nothing of fields, equations or devices.
//!
//! | you want | look at |
//! |---|---|
//! | a mesh from a `.msh` file, and what was odd about it | [`Mesh::read`], [`gmsh::read`] |
//! | a box of any shape, or of all shapes | [`generate::Box`], [`generate::MixedBox`] |
//! | the neighbour across a face | [`Face`], [`Across`], [`Shape::meet`] |
//! | periodic boundaries | [`Mesh::make_periodic`], [`PeriodicLink`] |
//! | curved elements | [`Mesh::elevate`], [`Mesh::map`] |
//! | a family of finer meshes | [`Mesh::refine_uniform`] |
//! | neighbours close in memory | [`Mesh::renumber`] |
//! | volumes, sizes, bad elements | [`Mesh::volumes`], [`quality::statistics`] |
//! | a `.msh` file from a mesh | [`Mesh::write`] |
//! | to recognise a mesh again | [`Mesh::digest`] |
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
//! * Elements have positive Jacobians: the reader turns inverted ones round or refuses them.
//! * Meshes are conforming: hanging nodes, unmerged nodes and faces with three elements are errors.
//! * Geometry nodes are in lattice order ([`dgsuite_basis::lattice`]), vertices and faces as in
//!   [`Shape`].
//! * The same input gives the same mesh, whatever the number of threads.
#![forbid(unsafe_code)]

mod conform;
mod connect;
mod digest;
mod elevate;
mod error;
pub mod generate;
mod geometry;
pub mod gmsh;
mod locate;
mod mesh;
mod names;
mod nearby;
mod orient;
mod periodic;
pub mod quality;
mod refine;
mod renumber;
mod side_nodes;
mod sides;
mod skeleton;
mod topology;

pub use dgsuite_basis::Shape;
pub use error::{Location, MeshError};
pub use mesh::{
    Across, BoundaryTag, ElementSet, Face, Mesh, PeriodicFace, PeriodicLink, RegionTag, Side, UNNAMED,
};
pub use renumber::SpaceFillingCurve;
