//! The steps of incompressible flow: splitting schemes over the operations of a machine.
//!
//! With backward differences `(γ, α)` and extrapolation `β` of order J, and `s = γ/Δt`, a step begins with
//!
//! ```text
//! R = Σ α_i uⁿ⁻ⁱ/Δt − Σ β_i ∇·(u ⊗ u)ⁿ⁻ⁱ + fⁿ⁺¹
//! ```
//!
//! to which a closure, or a viscosity that varies, adds [its stress](stress).
//!
//! **[Dual splitting](dual)**: `w̃ = (R + F)/s` with `F = ν∇²uⁿ`; `−∇²π = −s ∇·w̃` with
//! `∂π/∂n = −θν n·∇×(ω* − ωⁿ)` on walls; `w = w̃ − (∇π + F − ν∇D)/s`; penalties; `(s − ν∇²) u = s w` with
//! `D = ∇·uⁿ`; `p = π − νD`; without walls `F = D = ωⁿ = 0`. **Pressure correction**:
//! `(s − ν∇²) û = R − ∇p*`; `−∇²φ = −s ∇·û`; `u = û − ∇φ/s`; `p = p* + φ − χν ∇·û`; penalties. All
//! first-order operators are weak forms with boundary data. The penalties are those on divergence and normal
//! jumps.

mod before;
mod dual;
mod rate;
mod stress;

use self::before::Before;
use self::rate::Rate;
use super::boundary::Boundaries;
use super::components::Components;
use super::forcing::Forces;
use super::helmholtz::{HelmholtzSolver, stop};
use super::machine::{Machine, OfPressure, Pass};
use super::mean::Mean;
use super::penalty::PenaltyStep;
use super::phases::{Phase, Phases};
use super::scalars::stress::Stress;
use super::scalars::{Past, Scalars, upload};
use super::subcycles::Subcycles;
use crate::SystemError;
use crate::elliptic::SolverOptions;
use crate::setup::{Incompressible, PressureOrder, Splitting, VelocityOptions};
use crate::solves::{Histories, Iterations, LinearSystem, SolveStatistics};
use dgsuite_amg::Projection;
use dgsuite_gpu::{GpuError, Vector};
use dgsuite_ops::{OpsError, StepMeasure};
use dgsuite_timeint::{Multistep, Weights};

/// Largest order of a scheme.
const ORDERS: usize = 3;

/// Residuals below this fraction of the terms of which a right-hand side consists are rounding.
const ROUNDING: f64 = 1e-13;

/// Number of projections of the initial velocity. The product of divergence and gradient is not the operator
/// of the pressure, so that one leaves a part of the divergence.
const PROJECTIONS: usize = 2;

/// Number of former pressures from which the guess of the next is combined.
const FORMER: usize = 4;

/// The factor on the velocity's tolerance before a pressure correction, and the smallest tolerance.
const FOR_PRESSURE: f64 = 1e-4;
const TIGHTEST: f64 = 1e-13;

/// A flow with its past, on a machine.
pub(super) struct Flow<M: Machine> {
    pub(super) machine: M,
    law: Incompressible,
    boundaries: Boundaries<M::V>,
    forces: Forces<M::V>,
    velocity: HelmholtzSolver<M>,
    scalars: Scalars<M>,
    penalty: Option<PenaltyStep<M::V>>,
    subcycles: Option<Subcycles<M::V>>,
    rate: Option<Rate<M::V>>,
    stress: Option<Stress<M::V>>,
    pub(super) steps: Multistep,
    /// The stable step of the current velocity for the value 1 of a measure, if it is known.
    stable: Option<(StepMeasure, f64)>,
    /// Velocities, convective terms and pressures of the last times, the latest first. The convective term of
    /// the latest time is computed by the next step. With sub-steps, the terms are the velocities themselves,
    /// carried to the present time.
    u: Vec<Components<M::V>>,
    n: Vec<Components<M::V>>,
    p: Vec<M::V>,
    /// The fields at an earlier time, while that is looked at.
    before: Option<Before<M::V>>,
    work: Work<M::V>,
    /// Former solutions of the pressure's problem, if the pressure has the order of the velocity.
    guesses: Option<Projection<M::V>>,
    /// The mean of the pressure, if the problem leaves it open.
    constants: Option<Mean<M::V>>,
    pub(super) statistics: SolveStatistics,
    pub(super) phases: Phases,
}

