//! The one place where law, dimension, numerical flux and precision become types.

use super::cuda_engine::CudaEngine;
use super::device::Device;
use super::engine::{Engine, HostEngine};
use super::error::SystemError;
use super::implicit;
use super::precision::Precision;
use super::setup::formulas::{in_setup, match_condition};
use super::setup::{BoundaryKind, Law, ReactionTerm, Riemann, Setup, SourceTerm};
use super::two_point::SplitForms;
use dgsuite_gpu::Host;
use dgsuite_gpu::cuda::Cuda;
use dgsuite_ops::cuda::CudaDiscretization;
use dgsuite_ops::{
    BoundKernels, BoundaryBinding, BoundaryKernel, BoundaryOf, BoundsOf, DiffusionKernels, Diffusive,
    DiffusiveBoundaryOf, Discretization, Equation, Form, OfState, PackScalar, PointKernels, Pointwise, Ranks,
    Reacting, ReactingByFormulas, ReactionKernels, Scheme, TwoPointKernels, WithDiffusion,
};
use dgsuite_physics::reaction::{BodyForce, FormulaReaction, Sponge};
use dgsuite_physics::{
    Advection, Boundary, Bounded, CurvedSlipWall, Diffusion, DiffusiveBoundary, Euler, Exact, FarField,
    Law as Formulas, NavierStokes, NoSlipWall, NumericalFlux, Outflow, Prescribed, PressureOutlet, Real,
    Rusanov, SlipWall, SubsonicInflow, Symmetry, gas_fluxes,
};
use std::sync::Arc;

/// The parameters that do not depend on types.
#[derive(Clone, Copy)]
struct Rest<'a> {
    setup: &'a Setup,
    ranks: Option<&'a Arc<Ranks>>,
    host: &'a Arc<Host>,
    scheme: &'a Scheme,
    initial: &'a dyn Exact,
    t0: f64,
}

/// One engine for each numerical flux. Fluxes of one type have one engine.
macro_rules! by_flux {
    ($setup:ident, $flux:ident, $own:ident) => {
        gas_fluxes!(match_flux! { $setup, $flux, $own; })
    };
}

/// The engine of the flux that is chosen, from the rows of `gas_fluxes!`.
macro_rules! match_flux {
    ($setup:ident, $flux:ident, $own:ident; $($variant:ident $word:literal $value:expr, $text:literal;)*) => {
        match $setup.riemann {
            $(Riemann::$variant => $flux!($value),)*
            Riemann::Own(own) => $own!(own.0),
        }
    };
}

type Built = Result<Box<dyn Engine>, SystemError>;

