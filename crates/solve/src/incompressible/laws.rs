//! The first-order operators as equations with boundary conditions.

mod scalars;
mod stress;

use super::machine::Pass;
use super::role::Role;
use crate::SystemError;
use crate::setup::{BoundaryKind, Incompressible, MOST_SCALARS, Setup};
use dgsuite_basis::{Cubature, Shape};
use dgsuite_gpu::Host;
use dgsuite_mesh::Mesh;
use dgsuite_ops::{
    BoundaryBinding, BoundaryKernel, BoundaryOf, Discretization, Equation, OpsError, Pointwise, Ranks, Scheme,
};
use dgsuite_physics::exact::FirstFields;
use dgsuite_physics::incompressible::{AdvectiveFlux, ElementwiseFlux, Incompressible as Law};
use dgsuite_physics::trace::{Recording, Sym};
use dgsuite_physics::{
    Central, Convection, Exact, Given, GivenVelocity, InflowProtected, Outflow, Penalty, PenaltyFlux,
    Prescribed, Real, Rusanov, Transport, TransportFlux, ZeroNormalVelocity, ZeroPressure, ZeroVelocity,
};
use std::sync::Arc;

/// An equation with its conditions.
pub(super) struct Posed {
    pub(super) equation: Equation<f64>,
    pub(super) boundaries: Vec<BoundaryBinding<f64>>,
}

/// Gauss points along a line of a hexahedron: the work grows with the fourth power of their number.
const MOST_POINTS: usize = 10;

/// An operator on the mesh of a set-up, or on this rank's part of it. Collective.
pub(super) fn discretization(
    setup: &Setup,
    ranks: Option<&Arc<Ranks>>,
    scheme: &Scheme,
    Posed { equation, boundaries }: Posed,
    host: &Arc<Host>,
) -> Result<Discretization<f64>, OpsError> {
    let host = Arc::clone(host);
    match ranks {
        Some(ranks) => Discretization::on_ranks(ranks, scheme, equation, boundaries, host),
        None => Discretization::new(Arc::clone(setup.mesh.seen()), scheme, equation, boundaries, host),
    }
}

/// The space of an operator: the nodes of the elliptic operator, with a cubature that integrates it exactly
/// on affine elements. Degree 3p − 1 is exact on simplices, where a derivative lowers the degree of the test
/// function. On other shapes it does so in one direction only, and the rule of degree 3p has the same points
/// along a line in the volume and on faces, for which GPUs have fast kernels. On hexahedra of order 7 and 8
/// ten points a line must do, degree 19.
///
/// Operators whose loads must cancel those of boundary data, or be symmetric, leave the mass matrix to the
/// elliptic operator: on curved elements there is one for all terms of a step.
pub(super) fn scheme(pass: Pass, order: usize, mesh: &Mesh) -> Scheme {
    let has = |shape| mesh.sets.iter().any(|set| set.shape == shape);
    let simplices = mesh.sets.iter().all(|set| matches!(set.shape, Shape::Triangle | Shape::Tetrahedron));
    let face = match 2 * MOST_POINTS - 1 {
        most if has(Shape::Hexahedron) && order < MOST_POINTS - 1 => (3 * order).min(most),
        _ => 3 * order,
    };
    let volume = if simplices { (3 * order - 1).max(2 * order) } else { face };
    match pass {
        Pass::Convection | Pass::Scalar(_) | Pass::Transport | Pass::Stress => {
            let own = Scheme::on_elliptic_nodes(order);
            let (volume, face) = (Some(Cubature::Degree(volume)), Some(Cubature::Degree(face)));
            // The carrier of sub-steps is interpolated for each stage.
            Scheme { volume, face, given: pass == Pass::Transport, ..own }
        }
        Pass::Coupling | Pass::Elementwise | Pass::Penalty => Scheme::loads_on_elliptic_nodes(order),
    }
}

/// The same numbers everywhere.
struct Constant(Vec<f64>);