struct Work<V> {
    hat: Components<V>,
    star: Components<V>,
    gradient: Components<V>,
    /// `−ν ∇×∇×uⁿ` of dual splitting.
    viscous: Components<V>,
    b: Components<V>,
    divergence: V,
    load: V,
    phi: V,
    /// `−s ∇·û` or `−∇·uⁿ` with boundary data, for the rotational forms.
    kept: V,
}

/// The parts from which a flow is made.
pub(super) struct Parts<M: Machine> {
    pub(super) machine: M,
    pub(super) law: Incompressible,
    pub(super) boundaries: Boundaries<M::V>,
    pub(super) forces: Forces<M::V>,
    pub(super) penalty: Option<PenaltyStep<M::V>>,
    /// The constant 1, and whether the pressure is determined only up to a constant.
    pub(super) one: M::V,
    pub(super) singular: bool,
    pub(super) initial: Components<M::V>,
    pub(super) scalars: Scalars<M>,
}

impl<M: Machine> Flow<M> {
    pub(super) fn new(parts: Parts<M>) -> Result<Self, SystemError> {
        let Parts { machine, law, boundaries, forces, penalty, one, singular, initial, scalars } = parts;
        let like = &initial.0[0];
        let fields = |n: usize| (0..n).map(|_| initial.zeros_like()).collect::<Result<Vec<_>, _>>();
        let times = law.kept_times();
        let (mut u, n) = (fields(times)?, fields(times)?);
        u[0].copy_from(&initial);
        let p = (0..times).map(|_| like.zeros_like()).collect::<Result<Vec<_>, _>>()?;
        let rate = |of| Mean::new(&machine, &one).map(|mean| Rate::new(of, mean));
        let rate = law.flow_rate.map(rate).transpose()?;
        let stress =
            law.variable_viscosity().map(|_| Stress::new(times, &initial, scalars.len())).transpose()?;
        let constants = singular.then(|| Mean::new(&machine, &one)).transpose()?;
        let work = Work {
            hat: initial.zeros_like()?,
            star: initial.zeros_like()?,
            gradient: initial.zeros_like()?,
            viscous: initial.zeros_like()?,
            b: initial.zeros_like()?,
            divergence: like.zeros_like()?,
            load: like.zeros_like()?,
            phi: like.zeros_like()?,
            kept: like.zeros_like()?,
        };
        let space = machine.elliptics().nodes.order();
        let subcycles = law.subcycles.map(|of| Subcycles::new(of, space, &initial)).transpose()?;
        let velocity =
            HelmholtzSolver::of_velocity(&machine, &initial, law.viscosity, law.velocity.preconditioner)?;
        let dim = initial.0.len();
        let equal = law.pressure_order == PressureOrder::Equal;
        Ok(Self {
            guesses: equal.then(|| Projection::new(FORMER)),
            constants,
            velocity,
            phases: Phases::default(),
            statistics: SolveStatistics {
                velocity: vec![Iterations::default(); dim],
                scalars: vec![Iterations::default(); scalars.len()],
                ..SolveStatistics::default()
            },
            scalars,
            steps: start_of(&law),
            stable: None,
            machine,
            law,
            boundaries,
            forces,
            penalty,
            subcycles,
            rate,
            stress,
            u,
            n,
            p,
            before: None,
            work,
        })
    }

