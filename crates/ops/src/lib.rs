//! Discontinuous Galerkin operators on unstructured meshes: geometry, traces, residuals.
//!
//! A [`Discretization`] turns a mesh, a [`Scheme`] and the point formulas of an equation into the
//! right-hand side `du/dt = R(t, u)`, alone or fused with a Runge–Kutta stage. It knows no equation:
//! formulas come in through [`Pointwise`] and [`BoundaryOf`], which make block kernels from any
//! `dgsuite_physics` law, numerical flux and boundary condition. Triangles, quadrilaterals,
//! tetrahedra, hexahedra, prisms and pyramids, affine and curved, may stand in one mesh.
//!
//! | concept | here |
//! |---|---|
//! | scheme | [`Scheme`]: order, space, modal, nodal or Taylor, cubatures, weak, strong or split [`Form`] |
//! | inverse mass | [`MetricRule`]: affine, collocated, weight-adjusted, stored |
//! | layout | [`Layout`]: `[block][basis function][field][lane]` |
//! | equation | [`Equation`]: [`PointKernels`], made by [`Pointwise`]; [`TwoPointKernels`] of split forms, made by [`TwoPoint`]; [`DiffusionKernels`], made by [`Diffusive`]; a source |
//! | boundary | [`BoundaryBinding`] of a [`BoundaryKernel`], made by [`BoundaryOf`]; with diffusion [`WithDiffusion`] |
//! | output | [`Discretization::sample`], [`Discretization::sample_with_gradients`], [`Discretization::boundary_samples`] |
//! | right-hand side | [`Discretization::eval`], [`Discretization::stage`] |
//! | on an NVIDIA device | [`cuda::CudaDiscretization`]: the same, from the same formulas |
//! | oracle | [`split::Split`]: the same method in separate, plain stages |
//!
//! ```
//! use dgsuite_gpu::Host;
//! use dgsuite_mesh::{Shape, generate::Box as Square};
//! use dgsuite_ops::{Discretization, Pointwise, Scheme};
//! use dgsuite_physics::{Advection, Rusanov};
//! use std::sync::Arc;
//!
//! let mut mesh = Square::unit(Shape::Triangle, 4).build()?;
//! mesh.make_periodic("xmin", "xmax")?;
//! mesh.make_periodic("ymin", "ymax")?;
//! let law = Advection { velocity: [1.0, 0.5] };
//! let physics = Box::new(Pointwise::<_, _, 2, 1> { law, flux: Rusanov });
//! let host = Arc::new(Host::new(1)?);
//! let mut rhs = Discretization::<f64>::new(Arc::new(mesh), &Scheme::modal(3), physics, Vec::new(), host)?;
//! let (u, mut du) = (vec![1.0; rhs.len()], vec![0.0; rhs.len()]);
//! rhs.eval(0.0, &u, &mut du);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//! * Names no equation, reads no file, knows no time stepper.
//! * Every block writes only its own part of the output, and sums have a fixed order: results are
//!   the same to the last bit for any number of threads.
//! * `eval` and `stage` do not allocate, but for boundary data and sources that change with time.
//! * `unsafe` is confined to the SIMD kernels, the hand-over of output pointers to threads, and launches on
//!   devices.

mod boundary;
mod boundary_set;
mod chain;
mod connect;
pub mod cuda;
mod diffusion;
mod diffusion_passes;
mod diffusive_boundary;
mod discretization;
pub mod elliptic;
mod equation;
mod error;
mod fields;
mod geometry;
mod gradients;
mod group;
mod lifting;
mod matrix_kernels;
mod one_sided;
mod packing;
mod panel;
mod pointwise;
mod published;
mod residual;
mod schedule;
mod scheme;
mod simd;
mod source;
pub mod split;
mod step_bound;
mod two_point;

pub use boundary::{BoundaryBinding, BoundaryKernel, BoundaryOf};
pub use diffusion::{DiffusionKernels, Diffusive, FaceMetric, VolumeMetric};
pub use diffusive_boundary::{DiffusiveBoundaryKernel, DiffusiveBoundaryOf, WithDiffusion};
pub use discretization::{Discretization, PartSummary};
pub use elliptic::{EllipticBoundary, EllipticErrors, Sipdg, SipdgOptions};
pub use equation::Equation;
pub use error::OpsError;
pub use fields::{Norms, Sample};
pub use gradients::BoundarySamples;
pub use group::Layout;
pub use pointwise::{Across, NeighbourStates, PerPoint, PointKernels, Pointwise};
pub use residual::StageWeights;
pub use scheme::{Form, MetricRule, Scheme, basis_size};
pub use simd::{Kernel, Pack, PackScalar};
pub use step_bound::StepMeasure;
pub use two_point::{NodeLines, TwoPoint, TwoPointKernels};