impl Exact for Constant {
    fn n_fields(&self) -> usize {
        self.0.len()
    }

    fn eval(&self, _: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        for (out, v) in out.iter_mut().zip(&self.0) {
            out.clear();
            out.resize(x.len(), *v);
        }
    }

    fn is_steady(&self) -> bool {
        true
    }

    fn recorded(&self) -> Option<Recording> {
        Some(Recording::new(|_, _| self.0.iter().map(|v| Sym::lit(*v)).collect::<Vec<_>>()))
    }
}

/// The fields of a solution, and all of them once more.
struct Twice(Arc<dyn Exact>);

impl Exact for Twice {
    fn n_fields(&self) -> usize {
        2 * self.0.n_fields()
    }

    fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        let n = self.0.n_fields();
        self.0.eval(t, x, &mut out[..n]);
        let (first, second) = out.split_at_mut(n);
        second.iter_mut().zip(first).for_each(|(copy, values)| copy.clone_from(values));
    }

    fn is_steady(&self) -> bool {
        self.0.is_steady()
    }

    fn recorded(&self) -> Option<Recording> {
        let once = self.0.recorded()?;
        Some(Recording::new(|t, x| {
            let values = once.eval(t, &x);
            values.iter().chain(&values).copied().collect::<Vec<Sym>>()
        }))
    }
}

/// The velocity of a no-slip wall that moves.
struct Moving {
    velocity: [Given; 3],
    data: Option<Arc<dyn Exact>>,
    fields: usize,
}

impl Exact for Moving {
    fn n_fields(&self) -> usize {
        self.fields
    }

    fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        let mut values = Vec::new();
        if let Some(data) = &self.data {
            values = vec![Vec::new(); data.n_fields()];
            data.eval(t, x, &mut values);
        }
        for (d, out) in out.iter_mut().enumerate() {
            out.clear();
            match (self.velocity.get(d), values.get_mut(d)) {
                (Some(Given::Constant(v)), _) => out.resize(x.len(), *v),
                (Some(Given::Prescribed), Some(values)) => out.append(values),
                _ => out.resize(x.len(), 0.0),
            }
        }
    }

    fn is_steady(&self) -> bool {
        self.data.as_ref().is_none_or(|data| data.is_steady())
    }
}

/// The prescribed velocity of a wall, as the first `dim` of `fields` fields.
fn velocity(kind: &BoundaryKind, dim: usize, fields: usize) -> Option<Arc<dyn Exact>> {
    match kind {
        BoundaryKind::Prescribed(exact) if fields < exact.n_fields() => {
            Some(Arc::new(FirstFields { of: Arc::clone(exact), n: fields }))
        }
        BoundaryKind::Prescribed(exact) => Some(Arc::clone(exact)),
        BoundaryKind::NoSlipWall { velocity: None, .. } => Some(Arc::new(Constant(vec![0.0; fields]))),
        BoundaryKind::NoSlipWall { velocity: Some(velocity), data, .. } => {
            let mut velocity = *velocity;
            velocity.iter_mut().skip(dim).for_each(|v| *v = Given::Constant(0.0));
            Some(match velocity {
                [Given::Constant(x), Given::Constant(y), Given::Constant(z)] => {
                    let mut constant = vec![x, y, z];
                    constant.truncate(dim);
                    constant.resize(fields, 0.0);
                    Arc::new(Constant(constant))
                }
                _ => Arc::new(Moving { velocity, data: data.clone(), fields }),
            })
        }
        _ => None,
    }
}

/// The prescribed velocity of a boundary, if it has one.
pub fn wall_velocity(kind: &BoundaryKind, dim: usize) -> Option<Arc<dyn Exact>> {
    velocity(kind, dim, dim)
}

