//! Rectangles and boxes with constant coefficients.
//!
//! What lies across a face is formed where it is needed, along the neighbours' lines that end there: two
//! products for each of them. That is more arithmetic than to read what neighbours have published, but
//! nothing but the result is written, and neighbours' nodes are in the cache along a space-filling curve.
//! Neighbours in the same block have them at the other ends of the own lines. Products of the own lines lead
//! from sums and differences of nodes that are mirror images to sums and differences, which halves them
//! (Solomonoff 1992).

pub(crate) mod blocks;
pub(crate) mod prefetch;

use super::Lines;
use crate::connect::{Neighbours, ORIENTATIONS};
use crate::error::OpsError;
use crate::simd::PackScalar;
use dgsuite_gpu::Buffer;

/// Relative differences of what is the same.
const SAME: f64 = 1e-11;

/// What follows from nodes that are mirror images of one another.
pub(crate) struct Mirrored<T> {
    /// Value and outward derivative at the second end, `[value, derivative][i]`.
    end: Vec<T>,
    /// The same from sums and from differences of nodes, `[even, odd][value, derivative][i]`, of the first
    /// half.
    ends: Vec<T>,
    /// `Σ_q ∂φ_i/∂r w_q ∂φ_j/∂r` from sums to sums, then from differences to differences, `[i][j]` of the
    /// first half.
    stiffness: Vec<T>,
    /// Node at the far end of the line that ends at a face point.
    far: Vec<u32>,
    /// From there to the next node, for each face.
    step: Vec<i32>,
}

impl<T: PackScalar> Mirrored<T> {
    /// From `[d][end][value, derivative][i]`, `[i][j]`, and of the lines their face points, faces and first
    /// nodes; `None` where nodes are no mirror images.
    pub(super) fn new(
        n: usize,
        (ends, stiffness): (&[f64], &[f64]),
        (rows, faces, first): (&[u32], &[u8], &[u32]),
    ) -> Option<Self> {
        let end = &ends[2 * n..4 * n];
        let largest = end.iter().chain(stiffness).fold(0.0_f64, |a, x| a.max(x.abs()));
        let same = |a: f64, b: f64| (a - b).abs() <= SAME * largest;
        for (k, other) in ends.chunks_exact(2 * n).enumerate() {
            for (half, other) in other.chunks_exact(n).enumerate() {
                let at = |i: usize| end[half * n + if k % 2 == 0 { n - 1 - i } else { i }];
                if !(0..n).all(|i| same(other[i], at(i))) {
                    return None;
                }
            }
        }
        if !(0..n * n).all(|k| same(stiffness[k], stiffness[n * n - 1 - k])) {
            return None;
        }
        // A node in the middle is its own image, and stands for the sum.
        let halves = |row: &[f64], sign: f64| -> Vec<T> {
            let middle = |i: usize| 2 * i + 1 == n;
            (0..n)
                .map(|i| match (i < n.div_ceil(2), middle(i)) {
                    (true, true) => T::from_f64(if sign > 0.0 { row[i] } else { 0.0 }),
                    (true, false) => T::from_f64(0.5 * (row[i] + sign * row[n - 1 - i])),
                    (false, _) => T::ZERO,
                })
                .collect()
        };
        let of = |m: &[f64]| -> Vec<T> {
            [1.0, -1.0]
                .iter()
                .flat_map(|&sign| m.chunks_exact(n).flat_map(move |r| halves(r, sign)))
                .collect()
        };
        let dim = faces.len() / 2;
        let n_lines = first.len() / dim;
        let (mut far, mut step) = (vec![0; rows.len()], vec![0; faces.len()]);
        for d in 0..dim {
            let stride = n.pow(d as u32);
            for end in 0..2 {
                let sign = if end == 1 { 1 } else { -1 };
                step[faces[2 * d + end] as usize] = sign * stride as i32;
                for line in 0..n_lines {
                    let begin = first[d * n_lines + line] as usize;
                    let node = if end == 1 { begin } else { begin + (n - 1) * stride };
                    far[rows[(d * n_lines + line) * 2 + end] as usize] = node as u32;
                }
            }
        }
        let end = end.iter().map(|&v| T::from_f64(v)).collect();
        Some(Self { end, ends: of(&ends[2 * n..4 * n]), stiffness: of(stiffness), far, step })
    }
}

/// Rows of coefficients of one direction: `G_dd`, then of both ends [`C_0`, `TAU`, `C_0_PLUS`].
const ROWS: usize = 7;
const C_0: usize = 1;
const TAU: usize = 2;
const C_0_PLUS: usize = 3;
/// From the rows of the first end to those of the second.
const END: usize = 3;

