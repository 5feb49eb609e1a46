//! A certain bound of the Jacobian: whether it is positive in the whole element, by Bernstein coefficients.
//!
//! The derivatives `∂x/∂r_d` of the map of an element are polynomials on a product of simplices: on the shape
//! itself, or on the cube of the collapsed coordinates `r/τ`, `s/τ`, `t` of the pyramid, `τ = (1 − t)/2`,
//! whose rational functions become polynomials there. So is their determinant `J`, whose Bernstein
//! coefficients are sums of products of those of the derivatives with positive weights: they are exact but
//! for rounding.
//!
//! Two bounds follow each other. The first needs the derivatives alone. If with a matrix `A`
//! `ρ_d = max_i ‖A⁻¹ c_d,i − e_d‖₁ < 1` for the coefficients `c_d,i` of `∂x/∂r_d`, then `A⁻¹ ∂x/∂r` has a
//! dominant diagonal everywhere, and `|J| ≥ |det A| Π_d (1 − ρ_d)`; most elements are done. For the others,
//! the smallest coefficient of `J` bounds it from below, and halves of the element have coefficients closer
//! to their values: those that may hide a root are halved until all coefficients are positive or a vertex of
//! a half has `J ≤ 0`.
//!
//! Sources: Ostrowski (1937), for matrices with a dominant diagonal; Johnen, Remacle & Geuzaine (2013), J.
//! Comput. Phys. 233, 359-372, for bounds of Jacobians by Bernstein coefficients and subdivision.

use std::{cmp::Ordering, collections::BinaryHeap, sync::OnceLock};

use dgsuite_basis::{LagrangeBasis, Matrix, Shape};

use crate::{
    MeshError,
    bernstein::{Bernstein, Edge},
    geometry::{cross, determinant, norm},
};

/// A Jacobian counts as zero below this times the element's diameter to the power of its dimension.
pub(crate) const DEGENERATE: f64 = 1e-14;

/// Largest number of halvings of one element. An element that needs more is as good as inverted. Its smallest
/// Jacobian lies on a line or a surface and is tiny: a waist of 1e-8 of the ends needs fewer.
const MAX_HALVINGS: usize = 2000;

/// The smallest Jacobian of an inverted element is known to this fraction of the range of its Jacobians.
const ACCURACY: f64 = 1e-3;

/// The sign of an element's Jacobian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// Positive everywhere.
    Positive,
    /// Negative everywhere: positive if the order of the nodes is reversed.
    Negative,
    /// Not positive everywhere.
    Mixed(Extremes),
    /// So close to zero somewhere that its sign is not certain.
    Vanishing(Extremes),
    /// Zero everywhere, or not finite.
    Degenerate,
}

/// Values of the Jacobian at points of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extremes {
    /// The smallest one.
    pub(crate) min: f64,
    /// Its place.
    pub(crate) at: [f64; 3],
    /// The largest one.
    pub(crate) max: f64,
}

/// The bound for the elements of one shape and geometry order.
#[derive(Debug)]
pub(crate) struct JacobianBound {
    shape: Shape,
    geometry: LagrangeBasis,
    /// The derivatives in each direction; in the plane the third is `e_z`.
    columns: [Column; 3],
    full: OnceLock<Full>,
}

/// A derivative of the map.
#[derive(Debug)]
struct Column {
    basis: Bernstein,
    /// Bernstein coefficients from coordinates of the nodes; `None` for `e_z`.
    from_nodes: Option<Matrix>,
}

/// The product of the derivatives.
#[derive(Debug)]
struct Full {
    /// Positions of exponents in an array in which those of a product are the sum of those of its factors.
    columns: [Vec<usize>; 3],
    pair: Vec<usize>,
    whole: Vec<usize>,
    /// Length of that array.
    length: usize,
    jacobian: Bernstein,
    edges: Vec<Edge>,
    vertices: Vec<(usize, [usize; 3])>,
}

/// Memory that elements use one after another.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    nodes: Vec<[f64; 3]>,
    columns: [Vec<[f64; 3]>; 3],
}

/// Dimensions of the simplices whose product is the shape (for the pyramid: its collapsed cube).
const fn dimensions(shape: Shape) -> &'static [usize] {
    match shape {
        Shape::Line => &[1],
        Shape::Triangle => &[2],
        Shape::Quadrilateral => &[1, 1],
        Shape::Tetrahedron => &[3],
        Shape::Prism => &[2, 1],
        Shape::Hexahedron | Shape::Pyramid => &[1, 1, 1],
    }
}

