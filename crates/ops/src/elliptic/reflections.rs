//! Reflections of simplices, under which operators split into smaller blocks.
//!
//! A triangle is mapped to itself when two vertices are exchanged, a tetrahedron also when the other two are.
//! Nodes are paired with their images and replaced by sums and differences, modes by even and odd
//! combinations, and directions by ones that a reflection keeps or reverses. A derivative then maps each
//! class of functions (two on triangles, four on tetrahedra) to one other class, so that its matrix has only
//! a half, or a quarter, of the entries.

use crate::lanes::simd::{Kernel, Pack, PackScalar, compiled};
use dgsuite_basis::{Matrix, Shape};

compiled! {
    symmetrise: Symmetrise,
    expand: Expand,
}

/// Coordinates with a smaller difference are the same.
const SAME: f64 = 1e-9;

/// Sums and differences of nodal values under the reflections of a shape.
#[derive(Clone, Debug, Default)]
pub(super) struct Reflections {
    /// `[value, image, sum, difference]` under the first reflection: two nodes, and the places of their
    /// results.
    pairs: Vec<[u32; 4]>,
    /// `[value, place]` of nodes that the first reflection keeps.
    kept: Vec<[u32; 2]>,
    /// Places that the second reflection exchanges.
    second: Vec<[u32; 2]>,
    /// Start of each class among the results.
    pub(super) classes: Vec<usize>,
}

/// Directions that reflections keep or reverse, `[direction][d]`, with `∂_a = Σ_d B_ad ∂_d`.
pub(super) fn directions(shape: Shape) -> Matrix {
    let rows = if shape == Shape::Triangle {
        vec![1.0, 1.0, 1.0, -1.0]
    } else {
        vec![1.0, 0.0, 0.0, 0.0, -1.0, 1.0, -1.0, 1.0, 1.0]
    };
    Matrix::from_row_major(shape.dim(), shape.dim(), rows)
}

/// The image of a point under reflection `k`.
fn image(shape: Shape, k: usize, x: [f64; 3]) -> [f64; 3] {
    match (shape, k) {
        (Shape::Triangle, _) => [x[1], x[0], x[2]],
        (_, 0) => [-2.0 - x[0] - x[1] - x[2], x[1], x[2]],
        _ => [x[0], x[2], x[1]],
    }
}

const fn n_reflections(shape: Shape) -> usize {
    if matches!(shape, Shape::Triangle) { 1 } else { 2 }
}

