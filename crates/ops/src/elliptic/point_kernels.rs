//! SIMD kernels of the elliptic operator at points: fluxes, face terms, gathers, and block Jacobi.
//!
//! With the operator's coefficients `G` in the volume and `(c_m, κ_f sJ τ)` on the faces: [`Conduct`]
//! multiplies gradients by `G`, [`Conormal`] computes conormal derivatives, [`GatherPair`] reads the
//! neighbours' values and conormal derivatives, [`FaceTerms`] computes the terms that the faces add, and
//! [`Blocks`] multiplies by a dense matrix for each lane. All process one block of lanes.

use crate::formulas::pointwise::NeighbourStates;
use crate::lanes::simd::{Kernel, Pack, PackScalar, compiled};
use crate::space::connect::Donor;

compiled! {
    conduct: Conduct,
    conormal: Conormal,
    face_terms: FaceTerms,
    blocks: Blocks,
    gather_pair: GatherPair,
}

/// `F_d = Σ_e G_de g_e` at the points of one block, followed by `λ u`; in place.
pub(crate) struct Conduct<'a, T> {
    pub(super) dim: usize,
    /// Number of points, the rows of one `g_d`.
    pub(super) n: usize,
    /// Number of rows of values after the gradient.
    pub(super) n_values: usize,
    /// Whether there is a row of coefficients for each point.
    pub(super) per_point: bool,
    /// `[point or 1][G_00 G_01 (G_02) G_11 …, λ if there are values][lane]`.
    pub(super) metric: &'a [T],
    /// `[d][point][lane]`, then `[value][lane]`.
    pub(super) x: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for Conduct<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        let values = usize::from(self.n_values > 0);
        let entries = self.dim * (self.dim + 1) / 2;
        let stride = (entries + values) * V::W;
        let rows = if self.per_point { self.n.max(self.n_values) } else { 1 };
        assert!(self.metric.len() >= rows * stride);
        assert!(self.x.len() >= (self.dim * self.n + self.n_values) * V::W);
        let step = if self.per_point { stride } else { 0 };
        let (m, x) = (self.metric.as_ptr(), self.x.as_mut_ptr());
        // SAFETY (whole body): rows of both arrays, whose lengths are asserted above.
        unsafe {
            if self.dim == 2 {
                for q in 0..self.n {
                    let g = |i: usize| V::load(m.add(q * step + i * V::W));
                    let (p0, p1) = (x.add(q * V::W), x.add((self.n + q) * V::W));
                    let (a, b) = (V::load(p0), V::load(p1));
                    g(0).mul_add(a, g(1) * b).store(p0);
                    g(1).mul_add(a, g(2) * b).store(p1);
                }
            } else {
                for q in 0..self.n {
                    let g = |i: usize| V::load(m.add(q * step + i * V::W));
                    let p = [x.add(q * V::W), x.add((self.n + q) * V::W), x.add((2 * self.n + q) * V::W)];
                    let (a, b, c) = (V::load(p[0]), V::load(p[1]), V::load(p[2]));
                    g(0).mul_add(a, g(1).mul_add(b, g(2) * c)).store(p[0]);
                    g(1).mul_add(a, g(3).mul_add(b, g(4) * c)).store(p[1]);
                    g(2).mul_add(a, g(4).mul_add(b, g(5) * c)).store(p[2]);
                }
            }
            for q in 0..self.n_values {
                let p = x.add((self.dim * self.n + q) * V::W);
                (V::load(m.add(q * step + entries * V::W)) * V::load(p)).store(p);
            }
        }
    }
}

/// Coefficients of the faces of one block.
#[derive(Clone, Copy)]
pub(super) struct FaceCoefficients<'a, T> {
    pub(super) dim: usize,
    /// First point of each face.
    pub(super) offsets: &'a [usize],
    /// Whether there is a row for each point; otherwise one for each face.
    pub(super) per_point: bool,
    /// `[face or point][κ sJ c_0 …, κ sJ τ][lane]`: factors of the derivatives along the face's frame, and
    /// the penalty.
    pub(super) rows: &'a [T],
}

impl<T> FaceCoefficients<'_, T> {
    pub(super) fn check(&self, width: usize) -> usize {
        let n_faces = self.offsets.len() - 1;
        let n = self.offsets[n_faces];
        assert!(self.rows.len() >= if self.per_point { n } else { n_faces } * (self.dim + 1) * width);
        n
    }
}

