//! The tangent equation of a gas: the state and a direction, as one law of twice as many unknowns.

use std::sync::Arc;

use dgsuite_gpu::Host;
use dgsuite_gpu::cuda::Cuda;
use dgsuite_ops::cuda::CudaDiscretization;
use dgsuite_ops::{
    BoundaryBinding, BoundaryKernel, BoundaryOf, DiffusionKernels, Diffusive, DiffusiveBoundaryOf,
    Discretization, Equation, Form, OfState, PackScalar, PointKernels, Pointwise, Ranks, Reacting,
    ReactingByFormulas, ReactionKernels, WithDiffusion,
};
use dgsuite_physics::reaction::{BodyForce, FormulaReaction, Sponge};
use dgsuite_physics::{
    Boundary, CurvedSlipWall, Diffusion, DiffusiveBoundary, Euler, Exact, FarField, Law as Formulas,
    NavierStokes, SlipWall, Symmetry, Tangent, gas_fluxes,
};

use crate::SystemError;
use crate::setup::formulas::{in_setup, match_condition};
use crate::setup::{BoundaryKind, Law, ReactionTerm, Riemann, Setup};
use crate::two_point::tangent as tangent_of;

fn unavailable(setup: &Setup, what: impl Into<String>) -> SystemError {
    SystemError::Unavailable { law: setup.law.name(), what: what.into() }
}

/// An equation with its conditions.
type Parts = (Equation<f64>, Vec<BoundaryBinding<f64>>);

/// The discretisation of the tangent equation of a set-up on the CPU, in double precision, on one rank or of
/// the part of one among others.
///
/// Sources of place and time are left out, as they do not depend on the state: the first half of a rate lacks
/// them, the second half is the product with the Jacobian.
///
/// # Errors
/// [`SystemError::Unavailable`] for parts of a set-up that have no tangent, and those of the discretisation.
pub(super) fn discretization(
    setup: &Setup,
    host: &Arc<Host>,
    ranks: Option<&Arc<Ranks>>,
) -> Result<Discretization<f64>, SystemError> {
    let (equation, bindings) = equation(setup)?;
    let (space, host) = (setup.space(), Arc::clone(host));
    Ok(match ranks {
        Some(ranks) => Discretization::on_ranks(ranks, &space, equation, bindings, host)?,
        None => Discretization::new(Arc::clone(setup.mesh.seen()), &space, equation, bindings, host)?,
    })
}

/// As [`discretization`], on the device of a discretisation.
///
/// # Errors
/// As those of [`discretization`], and failures of the device.
pub(super) fn on_device<T: PackScalar>(
    setup: &Setup,
    of: &Discretization<T>,
    cuda: &Cuda,
) -> Result<CudaDiscretization<f64>, SystemError> {
    let (equation, bindings) = equation(setup)?;
    let (space, host) = (setup.space(), Arc::clone(of.host()));
    Ok(match of.ranks() {
        Some(ranks) => CudaDiscretization::on_ranks(ranks, &space, equation, bindings, host, cuda)?,
        None => {
            let mesh = Arc::clone(setup.mesh.seen());
            CudaDiscretization::new(mesh, &space, equation, bindings, host, cuda)?
        }
    })
}

