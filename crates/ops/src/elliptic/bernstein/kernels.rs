//! The operator in Bernstein form on one block, a pass that publishes and one that tests.

use super::Bernstein;
use super::orbits::RowsOf;
use super::packs::{Added, Column, Jump, Scaled, Slopes};
use crate::elliptic::mends::{self, Mend, Robin};
use crate::panel::{Store, apply};
use crate::pointwise::NeighbourStates;
use crate::simd::{Kernel, Pack, PackScalar};

/// First rows of what lies in the work space.
pub(super) struct Rooms {
    /// Sums and differences of coefficients and of nodes, and λ û behind them.
    high: usize,
    nodes: usize,
    /// `H`, then `M H`, `[place][d]`; and `[α][d]`, with zeros behind.
    slopes: usize,
    moments: usize,
    /// `y` and `j`, `[place][face][y, j]`, and their products.
    jumps: usize,
    tested: usize,
    /// What lies across the faces, `[face][u⁺, p⁺]`.
    plus: usize,
    /// Products of jumps on one face.
    face: usize,
    pub(super) total: usize,
}

impl Rooms {
    pub(super) fn new<T: PackScalar>(b: &Bernstein<T>) -> Self {
        let (d, n_faces, [nf, nq]) = (b.dim, b.dim + 1, b.n_face);
        let low = b.gradients.len();
        let mut next = 0;
        let mut take = |rows: usize| {
            next += rows;
            next - rows
        };
        Self {
            high: take(2 * b.n),
            nodes: take(b.n),
            slopes: take(d * low),
            moments: take(d * (low + 1)),
            jumps: take(2 * n_faces * nf),
            tested: take(2 * n_faces * nf),
            plus: take(n_faces * (nf + nq)),
            face: take(nf),
            total: next,
        }
    }
}

impl<T: PackScalar> Bernstein<T> {
    /// `(p/2) c_fd` of a face from the rows of coefficients.
    ///
    /// # Safety
    /// `rows` points to `D + 1` packs for each face, and `f` is one.
    #[inline(always)]
    unsafe fn conormal<V: Pack<T = T>, const D: usize>(&self, rows: *const T, f: usize) -> [V; D] {
        // SAFETY: D × D factors a face, D + 1 packs a row.
        unsafe {
            let rows = rows.add(f * (D + 1) * V::W);
            let factors = self.conormal.as_ptr().add(f * D * D);
            let mut out = [V::lit(0.0); D];
            for m in 0..D {
                let along = V::load(rows.add(m * V::W));
                for d in 0..D {
                    out[d] = V::broadcast(factors.add(d * D + m)).mul_add(along, out[d]);
                }
            }
            out
        }
    }
}

/// `b`, and the conormal derivatives at the faces whose bit is set in `wanted`.
pub struct BernsteinPublish<'a, T> {
    pub(in crate::elliptic) by: &'a Bernstein<T>,
    pub(in crate::elliptic) u: &'a [T],
    /// Rows of [`FaceCoefficients`](crate::elliptic::kernels::FaceCoefficients).
    pub(in crate::elliptic) faces: &'a [T],
    pub(in crate::elliptic) wanted: u8,
    pub(in crate::elliptic) work: &'a mut [T],
    pub(in crate::elliptic) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for BernsteinPublish<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        match self.by.dim {
            2 => self.run_dim::<V, 2>(),
            _ => self.run_dim::<V, 3>(),
        }
    }
}

