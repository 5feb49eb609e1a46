//! The operators on NVIDIA devices: residual, traces, boundaries, diffusion, step bounds, elliptic problems.
//!
//! A [`CudaDiscretization`] stores geometry, connectivity and operators of a mesh on a device and evaluates
//! the same right-hand side as [`Discretization`](crate::Discretization). It uses the same formulas:
//! [`PointKernels`] and [`BoundaryKernel`](crate::BoundaryKernel) return them as text of CUDA functions,
//! which is put in front of the kernels (`.cu` files in `src/cuda`). The result is compiled at run time for
//! the device, with shape, order, basis, cubature, geometry and precision as constants.
//!
//! Each part of a group (elements of one shape, affine or curved) runs either *universal* kernels, which
//! support every scheme by chains of sparse factors, or *fast* kernels for its kind of elements, which
//! `fast.rs` and `fast_diffusion.rs` select: small simplices, simplices on tensor cores, quadrilaterals and
//! hexahedra at Gauss–Lobatto or Gauss points, prisms. With diffusion, a stage consists of two passes, which
//! exchange published fluxes.
//!
//! [`PointKernels`]: crate::PointKernels

mod arguments;
mod boundary;
mod branches;
mod choice;
mod clock;
mod control;
mod device_group;
mod diffusive_boundary;
mod discretization;
mod element;
mod elliptic;
mod exchange;
mod faces;
pub(crate) mod fast;
pub(crate) mod fast_diffusion;
mod fragments;
mod gauss;
mod gauss_diffusion;
mod halo;
mod kernel_text;
mod limiter;
mod limiter_suspects;
mod limiter_text;
mod measure;
mod measure_tables;
mod norm;
mod operators;
mod part_texts;
mod prism;
mod prism_cubature;
mod prism_cubature_diffusion;
mod prism_diffusion;
mod published;
pub(crate) mod quadratic;
mod reaction;
mod sample;
mod scheme;
mod setting;
mod simplex;
mod simplex_diffusion;
mod small;
mod source_term;
mod tensor;
mod tensor_diffusion;
mod trace_points;

pub use boundary::StageTime;
pub use choice::ChosenKernels;
pub use clock::{BoundsCopy, RING, StepBound, StepChoice};
pub use control::{Attempt, AttemptsCopy, ControlStart, DeviceControl};
pub use discretization::{CudaDiscretization, StageAddresses};
pub use elliptic::{CudaBlockInverse, CudaMass, CudaPTransfer, CudaSipdg};
pub use measure::{Integrand, Measures, PointRule};
pub use sample::{Sampler, SamplesUnderWay};
