//! Rectangles and boxes with constant coefficients.
//!
//! What lies across a face is formed where it is needed, along the neighbours' lines that end there: two products for each
//! of them. That is more arithmetic than to read what neighbours have published, but nothing but the result is written, and
//! neighbours' nodes are in the cache along a space-filling curve. Products of the own lines lead from sums and
//! differences of nodes that are mirror images to sums and differences, which halves them (Solomonoff 1992).

use super::{Lines, line};
use crate::connect::{Neighbours, ORIENTATIONS, Source};
use crate::error::OpsError;
use crate::pointwise::NeighbourStates;
use crate::simd::{Kernel, Pack, PackScalar};
use dgsuite_gpu::Buffer;

/// Relative differences of what is the same.
const SAME: f64 = 1e-11;

/// What follows from nodes that are mirror images of one another.
pub(crate) struct Mirrored<T> {
    /// Value and outward derivative at the second end, `[value, derivative][i]`.
    end: Vec<T>,
    /// The same from sums and from differences of nodes, `[even, odd][value, derivative][i]`, of the first half.
    ends: Vec<T>,
    /// `Σ_q ∂φ_i/∂r w_q ∂φ_j/∂r` from sums to sums, then from differences to differences, `[i][j]` of the first half.
    stiffness: Vec<T>,
    /// Node at the far end of the line that ends at a face point.
    far: Vec<u32>,
    /// From there to the next node, for each face.
    step: Vec<i32>,
}

impl<T: PackScalar> Mirrored<T> {
    /// From `[d][end][value, derivative][i]`, `[i][j]`, and of the lines their face points, faces and first nodes; `None`
    /// where nodes are no mirror images.
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

/// Added to the sources of a face where there were others before.
const MORE: usize = 5;

impl<T: PackScalar> Lines<T> {
    /// Rows of coefficients of a block of boxes: of each direction, then λ if there are values.
    pub(in crate::elliptic) const fn box_rows(&self, values: bool) -> usize {
        self.dim * ROWS + values as usize
    }

    /// The coefficients of boxes, `[block][row][lane]`, from those of [`Conduct`](crate::elliptic::kernels::Conduct) and of
    /// [`FaceCoefficients`](crate::elliptic::kernels::FaceCoefficients), without those of neighbours.
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

    /// The faces across a direction, a bit each.
    pub(in crate::elliptic) fn faces_across(&self, direction: usize) -> u8 {
        self.faces[2 * direction..2 * direction + 2].iter().fold(0, |bits, f| bits | (1_u8 << *f))
    }

    /// Multiply–adds of one source of [`LineNeighbours`], a lane.
    pub(in crate::elliptic) fn multiply_adds_of_source(&self) -> usize {
        2 * self.nodes()
    }
}

/// `u⁺` and `p⁺` at the faces across a direction, from the nodes of neighbours that are boxes too.
pub struct LineNeighbours<'a, T> {
    pub(in crate::elliptic) lines: &'a Lines<T>,
    pub(in crate::elliptic) direction: usize,
    pub(in crate::elliptic) offsets: &'a [usize],
    /// States, and where they are taken from; tables lead to face points.
    pub(in crate::elliptic) across: NeighbourStates<'a, T>,
    /// Entries of a table.
    pub(in crate::elliptic) table_len: usize,
    /// Rows of [`Lines::box_coefficients`].
    pub(in crate::elliptic) coefficients: &'a [T],
    /// `u⁺`, then `p⁺`, `[face point][lane]`.
    pub(in crate::elliptic) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for LineNeighbours<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        by_nodes!(self, V);
    }
}

