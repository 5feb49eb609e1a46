//! Orientation: checks that every element has a positive Jacobian and reverses inverted ones.

use dgsuite_basis::Shape;
use rayon::prelude::*;

use crate::{
    Mesh, MeshError,
    connect::Draft,
    geometry::{Sampler, cross, determinant, norm, sample_points},
    mesh::{ElementSet, mean},
    topology::Lattice,
};

/// An element is degenerate if `|J|` is below this times its diameter to the power of its dimension.
const DEGENERATE: f64 = 1e-14;

/// The signs of an element's Jacobians.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    Positive,
    Negative,
    Mixed(f64, f64),
    Degenerate,
}

/// Reverse the elements whose Jacobian is negative everywhere; returns their numbers.
///
/// # Errors
/// [`MeshError::Degenerate`] and [`MeshError::Inverted`] for the first element that cannot be used.
pub(crate) fn orient(draft: &mut Draft) -> Result<Vec<u64>, MeshError> {
    let mut turned = Vec::new();
    for s in 0..draft.sets.len() {
        let judged = judge(&draft.points, &draft.sets[s]);
        let set = &mut draft.sets[s];
        let n = set.nodes_per_element();
        let mirror = Lattice::new(set.shape, set.order).mirror;
        for (i, verdict) in judged {
            match verdict {
                Verdict::Positive => {}
                Verdict::Negative => {
                    let nodes = &mut set.nodes[i * n..(i + 1) * n];
                    let old = nodes.to_vec();
                    for (node, &m) in nodes.iter_mut().zip(&mirror) {
                        *node = old[m];
                    }
                    turned.push(set.tags[i]);
                }
                bad => return Err(error(&draft.points, set, i, bad)),
            }
        }
    }
    Ok(turned)
}

impl Mesh {
    /// Check that every element has a positive Jacobian.
    ///
    /// The Jacobian is sampled: at the corners of straight elements, and on a lattice one order
    /// finer than the geometry of curved ones.
    ///
    /// # Errors
    /// [`MeshError::Inverted`] or [`MeshError::Degenerate`] for the first element that does not.
    pub fn check_orientation(&self) -> Result<(), MeshError> {
        for set in &self.sets {
            for (i, verdict) in judge(&self.points, set) {
                let verdict = match verdict {
                    Verdict::Positive => continue,
                    Verdict::Negative => {
                        let (min, max) = extremes(&self.points, set, i);
                        Verdict::Mixed(min, max)
                    }
                    other => other,
                };
                return Err(error(&self.points, set, i, verdict));
            }
        }
        Ok(())
    }
}

fn error(points: &[[f64; 3]], set: &ElementSet, i: usize, verdict: Verdict) -> MeshError {
    let vertices: Vec<u32> = {
        let nodes = set.element(i);
        Lattice::new(set.shape, set.order).vertices.iter().map(|&l| nodes[l]).collect()
    };
    let (element, shape, centroid) = (set.tags[i], set.shape, mean(points, &vertices));
    match verdict {
        Verdict::Mixed(min, max) => MeshError::Inverted { element, shape, centroid, min, max },
        _ => MeshError::Degenerate { element, shape, centroid },
    }
}

/// The elements of a set whose Jacobian is not positive everywhere, in order.
fn judge(points: &[[f64; 3]], set: &ElementSet) -> Vec<(usize, Verdict)> {
    let n = set.nodes_per_element();
    let odd = |f: &(dyn Fn(&[u32]) -> Verdict + Sync)| {
        let elements = set.nodes.par_chunks(n).enumerate();
        elements.map(|(i, e)| (i, f(e))).filter(|&(_, v)| v != Verdict::Positive).collect()
    };
    match (set.shape, set.order) {
        (Shape::Triangle, 1) => odd(&|e| straight_triangle(points, e)),
        (Shape::Tetrahedron, 1) => odd(&|e| straight_tetrahedron(points, e)),
        _ => {
            let sampler = Sampler::new(set.shape, set.order, &sample_points(set.shape, set.order));
            let vertices = Lattice::new(set.shape, set.order).vertices;
            odd(&|e| {
                if repeats(&vertices, e) {
                    return Verdict::Degenerate;
                }
                let (min, max) = range(&sampler, points, e);
                verdict(min, max, diameter(points, &vertices, e).powi(set.shape.dim() as i32))
            })
        }
    }
}

fn repeats(vertices: &[usize], e: &[u32]) -> bool {
    (1..vertices.len()).any(|i| vertices[..i].iter().any(|&v| e[v] == e[vertices[i]]))
}

fn extremes(points: &[[f64; 3]], set: &ElementSet, i: usize) -> (f64, f64) {
    let sampler = Sampler::new(set.shape, set.order, &sample_points(set.shape, set.order));
    range(&sampler, points, set.element(i))
}

fn range(sampler: &Sampler, points: &[[f64; 3]], e: &[u32]) -> (f64, f64) {
    let mut range = (f64::INFINITY, f64::NEG_INFINITY);
    for q in 0..sampler.n_points() {
        let j = determinant(&sampler.columns(q, points, e));
        range = (range.0.min(j), range.1.max(j));
    }
    range
}

fn verdict(min: f64, max: f64, size: f64) -> Verdict {
    let tiny = DEGENERATE * size;
    if min > tiny && max.is_finite() {
        Verdict::Positive
    } else if max < -tiny && min.is_finite() {
        Verdict::Negative
    } else if min < -tiny || max > tiny {
        Verdict::Mixed(min, max)
    } else {
        Verdict::Degenerate
    }
}

fn diameter(points: &[[f64; 3]], vertices: &[usize], e: &[u32]) -> f64 {
    let first = points[e[vertices[0]] as usize];
    let far = |&v: &usize| norm(subtract(points[e[v] as usize], first));
    vertices.iter().map(far).fold(0.0, f64::max)
}

fn subtract(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|d| a[d] - b[d])
}

fn straight_triangle(points: &[[f64; 3]], e: &[u32]) -> Verdict {
    let [a, b, c] = [0, 1, 2].map(|i| points[e[i] as usize]);
    let (u, v) = (subtract(b, a), subtract(c, a));
    let j = 0.25 * (u[0] * v[1] - u[1] * v[0]);
    verdict(j, j, norm(u).max(norm(v)).powi(2))
}

fn straight_tetrahedron(points: &[[f64; 3]], e: &[u32]) -> Verdict {
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| points[e[i] as usize]);
    let (u, v, w) = (subtract(b, a), subtract(c, a), subtract(d, a));
    let n = cross(v, w);
    let j = 0.125 * (u[0] * n[0] + u[1] * n[1] + u[2] * n[2]);
    verdict(j, j, norm(u).max(norm(v)).max(norm(w)).powi(3))
}
