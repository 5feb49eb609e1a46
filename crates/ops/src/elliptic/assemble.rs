//! Assembly of the matrix, element by element, from the bilinear form.
//!
//! It works at cubature points, in double precision and with scalars, independently of the matrix-free
//! product, which tests compare with it.

use super::functions::Functions;
use super::space::ElementTerms;
use super::{Beyond, EllipticBoundary, Sipdg, Space};
use crate::lanes::simd::PackScalar;
use crate::space::layout::PerPoint;
use dgsuite_basis::Matrix;
use rayon::prelude::*;
use sprs::CsMat;

/// The matrix of the unknowns in compressed rows; columns ascend in each row, zeros are omitted.
#[derive(Clone, Debug, PartialEq)]
pub struct CompressedRows {
    /// For each row, its entry in the operator's vectors; the other entries are padding.
    pub entries: Vec<u32>,
    /// Start of each row, then the end of the last.
    pub starts: Vec<usize>,
    /// Column of each stored entry, with the numbering of the rows.
    pub columns: Vec<u32>,
    /// Value of each stored entry.
    pub values: Vec<f64>,
}

/// Number of elements whose rows are numbered together, node by node, so that neighbouring rows have their
/// columns at the same offsets. It is fixed, so that matrices and everything computed from them are the same
/// in both precisions and for all SIMD levels.
const ELEMENTS: usize = 8;

/// The terms of the diagonal block of an element at a point of a face, a row of the tables of the reference
/// element: `penalty φ_i φ_j − stiffness (φ_i s_j + s_i φ_j)` with the derivatives `s` along the conormal.
pub(super) struct FaceTerm {
    pub(super) point: usize,
    pub(super) stiffness: f64,
    pub(super) penalty: f64,
    pub(super) conormal: Option<[f64; 3]>,
    /// Whether the face is shared with another element.
    pub(super) inner: bool,
}

/// The diagonal of an element's diagonal block.
pub(super) struct Diagonals {
    /// Of all terms.
    pub(super) all: Vec<f64>,
    /// Without those of inner faces, which vanish for functions that do not jump there.
    pub(super) conforming: Vec<f64>,
}

/// Number of such groups of elements whose rows are assembled in one task.
const RUNS: usize = 32;

/// The number of an entry that is not an unknown.
const NOWHERE: u32 = u32::MAX;

/// Adds `left_i f_j` for `j ≥ i` to blocks `[i][j][k]` of the functions `i count + k`.
fn add_products(out: &mut [f64], count: usize, left: &[f64], f: &[f64]) {
    let n = left.len() / count;
    if count == 1 {
        for (i, row) in out.chunks_exact_mut(n).enumerate() {
            for (out, f) in row[i..].iter_mut().zip(&f[i..]) {
                *out += left[i] * f;
            }
        }
        return;
    }
    for (i, left) in left.chunks_exact(count).enumerate() {
        for (j, f) in f.chunks_exact(count).enumerate().skip(i) {
            let out = &mut out[(i * n + j) * count..][..count];
            out.iter_mut().zip(left).zip(f).for_each(|((out, left), f)| *out += left * f);
        }
    }
}

/// As [`add_products`], `left_i f_j − right_i g_j`.
fn add_differences(out: &mut [f64], count: usize, [left, f]: [&[f64]; 2], [right, g]: [&[f64]; 2]) {
    let n = left.len() / count;
    for i in 0..n {
        for k in 0..count {
            let (left, right) = (left[i * count + k], right[i * count + k]);
            if left == 0.0 && right == 0.0 {
                continue;
            }
            let row = out[i * n * count..].iter_mut().skip(k).step_by(count).take(n).skip(i);
            let of = f.iter().zip(g).skip(k).step_by(count).skip(i);
            for (out, (f, g)) in row.zip(of) {
                *out += left * f - right * g;
            }
        }
    }
}

