//! Affine triangles and tetrahedra with constant coefficients, in Bernstein form.
//!
//! With coefficients `u = Σ_β b_β B_β`, |β| = p, derivatives are differences of neighbouring coefficients,
//! and the coefficients of a trace are coefficients of the element (Chan & Warburton 2017):
//!
//! ```text
//! ∂_d u = (p / 2) Σ_α (b_{α + e_d} − b_{α + e_0}) B_α, |α| = p − 1.
//! ```
//!
//! Neighbours exchange only the coefficients of values and of conormal derivatives on the faces. After
//! integration by parts, the volume term contains second derivatives, which have few coefficients. The
//! remaining dense products are the change of basis `b = T u` and its transpose, products of the basis
//! functions with those of order p − 2, and products on the faces:
//!
//! ```text
//! A u = Tᵀ (r − ¼ p (p − 1) C w),   w_γ = Σ_de G_de Δ_d Δ_e b,   C_βγ = ∫ B_β B_γ, |γ| = p − 2,
//! r = Σ_f (M_f t_f (j_f + ½ E q_f) − ½ Σ_d c_fd Δ_dᵀ Eᵀ M_f t_f j_f),
//! ```
//!
//! with the differences `Δ_d`, degree elevation `E`, the jumps `j`, the penalty `t = κ_f sJ τ`, which is the
//! same on both sides of a face, and the factors `c_fd = (p/2) κ_f sJ n·∇r_d / t` of the conormal derivatives
//! p⁻, p⁺ (each with its own outward normal). These are divided by the penalty, so that jumps and the sums
//! `q = (2 κ⁻/κ_f − 1) p⁻ + p⁺` of all faces go through one product. The mean of the fluxes contains the
//! harmonic mean κ_f, the integration by parts κ⁻. Reflections of the element, and of faces with many
//! coefficients, reduce each product to a half or a quarter. [`TOGETHER`] blocks are processed together, so
//! that entries of matrices and tables are loaded once for all of them.

mod crossings;
mod orbits;
mod packs;
pub(crate) mod passes;
mod terms;

use super::schedule::{self, Schedule};
use super::tables::{Tables, frame};
use crate::error::OpsError;
use crate::lanes::panel::{Panels, Rows};
use crate::lanes::simd::PackScalar;
use crate::space::connect::{Neighbours, ORIENTATIONS};
use crossings::{Crossings, Sizes};
use dgsuite_basis::{Matrix, Shape, face_permutation};
use dgsuite_gpu::SimdLevel;
use orbits::Orbits;
use terms::Terms;

/// The highest order at which the rounding errors of the change of basis are as small as those of other
/// products.
const MOST_ORDER: usize = 6;

/// Reflections are not used on faces with at most this many coefficients.
const FEW: usize = 6;

/// Number of blocks that are processed together; their rows lie side by side.
pub(super) const TOGETHER: usize = 4;

/// Exponents of the barycentric coordinates.
type Exponents = [usize; 4];

/// Operators and tables of a group of simplices.
pub(super) struct Bernstein<T> {
    dim: usize,
    order: usize,
    /// Number of coefficients of order p.
    n: usize,
    /// Number of coefficients of a face, of orders p and p − 1.
    n_face: [usize; 2],
    nodes: Orbits,
    coefficients: Orbits,
    /// Coefficients of order p − 2, as orbits of reflections.
    curvatures: Orbits,
    /// Coefficients of a face, of orders p and p − 1, as orbits; `None` for faces with few coefficients.
    face: Option<[Orbits; 2]>,
    /// `M_f` between coefficients, for single lanes.
    dense_face_mass: Vec<T>,
    /// `T`, between sums and differences of nodes and of coefficients.
    to_coefficients: Panels<T>,
    /// `Tᵀ [1, −¼ p (p − 1) C]`, and the mass matrix beside it where there are values.
    to_nodes: Panels<T>,
    /// `[M_f, ½ M_f E; −½ Eᵀ M_f, 0]`.
    face_product: Panels<T>,
    /// Offsets of the rows of `α + e_i` of the derivatives at the faces, `[face][k][i]`.
    slopes: Vec<u32>,
    /// Offsets of the rows of `γ + e_i + e_j`, `[γ][i ≤ j]`.
    twice_raised: Vec<u32>,
    /// The coefficients on each face, `[face][k]`.
    of_face: Vec<u32>,
    /// The contributions of the rows at the faces to coefficients.
    terms: Terms,
    /// Offsets of a block's own published values, `[k][face]`; derivatives follow values.
    own: Vec<u32>,
    /// Offsets of the neighbours' published coefficients of a face, in the own order, as
    /// [`Neighbours::point_tables`].
    tables: Vec<u32>,
    crossings: Crossings,
    schedule: Schedule<TOGETHER>,
    values: bool,
}

