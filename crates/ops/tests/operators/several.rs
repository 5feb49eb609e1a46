//! Laws with any number of unknowns: advection and diffusion of each with coefficients of its own.

use dgsuite_gpu::{Host, SimdLevel};
use dgsuite_mesh::Mesh;
use dgsuite_ops::{
    BoundaryBinding, BoundaryKernel, BoundaryOf, DiffusionKernels, Diffusive, DiffusiveBoundaryOf, Equation,
    PackScalar, PointKernels, Pointwise, WithDiffusion,
};
use dgsuite_physics::{Diffusion, Exact, Law, Prescribed, Real, Rusanov};
use std::sync::Arc;

/// `∂u_k/∂t + ∇·(a_k u_k − ν_k ∇u_k) = 0`, with velocities `a_k` in all directions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Several<const D: usize, const N: usize>;

impl<const D: usize, const N: usize> Several<D, N> {
    /// `a_kd`
    #[inline(always)]
    fn velocity(k: usize, d: usize) -> f64 {
        const NUMBERS: [f64; 7] = [0.84, -0.43, -0.95, 0.31, 1.0, 0.12, -0.77];
        NUMBERS[(3 * k + 2 * d) % 7] + 0.1 * k as f64
    }

    /// `ν_k`
    #[inline(always)]
    fn diffusivity(k: usize) -> f64 {
        0.03 * (1.0 + k as f64)
    }
}

impl<const D: usize, const N: usize> Law<D, N> for Several<D, N> {
    const NAME: &'static str = "several";

    fn variables(&self) -> [&'static str; N] {
        std::array::from_fn(|k| ["a", "b", "c", "d", "e", "f", "g"][k])
    }

    fn primitives(&self) -> [&'static str; N] {
        <Self as Law<D, N>>::variables(self)
    }

    #[inline(always)]
    fn flux<R: Real>(&self, u: &[R; N]) -> [[R; N]; D] {
        let mut f = [[R::lit(0.0); N]; D];
        for d in 0..D {
            for k in 0..N {
                f[d][k] = R::lit(Self::velocity(k, d)) * u[k];
            }
        }
        f
    }

    #[inline(always)]
    fn normal_speed<R: Real>(&self, _u: &[R; N], n: &[R; D]) -> R {
        let mut largest = R::lit(0.0);
        for k in 0..N {
            let mut along = R::lit(Self::velocity(k, 0)) * n[0];
            for d in 1..D {
                along = along + R::lit(Self::velocity(k, d)) * n[d];
            }
            largest = largest.max(along.abs());
        }
        largest
    }

    #[inline(always)]
    fn max_speed<R: Real>(&self, _u: &[R; N]) -> R {
        R::lit(2.0 * (D as f64).sqrt())
    }

    #[inline(always)]
    fn to_primitive<R: Real>(&self, u: &[R; N]) -> [R; N] {
        *u
    }

    #[inline(always)]
    fn to_conserved<R: Real>(&self, w: &[R; N]) -> [R; N] {
        *w
    }

    #[inline(always)]
    fn admissibility<R: Real>(&self, u: &[R; N]) -> R {
        // Above zero for finite numbers only.
        R::lit(1.0) - u[0] * R::lit(0.0)
    }
}

impl<const D: usize, const N: usize> Diffusion<D, N> for Several<D, N> {
    #[inline(always)]
    fn diffusive_flux<R: Real>(&self, _u: &[R; N], grad: &[[R; N]; D]) -> [[R; N]; D] {
        let mut f = [[R::lit(0.0); N]; D];
        for d in 0..D {
            for k in 0..N {
                f[d][k] = R::lit(Self::diffusivity(k)) * grad[d][k];
            }
        }
        f
    }

    #[inline(always)]
    fn diffusivity<R: Real>(&self, _u: &[R; N]) -> R {
        R::lit(Self::diffusivity(N - 1))
    }
}

/// Smooth fields, all different.
pub(crate) struct Waves<const N: usize>;

impl<const N: usize> Exact for Waves<N> {
    fn n_fields(&self) -> usize {
        N
    }

    fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        let pi = std::f64::consts::PI;
        for (k, out) in out.iter_mut().enumerate() {
            out.clear();
            out.extend(x.iter().map(|[x, y, z]| {
                let phase = 0.7 * k as f64 + t;
                1.0 + 0.3 * (pi * (x - y) + phase).sin() + 0.2 * (pi * (y + z) + 2.0 * phase).cos()
            }));
        }
    }
}

/// The equation of [`Several`], with diffusion if wanted, and [`Waves`] on all boundaries of a mesh.
pub(crate) fn several<T, const D: usize, const N: usize>(
    mesh: &Mesh,
    diffusive: bool,
) -> (Equation<T>, Vec<BoundaryBinding<T>>)
where
    T: PackScalar + Real,
    Pointwise<Several<D, N>, Rusanov, D, N>: PointKernels<T>,
    Diffusive<Several<D, N>, D, N>: DiffusionKernels<T>,
{
    let (law, diffusion, flux, condition) = (Several::<D, N>, Several::<D, N>, Rusanov, Prescribed);
    let mut equation = Equation::<T>::from(Box::new(Pointwise::<_, _, D, N> { law, flux }));
    if diffusive {
        equation = equation.with_diffusion(Box::new(Diffusive::<_, D, N> { diffusion }));
    }
    let kernel = || -> Box<dyn BoundaryKernel<T>> {
        let inviscid = Box::new(BoundaryOf::<_, _, D, N> { law, condition });
        if !diffusive {
            return inviscid;
        }
        let diffusive = Box::new(DiffusiveBoundaryOf::<_, _, D, N> { diffusion, condition });
        Box::new(WithDiffusion { inviscid, diffusive })
    };
    let data: Arc<dyn Exact> = Arc::new(Waves::<N>);
    let bind = |name: &str| BoundaryBinding {
        name: name.to_owned(),
        kernel: kernel(),
        data: Some(Arc::clone(&data)),
    };
    (equation, mesh.boundary_names().into_iter().map(bind).collect())
}

/// Calls a function with the dimension and the number of unknowns, 2, 3, 6 or 7, as constants.
macro_rules! of_several {
    ($f:ident::<$t:ty>, $dim:expr, $n:expr, $($arg:expr),*) => {
        match ($dim, $n) {
            (2, 2) => $f::<$t, 2, 2>($($arg),*),
            (2, 3) => $f::<$t, 2, 3>($($arg),*),
            (2, 6) => $f::<$t, 2, 6>($($arg),*),
            (2, 7) => $f::<$t, 2, 7>($($arg),*),
            (3, 2) => $f::<$t, 3, 2>($($arg),*),
            (3, 3) => $f::<$t, 3, 3>($($arg),*),
            (3, 6) => $f::<$t, 3, 6>($($arg),*),
            (3, 7) => $f::<$t, 3, 7>($($arg),*),
            (d, n) => panic!("{n} unknowns in {d} dimensions"),
        }
    };
}
pub(crate) use of_several;

/// A machine with `level` and two threads.
pub(crate) fn machine(level: SimdLevel) -> Arc<Host> {
    Arc::new(Host::with_simd(2, level).expect("a machine"))
}
