//! The operators on NVIDIA devices: the twins of the host's residual, traces, boundaries and step bound.
//!
//! A [`CudaDiscretization`] holds a mesh's geometry, connectivity and operators on a device and evaluates the
//! same right-hand side as [`Discretization`](crate::Discretization), from the same formulas: what
//! [`PointKernels`] and [`BoundaryKernel`](crate::BoundaryKernel) print as CUDA is put in front of the
//! kernels beside this file and compiled for the device found, specialised to shape, order, basis, cubature,
//! geometry and precision.
//!
//! [`PointKernels`]: crate::PointKernels

mod arguments;
mod boundary;
mod branches;
mod clock;
mod control;
mod device_group;
mod diffusive_boundary;
mod discretization;
mod element;
mod elliptic;
mod faces;
pub(crate) mod fast;
pub(crate) mod fast_diffusion;
mod fragments;
mod gauss;
mod gauss_diffusion;
mod kernel_text;
mod measure;
mod operators;
mod part_texts;
mod prism;
mod prism_cubature;
mod prism_cubature_diffusion;
mod prism_diffusion;
mod published;
pub(crate) mod quadratic;
mod sample;
mod setting;
mod simplex;
mod simplex_diffusion;
mod small;
mod source_term;
mod tensor;
mod tensor_diffusion;
mod trace_points;

pub use boundary::StageTime;
pub use clock::{BoundsCopy, RING, StepBound, StepChoice};
pub use control::{Attempt, AttemptsCopy, ControlStart, DeviceControl};
pub use discretization::{CudaDiscretization, StageAddresses};
pub use elliptic::{CudaBlockInverse, CudaPTransfer, CudaSipdg};
pub use measure::{Integrand, Measures, PointRule};
pub use sample::{Sampler, SamplesUnderWay};