impl<T: PackScalar> BernsteinPublish<'_, T> {
    #[inline(always)]
    fn run_dim<V: Pack<T = T>, const D: usize>(self) {
        let by = self.by;
        let rooms = Rooms::new(by);
        let (n, nq) = (by.n, by.n_face[1]);
        assert!(self.u.len() >= n * V::W && self.faces.len() >= (D + 1) * (D + 1) * V::W);
        assert!(self.work.len() >= rooms.total * V::W && self.out.len() >= by.published_rows() * V::W);
        // SAFETY (whole body): lengths are asserted above; tables hold rows of a block.
        unsafe {
            let work = self.work.as_mut_ptr();
            let at = |row: usize| work.add(row * V::W);
            let (nodes, high) = (at(rooms.nodes), at(rooms.high));
            let out = self.out.as_mut_ptr();
            by.nodes.sums::<V, 1>(&RowsOf(self.u.as_ptr().cast_mut()), &RowsOf(nodes));
            apply::<V, 1, _>(&by.to_coefficients, nodes, &Store(high));
            by.coefficients.expand::<V, 1>(&RowsOf(high), &RowsOf(out));
            for f in (0..=D).filter(|f| self.wanted >> f & 1 == 1) {
                let c: [V; D] = by.conormal(self.faces.as_ptr(), f);
                let mut first = V::lit(0.0);
                for d in 0..D {
                    first = first - c[d];
                }
                let p = out.add((n + f * nq) * V::W);
                for k in 0..nq {
                    let a = *by.of_face[1].get_unchecked(f * nq + k) as usize;
                    let rows = by.raised.as_ptr().add(a * (D + 1));
                    let b = |i: usize| V::load(out.add(*rows.add(i) as usize * V::W));
                    let mut sum = first * b(0);
                    for d in 0..D {
                        sum = c[d].mul_add(b(d + 1), sum);
                    }
                    sum.store(p.add(k * V::W));
                }
            }
        }
    }
}

/// `A u` of one block from what is published.
pub struct BernsteinTest<'a, T> {
    pub(in crate::elliptic) by: &'a Bernstein<T>,
    pub(in crate::elliptic) u: &'a [T],
    /// What the block has published.
    pub(in crate::elliptic) own: &'a [T],
    pub(in crate::elliptic) across: NeighbourStates<'a, T>,
    pub(in crate::elliptic) mends: &'a [Mend<T>],
    /// With one value for all points of a face.
    pub(in crate::elliptic) robin: &'a [Robin<T>],
    /// Rows of [`FaceCoefficients`](crate::elliptic::kernels::FaceCoefficients).
    pub(in crate::elliptic) faces: &'a [T],
    /// `G_de`, and λ if there are values.
    pub(in crate::elliptic) metric: &'a [T],
    pub(in crate::elliptic) work: &'a mut [T],
    pub(in crate::elliptic) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for BernsteinTest<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        match self.by.dim {
            2 => self.run_dim::<V, 2, 3, 6>(),
            _ => self.run_dim::<V, 3, 4, 8>(),
        }
    }
}