impl<T: PackScalar> LineNeighbours<'_, T> {
    #[inline(always)]
    fn run_n<V: Pack<T = T>, const N: usize>(mut self) {
        let l = self.lines;
        let Some(mirrored) = &l.mirrored else { return };
        let (np, nf) = (l.nodes(), l.face_points());
        assert!(l.n == N && self.direction < l.dim && self.offsets.len() == 2 * l.dim + 1);
        assert!(
            self.across.block_len == np * V::W && mirrored.far.len() == nf && mirrored.end.len() == 2 * N
        );
        assert!(self.offsets[2 * l.dim] == nf && self.out.len() >= 2 * nf * V::W);
        let mut ends = [[V::lit(0.0); N]; 2];
        for k in 0..2 {
            for i in 0..N {
                // SAFETY: the length is asserted above.
                ends[k][i] = unsafe { V::broadcast(mirrored.end.as_ptr().add(k * N + i)) };
            }
        }
        assert!(self.coefficients.len() >= l.dim * ROWS * V::W);
        let across = self.across;
        for end in 0..2 {
            let f = l.faces[2 * self.direction + end] as usize;
            let (first, count) = (self.offsets[f], self.offsets[f + 1] - self.offsets[f]);
            let sources = across.of_face(f, count);
            assert!(count == if l.dim == 2 { N } else { N * N } && self.table_len == count);
            // SAFETY: points of the face and its sources; the length is asserted above.
            unsafe {
                let row = self.direction * ROWS + end * END + C_0_PLUS;
                let slope = V::load(self.coefficients.as_ptr().add(row * V::W));
                match sources {
                    [] => self.points::<V, N, 0>(sources, (first, count), &ends, slope),
                    [_] => self.points::<V, N, 1>(sources, (first, count), &ends, slope),
                    [_, _] => self.points::<V, N, 2>(sources, (first, count), &ends, slope),
                    [_, _, _] => self.points::<V, N, 3>(sources, (first, count), &ends, slope),
                    _ => self.points::<V, N, 4>(sources, (first, count), &ends, slope),
                }
                for s in sources.iter().skip(4) {
                    self.points::<V, N, { MORE + 1 }>(std::slice::from_ref(s), (first, count), &ends, slope);
                }
            }
        }
    }

    /// The `count` points of a face from `first` on, from `S` sources, or `S` − [`MORE`] further ones.
    ///
    /// # Safety
    /// So many of the sources of the face.
    #[inline(always)]
    unsafe fn points<V: Pack<T = T>, const N: usize, const S: usize>(
        &mut self,
        sources: &[Source],
        (first, count): (usize, usize),
        ends: &[[V; N]; 2],
        slope: V,
    ) {
        let l = self.lines;
        let Some(mirrored) = &l.mirrored else { return };
        let trace = l.face_points() * V::W;
        // SAFETY: by the caller's contract; tables lead to rows of a trace, and know the face that they are for.
        unsafe {
            let (mut step, mut base) = ([0_isize; 4], [self.across.source.as_ptr(); 4]);
            let mut table = [self.across.tables.as_ptr(); 4];
            for k in 0..S % MORE {
                let s = sources.get_unchecked(k);
                let tables = s.table as usize / ORIENTATIONS;
                let face = if l.dim == 2 { tables / N } else { tables / (N * N) };
                step[k] = *mirrored.step.get_unchecked(face) as isize * V::W as isize;
                base[k] = base[k].add(s.block as usize * self.across.block_len);
                table[k] = table[k].add(s.table as usize);
            }
            for i in 0..count {
                let out = self.out.as_mut_ptr().add((first + i) * V::W);
                let (mut u, mut p) = (V::lit(0.0), V::lit(0.0));
                for k in 0..S % MORE {
                    let s = sources.get_unchecked(k);
                    let pick = V::pick(&s.lanes, s.taken);
                    let row = *table[k].add(i) as usize / V::W;
                    let from = base[k].add(*mirrored.far.get_unchecked(row) as usize * V::W);
                    let node = V::load(from);
                    let (mut value, mut derivative) = (ends[0][0] * node, ends[1][0] * node);
                    for j in 1..N {
                        let node = V::load(from.offset(j as isize * step[k]));
                        value = ends[0][j].mul_add(node, value);
                        derivative = ends[1][j].mul_add(node, derivative);
                    }
                    u = u.replace(value, pick);
                    p = p.replace(derivative, pick);
                }
                if S > MORE {
                    // Other lanes are there.
                    (u, p) = (u + V::load(out), slope.mul_add(p, V::load(out.add(trace))));
                } else {
                    p = slope * p;
                }
                u.store(out);
                p.store(out.add(trace));
            }
        }
    }
}

/// `A u` of rectangles and boxes with constant coefficients, whose `G` is diagonal, `Σ_d G_dd D_dᵀ W D_d u + I_fᵀ W_f y +
/// Nᵀ W_f z` with `y` and `z` of [`FaceTerms`](crate::elliptic::kernels::FaceTerms), and weighted values where there are
/// any: one direction at a time, so that what is gathered for it is still in the nearest cache.
pub struct LineStiffness<'a, T> {
    pub(in crate::elliptic) lines: &'a Lines<T>,
    /// The direction d whose terms these are; the first one writes, others add.
    pub(in crate::elliptic) direction: usize,
    pub(in crate::elliptic) values: bool,
    pub(in crate::elliptic) u: &'a [T],
    /// Rows of [`Lines::box_coefficients`].
    pub(in crate::elliptic) coefficients: &'a [T],
    /// `u⁺`, then `p⁺`, `[point][lane]`.
    pub(in crate::elliptic) plus: &'a [T],
    pub(in crate::elliptic) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for LineStiffness<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        by_nodes!(self, V);
    }
}

/// `start + Σ_i a_i b_i` over the first `count`.
///
/// # Safety
/// `a` points to `count` ≤ N readable scalars.
#[inline(always)]
unsafe fn add_product<V: Pack, const N: usize>(a: *const V::T, b: &[V; N], count: usize, start: V) -> V {
    let mut sum = start;
    for i in 0..count {
        // SAFETY: the caller's contract.
        sum = unsafe { V::broadcast(a.add(i)) }.mul_add(b[i], sum);
    }
    sum
}