    /// The fields `u v [w] p` and the scalars at the time of the last step, or at the one
    /// [looked at](Self::look_back).
    pub(super) fn fields(&self) -> Vec<&M::V> {
        match &self.before {
            Some(Before { u, rest }) => u.0.iter().chain(rest).collect(),
            None => {
                let scalars = self.scalars.iter().map(|scalar| &scalar.values[0]);
                self.u[0].0.iter().chain([&self.p[0]]).chain(scalars).collect()
            }
        }
    }

    pub(super) fn step(&mut self, t: f64, dt: f64) -> Result<(), SystemError> {
        let w = self.steps.weights(dt);
        let (end, s) = (t + dt, w.gamma / dt);
        self.respond(end, s)?;
        self.find_stress(t)?;
        self.step_scalars((t, dt), &w)?;
        let start = self.machine.now();
        match self.subcycles {
            None => {
                self.convect(t)?;
                self.explicit(dt, &w);
            }
            Some(_) => self.carry(t, dt, &w)?,
        }
        if let Some(stress) = &self.stress {
            stress.add_to_velocity((dt / w.gamma, &w.beta), &mut self.work.hat);
        }
        self.add_force(s);
        let scalars: Vec<_> = self.scalars.iter().map(|scalar| scalar.next()).collect();
        self.forces.add(&self.machine, (end, 1.0 / s), &scalars, &mut self.work.hat)?;
        self.stable = None;
        self.phases.add(Phase::Advection, start, self.machine.now());
        match self.law.splitting {
            Splitting::Dual => self.dual((t, end, dt), s, &w)?,
            Splitting::PressureCorrection { rotational } => {
                self.correction(end, s, &w, rotational)?;
                self.penalise(dt)?;
            }
        }
        self.hold_rate();
        self.u.rotate_right(1);
        self.p.rotate_right(1);
        self.n.rotate_right(1);
        std::mem::swap(&mut self.u[0], &mut self.work.star);
        std::mem::swap(&mut self.p[0], &mut self.work.phi);
        self.scalars.iter_mut().for_each(|scalar| scalar.accept());
        self.stress.iter_mut().for_each(Stress::accept);
        self.steps.accept(dt);
        self.statistics.steps += 1;
        Ok(())
    }

    /// Computes the scalars at the end of a step.
    fn step_scalars(&mut self, (t, dt): (f64, f64), w: &Weights) -> Result<(), SystemError> {
        if self.scalars.is_empty() {
            return Ok(());
        }
        let substeps = self.substeps(dt)?;
        let start = self.machine.now();
        let past = Past { u: &self.u, times: &self.steps, substeps, stress: self.stress.as_ref() };
        for (scalar, statistics) in self.scalars.iter_mut().zip(&mut self.statistics.scalars) {
            statistics.add(scalar.step(&mut self.machine, (t, dt), w, &past)?);
        }
        self.phases.add(Phase::Scalars, start, self.machine.now());
        Ok(())
    }

    /// Computes the convective term of the current velocity.
    fn convect(&mut self, t: f64) -> Result<(), OpsError> {
        let inputs: Vec<_> = self.u[0].0.iter().enumerate().collect();
        let mut outputs: Vec<_> = self.n[0].0.iter_mut().enumerate().collect();
        self.machine.pass(Pass::Convection, t, &inputs, &mut outputs)
    }

    /// `û ← R/s` without forces.
    fn explicit(&mut self, dt: f64, w: &Weights) {
        let past = self.u.len();
        let mut terms: Vec<(f64, &Components<M::V>)> = Vec::with_capacity(2 * past);
        terms.extend((0..past).filter(|&i| w.alpha[i] != 0.0).map(|i| (w.alpha[i] / w.gamma, &self.u[i])));
        terms.extend((0..past).filter(|&i| w.beta[i] != 0.0).map(|i| (dt * w.beta[i] / w.gamma, &self.n[i])));
        self.work.hat.lincomb(0.0, &terms);
    }

