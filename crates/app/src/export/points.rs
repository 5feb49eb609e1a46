//! The solution of a stored state on lattices, and the fields that are computed from it.

use dgsuite_ops::Sample;

use super::fields::of_last_step;
use super::{Fields, Model, Stored};
use crate::run::elliptic::outputs;
use crate::run::fields::compute;
use crate::systems::elliptic::located;
use crate::writer::CellBlock;

impl Stored {
    /// Returns the solution on lattices that determine its polynomials, with gradients if the fields need
    /// them.
    pub(super) fn polynomials(&self, fields: &Fields) -> Vec<Sample> {
        self.sampled(fields, self.order())
    }

    /// Returns the solution on lattices of order `order`, with gradients if the fields need them.
    pub(super) fn sampled(&self, fields: &Fields, order: usize) -> Vec<Sample> {
        match &self.model {
            Model::Flow(_, solver) => solver.conserved(order, fields.need_gradients()),
            Model::Elliptic(_, solution) => solution.sample(order),
        }
    }

    /// Computes fields from samples, on cells of order `order`.
    pub(super) fn computed(&self, samples: Vec<Sample>, fields: &Fields, order: usize) -> Vec<CellBlock> {
        let mut pieces = match (&self.model, fields) {
            (Model::Flow(_, solver), Fields::Flow(fields)) => {
                compute(solver, solver.primitive(samples), order, fields, false)
            }
            (Model::Elliptic(plan, _), Fields::Elliptic(fields)) => {
                let block = |set| outputs::block(set, order, plan.exact.as_ref(), fields);
                located(samples, &plan.setup.mesh).into_iter().map(block).collect()
            }
            // Fields are those of the same state.
            _ => Vec::new(),
        };
        if let Fields::Flow(fields) = fields {
            let lost = |name: &str| fields.iter().any(|field| field.name == name && of_last_step(field));
            pieces.iter_mut().for_each(|piece| piece.cell_data.retain(|field| !lost(&field.name)));
        }
        pieces
    }
}
