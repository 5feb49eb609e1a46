//! The operators on NVIDIA devices: residual, traces, boundaries, diffusion, step bounds, elliptic problems.
//!
//! A [`CudaDiscretization`] stores geometry, connectivity and operators of a mesh on a device and evaluates
//! the same right-hand side as [`Discretization`](crate::Discretization). It uses the same formulas:
//! [`PointKernels`] and [`BoundaryKernel`](crate::BoundaryKernel) return them as text of CUDA functions,
//! which is put in front of the kernels (`.cu` files in `src/cuda`). The result is compiled at run time for
//! the device, with shape, order, basis, cubature, geometry and precision as constants.
//!
//! Each part of a group (elements of one shape, affine or curved) runs either *universal* kernels, which
//! support every scheme by chains of sparse factors, or *fast* kernels for its kind of elements, which the
//! room `choose` selects: small simplices, simplices on tensor cores, quadrilaterals and
//! hexahedra at Gauss–Lobatto or Gauss points, prisms. With diffusion, a stage consists of two passes, which
//! exchange published fluxes.
//!
//! [`PointKernels`]: crate::PointKernels

mod choose;
mod elliptic;
mod parts;
mod prisms;
mod run;
mod simplices;
mod tensors;
mod terms;
mod text;

pub use choose::part_texts::ChosenKernels;
pub use elliptic::{
    CudaBlockInverse, CudaGathering, CudaLinelets, CudaMass, CudaPTransfer, CudaPenalties, CudaSipdg,
};
pub use run::clock::{BoundsCopy, RING, StepBound, StepChoice};
pub use run::control::{Attempt, AttemptsCopy, ControlStart, DeviceControl};
pub use run::discretization::{CudaDiscretization, StageAddresses};
pub use run::forecast::{Change, Forecast};
pub use run::measure::{Integrand, Measures, PointRule};
pub use run::sample::{Sampler, SamplesUnderWay};
pub use run::unknown_map::UnknownMap;
pub use terms::at_nodes::CudaAtNodes;
pub use terms::boundary::StageTime;
