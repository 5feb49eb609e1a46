//! Assembly of the matrix, element by element, from the bilinear form.
//!
//! It works at cubature points, in double precision and with scalars, independently of the matrix-free
//! product, which tests compare with it.

use super::space::ElementTerms;
use super::{Beyond, EllipticBoundary, Sipdg, Space};
use crate::lanes::simd::PackScalar;
use crate::space::layout::PerPoint;
use dgsuite_basis::Matrix;
use rayon::prelude::*;
use sprs::CsMat;

/// Terms of the bilinear form at the points of a side.
struct SideTerms {
    /// First row in the tables of the reference element.
    first: usize,
    /// `[point][function]` physical normal derivatives.
    slopes: Vec<f64>,
    /// `w κ_f sJ`; without κ_f where only the derivatives are used.
    weight: Vec<f64>,
    tau: f64,
}

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

/// Number of such groups of elements whose rows are assembled in one task.
const RUNS: usize = 32;

/// The number of an entry that is not an unknown.
const NOWHERE: u32 = u32::MAX;

impl<T: PackScalar> Space<T> {
    /// `∫ κ ∇φ_i·∇φ_j + λ φ_i φ_j` on one element: calls `add(factor, f)`, where `factor f_i f_j` is to be
    /// added for all `i, j`.
    fn volume_terms(&self, element: usize, terms: &ElementTerms, mut add: impl FnMut(f64, &[f64])) {
        let reference = &self.tables_of(element).reference;
        let (np, dim) = (reference.n_basis, self.problem.mesh.dim);
        let mut slope = vec![0.0; np];
        for (q, (jw, metric)) in terms.jw.iter().zip(&terms.metric).enumerate() {
            for x in 0..dim {
                slope.fill(0.0);
                for (d, row) in metric.iter().enumerate().take(dim) {
                    for (slope, derivative) in slope.iter_mut().zip(reference.derivative[d].row(q)) {
                        *slope += row[x] * derivative;
                    }
                }
                add(jw * terms.kappa[q], &slope);
            }
            if terms.lambda[q] != 0.0 {
                add(jw * terms.lambda[q], reference.interp_volume.row(q));
            }
        }
    }

    /// The contribution of the faces to the diagonal block of an element: calls
    /// `add(point, stiffness, penalty, b)` at each face point, where
    /// `penalty φ_i φ_j − stiffness (φ_i s_j + s_i φ_j)` is to be added, with the derivatives `s` along the
    /// conormal `b`; `point` is a row of the tables of the reference element.
    fn face_terms(
        &self,
        element: usize,
        terms: &ElementTerms,
        mut add: impl FnMut(usize, f64, f64, Option<[f64; 3]>),
    ) {
        let offsets = &self.tables_of(element).reference.face_offsets;
        for face in 0..self.problem.mesh.shape(element).n_faces() {
            let (stiffness, mass) = match self.across(element, face) {
                Beyond::Element { .. } => (0.5, 1.0),
                Beyond::Boundary(b) => match self.problem.boundary(b) {
                    EllipticBoundary::Dirichlet => (1.0, 2.0),
                    EllipticBoundary::Neumann => continue,
                    EllipticBoundary::Robin { alpha } => {
                        for point in offsets[face]..offsets[face + 1] {
                            add(point, 0.0, alpha * terms.face[point].weight, None);
                        }
                        continue;
                    }
                },
            };
            let (tau, kappa) = self.face_coefficients(element, face);
            for (point, kappa) in (offsets[face]..).zip(kappa) {
                let (at, w) = (&terms.face[point], kappa * terms.face[point].weight);
                add(point, stiffness * w, mass * tau * w, Some(at.conormal()));
            }
        }
    }

    /// The diagonal block of an element.
    pub(super) fn diagonal_block(&self, element: usize) -> Matrix {
        self.own_block(element, &self.terms(element))
    }

    fn own_block(&self, element: usize, terms: &ElementTerms) -> Matrix {
        let tables = self.tables_of(element);
        let reference = &tables.reference;
        let np = reference.n_basis;
        let mut out = Matrix::zeros(np, np);
        let upper = &mut out.data;
        self.volume_terms(element, terms, |factor, f| {
            for (i, row) in upper.chunks_exact_mut(np).enumerate() {
                let left = factor * f[i];
                for (out, f) in row[i..].iter_mut().zip(&f[i..]) {
                    *out += left * f;
                }
            }
        });
        self.face_terms(element, terms, |point, stiffness, penalty, conormal| {
            let phi = reference.interp_face.row(point);
            let slopes = tables.slopes(point, conormal);
            for (i, row) in upper.chunks_exact_mut(np).enumerate() {
                if stiffness == 0.0 {
                    for j in i..np {
                        row[j] += penalty * phi[i] * phi[j];
                    }
                    continue;
                }
                let (left, slope) = (penalty * phi[i] - stiffness * slopes[i], stiffness * phi[i]);
                if left == 0.0 && slope == 0.0 {
                    continue;
                }
                for j in i..np {
                    row[j] += left * phi[j] - slope * slopes[j];
                }
            }
        });
        for i in 0..np {
            for j in 0..i {
                out[(i, j)] = out[(j, i)];
            }
        }
        // An element can be its own neighbour across a periodic boundary.
        for face in 0..self.problem.mesh.shape(element).n_faces() {
            if let Beyond::Element { side, .. } = self.across(element, face)
                && side.element as usize == element
                && let Some((_, block)) = self.coupling(element, face, terms)
            {
                out = out.add_scaled(1.0, &block);
            }
        }
        out
    }