/// The degree of `∂x/∂r_d` on each of these simplices.
fn degrees(shape: Shape, order: usize, d: usize) -> Vec<usize> {
    let (q, less) = (order, order - 1);
    if d >= shape.dim() {
        return vec![0; dimensions(shape).len()];
    }
    match (shape, d) {
        (Shape::Line | Shape::Triangle | Shape::Tetrahedron, _) => vec![less],
        (Shape::Prism, 2) => vec![q, less],
        (Shape::Prism, _) => vec![less, q],
        // Along rays to the apex every derivative loses one degree.
        (Shape::Pyramid, 0) => vec![less, q, less],
        (Shape::Pyramid, 1) => vec![q, less, less],
        (Shape::Pyramid, _) => vec![q, q, less],
        (Shape::Quadrilateral | Shape::Hexahedron, _) => {
            (0..shape.dim()).map(|e| if e == d { less } else { q }).collect()
        }
    }
}

/// The reference coordinates of a point of the product of simplices.
fn reference(shape: Shape, lambda: [f64; 3]) -> [f64; 3] {
    let mut r: [f64; 3] = std::array::from_fn(|d| if d < shape.dim() { 2.0 * lambda[d] - 1.0 } else { 0.0 });
    if shape == Shape::Pyramid {
        let tau = 1.0 - lambda[2];
        (r[0], r[1]) = (tau * r[0], tau * r[1]);
    }
    r
}

impl JacobianBound {
    /// Prepares the bound for a shape and a geometry order of at least 1.
    ///
    /// # Errors
    /// [`MeshError::Basis`] for orders so high that Bernstein coefficients cannot be computed.
    pub(crate) fn new(shape: Shape, order: usize) -> Result<Self, MeshError> {
        let geometry = LagrangeBasis::new(shape, order);
        let column = |d: usize| -> Result<Column, MeshError> {
            let basis = Bernstein::new(dimensions(shape), &degrees(shape, order, d));
            if d >= shape.dim() {
                return Ok(Column { basis, from_nodes: None });
            }
            let points = basis.points();
            let rows: Vec<f64> = points.iter().flat_map(|&x| basis.eval(x)).collect();
            let values = Matrix::from_row_major(points.len(), basis.len(), rows);
            let rough = values.inverse()?;
            // One Newton step removes the rounding errors of the factorisation.
            let residual = Matrix::identity(points.len()).add_scaled(-1.0, &values.mul(&rough));
            let inverse = rough.add_scaled(1.0, &rough.mul(&residual));
            let places: Vec<[f64; 3]> = points.iter().map(|&x| reference(shape, x)).collect();
            let from_nodes = Some(inverse.mul(&geometry.grad(&places)[d]));
            Ok(Column { basis, from_nodes })
        };
        let columns = [column(0)?, column(1)?, column(2)?];
        Ok(Self { shape, geometry, columns, full: OnceLock::new() })
    }

    /// The sign of the Jacobian of the element with these nodes.
    pub(crate) fn verdict(&self, points: &[[f64; 3]], nodes: &[u32], scratch: &mut Scratch) -> Verdict {
        let Some(tiny) = self.derivatives(points, nodes, scratch) else { return Verdict::Degenerate };
        match Self::first_bound(self.shape.dim(), &scratch.columns) {
            Some((det, low)) if low > tiny && low.is_finite() => {
                if det > 0.0 {
                    Verdict::Positive
                } else {
                    Verdict::Negative
                }
            }
            _ => self.second_bound(points, nodes, scratch, tiny),
        }
    }

    /// Values of the Jacobian of an element that is not valid.
    pub(crate) fn extremes(&self, points: &[[f64; 3]], nodes: &[u32]) -> Option<Extremes> {
        let mut scratch = Scratch::default();
        let tiny = self.derivatives(points, nodes, &mut scratch)?;
        let full = self.full();
        let mut search = Search::new(full, full.coefficients(&self.columns, &scratch.columns), tiny);
        search.run();
        Some(self.placed(search.found, points, nodes))
    }

    fn full(&self) -> &Full {
        self.full.get_or_init(|| Full::new(self.shape, &self.columns))
    }

    /// Computes the coefficients of the derivatives, and the value below which a Jacobian counts as zero;
    /// `None` if it is not finite.
    fn derivatives(&self, points: &[[f64; 3]], nodes: &[u32], scratch: &mut Scratch) -> Option<f64> {
        let origin = points[nodes[0] as usize];
        scratch.nodes.clear();
        scratch.nodes.extend(nodes.iter().map(|&n| {
            let x = points[n as usize];
            [x[0] - origin[0], x[1] - origin[1], x[2] - origin[2]]
        }));
        for (column, out) in self.columns.iter().zip(&mut scratch.columns) {
            out.clear();
            match &column.from_nodes {
                None => out.push([0.0, 0.0, 1.0]),
                Some(matrix) => out.extend((0..matrix.rows()).map(|i| {
                    let mut sum = [0.0; 3];
                    for (w, x) in matrix.row(i).iter().zip(&scratch.nodes) {
                        for j in 0..3 {
                            sum[j] += w * x[j];
                        }
                    }
                    sum
                })),
            }
        }
        let size = scratch.nodes.iter().map(|&x| norm(x)).fold(0.0, f64::max).powi(self.shape.dim() as i32);
        (size > 0.0 && size.is_finite()).then_some(DEGENERATE * size)
    }