    /// `û ← R/s` without forces, by sub-steps. The fields in `n` are the past velocities that were carried to
    /// time `t`; after the step they are at its end.
    fn carry(&mut self, t: f64, dt: f64, w: &Weights) -> Result<(), SystemError> {
        let number = self.substeps(dt)?;
        let Some(subcycles) = &mut self.subcycles else { return Ok(()) };
        self.statistics.substeps.add(number as u64);
        let past = self.steps.available_order();
        self.n[0].copy_from(&self.u[0]);
        for field in &mut self.n[..past] {
            subcycles.carry(&mut self.machine, (t, dt, number), &self.u[..past], &self.steps, field)?;
        }
        let terms: Vec<_> = (0..past).map(|i| (w.alpha[i] / w.gamma, &self.n[i])).collect();
        self.work.hat.lincomb(0.0, &terms);
        Ok(())
    }

    /// The number of explicit sub-steps in a step of size `dt` from the current state; 0 if convection is
    /// extrapolated.
    pub(super) fn substeps(&mut self, dt: f64) -> Result<usize, SystemError> {
        let Some(subcycles) = self.subcycles.take() else { return Ok(0) };
        let number = subcycles.number(dt, |measure| self.convective_dt(measure));
        self.subcycles = Some(subcycles);
        number
    }

    /// `u* ← Σ β_i uⁿ⁻ⁱ` with the weights of an order.
    fn extrapolate(&mut self, weights: &[f64; ORDERS]) {
        let terms: Vec<_> =
            self.u.iter().zip(weights).filter(|(_, w)| **w != 0.0).map(|(u, w)| (*w, u)).collect();
        self.work.star.lincomb(0.0, &terms);
    }

    fn extrapolate_pressure(&mut self, weights: &[f64; ORDERS]) {
        let terms: Vec<_> =
            self.p.iter().zip(weights).filter(|(_, w)| **w != 0.0).map(|(p, w)| (*w, p)).collect();
        self.work.phi.lincomb(0.0, &terms);
    }

    /// `load ← −s d(û, ·)` with homogeneous boundary values; `û` is in `work.hat`.
    fn load_of_divergence(&mut self, t: f64, s: f64) -> Result<(), OpsError> {
        let Work { hat, divergence, load, .. } = &mut self.work;
        let dim = hat.0.len();
        let inputs: Vec<_> = hat.0.iter().enumerate().collect();
        self.machine.pass(Pass::Coupling, t, &inputs, &mut [(dim, divergence)])?;
        self.machine.load_of_residual(divergence, load);
        divergence.copy_from(load);
        load.axpby(s, divergence, 0.0);
        Ok(())
    }

    /// `gradient ← −∇p` with homogeneous boundary values; `p` is in `work.phi`.
    fn gradient(&mut self, t: f64) -> Result<(), OpsError> {
        let Work { gradient, phi, load, .. } = &mut self.work;
        let dim = gradient.0.len();
        let mut outputs: Vec<_> = gradient.0.iter_mut().enumerate().collect();
        self.machine.pass(Pass::Coupling, t, &[(dim, phi)], &mut outputs)?;
        gradient.0.iter_mut().for_each(|residual| self.machine.rate_of_residual(residual, load));
        Ok(())
    }

    /// Adds to `gradient` the load in `work.b` of the pressure on open boundaries, if there are any.
    fn complete_gradient(&mut self, open: bool) {
        let Work { gradient, b, load, .. } = &mut self.work;
        for (gradient, b) in gradient.0.iter_mut().zip(&b.0).filter(|_| open) {
            self.machine.inverse_mass(b, load);
            gradient.axpby(1.0, load, 1.0);
        }
    }

    /// Solves the pressure's problem of a step with the load in `work.load`, from former pressures, or the
    /// guess in `work.phi`.
    fn solve_next_pressure(&mut self, s: f64) -> Result<(), SystemError> {
        if let Some(guesses) = self.guesses.as_ref().filter(|guesses| !guesses.is_empty()) {
            guesses.guess(&self.work.load, &mut self.work.phi);
        }
        self.solve_pressure(s)?;
        if let Some(guesses) = &mut self.guesses {
            guesses.keep(&OfPressure(&self.machine), &self.work.phi)?;
        }
        Ok(())
    }