/// All exponents of order `n` in `count` coordinates.
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

/// `∫ B_α B_β` over a simplex of unit measure, for two sets of exponents.
fn products(rows: &[Exponents], cols: &[Exponents], dim: usize) -> Matrix {
    let order = |all: &[Exponents]| all.first().map_or(0, |a| a.iter().sum());
    let (n, m): (usize, usize) = (order(rows), order(cols));
    let choose = |n: usize, k: usize| factorial(n) / (factorial(k) * factorial(n - k));
    let scale = 1.0 / (choose(n + m, n) * choose(n + m + dim, dim));
    Matrix::from_fn(rows.len(), cols.len(), |i, j| {
        (0..4).map(|k| choose(rows[i][k] + cols[j][k], rows[i][k])).product::<f64>() * scale
    })
}

/// `[M_f, ½ M_f E; −½ Eᵀ M_f, 0]`, between sums and differences where there are orbits.
fn face_product(mass: &Matrix, faces: &[Vec<Exponents>; 2], by: Option<&[Orbits; 2]>) -> Option<Rows> {
    let p: usize = faces[0][0].iter().sum();
    let elevation = Matrix::from_fn(faces[0].len(), faces[1].len(), |i, j| {
        let (b, a) = (&faces[0][i], &faces[1][j]);
        let raised = (0..4).find(|&k| b[k] == a[k] + 1 && (0..4).all(|l| l == k || a[l] == b[l]));
        raised.map_or(0.0, |k| b[k] as f64 / p as f64)
    });
    let lifted = mass.mul(&elevation);
    let (half, back) = (lifted.scaled(0.5), lifted.transpose().scaled(-0.5));
    let (mut upper, mut lower) = match by {
        Some([high, low]) => (
            high.rows(&high.reduce(mass, high)?, high).beside(&low.rows(&high.reduce(&half, low)?, high)),
            high.rows(&low.reduce(&back, high)?, low),
        ),
        None => (Rows::dense(mass).beside(&Rows::dense(&half)), Rows::dense(&back)),
    };
    upper.rows.append(&mut lower.rows);
    Some(upper)
}

/// For each exponent, the index of the exponent with `i` and `j` exchanged.
fn swapped(all: &[Exponents], i: usize, j: usize) -> Option<Vec<usize>> {
    let other = |x: &Exponents| {
        let mut y = *x;
        y.swap(i, j);
        all.iter().position(|z| *z == y)
    };
    all.iter().map(other).collect()
}

/// The pairs of coordinates that the reflections of a shape exchange.
fn exchanges(shape: Shape) -> &'static [[usize; 2]] {
    if shape == Shape::Triangle { &[[1, 2]] } else { &[[0, 1], [2, 3]] }
}

fn orbits_of(all: &[Exponents], exchanges: &[[usize; 2]]) -> Option<Orbits> {
    let images = exchanges.iter().map(|[i, j]| swapped(all, *i, *j)).collect::<Option<Vec<_>>>()?;
    Orbits::new(&images)
}

/// The points `exponents / n` of the coefficients of order `n` on a face, in the frame of the face.
fn lattice(face: Shape, all: &[Exponents]) -> Vec<[f64; 3]> {
    let corners = face.vertices();
    let point = |a: &Exponents| {
        let n: usize = a.iter().sum();
        // The only coefficient of order 0 lies in the middle.
        let weight = |k: usize| if n == 0 { 1.0 / corners.len() as f64 } else { a[k] as f64 / n as f64 };
        std::array::from_fn(|d| corners.iter().enumerate().map(|(k, x)| weight(k) * x[d]).sum())
    };
    all.iter().map(point).collect()
}

