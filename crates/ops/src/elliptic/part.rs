//! Operators and coefficients of one part of a group, in the precision and layout of its blocks.
//!
//! [`PartOperator::new`] computes the matrices that all elements share and the coefficients of each element:
//! `G_de = w J κ ∇r_d·∇r_e` and `w J λ` in the volume, `κ_f sJ` times the conormal directions and `κ_f sJ τ`
//! on the faces. If κ, λ and the map are constant in each element, there is one row of coefficients for each
//! element and face, and the matrices contain the cubature weights; otherwise there is one for each point.
//! Depending on the elements, `A u` uses one of four forms: dense products (`publish`, `gradient`, `test`),
//! lines of nodes (`lines`, with `boxes` for boxes), modes of the gradient (`simplex`), or Bernstein
//! coefficients (`bernstein`).

use super::bernstein::Bernstein;
use super::lines::Lines;
use super::lines::boxes::prefetch::Ahead;
use super::simplex::Simplex;
use super::space::Space;
use super::space::ranks::Kind;
use super::tables::{Tables, clean};
use crate::error::OpsError;
use crate::lanes::panel::{Panels, Rows};
use crate::lanes::simd::PackScalar;
use crate::space::chain::Chain;
use crate::space::connect::Neighbours;
use crate::space::layout::Layout;
use crate::space::scheme::MetricRule;
use dgsuite_basis::{Matrix, OrthonormalBasis, Polynomials, Shape};
use dgsuite_gpu::{Buffer, Element, SimdLevel};
use rayon::prelude::*;

/// Factors of tangential derivatives below this fraction of the normal factor are rounding errors.
const ORTHOGONAL: f64 = 1e-13;

/// The coefficients of the block this many blocks ahead are prefetched.
const AHEAD: usize = 3;

/// The operators and coefficients of a part for `A u`.
pub(super) struct PartOperator<T: Element> {
    pub(super) first_block: usize,
    pub(super) n_blocks: usize,
    /// Number of points of the gradient, and number of rows of values after it (none if λ = 0).
    pub(super) n_points: usize,
    pub(super) n_values: usize,
    pub(super) per_point: bool,
    /// From a state to values and normal derivatives on the faces: `[I_f; N]`.
    pub(super) publish: Chain<T>,
    /// Tangential derivatives from traces; without factors if faces are orthogonal to the lines of nodes.
    pub(super) tangential: Chain<T>,
    /// The transpose of `tangential` with respect to the cubature weights.
    pub(super) tangential_test: Panels<T>,
    /// The gradient, and the values if λ ≠ 0.
    pub(super) gradient: Chain<T>,
    /// `[gradientᵀ | I_fᵀ | Nᵀ]`, with the cubature weights of the volume if `per_point` is false, and with
    /// the weights of the faces. Published values contain no weights, as the parts on the two sides of a face
    /// may differ in this.
    pub(super) test: Chain<T>,
    /// Replaces the chains if nodes lie on lines.
    pub(super) lines: Option<Lines<T>>,
    /// Whether elements are rectangles or boxes with constant coefficients.
    pub(super) rectangular: bool,
    /// Replaces the chains on affine simplices with constant coefficients.
    pub(super) simplex: Option<Simplex<T>>,
    /// Replaces `simplex` if all neighbours are such elements, too.
    pub(super) bernstein: Option<Bernstein<T>>,
    /// Per block, see [`super::point_kernels::Conduct`].
    pub(super) metric: Buffer<T>,
    /// `w J λ` of the set-up in the order of the rows of `metric`, `[row][lane]`; empty as long as λ does not
    /// change.
    pub(super) reaction: Vec<T>,
    /// Per block, see [`super::point_kernels::FaceCoefficients`]; in Bernstein form [`Bernstein::adopt`].
    pub(super) face: Buffer<T>,
    /// `2 κ⁻ / κ_f − 1`, `[block][face][lane]`; empty if κ is the same on both sides of all faces, and on
    /// shapes other than simplices.
    shares: Buffer<T>,
    /// Per block, see [`Lines::box_coefficients`]; empty without boxes.
    pub(super) boxes: Buffer<T>,
    /// [`Lines::straight`]; empty without boxes.
    pub(super) straight: Vec<u32>,
    /// Blocks of boxes to prefetch; empty without boxes.
    pub(super) ahead: Ahead,
}