/// Builds the engine that `setup` describes.
pub(crate) fn engine(
    setup: &Setup,
    ranks: Option<&Arc<Ranks>>,
    host: &Arc<Host>,
    scheme: &Scheme,
    initial: &dyn Exact,
    t0: f64,
) -> Built {
    let rest = Rest { setup, ranks, host, scheme, initial, t0 };
    macro_rules! law {
        ($t:ty, $d:literal, $n:literal, $c:literal, $kernels:ident, $viscous_kernels:ident) => {
            match &setup.law {
                Law::Advection { velocity } => {
                    let law = Advection {
                        velocity: std::array::from_fn(|i| velocity.get(i).copied().unwrap_or(0.0)),
                    };
                    let mut reactions = damping::<$t, 1, 2>(setup);
                    reactions.extend(by_formulas::<$t, _, $d, 1>(&rest, &law));
                    finish::<$t, _, _, $d, 1>(rest, law, Rusanov, None, None, reactions, &|kind| {
                        open_boundary::<$t, _, $d, 1>(law, kind)
                    })
                }
                Law::Euler { gamma, gas_constant } => {
                    let law = Euler { gamma: *gamma };
                    let conditions = |kind: &BoundaryKind| match kind {
                        BoundaryKind::Own(own) => Some(own.$kernels(law)),
                        kind => gas_boundary::<$t, $d, $n>(law, *gas_constant, kind),
                    };
                    macro_rules! flux {
                        ($f:expr) => {
                            finish::<$t, _, _, $d, $n>(
                                rest,
                                law,
                                $f,
                                None,
                                bounds::<$t, $d, $n>(law),
                                on_gas::<$t, $d, $n, $c>(&rest, law),
                                &conditions,
                            )
                        };
                    }
                    macro_rules! own {
                        ($f:expr) => {
                            with_physics(
                                rest,
                                $f.$kernels(law),
                                (None, SplitForms::<$t, $d, $n>::two_point(&law, setup.split_flux)),
                                bounds::<$t, $d, $n>(law),
                                on_gas::<$t, $d, $n, $c>(&rest, law),
                                &conditions,
                            )
                        };
                    }
                    by_flux!(setup, flux, own)
                }
                Law::Incompressible(_) => super::incompressible::engine(setup, ranks, host, initial, t0),
                Law::NavierStokes(viscous) => {
                    let diffusion: Box<dyn DiffusionKernels<$t>> =
                        Box::new(Diffusive::<_, $d, $n> { diffusion: *viscous });
                    let conditions = |kind: &BoundaryKind| match kind {
                        BoundaryKind::Own(own) => Some(own.$viscous_kernels(*viscous)),
                        kind => viscous_boundary::<$t, $d, $n>(*viscous, kind),
                    };
                    macro_rules! flux {
                        ($f:expr) => {
                            finish::<$t, _, _, $d, $n>(
                                rest,
                                viscous.gas,
                                $f,
                                Some(diffusion),
                                bounds::<$t, $d, $n>(viscous.gas),
                                on_gas::<$t, $d, $n, $c>(&rest, viscous.gas),
                                &conditions,
                            )
                        };
                    }
                    macro_rules! own {
                        ($f:expr) => {
                            with_physics(
                                rest,
                                $f.$kernels(viscous.gas),
                                (
                                    Some(diffusion),
                                    SplitForms::<$t, $d, $n>::two_point(&viscous.gas, setup.split_flux),
                                ),
                                bounds::<$t, $d, $n>(viscous.gas),
                                on_gas::<$t, $d, $n, $c>(&rest, viscous.gas),
                                &conditions,
                            )
                        };
                    }
                    by_flux!(setup, flux, own)
                }
            }
        };
    }
    match (setup.precision, setup.mesh.dim()) {
        (Precision::Double, 2) => law!(f64, 2, 4, 5, plane, viscous_plane),
        (Precision::Double, _) => law!(f64, 3, 5, 6, space, viscous_space),
        (Precision::Single, 2) => law!(f32, 2, 4, 5, plane_single, viscous_plane_single),
        (Precision::Single, _) => law!(f32, 3, 5, 6, space_single, viscous_space_single),
    }
}

/// The sponges of the set-up, for a law with `N` unknowns; `C = N + 1`.
fn damping<T, const N: usize, const C: usize>(setup: &Setup) -> Vec<Box<dyn ReactionKernels<T>>>
where
    Reacting<Sponge, N, C>: ReactionKernels<T>,
{
    let kernel = |term: &ReactionTerm| -> Option<Box<dyn ReactionKernels<T>>> {
        let ReactionTerm::Sponge(coefficients) = term else { return None };
        let coefficients = Arc::clone(coefficients);
        Some(Box::new(Reacting::<_, N, C> { reaction: Sponge, coefficients }))
    };
    setup.reactions.iter().filter_map(kernel).collect()
}

/// The source terms of the set-up by formulas of the state. Their stiffness is that at the initial state at
/// the nodes of the mesh.
fn by_formulas<T, L, const D: usize, const N: usize>(
    rest: &Rest<'_>,
    law: &L,
) -> Vec<Box<dyn ReactionKernels<T>>>
where
    L: Formulas<D, N>,
    ReactingByFormulas<L, D, N>: ReactionKernels<T>,
{
    let kernel = |term: &ReactionTerm| -> Option<Box<dyn ReactionKernels<T>>> {
        let ReactionTerm::Formulas(formulas) = term else { return None };
        let formulas = Arc::clone(formulas);
        let mut reaction = FormulaReaction::<L, D> { law: law.clone(), formulas, stiffness: 0.0 };
        // The discretisation takes the largest one of all ranks.
        let points = &rest.setup.mesh.seen().points;
        reaction.stiffness = reaction.stiffness_of(rest.initial, rest.t0, points);
        Some(Box::new(ReactingByFormulas::<L, D, N> { reaction }))
    };
    rest.setup.reactions.iter().filter_map(kernel).collect()
}

