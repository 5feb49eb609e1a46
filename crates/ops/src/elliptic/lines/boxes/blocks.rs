//! The kernel that computes `A u` on blocks of boxes, two lines of nodes at once.
//!
//! Packs of eight numbers are loaded at half the rate of multiply–adds. Therefore two lines are processed at
//! once, and each entry of a matrix is loaded once for both.

use super::prefetch::Ahead;
use super::{C_0, C_0_PLUS, END, Lines, Mirrored, ROWS, TAU};
use crate::formulas::pointwise::NeighbourStates;
use crate::lanes::simd::{Kernel, MAX_LANES, Pack, PackScalar, compiled};
use crate::rhs::residual::prefetch_second;
use crate::space::connect::{Donor, ORIENTATIONS};

compiled! {
    line_blocks: LineBlocks,
}

/// Location of the neighbours of boxes.
#[derive(Clone, Copy)]
pub(in crate::elliptic) struct Around<'a, T> {
    /// The nodes of the group; tables lead to face points.
    pub(in crate::elliptic) across: NeighbourStates<'a, T>,
    /// Number of entries of a table.
    pub(in crate::elliptic) table_len: usize,
    /// First point of each face.
    pub(in crate::elliptic) offsets: &'a [usize],
    /// [`Lines::straight`].
    pub(in crate::elliptic) straight: &'a [u32],
    /// Number in the group of the current block, or of the first block of a run.
    pub(in crate::elliptic) block: usize,
    /// Blocks whose nodes are prefetched.
    pub(in crate::elliptic) ahead: &'a Ahead,
}

impl<T> Around<'_, T> {
    /// Whether a donor is the block itself, so that its values are at the other ends of the own lines.
    #[inline(always)]
    fn is_own(&self, s: &Donor, face: usize) -> bool {
        s.block as usize == self.block && s.table == self.straight[face]
    }
}

/// Computes `A u` of rectangles and boxes with constant coefficients, whose `G` is diagonal:
/// `Σ_d G_dd D_dᵀ W D_d u + I_fᵀ W_f y + Nᵀ W_f z` with `y` and `z` of
/// [`FaceTerms`](crate::elliptic::point_kernels::FaceTerms), plus weighted values if there are any. It
/// processes one direction at a time, so that the values gathered for it are still in the first-level cache.
///
/// The values across the faces are `u⁺` and `p⁺` of neighbours in other blocks. Neighbours in the same block
/// are read from the own lines.
pub(crate) struct LineBlocks<'a, T> {
    pub(in crate::elliptic) lines: &'a Lines<T>,
    /// The directions whose terms are added. Direction 0 writes the result, others add to it.
    pub(in crate::elliptic) directions: std::ops::Range<usize>,
    pub(in crate::elliptic) values: bool,
    /// Nodes of the blocks, `[block][node][lane]`.
    pub(in crate::elliptic) u: &'a [T],
    /// Rows of [`Lines::box_coefficients`] of the blocks.
    pub(in crate::elliptic) coefficients: &'a [T],
    /// Location of the neighbours; if `None`, `plus` holds all values across.
    pub(in crate::elliptic) around: Option<Around<'a, T>>,
    /// Whether to gather, then test; either is done alone if foreign lanes are replaced in between.
    pub(in crate::elliptic) gather: bool,
    pub(in crate::elliptic) test: bool,
    /// `u⁺`, then `p⁺`, `[face point][lane]`, of one block.
    pub(in crate::elliptic) plus: &'a mut [T],
    pub(in crate::elliptic) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for LineBlocks<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        by_nodes!(self, V);
    }
}

/// Repeats the body for each `$i < $n` (at most four), so that the arrays it indexes stay in registers.
macro_rules! unrolled {
    ($i:ident < $n:expr, $body:block) => {{
        unrolled!(@ 0, $i, $n, $body);
        unrolled!(@ 1, $i, $n, $body);
        unrolled!(@ 2, $i, $n, $body);
        unrolled!(@ 3, $i, $n, $body);
    }};
    (@ $at:literal, $i:ident, $n:expr, $body:block) => {
        if $at < $n {
            let $i: usize = $at;
            $body
        }
    };
}

