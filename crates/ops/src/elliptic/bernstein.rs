//! Affine triangles and tetrahedra with constant coefficients, in Bernstein form.
//!
//! With coefficients `u = Σ_β b_β B_β`, |β| = p, all derivatives are differences of neighbouring coefficients and all traces
//! are coefficients (Chan & Warburton 2017):
//!
//! ```text
//! ∂_d u = (p / 2) Σ_α (b_{α + e_d} − b_{α + e_0}) B_α, |α| = p − 1.
//! ```
//!
//! Coefficients of values and of conormal derivatives on the faces are all that neighbours exchange. What is left of dense
//! products is the change of basis `b = T u` and its transpose, the mass matrix of order p − 1 for the gradient, and that of
//! the faces:
//!
//! ```text
//! A u = Tᵀ r,   r = Σ_d Δ_dᵀ ((p/2)² M Σ_e G_de Δ_e b − ½ Σ_f t_f c_fd Eᵀ M_f j_f) + Σ_f t_f M_f (j_f − ½ E q_f),
//! ```
//!
//! with the differences `Δ_d`, degree elevation `E`, the jumps `j`, the penalty `t = κ_f sJ τ`, the same on both sides of a
//! face, and the factors `c_fd = (p/2) κ_f sJ n·∇r_d / t` of the conormal derivatives, which are divided by the penalty so
//! that jumps and differences `q = p⁻ − p⁺` of all faces go through one product. Reflections of the element, and of large
//! faces, halve or quarter each of the products.

pub(crate) mod kernels;
mod onto;
mod orbits;
mod packs;

use super::tables::{Tables, frame};
use crate::connect::{Neighbours, ORIENTATIONS};
use crate::error::OpsError;
use crate::panel::{Panels, Rows};
use crate::simd::PackScalar;
use dgsuite_basis::{Matrix, Shape, face_permutation};
use dgsuite_gpu::SimdLevel;
use onto::OntoFaces;
use orbits::Orbits;

/// The highest order at which rounding in the change of basis is as small as in other products.
const MOST_ORDER: usize = 6;

/// Most coefficients of a face whose reflection is not worth its additions.
const FEW: usize = 6;

/// Exponents of the barycentric coordinates.
type Exponents = [usize; 4];

/// Operators and tables of a group of simplices.
pub(super) struct Bernstein<T> {
    dim: usize,
    order: usize,
    /// Coefficients of order p.
    n: usize,
    /// Coefficients of a face, of orders p and p − 1.
    n_face: [usize; 2],
    nodes: Orbits,
    coefficients: Orbits,
    gradients: Orbits,
    /// Coefficients of a face, of orders p and p − 1; `None` for faces of few.
    face: Option<[Orbits; 2]>,
    /// `M_f` between coefficients, for single lanes.
    dense_face_mass: Vec<T>,
    /// `T`, between sums and differences of nodes and of coefficients.
    to_coefficients: Panels<T>,
    /// `Tᵀ`, and the mass matrix beside it where there are values.
    to_nodes: Panels<T>,
    /// `(p/2)² M`.
    mass: Panels<T>,
    /// `[M_f, −½ M_f E; Eᵀ M_f, 0]`.
    face_product: Panels<T>,
    /// Rows of `α + e_i`, `[α][i]`.
    raised: Vec<u32>,
    /// Rows of `β − e_i`, `[β][i]`; the row behind the last where there is none.
    lowered: Vec<u32>,
    /// The coefficients of each face, and those of derivatives, `[face][k]`.
    of_face: [Vec<u32>; 2],
    /// Which faces coefficients lie on, of orders p and p − 1.
    onto: [OntoFaces; 2],
    /// First scalars of what a block itself publishes of a face, in the order of [`tables`](Self::tables).
    own: Vec<u32>,
    /// Where neighbours publish the coefficients of a face, in the own order: [`Neighbours::point_tables`].
    tables: Vec<u32>,
    values: bool,
}

/// Exponents of order `n` in `count` coordinates.
fn exponents(n: usize, count: usize) -> Vec<Exponents> {
    let mut out = Vec::new();
    let most = |i: usize| if i < count { n } else { 0 };
    for c in 0..=most(3) {
        for b in 0..=most(2) {
            for a in 0..=most(1) {
                if a + b + c <= n {
                    out.push([n - a - b - c, a, b, c]);
                }
            }
        }
    }
    out
}