/// The sponges, the forces and the formulas of the set-up, for a gas; `C = N + 1`.
fn on_gas<T, const D: usize, const N: usize, const C: usize>(
    rest: &Rest<'_>,
    law: Euler,
) -> Vec<Box<dyn ReactionKernels<T>>>
where
    Euler: Formulas<D, N>,
    Reacting<Sponge, N, C>: ReactionKernels<T>,
    Reacting<BodyForce, N, D>: ReactionKernels<T>,
    ReactingByFormulas<Euler, D, N>: ReactionKernels<T>,
{
    let setup = rest.setup;
    let force = |term: &ReactionTerm| -> Option<Box<dyn ReactionKernels<T>>> {
        let ReactionTerm::BodyForce(coefficients) = term else { return None };
        let coefficients = Arc::clone(coefficients);
        Some(Box::new(Reacting::<_, N, D> { reaction: BodyForce, coefficients }))
    };
    let mut all = damping::<T, N, C>(setup);
    all.extend(setup.reactions.iter().filter_map(force));
    all.extend(by_formulas(rest, &law));
    all
}

/// The quantities of a gas that limiters bound.
#[allow(clippy::unnecessary_wraps, reason = "other laws have no bounds")]
fn bounds<T, const D: usize, const N: usize>(law: Euler) -> Option<Box<dyn BoundKernels<T>>>
where
    Euler: Bounded<D, N>,
    BoundsOf<Euler, D, N>: BoundKernels<T>,
{
    Some(Box::new(BoundsOf::<_, D, N> { law }))
}

fn finish<T, L, F, const D: usize, const N: usize>(
    rest: Rest<'_>,
    law: L,
    flux: F,
    diffusion: Option<Box<dyn DiffusionKernels<T>>>,
    bounds: Option<Box<dyn BoundKernels<T>>>,
    reactions: Vec<Box<dyn ReactionKernels<T>>>,
    boundary: &dyn Fn(&BoundaryKind) -> Option<Box<dyn BoundaryKernel<T>>>,
) -> Built
where
    T: PackScalar + Real,
    L: Formulas<D, N> + SplitForms<T, D, N>,
    F: NumericalFlux<L, D, N>,
    Pointwise<L, F, D, N>: PointKernels<T>,
{
    let two_point = law.two_point(rest.setup.split_flux);
    let flux = in_setup(flux, rest.setup);
    let physics = Box::new(Pointwise::<L, F, D, N> { law, flux });
    with_physics(rest, physics, (diffusion, two_point), bounds, reactions, boundary)
}

/// [`finish`] with kernels of any law and flux.
fn with_physics<T: PackScalar>(
    rest: Rest<'_>,
    physics: Box<dyn PointKernels<T>>,
    (diffusion, two_point): (Option<Box<dyn DiffusionKernels<T>>>, Box<dyn TwoPointKernels<T>>),
    bounds: Option<Box<dyn BoundKernels<T>>>,
    reactions: Vec<Box<dyn ReactionKernels<T>>>,
    boundary: &dyn Fn(&BoundaryKind) -> Option<Box<dyn BoundaryKernel<T>>>,
) -> Built {
    let two_point = (rest.scheme.form == Form::Split).then_some(two_point);
    let equation = Equation { diffusion, two_point, reactions, ..Equation::<T>::from(physics) };
    assemble(rest, equation, bounds, boundary)
}