    /// Solves the pressure's problem with the load in `work.load`, from the guess in `work.phi`.
    fn solve_pressure(&mut self, s: f64) -> Result<(), SystemError> {
        let Work { hat, load, phi, divergence, .. } = &mut self.work;
        let SolverOptions { tolerance, max_iterations, .. } = self.law.pressure;
        let mut scale = 0.0;
        for u in &hat.0 {
            self.machine.mass(u, divergence);
            scale += divergence.dot(divergence);
        }
        let stop = stop(tolerance, max_iterations, ROUNDING * s * f64::sqrt(scale));
        let solved = self.machine.solve_pressure(load, phi, &stop);
        let solved = solved.map_err(|cause| SystemError::Solve { system: LinearSystem::Pressure, cause })?;
        self.statistics.pressure.add(solved.iterations as u64);
        if let Some(mean) = &self.constants {
            phi.axpby(-mean.of(phi), &mean.one, 1.0);
        }
        Ok(())
    }

    /// `b ← s M û`.
    fn load_of_velocity(&mut self, s: f64) {
        let Work { hat, b, load, .. } = &mut self.work;
        self.machine.add_mass(s, hat, 0.0, b, load);
    }

    /// Solves the velocity's problem with the right-hand side in `work.b`, from the guess in `work.star`.
    fn solve_velocity(&mut self, s: f64) -> Result<(), SystemError> {
        let VelocityOptions { mut tolerance, max_iterations, .. } = self.law.velocity;
        if let Splitting::PressureCorrection { .. } = self.law.splitting {
            // Errors of the solver enter the pressure with the factor s, and add up there.
            tolerance = (FOR_PRESSURE * tolerance).max(TIGHTEST);
        }
        let stop = stop(tolerance, max_iterations, 0.0);
        let of = (&self.machine, LinearSystem::Velocity);
        let solved = self.velocity.solve(of, s, &self.work.b, &mut self.work.star, &stop)?;
        self.statistics.velocity.iter_mut().for_each(|v| v.add(solved.iterations as u64));
        Ok(())
    }

    /// Applies the penalties to the velocity after its projection: with dual splitting, which continues by
    /// the viscous step, that in `work.hat`.
    fn penalise(&mut self, dt: f64) -> Result<(), SystemError> {
        let Some(penalty) = &mut self.penalty else { return Ok(()) };
        let start = self.machine.now();
        let projected = match self.law.splitting {
            Splitting::Dual => &mut self.work.hat,
            Splitting::PressureCorrection { .. } => &mut self.work.star,
        };
        let done = penalty.apply(&mut self.machine, dt, projected)?;
        self.statistics.penalty.add(done.iterations as u64);
        self.phases.add(Phase::Penalty, start, self.machine.now());
        Ok(())
    }

    fn correction(&mut self, end: f64, s: f64, w: &Weights, rotational: bool) -> Result<(), SystemError> {
        let start = self.machine.now();
        self.extrapolate(&w.beta);
        self.boundaries.update(&self.machine, end, &self.work.star)?;
        self.work.phi.copy_from(&self.p[0]);
        self.gradient(end)?;
        self.work.hat.axpby(1.0 / s, &self.work.gradient, 1.0);
        self.load_of_velocity(s);
        self.boundaries.add_to_velocity_with_old_pressure(&mut self.work.b);
        self.solve_velocity(s)?;
        self.phases.add(Phase::Velocity, start, self.machine.now());

        let start = self.machine.now();
        self.work.hat.copy_from(&self.work.star);
        self.load_of_divergence(end, s)?;
        // The divergence with boundary data is minus the load on walls over s, without M.
        self.boundaries.add_wall_flux(&mut self.work.load, s);
        if rotational {
            self.machine.pressure_of_load(&self.work.load, &mut self.work.kept);
        }
        self.boundaries.add_change_to_pressure(&mut self.work.load);
        self.work.phi.fill(0.0);
        self.solve_next_pressure(s)?;
        self.gradient(end)?;
        self.work.b.fill(0.0);
        let open = self.boundaries.add_change(&mut self.work.b);
        self.complete_gradient(open);
        self.work.star.axpby(1.0 / s, &self.work.gradient, 1.0);
        self.work.phi.axpby(1.0, &self.p[0], 1.0);
        if rotational {
            self.work.phi.axpby(self.law.viscosity / s, &self.work.kept, 1.0);
        }
        self.phases.add(Phase::Pressure, start, self.machine.now());
        Ok(())
    }

