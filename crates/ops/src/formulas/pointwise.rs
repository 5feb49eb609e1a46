//! Inviscid fluxes at volume and face points, for one block of lanes at a time.
//!
//! [`PointKernels`] is the interface between the operators and an equation: it converts states at points into
//! contravariant fluxes, and two traces with a normal into a numerical flux. [`Pointwise`] implements it for
//! a law and a numerical flux. One call processes one block of elements, so that the cost of the dynamic call
//! is negligible, and the matrix kernels are compiled once for all equations.
//!
//! Index orders: states `[point][field][lane]`; metric terms `[d][x][lane]` (one per block) or
//! `[point][d][x][lane]`; face geometry `[face or point][D + 1][lane]`, where the unit normal is followed by
//! the scale of the flux.

use crate::formulas::directed::rate;
use crate::lanes::simd::{Kernel, Pack, PackScalar, checked};
use crate::lanes::span::Span;
use crate::space::connect::Donor;
use crate::space::directions::Directions;
use crate::space::layout::PerPoint;
use dgsuite_gpu::SimdLevel;
use dgsuite_physics::trace::{Parameters, Sym, TraceError, device_fn, input, record};
use dgsuite_physics::{Dual, Law, NumericalFlux, Real};

/// States across the faces of a block.
#[derive(Clone, Copy, Debug)]
pub enum Across<'a, T> {
    /// Copied to rows, `[point][field][lane]`.
    Rows(&'a [T]),
    /// Read from the neighbours' blocks.
    Neighbours(NeighbourStates<'a, T>),
}

/// Location of the states across the faces of a block in an array of blocks.
#[derive(Clone, Copy, Debug)]
pub struct NeighbourStates<'a, T> {
    /// The array, `[block][row][field][lane]`.
    pub(crate) values: &'a [T],
    /// Scalars of one block of the array.
    pub(crate) block_len: usize,
    /// Donor blocks and tables of all faces.
    pub(crate) donors: &'a [Donor],
    /// The donors of face `f` are `first[f]..first[f + 1]`.
    pub(crate) first: &'a [u32],
    /// `[code][point of the face]`: index of the row's first scalar in a block; `table_len` entries for each
    /// code.
    pub(crate) tables: &'a [u32],
}

/// Pointwise fluxes of one law and one numerical flux, for blocks of lanes.
pub trait PointKernels<T>: Send + Sync {
    /// Spatial dimension.
    fn dim(&self) -> usize;
    /// Number of unknowns.
    fn n_fields(&self) -> usize;
    /// Names of the conserved variables.
    fn variables(&self) -> Vec<&'static str>;
    /// Names of the primitive variables.
    fn primitives(&self) -> Vec<&'static str>;

    /// Computes the contravariant fluxes `F̂_d = Σ_x G_dx F_x(u)` at `n` points.
    ///
    /// `u`: `[n][field][lane]`; `metric`: `G`; `out`: `[d][n][field][lane]`.
    fn volume(&self, level: SimdLevel, n: usize, u: &[T], metric: &[T], kind: PerPoint, out: &mut [T]);

    /// Computes the numerical fluxes times their scale at the face points of a block.
    ///
    /// The points of face `f` are `offsets[f]..offsets[f + 1]`. `um`: states of the element itself, point `q`
    /// at row `rows[q]`; `up`: states across the faces; `out`: `[point][field][lane]`.
    fn faces(
        &self,
        level: SimdLevel,
        offsets: &[usize],
        um: &[T],
        rows: &[u32],
        up: Across<'_, T>,
        geometry: &[T],
        kind: PerPoint,
        out: &mut [T],
    );

    /// Computes the numerical flux `f*(u⁻, u⁺, n)` at points of a boundary: `um`, `up`, `out`:
    /// `[point][field]`; `normal`: `[point][D]`.
    fn numerical_flux(&self, um: &[T], up: &[T], normal: &[T], out: &mut [T]);

    /// Computes, per lane, the largest wave speed and the smallest admissibility over `n` points.
    ///
    /// A state that is not finite results in a speed that is not finite.
    fn wave_speed(&self, level: SimdLevel, n: usize, u: &[T], speed: &mut [T], admissible: &mut [T]);