/// Reference matrices of the volume terms: points × functions, and functions × points.
struct Volume {
    gradient: Vec<Matrix>,
    values: Matrix,
    gradient_test: Vec<Matrix>,
    values_test: Matrix,
}

impl Volume {
    fn new(tables: &Tables, constant: bool) -> Self {
        let reference = &tables.reference;
        let (shape, dim, np) = (reference.spec.shape, reference.spec.shape.dim(), reference.n_basis);
        let w = &reference.volume.weights;
        if constant && matches!(shape, Shape::Triangle | Shape::Tetrahedron) {
            // Derivatives are polynomials of order p − 1: their orthonormal modes are the smallest set of
            // numbers, and products of modes need no weights.
            let modes = OrthonormalBasis::new(shape, reference.spec.order - 1, Polynomials::Total);
            let project = modes.eval(&reference.volume.points).scale_rows(w).transpose();
            let gradient: Vec<Matrix> =
                (0..dim).map(|d| clean(&project.mul(&reference.derivative[d]))).collect();
            let gradient_test = gradient.iter().map(Matrix::transpose).collect();
            let values = Matrix::identity(np);
            return Self { gradient, values, gradient_test, values_test: reference.mass.clone() };
        }
        let gradient: Vec<Matrix> = (0..dim).map(|d| clean(&reference.derivative[d])).collect();
        let values = clean(&reference.interp_volume);
        let test = |m: &Matrix| if constant { m.transpose().scale_cols(w) } else { m.transpose() };
        let gradient_test = gradient.iter().map(test).collect();
        let values_test = test(&values);
        Self { gradient, values, gradient_test, values_test }
    }
}

impl<T: PackScalar> PartOperator<T> {
    /// From the coefficients of the part and the facts on which all ranks have agreed.
    pub(super) fn new(
        space: &Space<T>,
        [g, p]: [usize; 2],
        level: SimdLevel,
        (coefficients, kind): (Coefficients<T>, Kind),
    ) -> Result<Self, OpsError> {
        let (group, tables) = (&space.groups[g], &space.tables[g][p]);
        let part = &group.parts[p];
        let reference = &tables.reference;
        let lanes = group.state.lanes;
        let (np, nf) = (reference.n_basis, reference.face_points.len());
        let constant = is_constant(space, g, p);
        let volume = Volume::new(tables, constant);
        let n_points = volume.gradient[0].rows();
        let n_values = if space.problem.lambda.is_zero() { 0 } else { volume.values.rows() };

        let Coefficients { metric, face, mut shares } = coefficients;
        if constant && !kind.jumps {
            shares = Buffer::zeros(0)?;
        }
        let orthogonal = !kind.skew;
        let rows = T::panel_rows(level, 1);
        let (first_block, n_blocks) = (part.first_block, part.n_blocks);
        let simplex = constant.then(|| Simplex::new(tables, n_values > 0, rows, lanes)).flatten();
        if simplex.is_some() {
            return Ok(Self {
                first_block,
                n_blocks,
                n_points,
                n_values,
                per_point: false,
                publish: Chain::default(),
                tangential: Chain::default(),
                tangential_test: Panels::default(),
                gradient: Chain::default(),
                test: Chain::default(),
                lines: None,
                rectangular: false,
                simplex,
                bernstein: None,
                metric,
                reaction: Vec::new(),
                face,
                shares,
                boxes: Buffer::zeros(0)?,
                straight: Vec::new(),
                ahead: Ahead::default(),
            });
        }
        let line = reference.tensor.as_ref().map_or(np, |t| t.n_basis_1d);
        let chain = |m: Rows, line: usize| Chain::new(&[(m, line)], rows, lanes);
        // Rows of one group share their columns and therefore loads: all rows of a simplex, whose matrices
        // are full except for a few zeros, or the rows of one of its faces.
        let simplex = matches!(group.shape, Shape::Triangle | Shape::Tetrahedron);
        let dense = |m: &Matrix| if simplex { alike(m, &[0, m.rows()]) } else { Rows::dense(m) };
        let offsets = &reference.face_offsets;
        let by_face = |m: &Matrix| if simplex { alike(m, offsets) } else { Rows::dense(m) };
        let mut gradient = dense(&volume.gradient[0]);
        for m in &volume.gradient[1..] {
            gradient = below(gradient, &dense(m));
        }
        if n_values > 0 {
            gradient = below(gradient, &dense(&volume.values));
        }
        let mut test = dense(&volume.gradient_test[0]);
        for m in &volume.gradient_test[1..] {
            test = test.beside(&dense(m));
        }
        if n_values > 0 {
            test = test.beside(&dense(&volume.values_test));
        }
        let weights = &reference.face_weights;
        let trace = clean(&reference.interp_face);
        let across = &tables.frame_derivative[0];
        for m in [&trace, across] {
            test = test.beside(&dense(&m.transpose().scale_cols(weights)));
        }
        let publish = below(by_face(&trace), &dense(across));
        let (mut tangential, mut tangential_test) = (Chain::default(), Panels::default());
        if !orthogonal {
            let mut values = by_face(&tables.tangential[0]);
            for m in &tables.tangential[1..] {
                values = below(values, &by_face(m));
            }
            let weighted = |m: &Matrix| {
                let t = m.transpose();
                let inverse: Vec<f64> = weights.iter().map(|w| 1.0 / w).collect();
                t.scale_rows(&inverse).scale_cols(weights)
            };
            let mut test = by_face(&weighted(&tables.tangential[0]));
            for m in &tables.tangential[1..] {
                test = test.beside(&by_face(&weighted(m)));
            }
            tangential = chain(values, reference.face_offsets[1]);
            tangential_test = Panels::new(&test, reference.face_offsets[1], rows, lanes);
        }
        let lines = Lines::new(tables, !constant);
        let of_boxes = lines.as_ref().filter(|l| l.mirrored.is_some() && constant && orthogonal);
        let boxes = match of_boxes {
            Some(lines) => lines.box_coefficients((&metric, &face), n_values > 0, (n_blocks, lanes))?,
            None => Buffer::zeros(0)?,
        };
        let rectangular = of_boxes.is_some();
        Ok(Self {
            first_block,
            n_blocks,
            n_points,
            n_values,
            per_point: !constant,
            publish: chain(publish, nf),
            tangential,
            tangential_test,
            gradient: chain(gradient, if reference.tensor.is_some() { line } else { n_points }),
            test: chain(test, line),
            lines,
            rectangular,
            simplex: None,
            bernstein: None,
            metric,
            reaction: Vec::new(),
            face,
            shares: Buffer::zeros(0)?,
            boxes,
            straight: Vec::new(),
            ahead: Ahead::default(),
        })
    }