    /// `det A` and a lower bound of `|J|`, if the derivatives vary little.
    fn first_bound(dim: usize, columns: &[Vec<[f64; 3]>; 3]) -> Option<(f64, f64)> {
        let mean = |c: &Vec<[f64; 3]>| {
            let mut sum = [0.0; 3];
            for x in c {
                (0..3).for_each(|j| sum[j] += x[j]);
            }
            sum.map(|s| s / c.len() as f64)
        };
        let a: [[f64; 3]; 3] = std::array::from_fn(|d| mean(&columns[d]));
        let det = determinant(&a);
        let rows = [cross(a[1], a[2]), cross(a[2], a[0]), cross(a[0], a[1])];
        let mut low = det.abs();
        for (column, mean) in columns.iter().zip(&a).take(dim) {
            let mut largest = 0.0_f64;
            for c in column {
                let e = [c[0] - mean[0], c[1] - mean[1], c[2] - mean[2]];
                let along = |row: &[f64; 3]| (row[0] * e[0] + row[1] * e[1] + row[2] * e[2]).abs();
                largest = largest.max(rows.iter().map(along).sum());
            }
            if largest.partial_cmp(&det.abs()) != Some(Ordering::Less) {
                return None;
            }
            low *= 1.0 - largest / det.abs();
        }
        Some((det, low))
    }

    fn second_bound(&self, points: &[[f64; 3]], nodes: &[u32], scratch: &Scratch, tiny: f64) -> Verdict {
        let full = self.full();
        let mut c = full.coefficients(&self.columns, &scratch.columns);
        // The mean of the coefficients is that of the Jacobian.
        let sign = if c.iter().sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
        c.iter_mut().for_each(|c| *c *= sign);
        if !c.iter().all(|c| c.is_finite()) {
            return Verdict::Degenerate;
        }
        let mut search = Search::new(full, c, tiny);
        let certain = search.run();
        let Extremes { min, max, .. } = search.found;
        if min < -tiny {
            Verdict::Mixed(self.placed(search.found, points, nodes))
        } else if max <= tiny {
            Verdict::Degenerate
        } else if min <= tiny || !certain {
            Verdict::Vanishing(self.placed(search.found, points, nodes))
        } else if sign > 0.0 {
            Verdict::Positive
        } else {
            Verdict::Negative
        }
    }

    /// Replaces the coordinates of the product of simplices by those of space.
    fn placed(&self, found: Extremes, points: &[[f64; 3]], nodes: &[u32]) -> Extremes {
        let values = self.geometry.eval(&[reference(self.shape, found.at)]);
        let mut at = [0.0; 3];
        for (w, &n) in values.row(0).iter().zip(nodes) {
            (0..3).for_each(|j| at[j] += w * points[n as usize][j]);
        }
        Extremes { at, ..found }
    }
}

impl Full {
    fn new(shape: Shape, columns: &[Column; 3]) -> Self {
        let sum = |upto: usize| -> Vec<usize> {
            let degree = |f: usize| columns[..upto].iter().map(|c| c.basis.factors()[f].1).sum();
            (0..dimensions(shape).len()).map(degree).collect()
        };
        let pair = Bernstein::new(dimensions(shape), &sum(2));
        let jacobian = Bernstein::new(dimensions(shape), &sum(3));
        let most = |d: usize| jacobian.exponents().iter().map(|x| x[d] + 1).max().unwrap_or(1);
        let strides = [1, most(0), most(0) * most(1)];
        let places = |basis: &Bernstein| -> Vec<usize> {
            basis.exponents().iter().map(|x| (0..3).map(|d| x[d] * strides[d]).sum()).collect()
        };
        Self {
            columns: std::array::from_fn(|d| places(&columns[d].basis)),
            pair: places(&pair),
            whole: places(&jacobian),
            length: strides[2] * most(2),
            edges: jacobian.edges(),
            vertices: jacobian.vertices(),
            jacobian,
        }
    }