impl<T: PackScalar> Lines<T> {
    /// Rows of coefficients of a block of boxes: of each direction, then λ if there are values.
    pub(in crate::elliptic) const fn box_rows(&self, values: bool) -> usize {
        self.dim * ROWS + values as usize
    }

    /// The coefficients of boxes, `[block][row][lane]`, from those of
    /// [`Conduct`](crate::elliptic::point_kernels::Conduct) and of
    /// [`FaceCoefficients`](crate::elliptic::point_kernels::FaceCoefficients), without those of neighbours.
    ///
    /// # Errors
    /// What the machine refuses.
    pub(in crate::elliptic) fn box_coefficients(
        &self,
        (metric, face): (&[T], &[T]),
        values: bool,
        (n_blocks, lanes): (usize, usize),
    ) -> Result<Buffer<T>, OpsError> {
        let (dim, rows) = (self.dim, self.box_rows(values));
        let entries = dim * (dim + 1) / 2;
        let mut out = Buffer::zeros(n_blocks * rows * lanes)?;
        for (b, out) in out.chunks_exact_mut(rows * lanes).enumerate() {
            let mut put = |to: usize, from: &[T], row: usize| {
                out[to * lanes..(to + 1) * lanes].copy_from_slice(&from[row * lanes..(row + 1) * lanes]);
            };
            let metric_of_block = b * (entries + usize::from(values));
            for d in 0..dim {
                // G_dd among the entries above the diagonal, row by row.
                let diagonal = d * dim - d * d.saturating_sub(1) / 2;
                put(d * ROWS, metric, metric_of_block + diagonal);
                for end in 0..2 {
                    let row = (b * 2 * dim + self.faces[2 * d + end] as usize) * (dim + 1);
                    put(d * ROWS + end * END + C_0, face, row);
                    put(d * ROWS + end * END + TAU, face, row + dim);
                }
            }
            if values {
                put(dim * ROWS, metric, metric_of_block + entries);
            }
        }
        Ok(out)
    }

    /// Add what neighbours have: all elements of the group are boxes.
    pub(in crate::elliptic) fn meet(
        &self,
        coefficients: &mut [T],
        n: &Neighbours,
        face: &[T],
        values: bool,
        lanes: usize,
    ) {
        let (dim, rows) = (self.dim, self.box_rows(values));
        for (b, out) in coefficients.chunks_exact_mut(rows * lanes).enumerate() {
            for (k, &f) in self.faces.iter().enumerate() {
                let to = (k / 2 * ROWS + k % 2 * END + C_0_PLUS) * lanes;
                for lane in 0..lanes {
                    let at = (b * 2 * dim + f as usize) * lanes + lane;
                    let (slot, across) = (n.slot[at] as usize, n.code[at] as usize / ORIENTATIONS);
                    let row = (slot / lanes * 2 * dim + across) * (dim + 1);
                    out[to + lane] = face[row * lanes + slot % lanes];
                }
            }
        }
    }

    /// For each face the first entry of the table of those that meet it face to face along the lines: the
    /// opposite face, not turned.
    pub(in crate::elliptic) fn straight(&self, n: &Neighbours, offsets: &[usize], lanes: usize) -> Vec<u32> {
        let n_lines = self.nodes() / self.n;
        let mut out = vec![u32::MAX; 2 * self.dim];
        for d in 0..self.dim {
            for end in 0..2 {
                let row = |line: usize, end: usize| self.rows[(d * n_lines + line) * 2 + end] as usize;
                let face = self.faces[2 * d + end] as usize;
                let first = self.faces[2 * d + 1 - end] as usize * ORIENTATIONS;
                out[face] = (first..first + ORIENTATIONS)
                    .map(|code| code * n.table_len)
                    .find(|table| {
                        (0..n_lines).all(|line| {
                            let point = row(line, end) - offsets[face];
                            n.point_tables[table + point] as usize == row(line, 1 - end) * lanes
                        })
                    })
                    .map_or(u32::MAX, |table| table as u32);
            }
        }
        out
    }

    /// The faces across a direction, a bit each.
    pub(in crate::elliptic) fn faces_across(&self, direction: usize) -> u8 {
        self.faces[2 * direction..2 * direction + 2].iter().fold(0, |bits, f| bits | (1_u8 << *f))
    }

    /// Multiply–adds of one source of neighbours, a lane.
    pub(in crate::elliptic) fn multiply_adds_of_donor(&self) -> usize {
        2 * self.nodes()
    }
}