/// Conormal derivatives `p ← c_0 p + Σ_m c_m t_m` at the face points.
pub(crate) struct Conormal<'a, T> {
    pub(super) faces: FaceCoefficients<'a, T>,
    /// Tangential derivatives, `[m][point][lane]`; empty if their factors vanish.
    pub(super) tangential: &'a [T],
    /// Bit f is set if face f is needed.
    pub(super) wanted: u8,
    pub(super) p: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for Conormal<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        let n = self.faces.check(V::W);
        let width = (self.faces.dim + 1) * V::W;
        let n_tangents = if self.tangential.is_empty() { 0 } else { self.faces.dim - 1 };
        assert!(self.p.len() >= n * V::W && self.tangential.len() >= n_tangents * n * V::W);
        for f in (0..self.faces.offsets.len() - 1).filter(|f| self.wanted >> f & 1 == 1) {
            for q in self.faces.offsets[f]..self.faces.offsets[f + 1] {
                let row = if self.faces.per_point { q } else { f };
                // SAFETY: `q < n` and the row are covered by the lengths asserted above.
                unsafe {
                    let c = self.faces.rows.as_ptr().add(row * width);
                    let p = self.p.as_mut_ptr().add(q * V::W);
                    let mut sum = V::load(c) * V::load(p);
                    for m in 0..n_tangents {
                        let t = V::load(self.tangential.as_ptr().add((m * n + q) * V::W));
                        sum = V::load(c.add((m + 1) * V::W)).mul_add(t, sum);
                    }
                    sum.store(p);
                }
            }
        }
    }
}

/// The face terms of one block: with the jump `j = u⁻ − u⁺` and the conormal derivatives `p` of both sides,
/// `y = κ sJ τ j − ½ (p⁻ − p⁺)` tests the functions and `z_m = −½ c_m j` tests their derivatives along the
/// frame.
pub(crate) struct FaceTerms<'a, T> {
    pub(super) faces: FaceCoefficients<'a, T>,
    /// `u⁻`, then `p⁻`, `[point][lane]`.
    pub(super) minus: &'a [T],
    /// `u⁺`, then `p⁺`.
    pub(super) plus: &'a [T],
    /// `y`, then `z_0`.
    pub(super) out: &'a mut [T],
    /// `z_1 …`; empty if they vanish.
    pub(super) tangential: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for FaceTerms<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        let n = self.faces.check(V::W);
        let dim = self.faces.dim;
        let width = (dim + 1) * V::W;
        let n_tangents = if self.tangential.is_empty() { 0 } else { dim - 1 };
        let least = 2 * n * V::W;
        assert!(self.minus.len() >= least && self.plus.len() >= least && self.out.len() >= least);
        assert!(self.tangential.len() >= n_tangents * n * V::W);
        let half = V::lit(0.5);
        for f in 0..self.faces.offsets.len() - 1 {
            for q in self.faces.offsets[f]..self.faces.offsets[f + 1] {
                let row = if self.faces.per_point { q } else { f };
                // SAFETY: `q < n` and the row are covered by the lengths asserted above.
                unsafe {
                    let c = self.faces.rows.as_ptr().add(row * width);
                    let at = |x: &[T], i: usize| V::load(x.as_ptr().add((i * n + q) * V::W));
                    let jump = at(self.minus, 0) - at(self.plus, 0);
                    let mean = half * (at(self.minus, 1) - at(self.plus, 1));
                    let out = self.out.as_mut_ptr();
                    (V::load(c.add(dim * V::W)) * jump - mean).store(out.add(q * V::W));
                    let minus_half = V::lit(0.0) - half * jump;
                    (V::load(c) * minus_half).store(out.add((n + q) * V::W));
                    for m in 0..n_tangents {
                        let z = V::load(c.add((m + 1) * V::W)) * minus_half;
                        z.store(self.tangential.as_mut_ptr().add((m * n + q) * V::W));
                    }
                }
            }
        }
    }
}