/// The state as output and norms see it: the law of the state with the given boundary data.
pub(super) fn state(setup: &Setup, law: &Incompressible) -> Result<Posed, SystemError> {
    let flow = Law { viscosity: law.viscosity };
    match (setup.mesh.dim(), law.scalars.len()) {
        (2, 0) => posed_state::<2, 3>(setup, flow),
        (_, 0) => posed_state::<3, 4>(setup, flow),
        (2, 1) => scalars::state::<1, 2, 4>(setup, law),
        (2, 2) => scalars::state::<2, 2, 5>(setup, law),
        (2, 3) => scalars::state::<3, 2, 6>(setup, law),
        (3, 1) => scalars::state::<1, 3, 5>(setup, law),
        (3, 2) => scalars::state::<2, 3, 6>(setup, law),
        (3, 3) => scalars::state::<3, 3, 7>(setup, law),
        (_, more) => {
            let what = format!("with {more} scalars; it carries {MOST_SCALARS} at most");
            Err(SystemError::Unavailable { law: "incompressible", what })
        }
    }
}

fn posed_state<const D: usize, const N: usize>(setup: &Setup, law: Law) -> Result<Posed, SystemError>
where
    Law: dgsuite_physics::Law<D, N>,
    GivenVelocity: dgsuite_physics::Boundary<Law, D, N>,
    ZeroNormalVelocity: dgsuite_physics::Boundary<Law, D, N>,
{
    let flux = Central;
    let boundaries = bound(setup, |_, kind, role| {
        let kernel: Box<dyn BoundaryKernel<f64>> = match role {
            Role::Wall => Box::new(BoundaryOf::<_, _, D, N> { law, condition: GivenVelocity }),
            Role::Symmetry => Box::new(BoundaryOf::<_, _, D, N> { law, condition: ZeroNormalVelocity }),
            Role::Open => Box::new(BoundaryOf::<_, _, D, N> { law, condition: Outflow }),
        };
        (kernel, velocity(kind, D, N))
    })?;
    Ok(Posed { equation: Box::new(Pointwise::<_, _, D, N> { law, flux }).into(), boundaries })
}

/// One binding for each boundary of the set-up.
fn bound(
    setup: &Setup,
    condition: impl Fn(&str, &BoundaryKind, Role) -> (Box<dyn BoundaryKernel<f64>>, Option<Arc<dyn Exact>>),
) -> Result<Vec<BoundaryBinding<f64>>, SystemError> {
    setup
        .boundaries
        .iter()
        .map(|(name, kind)| {
            let role = Role::of(kind).ok_or_else(|| SystemError::BoundaryNotForLaw {
                boundary: name.clone(),
                condition: kind.name(),
                law: setup.law.name(),
            })?;
            let (kernel, data) = condition(name, kind, role);
            Ok(BoundaryBinding { name: name.clone(), kernel, data })
        })
        .collect()
}

/// The equation of a first-order operator.
pub(super) fn posed(pass: Pass, setup: &Setup, law: &Incompressible) -> Result<Posed, SystemError> {
    match setup.mesh.dim() {
        2 => in_dim::<2, 3, 4, 4>(pass, setup, law),
        _ => in_dim::<3, 4, 5, 6>(pass, setup, law),
    }
}

