//! The equations of scalars: their convection, and the state that has them.

use super::{Constant, Posed, bound, velocity};
use crate::SystemError;
use crate::incompressible::role::Role;
use crate::setup::{Incompressible, ScalarCondition, ScalarData, Setup};
use dgsuite_ops::{BoundaryKernel, BoundaryOf, Pointwise};
use dgsuite_physics::incompressible::AdvectiveFlux;
use dgsuite_physics::incompressible::WithScalars;
use dgsuite_physics::trace::{Recording, Sym};
use dgsuite_physics::{CarriedIn, Central, Exact, GivenScalars, Law, Outflow, Transport, ZeroNormalVelocity};
use std::sync::Arc;

/// Solutions with one field or more, one after the other.
pub(super) struct Joined(pub(super) Vec<Arc<dyn Exact>>);

impl Exact for Joined {
    fn n_fields(&self) -> usize {
        self.0.iter().map(|of| of.n_fields()).sum()
    }

    fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        let mut rest = out;
        for of in &self.0 {
            let (own, others) = rest.split_at_mut(of.n_fields());
            of.eval(t, x, own);
            rest = others;
        }
    }

    fn is_steady(&self) -> bool {
        self.0.iter().all(|of| of.is_steady())
    }

    fn recorded(&self) -> Option<Recording> {
        let all = self.0.iter().map(|of| of.recorded()).collect::<Option<Vec<_>>>()?;
        Some(Recording::new(|t, x| all.iter().flat_map(|of| of.eval(t, &x)).collect::<Vec<Sym>>()))
    }
}

fn constant(values: Vec<f64>) -> Arc<dyn Exact> {
    Arc::new(Constant(values))
}

/// The value that a condition prescribes, of the fluid or of fluid that enters.
fn value(data: &ScalarData, name: &str) -> Option<Arc<dyn Exact>> {
    match data.conditions.get(name)? {
        ScalarCondition::Value(value) | ScalarCondition::Inflow(value) => Some(Arc::clone(value)),
        ScalarCondition::Flux(_) | ScalarCondition::Transfer { .. } => None,
    }
}

/// Convection of scalar `k` in `D` dimensions, with the constant 1 beside it.
pub(super) fn convection<const D: usize, const T: usize>(
    k: usize,
    setup: &Setup,
    law: &Incompressible,
) -> Result<Posed, SystemError>
where
    Transport: Law<D, T>,
    AdvectiveFlux: dgsuite_physics::NumericalFlux<Transport, D, T>,
{
    let (law, flux, none) = (Transport { factor: law.lax_friedrichs }, AdvectiveFlux, ScalarData::default());
    let data = setup.scalars.get(k).unwrap_or(&none);
    let boundaries = bound(setup, |name, kind, role| {
        let given = value(data, name);
        let by = match role {
            Role::Wall => velocity(kind, D, D),
            // Reversed velocities carry nothing through the boundary.
            Role::Symmetry => Some(constant(vec![0.0; D])),
            Role::Open => None,
        };
        let condition = CarriedIn { velocity: by.is_some(), values: given.is_some() };
        let mut others = vec![0.0; D - 1];
        others[0] = 1.0;
        let parts = vec![
            given.unwrap_or_else(|| constant(vec![0.0])),
            constant(others),
            by.unwrap_or_else(|| constant(vec![0.0; D])),
        ];
        let kernel: Box<dyn BoundaryKernel<f64>> = Box::new(BoundaryOf::<_, _, D, T> { law, condition });
        (kernel, Some(Arc::new(Joined(parts)) as Arc<dyn Exact>))
    })?;
    Ok(Posed { equation: Box::new(Pointwise::<_, _, D, T> { law, flux }).into(), boundaries })
}

/// The state with `S` scalars, as output and norms see it.
pub(super) fn state<const S: usize, const D: usize, const N: usize>(
    setup: &Setup,
    law: &Incompressible,
) -> Result<Posed, SystemError>
where
    WithScalars<S>: Law<D, N>,
{
    let law = WithScalars { names: std::array::from_fn(|k| law.scalars[k].name) };
    let boundaries = bound(setup, |name, kind, role| {
        let fixed = |k: usize| match setup.scalars.get(k)?.conditions.get(name)? {
            ScalarCondition::Value(value) => Some(Arc::clone(value)),
            _ => None,
        };
        let scalars: [_; S] = std::array::from_fn(fixed);
        let given = scalars.each_ref().map(Option::is_some);
        let own = velocity(kind, D, D).filter(|_| role == Role::Wall);
        let kernel: Box<dyn BoundaryKernel<f64>> = match role {
            Role::Symmetry => Box::new(BoundaryOf::<_, _, D, N> { law, condition: ZeroNormalVelocity }),
            Role::Open if given == [false; S] => {
                Box::new(BoundaryOf::<_, _, D, N> { law, condition: Outflow })
            }
            _ => {
                let condition = GivenScalars { velocity: own.is_some(), scalars: given };
                Box::new(BoundaryOf::<_, _, D, N> { law, condition })
            }
        };
        let mut parts = vec![own.unwrap_or_else(|| constant(vec![0.0; D])), constant(vec![0.0])];
        parts.extend(scalars.into_iter().map(|value| value.unwrap_or_else(|| constant(vec![0.0]))));
        let data = (role != Role::Symmetry).then(|| Arc::new(Joined(parts)) as Arc<dyn Exact>);
        (kernel, data)
    })?;
    Ok(Posed { equation: Box::new(Pointwise::<_, _, D, N> { law, flux: Central }).into(), boundaries })
}
