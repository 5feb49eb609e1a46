//! The flow on a boundary: primitive variables, viscous stress and heat flux at the points of its faces.

use crate::post::{Surface, dot};
use crate::setup::{BoundaryKind, Law};
use dgsuite_ops::BoundarySamples;
use dgsuite_physics::incompressible::wall_force;

/// Returns the flow at the points of a boundary; `primitive` turns a conserved state into a primitive one.
///
/// Stress and heat come from the diffusive flux of the scheme, `(0, τ·n, v·τ·n − q·n)`. For incompressible
/// flow the stress is `τ = ν (∇u + ∇uᵀ)` of the lifted gradient, and the heat `−α ∂T/∂n` of the first scalar,
/// with the viscosity of the fluid, and the eddy viscosity and diffusivity of a closure.
/// On the wall of a gas the pressure is that of the scheme too: the normal component of its momentum flux, so
/// that the forces balance the momentum of the flow. On other boundaries it is the pressure of the inner
/// state.
pub(crate) fn surface(
    samples: BoundarySamples,
    law: &Law,
    kind: Option<&BoundaryKind>,
    dim: usize,
    primitive: impl Fn(&[f64], &mut [f64]),
) -> Surface {
    let n = samples.points.len();
    let fields = samples.inner.first().map_or(0, Vec::len);
    let mut values = vec![vec![0.0; n]; fields];
    let mut w = vec![0.0; fields];
    for (i, u) in samples.inner.iter().enumerate() {
        primitive(u, &mut w);
        for k in 0..fields {
            values[k][i] = w[k];
        }
    }
    let momentum =
        |flux: &[f64]| -> [f64; 3] { std::array::from_fn(|d| if d < dim { flux[1 + d] } else { 0.0 }) };
    let wall = match kind {
        Some(
            BoundaryKind::SlipWall
            | BoundaryKind::CurvedSlipWall { .. }
            | BoundaryKind::Symmetry
            | BoundaryKind::NoSlipWall { .. },
        ) => true,
        Some(BoundaryKind::Own(condition)) => condition.is_wall(),
        _ => false,
    };
    if let (true, Some(pressure)) = (wall && law.gas().is_some(), values.last_mut()) {
        for (i, p) in pressure.iter_mut().enumerate() {
            *p = dot(momentum(&samples.inviscid[i]), samples.normals[i]);
        }
    }
    let (mut traction, mut heat) = (Vec::new(), Vec::new());
    let modelled = matches!(kind, Some(BoundaryKind::Own(own)) if own.height().is_some());
    if let Law::Incompressible(law) = law {
        let stress = if dim == 2 { stress::<2> } else { stress::<3> };
        let gradients = samples.gradients.iter().zip(&samples.normals);
        traction = match modelled {
            // Of the model, not of the gradient.
            true => samples.diffusive.iter().map(|t| in_space(&t[..dim])).collect(),
            false => gradients.clone().map(|(grad, n)| stress(law.viscosity, grad, n)).collect(),
        };
        if let Some(scalar) = law.scalars.first() {
            let slope =
                |grad: &[Vec<f64>], n: &[f64; 3]| (0..dim).map(|d| grad[d][dim + 1] * n[d]).sum::<f64>();
            heat = gradients.map(|(grad, n)| -scalar.diffusivity * slope(grad, n)).collect();
        }
        // Of a closure or a viscosity that varies, beside the constant viscosity and diffusivity.
        if law.variable_viscosity().is_some() && !modelled {
            for (i, flux) in samples.diffusive.iter().enumerate() {
                (0..dim).for_each(|d| traction[i][d] += flux[d]);
                heat.iter_mut().skip(i).take(1).for_each(|heat| *heat -= flux[dim + 1]);
            }
        }
    }
    if let Law::NavierStokes(_) = law {
        let velocity = match kind {
            Some(BoundaryKind::Own(own)) => own.velocity().unwrap_or_default(),
            _ => [0.0; 3],
        };
        for ((flux, u), n) in samples.diffusive.iter().zip(&samples.states).zip(&samples.normals) {
            let stress = momentum(flux);
            // The work at a wall with a model is that of the wall, not of the slip.
            let along = |w: [f64; 3]| dot(stress, w) - dot(stress, *n) * dot(w, *n);
            let work = if modelled { along(velocity) } else { dot(stress, momentum(u)) / u[0] };
            heat.push(work - flux[fields - 1]);
            traction.push(stress);
        }
    }
    // Density and kinematic viscosity at each point.
    let fluid = |i: usize| match law {
        Law::NavierStokes(viscous) => {
            let (rho, p) = (values[0][i], values[dim + 1][i]);
            (rho, viscous.viscosity_at(p / ((viscous.gas.gamma - 1.0) * rho)) / rho)
        }
        Law::Incompressible(law) => (1.0, law.viscosity_at(&samples.states[i], &samples.gradients[i])),
        _ => (1.0, f64::INFINITY),
    };
    let (mut u_tau, mut y_plus) = (Vec::new(), Vec::new());
    for (i, (stress, n)) in traction.iter().zip(&samples.normals).enumerate() {
        let normal = dot(*stress, *n);
        let along: [f64; 3] = std::array::from_fn(|d| stress[d] - normal * n[d]);
        let (rho, nu) = fluid(i);
        u_tau.push((dot(along, along).sqrt() / rho).sqrt());
        y_plus.push(u_tau[i] * samples.distances.get(i).copied().unwrap_or(0.0) / nu);
    }
    Surface {
        u_tau,
        y_plus,
        first: samples.first,
        points: samples.points,
        normals: samples.normals,
        weights: samples.weights,
        values,
        scalars: if let Law::Incompressible(law) = law { law.scalars.len() } else { 0 },
        traction,
        heat,
    }
}

