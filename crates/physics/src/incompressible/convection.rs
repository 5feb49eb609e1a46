//! The convective term of incompressible flow.

use crate::law::{Law, finite};
use crate::real::{Real, array, dot};

/// Convection of the velocity by itself, `∂u/∂t + ∇·(u ⊗ u) = 0`; the state is `(u_1, …, u_D)`:
///
/// ```text
/// F_d = u_d u,   λ(u, n) = a |n·u|,   max over n: a |u|
/// ```
///
/// [`Rusanov`](crate::Rusanov) with this law is the local Lax–Friedrichs flux of incompressible flow,
/// `½ (F⁻ + F⁺)·n − ½ max(λ⁻, λ⁺) (u⁺ − u⁻)`, and the factor `a` scales its dissipation. The default of the
/// solver is `a = 1`; `a = 2` is the spectral radius of the Jacobian, `∂(F·n)/∂u = (n·u) I + u ⊗ n` with the
/// eigenvalues `n·u` and `2 n·u`. A smaller factor allows larger explicit steps.
///
/// # Source
/// Karakus, Chalmers, Świrydowicz & Warburton, *A GPU accelerated discontinuous Galerkin incompressible flow
/// solver*, J. Comput. Phys. 390 (2019) 380–404, eq. 9, with the largest eigenvalue for `λ`.
///
/// ```
/// use dgsuite_physics::{Convection, Law};
/// let law = Convection { factor: 1.0 };
/// assert_eq!(law.flux(&[2.0, 3.0]), [[4.0, 6.0], [6.0, 9.0]]);
/// assert_eq!(law.normal_speed(&[2.0, 3.0], &[0.0, -1.0]), 3.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convection {
    /// The factor `a` of the speed, above 0.
    pub factor: f64,
}

/// The factor `a` of the speed, as a number of the formula's type.
#[inline(always)]
pub(super) fn speed_factor<R: Real>(factor: f64) -> R {
    R::param("speed_factor", factor)
}

impl<const D: usize> Law<D, D> for Convection {
    const NAME: &'static str = "convection";
    const DIRECTED: bool = true;

    fn variables(&self) -> [&'static str; D] {
        const { assert!(D == 2 || D == 3, "two or three dimensions") };
        array!(D, |d| ["u", "v", "w"][d])
    }

    fn primitives(&self) -> [&'static str; D] {
        Law::<D, D>::variables(self)
    }

    #[inline(always)]
    fn flux<R: Real>(&self, u: &[R; D]) -> [[R; D]; D] {
        let mut f = [[u[0]; D]; D];
        for d in 0..D {
            f[d][d] = u[d] * u[d];
            // The flux is symmetric.
            for i in 0..d {
                f[d][i] = u[d] * u[i];
                f[i][d] = f[d][i];
            }
        }
        f
    }

    #[inline(always)]
    fn normal_flux<R: Real>(&self, u: &[R; D], n: &[R; D]) -> [R; D] {
        let un = dot(u, n);
        array!(D, |k| u[k] * un)
    }

    #[inline(always)]
    fn normal_speed<R: Real>(&self, u: &[R; D], n: &[R; D]) -> R {
        speed_factor::<R>(self.factor) * dot(u, n).abs()
    }

    #[inline(always)]
    fn flux_sum_and_speed<R: Real>(&self, um: &[R; D], up: &[R; D], n: &[R; D]) -> ([R; D], R) {
        let (m, p) = (dot(um, n), dot(up, n));
        let speed = speed_factor::<R>(self.factor) * m.abs().max(p.abs());
        (array!(D, |k| um[k].mul_add(m, up[k] * p)), speed)
    }

    #[inline(always)]
    fn max_speed<R: Real>(&self, u: &[R; D]) -> R {
        speed_factor::<R>(self.factor) * dot(u, u).sqrt()
    }

    #[inline(always)]
    fn to_primitive<R: Real>(&self, u: &[R; D]) -> [R; D] {
        *u
    }

    #[inline(always)]
    fn to_conserved<R: Real>(&self, w: &[R; D]) -> [R; D] {
        *w
    }

    #[inline(always)]
    fn admissibility<R: Real>(&self, u: &[R; D]) -> R {
        finite(u)
    }
}
