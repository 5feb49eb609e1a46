//! What a limiter saw and did, as numbers of the elements of the mesh.

use super::Bounds;
use super::pass::{load, tables_of};
use crate::lanes::simd::PackScalar;
use crate::rhs::discretization::Discretization;
use rayon::prelude::*;

/// The smallest share that [`Discretization::sensors`] distinguishes from zero.
const SMALLEST_SHARE: f64 = 1e-32;

impl<T: PackScalar> Discretization<T> {
    /// The factor of each element of the mesh in the last stage: 1 if it was not changed, 0 if only its mean
    /// was kept. `None` without a limiter.
    #[must_use]
    pub fn strengths(&self) -> Option<Vec<f32>> {
        self.limiter.as_ref().map(|limiter| self.by_element(&limiter.factors))
    }

    /// The sensor of the gate for each element of the mesh in the state `u`: the decimal logarithm of the
    /// share of the modes of the highest degree in the squares of the modes of `ρ p`, at least −32. `None`
    /// without a limiter.
    #[must_use]
    pub fn sensors(&self, u: &[T]) -> Option<Vec<f32>> {
        let limiter = self.limiter.as_ref()?;
        let (law, fields): (&dyn Bounds, _) = (limiter.law.as_ref(), limiter.law.n_fields());
        let of_group = |(g, group): (usize, &crate::space::group::Group<T>)| -> Vec<f32> {
            let state = &u[group.offset..group.offset + group.state.len()];
            let of_slot = |slot: usize| {
                let [work, _] = &mut *limiter.work_space();
                let tables = tables_of(limiter, group, g, slot).1;
                load(state, group.state, slot, work);
                work.compute_modes(tables, fields);
                work.roughness(tables, law).max(SMALLEST_SHARE).log10() as f32
            };
            let slots = 0..group.state.blocks * group.state.lanes;
            self.host.install(|| slots.into_par_iter().map(of_slot).collect())
        };
        let sensors: Vec<_> = self.groups.iter().enumerate().map(of_group).collect();
        Some(self.by_element(&sensors))
    }

    /// Numbers per group and slot, as numbers of the elements of the mesh.
    pub(crate) fn by_element(&self, factors: &[Vec<f32>]) -> Vec<f32> {
        let mut out = vec![1.0; self.mesh.n_elements()];
        for (group, factors) in self.groups.iter().zip(factors) {
            for slot in group.real_slots() {
                out[group.elements[slot] as usize] = factors[slot];
            }
        }
        out
    }
}
