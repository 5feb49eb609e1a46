//! The diagonal of the matrix for the Gauss–Lobatto basis of quadrilaterals and hexahedra.

use crate::elliptic::Space;
use crate::elliptic::assemble::{Diagonals, FaceTerm};
use crate::elliptic::space::ElementTerms;
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use dgsuite_basis::{LagrangeBasis, Matrix, NodeSet, Shape};

/// One-dimensional tables of the Gauss–Lobatto basis at the cubature points of a group's parts.
pub(super) struct Lobatto {
    order: usize,
    dim: usize,
    /// By part.
    tables: Vec<Tables>,
}

struct Tables {
    /// Points along an axis.
    points: usize,
    /// Products `a(x_q) b(x_q)` of a function's value or derivative with a function's value or derivative,
    /// `[function][point]`: two values, value and derivative, two derivatives.
    products: [Matrix; 3],
    /// The functions that do not vanish at each face point.
    at_faces: Vec<Vec<AtPoint>>,
}

/// A function at a face point.
struct AtPoint {
    function: u32,
    value: f64,
    slopes: [f64; 3],
}

impl Lobatto {
    pub(super) fn new<T: PackScalar>(space: &Space<T>, g: usize) -> Result<Self, OpsError> {
        let (order, group) = (space.order, &space.groups[g]);
        let dim = group.shape.dim();
        let basis = LagrangeBasis::with_nodes(Shape::Line, order, NodeSet::GaussLobatto)?;
        let both = |points: &[[f64; 3]]| [basis.eval(points), basis.grad(points)[0].clone()];
        let tables = group.parts.iter().map(|part| {
            let reference = &part.reference;
            let all = &reference.volume.points;
            // The rule is a product, whose first axis runs fastest.
            let points = (0..=all.len()).find(|n| n.pow(dim as u32) >= all.len()).unwrap_or(1);
            let line: Vec<[f64; 3]> = all[..points].iter().map(|x| [x[0], 0.0, 0.0]).collect();
            let [value, slope] = both(&line);
            let product =
                |a: &Matrix, b: &Matrix| Matrix::from_fn(order + 1, points, |i, q| a[(q, i)] * b[(q, i)]);
            let products = [product(&value, &value), product(&value, &slope), product(&slope, &slope)];
            let at_point = |x: &[f64; 3]| {
                let at = x.map(|x| both(&[[x, 0.0, 0.0]]));
                let of = |i: usize| {
                    let digit = |d: usize| i / (order + 1).pow(d as u32) % (order + 1);
                    let factor = |d: usize, k: usize| at[d][k][(0, digit(d))];
                    let value: f64 = (0..dim).map(|d| factor(d, 0)).product();
                    let slope = |d: usize| match d < dim {
                        true => (0..dim).map(|e| factor(e, usize::from(e == d))).product(),
                        false => 0.0,
                    };
                    AtPoint { function: i as u32, value, slopes: [slope(0), slope(1), slope(2)] }
                };
                let all = (0..(order + 1).pow(dim as u32)).map(of);
                all.filter(|at| at.value.abs() >= ROUNDING).collect()
            };
            let at_faces = reference.face_points.iter().map(at_point).collect();
            Tables { points, products, at_faces }
        });
        Ok(Self { order, dim, tables: tables.collect() })
    }

    /// The diagonal for one element.
    pub(super) fn diagonal<T: PackScalar>(
        &self,
        space: &Space<T>,
        element: usize,
        terms: &ElementTerms,
    ) -> Diagonals {
        let tables = &self.tables[space.part_of(element).1];
        let (n, dim) = (self.order + 1, self.dim);
        let n_functions = n.pow(dim as u32);
        let mut out = vec![0.0; n_functions];
        let mut add = |weights: Vec<f64>, of_axis: &dyn Fn(usize) -> usize| {
            let mut v = weights;
            let mut sizes = vec![tables.points; dim];
            for d in 0..dim {
                v = along_axis(&tables.products[of_axis(d)], &v, &sizes, d);
                sizes[d] = n;
            }
            out.iter_mut().zip(v).for_each(|(out, v)| *out += v);
        };
        // ∫ κ |∇φ|² = Σ_q w κ Σ_de G_de ∂_d φ ∂_e φ.
        for d in 0..dim {
            for e in d..dim {
                let twice = if d == e { 1.0 } else { 2.0 };
                let weight = |q: usize| {
                    let metric = &terms.metric[q];
                    let dot: f64 = (0..dim).map(|x| metric[d][x] * metric[e][x]).sum();
                    twice * terms.jw[q] * terms.kappa[q] * dot
                };
                let derivatives = |axis: usize| usize::from(axis == d) + usize::from(axis == e);
                add((0..terms.jw.len()).map(weight).collect(), &derivatives);
            }
        }
        if terms.lambda.iter().any(|lambda| *lambda != 0.0) {
            add(terms.jw.iter().zip(&terms.lambda).map(|(w, lambda)| w * lambda).collect(), &|_| 0);
        }
        let mut conforming = out.clone();
        space.face_terms(element, terms, |FaceTerm { point, stiffness, penalty, conormal, inner }| {
            for AtPoint { function, value, slopes } in &tables.at_faces[point] {
                let slope = conormal.map_or(0.0, |b| (0..dim).map(|d| b[d] * slopes[d]).sum());
                let term = value * (penalty * value - 2.0 * stiffness * slope);
                out[*function as usize] += term;
                if !inner {
                    conforming[*function as usize] += term;
                }
            }
        });
        Diagonals { all: out, conforming }
    }
}

/// Values smaller than this are 0 but for rounding.
const ROUNDING: f64 = 1e-13;

/// `m` along one axis of an array of these sizes, whose first axis runs fastest.
fn along_axis(m: &Matrix, v: &[f64], sizes: &[usize], axis: usize) -> Vec<f64> {
    let before: usize = sizes[..axis].iter().product();
    let after: usize = sizes[axis + 1..].iter().product();
    let (rows, cols) = (m.rows(), m.cols());
    let mut out = vec![0.0; before * rows * after];
    for a in 0..after {
        for i in 0..rows {
            let to = &mut out[(a * rows + i) * before..][..before];
            for (j, entry) in m.row(i).iter().enumerate() {
                let from = &v[(a * cols + j) * before..][..before];
                to.iter_mut().zip(from).for_each(|(to, v)| *to += entry * v);
            }
        }
    }
    out
}