    /// Reduces the divergence of the velocity at time `t` by projections, and computes its pressure:
    /// `−∇²p = ∇·(∇·(u ⊗ u) − f)`, with `∂p/∂n` from the momentum equation on walls.
    pub(super) fn start(&mut self, t: f64) -> Result<(), SystemError> {
        self.start_rate(t)?;
        self.extrapolate(&[1.0, 0.0, 0.0]);
        self.boundaries.update(&self.machine, t, &self.work.star)?;
        for _ in 0..PROJECTIONS {
            self.work.hat.copy_from(&self.u[0]);
            self.load_of_divergence(t, 1.0)?;
            self.boundaries.add_wall_flux(&mut self.work.load, 1.0);
            self.work.phi.fill(0.0);
            self.solve_pressure(1.0)?;
            self.gradient(t)?;
            self.u[0].axpby(1.0, &self.work.gradient, 1.0);
        }
        self.convect(t)?;
        self.work.hat.copy_from(&self.n[0]);
        self.find_stress(t)?;
        if let Some(stress) = &self.stress {
            stress.add_to_velocity((1.0, &[1.0]), &mut self.work.hat);
        }
        let scalars: Vec<_> = self.scalars.iter().map(|scalar| &scalar.values[0]).collect();
        self.forces.add(&self.machine, (t, 1.0), &scalars, &mut self.work.hat)?;
        self.extrapolate(&[1.0, 0.0, 0.0]);
        self.load_of_divergence(t, 1.0)?;
        self.boundaries.update_rates(&self.machine, t, &self.work.star)?;
        self.boundaries.add_to_pressure(&mut self.work.load, 1.0, &self.work.star);
        self.boundaries.update(&self.machine, t, &self.work.star)?;
        self.work.phi.fill(0.0);
        self.solve_pressure(1.0)?;
        std::mem::swap(&mut self.p[0], &mut self.work.phi);
        self.statistics.pressure = Iterations::default();
        Ok(())
    }

    /// Removes the former pressures and changes by penalties.
    fn forget(&mut self) {
        if let Some(penalty) = &mut self.penalty {
            penalty.set_change(None);
        }
        if let Some(guesses) = &mut self.guesses {
            guesses.clear();
        }
    }

    /// The past fields: for each past time velocity components, convective terms and the pressure, then
    /// values and convective terms of scalars. A pressure of lower order is the last field, since a state
    /// alone does not show that it has one; otherwise the former pressures of guesses follow, the oldest
    /// first.
    pub(super) fn histories(&self) -> Result<Histories, GpuError> {
        let mut fields = Vec::new();
        for i in 1..self.u.len() {
            let scalars = self.scalars.iter().flat_map(|scalar| scalar.past(i));
            for field in self.u[i].0.iter().chain(&self.n[i].0).chain([&self.p[i]]).chain(scalars) {
                fields.push(self.machine.download(field)?);
            }
        }
        if self.law.pressure_order == PressureOrder::Lower {
            fields.push(self.machine.download(&self.p[0])?);
        }
        for p in self.guesses.iter().flat_map(Projection::solutions) {
            fields.push(self.machine.download(p)?);
        }
        Ok(Histories { steps: self.steps.sizes().to_vec(), fields })
    }