/// The tangent equation of a set-up.
fn equation(setup: &Setup) -> Result<Parts, SystemError> {
    match (&setup.law, setup.mesh.dim()) {
        (Law::Euler { gamma, gas_constant }, dim) => {
            let gas = Euler { gamma: *gamma };
            match dim {
                2 => build::<2, 4, 8, 5>(setup, gas, flux_2d(setup, gas), None, &|kind| match kind {
                    BoundaryKind::Own(own) => Some(own.plane_tangent(gas)),
                    kind => inviscid::<2, 4, 8>(gas, *gas_constant, kind),
                }),
                _ => build::<3, 5, 10, 6>(setup, gas, flux_3d(setup, gas), None, &|kind| match kind {
                    BoundaryKind::Own(own) => Some(own.space_tangent(gas)),
                    kind => inviscid::<3, 5, 10>(gas, *gas_constant, kind),
                }),
            }
        }
        (Law::NavierStokes(law), dim) => {
            let gas = law.gas;
            match dim {
                2 => {
                    let diffusion = Box::new(Diffusive::<_, 2, 8> { diffusion: Tangent::<_, 4>(*law) });
                    build::<2, 4, 8, 5>(
                        setup,
                        gas,
                        flux_2d(setup, gas),
                        Some(diffusion),
                        &|kind| match kind {
                            BoundaryKind::Own(own) => Some(own.viscous_plane_tangent(*law)),
                            kind => viscous::<2, 4, 8>(*law, kind),
                        },
                    )
                }
                _ => {
                    let diffusion = Box::new(Diffusive::<_, 3, 10> { diffusion: Tangent::<_, 5>(*law) });
                    build::<3, 5, 10, 6>(setup, gas, flux_3d(setup, gas), Some(diffusion), &|kind| match kind
                    {
                        BoundaryKind::Own(own) => Some(own.viscous_space_tangent(*law)),
                        kind => viscous::<3, 5, 10>(*law, kind),
                    })
                }
            }
        }
        _ => Err(unavailable(setup, "by Newton steps")),
    }
}

/// The numerical flux that is chosen, with its derivative, from the rows of `gas_fluxes!`.
macro_rules! flux {
    ($name:ident, $own:ident, $d:literal, $n:literal, $m:literal) => {
        fn $name(setup: &Setup, gas: Euler) -> Box<dyn PointKernels<f64>> {
            gas_fluxes!(match_flux! { setup, gas, $own, $d, $n, $m; })
        }
    };
}

macro_rules! match_flux {
    ($setup:ident, $gas:ident, $own:ident, $d:literal, $n:literal, $m:literal;
     $($variant:ident $word:literal $value:expr, $text:literal;)*) => {
        match $setup.riemann {
            $(Riemann::$variant => {
                let flux = Tangent::<_, $n>(in_setup::<Euler, _, $d, $n>($value, $setup));
                Box::new(Pointwise::<_, _, $d, $m> { law: Tangent::<_, $n>($gas), flux })
            })*
            Riemann::Own(flux) => flux.0.$own($gas),
        }
    };
}

flux!(flux_2d, plane_tangent, 2, 4, 8);
flux!(flux_3d, space_tangent, 3, 5, 10);

/// Assembles the equation; `C = N + 1`, the coefficients of a sponge.
fn build<const D: usize, const N: usize, const M: usize, const C: usize>(
    setup: &Setup,
    gas: Euler,
    kernels: Box<dyn PointKernels<f64>>,
    diffusion: Option<Box<dyn DiffusionKernels<f64>>>,
    condition: &dyn Fn(&BoundaryKind) -> Option<Box<dyn BoundaryKernel<f64>>>,
) -> Result<Parts, SystemError>
where
    Euler: Formulas<D, N>,
    Reacting<Tangent<Sponge, N>, M, C>: ReactionKernels<f64>,
    Reacting<Tangent<BodyForce, N>, M, D>: ReactionKernels<f64>,
    ReactingByFormulas<Tangent<Euler, N>, D, M>: ReactionKernels<f64>,
{
    let binding = |(name, kind): (&String, &BoundaryKind)| {
        let what = || format!("by Newton steps with the condition {} of boundary {name}", kind.name());
        let kernel: Option<Box<dyn BoundaryKernel<f64>>> = match kind {
            BoundaryKind::OfState { kind, formulas } => condition(kind).map(|condition| {
                let (law, formulas) = (Tangent::<_, N>(gas), Arc::new(formulas.tangent()));
                Box::new(OfState::<_, _, D, M> { law, formulas, condition }) as Box<_>
            }),
            kind => condition(kind),
        };
        let kernel = kernel.ok_or_else(|| unavailable(setup, what()))?;
        let data = kind.data().map(|data| Arc::new(Tangent::<_, N>(data)) as Arc<dyn Exact>);
        Ok(BoundaryBinding { name: name.clone(), kernel, data })
    };
    let bindings = setup.boundaries.iter().map(binding).collect::<Result<Vec<_>, SystemError>>()?;
    let reaction = |term: &ReactionTerm| -> Box<dyn ReactionKernels<f64>> {
        match term {
            ReactionTerm::Sponge(coefficients) => Box::new(Reacting::<_, M, C> {
                reaction: Tangent::<_, N>(Sponge),
                coefficients: Arc::clone(coefficients),
            }),
            ReactionTerm::BodyForce(coefficients) => Box::new(Reacting::<_, M, D> {
                reaction: Tangent::<_, N>(BodyForce),
                coefficients: Arc::clone(coefficients),
            }),
            ReactionTerm::Formulas(formulas) => {
                // Steps are those of the equation itself.
                let own =
                    FormulaReaction::<_, D> { law: gas, formulas: Arc::clone(formulas), stiffness: 0.0 };
                Box::new(ReactingByFormulas::<_, D, M> { reaction: own.tangent::<N>() })
            }
        }
    };
    let reactions = setup.reactions.iter().map(reaction).collect();
    let two_point = (setup.form == Form::Split).then(|| tangent_of::<D, N, M>(gas, setup.split_flux));
    let length = setup.filter_width.clone();
    let equation =
        Equation { diffusion, two_point, eta: setup.eta, length, reactions, ..Equation::from(kernels) };
    Ok((equation, bindings))
}

