//! The factors of the last use of a limiter, as numbers of the elements of the mesh.

use crate::discretization::Discretization;
use crate::simd::PackScalar;

impl<T: PackScalar> Discretization<T> {
    /// The factor of each element of the mesh in the last stage: 1 if it was not changed, 0 if only its mean
    /// was kept. `None` without a limiter.
    #[must_use]
    pub fn strengths(&self) -> Option<Vec<f32>> {
        self.limiter.as_ref().map(|limiter| self.by_element(&limiter.factors))
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
