//! Penalties on the divergence and on jumps of the normal velocity, in a step of their own.
//!
//! After the projection of a step the velocity `û` is replaced by the solution of
//!
//! ```text
//! (v, u) + Δt Σ_e τ_D (∇·v, ∇·u) + Δt Σ_f ⟨[v]·n, {τ_C} [u]·n⟩ = (v, û),
//! τ_D = ζ_D |u| h/(p + 1),   τ_C = ζ_C |u|
//! ```
//!
//! with the mean speed `|u|` and `h = V^{1/d}` of each element. Boundaries have no penalty.
//!
//! The change of the velocity by this step is of the size of the discretisation's error. It is computed to a
//! thousandth of itself: the residual of û is reduced by [`REDUCTION`], or to the tolerance of the velocity.
//! Iterations begin from the multiple of the last change with the smallest residual.
//!
//! The preconditioner is the inverse mass matrix. One for each component of the velocity, however good, would
//! not do better: with the penalties' own `(∂v/∂x_d, ∂u/∂x_d)` it is large on all fields, while the penalties
//! vanish on those without divergence, so that the ratio of both is as large as without.
//!
//! # Source
//! Fehn, Wall & Kronbichler, J. Comput. Phys. 372 (2018) 667–693.

use super::components::Components;
use super::machine::{Machine, Map, Pass};
use crate::setup::Penalties;
use crate::{LinearSystem, SystemError};
use dgsuite_amg::{KrylovPart, LinearOperator, Pcg, Preconditioner, Reference, Solution, Stop};
use dgsuite_gpu::Vector;
use dgsuite_ops::OpsError;
use dgsuite_ops::elliptic::{Sipdg, Triplet};
use std::cell::RefCell;

/// The reduction of the residual of the velocity before the step.
const REDUCTION: f64 = 1e-3;

/// The penalty step with its vectors.
pub(super) struct PenaltyStep<V: KrylovPart> {
    penalties: Penalties,
    stop: Stop,
    /// Sums over the nodes of each element, and the transpose.
    sum: Box<dyn Map<V>>,
    spread: Box<dyn Map<V>>,
    volumes: Vec<f64>,
    /// `h/(p + 1)` of each element.
    lengths: Vec<f64>,
    tau: V,
    jump: V,
    divergence: V,
    scaled: V,
    moved: V,
    list: V,
    b: Components<V>,
    rate: Components<V>,
    pcg: Pcg<Components<V>>,
    /// The last change of the velocity.
    change: Option<Components<V>>,
    /// Its product with the operator.
    product: Components<V>,
    /// `b − A û`, later û.
    residual: Components<V>,
}

impl<V: KrylovPart<Scalar = f64>> PenaltyStep<V> {
    /// Sets up the step for velocities like `like`.
    pub(super) fn new<M: Machine<V = V>>(
        machine: &M,
        sipdg: &Sipdg<f64>,
        (penalties, stop): (Penalties, Stop),
        like: &Components<V>,
    ) -> Result<Self, SystemError> {
        let blocks = sipdg.blocks_of_unknowns();
        let n = blocks.len();
        let of = |e: usize, block: &[u32]| -> Vec<Triplet> {
            block.iter().map(|&i| (e, i as usize, 1.0)).collect()
        };
        let sums: Vec<Triplet> = blocks.iter().enumerate().flat_map(|(e, block)| of(e, block)).collect();
        let spread: Vec<Triplet> = sums.iter().map(|&(e, i, one)| (i, e, one)).collect();
        let one = sipdg.constant(1.0);
        let mut load = vec![0.0; sipdg.len()];
        sipdg.mass(&one, &mut load);
        let volume = |block: &Vec<u32>| block.iter().map(|&i| load[i as usize]).sum();
        let volumes: Vec<f64> = blocks.iter().map(volume).collect();
        let dim = sipdg.mesh().dim as f64;
        let p = (sipdg.order() + 1) as f64;
        let zeros = || like.0[0].zeros_like();
        Ok(Self {
            penalties,
            stop,
            sum: machine.evaluation(n, &sums)?,
            spread: machine.load(n, &spread)?,
            lengths: volumes.iter().map(|v| v.powf(1.0 / dim) / p).collect(),
            volumes,
            tau: zeros()?,
            jump: zeros()?,
            divergence: zeros()?,
            scaled: zeros()?,
            moved: zeros()?,
            list: machine.numbers(&vec![0.0; n])?,
            b: like.zeros_like()?,
            rate: like.zeros_like()?,
            pcg: Pcg::new(like)?,
            change: None,
            product: like.zeros_like()?,
            residual: like.zeros_like()?,
        })
    }