/// Barycentric coordinates of a point of a simplex.
fn barycentric(dim: usize, x: [f64; 3]) -> [f64; 4] {
    let mut out = [1.0, 0.0, 0.0, 0.0];
    for d in 0..dim {
        out[d + 1] = 0.5 * (1.0 + x[d]);
        out[0] -= out[d + 1];
    }
    out
}

fn factorial(n: usize) -> f64 {
    (1..=n).map(|i| i as f64).product()
}

/// `∫ B_α B_β` over a simplex of unit measure.
fn mass(all: &[Exponents], dim: usize) -> Matrix {
    let n: usize = all[0].iter().sum();
    let choose = |n: usize, k: usize| factorial(n) / (factorial(k) * factorial(n - k));
    let scale = 1.0 / (choose(2 * n, n) * choose(2 * n + dim, dim));
    Matrix::from_fn(all.len(), all.len(), |i, j| {
        (0..4).map(|k| choose(all[i][k] + all[j][k], all[i][k])).product::<f64>() * scale
    })
}

/// `[M_f, −½ M_f E; Eᵀ M_f, 0]`, between sums and differences where there are orbits.
fn face_product(mass: &Matrix, faces: &[Vec<Exponents>; 2], by: Option<&[Orbits; 2]>) -> Option<Rows> {
    let p: usize = faces[0][0].iter().sum();
    let elevation = Matrix::from_fn(faces[0].len(), faces[1].len(), |i, j| {
        let (b, a) = (&faces[0][i], &faces[1][j]);
        let raised = (0..4).find(|&k| b[k] == a[k] + 1 && (0..4).all(|l| l == k || a[l] == b[l]));
        raised.map_or(0.0, |k| b[k] as f64 / p as f64)
    });
    let lifted = mass.mul(&elevation);
    let half = lifted.scaled(-0.5);
    let (mut upper, mut lower) = match by {
        Some([high, low]) => (
            high.rows(&high.reduce(mass, high)?, high).beside(&low.rows(&high.reduce(&half, low)?, high)),
            high.rows(&low.reduce(&lifted.transpose(), high)?, low),
        ),
        None => (Rows::dense(mass).beside(&Rows::dense(&half)), Rows::dense(&lifted.transpose())),
    };
    upper.rows.append(&mut lower.rows);
    Some(upper)
}

/// The exponents with `i` and `j` exchanged, for all: which they are.
fn swapped(all: &[Exponents], i: usize, j: usize) -> Option<Vec<usize>> {
    let other = |x: &Exponents| {
        let mut y = *x;
        y.swap(i, j);
        all.iter().position(|z| *z == y)
    };
    all.iter().map(other).collect()
}

/// The coordinates that the reflections of a shape exchange.
fn exchanges(shape: Shape) -> &'static [[usize; 2]] {
    if shape == Shape::Triangle { &[[1, 2]] } else { &[[0, 1], [2, 3]] }
}

fn orbits_of(all: &[Exponents], exchanges: &[[usize; 2]]) -> Option<Orbits> {
    let images = exchanges.iter().map(|[i, j]| swapped(all, *i, *j)).collect::<Option<Vec<_>>>()?;
    Orbits::new(&images)
}

/// Coefficients on a face of exponents of order `n`: places of the points `exponents / n` in the face's frame.
fn lattice(face: Shape, all: &[Exponents]) -> Vec<[f64; 3]> {
    let corners = face.vertices();
    let point = |a: &Exponents| {
        let n: usize = a.iter().sum();
        // The only one of order 0 lies in the middle.
        let weight = |k: usize| if n == 0 { 1.0 / corners.len() as f64 } else { a[k] as f64 / n as f64 };
        std::array::from_fn(|d| corners.iter().enumerate().map(|(k, x)| weight(k) * x[d]).sum())
    };
    all.iter().map(point).collect()
}

/// The exponents of an element for those of a face.
fn on_face(shape: Shape, face: usize, frame: Shape, a: &Exponents) -> Exponents {
    let mut out = [0; 4];
    for (k, corner) in frame.vertices().iter().enumerate() {
        let at = barycentric(shape.dim(), shape.face_point(face, *corner));
        let vertex = (0..4).max_by(|&i, &j| at[i].total_cmp(&at[j])).unwrap_or(0);
        out[vertex] += a[k];
    }
    out
}

