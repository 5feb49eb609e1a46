//! Gmsh's order of the nodes of complete Lagrange elements.
//!
//! First the vertices, then the inner nodes of each edge, of each face, and of the volume. Faces and volumes
//! are numbered in the same way, as smaller elements of their own shape. (Prisms contain a triangle times a
//! line.) Gmsh has its own lists of edges and faces.

use dgsuite_basis::{Shape, lattice::lattice};

use crate::topology::position;

const fn edges(shape: Shape) -> &'static [[usize; 2]] {
    match shape {
        Shape::Line => &[[0, 1]],
        Shape::Triangle => &[[0, 1], [1, 2], [2, 0]],
        Shape::Quadrilateral => &[[0, 1], [1, 2], [2, 3], [3, 0]],
        Shape::Tetrahedron => &[[0, 1], [1, 2], [2, 0], [3, 0], [3, 2], [3, 1]],
        Shape::Hexahedron => {
            &[[0, 1], [0, 3], [0, 4], [1, 2], [1, 5], [2, 3], [2, 6], [3, 7], [4, 5], [4, 7], [5, 6], [6, 7]]
        }
        Shape::Prism => &[[0, 1], [0, 2], [0, 3], [1, 2], [1, 4], [2, 5], [3, 4], [3, 5], [4, 5]],
        Shape::Pyramid => &[[0, 1], [0, 3], [0, 4], [1, 2], [1, 4], [2, 3], [2, 4], [3, 4]],
    }
}

const fn faces(shape: Shape) -> &'static [&'static [usize]] {
    match shape {
        Shape::Line => &[],
        Shape::Triangle => &[&[0, 1, 2]],
        Shape::Quadrilateral => &[&[0, 1, 2, 3]],
        Shape::Tetrahedron => &[&[0, 2, 1], &[0, 1, 3], &[0, 3, 2], &[3, 1, 2]],
        Shape::Hexahedron => {
            &[&[0, 3, 2, 1], &[0, 1, 5, 4], &[0, 4, 7, 3], &[1, 2, 6, 5], &[2, 3, 7, 6], &[4, 5, 6, 7]]
        }
        Shape::Prism => &[&[0, 2, 1], &[3, 4, 5], &[0, 1, 4, 3], &[0, 3, 5, 2], &[1, 2, 5, 4]],
        Shape::Pyramid => &[&[0, 1, 4], &[3, 0, 4], &[1, 2, 4], &[2, 3, 4], &[0, 3, 2, 1]],
    }
}

type X = [f64; 3];

fn combine(terms: &[(f64, X)]) -> X {
    std::array::from_fn(|d| terms.iter().map(|&(w, x)| w * x[d]).sum())
}

/// The corners of the element formed by the inner nodes of an element with corners `v` and order `n`, and its
/// order; `None` if there are no inner nodes.
fn inner(shape: Shape, v: &[X], n: usize) -> Option<(Vec<X>, usize)> {
    // Each corner moves inward by 1/n along the edges that leave it.
    let step = 1.0 / n as f64;
    let toward = |a: usize, others: &[usize]| {
        let mut terms = vec![(1.0 - step * others.len() as f64, v[a])];
        terms.extend(others.iter().map(|&b| (step, v[b])));
        combine(&terms)
    };
    let corners =
        |neighbours: &[&[usize]]| neighbours.iter().enumerate().map(|(a, b)| toward(a, b)).collect();
    match shape {
        Shape::Line => (n > 1).then(|| (corners(&[&[1], &[0]]), n - 2)),
        Shape::Triangle => (n > 2).then(|| (corners(&[&[1, 2], &[0, 2], &[0, 1]]), n - 3)),
        // Bilinear: one step along both edges from the corner, combined.
        Shape::Quadrilateral => (n > 1).then(|| (tensor_corners(v, step), n - 2)),
        Shape::Tetrahedron => {
            (n > 3).then(|| (corners(&[&[1, 2, 3], &[0, 2, 3], &[0, 1, 3], &[0, 1, 2]]), n - 4))
        }
        Shape::Hexahedron => (n > 1).then(|| {
            let low = tensor_corners(&v[..4], step);
            let high = tensor_corners(&v[4..], step);
            let mix = |a: X, b: X| combine(&[(1.0 - step, a), (step, b)]);
            let mut all: Vec<X> = low.iter().zip(&high).map(|(&a, &b)| mix(a, b)).collect();
            all.extend(low.iter().zip(&high).map(|(&a, &b)| mix(b, a)));
            (all, n - 2)
        }),
        // One level up and one step inwards at the base, two levels down at the apex.
        Shape::Pyramid => (n > 2).then(|| {
            let base = |a: usize, b: usize, d: usize| {
                combine(&[(1.0 - 3.0 * step, v[a]), (step, v[b]), (step, v[d]), (step, v[4])])
            };
            let h = 0.5 * step;
            let top = combine(&[(1.0 - 2.0 * step, v[4]), (h, v[0]), (h, v[1]), (h, v[2]), (h, v[3])]);
            (vec![base(0, 1, 3), base(1, 0, 2), base(2, 1, 3), base(3, 0, 2), top], n - 3)
        }),
        Shape::Prism => None,
    }
}

