//! The two passes of the operator in Bernstein form: one publishes face values, one tests.
//!
//! Both process [`TOGETHER`] blocks side by side. [`BernsteinPublish`] changes the basis to Bernstein
//! coefficients and computes conormal derivatives on the faces. [`BernsteinTest`] reads the published values
//! of the neighbours and computes `A u`; the equations are those of [`super`].

use super::crossings::Crossing;
use super::orbits::{Read, RowsOf, Write};
use super::packs::{Across, Among, Blocks, Curvature, Fetching, Scaled};
use super::terms::Terms;
use super::{Bernstein, TOGETHER};
use crate::elliptic::foreign::{self, ForeignLane, Robin};
use crate::lanes::panel::{Store, apply};
use crate::lanes::simd::{Kernel, Pack, PackScalar, compiled};
use crate::lanes::span::Span;
use crate::rhs::residual::prefetch_second;

compiled! {
    bernstein_publish: BernsteinPublish,
    bernstein_test: BernsteinTest,
}

/// Offsets, in packs, of the arrays in the work space.
pub(super) struct Rooms {
    /// Sums and differences of coefficients, of coefficients of second derivatives, and of λ û, side by side.
    high: usize,
    nodes: usize,
    /// For one block, at the faces, `[k][face]`, derivatives after values: first the values across, then sums
    /// and differences, then their products.
    across: usize,
    places: usize,
    /// For one block: factors of derivatives, `[face][i]`.
    factors: usize,
    pub(super) total: usize,
}

impl Rooms {
    pub(super) fn new<T>(b: &Bernstein<T>) -> Self {
        let (n_faces, [nf, nq]) = (b.dim + 1, b.n_face);
        let mut next = 0;
        let mut take = |packs: usize| {
            next += packs;
            next - packs
        };
        Self {
            high: take((2 * b.n + b.curvatures.len()) * TOGETHER),
            nodes: take(b.n * TOGETHER),
            across: take(n_faces * (nf + nq)),
            places: take(n_faces * (nf + nq)),
            factors: take(n_faces * n_faces),
            total: next,
        }
    }
}

