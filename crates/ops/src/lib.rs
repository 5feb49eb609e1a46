//! Discontinuous Galerkin operators on unstructured meshes: geometry, traces, residuals.
//!
//! This crate computes the right-hand side `R` of the semi-discrete equation `du/dt = R(t, u)` of
//!
//! ```text
//! ∂u/∂t + ∇·(F(u) − F_v(u, ∇u)) = S(t, x) + Σ S_i(u, c_i(x))
//! ```
//!
//! on meshes of triangles, quadrilaterals, tetrahedra, hexahedra, prisms and pyramids, affine and curved,
//! mixed in one mesh, by discontinuous Galerkin or flux reconstruction schemes of any order; alone or fused
//! with a Runge–Kutta stage; on CPUs and on NVIDIA devices. It also has the interior penalty operator of
//! elliptic problems ([`elliptic`]). It contains no equation: the formulas of `F`, `F_v`, `S`, of
//! numerical fluxes and boundary conditions are type parameters, from `dgsuite_physics` or of your own.
//!
//! # What is computed
//!
//! On each element, with `J` the determinant of its map and `F̂_d = J∇r_d · F` the contravariant flux,
//!
//! ```text
//! du = M_J⁻¹ M [ Σ_d P_d F̂_d(I u) − L f̂*(I_f u⁻, I_f u⁺) ],     f̂* = sJ f*(u⁻, u⁺, n)
//! ```
//!
//! with interpolation to volume points `I` and face points `I_f`, projection tested with derivatives
//! `P_d = M⁻¹ D_dᵀ W`, and the lift `L = M⁻¹ I_fᵀ W_f`. All are matrices of the reference element, computed
//! by `dgsuite_basis`. A modal, nodal or Taylor basis, a collocated or another cubature, weak or strong form,
//! flux reconstruction: each is a choice of these matrices, not a branch of the kernels. The split form alone
//! has another volume term, two-point fluxes along lines of nodes. Where the space is a product, matrices are
//! chains of one-dimensional factors. Diffusion (BR2) adds matrices of the reference element too, and a
//! second pass.
//!
//! # Concepts
//!
//! | concept | type | what it is |
//! |---|---|---|
//! | discretisation | [`Discretization`] | a mesh, a scheme and an equation, set up: evaluates `R`, projects, integrates, samples |
//! | scheme | [`Scheme`] | order, space, basis, cubatures, [`Form`], correction of flux reconstruction |
//! | metric rule | [`MetricRule`] | how `M_J⁻¹` is applied: affine (`1/J`), collocated (`1/J` at the nodes), weight-adjusted (two reference matrices and `1/J` at points), stored (dense, exact) |
//! | equation | [`Equation`] | [`PointKernels`] of a law and a numerical flux, made by [`Pointwise`]; optionally [`TwoPointKernels`] of split forms ([`TwoPoint`]), [`DiffusionKernels`] ([`Diffusive`]), a source, and [`ReactionKernels`] ([`Reacting`]): sources of the state, with coefficients |
//! | boundary | [`BoundaryBinding`] | a name of the mesh with a [`BoundaryKernel`], made by [`BoundaryOf`]; with diffusion [`WithDiffusion`] |
//! | group, part | [`PartSummary`] | a group is the elements of one shape; its parts are the affine and the curved ones, which share one state array |
//! | block, lane, slot | [`Layout`] | a lane is one element, a block as many as a SIMD register has lanes; a slot numbers elements within a group |
//! | trace | | values of one side at the points of a face; `minus` is the element's own, `plus` the other |
//! | inner, foreign face | | across an inner face the neighbour has the same shape, and its state is read in place; a foreign face is on a boundary or has a neighbour of another shape, whose trace is read from the exterior buffer |
//! | stage | [`StageWeights`] | `register ← a register + dt R`, `next ← b start + (1 − b) u + c register`, in the sweep that computes `R` |
//! | step bound | [`StepMeasure`] | the largest stable step of each element, from its own spectrum |
//! | samples | [`Sample`], [`BoundarySamples`], [`Norms`] | values and lifted gradients for output, on boundaries with fluxes; errors |
//! | device | [`cuda::CudaDiscretization`] | the same on an NVIDIA device, from the same formulas |
//! | oracle | [`split::Split`] | the same method in separate, simple stages: the reference with which tests compare the kernels |
//!
//! # Index orders
//!
//! The last index is the fastest. State of a group: `[block][basis function][field][lane]`; groups follow one
//! another in one array, and lanes that fill the last block of a part hold copies of its last element.
//! Traces: `[block][face point][field][lane]`. Exterior buffer: `[face][point][field]`. The canonical order,
//! for checkpoints and comparison, is `[element][field][basis function]` ([`Discretization::to_canonical`]).
//!
//! # From a mesh to a step
//!
//! ```
//! use dgsuite_gpu::Host;
//! use dgsuite_mesh::{Shape, generate::Box as Square};
//! use dgsuite_ops::{
//!     BoundaryBinding, BoundaryOf, Discretization, Pointwise, Scheme, StageWeights, StepMeasure,
//! };
//! use dgsuite_physics::exact::{ClosedForm, SineWave};
//! use dgsuite_physics::{Advection, Exact, Prescribed, Rusanov};
//! use std::sync::Arc;
//!
//! // A mesh: 8 x 8 squares cut into triangles, periodic along y, with boundaries at the ends of x.
//! let mut mesh = Square::unit(Shape::Triangle, 8).build()?;
//! mesh.make_periodic("ymin", "ymax")?;
//!
//! // The equation: a law and its numerical flux. An exact solution, for initial state and boundaries.
//! let law = Advection { velocity: [1.0, 0.5] };
//! let physics = Box::new(Pointwise::<_, _, 2, 1> { law, flux: Rusanov });
//! let velocity = [1.0, 0.5, 0.0];
//! let wave = SineWave { mean: 0.0, amplitude: 1.0, velocity, waves: [1.0, 1.0, 0.0], length: 1.0 };
//! let exact: Arc<dyn Exact> = Arc::new(ClosedForm::<_, _, 2, 1>::new(law, wave));
//! let boundaries = ["xmin", "xmax"].map(|name| BoundaryBinding::<f64> {
//!     name: name.to_owned(),
//!     kernel: Box::new(BoundaryOf::<_, _, 2, 1> { law, condition: Prescribed }),
//!     data: Some(Arc::clone(&exact)),
//! });
//!
//! // The semi-discrete equation, at order 3, on all cores.
//! let host = Arc::new(Host::new(0)?);
//! let scheme = Scheme::modal(3);
//! let mut rhs =
//!     Discretization::<f64>::new(Arc::new(mesh), &scheme, physics, boundaries.into(), host)?;
//!
//! // The residual of the projected wave: its integral equals the flux through the boundary.
//! let zeros = vec![0.0; rhs.len()];
//! let (mut u, mut du) = (zeros.clone(), zeros.clone());
//! rhs.project(&*exact, 0.0, &mut u);
//! rhs.eval(0.0, &u, &mut du);
//! assert!((rhs.totals(&du)[0] - rhs.tally()[0]).abs() < 1e-12);
//!
//! // Ten steps of the scheme of Shu and Osher (1988), nine tenths of the largest stable one, 2.45.
//! rhs.measure_steps_by(StepMeasure::Radius);
//! let dt = 0.9 * 2.45 * rhs.time_step(&u, None)?;
//! let (mut register, mut stage, mut next) = (zeros.clone(), zeros.clone(), zeros);
//! for step in 0..10 {
//!     let t = f64::from(step) * dt;
//!     // A register of weight 0 is not read; c = 1 − b gives next ← b start + (1 − b) (u + dt R).
//!     let weights = |b: f64| StageWeights { a: 0.0, b, c: 1.0 - b, dt, keep: false };
//!     rhs.stage(t, weights(0.0), &u, None, &mut register, &mut stage);
//!     rhs.stage(t + dt, weights(0.75), &stage, Some(&u), &mut register, &mut next);
//!     rhs.stage(t + 0.5 * dt, weights(1.0 / 3.0), &next, Some(&u), &mut register, &mut stage);
//!     std::mem::swap(&mut u, &mut stage);
//! }
//! let (_, norms) = rhs.errors(&u, &*exact, 10.0 * dt);
//! assert!(norms.l2[0] < 1e-4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `dgsuite_timeint` has the schemes in time, step control and exact landing; `dgsuite_solve` connects
//! the two. On a device, [`cuda::CudaDiscretization::new`] takes the same arguments and a `Cuda`.
//!
//! # A tour of the modules
//!
//! Each module is a room: it uses those above it in this table, and no other.
//!
//! | modules | compute |
//! |---|---|
//! | `lanes`: `simd`, `panel`, `span` | packs of lanes; products with sparse factors in registers; compiled for AVX-512, AVX2 and the baseline |
//! | `space`: `scheme`, `group`, `layout`, `geometry`, `connect`, `packing`, `chain`, `lifting` | set-up: reference elements and metric rules by shape; elements in blocks; `J`, `J∇r_d`, normals; the neighbour across each face; the elements of each block; the liftings of diffusion (BR2) |
//! | [`split`] | the oracle: start reading here |
//! | `formulas`: `equation`, `pointwise`, `diffusion`, `two_point`, `boundary`, `reacting` | formulas of the equation, for a block of lanes at a time; outer states, fluxes and face states on boundaries |
//! | `rhs`: `discretization`, `residual`, `matrix_kernels`, `finish` | the sequence of stages: source, traces, boundaries, exchange between shapes, residual; the fused sweep over blocks, the metric rule, the stage |
//! | `rhs`: `diffusion_passes`, `one_sided`, `published`, `schedule` | diffusion in two passes, and the order in which they visit blocks |
//! | `rhs`: `step_bound`, `limiter`, `source`, `reaction`, `ranks`, `halo` | the largest eigenvalues of advection and diffusion, element by element; limiters; rows of sources and reactions; several ranks |
//! | `fields`, with `integrals`, `gradients` | projection, norms, integrals, samples, gradients for output |
//! | [`elliptic`] | the interior penalty operator `−∇·(κ∇u) + λu`, matrix-free and assembled |
//! | [`cuda`] | the same operators on NVIDIA devices: kernel texts, their choice, tables, launches, clock |
//!
//! # Invariants
//! * This crate contains no equation, reads no file, and does not depend on a time stepper.
//! * Both sides of a face are evaluated at the same points: what leaves one element enters the other.
//! * The free stream is preserved on curved meshes: cubature degrees are raised until the metric identities
//!   hold discretely, and collocated metric terms have the conservative curl form.
//! * Every block writes only its own part of the output, and sums have a fixed order: results are the same to
//!   the last bit for any number of threads.
//! * [`Discretization::eval`] and [`Discretization::stage`] do not allocate, except for boundary data and
//!   sources that change with time.
//! * A law has any number of unknowns. The matrix kernels are compiled for 1 to 6; more are processed one by
//!   one.
//! * `unsafe` is confined to the SIMD kernels, the passing of output pointers to threads, and launches on
//!   devices.
//!
//! # How it is tested
//!
//! * `tests/operators/laws`: the fused kernels against [`split::Split`] on every shape and scheme, affine and
//!   curved, at every SIMD level, in both precisions; convergence, free stream, conservation, flux
//!   reconstruction against its definition, entropy of split forms, energy of boundary conditions under
//!   diffusion, step bounds against spectra, equality for any number of threads.
//! * `tests/operators/elliptic`: the operator against its assembled matrix, symmetry, convergence, transfers.
//! * `tests/operators/device`: every kernel text compiled for a device without one (NVRTC); run on the host
//!   under address and undefined-behaviour sanitizers in two orders of threads; on a device compared with the
//!   host.
//! * `tests/refusals.rs`, `tests/properties.rs`: errors, and random meshes and schemes.