/// Builds the engine of an equation. Law and numerical flux are behind pointers here, so that this is
/// compiled once for each precision.
fn assemble<T: PackScalar>(
    rest: Rest<'_>,
    equation: Equation<T>,
    bounds: Option<Box<dyn BoundKernels<T>>>,
    boundary: &dyn Fn(&BoundaryKind) -> Option<Box<dyn BoundaryKernel<T>>>,
) -> Built {
    let Setup { law: model, boundaries, mesh, device, scheme, .. } = rest.setup;
    if let (Some(_), Some(what)) = (rest.setup.newton, implicit::lacks(rest.setup)) {
        return Err(SystemError::Unavailable { law: model.name(), what: format!("in this set-up: {what}") });
    }
    if let (Some(_), Some(what)) = (rest.setup.implicit, implicit::lacks_in_time(rest.setup)) {
        return Err(SystemError::Unavailable { law: model.name(), what: format!("in this set-up: {what}") });
    }
    let bindings = boundaries
        .iter()
        .map(|(name, kind)| {
            let kernel = boundary(kind).ok_or_else(|| SystemError::BoundaryNotForLaw {
                boundary: name.clone(),
                condition: kind.name(),
                law: model.name(),
            })?;
            Ok(BoundaryBinding { name: name.clone(), kernel, data: kind.data() })
        })
        .collect::<Result<Vec<_>, SystemError>>()?;
    let mesh = Arc::clone(mesh.seen());
    let source = match &rest.setup.source {
        None => None,
        Some(SourceTerm::Given(rates)) => Some(Arc::clone(rates)),
        Some(SourceTerm::Manufactured(exact)) => Some(rest.setup.manufactured(exact.as_ref())?),
    };
    let length = rest.setup.filter_width.clone();
    let equation = Equation { eta: rest.setup.eta, length, source, ..equation };
    if let Device::Cuda(ordinal) = *device {
        let cuda = Cuda::new(ordinal)?;
        let host = Arc::clone(rest.host);
        let mut discretization = match rest.ranks {
            Some(ranks) => CudaDiscretization::on_ranks(ranks, rest.scheme, equation, bindings, host, &cuda)?,
            None => CudaDiscretization::new(mesh, rest.scheme, equation, bindings, host, &cuda)?,
        };
        discretization.gather_stages()?;
        discretization.measure_steps_by(rest.setup.step_measure)?;
        if let (Some(limiting), Some(bounds)) = (rest.setup.limiting, bounds) {
            discretization.limit_by(limiting, bounds)?;
        }
        discretization.prepare_stages()?;
        let engine = CudaEngine::new(discretization, *scheme, rest.initial, rest.t0)?;
        if rest.setup.only_described {
            return Ok(Box::new(engine));
        }
        return Ok(match (rest.setup.newton, rest.setup.implicit) {
            (Some(newton), _) => Box::new(engine.with_newton(rest.setup, newton)?),
            (None, Some(steps)) => Box::new(engine.with_stages(rest.setup, steps)?),
            (None, None) => Box::new(engine),
        });
    }
    let host = Arc::clone(rest.host);
    let mut discretization = match rest.ranks {
        Some(ranks) => Discretization::on_ranks(ranks, rest.scheme, equation, bindings, host)?,
        None => Discretization::new(mesh, rest.scheme, equation, bindings, host)?,
    };
    discretization.measure_steps_by(rest.setup.step_measure);
    if let (Some(limiting), Some(bounds)) = (rest.setup.limiting, bounds) {
        discretization.limit_by(limiting, bounds)?;
    }
    let engine = HostEngine::new(discretization, rest.host, *scheme, rest.initial, rest.t0)?;
    if rest.setup.only_described {
        // Implicit steps need many vectors, which a description does not.
        return Ok(Box::new(engine));
    }
    Ok(match (rest.setup.newton, rest.setup.implicit) {
        (Some(newton), _) => Box::new(engine.with_newton(rest.setup, newton)?),
        (None, Some(steps)) => Box::new(engine.with_stages(rest.setup, steps)?),
        (None, None) => Box::new(engine),
    })
}

