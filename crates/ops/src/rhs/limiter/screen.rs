//! The search for elements that a limiter may change, for one block of lanes at a time.

use super::element::floors;
use super::{BoundKernels, BoundsOf, Limiter, Tables};
use crate::error::OpsError;
use crate::formulas::pointwise::load_row;
use crate::lanes::panel::{Panels, Rows};
use crate::lanes::simd::{Kernel, Pack, PackScalar, checked};
use crate::rhs::residual::multiply;
use crate::space::chain::Chain;
use crate::space::group::{Group, Part};
use dgsuite_gpu::{Buffer, Element, SimdLevel};
use dgsuite_physics::Bounded;

/// Largest number of lanes, devices included.
const LANES: usize = 32;

/// Work space for one block.
pub(crate) struct Screen<T: Element> {
    /// States at volume points, and at face points.
    points: Buffer<T>,
    faces: Buffer<T>,
    /// `ρ p` at the volume points, and its modes.
    product: Buffer<T>,
    modes: Buffer<T>,
    /// The mean state.
    mean: Buffer<T>,
    between: [Buffer<T>; 2],
}

impl<T: PackScalar> Screen<T> {
    pub(crate) fn new(groups: &[Group<T>]) -> Result<Self, OpsError> {
        let mut len = [0; 6];
        for group in groups {
            let (lanes, fields) = (group.state.lanes, group.state.fields);
            for part in &group.parts {
                let o = &part.operators;
                let widest = o.interp.widest().max(o.interp_face.widest());
                let of_part = [
                    part.n_points * fields,
                    group.trace.rows * fields,
                    part.n_points,
                    group.state.rows,
                    fields,
                    widest * fields,
                ];
                for (len, n) in len.iter_mut().zip(of_part) {
                    *len = usize::max(*len, n * lanes);
                }
            }
        }
        let zeros = |i: usize| Buffer::<T>::zeros(len[i]);
        Ok(Self {
            points: zeros(0)?,
            faces: zeros(1)?,
            product: zeros(2)?,
            modes: zeros(3)?,
            mean: zeros(4)?,
            between: [zeros(5)?, zeros(5)?],
        })
    }

    /// Whether each lane of a block needs the limiter. `u` is the state of the block, number `block` of the
    /// group.
    pub(crate) fn troubled(
        &mut self,
        limiter: &Limiter<T>,
        (group, part, tables, blocks): (&Group<T>, &Part<T>, &Tables, &BlockTables<T>),
        level: SimdLevel,
        block: usize,
        u: &[T],
    ) -> [bool; LANES] {
        let (lanes, fields) = (group.state.lanes, group.state.fields);
        let mut troubled = [tables.np > 1; LANES];
        let filter = limiter.limiting.filter();
        // Devices have other layouts.
        let other = group.state.planar || lanes != T::lanes(level) || blocks.sensor.stages.is_empty();
        if tables.np == 1 || other || filter.is_some_and(|filter| !filter.gate) {
            return troubled;
        }
        let zero = T::from_f64(0.0);
        let (mut rho, mut p) = ([zero; LANES], [zero; LANES]);
        let (mut rho_of_mean, mut p_of_mean) = ([zero; LANES], [zero; LANES]);
        let law = limiter.law.as_ref();
        mean(blocks.weights_of(block - part.first_block, lanes), fields * lanes, lanes, u, &mut self.mean);
        law.least(level, 1, &self.mean, [&mut rho_of_mean, &mut p_of_mean], &mut []);
        let at_points: &[T] = if part.collocated {
            u
        } else {
            multiply(level, fields, &part.operators.interp, u, &mut self.between, &mut self.points);
            &self.points
        };
        let product = &mut self.product[..if filter.is_some() { part.n_points * lanes } else { 0 }];
        law.least(level, part.n_points, at_points, [&mut rho, &mut p], product);
        if !(part.collocated && group.face_nodes.is_some()) {
            let (n, at_faces): (usize, &[T]) = if group.face_nodes.is_some() {
                (group.state.rows, u)
            } else {
                let faces = &mut self.faces;
                multiply(level, fields, &part.operators.interp_face, u, &mut self.between, faces);
                (group.trace.rows, faces)
            };
            let (mut low_rho, mut low_p) = ([zero; LANES], [zero; LANES]);
            law.least(level, n, at_faces, [&mut low_rho, &mut low_p], &mut []);
            for l in 0..lanes {
                // Comparisons with NaN are false: such a lane is troubled below.
                rho[l] = if low_rho[l] >= rho[l] { rho[l] } else { low_rho[l] };
                p[l] = if low_p[l] >= p[l] { p[l] } else { low_p[l] };
            }
        }
        let energy = &self.mean[(fields - 1) * lanes..];
        for l in 0..lanes {
            let mean = [rho_of_mean[l].to_f64(), p_of_mean[l].to_f64()];
            let mut floor = floors(mean, energy[l].to_f64(), T::EPSILON.to_f64());
            if filter.is_some() {
                floor = [floor[0].max(0.5 * mean[0]), floor[1].max(0.5 * mean[1])];
            }
            troubled[l] = !(rho[l].to_f64() >= floor[0] && p[l].to_f64() >= floor[1]);
        }
        if filter.is_some() {
            multiply(level, 1, &blocks.sensor, product, &mut self.between, &mut self.modes);
            let (mut all, mut top) = ([0.0; LANES], [0.0; LANES]);
            for (row, &degree) in self.modes.chunks_exact(lanes).zip(&tables.degrees) {
                for (l, m) in row.iter().enumerate() {
                    let square = m.to_f64() * m.to_f64();
                    all[l] += square;
                    top[l] += if degree == tables.order { square } else { 0.0 };
                }
            }
            let threshold = tables.threshold();
            for l in 0..lanes {
                troubled[l] |= top[l] > threshold * all[l] || (top[l] + all[l]).is_nan();
            }
        }
        troubled
    }
}

