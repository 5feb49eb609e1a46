//! Scalars that the flow carries: convection is explicit, diffusion implicit, as those of the velocity.
//!
//! With backward differences `(γ, α)` and extrapolation `β` of the step, and `s = γ/Δt`,
//!
//! ```text
//! (s − a∇²) Tⁿ⁺¹ = Σ α_i Tⁿ⁻ⁱ/Δt − Σ β_i c(Tⁿ⁻ⁱ) + qⁿ⁺¹
//! c(T) = ∇·(u T) − T ∇·u − m
//! ```
//!
//! The velocity is free of divergence for the functions of the pressure only. `∇·(u T)`, tested with a
//! function q, contains the divergence tested with `q T`, and a fluid at rest under a stable stratification
//! would be unstable: what the temperature gains by it, buoyancy does not lose. `T ∇·u` is taken off at the
//! points where q is tested, on faces by [`AdvectiveFlux`](dgsuite_physics::incompressible::AdvectiveFlux)
//! and in elements by the product of T at the nodes with the same operator applied to the constant 1. So a
//! uniform scalar stays uniform to rounding, and a constant that is added to T changes nothing else. Where
//! nothing passes the boundary, also where walls move in their plane, m is the mean of the rest over the
//! domain, so that `∫T` is conserved; elsewhere it is 0. Sub-steps leave m out, and restore the mean at the
//! end, which is the same.
//!
//! With sub-steps, `c` with the interpolated velocity ū carries past values as it does past velocities (see
//! [`subcycles`](super::subcycles)), and replaces the sums by `Σ α_i T_i(tⁿ⁺¹)/Δt`.
//!
//! A closure, or a diffusivity that varies, adds [its diffusive flux](stress).
//!
//! The scalars are computed first in a step, so that forces that depend on them act with `Tⁿ⁺¹`.

mod boundary;
pub(super) mod closed;
pub(super) mod stress;

use self::boundary::Conditions;
use self::stress::Stress;
use super::carrier::Carrier;
use super::components::Components;
use super::forcing::Forcing;
use super::helmholtz::{HelmholtzSolver, stop};
use super::machine::{Machine, Pass};
use super::mean::Mean;
use super::subcycles::{SCHEME, begins};
use crate::SystemError;
use crate::setup::{Incompressible, ScalarData, VelocityOptions};
use crate::solves::LinearSystem;
use dgsuite_gpu::{GpuError, Vector};
use dgsuite_ops::OpsError;
use dgsuite_ops::elliptic::Sipdg;
use dgsuite_timeint::{Multistep, Rhs, Stepper, Weights};
use std::sync::Arc;

/// A scalar with its past.
pub(super) struct CarriedScalar<M: Machine> {
    number: usize,
    options: VelocityOptions,
    solver: HelmholtzSolver<M>,
    conditions: Conditions<M::V>,
    source: Option<Forcing<M::V>>,
    mean: Mean<M::V>,
    /// Whether nothing passes the boundary.
    closed: bool,
    /// Values and convective terms of the last times, the latest first. The convective term of the latest
    /// time is computed by the next step. With sub-steps, the terms are the values themselves, carried to the
    /// present time.
    pub(super) values: Vec<M::V>,
    pub(super) convection: Vec<M::V>,
    /// The values of the step in work.
    next: Components<M::V>,
    b: Components<M::V>,
    work: M::V,
    /// Sub-steps of all past values at once, with the velocity that carries.
    substeps: Option<(Stepper<Components<M::V>>, Components<M::V>)>,
}

/// The velocities of past times, the latest first, with their times.
pub(super) struct Past<'a, V> {
    pub(super) u: &'a [Components<V>],
    pub(super) times: &'a Multistep,
    /// The number of sub-steps; 0 for none.
    pub(super) substeps: usize,
    /// The explicit diffusive fluxes of a closure, if there is one.
    pub(super) stress: Option<&'a Stress<V>>,
}

impl<M: Machine> CarriedScalar<M> {
    /// Scalar `number` of a law with the values `initial`; `one` is the constant 1, and the domain is
    /// `closed` if nothing passes its boundary.
    pub(super) fn new(
        machine: &M,
        sipdg: &Sipdg<f64>,
        (law, number, data): (&Incompressible, usize, &ScalarData),
        (one, velocity, closed): (&M::V, &Components<M::V>, bool),
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
        let substeps = match law.subcycles {
            None => None,
            Some(_) => {
                let all = (0..times).map(|_| values[0].zeros_like()).collect::<Result<_, _>>()?;
                Some((Stepper::new(SCHEME, &Components(all))?, velocity.zeros_like()?))
            }
        };
        Ok(Self {
            number,
            options: law.velocity,
            solver,
            conditions: Conditions::new(machine, sipdg, data, diffusivity)?,
            source,
            mean,
            closed,
            values,
            convection,
            next,
            b,
            work,
            substeps,
        })
    }

    /// `work ← Σ α_i Tⁿ⁻ⁱ/Δt − Σ β_i c(Tⁿ⁻ⁱ)` of a step from `t`.
    fn explicit(
        &mut self,
        machine: &mut M,
        (t, dt): (f64, f64),
        w: &Weights,
        u: &Components<M::V>,
    ) -> Result<(), OpsError> {
        let of = Convection { number: self.number, one: &self.mean.one };
        let rate = &mut self.convection[0];
        of.eval(machine, t, (&self.values[0], &u.0), (rate, &mut self.work))?;
        if self.closed {
            rate.axpby(-self.mean.of(rate), &self.mean.one, 1.0);
        }
        let past = self.values.len();
        let mut terms: Vec<(f64, &M::V)> = Vec::with_capacity(2 * past);
        terms.extend(used(&w.alpha, past).map(|i| (w.alpha[i] / dt, &self.values[i])));
        terms.extend(used(&w.beta, past).map(|i| (w.beta[i], &self.convection[i])));
        self.work.lincomb(0.0, &terms);
        Ok(())
    }

