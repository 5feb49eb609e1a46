//! The equation of the stress of a closure or of a viscosity that varies, and of the fluxes of scalars.

use super::scalars::Joined;
use super::{Constant, Posed, bound, velocity};
use crate::SystemError;
use crate::incompressible::role::Role;
use crate::setup::{Incompressible, ScalarCondition, Setup};
use dgsuite_ops::{
    BoundaryKernel, BoundaryOf, Diffusive, DiffusiveBoundaryOf, Equation, Pointwise, WithDiffusion,
};
use dgsuite_physics::incompressible::{NoFlux, VariableViscosity};
use dgsuite_physics::{Central, Exact, Outflow, StressThere, VelocityThere};
use std::sync::Arc;

/// The equation with its conditions.
pub(super) fn posed(setup: &Setup, law: &Incompressible) -> Result<Posed, SystemError> {
    let Some(stress) = law.variable_viscosity() else {
        return Err(SystemError::Unavailable { law: "incompressible", what: "as a stress".to_owned() });
    };
    // With two scalars the third field is zero: each number of fields is compiled for itself.
    match (setup.mesh.dim(), law.scalars.len()) {
        (2, 0) => of_fields::<2, 2>(setup, stress),
        (2, 1) => of_fields::<2, 3>(setup, stress),
        (2, _) => of_fields::<2, 5>(setup, stress),
        (_, 0) => of_fields::<3, 3>(setup, stress),
        (_, 1) => of_fields::<3, 4>(setup, stress),
        (_, _) => of_fields::<3, 6>(setup, stress),
    }
}

fn of_fields<const D: usize, const N: usize>(
    setup: &Setup,
    diffusion: VariableViscosity,
) -> Result<Posed, SystemError> {
    let law = NoFlux;
    let boundaries = bound(setup, |name, kind, role| {
        let given = |k: usize| match setup.scalars.get(k)?.conditions.get(name)? {
            ScalarCondition::Value(value) if D + k < N => Some(Arc::clone(value)),
            _ => None,
        };
        let scalars: [_; 3] = std::array::from_fn(given);
        let there = match role {
            Role::Wall => VelocityThere::Given,
            Role::Symmetry => VelocityThere::Sliding,
            Role::Open => VelocityThere::Open,
        };
        let condition = StressThere { velocity: there, scalars: scalars.each_ref().map(Option::is_some) };
        let constant = |n: usize| Arc::new(Constant(vec![0.0; n])) as Arc<dyn Exact>;
        let mut parts = vec![velocity(kind, D, D).unwrap_or_else(|| constant(D))];
        let values = scalars.into_iter().take(N - D);
        parts.extend(values.map(|value| value.unwrap_or_else(|| constant(1))));
        let kernel = WithDiffusion {
            inviscid: Box::new(BoundaryOf::<_, _, D, N> { law, condition: Outflow }),
            diffusive: Box::new(DiffusiveBoundaryOf::<_, _, D, N> {
                diffusion: diffusion.clone(),
                condition,
            }),
        };
        (Box::new(kernel) as Box<dyn BoundaryKernel<f64>>, Some(Arc::new(Joined(parts)) as Arc<dyn Exact>))
    })?;
    let equation = Equation::<f64>::from(Box::new(Pointwise::<_, _, D, N> { law, flux: Central }));
    let equation = equation.with_diffusion(Box::new(Diffusive::<_, D, N> { diffusion }));
    Ok(Posed { equation: Equation { length: setup.filter_width.clone(), ..equation }, boundaries })
}