/// A vector of the plane or of space.
fn in_space(of: &[f64]) -> [f64; 3] {
    std::array::from_fn(|d| of.get(d).copied().unwrap_or(0.0))
}

/// Returns `τ·n` with `τ = ν (∇u + ∇uᵀ)`, from the gradient of the state `(u_1, …, u_D, p)`, `[axis][field]`.
fn stress<const D: usize>(viscosity: f64, grad: &[Vec<f64>], n: &[f64; 3]) -> [f64; 3] {
    let grad: [[f64; D]; D] = std::array::from_fn(|d| std::array::from_fn(|i| grad[d][i]));
    let (_, friction) = wall_force(viscosity, 0.0, &grad, &std::array::from_fn(|d| n[d]));
    std::array::from_fn(|d| if d < D { -friction[d] } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incompressible::Incompressible;
    use dgsuite_physics::navier_stokes::Viscosity;
    use dgsuite_physics::{Diffusion as _, Euler, Law as _, NavierStokes};

    #[test]
    fn a_sheared_and_heated_gas_pulls_and_warms_its_wall() {
        // At the wall y = 0 with the normal −y: ∂u/∂y = 3, ρ = p = 1, ∂ρ/∂y = −2 at constant pressure:
        // ∂T/∂y = 2.
        let (gas, viscosity) = (Euler { gamma: 1.4 }, Viscosity::Constant { mu: 0.1 });
        let viscous = NavierStokes { gas, prandtl: 0.7, viscosity, gas_constant: 1.0, closure: None };
        let (state, n) = ([1.0, 0.0, 0.0, 2.5], [0.0, -1.0]);
        let flux = viscous.normal_diffusive_flux(&state, &[[0.0; 4], [-2.0, 3.0, 0.0, 0.0]], &n);
        let samples = BoundarySamples {
            first: vec![0, 1],
            points: vec![[0.5, 0.0, 0.0]],
            normals: vec![[0.0, -1.0, 0.0]],
            weights: vec![1.0],
            inner: vec![state.to_vec()],
            states: vec![state.to_vec()],
            inviscid: vec![vec![0.0, 0.0, -1.25, 0.0]],
            diffusive: vec![flux.to_vec()],
            ..BoundarySamples::default()
        };
        let wall = BoundaryKind::NoSlipWall { velocity: None, temperature: Some(1.0.into()), data: None };
        let primitive =
            |u: &[f64], w: &mut [f64]| w.copy_from_slice(&gas.to_primitive(&[u[0], u[1], u[2], u[3]]));
        let law = Law::NavierStokes(viscous);
        let surface = |kind: &BoundaryKind| surface(samples.clone(), &law, Some(kind), 2, primitive);
        let at_wall = surface(&wall);
        assert_eq!(at_wall.pressure(), [1.25], "the scheme's own on a wall");
        assert!((surface(&BoundaryKind::Outflow).pressure()[0] - 1.0).abs() < 1e-15);
        assert!((at_wall.traction[0][0] + 0.3).abs() < 1e-15 && at_wall.traction[0][1].abs() < 1e-15);
        // q·n = −κ ∂T/∂n, κ = μ c_p/Pr = 0.1 · 3.5/0.7, ∂T/∂n = −2: heat flows into the wall.
        assert!((at_wall.heat[0] - 1.0).abs() < 1e-14, "{:?}", at_wall.heat);
    }

    #[test]
    fn a_sheared_incompressible_fluid_pulls_its_wall() {
        // At the wall y = 0 with the normal −y: ∂u/∂y = 3, ∂v/∂x = 1, p = 2; the unknowns are u, v, p.
        let samples = BoundarySamples {
            first: vec![0, 1],
            points: vec![[0.5, 0.0, 0.0]],
            normals: vec![[0.0, -1.0, 0.0]],
            weights: vec![1.0],
            inner: vec![vec![0.0, 0.0, 2.0]],
            states: vec![vec![0.0, 0.0, 2.0]],
            gradients: vec![vec![vec![0.0, 1.0, 9.0], vec![3.0, 0.0, 9.0]]],
            inviscid: vec![vec![0.0; 3]],
            diffusive: vec![vec![0.0; 3]],
            ..BoundarySamples::default()
        };
        let law = Law::Incompressible(Incompressible::new(0.1));
        let primitive = |u: &[f64], w: &mut [f64]| w.copy_from_slice(u);
        let wall = BoundaryKind::NoSlipWall { velocity: None, temperature: None, data: None };
        let at_wall = surface(samples, &law, Some(&wall), 2, primitive);
        assert_eq!(at_wall.pressure(), [2.0]);
        assert_eq!(at_wall.traction, [[-0.1 * 4.0, 0.0, 0.0]]);
        assert!(at_wall.heat.is_empty());
    }
}