impl<T: PackScalar> LineBlocks<'_, T> {
    #[inline(always)]
    fn run_n<V: Pack<T = T>, const N: usize>(self) {
        let l = self.lines;
        let Some(mirrored) = &l.mirrored else { return };
        let (len, n_faces, rows) = (l.nodes() * V::W, 2 * l.dim, l.box_rows(self.values) * V::W);
        let blocks = self.out.len() / len;
        assert!(l.n == N && self.directions.end <= l.dim && self.u.len() >= blocks * len);
        assert!(self.plus.len() >= 2 * l.face_points() * V::W && self.coefficients.len() >= blocks * rows);
        assert!(mirrored.ends.len() == 4 * N);
        assert!(mirrored.stiffness.len() == 2 * N * N);
        if let Some(around) = &self.around {
            assert!(around.straight.len() == n_faces && around.offsets.len() == n_faces + 1);
            assert!(around.across.first.len() > blocks * n_faces && around.across.block_len == len);
            let count = l.face_points() / n_faces;
            assert!(
                around.table_len == count && around.offsets.iter().enumerate().all(|(f, o)| *o == f * count)
            );
        }
        let (plus, out) = (self.plus.as_mut_ptr(), self.out.as_mut_ptr());
        for block in 0..blocks {
            let around = self.around.as_ref().map(|a| {
                let first = &a.across.first[block * n_faces..=(block + 1) * n_faces];
                Around { across: NeighbourStates { first, ..a.across }, block: a.block + block, ..*a }
            });
            for direction in self.directions.clone() {
                // SAFETY: lengths are asserted above.
                unsafe {
                    let coefficients = self.coefficients.as_ptr().add(block * rows);
                    let faces = [0, 1].map(|end| l.faces[2 * direction + end] as usize);
                    let plus = match &around {
                        Some(around) if self.gather && self.test => Plus::of_direction(
                            plus,
                            faces.map(|f| around.offsets[f] * V::W),
                            around.table_len * V::W,
                        ),
                        _ => Plus { ends: [plus; 2], trace: l.face_points() * V::W },
                    };
                    if self.gather
                        && let Some(around) = &around
                    {
                        gather::<V, N>((l, mirrored), direction, around, coefficients, plus);
                    }
                    if self.test {
                        let u = self.u.as_ptr().add(block * len);
                        let out = out.add(block * len);
                        let (ends, values) = ((l, mirrored), self.values);
                        test::<V, N>(
                            ends,
                            (direction, values),
                            around.as_ref(),
                            (u, coefficients, plus),
                            out,
                        );
                    }
                }
            }
        }
    }
}

/// Location of `u⁺` and `p⁺` at both ends of a direction.
#[derive(Clone, Copy)]
struct Plus<T> {
    /// Row `r` of a trace at `ends[end] + r W`.
    ends: [*mut T; 2],
    /// Offset from `u⁺` to `p⁺`.
    trace: usize,
}

impl<T> Plus<T> {
    /// Location for one direction alone, at the same address for all directions, so that it stays in the
    /// first-level cache. `first` are the first rows of both faces, `count` the rows of one, times lanes.
    #[inline(always)]
    fn of_direction(plus: *mut T, first: [usize; 2], count: usize) -> Self {
        // The rows of other faces do not exist and are not accessed.
        let ends = [plus.wrapping_sub(first[0]), plus.wrapping_add(count).wrapping_sub(first[1])];
        Self { ends, trace: 2 * count }
    }
}