    /// Bernstein coefficients of the Jacobian from those of the derivatives.
    ///
    /// Multiplied by their multinomial coefficients they multiply as monomials do.
    fn coefficients(&self, bases: &[Column; 3], columns: &[Vec<[f64; 3]>; 3]) -> Vec<f64> {
        let weighted = |d: usize| -> Vec<[f64; 3]> {
            let weights = bases[d].basis.weights();
            columns[d].iter().zip(weights).map(|(c, w)| c.map(|x| w * x)).collect()
        };
        let [a, b, c] = [weighted(0), weighted(1), weighted(2)];
        let mut pair = vec![[0.0; 3]; self.length];
        for (x, &i) in a.iter().zip(&self.columns[0]) {
            for (y, &j) in b.iter().zip(&self.columns[1]) {
                let z = cross(*x, *y);
                let sum = &mut pair[i + j];
                (0..3).for_each(|d| sum[d] += z[d]);
            }
        }
        let mut whole = vec![0.0; self.length];
        for &i in &self.pair {
            let x = pair[i];
            for (y, &j) in c.iter().zip(&self.columns[2]) {
                whole[i + j] += x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
            }
        }
        self.whole.iter().zip(self.jacobian.weights()).map(|(&i, w)| whole[i] / w).collect()
    }
}

/// A part of an element.
struct Patch {
    /// Smallest coefficient.
    low: f64,
    /// Number of patches before, so that equal ones have an order.
    number: usize,
    coefficients: Vec<f64>,
    /// Coordinates of the vertices of each factor.
    vertices: Vec<[[f64; 3]; 4]>,
}

impl PartialEq for Patch {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Patch {}

impl PartialOrd for Patch {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Patch {
    /// The greatest patch has the smallest coefficient.
    fn cmp(&self, other: &Self) -> Ordering {
        other.low.total_cmp(&self.low).then(other.number.cmp(&self.number))
    }
}

/// The search for the smallest Jacobian of an element.
struct Search<'a> {
    full: &'a Full,
    tiny: f64,
    patches: BinaryHeap<Patch>,
    number: usize,
    /// Values found at vertices of patches, with coordinates of the product of simplices.
    found: Extremes,
}

impl<'a> Search<'a> {
    fn new(full: &'a Full, coefficients: Vec<f64>, tiny: f64) -> Self {
        let mut first = 0;
        let mut vertices = Vec::new();
        for &(dim, _) in full.jacobian.factors() {
            vertices.push(std::array::from_fn(|v| {
                std::array::from_fn(|d| f64::from(u8::from(v > 0 && v <= dim && d == first + v - 1)))
            }));
            first += dim;
        }
        // The mean is that of the polynomial, which has it somewhere.
        let mean = coefficients.iter().sum::<f64>() / coefficients.len() as f64;
        let mut search = Self {
            full,
            tiny,
            patches: BinaryHeap::new(),
            number: 0,
            found: Extremes { min: f64::INFINITY, at: [0.0; 3], max: mean },
        };
        search.add(coefficients, vertices);
        search
    }

    /// Looks at a patch, and keeps it if it may have smaller values than those found.
    fn add(&mut self, coefficients: Vec<f64>, vertices: Vec<[[f64; 3]; 4]>) {
        for &(i, vertex) in &self.full.vertices {
            let value = coefficients[i];
            self.found.max = self.found.max.max(value);
            if value < self.found.min {
                self.found.min = value;
                self.found.at = [0.0; 3];
                for (of_factor, &v) in vertices.iter().zip(&vertex) {
                    (0..3).for_each(|d| self.found.at[d] += of_factor[v][d]);
                }
            }
        }
        let low = coefficients.iter().fold(f64::INFINITY, |low, c| low.min(*c));
        if low <= self.tiny && low < self.found.min {
            self.number += 1;
            self.patches.push(Patch { low, number: self.number, coefficients, vertices });
        }
    }

    /// Halves patches until the sign of the Jacobian is known; returns false if it is not.
    fn run(&mut self) -> bool {
        for _ in 0..MAX_HALVINGS {
            let Some(worst) = self.patches.pop() else { return true };
            // For an inverted element, look for its smallest Jacobian.
            let Extremes { min, max, .. } = self.found;
            if min <= self.tiny && worst.low >= min - ACCURACY * (max - min) {
                return true;
            }
            let bends: Vec<f64> = self.full.edges.iter().map(|e| e.bend(&worst.coefficients)).collect();
            let mut most = 0;
            for (i, bend) in bends.iter().enumerate() {
                if *bend > bends[most] {
                    most = i;
                }
            }
            let edge = &self.full.edges[most];
            let of_factor = worst.vertices[edge.factor];
            let [a, b] = edge.ends;
            let middle: [f64; 3] = std::array::from_fn(|d| 0.5 * (of_factor[a][d] + of_factor[b][d]));
            for (half, moved) in edge.halves(&worst.coefficients).into_iter().zip([b, a]) {
                let mut vertices = worst.vertices.clone();
                vertices[edge.factor][moved] = middle;
                self.add(half, vertices);
            }
        }
        self.patches.is_empty()
    }
}