    /// Replaces the velocity `u`.
    pub(super) fn apply<M: Machine<V = V>>(
        &mut self,
        machine: &mut M,
        dt: f64,
        u: &mut Components<V>,
    ) -> Result<Solution, SystemError> {
        // The mean of |u|² of each element, from (u, M u).
        self.scaled.fill(0.0);
        for (u, b) in u.0.iter().zip(&mut self.b.0) {
            machine.mass(u, b);
            self.scaled.add_product(1.0, u, b, 1.0);
        }
        self.sum.apply(&self.scaled, &mut self.list);
        let squares = machine.read(&self.list)?;
        let speeds = squares.iter().zip(&self.volumes).map(|(s, v)| (s / v).max(0.0).sqrt());
        let Penalties { divergence, continuity } = self.penalties;
        let jumps: Vec<f64> = speeds.map(|speed| continuity * speed).collect();
        let taus: Vec<f64> = squares
            .iter()
            .zip(&self.volumes)
            .zip(&self.lengths)
            .map(|((s, v), h)| divergence * h * (s / v).max(0.0).sqrt())
            .collect();
        self.spread.apply(&machine.numbers(&taus)?, &mut self.tau);
        self.spread.apply(&machine.numbers(&jumps)?, &mut self.jump);
        let machine = RefCell::new(machine);
        let operator = Penalised {
            machine: &machine,
            dt,
            tau: &self.tau,
            jump: &self.jump,
            work: RefCell::new((&mut self.divergence, &mut self.scaled, &mut self.moved, &mut self.rate)),
            refused: RefCell::new(None),
        };
        operator.apply(u, &mut self.residual);
        self.residual.axpby(1.0, &self.b, -1.0);
        // Of 20.9 iterations in a channel with cells of aspect ratio 500, 28.9 on triangles and 5.0 in a
        // cavity the guess leaves 11.7, 16.1 and 2.6, for one more product. One from two changes leaves 12.6,
        // 11.7 and 1.2.
        let mut pairs = Components::paired(&self.b, &self.b);
        pairs.extend(Components::paired(&self.residual, &self.residual));
        if let Some(change) = &self.change {
            operator.apply(change, &mut self.product);
            pairs.extend(Components::paired(&self.product, &self.residual));
            pairs.extend(Components::paired(&self.product, &self.product));
        }
        let sums = V::dots(&pairs);
        let sums: Vec<f64> = sums.chunks(u.0.len()).map(|parts| parts.iter().sum()).collect();
        let stop = Stop {
            relative: 0.0,
            reference: Reference::InitialResidual,
            absolute: (self.stop.relative * sums[0].sqrt()).max(REDUCTION * sums[1].sqrt()),
            ..self.stop
        };
        self.residual.copy_from(u);
        if let (Some(change), [_, _, overlap, square]) = (&self.change, &sums[..])
            && *square > 0.0
        {
            u.axpby(overlap / square, change, 1.0);
        }
        let solved = self.pcg.solve(&operator, &mut InverseMass(&machine), &self.b, u, &stop);
        if let Some(refused) = operator.refused.take() {
            return Err(refused.into());
        }
        let solved = solved.map_err(|cause| SystemError::Solve { system: LinearSystem::Penalties, cause })?;
        let change = match &mut self.change {
            Some(change) => change,
            none => none.insert(u.zeros_like()?),
        };
        change.copy_from(u);
        change.axpby(-1.0, &self.residual, 1.0);
        Ok(solved)
    }

    /// The last change of the velocity, which affects the next step.
    pub(super) fn change(&self) -> Option<&Components<V>> {
        self.change.as_ref()
    }

    /// Replaces the last change of the velocity.
    pub(super) fn set_change(&mut self, change: Option<Components<V>>) {
        self.change = change;
    }
}

/// `M` plus the penalties.
struct Penalised<'a, M: Machine> {
    machine: &'a RefCell<&'a mut M>,
    dt: f64,
    tau: &'a M::V,
    jump: &'a M::V,
    work: RefCell<(&'a mut M::V, &'a mut M::V, &'a mut M::V, &'a mut Components<M::V>)>,
    refused: RefCell<Option<OpsError>>,
}

impl<M: Machine> LinearOperator<Components<M::V>> for Penalised<'_, M> {
    fn n_rows(&self) -> usize {
        self.tau.len() * self.work.borrow().3.0.len()
    }

    fn recordable(&self) -> Option<u64> {
        Some(self.dt.to_bits())
    }

    fn apply(&self, x: &Components<M::V>, y: &mut Components<M::V>) {
        let mut machine = self.machine.borrow_mut();
        let mut work = self.work.borrow_mut();
        let (divergence, scaled, moved, rate) = &mut *work;
        let dim = x.0.len();
        let velocity = || x.0.iter().enumerate();
        let mut whole = || {
            if machine.penalties([self.tau, self.jump], self.dt, x, y)? {
                machine.add_mass(1.0, x, 1.0, y, moved);
                return Ok(());
            }
            let inputs: Vec<_> = velocity().collect();
            machine.pass(Pass::Elementwise, 0.0, &inputs, &mut [(dim, &mut **divergence)])?;
            machine.rate_of_residual(divergence, scaled);
            scaled.add_product(1.0, self.tau, divergence, 0.0);
            let inputs: Vec<_> = velocity().chain([(dim, &**scaled), (dim + 1, self.jump)]).collect();
            let mut outputs: Vec<_> = rate.0.iter_mut().enumerate().collect();
            machine.pass(Pass::Penalty, 0.0, &inputs, &mut outputs)?;
            rate.0.iter_mut().for_each(|residual| machine.rate_of_residual(residual, moved));
            machine.mass_of_sum(x, -self.dt, rate, y, moved);
            Ok(())
        };
        if let Err(error) = whole() {
            self.refused.borrow_mut().get_or_insert(error);
        }
    }
}

/// The inverse mass matrix as a preconditioner.
struct InverseMass<'a, M: Machine>(&'a RefCell<&'a mut M>);

impl<M: Machine> Preconditioner<Components<M::V>> for InverseMass<'_, M> {
    fn apply(&mut self, r: &Components<M::V>, z: &mut Components<M::V>) {
        self.0.borrow().inverse_mass_each(r, z);
    }

    fn recordable(&self) -> Option<u64> {
        Some(0)
    }
}