    /// Whether all waves run with a velocity of the state; see [`Law::DIRECTED`].
    fn is_directed(&self) -> bool;

    /// Computes, per lane, the largest bound of the rate at which waves cross an element over `n` points, for
    /// [directed](Self::is_directed) laws. `metric`: as for [`volume`](Self::volume); `inverse`: `1/J` at the
    /// points, `[point][lane]`, of metric terms that are `J∇r_d`.
    fn wave_rate(
        &self,
        level: SimdLevel,
        n: usize,
        u: &[T],
        metric: (&[T], PerPoint),
        inverse: &[T],
        directions: &Directions,
        rate: &mut [T],
    );

    /// Returns the text of the CUDA function `wave_rate(u, g, out)` for the derivatives
    /// `g[d][x] = ∂r_d/∂x_x`.
    ///
    /// # Errors
    /// [`TraceError`] if a parameter has two values.
    fn rate_source(&self, directions: &Directions, parameters: &mut Parameters)
    -> Result<String, TraceError>;

    /// Computes the primitive variables of one state.
    fn to_primitive(&self, u: &[f64], w: &mut [f64]);

    /// Computes the derivatives of the primitive variables of one state, `[axis][variable]`, from those of
    /// the conserved ones, `[axis][field]`, by the chain rule.
    fn primitive_gradient(&self, u: &[f64], grad: &[f64], out: &mut [f64]);

    /// Returns the number of the first unknowns; all fluxes of the others are zero in their formulas.
    fn n_changing(&self) -> usize;

    /// Returns the formulas as text of CUDA functions and adds the parameters that they use to `parameters`.
    ///
    /// `volume_flux(u, g, out)` computes `F̂_d` as [`volume`](Self::volume) does, `[d][field]`;
    /// `numerical_flux(um, up, n, out)`; `wave(u, out)`: largest speed and admissibility.
    ///
    /// # Errors
    /// [`TraceError`] if a parameter has two values.
    fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError>;

    /// Returns the text of the CUDA function `primitive(u, out)`, which computes the primitive variables of a
    /// state.
    ///
    /// # Errors
    /// [`TraceError`] if a parameter has two values.
    fn primitive_source(&self, parameters: &mut Parameters) -> Result<String, TraceError>;

    /// Returns the text of the CUDA function `slopes(u, g, out)`, [`primitive_gradient`].
    ///
    /// [`primitive_gradient`]: Self::primitive_gradient
    ///
    /// # Errors
    /// [`TraceError`] if a parameter has two values.
    fn slopes_source(&self, parameters: &mut Parameters) -> Result<String, TraceError>;
}

/// The [`PointKernels`] of law `L` and numerical flux `F`.
#[derive(Clone, Debug)]
pub struct Pointwise<L, F, const D: usize, const N: usize> {
    /// The conservation law.
    pub law: L,
    /// The numerical flux.
    pub flux: F,
}

/// Loads the `N` fields of one row.
///
/// # Safety
/// `p` covers `(row + 1) × N × W` scalars.
#[inline(always)]
pub(crate) unsafe fn load_row<V: Pack, const N: usize>(p: *const V::T, row: usize) -> [V; N] {
    let mut u = [V::lit(0.0); N];
    for k in 0..N {
        // SAFETY: field `k` of row `row`, by the caller's contract.
        u[k] = unsafe { V::load(p.add((row * N + k) * V::W)) };
    }
    u
}

/// Stores the `N` fields of one row.
///
/// # Safety
/// `p` covers `(row + 1) × N × W` writable scalars.
#[inline(always)]
pub(crate) unsafe fn store_row<V: Pack, const N: usize>(p: *mut V::T, row: usize, u: [V; N]) {
    for k in 0..N {
        // SAFETY: field `k` of row `row`, by the caller's contract.
        unsafe { u[k].store(p.add((row * N + k) * V::W)) };
    }
}

/// Copies a law's parameters to the stack, where no store to an output can change them, so that they stay in
/// registers. A type with a destructor may allocate when cloned and is used in place.
macro_rules! local {
    ($law:ident = $from:expr) => {
        let copy;
        let $law = if const { !std::mem::needs_drop::<L>() } {
            copy = $from.clone();
            &copy
        } else {
            $from
        };
    };
}
pub(crate) use local;