/// Adds `v_i φ_j + d_i s_j` to blocks `[i][j][k]` of the sizes `[n, m, count]`; `function(i, k)` is the
/// number of each function, of the rows and of the columns.
pub(super) fn add_coupling(
    out: &mut [f64],
    [n, m, count]: [usize; 3],
    [[v, d], [phi, s]]: [[&[f64]; 2]; 2],
    [row, column]: [&dyn Fn(usize, usize) -> usize; 2],
) {
    for i in 0..n {
        for k in 0..count {
            let at = row(i, k);
            let (v, d) = (v[at], d[at]);
            if count == 1 {
                for (out, (phi, s)) in out[i * m..(i + 1) * m].iter_mut().zip(phi.iter().zip(s)) {
                    *out += v * phi + d * s;
                }
                continue;
            }
            for j in 0..m {
                let at = column(j, k);
                out[(i * m + j) * count + k] += v * phi[at] + d * s[at];
            }
        }
    }
}

impl<T: PackScalar> Space<T> {
    /// `∫ κ ∇φ_i·∇φ_j + λ φ_i φ_j` on one element: calls `add(factor, f)`, where `factor f_i f_j` is to be
    /// added for all `i, j`.
    fn volume_terms(&self, terms: &ElementTerms, of: &Functions<'_>, mut add: impl FnMut(f64, &[f64])) {
        let dim = self.problem.mesh.dim;
        let mut slope = vec![0.0; of.len()];
        for (q, (jw, metric)) in terms.jw.iter().zip(&terms.metric).enumerate() {
            for x in 0..dim {
                slope.fill(0.0);
                for (row, derivative) in metric.iter().zip(&of.derivative) {
                    for (slope, derivative) in slope.iter_mut().zip(derivative.row(q)) {
                        *slope += row[x] * derivative;
                    }
                }
                add(jw * terms.kappa[q], &slope);
            }
            if terms.lambda[q] != 0.0 {
                add(jw * terms.lambda[q], of.value.row(q));
            }
        }
    }

    /// The contribution of the faces to the diagonal block of an element: calls `add` with the terms at each
    /// face point.
    pub(super) fn face_terms(&self, element: usize, terms: &ElementTerms, mut add: impl FnMut(FaceTerm)) {
        let offsets = &self.tables_of(element).reference.face_offsets;
        for face in 0..self.problem.mesh.shape(element).n_faces() {
            let across = self.across(element, face);
            let inner = matches!(across, Beyond::Element { .. });
            let (stiffness, mass) = match across {
                Beyond::Element { .. } => (0.5, 1.0),
                Beyond::Boundary(b) => match self.problem.boundary(b) {
                    EllipticBoundary::Dirichlet => (1.0, 2.0),
                    EllipticBoundary::Neumann => continue,
                    EllipticBoundary::Robin { alpha } => {
                        for point in offsets[face]..offsets[face + 1] {
                            let penalty = alpha * terms.face[point].weight;
                            add(FaceTerm { point, stiffness: 0.0, penalty, conormal: None, inner });
                        }
                        continue;
                    }
                },
            };
            let (tau, kappa) = self.face_coefficients(element, face);
            for (point, kappa) in (offsets[face]..).zip(kappa) {
                let (at, w) = (&terms.face[point], kappa * terms.face[point].weight);
                let (stiffness, penalty) = (stiffness * w, mass * tau * w);
                add(FaceTerm { point, stiffness, penalty, conormal: Some(at.conormal()), inner });
            }
        }
    }

    /// The diagonal block of an element.
    pub(super) fn diagonal_block(&self, element: usize) -> Matrix {
        self.own_block(element, &self.terms(element))
    }

    fn own_block(&self, element: usize, terms: &ElementTerms) -> Matrix {
        let nodal = Functions::nodal(self.tables_of(element));
        Matrix::from_row_major(nodal.len(), nodal.len(), self.own_blocks(element, terms, &nodal, 1))
    }