impl<'a, T: PackScalar> BernsteinTest<'a, T> {
    /// The tables of a form for the neighbours of a block.
    pub(in crate::elliptic) fn neighbours(
        by: &'a Bernstein<T>,
        window: &'a [T],
        block_len: usize,
        (sources, first): (&'a [crate::connect::Source], &'a [u32]),
    ) -> NeighbourStates<'a, T> {
        NeighbourStates { source: window, block_len, sources, first, tables: &by.tables }
    }

    #[inline(always)]
    fn run_dim<V: Pack<T = T>, const D: usize, const F: usize, const C: usize>(self) {
        let by = self.by;
        let rooms = Rooms::new(by);
        let (n, [nf, nq]) = (by.n, by.n_face);
        let low = by.gradients.len();
        let (entries, values) = (D * (D + 1) / 2, usize::from(by.values));
        assert!(self.u.len() >= n * V::W && self.out.len() >= n * V::W);
        assert!(self.own.len() >= by.published_rows() * V::W && self.faces.len() >= F * (D + 1) * V::W);
        assert!(self.metric.len() >= (entries + values) * V::W && self.work.len() >= rooms.total * V::W);
        assert!(self.across.block_len >= by.published_rows() * V::W);
        let work = self.work.as_mut_ptr();
        for f in 0..F {
            // SAFETY: there is room for what lies across F faces.
            unsafe { self.gather::<V>(f, work.add((rooms.plus + f * (nf + nq)) * V::W)) };
        }
        // SAFETY: likewise.
        unsafe { self.mend::<V>(work.add(rooms.plus * V::W)) };
        // SAFETY (whole body): lengths are asserted above; tables hold rows of a block, of a face, or of the gradient.
        unsafe {
            let at = |row: usize| work.add(row * V::W);
            let (jumps, tested) = (at(rooms.jumps), at(rooms.tested));
            for f in 0..F {
                let plus = at(rooms.plus + f * (nf + nq));
                for k in 0..nq {
                    let p = plus.add((nf + k) * V::W);
                    let own = V::load(self.own.as_ptr().add((n + f * nq + k) * V::W));
                    (own - V::load(p)).store(p);
                }
                let tau = V::load(self.faces.as_ptr().add((f * (D + 1) + D) * V::W));
                let rows = by.of_face[0].as_ptr().add(f * nf);
                let from = Jump::<V, D> { by, tau, rows, own: self.own.as_ptr(), plus };
                by.face.sums::<V, 2>(&from, &Column { first: jumps.add(2 * f * V::W), stride: C * V::W });
            }
            self.add_robin::<V, C>(jumps);
            apply::<V, C, _>(&by.face_mass, jumps, &Store(tested));

            let mut metric = [[V::lit(0.0); D]; D];
            let mut next = self.metric.as_ptr();
            for d in 0..D {
                for e in d..D {
                    (metric[d][e], metric[e][d]) = (V::load(next), V::load(next));
                    next = next.add(V::W);
                }
            }
            let (slopes, moments) = (at(rooms.slopes), at(rooms.moments));
            let from = Slopes::<V, D> { raised: by.raised.as_ptr(), b: self.own.as_ptr(), metric };
            by.gradients.sums::<V, D>(&from, &RowsOf(moments));
            apply::<V, D, _>(&by.mass, moments, &Store(slopes));
            by.gradients.expand::<V, D>(&RowsOf(slopes), &RowsOf(moments));
            for d in 0..D {
                V::lit(0.0).store(moments.add((low * D + d) * V::W));
            }
            let face = at(rooms.face);
            for f in 0..F {
                let from = Column { first: tested.add((2 * f + 1) * V::W), stride: C * V::W };
                by.face.expand::<V, 1>(&from, &RowsOf(face));
                let mut c: [V; D] = by.conormal(self.faces.as_ptr(), f);
                for d in 0..D {
                    c[d] = V::lit(-0.5) * c[d];
                }
                for k in 0..nq {
                    let mut s = V::lit(0.0);
                    for i in 0..D {
                        let x = V::load(face.add(*by.reduced.get_unchecked(k * D + i) as usize * V::W));
                        s = V::broadcast(by.reduction.as_ptr().add(k * D + i)).mul_add(x, s);
                    }
                    let a = *by.of_face[1].get_unchecked(f * nq + k) as usize;
                    for d in 0..D {
                        let p = moments.add((a * D + d) * V::W);
                        c[d].mul_add(s, V::load(p)).store(p);
                    }
                }
            }

            let (high, nodes) = (at(rooms.high), at(rooms.nodes));
            for b in 0..n {
                let rows = by.lowered.as_ptr().add(b * (D + 1));
                let m = |i: usize, d: usize| V::load(moments.add((*rows.add(i) as usize * D + d) * V::W));
                let mut sum = m(1, 0) - m(0, 0);
                for d in 1..D {
                    sum = sum + (m(d + 1, d) - m(0, d));
                }
                sum.store(nodes.add(b * V::W));
            }
            for f in 0..F {
                let from = Column { first: tested.add(2 * f * V::W), stride: C * V::W };
                let rows = by.of_face[0].as_ptr().add(f * nf);
                by.face.expand::<V, 1>(&from, &Added { rows, to: nodes });
            }
            by.coefficients.sums::<V, 1>(&RowsOf(nodes), &RowsOf(high));
            if by.values {
                let lambda = V::load(self.metric.as_ptr().add(entries * V::W));
                let from = Scaled { factor: lambda, from: self.u.as_ptr() };
                by.nodes.sums::<V, 1>(&from, &RowsOf(high.add(n * V::W)));
            }
            apply::<V, 1, _>(&by.to_nodes, high, &Store(nodes));
            by.nodes.expand::<V, 1>(&RowsOf(nodes), &RowsOf(self.out.as_mut_ptr()));
        }
    }

    /// What lies across face `f`.
    ///
    /// # Safety
    /// There is room for it at `out`, in rows of `V`.
    #[inline(always)]
    unsafe fn gather<V: Pack<T = T>>(&self, f: usize, out: *mut T) {
        let count = self.by.n_face[0] + self.by.n_face[1];
        let sources = self.across.of_face(f, count);
        let mut first = 0;
        while first < count {
            // SAFETY: these are entries of the table, and rows at `out`.
            unsafe {
                match count - first {
                    1 => self.rows::<V, 1>(sources, &mut first, out),
                    2 => self.rows::<V, 2>(sources, &mut first, out),
                    3 => self.rows::<V, 3>(sources, &mut first, out),
                    4..=7 => self.rows::<V, 4>(sources, &mut first, out),
                    _ => self.rows::<V, 8>(sources, &mut first, out),
                }
            }
        }
    }

    /// `N` rows of a face from `first` on, merged in registers.
    ///
    /// # Safety
    /// They are entries of the face's tables, and rows at `out`.
    #[inline(always)]
    unsafe fn rows<V: Pack<T = T>, const N: usize>(
        &self,
        sources: &[crate::connect::Source],
        first: &mut usize,
        out: *mut T,
    ) {
        let mut x = [V::lit(0.0); N];
        // SAFETY: `of_face` has asserted that blocks and table entries exist; entries are rows of what is published.
        unsafe {
            for s in sources {
                let pick = V::pick(&s.lanes, s.taken);
                let base = self.across.source.as_ptr().add(s.block as usize * self.across.block_len);
                let table = self.across.tables.as_ptr().add(s.table as usize + *first);
                for i in 0..N {
                    x[i] = x[i].merge(base.add(*table.add(i) as usize), pick);
                }
            }
            for i in 0..N {
                x[i].store(out.add((*first + i) * V::W));
            }
        }
        *first += N;
    }

    /// Lanes at a boundary.
    ///
    /// # Safety
    /// What lies across the faces stands at `plus`, in rows of `V`.
    #[inline(always)]
    unsafe fn mend<V: Pack<T = T>>(&self, plus: *mut T) {
        let by = self.by;
        let [nf, nq] = by.n_face;
        for mend in self.mends {
            let mends::From::Ghost { sign } = mend.from else { continue };
            let (f, lane) = (mend.face as usize, mend.lane as usize);
            for k in 0..nf + nq {
                let row = if k < nf { by.of_face[0][f * nf + k] as usize } else { by.n + f * nq + k - nf };
                let own = self.own[row * V::W + lane];
                // SAFETY: a row of the face.
                unsafe { *plus.add((f * (nf + nq) + k) * V::W + lane) = sign * own };
            }
        }
    }

    /// Robin boundaries add `α κ sJ u` to `y`.
    ///
    /// # Safety
    /// `y` stands at `jumps`, in rows of `C` packs.
    #[inline(always)]
    unsafe fn add_robin<V: Pack<T = T>, const C: usize>(&self, jumps: *mut T) {
        let by = self.by;
        for robin in self.robin {
            let (f, lane) = (robin.face as usize, robin.lane as usize);
            let Some(&factor) = robin.rows.first() else { continue };
            for place in 0..by.n_face[0] {
                let mut sum = T::ZERO;
                for k in 0..by.n_face[0] {
                    let row = by.of_face[0][f * by.n_face[0] + k] as usize;
                    sum += by.face_sums[place * by.n_face[0] + k] * self.own[row * V::W + lane];
                }
                // SAFETY: a row of the face.
                unsafe { *jumps.add((place * C + 2 * f) * V::W + lane) += factor * sum };
            }
        }
    }
}
