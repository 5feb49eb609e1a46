//! Diffusive fluxes `F_v(u, ∇u)` at volume and face points, for one block of lanes at a time.
//!
//! Gradients are given in reference coordinates, `g_d = ∂u/∂r_d` plus the contributions lifted from the
//! faces, so that `∇u = Σ_d ∇r_d g_d`. For an affine element `∇r_d` is stored once. For a curved element
//! `J∇r_d` and `1/J` are stored at every volume point, and `∇r_d` at every face point.

use crate::formulas::pointwise::{load_row, local, store_row};
use crate::lanes::simd::{Kernel, Pack, PackScalar, checked};
use crate::space::layout::PerPoint;
use dgsuite_gpu::SimdLevel;
use dgsuite_physics::trace::{Parameters, TraceError, device_fn};
use dgsuite_physics::{Diffusion, Real};

/// Geometry at the volume points of a block.
#[derive(Clone, Copy, Debug)]
pub struct VolumeMetric<'a, T> {
    /// `∇r_d` (affine) or `J∇r_d` at each point, `[d][x][lane]`.
    pub metric: &'a [T],
    /// `1/J` at each point, `[point][lane]`; empty for affine elements.
    pub inverse_jacobian: &'a [T],
    /// Whether `metric` holds one value or one for each point.
    pub kind: PerPoint,
    /// The coefficient of each element, `[lane]`; empty if the flux has none.
    pub coefficients: &'a [T],
}

/// Geometry at the face points of a block.
#[derive(Clone, Copy, Debug)]
pub struct FaceMetric<'a, T> {
    /// Unit normal and scale by face (affine) or face point, `[D + 1][lane]`.
    pub normal: &'a [T],
    /// `∇r_d`, `[d][x][lane]`: once (affine) or for each face point.
    pub metric: &'a [T],
    /// Whether `normal` and `metric` hold one value or one for each point.
    pub kind: PerPoint,
    /// The coefficient of each element, `[lane]`; empty if the flux has none.
    pub coefficients: &'a [T],
}

/// Pointwise diffusive fluxes of one law, for blocks of lanes.
pub trait DiffusionKernels<T>: Send + Sync {
    /// Spatial dimension.
    fn dim(&self) -> usize;
    /// Number of unknowns.
    fn n_fields(&self) -> usize;

    /// Returns the coefficient of an element from its filter width, or `None` if the flux has none.
    fn coefficient(&self, width: f64) -> Option<f64>;

    /// Subtracts the contravariant diffusive fluxes at `n` points: `out_d ← out_d − Σ_x G_dx F_v,x(u, ∇u)`.
    ///
    /// `u`: `[n][field][lane]`; `gradient` and `out`: `[d][n][field][lane]`.
    fn volume(
        &self,
        level: SimdLevel,
        n: usize,
        u: &[T],
        gradient: &[T],
        geometry: VolumeMetric<'_, T>,
        out: &mut [T],
    );

    /// Computes the one-sided normal fluxes `F_v(u⁻, ∇u)·n` at the face points of a block, with the outward
    /// unit normal `n`.
    ///
    /// The points of face `f` are `offsets[f]..offsets[f + 1]`. `um`: states of the element, point `q` at row
    /// `rows[q]`; `gradient`: `[d][point][field][lane]`; `out`: `[point][field][lane]`.
    fn faces(
        &self,
        level: SimdLevel,
        offsets: &[usize],
        um: &[T],
        rows: &[u32],
        gradient: &[T],
        geometry: FaceMetric<'_, T>,
        out: &mut [T],
    );

    /// Computes, per lane, the largest diffusivity over `n` points.
    fn diffusivity(&self, level: SimdLevel, n: usize, u: &[T], out: &mut [T]);

    /// As [`diffusivity`](Self::diffusivity), for fluxes with a coefficient: of states and gradients,
    /// `[d][n][field][lane]`.
    fn diffusivity_with(
        &self,
        level: SimdLevel,
        n: usize,
        u: &[T],
        gradient: &[T],
        geometry: VolumeMetric<'_, T>,
        out: &mut [T],
    );

    /// Computes `F_v(u, ∇u)·n` for one state; `gradient` is physical, `[x][field]`.
    fn normal_flux(&self, u: &[f64], gradient: &[f64], n: &[f64], out: &mut [f64]);

    /// Returns the formulas as text of CUDA functions and adds the parameters that they use to `parameters`.
    ///
    /// `diffusive_flux(u, grad, out)` computes `F_v,x`, `[x][field]` as `grad` is;
    /// `normal_diffusive_flux(u, grad, n, out)`; `diffusivity(u, out)`. Of a flux with a coefficient of each
    /// element, the parameter `mixing` is that coefficient, and `diffusivity(u, grad, out)`.
    ///
    /// # Errors
    /// [`TraceError`] if a parameter has two values.
    fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError>;
}