    /// The change of the velocity by the penalties of the last step, if the next step begins from it.
    pub(super) fn penalty_change(&self) -> Result<Option<Vec<Vec<f64>>>, GpuError> {
        let change = self.penalty.as_ref().and_then(PenaltyStep::change);
        change.map(|c| c.0.iter().map(|part| self.machine.download(part)).collect()).transpose()
    }

    /// Replaces the change of the velocity by the penalties of the last step.
    pub(super) fn set_penalty_change(&mut self, change: Option<&[Vec<f64>]>) -> Result<(), GpuError> {
        let Some(penalty) = &mut self.penalty else { return Ok(()) };
        let upload = |parts: &[Vec<f64>]| parts.iter().map(|part| self.machine.upload(part)).collect();
        penalty.set_change(change.map(upload).transpose()?.map(Components));
        Ok(())
    }

    /// The pressures of the last step on open boundaries, if the next step depends on them; on several ranks
    /// those of all on rank 0, and none on others. Collective.
    pub(super) fn open_pressures(&self) -> Option<Vec<f64>> {
        match self.law.splitting {
            Splitting::Dual => None,
            Splitting::PressureCorrection { .. } => self.boundaries.open_pressures(),
        }
    }

    /// The number of these pressures on all ranks.
    pub(super) fn n_open_pressures(&self) -> Option<usize> {
        match self.law.splitting {
            Splitting::Dual => None,
            Splitting::PressureCorrection { .. } => self.boundaries.n_open_pressures(),
        }
    }

    /// Replaces the pressures of the last step on open boundaries.
    pub(super) fn set_open_pressures(&mut self, pressures: &[f64]) {
        self.boundaries.set_open_pressures(pressures);
    }

    /// Replaces the state, and forgets the past. A pressure of lower order is projected to its space.
    pub(super) fn set_state(&mut self, u: Components<M::V>, p: M::V, scalars: Vec<M::V>) {
        self.u[0] = u;
        self.scalars.iter_mut().zip(scalars).for_each(|(own, values)| own.values[0] = values);
        self.p[0] = p;
        if self.law.pressure_order == PressureOrder::Lower {
            self.machine.mass(&self.p[0], &mut self.work.load);
            self.machine.pressure_of_load(&self.work.load, &mut self.p[0]);
        }
        self.steps = start_of(&self.law);
        self.stable = None;
        self.forget();
    }

    /// Continues with past fields.
    pub(super) fn set_histories(&mut self, of: &Histories) -> Result<Option<()>, GpuError> {
        let dim = self.work.hat.0.len();
        let of_time = 2 * dim + 1 + 2 * self.scalars.len();
        let lower = usize::from(self.law.pressure_order == PressureOrder::Lower);
        let of_past = of_time * (self.u.len() - 1);
        let former = of.fields.len().checked_sub(of_past + lower);
        if former.is_none_or(|former| former > if self.guesses.is_some() { FORMER } else { 0 }) {
            return Ok(None);
        }
        if let Some(p) = of.fields.last().filter(|_| lower > 0) {
            self.p[0] = self.machine.upload(p)?;
        }
        self.forget();
        if let Some(guesses) = &mut self.guesses {
            for p in &of.fields[of_past..] {
                guesses.keep(&OfPressure(&self.machine), &self.machine.upload(p)?)?;
            }
        }
        for (i, fields) in of.fields[..of_past].chunks_exact(of_time).enumerate() {
            for d in 0..dim {
                self.u[i + 1].0[d] = self.machine.upload(&fields[d])?;
                self.n[i + 1].0[d] = self.machine.upload(&fields[dim + d])?;
            }
            self.p[i + 1] = self.machine.upload(&fields[2 * dim])?;
            for (scalar, fields) in self.scalars.iter_mut().zip(fields[2 * dim + 1..].chunks_exact(2)) {
                scalar.set_past(i + 1, upload(&self.machine, fields)?);
            }
        }
        Ok(self.steps.restore(&of.steps).ok())
    }