/// Gathers `u⁺` and `p⁺` at the two faces of a direction, for neighbours in other blocks.
///
/// # Safety
/// `coefficients` are those of a block; `plus` has memory for the rows of the direction's faces.
#[inline(always)]
unsafe fn gather<V: Pack, const N: usize>(
    (l, mirrored): (&Lines<V::T>, &Mirrored<V::T>),
    direction: usize,
    around: &Around<'_, V::T>,
    coefficients: *const V::T,
    plus: Plus<V::T>,
) where
    V::T: PackScalar,
{
    // SAFETY (whole body): by the caller's contract; tables lead to rows of a trace and depend on the face
    // that they are for.
    unsafe {
        // By sums and differences of nodes, as along the own lines: the values of a neighbour do not depend
        // on the block in which it is.
        let (sums, differences) = (const { N.div_ceil(2) }, const { N / 2 });
        let zero = V::lit(0.0);
        let (mut even, mut even_slope) = ([zero; N], [zero; N]);
        let (mut odd, mut odd_slope) = ([zero; N], [zero; N]);
        let ends = mirrored.ends.as_ptr();
        unrolled!(i < sums, {
            even[i] = V::broadcast(ends.add(i));
            even_slope[i] = V::broadcast(ends.add(N + i));
        });
        unrolled!(i < differences, {
            odd[i] = V::broadcast(ends.add(2 * N + i));
            odd_slope[i] = V::broadcast(ends.add(3 * N + i));
        });
        let (count, trace) = (around.table_len, plus.trace);
        for end in 0..2 {
            let f = l.faces[2 * direction + end] as usize;
            let slope = V::load(coefficients.add((direction * ROWS + end * END + C_0_PLUS) * V::W));
            let plus = plus.ends[end].wrapping_add(around.offsets[f] * V::W);
            let mut before = false;
            for s in around.across.of_face(f, count) {
                if around.is_own(s, f) {
                    continue;
                }
                let pick = V::pick(&s.lanes, s.taken);
                let table = around.across.tables.as_ptr().add(s.table as usize);
                let across = s.table as usize / (ORIENTATIONS * count);
                let step = *mirrored.step.get_unchecked(across) as isize * V::W as isize;
                let base = around.across.values.as_ptr().add(s.block as usize * around.across.block_len);
                for i in 0..count {
                    let row = *table.add(i) as usize / V::W;
                    let from = base.add(*mirrored.far.get_unchecked(row) as usize * V::W);
                    let (mut of_sums, mut slope_of_sums) = (zero, zero);
                    let (mut of_differences, mut slope_of_differences) = (zero, zero);
                    unrolled!(j < differences, {
                        let near = V::load(from.offset(j as isize * step));
                        let far = V::load(from.offset((N - 1 - j) as isize * step));
                        let (sum, difference) = (near + far, near - far);
                        if j == 0 {
                            (of_sums, slope_of_sums) = (even[0] * sum, even_slope[0] * sum);
                            of_differences = odd[0] * difference;
                            slope_of_differences = odd_slope[0] * difference;
                        } else {
                            of_sums = even[j].mul_add(sum, of_sums);
                            slope_of_sums = even_slope[j].mul_add(sum, slope_of_sums);
                            of_differences = odd[j].mul_add(difference, of_differences);
                            slope_of_differences = odd_slope[j].mul_add(difference, slope_of_differences);
                        }
                    });
                    if sums > differences {
                        let middle = V::load(from.offset(differences as isize * step));
                        of_sums = even[differences].mul_add(middle, of_sums);
                        slope_of_sums = even_slope[differences].mul_add(middle, slope_of_sums);
                    }
                    let (value, derivative) =
                        (of_sums + of_differences, slope_of_sums + slope_of_differences);
                    let u = plus.add(i * V::W);
                    let p = u.add(trace);
                    let (mut to_u, mut to_p) = (V::lit(0.0), V::lit(0.0));
                    if before {
                        (to_u, to_p) = (V::load(u), V::load(p));
                    }
                    to_u.replace(value, pick).store(u);
                    slope.mul_add(V::lit(0.0).replace(derivative, pick), to_p).store(p);
                }
                before = true;
            }
            if !before {
                for i in 0..count {
                    V::lit(0.0).store(plus.add(i * V::W));
                    V::lit(0.0).store(plus.add(i * V::W + trace));
                }
            }
        }
    }
}

/// One direction of a block to be tested.
struct Direction<'a, V: Pack> {
    l: &'a Lines<V::T>,
    mirrored: &'a Mirrored<V::T>,
    d: usize,
    u: *const V::T,
    /// Values across the faces.
    plus: Plus<V::T>,
    out: *mut V::T,
    /// 2 `G_dd`, and λ if there are values.
    g: V,
    lambda: Option<V>,
    /// −`c_0`, 2 τ, and the neighbours' `c_0`, for both ends.
    slope: [V; 2],
    penalty: [V; 2],
    slope_plus: [V; 2],
    /// The lanes whose neighbours are at the other ends of the own lines.
    own: [V::Pick; 2],
}