struct Volume<'a, L, T, const D: usize, const N: usize> {
    law: &'a L,
    n: usize,
    u: &'a [T],
    metric: &'a [T],
    kind: PerPoint,
    out: &'a mut [T],
}

impl<L: Law<D, N>, T: PackScalar, const D: usize, const N: usize> Kernel<T> for Volume<'_, L, T, D, N> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        let n = self.n;
        let stride = if self.kind == PerPoint::Yes { D * D * V::W } else { 0 };
        assert!(self.u.len() >= n * N * V::W && self.out.len() >= D * n * N * V::W);
        assert!(self.metric.len() >= n.saturating_sub(1) * stride + D * D * V::W);
        local!(law = self.law);
        let (u, metric, out) = (self.u.as_ptr(), self.metric.as_ptr(), self.out.as_mut_ptr());
        for q in 0..n {
            // SAFETY: point `q < n` of `u`, `metric` and `out`, whose lengths are asserted above.
            unsafe {
                let uq = load_row::<V, N>(u, q);
                for d in 0..D {
                    let mut g = [V::lit(0.0); D];
                    for x in 0..D {
                        g[x] = V::load(metric.add(q * stride + (d * D + x) * V::W));
                    }
                    let f = law.normal_flux(&uq, &g);
                    store_row::<V, N>(out, d * n + q, f);
                }
            }
        }
    }
}

struct Faces<'a, L, F, T, const D: usize, const N: usize> {
    law: &'a L,
    flux: &'a F,
    offsets: &'a [usize],
    um: &'a [T],
    rows: &'a [u32],
    up: Across<'a, T>,
    geometry: &'a [T],
    kind: PerPoint,
    out: &'a mut [T],
}

impl<L: Law<D, N>, F: NumericalFlux<L, D, N>, T: PackScalar, const D: usize, const N: usize> Kernel<T>
    for Faces<'_, L, F, T, D, N>
{
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        let n_faces = self.offsets.len() - 1;
        let n = self.offsets[n_faces];
        let g_rows = if self.kind == PerPoint::Yes { n } else { n_faces };
        assert!(self.rows.len() >= n && self.out.len() >= n * N * V::W);
        assert!(self.geometry.len() >= g_rows * (D + 1) * V::W);
        let last = self.rows[..n].iter().fold(0, |last, &r| last.max(r as usize + 1));
        assert!(self.um.len() >= last * N * V::W);
        if let Across::Rows(up) = self.up {
            assert!(up.len() >= n * N * V::W);
        }
        local!(law = self.law);
        let flux = *self.flux;
        let (um, geometry, out) = (self.um.as_ptr(), self.geometry.as_ptr(), self.out.as_mut_ptr());
        for f in 0..n_faces {
            let first = self.offsets[f];
            let count = self.offsets[f + 1] - first;
            let donors = match &self.up {
                Across::Rows(_) => &[],
                Across::Neighbours(across) => across.of_face(f, count),
            };
            for i in 0..count {
                let q = first + i;
                let g = if self.kind == PerPoint::Yes { q } else { f };
                // SAFETY: `q < n`, `g < g_rows` and `rows[q] < last`, lengths are asserted above; `of_face`
                // has asserted that tables and blocks are inside.
                unsafe {
                    // One code path for both kinds of neighbours, so that the flux is compiled once.
                    let plus = match &self.up {
                        Across::Rows(up) => load_row::<V, N>(up.as_ptr(), q),
                        Across::Neighbours(across) => across.state::<V, N>(donors, i, Span::all(N)),
                    };
                    let geometry = geometry.add(g * (D + 1) * V::W);
                    let mut normal = [V::lit(0.0); D];
                    for x in 0..D {
                        normal[x] = V::load(geometry.add(x * V::W));
                    }
                    let scale = V::load(geometry.add(D * V::W));
                    let minus = load_row::<V, N>(um, *self.rows.get_unchecked(q) as usize);
                    let fq = flux.eval_scaled(law, &minus, &plus, &normal, scale);
                    store_row::<V, N>(out, q, fq);
                }
            }
        }
    }
}