    /// The step of explicit convection of the current velocity for the value 1 of a measure.
    fn convective_dt(&mut self, measure: StepMeasure) -> Result<f64, OpsError> {
        if let Some((_, dt)) = self.stable.filter(|(of, _)| *of == measure) {
            return Ok(dt);
        }
        let u: Vec<_> = self.u[0].0.iter().collect();
        let dt = self.machine.stable_step(Pass::Convection, &u, measure)?;
        self.stable = Some((measure, dt));
        Ok(dt)
    }

    /// L² norms of the rates of change of velocity, pressure and scalars in the last step; infinite before
    /// the first.
    pub(super) fn rates(&mut self) -> Result<Vec<f64>, GpuError> {
        let Some(&dt) = self.steps.sizes().first() else {
            return Ok(vec![f64::INFINITY; self.fields().len()]);
        };
        let at = |i: usize| {
            let scalars = self.scalars.iter().map(move |scalar| &scalar.values[i]);
            self.u[i].0.iter().chain([&self.p[i]]).chain(scalars)
        };
        let (new, old) = (at(0), at(1));
        let mut rates = Vec::new();
        for (new, old) in new.zip(old) {
            self.work.phi.lincomb(0.0, &[(1.0 / dt, new), (-1.0 / dt, old)]);
            self.machine.mass(&self.work.phi, &mut self.work.load);
            rates.push(self.work.phi.dot(&self.work.load).sqrt());
        }
        Ok(rates)
    }

    /// `(Σ_f ∫_f ([u]·n)²)^½` over inner faces: the penalty on jumps with the factor 1, as a quadratic form.
    pub(super) fn normal_jumps(&mut self) -> Result<f64, OpsError> {
        let Work { gradient, phi, load, .. } = &mut self.work;
        let u = self.before.as_ref().map_or(&self.u[0], |before| &before.u);
        let dim = gradient.0.len();
        phi.fill(1.0);
        load.fill(0.0);
        if self.machine.penalties([&*load, &*phi], 1.0, u, gradient)? {
            return Ok(u.dot(gradient).max(0.0).sqrt());
        }
        let inputs: Vec<_> = u.0.iter().enumerate().chain([(dim + 1, &*phi)]).collect();
        let mut outputs: Vec<_> = gradient.0.iter_mut().enumerate().collect();
        self.machine.pass(Pass::Penalty, 0.0, &inputs, &mut outputs)?;
        let mut square = 0.0;
        for (u, residual) in u.0.iter().zip(&gradient.0) {
            self.machine.load_of_residual(residual, load);
            square -= u.dot(load);
        }
        // Without jumps the sum is rounding of either sign.
        Ok(square.max(0.0).sqrt())
    }

    /// Bytes of all vectors, and of the tables of forces.
    pub(super) fn vector_bytes(&self) -> usize {
        let dim = self.work.hat.0.len();
        let len = self.work.load.len();
        let guesses = if self.guesses.is_some() { Projection::<M::V>::vectors(FORMER) } else { 0 };
        let penalty = if self.penalty.is_some() { 3 * dim } else { 0 };
        let scalars: usize = self.scalars.iter().map(|scalar| scalar.vectors()).sum();
        let scalars = scalars + self.stress.as_ref().map_or(0, Stress::vectors) + self.forces.vectors();
        let vectors = scalars + self.u.len() * (2 * dim + 1) + 5 * dim + 3 + 4 * dim + 4 + guesses + penalty;
        8 * len * vectors + self.forces.bytes()
    }
}

/// The steps of a law from one state. A pressure correction keeps what is left of the divergence in the
/// pressure, divided by the first step, so that its first step is not reduced.
fn start_of(law: &Incompressible) -> Multistep {
    let graded = law.graded_start && law.splitting == Splitting::Dual;
    Multistep::new(law.time_order.clamp(1, ORDERS), graded)
}