impl<T: PackScalar> Bernstein<T> {
    /// `None` where nodes are not symmetric, or the order is too high.
    ///
    /// # Errors
    /// [`OpsError::Basis`] where matrices cannot be inverted.
    pub(super) fn new(
        tables: &Tables,
        values: bool,
        level: SimdLevel,
        lanes: usize,
    ) -> Result<Option<Self>, OpsError> {
        let reference = &tables.reference;
        let (shape, p) = (reference.spec.shape, reference.spec.order);
        let Some(nodes) = &reference.nodes else { return Ok(None) };
        if !matches!(shape, Shape::Triangle | Shape::Tetrahedron) || p > MOST_ORDER {
            return Ok(None);
        }
        let (dim, n_faces) = (shape.dim(), shape.n_faces());
        let face_shape = shape.face_shape(0).unwrap_or(Shape::Line);
        let [high, low] = [p, p - 1].map(|n| exponents(n, dim + 1));
        let faces = [p, p - 1].map(|n| exponents(n, dim));
        let at: Vec<[f64; 4]> = nodes.iter().map(|x| barycentric(dim, *x)).collect();
        let Some(by_nodes) = Orbits::of_points(&at, exchanges(shape)) else { return Ok(None) };
        let (Some(by_high), Some(by_low)) =
            (orbits_of(&high, exchanges(shape)), orbits_of(&low, exchanges(shape)))
        else {
            return Ok(None);
        };

        let bernstein = |a: &Exponents, x: &[f64; 4]| {
            let terms = (0..4).map(|k| x[k].powi(a[k] as i32) / factorial(a[k]));
            factorial(p) * terms.product::<f64>()
        };
        let change = Matrix::from_fn(high.len(), high.len(), |i, j| bernstein(&high[j], &at[i])).inverse()?;
        let change = by_high.reduce(&change, &by_nodes);
        let area = |weights: &[f64]| weights.iter().sum::<f64>();
        let by_face = if faces[0].len() > FEW {
            let of = |n: usize| orbits_of(&faces[n], &[[0, 1]]);
            let (Some(high), Some(low)) = (of(0), of(1)) else { return Ok(None) };
            Some([high, low])
        } else {
            None
        };
        let factor = area(&reference.volume.weights) * (0.5 * p as f64).powi(2);
        let of_low = by_low.reduce(&mass(&low, dim).scaled(factor), &by_low);
        let face_area = area(&reference.face_weights[..reference.face_offsets[1]]);
        let face_mass = mass(&faces[0], dim - 1).scaled(face_area);
        let Some(face_product) = face_product(&face_mass, &faces, by_face.as_ref()) else { return Ok(None) };
        let (Some(change), Some(of_low)) = (change, of_low) else { return Ok(None) };
        let mut back = by_high.rows(&change.transpose(), &by_nodes);
        if values {
            let Some(of_nodes) = by_nodes.reduce(&reference.mass, &by_nodes) else { return Ok(None) };
            back = back.beside(&by_nodes.rows(&of_nodes, &by_nodes));
        }
        let panels = |m: &Rows, fields: usize| {
            let rows = T::panel_rows(level, fields);
            Panels::new(m, m.rows.len(), rows, fields * lanes)
        };

        let find =
            |all: &[Exponents], a: &Exponents| all.iter().position(|b| b == a).unwrap_or(all.len()) as u32;
        let plus = |a: &Exponents, i: usize| {
            let mut b = *a;
            b[i] += 1;
            b
        };
        let minus = |a: &Exponents, i: usize| {
            let mut b = *a;
            b[i] = b[i].checked_sub(1)?;
            Some(b)
        };
        let mut raised = Vec::new();
        for a in &low {
            raised.extend((0..=dim).map(|i| find(&high, &plus(a, i))));
        }
        let mut lowered = Vec::new();
        for b in &high {
            lowered.extend((0..=dim).map(|i| minus(b, i).map_or(low.len() as u32, |a| find(&low, &a))));
        }
        let mut rows_of_face = [Vec::new(), Vec::new()];
        for f in 0..n_faces {
            for ((rows, all), of) in rows_of_face.iter_mut().zip([&high, &low]).zip(&faces) {
                rows.extend(of.iter().map(|a| find(all, &on_face(shape, f, face_shape, a))));
            }
        }
        let n_face = [faces[0].len(), faces[1].len()];
        let mut exchange = Vec::new();
        for f in 0..n_faces {
            for k in 0..ORIENTATIONS {
                for (order, all) in faces.iter().enumerate() {
                    let points = lattice(face_shape, all);
                    let meets = if k < face_shape.n_vertices() {
                        face_permutation(face_shape, k, &points)?
                    } else {
                        (0..points.len()).collect()
                    };
                    let row = |q: usize| match order {
                        0 => rows_of_face[0][f * n_face[0] + q] as usize,
                        _ => high.len() + f * n_face[1] + q,
                    };
                    exchange.extend(meets.into_iter().map(|q| (row(q) * lanes) as u32));
                }
            }
        }
        let mut own = Vec::new();
        for f in 0..n_faces {
            let values = rows_of_face[0][f * n_face[0]..(f + 1) * n_face[0]].iter().map(|r| *r as usize);
            let derivatives = (0..n_face[1]).map(|k| high.len() + f * n_face[1] + k);
            own.extend(values.chain(derivatives).map(|row| (row * lanes) as u32));
        }
        let onto = [0, 1].map(|order| {
            let first = if order == 0 { 0 } else { n_face[0] };
            let count = [high.len(), low.len()][order];
            OntoFaces::new(&rows_of_face[order], (n_face[order], n_faces), count, first, lanes)
        });
        Ok(Some(Self {
            dim,
            order: p,
            n: high.len(),
            n_face,
            to_coefficients: panels(&by_nodes.rows(&change, &by_high), 1),
            to_nodes: panels(&back, 1),
            mass: panels(&by_low.rows(&of_low, &by_low), dim),
            face_product: panels(&face_product, n_faces),
            dense_face_mass: face_mass.as_slice().iter().map(|v| T::from_f64(*v)).collect(),
            nodes: by_nodes,
            coefficients: by_high,
            gradients: by_low,
            face: by_face,
            raised,
            lowered,
            of_face: rows_of_face,
            onto,
            own,
            tables: exchange,
            values,
        }))
    }