impl<T: PackScalar> NeighbourStates<'_, T> {
    /// The donors of face `f`, which has `count` points.
    #[inline(always)]
    pub(crate) fn of_face(&self, f: usize, count: usize) -> &[Donor] {
        let donors = &self.donors[self.first[f] as usize..self.first[f + 1] as usize];
        for s in donors {
            assert!(s.table as usize + count <= self.tables.len());
            assert!((s.block as usize + 1) * self.block_len <= self.values.len());
        }
        donors
    }

    /// The unknowns of `span` of the state across point `i` of a face.
    ///
    /// # Safety
    /// `donors` are of [`of_face`](Self::of_face) and `i` is a point of the face; table entries are rows of
    /// a block with the unknowns of `span`.
    #[inline(always)]
    pub(crate) unsafe fn state<V: Pack<T = T>, const N: usize>(
        &self,
        donors: &[Donor],
        i: usize,
        span: Span,
    ) -> [V; N] {
        let mut state = [V::lit(0.0); N];
        for s in donors {
            let pick = V::pick(&s.lanes, s.taken);
            // SAFETY: by the caller's contract; tables are built by `connect`.
            unsafe {
                let row = *self.tables.get_unchecked(s.table as usize + i) as usize;
                let p = self.values.as_ptr().add(s.block as usize * self.block_len + row);
                for k in 0..N {
                    state[k] = state[k].merge(p.add(span.at(0, k) * V::W), pick);
                }
            }
        }
        state
    }
}

struct WaveSpeed<'a, L, T, const D: usize, const N: usize> {
    law: &'a L,
    n: usize,
    u: &'a [T],
    speed: &'a mut [T],
    admissible: &'a mut [T],
}

impl<L: Law<D, N>, T: PackScalar, const D: usize, const N: usize> Kernel<T> for WaveSpeed<'_, L, T, D, N> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        assert!(self.u.len() >= self.n * N * V::W);
        assert!(self.speed.len() >= V::W && self.admissible.len() >= V::W);
        let mut fastest = V::lit(0.0);
        let mut worst = V::lit(f64::INFINITY);
        // A sum propagates NaN, which `max` may drop.
        let mut sum = V::lit(0.0);
        for q in 0..self.n {
            // SAFETY: point `q < n` of `u`, whose length is asserted above.
            let uq = unsafe { load_row::<V, N>(self.u.as_ptr(), q) };
            let s = self.law.max_speed(&uq);
            fastest = fastest.max(s);
            sum = sum + s;
            for k in 0..N {
                sum = sum + uq[k] * V::lit(0.0);
            }
            worst = worst.min(self.law.admissibility(&uq));
        }
        // `0 · sum` is 0 if all speeds were finite, and NaN otherwise.
        let speed = fastest + sum * V::lit(0.0);
        // SAFETY: both outputs hold `W` scalars, asserted above.
        unsafe {
            speed.store(self.speed.as_mut_ptr());
            worst.store(self.admissible.as_mut_ptr());
        }
    }
}

struct WaveRate<'a, L, T, const D: usize, const N: usize> {
    law: &'a L,
    n: usize,
    u: &'a [T],
    metric: &'a [T],
    kind: PerPoint,
    inverse: &'a [T],
    directions: &'a Directions,
    rate: &'a mut [T],
}

impl<L: Law<D, N>, T: PackScalar, const D: usize, const N: usize> Kernel<T> for WaveRate<'_, L, T, D, N> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        let (n, per_point) = (self.n, self.kind == PerPoint::Yes);
        let stride = if per_point { D * D * V::W } else { 0 };
        assert!(self.u.len() >= n * N * V::W && self.rate.len() >= V::W);
        assert!(self.metric.len() >= n.saturating_sub(1) * stride + D * D * V::W);
        assert!(!per_point || self.inverse.len() >= n * V::W);
        let mut largest = V::lit(0.0);
        for q in 0..n {
            let mut g = [[V::lit(0.0); D]; D];
            // SAFETY: point `q < n` of `u`, `metric` and `inverse`, whose lengths are asserted above.
            let uq = unsafe {
                let scale =
                    if per_point { V::load(self.inverse.as_ptr().add(q * V::W)) } else { V::lit(1.0) };
                for (d, row) in g.iter_mut().enumerate() {
                    for (x, g) in row.iter_mut().enumerate() {
                        *g = scale * V::load(self.metric.as_ptr().add(q * stride + (d * D + x) * V::W));
                    }
                }
                load_row::<V, N>(self.u.as_ptr(), q)
            };
            largest = largest.max(rate::<L, V, D, N>(self.law, &uq, g.as_flattened(), self.directions));
        }
        // SAFETY: the output holds `W` scalars, asserted above.
        unsafe { largest.store(self.rate.as_mut_ptr()) };
    }
}