    /// The bilinear form of functions of one element, in `count` diagonal blocks: of the functions
    /// `i count + k`, those with the same k. Returns `[i][j][k]`.
    pub(super) fn own_blocks(
        &self,
        element: usize,
        terms: &ElementTerms,
        of: &Functions<'_>,
        count: usize,
    ) -> Vec<f64> {
        let n = of.len() / count;
        let mut out = vec![0.0; n * n * count];
        let mut left = vec![0.0; of.len()];
        self.volume_terms(terms, of, |factor, f| {
            left.iter_mut().zip(f).for_each(|(left, f)| *left = factor * f);
            add_products(&mut out, count, &left, f);
        });
        let mut right = vec![0.0; of.len()];
        self.face_terms(element, terms, |FaceTerm { point, stiffness, penalty, conormal, .. }| {
            let phi = of.trace.row(point);
            let slopes = of.slopes(point, conormal);
            if stiffness == 0.0 {
                left.iter_mut().zip(phi).for_each(|(left, phi)| *left = penalty * phi);
                add_products(&mut out, count, &left, phi);
                return;
            }
            for (i, phi) in phi.iter().enumerate() {
                left[i] = penalty * phi - stiffness * slopes[i];
                right[i] = stiffness * phi;
            }
            add_differences(&mut out, count, [&left, phi], [&right, &slopes]);
        });
        for i in 0..n {
            for j in 0..i {
                for k in 0..count {
                    out[(i * n + j) * count + k] = out[(j * n + i) * count + k];
                }
            }
        }
        // An element can be its own neighbour across a periodic boundary.
        for face in 0..self.problem.mesh.shape(element).n_faces() {
            if let Beyond::Element { side, .. } = self.across(element, face)
                && side.element as usize == element
            {
                let mut block = vec![0.0; out.len()];
                self.coupled(element, face, terms, [of, of], |ours, theirs| {
                    let function = |i: usize, k: usize| i * count + k;
                    add_coupling(&mut block, [n, n, count], [ours, theirs], [&function, &function]);
                });
                out.iter_mut().zip(block).for_each(|(out, v)| *out += v);
            }
        }
        out
    }

    /// The diagonal of an element's diagonal block. Only functions that do not vanish at a point contribute
    /// there: with nodes on lines, few of all.
    pub(super) fn own_diagonal(&self, element: usize, terms: &ElementTerms) -> Diagonals {
        let tables = self.tables_of(element);
        let dim = self.problem.mesh.dim;
        let mut out = vec![0.0; tables.reference.n_basis];
        for (q, (jw, metric)) in terms.jw.iter().zip(&terms.metric).enumerate() {
            let (stiffness, mass) = (jw * terms.kappa[q], jw * terms.lambda[q]);
            for &(i, d) in tables.derivatives_at(q) {
                for x in 0..dim {
                    let slope = metric[0][x] * d[0] + metric[1][x] * d[1] + metric[2][x] * d[2];
                    out[i] += stiffness * slope * slope;
                }
            }
            if mass != 0.0 {
                for &(i, phi) in tables.values_at(q) {
                    out[i] += mass * phi * phi;
                }
            }
        }
        let mut conforming = out.clone();
        self.face_terms(element, terms, |FaceTerm { point, stiffness, penalty, conormal, inner }| {
            for &(i, phi) in tables.traces_at(point) {
                let slope = conormal.map_or(0.0, |b| tables.slope(point, i, &b));
                let term = phi * (penalty * phi - 2.0 * stiffness * slope);
                out[i] += term;
                if !inner {
                    conforming[i] += term;
                }
            }
        });
        for face in 0..self.problem.mesh.shape(element).n_faces() {
            if let Beyond::Element { side, .. } = self.across(element, face)
                && side.element as usize == element
                && let Some((_, block)) = self.coupling(element, face, terms)
            {
                for (i, out) in out.iter_mut().enumerate() {
                    *out += block[(i, i)];
                }
            }
        }
        Diagonals { all: out, conforming }
    }

    /// The same of other functions of the element, without the coupling of an element to itself.
    pub(super) fn diagonal_of(&self, element: usize, terms: &ElementTerms, of: &Functions<'_>) -> Diagonals {
        let mut out = vec![0.0; of.len()];
        self.volume_terms(terms, of, |factor, f| {
            out.iter_mut().zip(f).for_each(|(out, f)| *out += factor * f * f);
        });
        let mut conforming = out.clone();
        self.face_terms(element, terms, |FaceTerm { point, stiffness, penalty, conormal, inner }| {
            let slopes = of.slopes(point, conormal);
            for (i, phi) in of.trace.row(point).iter().enumerate() {
                let slope = slopes.get(i).unwrap_or(&0.0);
                let term = phi * (penalty * phi - 2.0 * stiffness * slope);
                out[i] += term;
                if !inner {
                    conforming[i] += term;
                }
            }
        });
        Diagonals { all: out, conforming }
    }