/// The exponents in the element of exponents on a face.
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
    /// Returns `None` if the nodes are not symmetric, or the order is too high.
    ///
    /// # Errors
    /// [`OpsError::Basis`] if a matrix cannot be inverted.
    pub(super) fn new(
        tables: &Tables,
        with_values: bool,
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
        let curved = if p < 2 { Vec::new() } else { exponents(p - 2, dim + 1) };
        let faces = [p, p - 1].map(|n| exponents(n, dim));
        let at: Vec<[f64; 4]> = nodes.iter().map(|x| barycentric(dim, *x)).collect();
        let Some(by_nodes) = Orbits::of_points(&at, exchanges(shape)) else { return Ok(None) };
        let (Some(by_high), Some(by_curved)) =
            (orbits_of(&high, exchanges(shape)), orbits_of(&curved, exchanges(shape)))
        else {
            return Ok(None);
        };

        let bernstein = |a: &Exponents, x: &[f64; 4]| {
            let terms = (0..4).map(|k| x[k].powi(a[k] as i32) / factorial(a[k]));
            factorial(p) * terms.product::<f64>()
        };
        let inverse =
            Matrix::from_fn(high.len(), high.len(), |i, j| bernstein(&high[j], &at[i])).inverse()?;
        let change = by_high.reduce(&inverse, &by_nodes);
        let area = |weights: &[f64]| weights.iter().sum::<f64>();
        let by_face = if faces[0].len() > FEW {
            let of = |n: usize| orbits_of(&faces[n], &[[0, 1]]);
            let (Some(high), Some(low)) = (of(0), of(1)) else { return Ok(None) };
            Some([high, low])
        } else {
            None
        };
        let face_area = area(&reference.face_weights[..reference.face_offsets[1]]);
        let face_mass = products(&faces[0], &faces[0], dim - 1).scaled(face_area);
        let Some(face_product) = face_product(&face_mass, &faces, by_face.as_ref()) else { return Ok(None) };
        let twice = -0.25 * (p * (p - 1)) as f64 * area(&reference.volume.weights);
        let of_curved = inverse.transpose().mul(&products(&high, &curved, dim).scaled(twice));
        let of_curved = by_nodes.reduce(&of_curved, &by_curved);
        let (Some(change), Some(of_curved)) = (change, of_curved) else { return Ok(None) };
        let mut back = by_high.rows(&change.transpose(), &by_nodes);
        back = back.beside(&by_curved.rows(&of_curved, &by_nodes));
        if with_values {
            let Some(of_nodes) = by_nodes.reduce(&reference.mass, &by_nodes) else { return Ok(None) };
            back = back.beside(&by_nodes.rows(&of_nodes, &by_nodes));
        }
        let panels = |m: &Rows, fields: usize| {
            let rows = T::panel_rows(level, fields);
            Panels::new(m, m.rows.len(), rows, fields * lanes)
        };

        // Offsets of rows of blocks that lie side by side.
        let at_row = |row: usize| (row * TOGETHER * lanes) as u32;
        let find = |all: &[Exponents], a: &Exponents| all.iter().position(|b| b == a).unwrap_or(all.len());
        let plus = |a: &Exponents, i: usize| {
            let mut b = *a;
            b[i] += 1;
            b
        };
        let mut twice_raised = Vec::new();
        for c in &curved {
            for i in 0..=dim {
                twice_raised.extend((i..=dim).map(|j| at_row(find(&high, &plus(&plus(c, i), j)))));
            }
        }
        let mut rows_of_face = [Vec::new(), Vec::new()];
        for f in 0..n_faces {
            for ((rows, all), of) in rows_of_face.iter_mut().zip([&high, &low]).zip(&faces) {
                rows.extend(of.iter().map(|a| find(all, &on_face(shape, f, face_shape, a))));
            }
        }
        let raised: Vec<usize> = (rows_of_face[1].iter())
            .flat_map(|&a| (0..=dim).map(move |i| (a, i)))
            .map(|(a, i)| find(&high, &plus(&low[a], i)))
            .collect();
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
                        0 => rows_of_face[0][f * n_face[0] + q],
                        _ => high.len() + f * n_face[1] + q,
                    };
                    exchange.extend(meets.into_iter().map(|q| at_row(row(q))));
                }
            }
        }
        let values = (0..n_face[0]).flat_map(|k| (0..n_faces).map(move |f| (k, f)));
        let derivatives = (0..n_face[1]).flat_map(|k| (0..n_faces).map(move |f| (k, f)));
        let own = (values.map(|(k, f)| rows_of_face[0][f * n_face[0] + k]))
            .chain(derivatives.map(|(k, f)| high.len() + f * n_face[1] + k))
            .map(at_row)
            .collect();
        let terms = Terms::new(&rows_of_face[0], &raised, (high.len(), n_face, n_faces), lanes);
        Ok(Some(Self {
            dim,
            order: p,
            n: high.len(),
            n_face,
            to_coefficients: panels(&by_nodes.rows(&change, &by_high), TOGETHER),
            to_nodes: panels(&back, TOGETHER),
            face_product: panels(&face_product, n_faces),
            dense_face_mass: face_mass.as_slice().iter().map(|v| T::from_f64(*v)).collect(),
            nodes: by_nodes,
            coefficients: by_high,
            curvatures: by_curved,
            face: by_face,
            slopes: raised.iter().map(|&row| at_row(row)).collect(),
            twice_raised,
            of_face: rows_of_face[0].iter().map(|&row| row as u32).collect(),
            terms,
            own,
            tables: exchange,
            crossings: Crossings::default(),
            schedule: Schedule::default(),
            values: with_values,
        }))
    }

    /// Number of rows that a block publishes: `b`, then the conormal derivatives, `[face][k]`.
    pub(super) fn published_rows(&self) -> usize {
        self.n + (self.dim + 1) * self.n_face[1]
    }

    /// Number of entries of one table of [`tables`](Self::tables).
    fn table_len(&self) -> usize {
        self.n_face[0] + self.n_face[1]
    }

    /// Plans the runs of a group of `blocks` on `threads`, and computes the crossings from the donors, which
    /// are then dropped.
    pub(super) fn meet(
        &mut self,
        neighbours: &mut Neighbours,
        lanes: usize,
        (blocks, threads): (usize, usize),
    ) {
        let (n_faces, table) = (self.dim + 1, self.table_len());
        let rows = self.published_rows();
        let bytes = rows * lanes * size_of::<T>();
        self.schedule = Schedule::new(neighbours, &schedule::Sizes { blocks, n_faces, bytes, threads });
        self.crossings = Crossings::new(neighbours, &Sizes { n_faces, lanes, rows, table });
        neighbours.donors = Vec::new();
        neighbours.first_donor = vec![0; neighbours.first_donor.len()];
    }

    /// The crossings of a block.
    pub(super) fn crossings_of(&self, block: usize) -> &[crossings::Crossing] {
        self.crossings.of(block)
    }

    /// The schedule of the runs.
    pub(super) fn schedule(&self) -> &Schedule<TOGETHER> {
        &self.schedule
    }

    /// Number of rows of work space, see [`passes::Rooms`].
    pub(super) fn work_rows(&self) -> usize {
        passes::Rooms::new(self).total
    }

    /// Memory in bytes of matrices and tables.
    pub(super) fn bytes(&self) -> usize {
        let matrices = [&self.to_coefficients, &self.to_nodes, &self.face_product];
        let tables = [&self.slopes, &self.twice_raised, &self.own, &self.tables];
        let words: usize = tables.iter().map(|t| t.len()).sum();
        matrices.iter().map(|m| m.bytes()).sum::<usize>()
            + 4 * words
            + self.terms.bytes()
            + self.crossings.bytes()
            + self.schedule.bytes()
    }

    /// Multiply–adds per element.
    pub(super) fn multiply_adds(&self) -> usize {
        let n_faces = self.dim + 1;
        let products = self.to_coefficients.multiply_adds() + self.to_nodes.multiply_adds();
        let faces = n_faces * self.face_product.multiply_adds() + self.terms.len();
        products + faces + self.slopes.len() + self.twice_raised.len()
    }

    /// Converts the rows of face coefficients, which are the factors of derivatives along the face's frame
    /// and the penalty, to those of this form, `c_fd` and the penalty.
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