/// Adds the terms of a direction.
///
/// # Safety
/// `u`, `coefficients` and `out` are those of a block, `plus` has the rows of the direction's faces.
#[inline(always)]
unsafe fn test<V: Pack, const N: usize>(
    (l, mirrored): (&Lines<V::T>, &Mirrored<V::T>),
    (d, values): (usize, bool),
    around: Option<&Around<'_, V::T>>,
    (u, coefficients, plus): (*const V::T, *const V::T, Plus<V::T>),
    out: *mut V::T,
) where
    V::T: PackScalar,
{
    let (two, zero) = (V::lit(2.0), V::lit(0.0));
    // SAFETY (whole body): by the caller's contract.
    unsafe {
        let g = two * V::load(coefficients.add(d * ROWS * V::W));
        let lambda = if values { Some(V::load(coefficients.add(l.dim * ROWS * V::W))) } else { None };
        let own = [V::pick(&[-1; MAX_LANES], 0); 2];
        let (slope, penalty, slope_plus) = ([zero; 2], [zero; 2], [zero; 2]);
        let mut of =
            Direction::<V> { l, mirrored, d, u, plus, out, g, lambda, slope, penalty, slope_plus, own };
        for end in 0..2 {
            let row = coefficients.add((d * ROWS + end * END) * V::W);
            of.slope[end] = zero - V::load(row.add(C_0 * V::W));
            of.penalty[end] = two * V::load(row.add(TAU * V::W));
            of.slope_plus[end] = V::load(row.add(C_0_PLUS * V::W));
            if let Some(around) = around {
                let f = l.faces[2 * d + end] as usize;
                for s in around.across.of_face(f, around.table_len) {
                    if around.is_own(s, f) {
                        of.own[end] = V::pick(&s.lanes, s.taken);
                    }
                }
            }
        }
        let (ahead, from): (&[u32], *const V::T) = match around {
            Some(a) => (a.ahead.of(a.block, d, l.dim), a.across.values.as_ptr()),
            None => (&[], u),
        };
        let n_lines = l.nodes() / N;
        let mut line = 0;
        while line < n_lines {
            let at_once = (n_lines - line).min(2);
            for &block in ahead {
                let p = from.wrapping_add(block as usize * l.nodes() * V::W + line * N * V::W);
                for i in 0..at_once * N {
                    prefetch_second(p.wrapping_add(i * V::W));
                }
            }
            if d + 1 == l.dim {
                let p = out.wrapping_add((l.nodes() + line * N) * V::W);
                for i in 0..at_once * N {
                    prefetch_second(p.wrapping_add(i * V::W).cast_const());
                }
            }
            if at_once == 2 {
                of.lines::<N, 2>(line);
            } else {
                of.lines::<N, 1>(line);
            }
            line += at_once;
        }
    }
}