fn in_dim<const D: usize, const N: usize, const P: usize, const T: usize>(
    pass: Pass,
    setup: &Setup,
    law: &Incompressible,
) -> Result<Posed, SystemError>
where
    Convection: dgsuite_physics::Law<D, D>,
    Law: dgsuite_physics::Law<D, N>,
    Penalty: dgsuite_physics::Law<D, P>,
    ZeroNormalVelocity: dgsuite_physics::Boundary<Convection, D, D> + dgsuite_physics::Boundary<Law, D, N>,
    InflowProtected: dgsuite_physics::Boundary<Convection, D, D>,
    ZeroVelocity: dgsuite_physics::Boundary<Law, D, N>,
    ZeroPressure: dgsuite_physics::Boundary<Law, D, N>,
    PenaltyFlux: dgsuite_physics::NumericalFlux<Penalty, D, P>,
    AdvectiveFlux: dgsuite_physics::NumericalFlux<Transport, D, T>,
    Transport: dgsuite_physics::Law<D, T>,
    TransportFlux: dgsuite_physics::NumericalFlux<Transport, D, T>,
    ZeroNormalVelocity: dgsuite_physics::Boundary<Transport, D, T>,
    InflowProtected: dgsuite_physics::Boundary<Transport, D, T>,
{
    macro_rules! of {
        ($law:expr, $flux:expr, $condition:expr, $n:ident) => {
            Box::new(BoundaryOf::<_, _, D, $n> { law: $law, condition: $condition })
                as Box<dyn BoundaryKernel<f64>>
        };
    }
    let coupling = Law { viscosity: law.viscosity };
    Ok(match pass {
        Pass::Convection => {
            let (law, flux) = (Convection { factor: law.lax_friedrichs }, Rusanov);
            let boundaries = bound(setup, |_, kind, role| match (role, kind) {
                (Role::Wall, kind) => (of!(law, flux, Prescribed, D), velocity(kind, D, D)),
                (Role::Symmetry, _) => (of!(law, flux, ZeroNormalVelocity, D), None),
                (Role::Open, BoundaryKind::Open { data: Some(exact), .. }) => {
                    let data = FirstFields { of: Arc::clone(exact), n: D };
                    (of!(law, flux, InflowProtected, D), Some(Arc::new(data) as Arc<dyn Exact>))
                }
                (Role::Open, _) => (of!(law, flux, Outflow, D), None),
            })?;
            Posed { equation: Box::new(Pointwise::<_, _, D, D> { law, flux }).into(), boundaries }
        }
        Pass::Transport => {
            let (law, flux) = (Transport { factor: law.lax_friedrichs }, TransportFlux);
            let twice = |of: Option<Arc<dyn Exact>>| of.map(|of| Arc::new(Twice(of)) as Arc<dyn Exact>);
            let boundaries = bound(setup, |_, kind, role| match (role, kind) {
                (Role::Wall, kind) => (of!(law, flux, Prescribed, T), twice(velocity(kind, D, D))),
                (Role::Symmetry, _) => (of!(law, flux, ZeroNormalVelocity, T), None),
                (Role::Open, BoundaryKind::Open { data: Some(exact), .. }) => {
                    let data = FirstFields { of: Arc::clone(exact), n: D };
                    (of!(law, flux, InflowProtected, T), twice(Some(Arc::new(data))))
                }
                (Role::Open, _) => (of!(law, flux, Outflow, T), None),
            })?;
            Posed { equation: Box::new(Pointwise::<_, _, D, T> { law, flux }).into(), boundaries }
        }
        Pass::Scalar(k) => scalars::convection::<D, T>(k, setup, law)?,
        Pass::Stress => stress::posed(setup, law)?,
        Pass::Coupling => {
            let (law, flux) = (coupling, Central);
            let boundaries = bound(setup, |_, _, role| match role {
                Role::Wall => (of!(law, flux, ZeroVelocity, N), None),
                Role::Symmetry => (of!(law, flux, ZeroNormalVelocity, N), None),
                Role::Open => (of!(law, flux, ZeroPressure, N), None),
            })?;
            Posed { equation: Box::new(Pointwise::<_, _, D, N> { law, flux }).into(), boundaries }
        }
        Pass::Elementwise => {
            let (law, flux) = (coupling, ElementwiseFlux);
            let boundaries = bound(setup, |_, _, _| (of!(law, flux, Outflow, N), None))?;
            Posed { equation: Box::new(Pointwise::<_, _, D, N> { law, flux }).into(), boundaries }
        }
        Pass::Penalty => {
            let (law, flux) = (Penalty, PenaltyFlux);
            let boundaries = bound(setup, |_, _, _| (of!(law, flux, Outflow, P), None))?;
            Posed { equation: Box::new(Pointwise::<_, _, D, P> { law, flux }).into(), boundaries }
        }
    })
}