fn of<B, const D: usize, const N: usize, const M: usize>(
    gas: Euler,
    condition: B,
) -> Box<dyn BoundaryKernel<f64>>
where
    Euler: Formulas<D, N>,
    B: Boundary<Euler, D, N>,
{
    let (law, condition) = (Tangent::<_, N>(gas), Tangent::<_, N>(condition));
    Box::new(BoundaryOf::<_, _, D, M> { law, condition })
}

/// The conditions of a gas without viscosity.
fn inviscid<const D: usize, const N: usize, const M: usize>(
    gas: Euler,
    gas_constant: f64,
    kind: &BoundaryKind,
) -> Option<Box<dyn BoundaryKernel<f64>>>
where
    Euler: Formulas<D, N>,
    CurvedSlipWall: Boundary<Euler, D, N>,
    SlipWall: Boundary<Euler, D, N>,
    Symmetry: Boundary<Euler, D, N>,
    FarField: Boundary<Euler, D, N>,
{
    macro_rules! one {
        ($condition:expr) => {
            Some(of::<_, D, N, M>(gas, $condition))
        };
    }
    match_condition!(inviscid kind, gas_constant, one)
}

/// The conditions of a viscous gas.
fn viscous<const D: usize, const N: usize, const M: usize>(
    viscous: NavierStokes,
    kind: &BoundaryKind,
) -> Option<Box<dyn BoundaryKernel<f64>>>
where
    Euler: Formulas<D, N>,
    NavierStokes: Diffusion<D, N>,
    FarField: Boundary<Euler, D, N> + DiffusiveBoundary<NavierStokes, D, N>,
    SlipWall: Boundary<Euler, D, N> + DiffusiveBoundary<NavierStokes, D, N>,
    Symmetry: Boundary<Euler, D, N> + DiffusiveBoundary<NavierStokes, D, N>,
{
    fn both<B, const D: usize, const N: usize, const M: usize>(
        viscous: NavierStokes,
        condition: B,
    ) -> Box<dyn BoundaryKernel<f64>>
    where
        Euler: Formulas<D, N>,
        NavierStokes: Diffusion<D, N>,
        B: Boundary<Euler, D, N> + DiffusiveBoundary<NavierStokes, D, N> + Copy,
    {
        let diffusive = DiffusiveBoundaryOf::<_, _, D, M> {
            diffusion: Tangent::<_, N>(viscous),
            condition: Tangent::<_, N>(condition),
        };
        Box::new(WithDiffusion {
            inviscid: of::<_, D, N, M>(viscous.gas, condition),
            diffusive: Box::new(diffusive),
        })
    }
    macro_rules! one {
        ($condition:expr) => {
            Some(both::<_, D, N, M>(viscous, $condition))
        };
    }
    match_condition!(viscous kind, viscous.gas_constant, one)
}