    /// Rows of coefficients of block `b` of the part.
    pub(super) fn metric_of(&self, b: usize) -> &[T] {
        self.metrics_of(b..b + 1)
    }

    pub(super) fn face_of(&self, b: usize) -> &[T] {
        self.faces_of(b..b + 1)
    }

    /// The rows of several blocks.
    pub(super) fn metrics_of(&self, blocks: std::ops::Range<usize>) -> &[T] {
        let len = self.metric.len() / self.n_blocks;
        &self.metric[blocks.start * len..blocks.end * len]
    }

    pub(super) fn faces_of(&self, blocks: std::ops::Range<usize>) -> &[T] {
        let len = self.face.len() / self.n_blocks;
        &self.face[blocks.start * len..blocks.end * len]
    }

    /// `2 κ⁻ / κ_f − 1` of several blocks; empty where that is 1.
    pub(super) fn shares_of(&self, blocks: std::ops::Range<usize>) -> &[T] {
        let len = self.shares.len() / self.n_blocks;
        &self.shares[blocks.start * len..blocks.end * len]
    }

    /// Rows of [`Lines::box_coefficients`] of blocks of the group.
    pub(super) fn boxes_of(&self, blocks: std::ops::Range<usize>) -> &[T] {
        let len = self.boxes.len() / self.n_blocks;
        &self.boxes[(blocks.start - self.first_block) * len..(blocks.end - self.first_block) * len]
    }

    /// Adds data of neighbours to a part that is its whole group and consists of boxes.
    pub(super) fn meet(&mut self, neighbours: &Neighbours, offsets: &[usize], lanes: usize) {
        if let Some(lines) = &self.lines {
            lines.meet(&mut self.boxes, neighbours, &self.face, self.n_values > 0, lanes);
            self.straight = lines.straight(neighbours, offsets, lanes);
            let bytes = lines.nodes() * lanes * size_of::<T>();
            self.ahead = Ahead::new(neighbours, offsets.len() - 1, bytes);
        }
    }

