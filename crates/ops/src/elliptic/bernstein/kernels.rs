//! The operator in Bernstein form on one block, a pass that publishes and one that tests.

use super::Bernstein;
use super::orbits::RowsOf;
use super::packs::{Scaled, Slopes};
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
    /// Differences across the faces, of values and behind them of derivatives, `[k][face]`; their sums and differences; the
    /// product.
    across: usize,
    places: usize,
    tested: usize,
    /// `−½ t_f c_fd`, `[face][d]`.
    factors: usize,
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
            across: take(n_faces * (nf + nq)),
            places: take(n_faces * (nf + nq)),
            tested: take(n_faces * (nf + nq)),
            factors: take(n_faces * d),
            total: next,
        }
    }
}

/// `b`, and the conormal derivatives at the faces whose bit is set in `wanted`.
pub struct BernsteinPublish<'a, T> {
    pub(in crate::elliptic) by: &'a Bernstein<T>,
    pub(in crate::elliptic) u: &'a [T],
    /// `c_f` and `t_f` of each face.
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
                let mut c = [V::lit(0.0); D];
                for d in 0..D {
                    c[d] = V::load(self.faces.as_ptr().add((f * (D + 1) + d) * V::W));
                }
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
    /// `c_f` and `t_f` of each face.
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
            2 => self.run_dim::<V, 2, 3>(),
            _ => self.run_dim::<V, 3, 4>(),
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
    fn run_dim<V: Pack<T = T>, const D: usize, const F: usize>(self) {
        let by = self.by;
        let rooms = Rooms::new(by);
        let (n, [nf, _]) = (by.n, by.n_face);
        let (entries, values) = (D * (D + 1) / 2, usize::from(by.values));
        assert!(self.u.len() >= n * V::W && self.out.len() >= n * V::W);
        assert!(self.own.len() >= by.published_rows() * V::W && self.faces.len() >= F * (D + 1) * V::W);
        assert!(self.metric.len() >= (entries + values) * V::W && self.work.len() >= rooms.total * V::W);
        assert!(self.across.block_len >= by.published_rows() * V::W);
        let work = self.work.as_mut_ptr();
        // SAFETY (whole body): lengths are asserted above; tables hold rows of a block, of a face, or of the gradient.
        unsafe {
            let at = |row: usize| work.add(row * V::W);
            let (across, tested) = (at(rooms.across), at(rooms.tested));
            for f in 0..F {
                self.gather::<V, F>(f, across.add(f * V::W));
            }
            self.mend::<V, F>(across);
            let low = nf * F * V::W;
            let sides = if let Some([by_high, by_low]) = &by.face {
                let places = at(rooms.places);
                by_high.sums::<V, F>(&RowsOf(across), &RowsOf(places));
                by_low.sums::<V, F>(&RowsOf(across.add(low)), &RowsOf(places.add(low)));
                apply::<V, F, _>(&by.face_product, places, &Store(tested));
                by_high.expand::<V, F>(&RowsOf(tested), &RowsOf(across));
                by_low.expand::<V, F>(&RowsOf(tested.add(low)), &RowsOf(across.add(low)));
                across
            } else {
                apply::<V, F, _>(&by.face_product, across, &Store(tested));
                tested
            };
            let sides = sides.cast_const();

            self.moments::<V, D, F>(&rooms, work, sides);
            let moments = at(rooms.moments).cast_const();
            let (high, nodes) = (at(rooms.high), at(rooms.nodes));
            let mut row = Lowered::<V, D, F> { by, moments, sides, faces: self.faces.as_ptr(), out: nodes };
            by.onto[0].each::<0>(|b, on| row.put(b, on));
            by.onto[0].each::<1>(|b, on| row.put(b, on));
            by.onto[0].each::<2>(|b, on| row.put(b, on));
            by.onto[0].each::<3>(|b, on| row.put(b, on));
            self.add_robin::<V>(nodes);

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

    /// What tests derivatives, from the gradient and from the jumps at `sides`, and zeros behind it.
    ///
    /// # Safety
    /// There is room at `work`, and `sides` has all rows of the faces.
    #[inline(always)]
    unsafe fn moments<V: Pack<T = T>, const D: usize, const F: usize>(
        &self,
        rooms: &Rooms,
        work: *mut T,
        sides: *const T,
    ) {
        let by = self.by;
        // SAFETY (whole body): by the caller's contract.
        unsafe {
            let at = |row: usize| work.add(row * V::W);
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
                V::lit(0.0).store(moments.add((by.gradients.len() * D + d) * V::W));
            }
            let factors = at(rooms.factors);
            for f in 0..F {
                let face = self.faces.as_ptr().add(f * (D + 1) * V::W);
                let half = V::lit(-0.5) * V::load(face.add(D * V::W));
                for d in 0..D {
                    (half * V::load(face.add(d * V::W))).store(factors.add((f * D + d) * V::W));
                }
            }
            let mut row = Lifted::<V, D> { sides, factors, to: moments };
            by.onto[1].each::<1>(|a, on| row.add(a, on));
            by.onto[1].each::<2>(|a, on| row.add(a, on));
            by.onto[1].each::<3>(|a, on| row.add(a, on));
            by.onto[1].each::<4>(|a, on| row.add(a, on));
        }
    }

    /// What changes across face `f`, values and derivatives.
    ///
    /// # Safety
    /// There is room for it at `out`, in rows of `F` packs.
    #[inline(always)]
    unsafe fn gather<V: Pack<T = T>, const F: usize>(&self, f: usize, out: *mut T) {
        let count = self.by.n_face[0] + self.by.n_face[1];
        let sources = self.across.of_face(f, count);
        let mut first = 0;
        while first < count {
            // SAFETY: these are entries of the table, and rows at `out`.
            unsafe {
                match count - first {
                    1 => self.rows::<V, F, 1>((f, sources), &mut first, out),
                    2 => self.rows::<V, F, 2>((f, sources), &mut first, out),
                    3 => self.rows::<V, F, 3>((f, sources), &mut first, out),
                    4..=7 => self.rows::<V, F, 4>((f, sources), &mut first, out),
                    9 => self.rows::<V, F, 9>((f, sources), &mut first, out),
                    _ => self.rows::<V, F, 8>((f, sources), &mut first, out),
                }
            }
        }
    }

    /// `N` rows of face `f` from `first` on: what lies across, merged in registers, from the own.
    ///
    /// # Safety
    /// They are entries of the face's tables, and rows at `out`.
    #[inline(always)]
    unsafe fn rows<V: Pack<T = T>, const F: usize, const N: usize>(
        &self,
        (f, sources): (usize, &[crate::connect::Source]),
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
            let own = self.by.own.as_ptr().add(f * (self.by.n_face[0] + self.by.n_face[1]) + *first);
            for i in 0..N {
                let own = V::load(self.own.as_ptr().add(*own.add(i) as usize));
                (own - x[i]).store(out.add((*first + i) * F * V::W));
            }
        }
        *first += N;
    }

    /// Lanes at a boundary.
    ///
    /// # Safety
    /// What changes across the faces stands at `across`, in rows of `F` packs.
    #[inline(always)]
    unsafe fn mend<V: Pack<T = T>, const F: usize>(&self, across: *mut T) {
        let count = self.by.n_face[0] + self.by.n_face[1];
        for mend in self.mends {
            let mends::From::Ghost { sign } = mend.from else { continue };
            let (f, lane) = (mend.face as usize, mend.lane as usize);
            for (k, &row) in self.by.own[f * count..(f + 1) * count].iter().enumerate() {
                let own = self.own[row as usize + lane];
                // SAFETY: a row of the face.
                unsafe { *across.add((k * F + f) * V::W + lane) = own - sign * own };
            }
        }
    }

    /// Robin boundaries add `α κ sJ M_f u`.
    ///
    /// # Safety
    /// What tests coefficients stands at `to`.
    #[inline(always)]
    unsafe fn add_robin<V: Pack<T = T>>(&self, to: *mut T) {
        let (by, nf) = (self.by, self.by.n_face[0]);
        for robin in self.robin {
            let (f, lane) = (robin.face as usize, robin.lane as usize);
            let Some(&factor) = robin.rows.first() else { continue };
            let rows = &by.of_face[0][f * nf..(f + 1) * nf];
            for (&row, mass) in rows.iter().zip(by.dense_face_mass.chunks_exact(nf)) {
                let mut sum = T::ZERO;
                for (&m, &other) in mass.iter().zip(rows) {
                    sum += m * self.own[other as usize * V::W + lane];
                }
                // SAFETY: a row of the face.
                unsafe { *to.add(row as usize * V::W + lane) += factor * sum };
            }
        }
    }
}