impl<T: PackScalar> LineStiffness<'_, T> {
    #[inline(always)]
    fn run_n<V: Pack<T = T>, const N: usize>(self) {
        let l = self.lines;
        let Some(mirrored) = &l.mirrored else { return };
        let (np, nf) = (l.nodes(), l.face_points());
        let len = np * V::W;
        assert!(l.n == N && self.direction < l.dim && self.out.len() >= len && self.u.len() >= len);
        assert!(mirrored.ends.len() == 4 * N && mirrored.stiffness.len() == 2 * N * N);
        assert!(self.plus.len() >= 2 * nf * V::W);
        assert!(self.coefficients.len() >= l.box_rows(self.values) * V::W);
        let half = V::lit(0.5);
        let n_lines = np / N;
        let (u, out) = (self.u.as_ptr(), self.out.as_mut_ptr());
        let d = self.direction;
        let stride = N.pow(d as u32);
        // Sums and differences of nodes; one in the middle stands for a sum.
        let (sums, differences) = (N.div_ceil(2), N / 2);
        // SAFETY (whole body): coefficients, nodes of a line and its ends; lengths are asserted above.
        unsafe {
            let row = |i: usize| self.coefficients.as_ptr().add(i * V::W);
            let g = V::load(row(d * ROWS));
            let mut lambda = V::lit(0.0);
            if self.values {
                lambda = V::load(row(l.dim * ROWS));
            }
            // ½ c_0 and τ of both ends.
            let (mut slope, mut penalty) = ([V::lit(0.0); 2], [V::lit(0.0); 2]);
            for end in 0..2 {
                slope[end] = half * V::load(row(d * ROWS + end * END + C_0));
                penalty[end] = V::load(row(d * ROWS + end * END + TAU));
            }
            let even = mirrored.ends.as_ptr();
            let odd = even.add(2 * N);
            let k_even = mirrored.stiffness.as_ptr();
            let k_odd = k_even.add(N * N);
            for line in 0..n_lines {
                let first = *l.first.get_unchecked(d * n_lines + line) as usize;
                let own = self::line::<V, N>(u, first, stride);
                let (mut sum, mut difference) = (own, [V::lit(0.0); N]);
                for i in 0..differences {
                    sum[i] = own[i] + own[N - 1 - i];
                    difference[i] = own[i] - own[N - 1 - i];
                }
                let zero = V::lit(0.0);
                let of_sums = |a: *const T| add_product::<V, N>(a, &sum, sums, zero);
                let of_differences = |a: *const T| add_product::<V, N>(a, &difference, differences, zero);
                let value = [of_sums(even), of_differences(odd)];
                let derivative = [of_sums(even.add(N)), of_differences(odd.add(N))];
                let across = V::broadcast(l.across.as_ptr().add(d * n_lines + line));
                let weight = across * V::broadcast(l.surface.as_ptr().add(d * n_lines + line));
                let (mut y, mut z) = ([V::lit(0.0); 2], [V::lit(0.0); 2]);
                for end in 0..2 {
                    let row = *l.rows.get_unchecked((d * n_lines + line) * 2 + end) as usize;
                    let plus = self.plus.as_ptr().add(row * V::W);
                    let minus = if end == 1 { value[0] + value[1] } else { value[0] - value[1] };
                    let p =
                        if end == 1 { derivative[0] + derivative[1] } else { derivative[0] - derivative[1] };
                    let jump = weight * (minus - V::load(plus));
                    let mean = weight * (half * V::load(plus.add(nf * V::W)) - slope[end] * p);
                    y[end] = penalty[end].mul_add(jump, mean);
                    z[end] = slope[end] * jump;
                }
                let (y_even, y_odd) = (y[1] + y[0], y[1] - y[0]);
                let (z_even, z_odd) = (z[1] + z[0], z[1] - z[0]);
                let g = across * g;
                for i in 0..sums {
                    let at = |k: usize| V::broadcast(even.add(k * N + i));
                    let k = add_product::<V, N>(k_even.add(i * N), &sum, sums, zero);
                    let to_sum = at(0).mul_add(y_even, g * k - at(1) * z_even);
                    let p = [
                        out.add((first + i * stride) * V::W),
                        out.add((first + (N - 1 - i) * stride) * V::W),
                    ];
                    let mut results = [to_sum; 2];
                    if i < differences {
                        let at = |k: usize| V::broadcast(odd.add(k * N + i));
                        let k = add_product::<V, N>(k_odd.add(i * N), &difference, differences, zero);
                        let to_difference = at(0).mul_add(y_odd, g * k - at(1) * z_odd);
                        results = [to_sum + to_difference, to_sum - to_difference];
                    }
                    for end in 0..if i < differences { 2 } else { 1 } {
                        let mut result = results[end];
                        if d > 0 {
                            result = result + V::load(p[end]);
                        } else if self.values {
                            let node = if end == 0 { i } else { N - 1 - i };
                            let weight = V::broadcast(l.weight.as_ptr().add(first + node * stride));
                            result = (weight * lambda).mul_add(own[node], result);
                        }
                        result.store(p[end]);
                    }
                }
            }
        }
    }
}