/// Gathers the two published arrays of the neighbours, `u⁺` then `p⁺`, at the face points of one block.
pub(crate) struct GatherPair<'a, T> {
    pub(super) offsets: &'a [usize],
    /// Number of scalars of one of the arrays in a block.
    pub(super) trace: usize,
    pub(super) across: NeighbourStates<'a, T>,
    /// Bit f is set if face f is needed.
    pub(super) wanted: u8,
    pub(super) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for GatherPair<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(mut self) {
        let n_faces = self.offsets.len() - 1;
        assert!(self.offsets[n_faces] * V::W <= self.trace && self.out.len() >= 2 * self.trace);
        assert!(self.across.block_len >= 2 * self.trace);
        let (across, wanted) = (self.across, self.wanted);
        for f in (0..n_faces).filter(|f| wanted >> f & 1 == 1) {
            let count = self.offsets[f + 1] - self.offsets[f];
            let donors = across.of_face(f, count);
            let mut first = 0;
            while first < count {
                // SAFETY: these are points of the face, and its donors.
                unsafe {
                    if first + 4 <= count {
                        self.points::<V, 4>(donors, self.offsets[f], first);
                        first += 4;
                    } else if first + 3 == count {
                        self.points::<V, 3>(donors, self.offsets[f], first);
                        first += 3;
                    } else if first + 2 == count {
                        self.points::<V, 2>(donors, self.offsets[f], first);
                        first += 2;
                    } else {
                        self.points::<V, 1>(donors, self.offsets[f], first);
                        first += 1;
                    }
                }
            }
        }
    }
}

impl<T: PackScalar> GatherPair<'_, T> {
    /// Gathers `N` points of a face from `first` on, merged in registers.
    ///
    /// # Safety
    /// They are points of the face that begins at `offset`, and `donors` are those of
    /// [`of_face`](NeighbourStates::of_face).
    #[inline(always)]
    unsafe fn points<V: Pack<T = T>, const N: usize>(
        &mut self,
        donors: &[Donor],
        offset: usize,
        first: usize,
    ) {
        let (mut u, mut p) = ([V::lit(0.0); N], [V::lit(0.0); N]);
        // SAFETY: `of_face` has asserted that blocks and table entries exist; entries are rows of a trace,
        // and the outputs are face points of a trace.
        unsafe {
            for s in donors {
                // One permutation serves all points of the donor.
                let pick = V::pick(&s.lanes, s.taken);
                let base = self.across.values.as_ptr().add(s.block as usize * self.across.block_len);
                let table = self.across.tables.as_ptr().add(s.table as usize + first);
                for i in 0..N {
                    let from = base.add(*table.add(i) as usize);
                    u[i] = u[i].merge(from, pick);
                    p[i] = p[i].merge(from.add(self.trace), pick);
                }
            }
            let out = self.out.as_mut_ptr();
            for i in 0..N {
                let to = out.add((offset + first + i) * V::W);
                u[i].store(to);
                p[i].store(to.add(self.trace));
            }
        }
    }
}

/// `z = B r` with a dense matrix for each lane, `[i][j][lane]` (block Jacobi, mass matrices).
pub(crate) struct Blocks<'a, T> {
    pub(super) n: usize,
    pub(super) matrix: &'a [T],
    pub(super) r: &'a [T],
    pub(super) z: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for Blocks<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        let n = self.n;
        assert!(self.matrix.len() >= n * n * V::W && self.r.len() >= n * V::W && self.z.len() >= n * V::W);
        for i in 0..n {
            // SAFETY: lengths are asserted above.
            unsafe {
                let row = self.matrix.as_ptr().add(i * n * V::W);
                // Two sums, so that consecutive multiply–adds do not depend on each other.
                let (mut even, mut odd) = (V::lit(0.0), V::lit(0.0));
                let mut j = 0;
                while j + 1 < n {
                    let at = |p: *const T, j: usize| V::load(p.add(j * V::W));
                    even = at(row, j).mul_add(at(self.r.as_ptr(), j), even);
                    odd = at(row, j + 1).mul_add(at(self.r.as_ptr(), j + 1), odd);
                    j += 2;
                }
                if j < n {
                    let at = |p: *const T| V::load(p.add(j * V::W));
                    even = at(row).mul_add(at(self.r.as_ptr()), even);
                }
                (even + odd).store(self.z.as_mut_ptr().add(i * V::W));
            }
        }
    }
}