pub mod cuda;
pub mod elliptic;
mod error;
mod fields;
mod formulas;
mod lanes;
mod lock;
mod rhs;
mod space;
pub mod split;

pub use elliptic::{EllipticBoundary, EllipticErrors, Sipdg, SipdgOptions, elliptic_places};
pub use error::OpsError;
pub use fields::Sample;
pub use fields::gradients::BoundarySamples;
pub use fields::integrals::{AtPoints, Norms};
pub use formulas::above_wall::{AboveWallKernel, AboveWallOf, WithDataAbove};
pub use formulas::boundary::{BoundaryBinding, BoundaryKernel, BoundaryOf, OfState, place_and_time};
pub use formulas::diffusion::{DiffusionKernels, Diffusive, FaceMetric, VolumeMetric};
pub use formulas::diffusive_boundary::{DiffusiveBoundaryKernel, DiffusiveBoundaryOf, WithDiffusion};
pub use formulas::equation::Equation;
pub use formulas::pointwise::{Across, NeighbourStates, PointKernels, Pointwise};
pub use formulas::reacting::{Reacting, ReactingByFormulas, ReactionKernels};
pub use formulas::two_point::{NodeLines, TwoPoint, TwoPointKernels};
pub use lanes::simd::{Kernel, Pack, PackScalar};
pub use rhs::discretization::{Discretization, PartSummary};
pub use rhs::limiter::{
    BoundKernels, Bounds, BoundsOf, EntropyFilter, Limited, Limiting, Neighbourhood, StateFloor,
};
pub use rhs::places_above::{Among, Loan, LoanExchange, PlaceAbove, PlacesAbove, places_above};
pub use rhs::ranks::{Distribution, OVERLAP_VARIABLE, Ranks, Whole, agree};
pub use rhs::residual::StageWeights;
pub use space::above::{Base, Height};
pub use space::layout::{Layout, PerPoint};
pub use space::scheme::{Form, MetricRule, Scheme, basis_size};
pub use space::step_measure::StepMeasure;
pub use space::widths::filter_widths;

/// The example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctests;
