//! States that are saved and restored: those of the whole mesh, or of the elements of one rank.

use dgsuite_gpu::ExactSum;

use super::{Flow, State, SystemError};
use crate::ranges::Ranges;
use crate::state::{basis_name, basis_of};

/// Exact sums as terms that floating-point numbers hold: the rounded sums, then what these lack, and so on.
fn terms(sums: &[ExactSum]) -> Vec<Vec<f64>> {
    let (mut left, mut terms) = (sums.to_vec(), Vec::new());
    loop {
        let rounded: Vec<f64> = left.iter().map(ExactSum::value).collect();
        let done = rounded.iter().all(|&x| x == 0.0 || !x.is_finite());
        if done && !terms.is_empty() {
            return terms;
        }
        left.iter_mut().zip(&rounded).for_each(|(sum, x)| sum.add(-x));
        terms.push(rounded);
    }
}

impl Flow {
    /// Returns the state, which can be restored later in this or another precision and with any number of
    /// threads. Its coefficients are complete on rank 0, and missing on others.
    #[must_use]
    pub fn save(&self) -> State {
        self.saved(self.engine.to_canonical())
    }

    /// As [`save`](Self::save), with the coefficients of this rank's elements alone: those in
    /// [`own_ranges`](Self::own_ranges). Collective.
    #[must_use]
    pub fn save_own(&self) -> State {
        self.saved(self.engine.own_canonical())
    }

    /// The places of this rank's coefficients among those of the whole mesh; `None` on one rank.
    #[must_use]
    pub fn own_ranges(&self) -> Option<Ranges> {
        self.engine.own_ranges(self.engine.discretization().representation(), self.setup.order)
    }

    fn saved(&self, fields: Vec<f64>) -> State {
        let through = self.with_given(self.engine.whole_boundary_sums());
        let mut terms = terms(&through).into_iter();
        let mut tally = terms.next().unwrap_or_default();
        tally.extend(&self.start);
        tally.extend(&self.start_size);
        State {
            time: self.time,
            step: self.steps,
            order: self.setup.order,
            law: self.setup.law.name().to_owned(),
            parameters: self.setup.law.parameters(),
            basis: basis_name(self.engine.discretization().representation()),
            fields,
            tally,
            tally_rest: terms.flatten().collect(),
            histories: self.engine.histories(),
        }
    }

    /// Continues from a saved state. A multistep scheme continues with the saved past states if they are
    /// those of the same scheme, order and basis; otherwise it starts again from the state alone.
    ///
    /// # Errors
    /// [`SystemError::OtherLaw`]; [`SystemError::OtherBasis`] if its basis is unknown;
    /// [`SystemError::Coefficients`] if it belongs to another space or mesh. A state of another basis or
    /// order is projected.
    pub fn restore(&mut self, state: &State) -> Result<(), SystemError> {
        self.restored(state, false)
    }

    /// As [`restore`](Self::restore), from a state with the coefficients in
    /// [`ranges_in`](Self::ranges_in) alone. Collective.
    ///
    /// # Errors
    /// As [`restore`](Self::restore).
    pub fn restore_own(&mut self, state: &State) -> Result<(), SystemError> {
        self.restored(state, true)
    }

    /// The places of this rank's coefficients in a saved state that has `total` of them; `fields` of the
    /// state is not read.
    ///
    /// # Errors
    /// As [`restore`](Self::restore).
    pub fn ranges_in(&self, state: &State, total: usize) -> Result<Ranges, SystemError> {
        self.is_of_this_law(state)?;
        let own = self.engine.discretization().representation();
        let unknown = || SystemError::OtherBasis { found: state.basis.clone(), wanted: basis_name(own) };
        let from = basis_of(&state.basis).ok_or_else(unknown)?;
        match self.engine.own_ranges(from, state.order) {
            Some(ranges) if ranges.total() == total => Ok(ranges),
            Some(_) => Err(self.unfit(state, total)),
            None => Ok(Ranges::all(total)),
        }
    }

    fn is_of_this_law(&self, state: &State) -> Result<(), SystemError> {
        let (law, wanted) = (self.setup.law.name(), 3 * self.n_fields());
        if state.law == law && state.tally.len() == wanted {
            return Ok(());
        }
        let (found, sums) = (state.law.clone(), state.tally.len());
        Err(SystemError::OtherLaw { found, sums, law, wanted })
    }

    /// The error of a state with the wrong number of coefficients.
    fn unfit(&self, state: &State, found: usize) -> SystemError {
        let (order, basis) = (state.order, state.basis.clone());
        let wanted = self.is_like(state).then(|| self.engine.discretization().dofs());
        SystemError::Coefficients { found, order, basis, wanted }
    }

    /// Whether a state has the basis and the order of this solver.
    fn is_like(&self, state: &State) -> bool {
        let own = self.engine.discretization().representation();
        basis_name(own) == state.basis && state.order == self.setup.order
    }

    fn restored(&mut self, state: &State, own: bool) -> Result<(), SystemError> {
        self.is_of_this_law(state)?;
        let same = self.is_like(state);
        let restored = match (same, own) {
            (true, false) => self.engine.set_canonical(&state.fields),
            (true, true) => self.engine.set_own_canonical(&state.fields),
            // Another basis of the same space, as on a GPU, or another order.
            (false, _) => {
                let wanted = basis_name(self.engine.discretization().representation());
                let unknown = || SystemError::OtherBasis { found: state.basis.clone(), wanted };
                let from = basis_of(&state.basis).ok_or_else(unknown)?;
                match own {
                    true => self.engine.set_own_canonical_of(from, state.order, &state.fields),
                    false => self.engine.set_canonical_of(from, state.order, &state.fields),
                }
            }
        };
        restored.ok_or_else(|| self.unfit(state, state.fields.len()))?;
        if let Some(histories) = state.histories.as_ref().filter(|_| same) {
            // A multistep scheme whose past states do not fit starts again with order 1.
            let _ = self.engine.set_histories(histories);
        }
        let n = self.n_fields();
        let mut through = vec![ExactSum::new(); n];
        for term in [&state.tally[..n]].into_iter().chain(state.tally_rest.chunks_exact(n)) {
            through.iter_mut().zip(term).for_each(|(sum, &x)| sum.add(x));
        }
        self.engine.set_whole_boundary_sums(&through);
        self.forget_given();
        self.start = state.tally[n..2 * n].to_vec();
        self.start_size = state.tally[2 * n..].to_vec();
        self.time = state.time;
        self.steps = state.step;
        Ok(())
    }
}