/// `−½ Σ_f t_f c_f s_f` added to the coefficients of derivatives, with what jumps leave at the faces.
struct Lifted<V: Pack, const D: usize> {
    sides: *const V::T,
    factors: *const V::T,
    to: *mut V::T,
}

impl<V: Pack, const D: usize> Lifted<V, D> {
    /// Coefficient `a` on the faces `on`.
    ///
    /// # Safety
    /// The pointers cover what both name.
    #[inline(always)]
    unsafe fn add<const M: usize>(&mut self, a: usize, on: &[[u32; 2]; M]) {
        // SAFETY: by the caller's contract.
        unsafe {
            let to = self.to.add(a * D * V::W);
            let mut sums = [V::lit(0.0); D];
            for d in 0..D {
                sums[d] = V::load(to.add(d * V::W));
            }
            for i in 0..M {
                let s = V::load(self.sides.add(on[i][0] as usize));
                let factors = self.factors.add(on[i][1] as usize * D * V::W);
                for d in 0..D {
                    sums[d] = V::load(factors.add(d * V::W)).mul_add(s, sums[d]);
                }
            }
            for d in 0..D {
                sums[d].store(to.add(d * V::W));
            }
        }
    }
}

/// `Σ_d Δ_dᵀ m_d + Σ_f t_f y_f`.
struct Lowered<'a, V: Pack, const D: usize, const F: usize> {
    by: &'a Bernstein<V::T>,
    moments: *const V::T,
    sides: *const V::T,
    /// `c_f` and `t_f` of each face.
    faces: *const V::T,
    out: *mut V::T,
}

impl<V: Pack, const D: usize, const F: usize> Lowered<'_, V, D, F> {
    /// Coefficient `b` on the faces `on`.
    ///
    /// # Safety
    /// The pointers cover what both name.
    #[inline(always)]
    unsafe fn put<const M: usize>(&mut self, b: usize, on: &[[u32; 2]; M]) {
        // SAFETY: by the caller's contract.
        unsafe {
            let rows = self.by.lowered.as_ptr().add(b * (D + 1));
            let m = |i: usize, d: usize| V::load(self.moments.add((*rows.add(i) as usize * D + d) * V::W));
            let mut sum = m(1, 0) - m(0, 0);
            for d in 1..D {
                sum = sum + (m(d + 1, d) - m(0, d));
            }
            for i in 0..M {
                let t = V::load(self.faces.add((on[i][1] as usize * (D + 1) + D) * V::W));
                sum = t.mul_add(V::load(self.sides.add(on[i][0] as usize)), sum);
            }
            sum.store(self.out.add(b * V::W));
        }
    }
}
