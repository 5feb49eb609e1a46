//! Split forms of the volume term: two-point fluxes along the lines of nodes, for one block of elements.
//!
//! At Gauss–Lobatto nodes the strong form with its surface term is, for each direction and line of nodes,
//!
//! ```text
//! −Σ_j 2 D_ij f#(u_i, u_j, {{J∇r}}) + L (F̂·N̂) = −Σ_{j≠i} 2 D_ij f#(u_i, u_j, {{J∇r}}) ,
//! ```
//!
//! because `D` is skew-symmetric except for its first and last diagonal entry (summation by parts), and the
//! lifted flux cancels these two. So one flux serves both nodes of a pair, and the remaining part of the
//! residual is the lift of the numerical fluxes (Gassner, Winters & Kopriva, J. Comput. Phys. 327 (2016)
//! 39–66).

use crate::formulas::pointwise::{load_row, local, store_row};
use crate::lanes::simd::{Kernel, Pack, PackScalar, checked};
use crate::space::layout::PerPoint;
use dgsuite_gpu::SimdLevel;
use dgsuite_physics::trace::{Parameters, TraceError, device_fn};
use dgsuite_physics::{Law, TwoPointFlux};

/// Geometry of the nodes of a block, and the derivative along a line.
#[derive(Clone, Copy, Debug)]
pub struct NodeLines<'a, T> {
    /// Number of nodes of a line; nodes along the first direction are consecutive.
    pub n: usize,
    /// `D_ij`, `[i][j]`; the diagonal is not read.
    pub derivative: &'a [f64],
    /// `∇r_d` (affine) or `J∇r_d` at each node, `[d][x][lane]`.
    pub metric: &'a [T],
    /// Whether `metric` holds one value or one for each node.
    pub kind: PerPoint,
}

/// Two-point fluxes of one law, for blocks of lanes.
pub trait TwoPointKernels<T>: Send + Sync {
    /// Spatial dimension.
    fn dim(&self) -> usize;
    /// Number of unknowns.
    fn n_fields(&self) -> usize;

    /// Adds the volume term with its part of the surface term,
    /// `out_i ← out_i − Σ_d Σ_{j≠i} 2 D_ij f#(u_i, u_j, ½ (G_i + G_j)_d)`, with `j` on the line of `i` in
    /// direction `d`.
    ///
    /// `u` and `out`: `[node][field][lane]`.
    fn volume(&self, level: SimdLevel, lines: NodeLines<'_, T>, u: &[T], out: &mut [T]);

    /// Returns the text of the CUDA function `two_point_flux(ul, ur, n, out)` and adds the parameters that it
    /// uses to `parameters`.
    ///
    /// # Errors
    /// [`TraceError`] if a parameter has two values.
    fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError>;
}

/// The [`TwoPointKernels`] of law `L` and two-point flux `S`.
#[derive(Clone, Debug)]
pub struct TwoPoint<L, S, const D: usize, const N: usize> {
    /// The conservation law.
    pub law: L,
    /// The two-point flux.
    pub flux: S,
}

struct Volume<'a, L, S, T, const D: usize, const N: usize> {
    law: &'a L,
    flux: &'a S,
    lines: NodeLines<'a, T>,
    u: &'a [T],
    out: &'a mut [T],
}

impl<L: Law<D, N>, S: TwoPointFlux<L, D, N>, T: PackScalar, const D: usize, const N: usize> Kernel<T>
    for Volume<'_, L, S, T, D, N>
{
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        let NodeLines { n, derivative, metric, kind } = self.lines;
        let nodes = n.pow(D as u32);
        let stride = if kind == PerPoint::Yes { D * D * V::W } else { 0 };
        assert!(self.u.len() >= nodes * N * V::W && self.out.len() >= nodes * N * V::W);
        assert!(metric.len() >= nodes.saturating_sub(1) * stride + D * D * V::W);
        assert!(derivative.len() >= n * n);
        local!(law = self.law);
        let (u, metric, out) = (self.u.as_ptr(), metric.as_ptr(), self.out.as_mut_ptr());
        let mut step = 1;
        for d in 0..D {
            for line in 0..nodes / n {
                let first = line / step * step * n + line % step;
                for a in 0..n {
                    let i = first + a * step;
                    // SAFETY: nodes `i` and `j` are below `nodes`, whose rows are asserted above.
                    unsafe {
                        let ui = load_row::<V, N>(u, i);
                        let gi = load_direction::<V, D>(metric.add(i * stride), d);
                        let mut ri = load_row::<V, N>(out, i);
                        for b in a + 1..n {
                            let j = first + b * step;
                            let uj = load_row::<V, N>(u, j);
                            let gj = load_direction::<V, D>(metric.add(j * stride), d);
                            // Twice the mean, as fluxes are linear in the normal.
                            let mut g = gi;
                            for x in 0..D {
                                g[x] = gi[x] + gj[x];
                            }
                            let f = self.flux.eval(law, &ui, &uj, &g);
                            let (ij, ji) = (V::lit(-derivative[a * n + b]), V::lit(-derivative[b * n + a]));
                            let mut rj = load_row::<V, N>(out, j);
                            for k in 0..N {
                                ri[k] = f[k].mul_add(ij, ri[k]);
                                rj[k] = f[k].mul_add(ji, rj[k]);
                            }
                            store_row::<V, N>(out, j, rj);
                        }
                        store_row::<V, N>(out, i, ri);
                    }
                }
            }
            step *= n;
        }
    }
}

/// Loads row `d` of a metric.
///
/// # Safety
/// `p` covers `D² W` scalars.
#[inline(always)]
unsafe fn load_direction<V: Pack, const D: usize>(p: *const V::T, d: usize) -> [V; D] {
    let mut g = [V::lit(0.0); D];
    for x in 0..D {
        // SAFETY: by the caller's contract.
        g[x] = unsafe { V::load(p.add((d * D + x) * V::W)) };
    }
    g
}

impl<T, L, S, const D: usize, const N: usize> TwoPointKernels<T> for TwoPoint<L, S, D, N>
where
    T: PackScalar,
    L: Law<D, N>,
    S: TwoPointFlux<L, D, N>,
{
    fn dim(&self) -> usize {
        D
    }

    fn n_fields(&self) -> usize {
        N
    }

    fn volume(&self, level: SimdLevel, lines: NodeLines<'_, T>, u: &[T], out: &mut [T]) {
        let kernel = Volume::<L, S, T, D, N> { law: &self.law, flux: &self.flux, lines, u, out };
        T::dispatch(checked(level), kernel);
    }

    fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError> {
        device_fn("two_point_flux", &[("ul", N), ("ur", N), ("n", D)], parameters, |a| {
            self.flux.eval(&self.law, &a.array("ul"), &a.array("ur"), &a.array("n"))
        })
    }
}
