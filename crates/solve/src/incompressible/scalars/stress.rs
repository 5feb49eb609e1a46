//! The divergences of the stress of a closure and of its fluxes of scalars, at the last times.

use crate::incompressible::components::Components;
use dgsuite_gpu::{GpuError, Vector};

/// The stress at the last times.
pub(in crate::incompressible) struct Stress<V> {
    dim: usize,
    /// Its divergence, of the velocity and then of the scalars, the latest first. That of the latest time is
    /// computed by the next step.
    pub(in crate::incompressible) terms: Vec<Components<V>>,
}

impl<V: Vector<Scalar = f64>> Stress<V> {
    /// For this number of times, of a velocity and scalars.
    pub(in crate::incompressible) fn new(
        times: usize,
        velocity: &Components<V>,
        scalars: usize,
    ) -> Result<Self, GpuError> {
        let dim = velocity.0.len();
        let fields = || (0..dim + scalars).map(|_| velocity.0[0].zeros_like()).collect::<Result<_, _>>();
        Ok(Self { dim, terms: (0..times).map(|_| fields().map(Components)).collect::<Result<_, _>>()? })
    }

    /// `u ← u + a Σ β_i (…)ⁿ⁻ⁱ`.
    pub(in crate::incompressible) fn add_to_velocity(&self, (a, beta): (f64, &[f64]), u: &mut Components<V>) {
        u.0.iter_mut().enumerate().for_each(|(d, u)| self.add((a, beta), d, u));
    }

    /// `x ← x + Σ β_i (…)ⁿ⁻ⁱ` of scalar `number`.
    pub(in crate::incompressible) fn add_to_scalar(&self, beta: &[f64], number: usize, x: &mut V) {
        self.add((1.0, beta), self.dim + number, x);
    }

    fn add(&self, (a, beta): (f64, &[f64]), field: usize, x: &mut V) {
        let used = self.terms.iter().zip(beta).filter(|(_, b)| **b != 0.0);
        let terms: Vec<(f64, &V)> = used.map(|(term, b)| (a * b, &term.0[field])).collect();
        x.lincomb(1.0, &terms);
    }

    /// Accepts a step.
    pub(in crate::incompressible) fn accept(&mut self) {
        self.terms.rotate_right(1);
    }

    /// The number of its vectors.
    pub(in crate::incompressible) fn vectors(&self) -> usize {
        self.terms.iter().map(|term| term.0.len()).sum()
    }

    /// The fields of the times before the latest.
    pub(in crate::incompressible) fn past(&self) -> impl Iterator<Item = &V> {
        self.terms[1..].iter().flat_map(|term| &term.0)
    }

    /// The same fields, to be replaced.
    pub(in crate::incompressible) fn past_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.terms[1..].iter_mut().flat_map(|term| &mut term.0)
    }
}
