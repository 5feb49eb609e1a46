//! Boundaries of symmetry that are oblique to the axes, or curved: the condition `n·u = 0` couples the
//! components of the velocity.
//!
//! On a plane normal to an axis, one component has a Dirichlet condition and the others a Neumann condition.
//! Elsewhere all components have the Neumann condition, and the viscous operator gets the interior penalty
//! terms of the normal velocity, with `u_n = n·u`, `v_n = n·v` and the n of each point:
//!
//! ```text
//! −⟨∂u_n/∂n, v_n⟩ − ⟨u_n, ∂v_n/∂n⟩ + ⟨2τ u_n, v_n⟩
//! ```
//!
//! They are symmetric, belong to the implicit operator, and equal the terms of the Dirichlet condition where
//! n is an axis.

use super::machine::{Machine, Map};
use super::shared::bounded;
use crate::SystemError;
use dgsuite_gpu::Vector;
use dgsuite_ops::elliptic::{BoundaryPoints, Triplet};
use std::cell::RefCell;
use std::collections::HashMap;

/// The terms of the normal velocity on some boundaries.
pub(super) struct Slip<V> {
    /// For each component, its share of `u_n` at all points, followed by `∂u_n/∂n`.
    evaluations: Vec<Box<dyn Map<V>>>,
    /// For each component, the loads of both.
    loads: Vec<Box<dyn Map<V>>>,
    values: RefCell<V>,
    /// The diagonals of the terms: for each component, entries of vectors.
    pub(super) diagonals: Vec<Vec<(usize, f64)>>,
}

impl<V: Vector<Scalar = f64>> Slip<V> {
    /// The terms on the boundaries of these names, if there are any.
    pub(super) fn new<M: Machine<V = V>>(machine: &M, names: &[String]) -> Result<Option<Self>, SystemError> {
        let sipdg = &machine.elliptics().nodes;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        if !bounded(sipdg, &names) {
            return Ok(None);
        }
        let on = sipdg.boundary_points(&names);
        let (n, dim) = (on.len(), sipdg.mesh().dim);
        let (mut evaluations, mut loads, mut diagonals) = (Vec::new(), Vec::new(), Vec::new());
        for d in 0..dim {
            let (rows, columns) = (rows(&on, dim, d), columns(&on, d));
            let at: HashMap<(usize, usize), f64> = rows.iter().map(|&(q, i, v)| ((q, i), v)).collect();
            let mut diagonal: Vec<(usize, f64)> =
                columns.iter().filter_map(|&(i, q, v)| at.get(&(q, i)).map(|value| (i, v * value))).collect();
            diagonal.sort_by_key(|&(i, _)| i);
            diagonals.push(diagonal);
            evaluations.push(machine.evaluation(2 * n, &rows)?);
            loads.push(machine.load(2 * n, &columns)?);
        }
        let values = RefCell::new(machine.numbers(&vec![0.0; 2 * n])?);
        Ok(Some(Self { evaluations, loads, values, diagonals }))
    }

    /// Evaluates the normal velocity of a field and its derivative.
    pub(super) fn evaluate(&self, u: &[V]) {
        let mut values = self.values.borrow_mut();
        for (d, (map, u)) in self.evaluations.iter().zip(u).enumerate() {
            match d {
                0 => map.apply(u, &mut values),
                _ => map.add(u, &mut values),
            }
        }
    }

    /// Adds the terms of the field evaluated last to the component `d` of a load.
    pub(super) fn add(&self, d: usize, y: &mut V) {
        self.loads[d].add(&self.values.borrow(), y);
    }
}

/// The matrix from component `d` to `u_n` and `∂u_n/∂n`.
fn rows(on: &BoundaryPoints, dim: usize, d: usize) -> Vec<Triplet> {
    let mut all: Vec<Triplet> =
        on.value().into_iter().map(|(q, i, v)| (q, i, v * on.normals[q][d])).collect();
    let mut slopes: HashMap<(usize, usize), f64> = HashMap::new();
    for l in 0..dim {
        for (q, i, v) in on.derivative(l) {
            *slopes.entry((q, i)).or_default() += v * on.normals[q][l] * on.normals[q][d];
        }
    }
    let mut slopes: Vec<Triplet> = slopes.into_iter().map(|((q, i), v)| (on.len() + q, i, v)).collect();
    slopes.sort_by_key(|&(q, i, _)| (q, i));
    all.append(&mut slopes);
    all
}

/// The matrix from both to the load of component `d`.
fn columns(on: &BoundaryPoints, d: usize) -> Vec<Triplet> {
    let mut all: Vec<Triplet> =
        on.dirichlet_load().into_iter().map(|(i, q, v)| (i, q, v * on.normals[q][d])).collect();
    let flux = on.load().into_iter().map(|(i, q, v)| (i, on.len() + q, -v * on.normals[q][d]));
    all.extend(flux);
    all
}
