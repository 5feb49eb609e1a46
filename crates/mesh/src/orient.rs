//! Orientation: checks that every element has a positive Jacobian and reverses inverted ones.

use dgsuite_basis::Shape;
use rayon::prelude::*;

use crate::{
    Mesh, MeshError,
    connect::Draft,
    geometry::{cross, norm},
    jacobian_bound::{DEGENERATE, Extremes, JacobianBound, Scratch, Verdict},
    mesh::{ElementSet, mean},
    topology::Lattice,
};

/// Reverse the elements whose Jacobian is negative everywhere; returns their numbers.
///
/// # Errors
/// As [`Mesh::check_orientation`], for the first element that cannot be used.
pub(crate) fn orient(draft: &mut Draft) -> Result<Vec<u64>, MeshError> {
    let mut turned = Vec::new();
    for s in 0..draft.sets.len() {
        let (judged, _) = judge(&draft.points, &draft.sets[s])?;
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
    /// Check that every element has a positive Jacobian everywhere.
    ///
    /// This is certain for every shape and geometry order: it follows from bounds, not from samples.
    ///
    /// # Errors
    /// [`MeshError::Inverted`], [`MeshError::NearlyInverted`] or [`MeshError::Degenerate`] for the first
    /// element that does not.
    pub fn check_orientation(&self) -> Result<(), MeshError> {
        for set in &self.sets {
            let (judged, bound) = judge(&self.points, set)?;
            if let Some(&(i, verdict)) = judged.first() {
                let verdict = match verdict {
                    // The order of the nodes is given here, so that most Jacobians may be negative.
                    Verdict::Negative | Verdict::Mixed(_) => bound
                        .extremes(&self.points, set.element(i))
                        .map_or(Verdict::Degenerate, Verdict::Mixed),
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
        Verdict::Mixed(Extremes { min, at, max }) => {
            MeshError::Inverted { element, shape, centroid, min, at, max }
        }
        Verdict::Vanishing(Extremes { min, at, max }) => {
            MeshError::NearlyInverted { element, shape, centroid, min, at, max }
        }
        _ => MeshError::Degenerate { element, shape, centroid },
    }
}

/// The elements of a set whose Jacobian is not positive everywhere, in order, and the bound that was used.
fn judge(points: &[[f64; 3]], set: &ElementSet) -> Result<(Vec<(usize, Verdict)>, JacobianBound), MeshError> {
    let n = set.nodes_per_element();
    let bound = JacobianBound::new(set.shape, set.order)?;
    let odd = |f: &(dyn Fn(&mut Scratch, &[u32]) -> Verdict + Sync)| {
        let elements = set.nodes.par_chunks(n).enumerate();
        let verdicts = elements.map_init(Scratch::default, |scratch, (i, e)| (i, f(scratch, e)));
        verdicts.filter(|&(_, v)| v != Verdict::Positive).collect()
    };
    let judged = match (set.shape, set.order) {
        (Shape::Triangle, 1) => odd(&|_, e| straight_triangle(points, e)),
        (Shape::Tetrahedron, 1) => odd(&|_, e| straight_tetrahedron(points, e)),
        _ => {
            let vertices = Lattice::new(set.shape, set.order).vertices;
            odd(&|scratch, e| {
                if repeats(&vertices, e) { Verdict::Degenerate } else { bound.verdict(points, e, scratch) }
            })
        }
    };
    Ok((judged, bound))
}

fn repeats(vertices: &[usize], e: &[u32]) -> bool {
    (1..vertices.len()).any(|i| vertices[..i].iter().any(|&v| e[v] == e[vertices[i]]))
}

fn subtract(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|d| a[d] - b[d])
}

/// The verdict on a constant Jacobian, with the element's diameter to the power of its dimension.
fn straight(jacobian: f64, size: f64) -> Verdict {
    let tiny = DEGENERATE * size;
    if jacobian > tiny && jacobian.is_finite() {
        Verdict::Positive
    } else if jacobian < -tiny && jacobian.is_finite() {
        Verdict::Negative
    } else {
        Verdict::Degenerate
    }
}

fn straight_triangle(points: &[[f64; 3]], e: &[u32]) -> Verdict {
    let [a, b, c] = [0, 1, 2].map(|i| points[e[i] as usize]);
    let (u, v) = (subtract(b, a), subtract(c, a));
    let j = 0.25 * (u[0] * v[1] - u[1] * v[0]);
    straight(j, norm(u).max(norm(v)).powi(2))
}

fn straight_tetrahedron(points: &[[f64; 3]], e: &[u32]) -> Verdict {
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| points[e[i] as usize]);
    let (u, v, w) = (subtract(b, a), subtract(c, a), subtract(d, a));
    let n = cross(v, w);
    let j = 0.125 * (u[0] * n[0] + u[1] * n[1] + u[2] * n[2]);
    straight(j, norm(u).max(norm(v)).max(norm(w)).powi(3))
}