impl Reflections {
    /// The reflections of a triangle or tetrahedron with the given nodes; `None` if the nodes are not
    /// symmetric.
    pub(super) fn new(shape: Shape, nodes: &[[f64; 3]]) -> Option<Self> {
        let across = |k: usize, i: usize| {
            let x = image(shape, k, nodes[i]);
            nodes.iter().position(|y| (0..3).all(|d| (x[d] - y[d]).abs() < SAME))
        };
        let n = n_reflections(shape);
        // Nodes by class; the bits of a class indicate which differences are taken.
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); 1 << n];
        for first in 0..nodes.len() {
            let mut orbit = vec![(0, first)];
            for k in 0..n {
                for (class, node) in orbit.clone() {
                    let other = across(k, node)?;
                    if other != node {
                        orbit.push((class + (1 << k), other));
                    }
                }
            }
            if orbit.iter().all(|&(_, node)| node >= first) {
                orbit.iter().for_each(|&(class, node)| members[class].push(node));
            }
        }
        let mut out = Self { classes: vec![0], ..Self::default() };
        let mut place = vec![0; nodes.len()];
        let mut next = 0;
        for class in &members {
            for &node in class {
                place[node] = next;
                next += 1;
            }
            out.classes.push(next);
        }
        for (class, nodes) in members.iter().enumerate() {
            for &node in nodes {
                let other = across(0, node)?;
                if other == node {
                    out.kept.push([node as u32, place[node] as u32]);
                } else if class & 1 == 0 {
                    out.pairs.push([node, other, place[node], place[other]].map(|i| i as u32));
                }
                if n > 1 && class & 2 == 0 {
                    let other = across(1, node)?;
                    if other != node {
                        out.second.push([place[node] as u32, place[other] as u32]);
                    }
                }
            }
        }
        Some(out)
    }

    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        2 * self.pairs.len() + self.kept.len()
    }

    /// The matrix S of the sums and differences, `[place][node]`.
    pub(super) fn matrix(&self) -> Matrix {
        let n = self.len();
        let mut out = Matrix::zeros(n, n);
        for node in 0..n {
            let mut unit = vec![0.0; n];
            unit[node] = 1.0;
            let mut column = vec![0.0; n];
            for &[a, b, sum, difference] in &self.pairs {
                column[sum as usize] = unit[a as usize] + unit[b as usize];
                column[difference as usize] = unit[a as usize] - unit[b as usize];
            }
            for &[a, place] in &self.kept {
                column[place as usize] = unit[a as usize];
            }
            for &[a, b] in &self.second {
                let (x, y) = (column[a as usize], column[b as usize]);
                (column[a as usize], column[b as usize]) = (x + y, x - y);
            }
            for (place, v) in column.into_iter().enumerate() {
                out[(place, node)] = v;
            }
        }
        out
    }

    /// Orthonormal combinations of orthonormal modes that are even or odd, class by class, from the values of
    /// the modes at points: `[mode][combination]`, and the start of each class.
    pub(super) fn modes(
        shape: Shape,
        points: &[[f64; 3]],
        weights: &[f64],
        eval: impl Fn(&[[f64; 3]]) -> Matrix,
    ) -> (Matrix, Vec<usize>) {
        let n = n_reflections(shape);
        let test = eval(points).scale_rows(weights).transpose();
        let flips: Vec<Matrix> = (0..n)
            .map(|k| test.mul(&eval(&points.iter().map(|x| image(shape, k, *x)).collect::<Vec<_>>())))
            .collect();
        let size = test.rows();
        let mut found: Vec<Vec<f64>> = Vec::new();
        let mut classes = vec![0];
        for class in 0..1_usize << n {
            let mut project = Matrix::identity(size);
            for (k, flip) in flips.iter().enumerate() {
                let sign = if class >> k & 1 == 0 { 0.5 } else { -0.5 };
                project = project.mul(&Matrix::identity(size).scaled(0.5).add_scaled(sign, flip));
            }
            for j in 0..size {
                let mut v = project.column(j);
                // Two passes give orthogonality up to rounding.
                for _ in 0..2 {
                    for u in &found {
                        let dot: f64 = u.iter().zip(&v).map(|(a, b)| a * b).sum();
                        v.iter_mut().zip(u).for_each(|(v, u)| *v -= dot * u);
                    }
                }
                let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
                if norm > 1e-6 {
                    found.push(v.into_iter().map(|x| x / norm).collect());
                }
            }
            classes.push(found.len());
        }
        (Matrix::from_fn(size, found.len(), |i, j| found[j][i]), classes)
    }
}

/// `û ← S u`.
pub(crate) struct Symmetrise<'a, T> {
    pub(super) by: &'a Reflections,
    pub(super) u: &'a [T],
    pub(super) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for Symmetrise<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        let n = self.by.len() * V::W;
        assert!(self.u.len() >= n && self.out.len() >= n);
        let (u, out) = (self.u.as_ptr(), self.out.as_mut_ptr());
        // SAFETY (whole body): nodes and places are below the number of nodes, for which there is room.
        unsafe {
            let at = |i: u32| i as usize * V::W;
            for &[a, b, sum, difference] in &self.by.pairs {
                let (x, y) = (V::load(u.add(at(a))), V::load(u.add(at(b))));
                (x + y).store(out.add(at(sum)));
                (x - y).store(out.add(at(difference)));
            }
            for &[a, place] in &self.by.kept {
                V::load(u.add(at(a))).store(out.add(at(place)));
            }
            for &[a, b] in &self.by.second {
                let (x, y) = (V::load(out.add(at(a))), V::load(out.add(at(b))));
                (x + y).store(out.add(at(a)));
                (x - y).store(out.add(at(b)));
            }
        }
    }
}

/// `u ← Sᵀ û`, with `û` as work space.
pub(crate) struct Expand<'a, T> {
    pub(super) by: &'a Reflections,
    pub(super) from: &'a mut [T],
    pub(super) u: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for Expand<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        let n = self.by.len() * V::W;
        assert!(self.u.len() >= n && self.from.len() >= n);
        let (u, from) = (self.u.as_mut_ptr(), self.from.as_mut_ptr());
        // SAFETY (whole body): nodes and places are below the number of nodes, for which there is room.
        unsafe {
            let at = |i: u32| i as usize * V::W;
            for &[a, b] in &self.by.second {
                let (x, y) = (V::load(from.add(at(a))), V::load(from.add(at(b))));
                (x + y).store(from.add(at(a)));
                (x - y).store(from.add(at(b)));
            }
            for &[a, place] in &self.by.kept {
                V::load(from.add(at(place))).store(u.add(at(a)));
            }
            for &[a, b, sum, difference] in &self.by.pairs {
                let (x, y) = (V::load(from.add(at(sum))), V::load(from.add(at(difference))));
                (x + y).store(u.add(at(a)));
                (x - y).store(u.add(at(b)));
            }
        }
    }
}
