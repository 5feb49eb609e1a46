//! Rectangles and boxes with constant coefficients, without published values.
//!
//! Values and derivatives across a face are computed where they are needed, along the neighbours' lines that
//! end there: two products for each line. This is more arithmetic than reading published values, but only the
//! result is written, and along a space-filling curve the neighbours' nodes are in the cache. For neighbours
//! in the same block they are at the other ends of the block's own lines. Products along the own lines go
//! from sums and differences of mirror-image nodes to sums and differences, which halves them (Solomonoff
//! 1992).

pub(crate) mod blocks;
pub(crate) mod prefetch;

use super::Lines;
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::space::connect::{Neighbours, ORIENTATIONS};
use dgsuite_gpu::Buffer;

/// Values with a smaller relative difference are the same.
const SAME: f64 = 1e-11;

/// Tables for nodes that are mirror images of one another.
pub(crate) struct Mirrored<T> {
    /// Value and outward derivative at the second end for sums and differences of nodes,
    /// `[even, odd][value, derivative][i]`, first half of the nodes.
    ends: Vec<T>,
    /// `Σ_q ∂φ_i/∂r w_q ∂φ_j/∂r` from sums to sums, then from differences to differences, `[i][j]`, first
    /// half of the nodes.
    stiffness: Vec<T>,
    /// Node at the far end of the line that ends at a face point.
    far: Vec<u32>,
    /// Stride from there to the next node, for each face.
    step: Vec<i32>,
}

impl<T: PackScalar> Mirrored<T> {
    /// From `[d][end][value, derivative][i]`, `[i][j]`, and the face points, faces and first nodes of the
    /// lines; `None` if the nodes are not mirror images.
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
        // A node in the middle is its own image and contributes to sums only.
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
        Some(Self { ends: of(&ends[2 * n..4 * n]), stiffness: of(stiffness), far, step })
    }
}

/// Rows of coefficients of one direction: `G_dd`, then [`C_0`, `TAU`, `C_0_PLUS`] for both ends.
const ROWS: usize = 7;
const C_0: usize = 1;
const TAU: usize = 2;
const C_0_PLUS: usize = 3;
/// Offset from the rows of the first end to those of the second.
const END: usize = 3;

impl<T: PackScalar> Lines<T> {
    /// Number of rows of coefficients of a block of boxes: for each direction, then λ if there are values.
    pub(in crate::elliptic) const fn box_rows(&self, values: bool) -> usize {
        self.dim * ROWS + values as usize
    }

    /// The coefficients of boxes, `[block][row][lane]`, from the coefficients of
    /// [`Conduct`](crate::elliptic::point_kernels::Conduct) and
    /// [`FaceCoefficients`](crate::elliptic::point_kernels::FaceCoefficients), without those of neighbours.
    ///
    /// # Errors
    /// Errors of memory allocation.
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
                // Position of G_dd among the entries of the upper triangle, row by row.
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

    /// Adds the coefficients of neighbours; all elements of the group must be boxes.
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

    /// For each face, the first entry of the table of neighbours that continue the lines without rotation:
    /// the opposite face in the same orientation.
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

    /// The faces at both ends of a direction, as bits.
    pub(in crate::elliptic) fn faces_across(&self, direction: usize) -> u8 {
        self.faces[2 * direction..2 * direction + 2].iter().fold(0, |bits, f| bits | (1_u8 << *f))
    }

    /// Multiply–adds of one donor, per lane.
    pub(in crate::elliptic) fn multiply_adds_of_donor(&self) -> usize {
        2 * self.nodes()
    }
}
