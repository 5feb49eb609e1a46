//! The functions of an element that are of degree 1 across a linelet.

use dgsuite_basis::{Matrix, NodeSet, Shape, nodes};

/// Values at `nodes` of an orthonormal basis, with respect to these nodes, of the polynomials of an element's
/// space that have degree 1 along `v`, `[node][function]`.
///
/// These are all products of polynomials of order p along the layer and linear ones across it, on simplices
/// those of total degree p: 2p + 1 functions on a triangle, (p + 1)² on a tetrahedron.
pub(super) fn dense(shape: Shape, order: usize, v: [f64; 3], nodes: &[[f64; 3]]) -> Matrix {
    let [across, first, second] = coordinates(shape, v).map(|c| scaled(shape, c));
    let mut functions: Vec<Vec<f64>> = Vec::new();
    for across_degree in 0..=1 {
        for (i, j) in degrees(shape, order, v, across_degree) {
            let value = |x: &[f64; 3]| {
                at(&across, x).powi(across_degree as i32)
                    * legendre(i, at(&first, x))
                    * legendre(j, at(&second, x))
            };
            functions.push(nodes.iter().map(value).collect());
        }
    }
    orthonormal(&mut functions);
    Matrix::from_fn(nodes.len(), functions.len(), |i, j| functions[j][i])
}

/// Nodal functions along the layer times linear ones across it, on quadrilaterals and hexahedra with
/// Gauss–Lobatto nodes: for each node the function's number along the layer, and the values of the two linear
/// functions.
pub(super) fn nodal(shape: Shape, order: usize, axis: usize) -> Vec<(usize, [f64; 2])> {
    let line = nodes_of_line(order, NodeSet::GaussLobatto);
    let (n, dim) = (order + 1, shape.dim());
    (0..n.pow(dim as u32))
        .map(|i| {
            let digits: Vec<usize> = (0..dim).map(|d| i / n.pow(d as u32) % n).collect();
            let x = line[digits[axis]];
            (along_layer(&digits, axis, n), [0.5 * (1.0 - x), 0.5 * (1.0 + x)])
        })
        .collect()
}

/// The number along the layer of a point with these numbers along the axes.
fn along_layer(digits: &[usize], axis: usize, n: usize) -> usize {
    digits.iter().enumerate().rev().filter(|(d, _)| *d != axis).fold(0, |sum, (_, digit)| sum * n + digit)
}

/// For each point of a face that is normal to `axis`, a Gauss point along each of the others, its number
/// along the layer.
pub(super) fn along_face(order: usize, axis: usize, dim: usize, points: &[[f64; 3]]) -> Vec<usize> {
    let line = nodes_of_line(order, NodeSet::GaussLegendre);
    let nearest = |x: f64| {
        let distance = |i: &usize| (line[*i] - x).abs();
        (0..line.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
    };
    points
        .iter()
        .map(|x| {
            let digits: Vec<usize> = (0..dim).map(|d| nearest(x[d])).collect();
            along_layer(&digits, axis, order + 1)
        })
        .collect()
}

/// The axis of a direction of a quadrilateral or hexahedron.
pub(super) fn axis(along: [f64; 3]) -> usize {
    along.iter().position(|x| *x != 0.0).unwrap_or(0)
}

/// Linear functions: along `v`, and two that are constant along it.
fn coordinates(shape: Shape, v: [f64; 3]) -> [[f64; 3]; 3] {
    if shape.dim() == 2 {
        return [v, [-v[1], v[0], 0.0], [0.0; 3]];
    }
    // Solved for the coordinate that changes most along v.
    let largest = |a: &usize, b: &usize| v[*a].abs().total_cmp(&v[*b].abs());
    let k = (0..3).max_by(largest).unwrap_or(2);
    let constant = |i: usize| {
        let mut slopes = [0.0; 3];
        (slopes[i], slopes[k]) = (v[k], -v[i]);
        slopes
    };
    let others: [usize; 2] = [usize::from(k == 0), if k == 2 { 1 } else { 2 }];
    [v, constant(others[0]), constant(others[1])]
}

/// A linear function as offset and slopes, from −1 to 1 on the element; 0 if it is constant.
fn scaled(shape: Shape, slopes: [f64; 3]) -> (f64, [f64; 3]) {
    let values = shape.vertices().iter().map(|x| (0..3).map(|d| slopes[d] * x[d]).sum::<f64>());
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if low == high {
        return (0.0, [0.0; 3]);
    }
    let factor = 2.0 / (high - low);
    (-0.5 * factor * (low + high), slopes.map(|s| factor * s))
}

fn at((offset, slopes): &(f64, [f64; 3]), x: &[f64; 3]) -> f64 {
    offset + (0..3).map(|d| slopes[d] * x[d]).sum::<f64>()
}

/// The degrees of the two coordinates along the layer with a degree across it.
fn degrees(shape: Shape, order: usize, v: [f64; 3], across: usize) -> Vec<(usize, usize)> {
    let (i_max, j_max): (usize, &dyn Fn(usize) -> Option<usize>) = match shape {
        Shape::Line => (0, &|_| Some(0)),
        Shape::Quadrilateral => (order, &|_| Some(0)),
        Shape::Triangle => (order - across, &|_| Some(0)),
        Shape::Hexahedron => (order, &|_| Some(order)),
        Shape::Prism if v[2] == 0.0 => (order - across, &|_| Some(order)),
        Shape::Prism => (order, &|i| Some(order - i)),
        Shape::Tetrahedron | Shape::Pyramid => (order - across, &|i| Some(order - across - i)),
    };
    (0..=i_max).flat_map(|i| (0..=j_max(i).unwrap_or(0)).map(move |j| (i, j))).collect()
}

/// The Legendre polynomial of a degree.
fn legendre(degree: usize, x: f64) -> f64 {
    let (mut before, mut value) = (0.0, 1.0);
    for k in 0..degree {
        let k = k as f64;
        (before, value) = (value, ((2.0 * k + 1.0) * x * value - k * before) / (k + 1.0));
    }
    value
}

/// Gram and Schmidt's method, twice.
fn orthonormal(functions: &mut [Vec<f64>]) {
    for k in 0..functions.len() {
        let (before, rest) = functions.split_at_mut(k);
        let f = &mut rest[0];
        for _ in 0..2 {
            for g in before.iter() {
                let product: f64 = f.iter().zip(g).map(|(a, b)| a * b).sum();
                f.iter_mut().zip(g).for_each(|(f, g)| *f -= product * g);
            }
            let norm = f.iter().map(|x| x * x).sum::<f64>().sqrt();
            f.iter_mut().for_each(|x| *x /= norm);
        }
    }
}

/// The nodes of a line; every family that is used here is defined on it.
fn nodes_of_line(order: usize, set: NodeSet) -> Vec<f64> {
    nodes(Shape::Line, order, set).map_or_else(|_| Vec::new(), |x| x.into_iter().map(|x| x[0]).collect())
}