    /// The same by sub-steps. The fields in `convection` are the past values that were carried to time `t`;
    /// after the step they are at its end.
    fn carry(
        &mut self,
        machine: &mut M,
        (t, dt): (f64, f64),
        w: &Weights,
        past: &Past<'_, M::V>,
    ) -> Result<(), OpsError> {
        let Some((stepper, carrier)) = &mut self.substeps else { return Ok(()) };
        let order = past.times.available_order();
        let (begins, size) = begins((t, dt, past.substeps));
        self.convection[0].copy_from(&self.values[0]);
        let means = |fields: &[M::V]| -> Vec<f64> {
            if self.closed { fields.iter().map(|field| self.mean.of(field)).collect() } else { Vec::new() }
        };
        let before = means(&self.convection);
        let mut rhs = Carried {
            of: Convection { number: self.number, one: &self.mean.one },
            machine,
            carrier: Carrier {
                start: t,
                past: &past.u[..order],
                times: past.times,
                field: carrier,
                at: None,
            },
            work: &mut self.work,
        };
        let mut fields = Components(std::mem::take(&mut self.convection));
        let done = begins.iter().try_for_each(|&begin| stepper.step(&mut rhs, begin, size, &mut fields));
        self.convection = fields.0;
        done?;
        let after = means(&self.convection);
        for (field, (before, after)) in self.convection.iter_mut().zip(before.iter().zip(after)) {
            field.axpby(before - after, &self.mean.one, 1.0);
        }
        let terms: Vec<_> = (0..order).map(|i| (w.alpha[i] / dt, &self.convection[i])).collect();
        self.work.lincomb(0.0, &terms);
        Ok(())
    }

    /// Computes the scalar at the end of a step from `t` to `t + dt`, in which [`next`](Self::next) is, with
    /// the velocities at its beginning and before. Returns the iterations.
    pub(super) fn step(
        &mut self,
        machine: &mut M,
        (t, dt): (f64, f64),
        w: &Weights,
        past: &Past<'_, M::V>,
    ) -> Result<u64, SystemError> {
        match past.substeps {
            0 => self.explicit(machine, (t, dt), w, &past.u[0])?,
            _ => self.carry(machine, (t, dt), w, past)?,
        }
        if let Some(stress) = past.stress {
            stress.add_to_scalar(&w.beta, self.number, &mut self.work);
        }
        let (end, s) = (t + dt, w.gamma / dt);
        if let Some(source) = &mut self.source {
            self.work.axpby(1.0, &source.at(machine, end)?.0[0], 1.0);
        }
        machine.mass(&self.work, &mut self.b.0[0]);
        self.conditions.add(machine, end, &mut self.b.0[0])?;
        // The guess.
        let terms: Vec<_> = used(&w.beta, self.values.len()).map(|i| (w.beta[i], &self.values[i])).collect();
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
        let substeps = self.substeps.as_ref().map_or(0, |_| 2 * self.values.len());
        2 * self.values.len() + 6 + substeps
    }
}

/// The numbers of the times with a weight.
fn used(weights: &[f64], past: usize) -> impl Iterator<Item = usize> {
    (0..past).filter(|&i| weights[i] != 0.0)
}

/// `−c(T)` of a scalar, without m.
struct Convection<'a, V> {
    number: usize,
    one: &'a V,
}

impl<V: Vector<Scalar = f64>> Convection<'_, V> {
    /// Computes it for the scalar `x` and the velocity `by`.
    fn eval<M: Machine<V = V>>(
        &self,
        machine: &mut M,
        t: f64,
        (x, by): (&V, &[V]),
        (out, work): (&mut V, &mut V),
    ) -> Result<(), OpsError> {
        let mut inputs = vec![(0, x), (1, self.one)];
        inputs.extend(by.iter().enumerate().map(|(d, u)| (by.len() + d, u)));
        machine.pass(Pass::Scalar(self.number), t, &inputs, &mut [(0, out), (1, work)])?;
        out.add_product(-1.0, x, work, 1.0);
        Ok(())
    }
}

/// The same with the velocity of a carrier.
struct Carried<'a, M: Machine> {
    of: Convection<'a, M::V>,
    machine: &'a mut M,
    carrier: Carrier<'a, M::V>,
    work: &'a mut M::V,
}

impl<M: Machine> Rhs for Carried<'_, M> {
    type Vector = Components<M::V>;
    type Error = OpsError;

    fn eval(&mut self, t: f64, u: &Self::Vector, du: &mut Self::Vector) -> Result<(), OpsError> {
        let Self { of, machine, carrier, work } = self;
        let by = carrier.at(t);
        let mut fields = u.0.iter().zip(&mut du.0);
        fields.try_for_each(|(u, du)| of.eval(*machine, t, (u, by), (du, work)))
    }
}

/// The vectors of scalars for a machine.
pub(super) type Scalars<M> = Vec<CarriedScalar<M>>;

/// Uploads the past fields of a restart.
pub(super) fn upload<M: Machine>(machine: &M, fields: &[Vec<f64>]) -> Result<[M::V; 2], GpuError> {
    Ok([machine.upload(&fields[0])?, machine.upload(&fields[1])?])
}