    /// Rows that a block publishes: `b`, then the conormal derivatives, `[face][k]`.
    pub(super) fn published_rows(&self) -> usize {
        self.n + (self.dim + 1) * self.n_face[1]
    }

    /// Entries of one table of [`tables`](Self::tables).
    fn table_len(&self) -> usize {
        self.n_face[0] + self.n_face[1]
    }

    /// Let the sources of neighbours point into the tables of this form.
    pub(super) fn meet(&self, neighbours: &mut Neighbours) {
        let (old, new) = (neighbours.table_len as u32, self.table_len() as u32);
        neighbours.sources.iter_mut().for_each(|s| s.table = s.table / old * new);
    }

    /// Rows of work space: see [`kernels::Rooms`].
    pub(super) fn work_rows(&self) -> usize {
        kernels::Rooms::new(self).total
    }

    /// Bytes of matrices and tables.
    pub(super) fn bytes(&self) -> usize {
        let matrices = [&self.to_coefficients, &self.to_nodes, &self.mass, &self.face_product];
        let words = self.raised.len() + self.lowered.len() + self.tables.len();
        matrices.iter().map(|m| m.bytes()).sum::<usize>() + 4 * words
    }

    /// Multiply–adds of an element.
    pub(super) fn multiply_adds(&self) -> usize {
        let (d, n_faces, [nf, nq]) = (self.dim, self.dim + 1, self.n_face);
        let low = self.raised.len() / (d + 1);
        let faces = n_faces * (nq * (d + 1) + nf + d * nq);
        let columns = d * self.mass.multiply_adds() + n_faces * self.face_product.multiply_adds();
        self.to_coefficients.multiply_adds() + self.to_nodes.multiply_adds() + columns + d * d * low + faces
    }

    /// Let the rows of coefficients of faces be those of this form, `c_fd` and the penalty: they are the factors of
    /// derivatives along the face's frame, and the penalty.
    pub(super) fn adopt(&self, shape: Shape, faces: &mut [T], lanes: usize) {
        let (d, rows) = (self.dim, self.dim + 1);
        for block in faces.chunks_exact_mut((d + 1) * rows * lanes) {
            for (f, face) in block.chunks_exact_mut(rows * lanes).enumerate() {
                let frame = frame(shape, f);
                for lane in 0..lanes {
                    let along: [T; 3] = std::array::from_fn(|m| face[m.min(d) * lanes + lane]);
                    let penalty = face[d * lanes + lane];
                    for e in 0..d {
                        let mut sum = T::ZERO;
                        for m in 0..d {
                            sum += T::from_f64(0.5 * self.order as f64 * frame[m][e]) * along[m];
                        }
                        face[e * lanes + lane] = sum / penalty;
                    }
                }
            }
        }
    }
}
