//! Solutions of earlier solves: stored as states, and sampled again without a linear solver.

use std::sync::Arc;

use dgsuite_gpu::Host;
use dgsuite_ops::Sample;

use super::{Elliptic, EllipticError, EllipticSetup, Operator, operator, ranks};
use crate::state::State;
use crate::words::gathered::in_order;

/// The name of the equation in stored states.
pub const LAW: &str = "poisson";

impl Elliptic {
    /// Returns a solution, given in the operator's order, as a state at time 0. Its coefficients are
    /// `[element][node]`; on several ranks those of the whole mesh on rank 0, and none on others.
    #[must_use]
    pub fn save(&self, u: &[f64]) -> State {
        let fields = match self.operator.0.ranks() {
            Some(ranks) => ranks::coefficients(ranks, &self.operator.0, u),
            None => {
                let blocks = self.operator.0.blocks_of_unknowns();
                blocks.into_iter().flatten().map(|entry| u[entry as usize]).collect()
            }
        };
        State {
            time: 0.0,
            step: 0,
            order: self.setup.order,
            law: LAW.to_owned(),
            parameters: Vec::new(),
            basis: "nodal".to_owned(),
            fields,
            tally: Vec::new(),
            tally_rest: Vec::new(),
            histories: None,
        }
    }
}

/// A stored solution with its space.
pub struct Stored {
    setup: EllipticSetup,
    operator: Operator<f64>,
    u: Vec<f64>,
}

impl Stored {
    /// Makes the space of a set-up, on the CPU, and takes the coefficients of a state; `None` in place of a
    /// state that does not fit the space.
    ///
    /// # Errors
    /// As [`Elliptic::new`], without those of the linear solver.
    pub fn new(setup: EllipticSetup, state: &State) -> Result<Option<Self>, EllipticError> {
        let host = Arc::new(Host::new(setup.threads)?);
        let operator = operator(&setup, &host)?;
        let blocks = operator.0.blocks_of_unknowns();
        let fits = state.law == LAW
            && state.order == setup.order
            && blocks.iter().map(Vec::len).sum::<usize>() == state.fields.len();
        if !fits {
            return Ok(None);
        }
        let mut u = vec![0.0; operator.0.len()];
        for (entry, value) in blocks.into_iter().flatten().zip(&state.fields) {
            u[entry as usize] = *value;
        }
        Ok(Some(Self { setup, operator, u }))
    }

    /// The parameters.
    #[must_use]
    pub fn setup(&self) -> &EllipticSetup {
        &self.setup
    }

    /// Returns the solution on the lattices of an order, in the order of elements.
    #[must_use]
    pub fn sample(&self, order: usize) -> Vec<Sample> {
        self.operator.0.sample(&self.u, order).into_iter().map(in_order).collect()
    }
}