fn of<T, L, B, const D: usize, const N: usize>(law: L, condition: B) -> Box<dyn BoundaryKernel<T>>
where
    T: Real,
    L: Formulas<D, N>,
    B: Boundary<L, D, N>,
{
    Box::new(BoundaryOf::<L, B, D, N> { law, condition })
}

/// The conditions that every law has.
fn open_boundary<T, L, const D: usize, const N: usize>(
    law: L,
    kind: &BoundaryKind,
) -> Option<Box<dyn BoundaryKernel<T>>>
where
    T: Real,
    L: Formulas<D, N>,
    FarField: Boundary<L, D, N>,
{
    match kind {
        BoundaryKind::Prescribed(_) => Some(of::<T, _, _, D, N>(law, Prescribed)),
        BoundaryKind::Outflow => Some(of::<T, _, _, D, N>(law, Outflow)),
        BoundaryKind::FarField(_) => Some(of::<T, _, _, D, N>(law, FarField)),
        _ => None,
    }
}

/// The conditions of a gas.
fn gas_boundary<T, const D: usize, const N: usize>(
    law: Euler,
    gas_constant: f64,
    kind: &BoundaryKind,
) -> Option<Box<dyn BoundaryKernel<T>>>
where
    T: PackScalar + Real,
    Euler: Formulas<D, N>,
    FarField: Boundary<Euler, D, N>,
    SlipWall: Boundary<Euler, D, N>,
    CurvedSlipWall: Boundary<Euler, D, N>,
    Symmetry: Boundary<Euler, D, N>,
    PressureOutlet: Boundary<Euler, D, N>,
    SubsonicInflow: Boundary<Euler, D, N>,
{
    if let BoundaryKind::OfState { kind, formulas } = kind {
        let condition = gas_boundary::<T, D, N>(law, gas_constant, kind)?;
        return Some(Box::new(OfState::<T, _, D, N> { law, formulas: Arc::clone(formulas), condition }));
    }
    macro_rules! one {
        ($condition:expr) => {
            Some(of::<T, _, _, D, N>(law, $condition))
        };
    }
    match_condition!(inviscid kind, gas_constant, one)
}

/// The conditions of a viscous gas, for the numerical flux and for diffusion.
fn viscous_boundary<T, const D: usize, const N: usize>(
    viscous: NavierStokes,
    kind: &BoundaryKind,
) -> Option<Box<dyn BoundaryKernel<T>>>
where
    T: PackScalar + Real,
    Euler: Formulas<D, N>,
    NavierStokes: Diffusion<D, N>,
    FarField: Boundary<Euler, D, N> + DiffusiveBoundary<NavierStokes, D, N>,
    SlipWall: Boundary<Euler, D, N> + DiffusiveBoundary<NavierStokes, D, N>,
    Symmetry: Boundary<Euler, D, N> + DiffusiveBoundary<NavierStokes, D, N>,
    PressureOutlet: Boundary<Euler, D, N> + DiffusiveBoundary<NavierStokes, D, N>,
    SubsonicInflow: Boundary<Euler, D, N> + DiffusiveBoundary<NavierStokes, D, N>,
    NoSlipWall: Boundary<Euler, D, N> + DiffusiveBoundary<NavierStokes, D, N>,
{
    macro_rules! both {
        ($condition:expr) => {{
            let condition = $condition;
            let diffusive = DiffusiveBoundaryOf::<_, _, D, N> { diffusion: viscous, condition };
            Some(Box::new(WithDiffusion::<T> {
                inviscid: of::<T, _, _, D, N>(viscous.gas, condition),
                diffusive: Box::new(diffusive),
            }) as Box<dyn BoundaryKernel<T>>)
        }};
    }
    if let BoundaryKind::OfState { kind, formulas } = kind {
        let condition = viscous_boundary::<T, D, N>(viscous, kind)?;
        let (law, formulas) = (viscous.gas, Arc::clone(formulas));
        return Some(Box::new(OfState::<T, _, D, N> { law, formulas, condition }));
    }
    match_condition!(viscous kind, viscous.gas_constant, both)
}
