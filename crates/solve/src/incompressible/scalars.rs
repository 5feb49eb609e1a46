//! Scalars that the flow carries: convection is explicit, diffusion implicit, as those of the velocity.
//!
//! With backward differences `(γ, α)` and extrapolation `β` of the step, and `s = γ/Δt`,
//!
//! ```text
//! (s − a∇²) Tⁿ⁺¹ = Σ α_i Tⁿ⁻ⁱ/Δt − Σ β_i c(Tⁿ⁻ⁱ) + qⁿ⁺¹
//! c(T) = ∇·(u T) − ⟨T⟩ ∇·u
//! ```
//!
//! with the mean `⟨T⟩` over the domain. Both divergences have the same form, weak, with the flux of sub-steps
//! of the velocity, so that `c` is the convection of `T − ⟨T⟩`: a uniform scalar stays uniform to rounding
//! although the velocity is free of divergence up to the error of the discretisation only, a constant that
//! is added to T changes nothing else, and `∫T` is conserved where nothing passes the boundary.
//!
//! The scalars are computed first in a step, so that buoyancy acts with `Tⁿ⁺¹`.

mod boundary;

use self::boundary::Conditions;
use super::components::Components;
use super::forcing::Forcing;
use super::helmholtz::{HelmholtzSolver, stop};
use super::machine::{Machine, Pass};
use super::mean::Mean;
use crate::SystemError;
use crate::setup::{Incompressible, ScalarData, VelocityOptions};
use crate::solves::LinearSystem;
use dgsuite_gpu::{GpuError, Vector};
use dgsuite_ops::OpsError;
use dgsuite_ops::elliptic::Sipdg;
use dgsuite_timeint::Weights;
use std::sync::Arc;

/// A scalar with its past.
pub(super) struct CarriedScalar<M: Machine> {
    number: usize,
    options: VelocityOptions,
    solver: HelmholtzSolver<M>,
    conditions: Conditions<M::V>,
    source: Option<Forcing<M::V>>,
    mean: Mean<M::V>,
    /// Values and convective terms of the last times, the latest first. The convective term of the latest
    /// time is computed by the next step.
    pub(super) values: Vec<M::V>,
    pub(super) convection: Vec<M::V>,
    /// The values of the step in work.
    next: Components<M::V>,
    b: Components<M::V>,
    work: M::V,
}

impl<M: Machine> CarriedScalar<M> {
    /// Scalar `number` of a law with the values `initial`; `one` is the constant 1.
    pub(super) fn new(
        machine: &M,
        sipdg: &Sipdg<f64>,
        (law, number, data): (&Incompressible, usize, &ScalarData),
        one: &M::V,
        initial: M::V,
    ) -> Result<Self, SystemError> {
        let first = sipdg.mesh().dim + number;
        let diffusivity = law.scalars[number].diffusivity;
        let times = law.kept_times();
        let past = || (0..times).map(|_| initial.zeros_like()).collect::<Result<Vec<_>, _>>();
        let (mut values, convection) = (past()?, past()?);
        let (work, mean) = (initial.zeros_like()?, Mean::new(machine, one)?);
        let (next, b) = (Components(vec![initial.zeros_like()?]), Components(vec![initial.zeros_like()?]));
        let forcing = |source| Forcing::new(Arc::clone(source), sipdg, &next);
        let source = data.source.as_ref().map(forcing).transpose()?;
        let preconditioner = law.velocity.preconditioner;
        let solver = HelmholtzSolver::new(machine, (first, &next), None, diffusivity, preconditioner)?;
        values[0] = initial;
        Ok(Self {
            number,
            options: law.velocity,
            solver,
            conditions: Conditions::new(machine, sipdg, data, diffusivity)?,
            source,
            mean,
            values,
            convection,
            next,
            b,
            work,
        })
    }