fn device_source<L: Law<D, N>, F: NumericalFlux<L, D, N>, const D: usize, const N: usize>(
    law: &L,
    flux: &F,
    parameters: &mut Parameters,
) -> Result<String, TraceError> {
    let volume = device_fn("volume_flux", &[("u", N), ("g", D * D)], parameters, |a| {
        let (u, g) = (a.array::<N>("u"), a.list("g"));
        g.chunks_exact(D)
            .flat_map(|row| law.normal_flux(&u, &std::array::from_fn(|x| row[x])))
            .collect::<Vec<_>>()
    })?;
    let numerical = device_fn("numerical_flux", &[("um", N), ("up", N), ("n", D)], parameters, |a| {
        flux.eval(law, &a.array("um"), &a.array("up"), &a.array("n"))
    })?;
    let wave = device_fn("wave", &[("u", N)], parameters, |a| {
        let u = a.array("u");
        [law.max_speed(&u), law.admissibility(&u)]
    })?;
    Ok(volume + &numerical + &wave)
}

fn n_changing<L: Law<D, N>, F: NumericalFlux<L, D, N>, const D: usize, const N: usize>(
    law: &L,
    flux: &F,
) -> usize {
    let (graph, fluxes) = record(|| {
        let list = |name: &str, n: usize| (0..n).map(|i| input(&format!("{name}{i}"))).collect::<Vec<_>>();
        let (um, up, n) = (list("um", N), list("up", N), list("n", D));
        let array = |v: &[Sym]| std::array::from_fn(|k| v[k]);
        let n = std::array::from_fn(|x| n[x]);
        [law.normal_flux(&array(&um), &n), flux.eval(law, &array(&um), &array(&up), &n)]
    });
    let changes = |k: &usize| fluxes.iter().any(|f| graph.literal_value(f[*k].id()) != Some(0.0));
    (0..N).rev().find(changes).map_or(0, |k| k + 1)
}