/// The mean states of a block: `Σ_i w_i u_i`, with weights `[i]` or `[i][lane]`.
fn mean<T: PackScalar>(weights: &[T], width: usize, lanes: usize, u: &[T], out: &mut [T]) {
    let out = &mut out[..width];
    out.fill(T::from_f64(0.0));
    let rows = u.len() / width;
    let each = weights.len() / rows;
    for (row, w) in u.chunks_exact(width).zip(weights.chunks_exact(each)) {
        if w.iter().all(|w| w.to_f64() == 0.0) {
            continue;
        }
        for (out, row) in out.chunks_exact_mut(lanes).zip(row.chunks_exact(lanes)) {
            for (l, (o, v)) in out.iter_mut().zip(row).enumerate() {
                *o += *v * w[if each == 1 { 0 } else { l }];
            }
        }
    }
}

/// Tables of one part for blocks of lanes.
pub(crate) struct BlockTables<T> {
    np: usize,
    /// The weights of the coefficients in the mean, `[coefficient]`, or `[block][coefficient][lane]` if
    /// elements are curved.
    weights: Vec<T>,
    /// Modes of a function at the volume points; empty if the layout is not the one of this machine.
    sensor: Chain<T>,
}

impl<T: PackScalar> BlockTables<T> {
    pub(crate) fn new(group: &Group<T>, tables: &Tables, level: SimdLevel) -> Self {
        let (np, lanes) = (tables.np, group.state.lanes);
        let slots = tables.means.len() / np;
        let mut weights = vec![T::from_f64(0.0); tables.means.len()];
        for (slot, nu) in tables.means.chunks_exact(np).enumerate() {
            for i in 0..np {
                let w = match &tables.modes {
                    None => nu[i],
                    Some((to_modes, _)) => (0..np).map(|m| nu[m] * to_modes[(m, i)]).sum(),
                };
                let at = if slots == 1 { i } else { ((slot / lanes) * np + i) * lanes + slot % lanes };
                weights[at] = T::from_f64(w);
            }
        }
        let mut stages = Vec::new();
        if lanes == T::lanes(level) && !group.state.planar {
            let (matrix, rows) = (&tables.sensor, T::panel_rows(level, 1));
            stages.push(Panels::new(&Rows::dense(matrix), matrix.rows(), rows, lanes));
        }
        Self { np, weights, sensor: Chain { stages } }
    }

    /// The weights of a block, counted from the part's first one.
    fn weights_of(&self, block: usize, lanes: usize) -> &[T] {
        let len = self.np * lanes;
        if self.weights.len() == self.np {
            &self.weights
        } else {
            &self.weights[block * len..(block + 1) * len]
        }
    }
}

struct Least<'a, L, T, const D: usize, const N: usize> {
    law: &'a L,
    n: usize,
    u: &'a [T],
    least: [&'a mut [T]; 2],
    product: &'a mut [T],
}

impl<L: Bounded<D, N>, T: PackScalar, const D: usize, const N: usize> Kernel<T> for Least<'_, L, T, D, N> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        let [rho_least, p_least] = self.least;
        assert!(self.u.len() >= self.n * N * V::W);
        assert!(rho_least.len() >= V::W && p_least.len() >= V::W);
        let products = self.product.len() / V::W;
        let (mut low_rho, mut low_p) = (V::lit(f64::INFINITY), V::lit(f64::INFINITY));
        // A sum propagates NaN, which `min` may drop.
        let mut sum = V::lit(0.0);
        for q in 0..self.n {
            // SAFETY: point `q < n` of `u`, whose length is asserted above.
            let u = unsafe { load_row::<V, N>(self.u.as_ptr(), q) };
            let [rho, p] = self.law.density_and_pressure(&u);
            (low_rho, low_p) = (low_rho.min(rho), low_p.min(p));
            sum = sum + rho + p;
            if q < products {
                // SAFETY: row `q` of `product`, which has this many rows.
                unsafe { (rho * p).store(self.product.as_mut_ptr().add(q * V::W)) };
            }
        }
        // `0 · sum` is 0 if all values were finite, and NaN otherwise.
        let nothing = sum * V::lit(0.0);
        // SAFETY: both outputs hold `W` scalars, asserted above.
        unsafe {
            (low_rho + nothing).store(rho_least.as_mut_ptr());
            (low_p + nothing).store(p_least.as_mut_ptr());
        }
    }
}

macro_rules! bound_kernels {
    ($t:ty) => {
        impl<L: Bounded<D, N>, const D: usize, const N: usize> BoundKernels<$t> for BoundsOf<L, D, N> {
            fn least(&self, level: SimdLevel, n: usize, u: &[$t], least: [&mut [$t]; 2], product: &mut [$t]) {
                <$t>::dispatch(checked(level), Least::<L, $t, D, N> { law: &self.law, n, u, least, product });
            }
        }
    };
}
bound_kernels!(f64);
bound_kernels!(f32);
