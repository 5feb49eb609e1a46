//! The solution at any points of elements: its polynomials, evaluated.

use std::collections::HashMap;

use dgsuite_basis::{LagrangeBasis, lattice::lattice_len};
use dgsuite_ops::Sample;

/// A point of an element: the number of the element in its sample, and its reference coordinates.
pub type Place = (usize, [f64; 3]);

/// Evaluates the polynomials of samples on a lattice, and positions, at places; one element for each place.
pub fn evaluate(sample: &Sample, places: &[Place]) -> Sample {
    let basis = LagrangeBasis::new(sample.shape, sample.order);
    let nodes = lattice_len(sample.shape, sample.order);
    let mut out = Sample {
        shape: sample.shape,
        order: sample.order,
        elements: places.iter().map(|&(cell, _)| sample.elements[cell]).collect(),
        points: Vec::with_capacity(places.len()),
        values: vec![Vec::with_capacity(places.len()); sample.values.len()],
        gradients: sample.gradients.iter().map(|axis| vec![Vec::new(); axis.len()]).collect(),
        floors: match &sample.floors[..] {
            [] => Vec::new(),
            floors => places.iter().map(|&(cell, _)| floors[cell].clone()).collect(),
        },
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

/// Evaluates samples at places of a mesh, each an element and reference coordinates in it. Returns the values
/// of each sample, one element for each of its places, and the number of the place of each of them.
pub fn at_places(samples: &[Sample], places: &[Option<(usize, [f64; 3])>]) -> Vec<(Sample, Vec<usize>)> {
    // The sample and the position in it of each element.
    let mut known: HashMap<usize, (usize, usize)> = HashMap::new();
    for (number, sample) in samples.iter().enumerate() {
        known.extend(sample.elements.iter().enumerate().map(|(cell, &e)| (e, (number, cell))));
    }
    let mut own = vec![(Vec::new(), Vec::new()); samples.len()];
    for (i, place) in places.iter().enumerate() {
        let found = place.and_then(|(element, r)| Some((*known.get(&element)?, r)));
        if let Some(((number, cell), r)) = found {
            own[number].0.push((cell, r));
            own[number].1.push(i);
        }
    }
    samples.iter().zip(own).map(|(sample, (places, rows))| (evaluate(sample, &places), rows)).collect()
}
