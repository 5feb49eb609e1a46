//! The solution at any points of elements: its polynomials, evaluated.

use dgsuite_basis::{LagrangeBasis, lattice::lattice_len};
use dgsuite_ops::Sample;

use super::fields::of_last_step;
use super::{Fields, Model, Stored};
use crate::run::elliptic::outputs;
use crate::run::fields::compute;
use crate::systems::elliptic::located;
use crate::writer::CellBlock;

/// A point of an element: the number of the element in its sample, and its reference coordinates.
pub(super) type Place = (usize, [f64; 3]);

/// Evaluates the polynomials of samples on a lattice, and positions, at places; one element for each place.
pub(super) fn evaluate(sample: &Sample, places: &[Place]) -> Sample {
    let basis = LagrangeBasis::new(sample.shape, sample.order);
    let nodes = lattice_len(sample.shape, sample.order);
    let mut out = Sample {
        shape: sample.shape,
        order: sample.order,
        elements: places.iter().map(|&(cell, _)| sample.elements[cell]).collect(),
        points: Vec::with_capacity(places.len()),
        values: vec![Vec::with_capacity(places.len()); sample.values.len()],
        gradients: sample.gradients.iter().map(|axis| vec![Vec::new(); axis.len()]).collect(),
    };
    // The places of one element share an evaluation of the basis.
    for run in places.chunk_by(|a, b| a.0 == b.0) {
        let range = run[0].0 * nodes..(run[0].0 + 1) * nodes;
        let matrix = basis.eval(&run.iter().map(|&(_, r)| r).collect::<Vec<_>>());
        for q in 0..run.len() {
            let row = matrix.row(q);
            let mean = |column: &[f64]| row.iter().zip(&column[range.clone()]).map(|(l, v)| l * v).sum();
            let mut x = [0.0; 3];
            for (l, node) in row.iter().zip(&sample.points[range.clone()]) {
                (0..3).for_each(|d| x[d] += l * node[d]);
            }
            out.points.push(x);
            for (to, from) in out.values.iter_mut().zip(&sample.values) {
                to.push(mean(from));
            }
            for (to, from) in out.gradients.iter_mut().flatten().zip(sample.gradients.iter().flatten()) {
                to.push(mean(from));
            }
        }
    }
    out
}

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