    /// The neighbour across a face and the off-diagonal block that couples an element to it; `None` at a
    /// boundary.
    fn coupling(&self, element: usize, face: usize, terms: &ElementTerms) -> Option<(usize, Matrix)> {
        let Beyond::Element { side, .. } = self.across(element, face) else { return None };
        let other = side.element as usize;
        let of = [element, other].map(|e| Functions::nodal(self.tables_of(e)));
        let mut out = Matrix::zeros(of[0].len(), of[1].len());
        let sizes = [of[0].len(), of[1].len(), 1];
        let function = |i: usize, _: usize| i;
        self.coupled(element, face, terms, [&of[0], &of[1]], |ours, theirs| {
            add_coupling(&mut out.data, sizes, [ours, theirs], [&function, &function]);
        });
        Some((other, out))
    }

    /// The bilinear form of functions of an element and functions of its neighbour across a face,
    /// `∫ κ_f (−τ φ_i φ_j⁺ + ½ φ_i ∂φ_j⁺/∂n⁺ + ½ φ_j⁺ ∂φ_i/∂n)` with the normal n⁺ of the other side: calls
    /// `add([v, d], [φ⁺, s⁺])` at each point of the face, where `v_i φ_j⁺ + d_i s_j⁺` is to be added.
    pub(super) fn coupled(
        &self,
        element: usize,
        face: usize,
        terms: &ElementTerms,
        [ours, theirs]: [&Functions<'_>; 2],
        mut add: impl FnMut([&[f64]; 2], [&[f64]; 2]),
    ) {
        let Beyond::Element { side: plus, .. } = self.across(element, face) else { return };
        let (other, their_face) = (plus.element as usize, plus.face as usize);
        let offsets = &self.tables_of(element).reference.face_offsets;
        let (first, end) = (offsets[face], offsets[face + 1]);
        let their_first = self.tables_of(other).reference.face_offsets[their_face];
        let (tau, kappa) = self.face_coefficients(element, face);
        let slopes = ours.slopes(first, terms.face[first..end].iter().map(|point| point.conormal()));
        let slopes_plus = theirs.slopes(their_first, self.conormals(other, their_face));
        let (n, n_plus) = (ours.len(), theirs.len());
        let (mut value, mut derivative) = (vec![0.0; n], vec![0.0; n]);
        let points = self.meeting_points(element, face).iter().zip(&terms.face[first..end]).zip(kappa);
        for (q, ((&m, point), kappa)) in points.enumerate() {
            let w = kappa * point.weight;
            let (phi, slope) = (ours.trace.row(first + q), &slopes[q * n..(q + 1) * n]);
            for (i, phi) in phi.iter().enumerate() {
                value[i] = w * (0.5 * slope[i] - tau * phi);
                derivative[i] = 0.5 * w * phi;
            }
            let phi_plus = theirs.trace.row(their_first + m);
            add([&value, &derivative], [phi_plus, &slopes_plus[m * n_plus..(m + 1) * n_plus]]);
        }
    }

    /// The blocks in the rows of an element: its own, then those of its neighbours, each once.
    fn blocks(&self, element: usize) -> Vec<(usize, Matrix)> {
        let terms = self.terms(element);
        let mut out = vec![(element, self.own_block(element, &terms))];
        for face in 0..self.problem.mesh.shape(element).n_faces() {
            match self.coupling(element, face, &terms) {
                Some((other, block)) if other != element => {
                    // Across periodic boundaries, two elements can share two faces.
                    match out.iter_mut().find(|(e, _)| *e == other) {
                        Some((_, sum)) => *sum = sum.add_scaled(1.0, &block),
                        None => out.push((other, block)),
                    }
                }
                _ => {}
            }
        }
        out
    }

    /// Elements whose rows are numbered together, chosen like the elements of a block with [`ELEMENTS`]
    /// lanes.
    fn runs(&self) -> Vec<Vec<u32>> {
        let problem = &self.problem;
        let mut runs = Vec::new();
        for group in &self.groups {
            for part in &group.parts {
                let first = part.first_block * group.state.lanes;
                let mut elements = group.elements[first..first + part.n_elements].to_vec();
                elements.sort_unstable();
                let key = ((group.shape, part.kind == PerPoint::Yes, ELEMENTS), true);
                let order = problem.packings.order(&problem.mesh, key, &elements);
                let run = |order: &[u32]| order.iter().map(|&i| elements[i as usize]).collect();
                runs.extend(order.chunks(ELEMENTS).map(run));
            }
        }
        runs
    }

    /// The number of each entry of a vector among the unknowns, and the entries of the unknowns.
    fn numbering(&self, runs: &[Vec<u32>]) -> (Vec<u32>, Vec<u32>) {
        let mut place = vec![NOWHERE; self.len()];
        let mut entries = Vec::with_capacity(place.len());
        for run in runs {
            for i in 0..self.n_basis(run[0] as usize) {
                for &element in run {
                    let (first, stride) = self.rows(element as usize);
                    place[first + i * stride] = entries.len() as u32;
                    entries.push((first + i * stride) as u32);
                }
            }
        }
        (place, entries)
    }

    /// Lengths, columns and values of the rows of some runs.
    fn rows_of_runs(&self, runs: &[Vec<u32>], place: &[u32]) -> Piece {
        let most = |run: &Vec<u32>| {
            let (np, faces) =
                (self.n_basis(run[0] as usize), self.problem.mesh.shape(run[0] as usize).n_faces());
            [run.len() * np, run.len() * np * np * (1 + faces)]
        };
        let [rows, entries] = runs.iter().map(most).fold([0; 2], |sum, n| [sum[0] + n[0], sum[1] + n[1]]);
        let mut out = Piece {
            lengths: Vec::with_capacity(rows),
            columns: Vec::with_capacity(entries),
            values: Vec::with_capacity(entries),
        };
        for run in runs {
            // Columns of the rows of each element, ascending, and the location of their entries.
            let of_element: Vec<(Vec<Place>, Vec<(usize, Matrix)>)> = run
                .iter()
                .map(|&element| {
                    let blocks = self.blocks(element as usize);
                    let mut columns = Vec::new();
                    for (b, (other, block)) in blocks.iter().enumerate() {
                        let (begin, step) = self.rows(*other);
                        columns.extend((0..block.cols()).map(|j| (place[begin + j * step], b, j)));
                    }
                    columns.sort_unstable();
                    (columns, blocks)
                })
                .collect();
            for i in 0..self.n_basis(run[0] as usize) {
                for (columns, blocks) in &of_element {
                    let before = out.columns.len();
                    for &(column, b, j) in columns {
                        let value = blocks[b].1[(i, j)];
                        if value != 0.0 {
                            out.columns.push(column);
                            out.values.push(value);
                        }
                    }
                    out.lengths.push(out.columns.len() - before);
                }
            }
        }
        out
    }
}

/// A column, the block that contains it, and its column in the block.
type Place = (u32, usize, usize);

/// Consecutive rows.
struct Piece {
    lengths: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl<T: PackScalar> Sipdg<T> {
    /// Assembles the matrix of the unknowns in compressed rows. The order does not depend on precision or
    /// SIMD level: the rows of eight elements are numbered together, node by node. The matrix is integrated
    /// from the bilinear form, independently of [`apply`](Self::apply).
    #[must_use]
    pub fn compressed_rows(&self) -> CompressedRows {
        let space = &self.space;
        space.problem.host.install(|| {
            let runs = space.runs();
            let (place, entries) = space.numbering(&runs);
            let pieces: Vec<Piece> =
                runs.par_chunks(RUNS).map(|runs| space.rows_of_runs(runs, &place)).collect();
            let n_nonzeros = pieces.iter().map(|piece| piece.columns.len()).sum();
            let (mut columns, mut values) = (vec![0; n_nonzeros], vec![0.0; n_nonzeros]);
            let mut starts = Vec::with_capacity(entries.len() + 1);
            starts.push(0);
            let (mut columns_left, mut values_left) = (&mut columns[..], &mut values[..]);
            let mut places = Vec::with_capacity(pieces.len());
            for piece in &pieces {
                let mut end = starts[starts.len() - 1];
                starts.extend(piece.lengths.iter().map(|length| {
                    end += length;
                    end
                }));
                let (here, rest) = columns_left.split_at_mut(piece.columns.len());
                let (values_here, values_rest) = values_left.split_at_mut(piece.columns.len());
                places.push((here, values_here));
                (columns_left, values_left) = (rest, values_rest);
            }
            pieces.into_par_iter().zip(places).for_each(|(piece, (columns, values))| {
                columns.copy_from_slice(&piece.columns);
                values.copy_from_slice(&piece.values);
            });
            CompressedRows { entries, starts, columns, values }
        })
    }

    /// Assembles the matrix in compressed rows, in the order of the operator's vectors. Zero entries are
    /// omitted, and padding has rows of the identity: [`compressed_rows`](Self::compressed_rows) with
    /// additional rows.
    #[must_use]
    pub fn assemble(&self) -> CsMat<f64> {
        let CompressedRows { entries, starts, columns, values } = self.compressed_rows();
        let n = self.len();
        let mut row_of = vec![None; n];
        for (&entry, ends) in entries.iter().zip(starts.windows(2)) {
            row_of[entry as usize] = Some(ends[0]..ends[1]);
        }
        let (mut first, mut all, mut numbers) = (vec![0], Vec::new(), Vec::new());
        for (i, row) in row_of.into_iter().enumerate() {
            let mut row: Vec<(usize, f64)> = match row {
                Some(row) => columns[row.clone()]
                    .iter()
                    .map(|&j| entries[j as usize] as usize)
                    .zip(values[row].iter().copied())
                    .collect(),
                None => vec![(i, 1.0)],
            };
            row.sort_unstable_by_key(|(j, _)| *j);
            all.extend(row.iter().map(|(j, _)| *j));
            numbers.extend(row.iter().map(|(_, value)| *value));
            first.push(all.len());
        }
        CsMat::new((n, n), first, all, numbers)
    }

    /// The diagonal of the matrix; ones in the padding.
    #[must_use]
    pub fn diagonal(&self) -> Vec<T> {
        let space = &self.space;
        self.numbers_of_nodes(T::ONE, |element| space.own_diagonal(element, &space.terms(element)).all)
    }

    /// The diagonal as a function of λ: the diagonal of the operator with `λ factor` (see
    /// [`set_lambda`](Self::set_lambda)) is the first vector plus `factor` times the second, which is the
    /// diagonal of `∫ λ u v` with λ of the set-up. The padding has ones and zeros.
    #[must_use]
    pub fn diagonals(&self) -> (Vec<T>, Vec<T>) {
        let space = &self.space;
        let diffusion = |element: usize| {
            let mut terms = space.terms(element);
            terms.lambda.fill(0.0);
            space.own_diagonal(element, &terms).all
        };
        let reaction = |element: usize| {
            let tables = space.tables_of(element);
            let lambda = space.problem.lambda.at(element, &tables.lambda);
            let jw = space.terms(element).jw;
            space.squares(element, &jw.iter().zip(lambda).map(|(jw, lambda)| jw * lambda).collect::<Vec<_>>())
        };
        (self.numbers_of_nodes(T::ONE, diffusion), self.numbers_of_nodes(T::ZERO, reaction))
    }

    /// The diagonal of the mass matrix; zeros in the padding.
    #[must_use]
    pub fn mass_diagonal(&self) -> Vec<T> {
        let space = &self.space;
        self.numbers_of_nodes(T::ZERO, |element| space.squares(element, &space.terms(element).jw))
    }

    /// A vector from numbers of each element's nodes, and the number in the padding.
    fn numbers_of_nodes(&self, padding: T, of_element: impl Fn(usize) -> Vec<f64> + Sync) -> Vec<T> {
        let mut out =
            self.space.vector(padding, |element| Some(of_element(element).into_iter().map(T::from_f64)));
        // Faces of elements of other ranks may be missing here.
        self.refresh(&mut out);
        out
    }
}