/// The [`DiffusionKernels`] of the diffusive flux `L`.
#[derive(Clone, Debug)]
pub struct Diffusive<L, const D: usize, const N: usize> {
    /// The diffusive flux.
    pub diffusion: L,
}

/// `Σ_d G_dx g_d` for each of the `D` directions `x`.
#[inline(always)]
fn physical<R: Real, const D: usize, const N: usize>(g: &[[R; D]; D], gradient: &[[R; N]; D]) -> [[R; N]; D] {
    let mut out = [[R::lit(0.0); N]; D];
    for x in 0..D {
        for k in 0..N {
            let mut sum = g[0][x] * gradient[0][k];
            for d in 1..D {
                sum = g[d][x].mul_add(gradient[d][k], sum);
            }
            out[x][k] = sum;
        }
    }
    out
}

/// Loads a `D × D` metric.
///
/// # Safety
/// `p` covers `D² W` scalars.
#[inline(always)]
unsafe fn load_metric<V: Pack, const D: usize>(p: *const V::T) -> [[V; D]; D] {
    let mut g = [[V::lit(0.0); D]; D];
    for d in 0..D {
        for x in 0..D {
            // SAFETY: by the caller's contract.
            g[d][x] = unsafe { V::load(p.add((d * D + x) * V::W)) };
        }
    }
    g
}

/// The coefficients of a block; zeros, which are not read, if there are none.
#[inline(always)]
fn load_coefficients<V: Pack>(from: &[V::T]) -> V {
    if from.is_empty() {
        return V::lit(0.0);
    }
    assert!(from.len() >= V::W);
    // SAFETY: `W` scalars, as just asserted.
    unsafe { V::load(from.as_ptr()) }
}

/// The physical gradient at point `q` of `n` in the volume, and the metric there.
///
/// # Safety
/// `gradient` covers `[d][n][field]` and the geometry its points, of which `q` is one.
#[inline(always)]
unsafe fn volume_gradient<V: Pack, const D: usize, const N: usize>(
    geometry: &VolumeMetric<'_, V::T>,
    gradient: *const V::T,
    n: usize,
    q: usize,
) -> ([[V; N]; D], [[V; D]; D]) {
    let per_point = geometry.kind == PerPoint::Yes;
    let stride = if per_point { D * D * V::W } else { 0 };
    // SAFETY: by the caller's contract.
    unsafe {
        let g = load_metric::<V, D>(geometry.metric.as_ptr().add(q * stride));
        let mut reference = [[V::lit(0.0); N]; D];
        for d in 0..D {
            reference[d] = load_row::<V, N>(gradient, d * n + q);
        }
        let mut grad = physical(&g, &reference);
        if per_point {
            let s = V::load(geometry.inverse_jacobian.as_ptr().add(q * V::W));
            for x in 0..D {
                for k in 0..N {
                    grad[x][k] = grad[x][k] * s;
                }
            }
        }
        (grad, g)
    }
}

/// Asserts that the arrays at `n` points in the volume have the lengths that the kernels read.
#[inline(always)]
fn check_volume<T: Copy, const D: usize, const N: usize>(
    n: usize,
    width: usize,
    u: &[T],
    gradient: &[T],
    geometry: &VolumeMetric<'_, T>,
) {
    let per_point = geometry.kind == PerPoint::Yes;
    let stride = if per_point { D * D * width } else { 0 };
    assert!(u.len() >= n * N * width && gradient.len() >= D * n * N * width);
    assert!(geometry.metric.len() >= n.saturating_sub(1) * stride + D * D * width);
    assert!(!per_point || geometry.inverse_jacobian.len() >= n * width);
}

struct Volume<'a, L, T, const D: usize, const N: usize> {
    law: &'a L,
    n: usize,
    u: &'a [T],
    gradient: &'a [T],
    geometry: VolumeMetric<'a, T>,
    out: &'a mut [T],
}