impl<V: Pack> Direction<'_, V>
where
    V::T: PackScalar,
{
    /// Processes `P` lines from `line` on; each entry of a matrix is loaded once for all.
    ///
    /// # Safety
    /// These are lines of a block.
    #[inline(always)]
    unsafe fn lines<const N: usize, const P: usize>(&self, line: usize) {
        let (l, d) = (self.l, self.d);
        let (half, zero) = (V::lit(0.5), V::lit(0.0));
        let stride = stride::<N>(d) * V::W;
        // Sums and differences of nodes; a node in the middle counts as a sum.
        let (sums, differences) = (const { N.div_ceil(2) }, const { N / 2 });
        // SAFETY (whole body): coefficients, nodes of lines and their ends; by the caller's contract.
        unsafe {
            let line = d * (l.nodes() / N) + line;
            let (mut sum, mut difference, mut first) = ([[zero; P]; N], [[zero; P]; N], [0; P]);
            for q in 0..P {
                first[q] = *l.first.get_unchecked(line + q) as usize * V::W;
                let u = self.u.add(first[q]);
                for i in 0..differences {
                    let (a, b) = (V::load(u.add(i * stride)), V::load(u.add((N - 1 - i) * stride)));
                    (sum[i][q], difference[i][q]) = (a + b, a - b);
                }
                if sums > differences {
                    sum[differences][q] = V::load(u.add(differences * stride));
                }
            }
            let even = self.mirrored.ends.as_ptr();
            let odd = even.add(2 * N);
            let mut at_ends = [[[zero; P]; 2]; 2];
            for k in 0..2 {
                at_ends[k][0] = product_of::<V, N, P>(even.add(k * N), &sum, sums);
                at_ends[k][1] = product_of::<V, N, P>(odd.add(k * N), &difference, differences);
            }
            // Sums and differences of 2 y and −2 z divided by the weight of the line, by which results are
            // multiplied: with constant coefficients that weight is `across`, and `surface` is 1.
            let (mut y, mut z, mut weight) = ([[zero; P]; 2], [[zero; P]; 2], [zero; P]);
            for q in 0..P {
                weight[q] = half * V::broadcast(l.across.as_ptr().add(line + q));
                let [[a, b], [c, e]] = at_ends;
                let (value, derivative) = ([a[q] - b[q], a[q] + b[q]], [c[q] - e[q], c[q] + e[q]]);
                let (mut of_y, mut of_z) = ([zero; 2], [zero; 2]);
                for end in 0..2 {
                    let row = *l.rows.get_unchecked((line + q) * 2 + end) as usize;
                    let plus = self.plus.ends[end].wrapping_add(row * V::W).cast_const();
                    let jump = value[end] - V::load(plus).replace(value[1 - end], self.own[end]);
                    let p_plus = zero.replace(derivative[1 - end], self.own[end]);
                    let p = self.slope_plus[end].mul_add(p_plus, V::load(plus.add(self.plus.trace)));
                    let p = self.slope[end].mul_add(derivative[end], p);
                    of_y[end] = self.penalty[end].mul_add(jump, p);
                    of_z[end] = self.slope[end] * jump;
                }
                (y[0][q], y[1][q]) = (of_y[1] + of_y[0], of_y[1] - of_y[0]);
                (z[0][q], z[1][q]) = (of_z[1] + of_z[0], of_z[1] - of_z[0]);
            }
            let k_even = self.mirrored.stiffness.as_ptr();
            let k_odd = k_even.add(N * N);
            unrolled!(i < sums, {
                let ends = [V::broadcast(even.add(i)), V::broadcast(even.add(N + i))];
                let mut to_sum = product_of::<V, N, P>(k_even.add(i * N), &sum, sums);
                for q in 0..P {
                    to_sum[q] = ends[0].mul_add(y[0][q], ends[1].mul_add(z[0][q], self.g * to_sum[q]));
                }
                let mut to_difference = [zero; P];
                if i < differences {
                    let ends = [V::broadcast(odd.add(i)), V::broadcast(odd.add(N + i))];
                    to_difference = product_of::<V, N, P>(k_odd.add(i * N), &difference, differences);
                    for q in 0..P {
                        to_difference[q] =
                            ends[0].mul_add(y[1][q], ends[1].mul_add(z[1][q], self.g * to_difference[q]));
                    }
                }
                for q in 0..P {
                    self.put(first[q] + i * stride, to_sum[q] + to_difference[q], weight[q]);
                    if i < differences {
                        self.put(first[q] + (N - 1 - i) * stride, to_sum[q] - to_difference[q], weight[q]);
                    }
                }
            });
        }
    }

    /// Stores the result of a direction at node `at`, times a weight.
    ///
    /// # Safety
    /// It is a node of the block.
    #[inline(always)]
    unsafe fn put(&self, at: usize, result: V, weight: V) {
        // SAFETY (whole body): by the caller's contract.
        unsafe {
            let out = self.out.add(at);
            let mut result = if self.d > 0 { weight.mul_add(result, V::load(out)) } else { weight * result };
            if let Some(lambda) = self.lambda
                && self.d == 0
            {
                let weight = V::broadcast(self.l.weight.as_ptr().add(at / V::W));
                result = (weight * lambda).mul_add(V::load(self.u.add(at)), result);
            }
            result.store(out);
        }
    }
}

/// Stride between nodes along direction `d`.
#[inline(always)]
const fn stride<const N: usize>(d: usize) -> usize {
    match d {
        0 => 1,
        1 => N,
        _ => N * N,
    }
}

/// `Σ_i a_i b_i` over the first `count` entries, for `P` columns.
///
/// # Safety
/// `a` points to `count` ≤ N readable scalars.
#[inline(always)]
unsafe fn product_of<V: Pack, const N: usize, const P: usize>(
    a: *const V::T,
    b: &[[V; P]; N],
    count: usize,
) -> [V; P] {
    let mut out = [V::lit(0.0); P];
    for i in 0..count {
        // SAFETY: the caller's contract.
        let a = unsafe { V::broadcast(a.add(i)) };
        for q in 0..P {
            out[q] = if i == 0 { a * b[i][q] } else { a.mul_add(b[i][q], out[q]) };
        }
    }
    out
}