    /// `−c(T)` of the present scalar and velocity `u`.
    fn convect(&mut self, machine: &mut M, t: f64, u: &Components<M::V>) -> Result<(), OpsError> {
        let dim = u.0.len();
        let mut inputs = vec![(0, &self.values[0]), (1, &self.mean.one)];
        inputs.extend(u.0.iter().enumerate().map(|(d, u)| (dim + d, u)));
        let out = &mut self.convection[0];
        machine.pass(Pass::Scalar(self.number), t, &inputs, &mut [(0, out), (1, &mut self.work)])?;
        let mean = self.mean.of(&self.values[0]);
        out.axpby(-mean, &self.work, 1.0);
        Ok(())
    }

    /// Computes the scalar at the end of a step from `t` to `t + dt`, in which [`next`](Self::next) is. `u`
    /// is the velocity at its beginning. Returns the iterations.
    pub(super) fn step(
        &mut self,
        machine: &mut M,
        (t, dt): (f64, f64),
        w: &Weights,
        u: &Components<M::V>,
    ) -> Result<u64, SystemError> {
        self.convect(machine, t, u)?;
        let (end, s) = (t + dt, w.gamma / dt);
        let past = self.values.len();
        let used = |weights: &[f64]| (0..past).filter(|&i| weights[i] != 0.0).collect::<Vec<_>>();
        let mut terms: Vec<(f64, &M::V)> = Vec::with_capacity(2 * past);
        terms.extend(used(&w.alpha).into_iter().map(|i| (w.alpha[i] / dt, &self.values[i])));
        terms.extend(used(&w.beta).into_iter().map(|i| (w.beta[i], &self.convection[i])));
        self.work.lincomb(0.0, &terms);
        if let Some(source) = &mut self.source {
            self.work.axpby(1.0, &source.at(machine, end)?.0[0], 1.0);
        }
        machine.mass(&self.work, &mut self.b.0[0]);
        self.conditions.add(machine, end, &mut self.b.0[0])?;
        // The guess.
        let terms: Vec<_> = used(&w.beta).into_iter().map(|i| (w.beta[i], &self.values[i])).collect();
        self.next.0[0].lincomb(0.0, &terms);
        let stop = stop(self.options.tolerance, self.options.max_iterations, 0.0);
        let of = (&*machine, LinearSystem::Scalars);
        Ok(self.solver.solve(of, s, &self.b, &mut self.next, &stop)?.iterations as u64)
    }

    /// The value at the end of the step that has been computed.
    pub(super) fn next(&self) -> &M::V {
        &self.next.0[0]
    }

    /// Accepts the step.
    pub(super) fn accept(&mut self) {
        self.values.rotate_right(1);
        self.convection.rotate_right(1);
        std::mem::swap(&mut self.values[0], &mut self.next.0[0]);
    }

    /// The fields of past time `i`.
    pub(super) fn past(&self, i: usize) -> [&M::V; 2] {
        [&self.values[i], &self.convection[i]]
    }

    /// Replaces the fields of past time `i`.
    pub(super) fn set_past(&mut self, i: usize, [value, convection]: [M::V; 2]) {
        (self.values[i], self.convection[i]) = (value, convection);
    }

    /// Number of vectors.
    pub(super) fn vectors(&self) -> usize {
        2 * self.values.len() + 4 + 4
    }
}

/// Adds the force of buoyancy of the temperature `t`, times `factor`, to `u`; `one` is the constant 1.
pub(super) fn add_buoyancy<V: Vector<Scalar = f64>>(
    of: &crate::setup::Buoyancy,
    factor: f64,
    (t, one): (&V, &V),
    u: &mut Components<V>,
) {
    for (u, g) in u.0.iter_mut().zip(of.gravity).filter(|(_, g)| *g != 0.0) {
        let weight = factor * of.expansion * g;
        u.lincomb(1.0, &[(-weight, t), (weight * of.reference, one)]);
    }
}

/// The vectors of scalars for a machine.
pub(super) type Scalars<M> = Vec<CarriedScalar<M>>;

/// Uploads the past fields of a restart.
pub(super) fn upload<M: Machine>(machine: &M, fields: &[Vec<f64>]) -> Result<[M::V; 2], GpuError> {
    Ok([machine.upload(&fields[0])?, machine.upload(&fields[1])?])
}