impl<L: Diffusion<D, N>, T: PackScalar, const D: usize, const N: usize> Kernel<T> for Volume<'_, L, T, D, N> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        let n = self.n;
        check_volume::<_, D, N>(n, V::W, self.u, self.gradient, &self.geometry);
        assert!(self.out.len() >= D * n * N * V::W);
        let c: V = load_coefficients(self.geometry.coefficients);
        local!(law = self.law);
        let (u, gradient, out) = (self.u.as_ptr(), self.gradient.as_ptr(), self.out.as_mut_ptr());
        for q in 0..n {
            // SAFETY: point `q < n` of every array, whose lengths are asserted above.
            unsafe {
                let uq = load_row::<V, N>(u, q);
                let (grad, g) = volume_gradient::<V, D, N>(&self.geometry, gradient, n, q);
                let f = law.diffusive_flux_with(&uq, &grad, c);
                for d in 0..D {
                    let mut row = load_row::<V, N>(out, d * n + q);
                    for k in 0..N {
                        for x in 0..D {
                            row[k] = row[k] - g[d][x] * f[x][k];
                        }
                    }
                    store_row::<V, N>(out, d * n + q, row);
                }
            }
        }
    }
}

struct Faces<'a, L, T, const D: usize, const N: usize> {
    law: &'a L,
    offsets: &'a [usize],
    um: &'a [T],
    rows: &'a [u32],
    gradient: &'a [T],
    geometry: FaceMetric<'a, T>,
    out: &'a mut [T],
}

impl<L: Diffusion<D, N>, T: PackScalar, const D: usize, const N: usize> Kernel<T> for Faces<'_, L, T, D, N> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        let n_faces = self.offsets.len() - 1;
        let n = self.offsets[n_faces];
        let per_point = self.geometry.kind == PerPoint::Yes;
        let g_rows = if per_point { n } else { n_faces };
        let stride = if per_point { D * D * V::W } else { 0 };
        let (normals, metric) = (self.geometry.normal, self.geometry.metric);
        assert!(self.rows.len() >= n && self.out.len() >= n * N * V::W);
        assert!(self.gradient.len() >= D * n * N * V::W);
        assert!(normals.len() >= g_rows * (D + 1) * V::W);
        assert!(metric.len() >= n.saturating_sub(1) * stride + D * D * V::W);
        let last = self.rows[..n].iter().fold(0, |last, &r| last.max(r as usize + 1));
        assert!(self.um.len() >= last * N * V::W);
        let c: V = load_coefficients(self.geometry.coefficients);
        local!(law = self.law);
        let (um, gradient, out) = (self.um.as_ptr(), self.gradient.as_ptr(), self.out.as_mut_ptr());
        for f in 0..n_faces {
            for q in self.offsets[f]..self.offsets[f + 1] {
                let i = if per_point { q } else { f };
                // SAFETY: `q < n`, `i < g_rows`, `rows[q] < last`; lengths are asserted above.
                unsafe {
                    let minus = load_row::<V, N>(um, *self.rows.get_unchecked(q) as usize);
                    let g = load_metric::<V, D>(metric.as_ptr().add(q * stride));
                    let mut reference = [[V::lit(0.0); N]; D];
                    for d in 0..D {
                        reference[d] = load_row::<V, N>(gradient, d * n + q);
                    }
                    let mut normal = [V::lit(0.0); D];
                    for x in 0..D {
                        normal[x] = V::load(normals.as_ptr().add((i * (D + 1) + x) * V::W));
                    }
                    let grad = physical(&g, &reference);
                    store_row::<V, N>(out, q, law.normal_diffusive_flux_with(&minus, &grad, &normal, c));
                }
            }
        }
    }
}

struct Largest<'a, L, T, const D: usize, const N: usize> {
    law: &'a L,
    n: usize,
    u: &'a [T],
    out: &'a mut [T],
}

impl<L: Diffusion<D, N>, T: PackScalar, const D: usize, const N: usize> Kernel<T>
    for Largest<'_, L, T, D, N>
{
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        assert!(self.u.len() >= self.n * N * V::W && self.out.len() >= V::W);
        let mut largest = V::lit(0.0);
        for q in 0..self.n {
            // SAFETY: point `q < n` of `u`, whose length is asserted above.
            let uq = unsafe { load_row::<V, N>(self.u.as_ptr(), q) };
            largest = largest.max(self.law.diffusivity(&uq));
        }
        // SAFETY: the output holds `W` scalars, asserted above.
        unsafe { largest.store(self.out.as_mut_ptr()) };
    }
}

struct LargestWith<'a, L, T, const D: usize, const N: usize> {
    law: &'a L,
    n: usize,
    u: &'a [T],
    gradient: &'a [T],
    geometry: VolumeMetric<'a, T>,
    out: &'a mut [T],
}

