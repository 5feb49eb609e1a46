//! Engines on a part of the mesh, and what the same questions mean on one rank, which has the whole.

use super::Engine;
use crate::ranges::Ranges;
use dgsuite_basis::Representation;
use dgsuite_gpu::ExactSum;
use dgsuite_ops::{OpsError, Sample};

/// What an engine on a part of the mesh has beside one on the whole.
pub(crate) trait OnRanks {
    fn own_samples(&self, t: Option<f64>, order: usize) -> Vec<Sample>;
    fn own_elements(&self) -> Option<&[u32]>;
    fn own_canonical(&self) -> Vec<f64>;
    fn set_own_canonical(&mut self, values: &[f64]) -> Option<()>;
    fn set_own_canonical_of(&mut self, from: Representation, order: usize, values: &[f64]) -> Option<()>;
    fn own_ranges(&self, from: Representation, order: usize) -> Option<Ranges>;
    fn whole_boundary_sums(&self) -> Vec<ExactSum>;
    fn set_whole_boundary_sums(&mut self, sums: &[ExactSum]);
    fn any(&self, here: bool) -> bool;
    fn connected(&self) -> Result<(), OpsError>;
    fn gathered(&self, own: Vec<f32>) -> Option<Vec<f32>>;
}

impl dyn Engine {
    /// [`Self::sample`] for this rank's elements, with their indices in the whole mesh; with gradients at
    /// time `t` if there is one. Collective.
    pub(crate) fn own_samples(&self, t: Option<f64>, order: usize) -> Vec<Sample> {
        match (self.on_ranks(), t) {
            (Some(ranks), t) => ranks.own_samples(t, order),
            (None, None) => self.sample(order),
            (None, Some(t)) => self.sample_with_gradients(t, order),
        }
    }

    /// The indices of this rank's elements in the whole mesh; `None` on one rank, which has them all.
    pub(crate) fn own_elements(&self) -> Option<&[u32]> {
        self.on_ranks()?.own_elements()
    }

    /// The state of this rank's elements in canonical order; of all elements on one rank.
    pub(crate) fn own_canonical(&self) -> Vec<f64> {
        self.on_ranks().map_or_else(|| self.to_canonical(), |ranks| ranks.own_canonical())
    }

    /// Sets the state of this rank's elements from [`Self::own_canonical`].
    pub(crate) fn set_own_canonical(&mut self, values: &[f64]) -> Option<()> {
        match self.on_ranks_mut() {
            Some(ranks) => ranks.set_own_canonical(values),
            None => self.set_canonical(values),
        }
    }

    /// Does the same with coefficients of another basis and order.
    pub(crate) fn set_own_canonical_of(
        &mut self,
        from: Representation,
        order: usize,
        values: &[f64],
    ) -> Option<()> {
        match self.on_ranks_mut() {
            Some(ranks) => ranks.set_own_canonical_of(from, order, values),
            None => self.set_canonical_of(from, order, values),
        }
    }

    /// The ranges of this rank's elements in a state in canonical order of this basis and order; `None` on
    /// one rank.
    pub(crate) fn own_ranges(&self, from: Representation, order: usize) -> Option<Ranges> {
        self.on_ranks()?.own_ranges(from, order)
    }

    /// [`Self::boundary_sums`] of all ranks. Collective.
    pub(crate) fn whole_boundary_sums(&self) -> Vec<ExactSum> {
        self.on_ranks().map_or_else(|| self.boundary_sums(), |ranks| ranks.whole_boundary_sums())
    }

    /// Sets the sums from those of all ranks.
    pub(crate) fn set_whole_boundary_sums(&mut self, sums: &[ExactSum]) {
        match self.on_ranks_mut() {
            Some(ranks) => ranks.set_whole_boundary_sums(sums),
            None => self.set_boundary_sums(sums),
        }
    }

    /// Whether a condition holds on any rank.
    pub(crate) fn any(&self, here: bool) -> bool {
        self.on_ranks().map_or(here, |ranks| ranks.any(here))
    }

    /// The failure of the communication with other ranks, if there was one.
    pub(crate) fn connected(&self) -> Result<(), OpsError> {
        self.on_ranks().map_or(Ok(()), |ranks| ranks.connected())
    }

    /// Numbers of this rank's elements as those of the whole mesh. Collective.
    pub(crate) fn gathered(&self, own: Vec<f32>) -> Option<Vec<f32>> {
        match self.on_ranks() {
            Some(ranks) => ranks.gathered(own),
            None => Some(own),
        }
    }
}
