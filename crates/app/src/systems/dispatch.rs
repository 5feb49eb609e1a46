//! The one place where law, dimension, numerical flux and precision become types.

use super::cuda_engine::CudaEngine;
use super::device::Device;
use super::engine::{Engine, HostEngine};
use super::hyperbolic::{BoundaryKind, Law, Precision, Riemann, Setup, SystemError};
use dgsuite_gpu::Host;
use dgsuite_gpu::cuda::Cuda;
use dgsuite_ops::cuda::CudaDiscretization;
use dgsuite_ops::{
    BoundaryBinding, BoundaryKernel, BoundaryOf, Discretization, PackScalar, PointKernels, Pointwise, Scheme,
};
use dgsuite_physics::{
    Advection, Boundary, Euler, Exact, FarField, Hll, Hllc, Law as Formulas, NumericalFlux, Outflow,
    Prescribed, PressureOutlet, Real, Roe, Rusanov, SlipWall, Symmetry,
};
use std::sync::Arc;

/// What does not depend on types.
#[derive(Clone, Copy)]
struct Rest<'a> {
    setup: &'a Setup,
    host: &'a Arc<Host>,
    scheme: &'a Scheme,
    initial: &'a dyn Exact,
    t0: f64,
}

type Built = Result<Box<dyn Engine>, SystemError>;

/// Build the engine that `setup` describes.
pub(crate) fn engine(
    setup: &Setup,
    host: &Arc<Host>,
    scheme: &Scheme,
    initial: &dyn Exact,
    t0: f64,
) -> Built {
    let rest = Rest { setup, host, scheme, initial, t0 };
    macro_rules! law {
        ($t:ty, $d:literal, $n:literal) => {
            match &setup.law {
                Law::Advection { velocity } => {
                    let law = Advection {
                        velocity: std::array::from_fn(|i| velocity.get(i).copied().unwrap_or(0.0)),
                    };
                    finish::<$t, _, _, $d, 1>(rest, law, Rusanov, |kind| {
                        open_boundary::<$t, _, _, $d, 1>(law, Rusanov, kind)
                    })
                }
                Law::Euler { gamma } => {
                    let law = Euler { gamma: *gamma };
                    macro_rules! flux {
                        ($f:expr) => {
                            finish::<$t, _, _, $d, $n>(rest, law, $f, |kind| {
                                gas_boundary::<$t, _, $d, $n>(law, $f, kind)
                            })
                        };
                    }
                    match setup.riemann {
                        Riemann::Rusanov => flux!(Rusanov),
                        Riemann::Hll => flux!(Hll),
                        Riemann::Hllc => flux!(Hllc),
                        Riemann::Roe => flux!(Roe),
                    }
                }
            }
        };
    }
    match (setup.precision, setup.mesh.dim) {
        (Precision::Double, 2) => law!(f64, 2, 4),
        (Precision::Double, _) => law!(f64, 3, 5),
        (Precision::Single, 2) => law!(f32, 2, 4),
        (Precision::Single, _) => law!(f32, 3, 5),
    }
}

fn finish<T, L, F, const D: usize, const N: usize>(
    rest: Rest<'_>,
    law: L,
    flux: F,
    boundary: impl Fn(&BoundaryKind) -> Option<Box<dyn BoundaryKernel<T>>>,
) -> Built
where
    T: PackScalar + Real,
    L: Formulas<D, N>,
    F: NumericalFlux<L, D, N>,
    Pointwise<L, F, D, N>: PointKernels<T>,
{
    let bindings = rest
        .setup
        .boundaries
        .iter()
        .map(|(name, kind)| {
            let kernel = boundary(kind).ok_or_else(|| SystemError::BoundaryNotForLaw {
                boundary: name.clone(),
                condition: kind.name(),
                law: L::NAME,
            })?;
            Ok(BoundaryBinding { name: name.clone(), kernel, data: kind.data() })
        })
        .collect::<Result<Vec<_>, SystemError>>()?;
    let physics = Box::new(Pointwise::<L, F, D, N> { law, flux });
    let mesh = Arc::clone(&rest.setup.mesh);
    if let Device::Cuda(ordinal) = rest.setup.device {
        let cuda = Cuda::new(ordinal)?;
        let host = Arc::clone(rest.host);
        let discretization = CudaDiscretization::new(mesh, rest.scheme, physics, bindings, host, &cuda)?;
        return Ok(Box::new(CudaEngine::new(discretization, rest.setup.scheme, rest.initial, rest.t0)?));
    }
    let discretization = Discretization::new(mesh, rest.scheme, physics, bindings, Arc::clone(rest.host))?;
    let engine = HostEngine::new(discretization, rest.host, rest.setup.scheme, rest.initial, rest.t0)?;
    Ok(Box::new(engine))
}

fn of<T, L, F, B, const D: usize, const N: usize>(law: L, flux: F, condition: B) -> Box<dyn BoundaryKernel<T>>
where
    T: Real,
    L: Formulas<D, N>,
    F: NumericalFlux<L, D, N>,
    B: Boundary<L, D, N>,
{
    Box::new(BoundaryOf::<L, F, B, D, N> { law, flux, condition })
}

/// Conditions that any law has.
fn open_boundary<T, L, F, const D: usize, const N: usize>(
    law: L,
    flux: F,
    kind: &BoundaryKind,
) -> Option<Box<dyn BoundaryKernel<T>>>
where
    T: Real,
    L: Formulas<D, N>,
    F: NumericalFlux<L, D, N>,
    FarField: Boundary<L, D, N>,
{
    match kind {
        BoundaryKind::Prescribed(_) => Some(of::<T, _, _, _, D, N>(law, flux, Prescribed)),
        BoundaryKind::Outflow => Some(of::<T, _, _, _, D, N>(law, flux, Outflow)),
        BoundaryKind::FarField(_) => Some(of::<T, _, _, _, D, N>(law, flux, FarField)),
        _ => None,
    }
}

/// Conditions of a gas.
fn gas_boundary<T, F, const D: usize, const N: usize>(
    law: Euler,
    flux: F,
    kind: &BoundaryKind,
) -> Option<Box<dyn BoundaryKernel<T>>>
where
    T: Real,
    Euler: Formulas<D, N>,
    F: NumericalFlux<Euler, D, N>,
    FarField: Boundary<Euler, D, N>,
    SlipWall: Boundary<Euler, D, N>,
    Symmetry: Boundary<Euler, D, N>,
    PressureOutlet: Boundary<Euler, D, N>,
{
    match kind {
        BoundaryKind::SlipWall => Some(of::<T, _, _, _, D, N>(law, flux, SlipWall)),
        BoundaryKind::Symmetry => Some(of::<T, _, _, _, D, N>(law, flux, Symmetry)),
        BoundaryKind::PressureOutlet { p } => {
            Some(of::<T, _, _, _, D, N>(law, flux, PressureOutlet { p: *p }))
        }
        other => open_boundary::<T, _, _, D, N>(law, flux, other),
    }
}