impl<L: Diffusion<D, N>, T: PackScalar, const D: usize, const N: usize> Kernel<T>
    for LargestWith<'_, L, T, D, N>
{
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        check_volume::<_, D, N>(self.n, V::W, self.u, self.gradient, &self.geometry);
        assert!(self.out.len() >= V::W);
        let c: V = load_coefficients(self.geometry.coefficients);
        let mut largest = V::lit(0.0);
        for q in 0..self.n {
            // SAFETY: point `q < n` of every array, whose lengths are asserted above.
            unsafe {
                let uq = load_row::<V, N>(self.u.as_ptr(), q);
                let (grad, _) = volume_gradient::<V, D, N>(&self.geometry, self.gradient.as_ptr(), self.n, q);
                largest = largest.max(self.law.diffusivity_with(&uq, &grad, c));
            }
        }
        // SAFETY: the output holds `W` scalars, asserted above.
        unsafe { largest.store(self.out.as_mut_ptr()) };
    }
}

fn device_source<L: Diffusion<D, N>, const D: usize, const N: usize>(
    law: &L,
    parameters: &mut Parameters,
) -> Result<String, TraceError> {
    let rows = |list: &[dgsuite_physics::trace::Sym]| -> [[dgsuite_physics::trace::Sym; N]; D] {
        std::array::from_fn(|x| std::array::from_fn(|k| list[x * N + k]))
    };
    let flux = device_fn("diffusive_flux", &[("u", N), ("grad", D * N)], parameters, |a| {
        law.diffusive_flux(&a.array("u"), &rows(&a.list("grad"))).concat()
    })?;
    let arguments = [("u", N), ("grad", D * N), ("n", D)];
    let normal = device_fn("normal_diffusive_flux", &arguments, parameters, |a| {
        law.normal_diffusive_flux(&a.array("u"), &rows(&a.list("grad")), &a.array("n"))
    })?;
    let largest = match law.coefficient(1.0) {
        None => device_fn("diffusivity", &[("u", N)], parameters, |a| [law.diffusivity(&a.array("u"))])?,
        Some(_) => device_fn("diffusivity", &[("u", N), ("grad", D * N)], parameters, |a| {
            [law.diffusivity_with(&a.array("u"), &rows(&a.list("grad")), law.own_coefficient())]
        })?,
    };
    Ok(flux + &normal + &largest)
}

macro_rules! diffusion_kernels {
    ($t:ty) => {
        impl<L: Diffusion<D, N>, const D: usize, const N: usize> DiffusionKernels<$t> for Diffusive<L, D, N> {
            fn dim(&self) -> usize {
                D
            }

            fn n_fields(&self) -> usize {
                N
            }

            fn coefficient(&self, width: f64) -> Option<f64> {
                self.diffusion.coefficient(width)
            }

            fn volume(
                &self,
                level: SimdLevel,
                n: usize,
                u: &[$t],
                gradient: &[$t],
                geometry: VolumeMetric<'_, $t>,
                out: &mut [$t],
            ) {
                let law = &self.diffusion;
                <$t>::dispatch(checked(level), Volume::<L, $t, D, N> { law, n, u, gradient, geometry, out });
            }

            fn faces(
                &self,
                level: SimdLevel,
                offsets: &[usize],
                um: &[$t],
                rows: &[u32],
                gradient: &[$t],
                geometry: FaceMetric<'_, $t>,
                out: &mut [$t],
            ) {
                let law = &self.diffusion;
                <$t>::dispatch(
                    checked(level),
                    Faces::<L, $t, D, N> { law, offsets, um, rows, gradient, geometry, out },
                );
            }

            fn diffusivity(&self, level: SimdLevel, n: usize, u: &[$t], out: &mut [$t]) {
                let law = &self.diffusion;
                <$t>::dispatch(checked(level), Largest::<L, $t, D, N> { law, n, u, out });
            }

            fn diffusivity_with(
                &self,
                level: SimdLevel,
                n: usize,
                u: &[$t],
                gradient: &[$t],
                geometry: VolumeMetric<'_, $t>,
                out: &mut [$t],
            ) {
                let law = &self.diffusion;
                let kernel = LargestWith::<L, $t, D, N> { law, n, u, gradient, geometry, out };
                <$t>::dispatch(checked(level), kernel);
            }

            fn normal_flux(&self, u: &[f64], gradient: &[f64], n: &[f64], out: &mut [f64]) {
                let state: [f64; N] = std::array::from_fn(|k| u[k]);
                let grad: [[f64; N]; D] =
                    std::array::from_fn(|x| std::array::from_fn(|k| gradient[x * N + k]));
                let normal: [f64; D] = std::array::from_fn(|x| n[x]);
                out[..N].copy_from_slice(&self.diffusion.normal_diffusive_flux(&state, &grad, &normal));
            }

            fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError> {
                device_source::<L, D, N>(&self.diffusion, parameters)
            }
        }
    };
}
diffusion_kernels!(f64);
diffusion_kernels!(f32);