    /// Changes a part that is its whole group to Bernstein form, if it consists of affine simplices. Their
    /// neighbours are in the group.
    ///
    /// # Errors
    /// [`OpsError::Basis`] if the change of basis cannot be inverted.
    pub(super) fn change_form(
        &mut self,
        tables: &Tables,
        (level, lanes): (SimdLevel, usize),
    ) -> Result<(), OpsError> {
        if self.simplex.is_some() {
            self.bernstein = Bernstein::new(tables, self.n_values > 0, level, lanes)?;
            if let Some(form) = &self.bernstein {
                form.adopt(tables.reference.spec.shape, &mut self.face, lanes);
                self.simplex = None;
            }
        }
        Ok(())
    }

    /// Number of scalars that a block publishes, from the layout of its traces.
    pub(super) fn published_len(&self, trace: &Layout) -> usize {
        self.bernstein.as_ref().map_or(2 * trace.block_len(), |b| b.published_rows() * trace.lanes)
    }

    /// The metric of a block that will be processed soon, for prefetching; `None` if it is so large that the
    /// hardware prefetches it.
    pub(super) fn metric_ahead(&self, b: usize) -> Option<&[T]> {
        (!self.per_point && b + AHEAD < self.n_blocks).then(|| self.metric_of(b + AHEAD))
    }

    /// As `metric_ahead`, for the faces.
    pub(super) fn face_ahead(&self, b: usize) -> Option<&[T]> {
        (!self.per_point && b + AHEAD < self.n_blocks).then(|| self.face_of(b + AHEAD))
    }

    /// Memory in bytes of geometry and matrices.
    pub(super) fn bytes(&self) -> usize {
        let reaction = self.reaction.len();
        (self.metric.len() + reaction + self.face.len() + self.shares.len() + self.boxes.len())
            * size_of::<T>()
            + self.ahead.bytes()
            + self.publish.bytes()
            + self.tangential.bytes()
            + self.tangential_test.bytes()
            + self.gradient.bytes()
            + self.test.bytes()
            + self.simplex.as_ref().map_or(0, Simplex::bytes)
            + self.bernstein.as_ref().map_or(0, Bernstein::bytes)
    }

    /// Multiply–adds of an element in the products.
    pub(super) fn multiply_adds(&self) -> usize {
        if let Some(simplex) = &self.simplex {
            return simplex.multiply_adds();
        }
        if let Some(bernstein) = &self.bernstein {
            return bernstein.multiply_adds();
        }
        let tangential = self.tangential.multiply_adds() + self.tangential_test.multiply_adds();
        tangential
            + self.lines.as_ref().map_or_else(
                || self.publish.multiply_adds() + self.gradient.multiply_adds() + self.test.multiply_adds(),
                |lines| lines.multiply_adds(self.rectangular),
            )
    }

    /// The largest number of rows of one of its products.
    pub(super) fn columns(&self) -> usize {
        let of_simplex = self.simplex.as_ref().map_or(0, |s| s.test.cols() + 2 * s.trace.rows());
        let of_bernstein = self.bernstein.as_ref().map_or(0, Bernstein::work_rows);
        self.test.cols().max(self.gradient.rows()).max(of_simplex).max(of_bernstein)
    }
}

/// Rows of a matrix with explicit zeros where another row of their group has an entry; groups are between two
/// of `offsets`.
pub(super) fn alike(m: &Matrix, offsets: &[usize]) -> Rows {
    let mut rows = Vec::new();
    for w in offsets.windows(2) {
        let filled: Vec<usize> = (0..m.cols()).filter(|&j| (w[0]..w[1]).any(|i| m[(i, j)] != 0.0)).collect();
        rows.extend((w[0]..w[1]).map(|i| filled.iter().map(|&j| (j, m[(i, j)])).collect()));
    }
    Rows { cols: m.cols(), rows }
}

/// `first` above `second`.
fn below(mut first: Rows, second: &Rows) -> Rows {
    first.rows.extend(second.rows.iter().cloned());
    first
}

/// Rows of coefficients of a part.
pub(super) struct Coefficients<T: Element> {
    metric: Buffer<T>,
    face: Buffer<T>,
    shares: Buffer<T>,
}

/// Whether κ, λ and the map are constant in each element of a part.
fn is_constant<T: PackScalar>(space: &Space<T>, g: usize, p: usize) -> bool {
    space.groups[g].parts[p].spec.rule == MetricRule::Affine
        && space.problem.kappa.is_piecewise_constant()
        && space.problem.lambda.is_piecewise_constant()
}