macro_rules! point_kernels {
    ($t:ty) => {
        impl<L, F, const D: usize, const N: usize> PointKernels<$t> for Pointwise<L, F, D, N>
        where
            L: Law<D, N>,
            F: NumericalFlux<L, D, N>,
        {
            fn dim(&self) -> usize {
                D
            }

            fn n_fields(&self) -> usize {
                N
            }

            fn variables(&self) -> Vec<&'static str> {
                self.law.variables().to_vec()
            }

            fn primitives(&self) -> Vec<&'static str> {
                self.law.primitives().to_vec()
            }

            fn volume(
                &self,
                level: SimdLevel,
                n: usize,
                u: &[$t],
                metric: &[$t],
                kind: PerPoint,
                out: &mut [$t],
            ) {
                <$t>::dispatch(
                    checked(level),
                    Volume::<L, $t, D, N> { law: &self.law, n, u, metric, kind, out },
                );
            }

            fn faces(
                &self,
                level: SimdLevel,
                offsets: &[usize],
                um: &[$t],
                rows: &[u32],
                up: Across<'_, $t>,
                geometry: &[$t],
                kind: PerPoint,
                out: &mut [$t],
            ) {
                let kernel =
                    Faces { law: &self.law, flux: &self.flux, offsets, um, rows, up, geometry, kind, out };
                <$t>::dispatch(checked(level), kernel);
            }

            fn numerical_flux(&self, um: &[$t], up: &[$t], normal: &[$t], out: &mut [$t]) {
                let points = um.chunks_exact(N).zip(up.chunks_exact(N)).zip(normal.chunks_exact(D));
                for (((um, up), n), out) in points.zip(out.chunks_exact_mut(N)) {
                    let um: [$t; N] = std::array::from_fn(|k| um[k]);
                    let up: [$t; N] = std::array::from_fn(|k| up[k]);
                    let n: [$t; D] = std::array::from_fn(|d| n[d]);
                    out.copy_from_slice(&self.flux.eval(&self.law, &um, &up, &n));
                }
            }

            fn wave_speed(
                &self,
                level: SimdLevel,
                n: usize,
                u: &[$t],
                speed: &mut [$t],
                admissible: &mut [$t],
            ) {
                <$t>::dispatch(
                    checked(level),
                    WaveSpeed::<L, $t, D, N> { law: &self.law, n, u, speed, admissible },
                );
            }

            fn is_directed(&self) -> bool {
                L::DIRECTED
            }

            fn wave_rate(
                &self,
                level: SimdLevel,
                n: usize,
                u: &[$t],
                (metric, kind): (&[$t], PerPoint),
                inverse: &[$t],
                directions: &Directions,
                rate: &mut [$t],
            ) {
                if L::DIRECTED {
                    <$t>::dispatch(
                        checked(level),
                        WaveRate::<L, $t, D, N> {
                            law: &self.law,
                            n,
                            u,
                            metric,
                            kind,
                            inverse,
                            directions,
                            rate,
                        },
                    );
                }
            }

            fn rate_source(
                &self,
                directions: &Directions,
                parameters: &mut Parameters,
            ) -> Result<String, TraceError> {
                device_fn("wave_rate", &[("u", N), ("g", D * D)], parameters, |a| {
                    [rate::<L, _, D, N>(&self.law, &a.array("u"), &a.list("g"), directions)]
                })
            }

            fn n_changing(&self) -> usize {
                n_changing::<L, F, D, N>(&self.law, &self.flux)
            }

            fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError> {
                device_source::<L, F, D, N>(&self.law, &self.flux, parameters)
            }

            fn primitive_source(&self, parameters: &mut Parameters) -> Result<String, TraceError> {
                device_fn("primitive", &[("u", N)], parameters, |a| self.law.to_primitive(&a.array("u")))
            }

            fn slopes_source(&self, parameters: &mut Parameters) -> Result<String, TraceError> {
                device_fn("slopes", &[("u", N), ("g", D * N)], parameters, |a| {
                    primitive_gradient::<L, _, D, N>(&self.law, &a.list("u"), &a.list("g"))
                })
            }

            fn to_primitive(&self, u: &[f64], w: &mut [f64]) {
                let mut state = [0.0; N];
                state.copy_from_slice(&u[..N]);
                w[..N].copy_from_slice(&self.law.to_primitive(&state));
            }

            fn primitive_gradient(&self, u: &[f64], grad: &[f64], out: &mut [f64]) {
                out[..D * N].copy_from_slice(&primitive_gradient::<L, _, D, N>(&self.law, u, grad));
            }
        }
    };
}
point_kernels!(f64);
point_kernels!(f32);

/// The derivatives of the primitive variables along each axis, `[axis][variable]`.
fn primitive_gradient<L: Law<D, N>, R: Real, const D: usize, const N: usize>(
    law: &L,
    u: &[R],
    grad: &[R],
) -> Vec<R> {
    let along = |d: usize| {
        let state: [Dual<R>; N] = std::array::from_fn(|k| Dual::new(u[k], grad[d * N + k]));
        law.to_primitive(&state).map(|w| w.derivative)
    };
    (0..D).flat_map(along).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_physics::{Convection, Penalty, PenaltyFlux, Rusanov, Transport, TransportFlux};

    /// The velocities that carry, and the coefficients of penalties, have no flux.
    #[test]
    fn unknowns_without_fluxes_are_found_in_the_formulas() {
        let (law, flux) = (Convection { factor: 1.0 }, Rusanov);
        assert_eq!(PointKernels::<f64>::n_changing(&Pointwise::<_, _, 3, 3> { law, flux }), 3);
        let (law, flux) = (Transport { factor: 1.0 }, TransportFlux);
        assert_eq!(PointKernels::<f64>::n_changing(&Pointwise::<_, _, 3, 6> { law, flux }), 3);
        let (law, flux) = (Penalty, PenaltyFlux);
        assert_eq!(PointKernels::<f64>::n_changing(&Pointwise::<_, _, 2, 4> { law, flux }), 2);
    }
}