fn tensor_corners(v: &[X], step: f64) -> Vec<X> {
    (0..4)
        .map(|a| {
            let (b, c, d) = ((a + 1) % 4, (a + 2) % 4, (a + 3) % 4);
            let s = step;
            combine(&[
                ((1.0 - s) * (1.0 - s), v[a]),
                (s * (1.0 - s), v[b]),
                (s * s, v[c]),
                (s * (1.0 - s), v[d]),
            ])
        })
        .collect()
}

/// Append the nodes of an element with corners `v` and order `n` in Gmsh's order.
fn append(shape: Shape, v: &[X], n: usize, out: &mut Vec<X>) {
    if n == 0 {
        let w = 1.0 / v.len() as f64;
        out.push(combine(&v.iter().map(|&x| (w, x)).collect::<Vec<_>>()));
        return;
    }
    out.extend_from_slice(v);
    for &[a, b] in edges(shape) {
        for j in 1..n {
            let w = j as f64 / n as f64;
            out.push(combine(&[(1.0 - w, v[a]), (w, v[b])]));
        }
    }
    for face in faces(shape) {
        let corners: Vec<X> = face.iter().map(|&i| v[i]).collect();
        let shape = if face.len() == 3 { Shape::Triangle } else { Shape::Quadrilateral };
        if let Some((small, m)) = inner(shape, &corners, n) {
            append(shape, &small, m, out);
        }
    }
    if shape == Shape::Prism {
        let step = 1.0 / n as f64;
        let level = |w: f64| -> Vec<X> {
            let corners: Vec<X> = (0..3).map(|i| combine(&[(1.0 - w, v[i]), (w, v[i + 3])])).collect();
            let mut nodes = Vec::new();
            if let Some((small, m)) = inner(Shape::Triangle, &corners, n) {
                append(Shape::Triangle, &small, m, &mut nodes);
            }
            nodes
        };
        for (&a, &b) in level(step).iter().zip(&level(1.0 - step)) {
            append(Shape::Line, &[a, b], n - 2, out);
        }
    } else if shape.dim() == 3
        && let Some((small, m)) = inner(shape, v, n)
    {
        append(shape, &small, m, out);
    }
}

/// Reference coordinates of the nodes of a complete element of order `n ≥ 1` in Gmsh's order.
pub(crate) fn gmsh_nodes(shape: Shape, n: usize) -> Vec<[f64; 3]> {
    let mut out = Vec::new();
    append(shape, shape.vertices(), n, &mut out);
    out
}

/// For each node in Gmsh's order its position in the lattice.
pub(crate) fn gmsh_to_lattice(shape: Shape, n: usize) -> Vec<usize> {
    let points = lattice(shape, n);
    gmsh_nodes(shape, n).into_iter().map(|x| position(&points, x).unwrap_or(usize::MAX)).collect()
}