/// The coefficients of a part, and facts of them.
pub(super) fn coefficients<T: PackScalar>(
    space: &Space<T>,
    g: usize,
    p: usize,
) -> Result<(Coefficients<T>, Kind), OpsError> {
    let (per_point, values) = (!is_constant(space, g, p), !space.problem.lambda.is_zero());
    let (group, tables) = (&space.groups[g], &space.tables[g][p]);
    let part = &group.parts[p];
    let (dim, lanes) = (space.problem.mesh.dim, group.state.lanes);
    let reference = &tables.reference;
    let offsets = &reference.face_offsets;
    let n_faces = group.shape.n_faces();
    let entries = dim * (dim + 1) / 2 + usize::from(values);
    let points = if per_point { reference.volume.points.len() } else { 1 };
    let face_rows = if per_point { reference.face_points.len() } else { n_faces };
    let mut metric = Buffer::<T>::zeros(part.n_blocks * points * entries * lanes)?;
    let mut face = Buffer::<T>::zeros(part.n_blocks * face_rows * (dim + 1) * lanes)?;
    let mut shares = Buffer::<T>::zeros(part.n_blocks * n_faces * lanes)?;
    let (orthogonal, equal) = space.problem.host.install(|| {
        metric
            .par_chunks_mut(points * entries * lanes)
            .zip(face.par_chunks_mut(face_rows * (dim + 1) * lanes))
            .zip(shares.par_chunks_mut(n_faces * lanes))
            .enumerate()
            .map(|(b, ((metric, face), shares))| {
                let (mut orthogonal, mut equal) = (true, true);
                for lane in 0..lanes {
                    let element = group.elements[(part.first_block + b) * lanes + lane] as usize;
                    let terms = space.terms(element);
                    for q in 0..points {
                        // Constants are weighted by the matrices.
                        let jw = terms.jw[q] / if per_point { 1.0 } else { reference.volume.weights[q] };
                        let a = &terms.metric[q];
                        let mut row = Vec::with_capacity(entries);
                        for d in 0..dim {
                            for e in d..dim {
                                let dot: f64 = (0..3).map(|x| a[d][x] * a[e][x]).sum();
                                row.push(jw * terms.kappa[q] * dot);
                            }
                        }
                        if values {
                            row.push(jw * terms.lambda[q]);
                        }
                        for d in 0..dim {
                            for e in d + 1..dim {
                                // G_de is stored e − d places after G_dd.
                                let diagonal = |d: usize| row[d * dim - d * d.saturating_sub(1) / 2];
                                let entry = row[d * dim - d * d.saturating_sub(1) / 2 + e - d];
                                orthogonal &= entry * entry <= ORTHOGONAL.powi(2) * diagonal(d) * diagonal(e);
                            }
                        }
                        for (i, v) in row.into_iter().enumerate() {
                            metric[(q * entries + i) * lanes + lane] = T::from_f64(v);
                        }
                    }
                    for f in 0..n_faces {
                        let (tau, kappa) = space.face_coefficients(element, f);
                        let count = if per_point { offsets[f + 1] - offsets[f] } else { 1 };
                        let share = 2.0 * terms.kappa[0] / kappa[0] - 1.0;
                        equal &= share == 1.0;
                        shares[f * lanes + lane] = T::from_f64(share);
                        for i in 0..count {
                            let q = offsets[f] + i;
                            let point = &terms.face[q];
                            let b = point.conormal();
                            let w = kappa[i] * point.weight / reference.face_weights[q];
                            let row = if per_point { q } else { f };
                            let mut put = |m: usize, v: f64| {
                                face[(row * (dim + 1) + m) * lanes + lane] = T::from_f64(v);
                            };
                            let c: Vec<f64> = (0..dim)
                                .map(|m| w * (0..dim).map(|d| tables.frame[f][m][d] * b[d]).sum::<f64>())
                                .collect();
                            for (m, v) in c.iter().enumerate() {
                                orthogonal &= m == 0 || v.abs() <= ORTHOGONAL * c[0].abs();
                                put(m, *v);
                            }
                            put(dim, w * tau);
                        }
                    }
                }
                (orthogonal, equal)
            })
            .reduce(|| (true, true), |a, b| (a.0 && b.0, a.1 && b.1))
    });
    if per_point {
        shares = Buffer::zeros(0)?;
    }
    Ok((Coefficients { metric, face, shares }, Kind { skew: !orthogonal, jumps: !equal }))
}