/// Computes `b`, and the conormal derivatives at the faces whose bit is set in `wanted`.
pub(crate) struct BernsteinPublish<'a, T> {
    pub(in crate::elliptic) by: &'a Bernstein<T>,
    /// Values of each block.
    pub(in crate::elliptic) u: [&'a [T]; TOGETHER],
    /// `c_f` and `t_f` of each face of each block.
    pub(in crate::elliptic) faces: [&'a [T]; TOGETHER],
    pub(in crate::elliptic) wanted: u8,
    /// Values and factors of the next blocks, which are prefetched.
    pub(in crate::elliptic) next: [&'a [T]; TOGETHER],
    pub(in crate::elliptic) next_faces: [&'a [T]; TOGETHER],
    pub(in crate::elliptic) work: &'a mut [T],
    pub(in crate::elliptic) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for BernsteinPublish<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        match self.by.dim {
            2 => self.run_dim::<V, 2, TOGETHER>(),
            _ => self.run_dim::<V, 3, TOGETHER>(),
        }
    }
}

impl<T: PackScalar> BernsteinPublish<'_, T> {
    #[inline(always)]
    fn run_dim<V: Pack<T = T>, const D: usize, const N: usize>(self) {
        let by = self.by;
        let rooms = Rooms::new(by);
        let n = by.n;
        assert!(by.dim == D && N == TOGETHER);
        for k in 0..N {
            assert!(self.u[k].len() >= n * V::W && self.faces[k].len() >= (D + 1) * (D + 1) * V::W);
        }
        assert!(self.work.len() >= rooms.total * V::W && self.out.len() >= by.published_rows() * N * V::W);
        let work = self.work.as_mut_ptr();
        let mut blocks = [work; N];
        let (mut next, mut next_faces) = ([work.cast_const(); N], [work.cast_const(); N]);
        for k in 0..N {
            blocks[k] = self.u[k].as_ptr().cast_mut();
            (next[k], next_faces[k]) = (self.next[k].as_ptr(), self.next_faces[k].as_ptr());
        }
        // SAFETY (whole body): lengths are asserted above; tables hold rows of a block.
        unsafe {
            let (nodes, high) = (work.add(rooms.nodes * V::W), work.add(rooms.high * V::W));
            let out = self.out.as_mut_ptr();
            by.nodes.sums::<V, N>(&Blocks(blocks), &RowsOf(nodes));
            let fetching = Fetching::<T, N, false> { to: high, next: &next };
            apply::<V, N, _>(&by.to_coefficients, nodes, &fetching);
            let fetching = Fetching::<T, N, true> { to: out, next: &next };
            by.coefficients.expand::<V, N>(&RowsOf(high), &fetching);
            for f in 0..=D {
                for m in f * (D + 1)..(f + 1) * (D + 1) {
                    next_faces.iter().for_each(|faces| prefetch_second(faces.wrapping_add(m * V::W)));
                }
                if self.wanted >> f & 1 == 1 {
                    self.slopes::<V, D, N>(f, out);
                }
            }
        }
    }

    /// Computes the conormal derivatives at face `f`, stored after the coefficients.
    ///
    /// # Safety
    /// The published values of the blocks fit at `out`, and each block has its factors.
    #[inline(always)]
    unsafe fn slopes<V: Pack<T = T>, const D: usize, const N: usize>(&self, f: usize, out: *mut T) {
        let (n, nq) = (self.by.n, self.by.n_face[1]);
        // SAFETY (whole body): by the caller's contract; tables hold rows of a block.
        unsafe {
            let mut c = [[V::lit(0.0); 4]; N];
            for s in 0..N {
                for d in 0..D {
                    c[s][d + 1] = V::load(self.faces[s].as_ptr().add((f * (D + 1) + d) * V::W));
                    c[s][0] = c[s][0] - c[s][d + 1];
                }
            }
            let mut rows = self.by.slopes.as_ptr().add(f * nq * (D + 1));
            let mut to = out.add((n + f * nq) * N * V::W);
            for _ in 0..nq {
                let mut sums = [V::lit(0.0); N];
                for i in 0..=D {
                    let b = out.add(*rows.add(i) as usize);
                    for s in 0..N {
                        sums[s] = c[s][i].mul_add(V::load(b.add(s * V::W)), sums[s]);
                    }
                }
                for s in 0..N {
                    sums[s].store(to.add(s * V::W));
                }
                rows = rows.add(D + 1);
                to = to.add(N * V::W);
            }
        }
    }
}

/// Computes `A u` of a few blocks side by side from the published values.
pub(crate) struct BernsteinTest<'a, T> {
    pub(in crate::elliptic) by: &'a Bernstein<T>,
    /// Values of the blocks, one after the other.
    pub(in crate::elliptic) u: &'a [T],
    /// Published values, `[place][row][block][lane]`.
    pub(in crate::elliptic) published: &'a [T],
    /// The place of these blocks.
    pub(in crate::elliptic) own: usize,
    pub(in crate::elliptic) crossings: [&'a [Crossing]; TOGETHER],
    pub(in crate::elliptic) foreign: [&'a [ForeignLane<T>]; TOGETHER],
    /// Robin boundaries, with one value for all points of a face.
    pub(in crate::elliptic) robin: [&'a [Robin<T>]; TOGETHER],
    /// `c_f` and `t_f` of each face, block by block.
    pub(in crate::elliptic) faces: &'a [T],
    /// `2 κ⁻ / κ_f − 1` of each face, block by block; empty if κ is the same on both sides of all faces.
    pub(in crate::elliptic) shares: &'a [T],
    /// `G_de`, and λ if there are values, block by block.
    pub(in crate::elliptic) metric: &'a [T],
    /// Destination of the next results, and the metric of the next blocks, which are prefetched.
    pub(in crate::elliptic) next: &'a [T],
    pub(in crate::elliptic) next_metric: &'a [T],
    pub(in crate::elliptic) work: &'a mut [T],
    pub(in crate::elliptic) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for BernsteinTest<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        match self.by.dim {
            2 => self.run_dim::<V, 2, 3, 6, TOGETHER>(),
            _ => self.run_dim::<V, 3, 4, 10, TOGETHER>(),
        }
    }
}

impl<T: PackScalar> BernsteinTest<'_, T> {
    /// `F` faces, `P` pairs of barycentric coordinates.
    #[inline(always)]
    fn run_dim<V: Pack<T = T>, const D: usize, const F: usize, const P: usize, const N: usize>(self) {
        let by = self.by;
        let rooms = Rooms::new(by);
        let (n, values) = (by.n, usize::from(by.values));
        let (of_metric, len) = ((D * (D + 1) / 2 + values) * V::W, n * V::W);
        let (of_faces, of_place) = (F * F * V::W, by.published_rows() * N * V::W);
        let count = self.out.len() / len;
        assert!(by.dim == D && N == TOGETHER && count <= N && count > 0);
        assert!(self.u.len() >= count * len && self.published.len() >= by.crossings.reach);
        assert!(self.metric.len() >= count * of_metric && self.faces.len() >= count * of_faces);
        assert!(self.published.len() >= (self.own + 1) * of_place && self.work.len() >= rooms.total * V::W);
        let work = self.work.as_mut_ptr();
        // SAFETY (whole body): lengths are asserted above; tables hold rows of a block or of a face.
        unsafe {
            let own = self.published.as_ptr().add(self.own * of_place);
            let (nodes, high) = (work.add(rooms.nodes * V::W), work.add(rooms.high * V::W));
            let mut next = [self.next.as_ptr(); N];
            for s in 0..N {
                next[s] = self.next.as_ptr().wrapping_add(s * len);
            }
            for s in 0..count {
                let faces = self.faces.as_ptr().add(s * of_faces);
                let own = own.add(s * V::W);
                for m in 0..of_metric / V::W {
                    prefetch_second(self.next_metric.as_ptr().wrapping_add(s * of_metric + m * V::W));
                }
                let sides = self.sides::<V, F>(s, own, faces, (&rooms, work));
                let factors = work.add(rooms.factors * V::W);
                for f in 0..F {
                    let c = faces.add(f * F * V::W);
                    let mut first = V::lit(0.0);
                    for d in 0..D {
                        let along = V::load(c.add(d * V::W));
                        first = first - along;
                        along.store(factors.add((f * F + d + 1) * V::W));
                    }
                    first.store(factors.add(f * F * V::W));
                }
                // One half of the following cache lines is prefetched here, the other during the last
                // product.
                let later = if s < N / 2 { next[s] } else { nodes };
                collect::<V, N>(&by.terms, sides, factors, nodes.add(s * V::W), later);
                let factors = curvature::<V, D, P>(self.metric.as_ptr().add(s * of_metric));
                let from = Curvature::<V, P> { rows: by.twice_raised.as_ptr(), b: own, factors };
                by.curvatures.sums::<V, 1>(&from, &Among::<T, N>(high.add((n * N + s) * V::W)));
            }
            for s in 0..count {
                self.add_robin::<V, N>(s, own, nodes);
            }

            by.coefficients.sums::<V, N>(&RowsOf(nodes), &RowsOf(high));
            let mut to = [high; N];
            for s in 0..count {
                to[s] = self.out.as_mut_ptr().add(s * len);
            }
            if by.values {
                let (mut factor, mut blocks) = ([V::lit(0.0); N], [self.u.as_ptr(); N]);
                for s in 0..count {
                    factor[s] = V::load(self.metric.as_ptr().add((s + 1) * of_metric - V::W));
                    blocks[s] = self.u.as_ptr().add(s * len);
                }
                let behind = high.add((n + by.curvatures.len()) * N * V::W);
                by.nodes.sums::<V, N>(&Scaled { factor, blocks }, &RowsOf(behind));
            }
            let fetching = Fetching::<T, N, true> { to: nodes, next: &next };
            apply::<V, N, _>(&by.to_nodes, high, &fetching);
            by.nodes.expand::<V, N>(&RowsOf(nodes), &Blocks(to));
        }
    }

    /// Computes the contributions of jumps and sums of derivatives at the faces of block `s`, `[k][face]`.
    ///
    /// # Safety
    /// `own` points to the published values of the block, `faces` to its rows of coefficients, and the work
    /// space is large enough.
    #[inline(always)]
    unsafe fn sides<V: Pack<T = T>, const F: usize>(
        &self,
        s: usize,
        own: *const T,
        faces: *const T,
        (rooms, work): (&Rooms, *mut T),
    ) -> *const T {
        let by = self.by;
        let [nf, nq] = by.n_face;
        let of_shares = F * V::W;
        let shares =
            if self.shares.is_empty() { &[] } else { &self.shares[s * of_shares..(s + 1) * of_shares] };
        // SAFETY (whole body): by the caller's contract.
        unsafe {
            let (across, places) = (work.add(rooms.across * V::W), work.add(rooms.places * V::W));
            let low = nf * F * V::W;
            for crossing in self.crossings[s] {
                cross::<V, F>(by, crossing, self.published.as_ptr(), across);
            }
            self.replace_foreign::<V, F>(s, own, across);
            let (mut of_values, mut of_derivatives) = ([[V::lit(1.0); 2]; F], [[V::lit(1.0); 2]; F]);
            for f in 0..F {
                let penalty = V::load(faces.add((f * F + F - 1) * V::W));
                of_values[f] = [penalty, V::lit(-1.0) * penalty];
                of_derivatives[f] = [penalty, penalty];
                if !shares.is_empty() {
                    of_derivatives[f][0] = penalty * V::load(shares[f * V::W..].as_ptr());
                }
            }
            let values = Across { own, rows: by.own.as_ptr(), across, factors: of_values };
            let rows = by.own.as_ptr().add(nf * F);
            let derivatives = Across { own, rows, across: across.add(low), factors: of_derivatives };
            if let Some([by_high, by_low]) = &by.face {
                by_high.sums::<V, F>(&values, &RowsOf(places));
                by_low.sums::<V, F>(&derivatives, &RowsOf(places.add(low)));
                apply::<V, F, _>(&by.face_product, places, &Store { out: across, span: Span::all(F) });
                by_high.expand::<V, F>(&RowsOf(across), &RowsOf(places));
                by_low.expand::<V, F>(&RowsOf(across.add(low)), &RowsOf(places.add(low)));
                places
            } else {
                for k in 0..nf as u32 {
                    RowsOf(places).write(k, values.read(k));
                }
                for k in 0..nq as u32 {
                    RowsOf(places.add(low)).write(k, derivatives.read(k));
                }
                apply::<V, F, _>(&by.face_product, places, &Store { out: across, span: Span::all(F) });
                across
            }
        }
    }

    /// Replaces the values across the faces for lanes of block `s` at a boundary.
    ///
    /// # Safety
    /// `across` has memory for rows of `F` packs, and `own` points to the published values of the block.
    #[inline(always)]
    unsafe fn replace_foreign<V: Pack<T = T>, const F: usize>(
        &self,
        s: usize,
        own: *const T,
        across: *mut T,
    ) {
        for lane_across in self.foreign[s] {
            let foreign::From::Ghost { sign } = lane_across.from else { continue };
            let (f, lane) = (lane_across.face as usize, lane_across.lane as usize);
            for (k, rows) in self.by.own.chunks_exact(F).enumerate() {
                // SAFETY: a row of the face, and of what is published.
                unsafe { *across.add((k * F + f) * V::W + lane) = sign * *own.add(rows[f] as usize + lane) };
            }
        }
    }

    /// Adds `α sJ M_f u` for Robin boundaries of block `s`.
    ///
    /// # Safety
    /// `to` points to the terms that test coefficients, `own` to the published values of the blocks.
    #[inline(always)]
    unsafe fn add_robin<V: Pack<T = T>, const N: usize>(&self, s: usize, own: *const T, to: *mut T) {
        let (by, nf) = (self.by, self.by.n_face[0]);
        for robin in self.robin[s] {
            let (f, lane) = (robin.face as usize, robin.lane as usize);
            let Some(&factor) = robin.rows.first() else { continue };
            let rows = &by.of_face[f * nf..(f + 1) * nf];
            for (&row, mass) in rows.iter().zip(by.dense_face_mass.chunks_exact(nf)) {
                let mut sum = T::ZERO;
                // SAFETY: rows of the face.
                unsafe {
                    for (&m, &other) in mass.iter().zip(rows) {
                        sum += m * *own.add((other as usize * N + s) * V::W + lane);
                    }
                    *to.add((row as usize * N + s) * V::W + lane) += factor * sum;
                }
            }
        }
    }
}

/// The factors of `b_{γ + e_i + e_j}` in `Σ_de G_de Δ_d Δ_e b`, `[i ≤ j]`.
///
/// # Safety
/// `metric` points to `G_de`, `[d ≤ e]`.
#[inline(always)]
unsafe fn curvature<V: Pack, const D: usize, const P: usize>(metric: *const V::T) -> [V; P] {
    let mut out = [V::lit(0.0); P];
    let (mut total, mut sums, two) = (V::lit(0.0), [V::lit(0.0); D], V::lit(2.0));
    let mut next = 0;
    for d in 0..D {
        for e in d..D {
            // SAFETY: entry `next` of the metric.
            let g = unsafe { V::load(metric.add(next * V::W)) };
            sums[d] = sums[d] + g;
            if d == e {
                total = total + g;
                out[D + 1 + next] = g;
            } else {
                sums[e] = sums[e] + g;
                total = total + two * g;
                out[D + 1 + next] = two * g;
            }
            next += 1;
        }
    }
    out[0] = total;
    for d in 0..D {
        out[d + 1] = V::lit(-2.0) * sums[d];
    }
    out
}

/// Adds the contributions of the sides of one block among `N` to its coefficients; prefetches the rows of a
/// following block.
///
/// # Safety
/// `sides` and `factors` hold all rows, and `to` has memory for all coefficients. `next` may be any address.
#[inline(always)]
unsafe fn collect<V: Pack, const N: usize>(
    terms: &Terms,
    sides: *const V::T,
    factors: *const V::T,
    to: *mut V::T,
    next: *const V::T,
) {
    let mut places = terms.places.as_ptr();
    // SAFETY (whole body): places are those of rows, by the caller's contract, and as many as the runs say.
    unsafe {
        for run in &terms.runs {
            for _ in 0..run.rows {
                let at = *places as usize;
                prefetch_second(next.wrapping_add(at));
                places = places.add(1);
                let mut sum = V::lit(0.0);
                for _ in 0..run.plain {
                    sum = sum + V::load(sides.add(*places as usize));
                    places = places.add(1);
                }
                let mut other = V::lit(0.0);
                for _ in 0..run.factored {
                    let factor = V::load(factors.add(*places.add(1) as usize));
                    other = factor.mul_add(V::load(sides.add(*places as usize)), other);
                    places = places.add(2);
                }
                (sum + other).store(to.add(at * N));
            }
        }
    }
}

/// Copies the lanes of a crossing to rows of `F` packs.
///
/// # Safety
/// The crossing was made for `published`, and `across` has memory for all rows of the faces.
#[inline(always)]
unsafe fn cross<V: Pack<T: PackScalar>, const F: usize>(
    by: &Bernstein<V::T>,
    crossing: &Crossing,
    published: *const V::T,
    across: *mut V::T,
) {
    let pick = V::pick(&crossing.lanes, crossing.taken);
    // SAFETY (whole body): by the caller's contract; entries of tables are rows of what is published.
    unsafe {
        let (from, to) = (published.add(crossing.from as usize), across.add(crossing.to as usize));
        let table = by.tables.as_ptr().add(crossing.table as usize);
        for k in 0..by.table_len() {
            V::place(from.add(*table.add(k) as usize), pick, to.add(k * F * V::W));
        }
    }
}