    /// The diagonal of an element's diagonal block. Only functions that do not vanish at a point contribute
    /// there: with nodes on lines, few of all.
    fn own_diagonal(&self, element: usize, terms: &ElementTerms) -> Vec<f64> {
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
        self.face_terms(element, terms, |point, stiffness, penalty, conormal| {
            for &(i, phi) in tables.traces_at(point) {
                let slope = conormal.map_or(0.0, |b| tables.slope(point, i, &b));
                out[i] += phi * (penalty * phi - 2.0 * stiffness * slope);
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
        out
    }

    /// Normal derivatives at the points of a side, `w κ_f sJ`, and τ.
    fn side(&self, element: usize, face: usize, terms: &ElementTerms) -> SideTerms {
        let tables = self.tables_of(element);
        let offsets = &tables.reference.face_offsets;
        let (first, end) = (offsets[face], offsets[face + 1]);
        let (tau, kappa) = self.face_coefficients(element, face);
        let weight = terms.face[first..end].iter().zip(kappa).map(|(p, k)| k * p.weight).collect();
        let conormals = terms.face[first..end].iter().map(|point| point.conormal());
        SideTerms { first, slopes: tables.slopes(first, conormals), weight, tau }
    }

    /// The neighbour across a face and the off-diagonal block that couples an element to it; `None` at a
    /// boundary.
    fn coupling(&self, element: usize, face: usize, terms: &ElementTerms) -> Option<(usize, Matrix)> {
        let Beyond::Element { side: plus, .. } = self.across(element, face) else { return None };
        let (other, their_face) = (plus.element as usize, plus.face as usize);
        let (ours, theirs) = (self.tables_of(element), self.tables_of(other));
        let (np, nq) = (ours.reference.n_basis, theirs.reference.n_basis);
        let side = self.side(element, face, terms);
        let slopes =
            theirs.slopes(theirs.reference.face_offsets[their_face], self.conormals(other, their_face));
        let meets = self.meeting_points(element, face);
        let mut out = Matrix::zeros(np, nq);
        // − τ φ_i φ_j⁺ + ½ φ_i ∂φ_j⁺/∂n⁺ + ½ φ_j⁺ ∂φ_i/∂n, with the normal n⁺ of the other side.
        for (q, (&m, w)) in meets.iter().zip(&side.weight).enumerate() {
            let phi = ours.reference.interp_face.row(side.first + q);
            let phi_plus = theirs.reference.interp_face.row(theirs.reference.face_offsets[their_face] + m);
            let slope_plus = &slopes[m * nq..(m + 1) * nq];
            let slope = &side.slopes[q * np..(q + 1) * np];
            for (i, row) in out.data.chunks_exact_mut(nq).enumerate() {
                let (value, derivative) = (w * (0.5 * slope[i] - side.tau * phi[i]), 0.5 * w * phi[i]);
                for (out, (phi, slope)) in row.iter_mut().zip(phi_plus.iter().zip(slope_plus)) {
                    *out += value * phi + derivative * slope;
                }
            }
        }
        Some((other, out))
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
                let key = (group.shape, part.kind == PerPoint::Yes, ELEMENTS);
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
        self.numbers_of_nodes(T::ONE, |element| space.own_diagonal(element, &space.terms(element)))
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
            space.own_diagonal(element, &terms)
        };
        let reaction = |element: usize| {
            let tables = space.tables_of(element);
            let lambda = space.problem.lambda.at(element, &tables.lambda);
            let mut out = vec![0.0; tables.reference.n_basis];
            for (q, (jw, lambda)) in space.terms(element).jw.iter().zip(lambda).enumerate() {
                for &(i, phi) in tables.values_at(q) {
                    out[i] += jw * lambda * phi * phi;
                }
            }
            out
        };
        (self.numbers_of_nodes(T::ONE, diffusion), self.numbers_of_nodes(T::ZERO, reaction))
    }

    /// A vector from numbers of each element's nodes, and the number in the padding.
    fn numbers_of_nodes(&self, padding: T, of_element: impl Fn(usize) -> Vec<f64> + Sync) -> Vec<T> {
        let space = &self.space;
        let mut out = vec![padding; space.len()];
        let mut rest = &mut out[..];
        for group in &space.groups {
            let (own, others) = rest.split_at_mut(group.state.len());
            rest = others;
            let lanes = group.state.lanes;
            space.problem.host.install(|| {
                own.par_chunks_mut(group.state.block_len()).enumerate().for_each(|(block, out)| {
                    let part = group.part_of(block);
                    let end = part.first_block * lanes + part.n_elements;
                    for slot in block * lanes..((block + 1) * lanes).min(end) {
                        let numbers = of_element(group.elements[slot] as usize);
                        for (out, v) in out[slot % lanes..].iter_mut().step_by(lanes).zip(numbers) {
                            *out = T::from_f64(v);
                        }
                    }
                });
            });
        }
        out
    }
}
