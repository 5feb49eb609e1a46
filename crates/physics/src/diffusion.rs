//! Diffusive fluxes, `∂u/∂t + ∇·(F(u) − F_v(u, ∇u)) = 0`, as point formulas.

mod scalar;

pub use scalar::ScalarDiffusion;

use crate::real::{Real, array};

/// The diffusive flux `F_v(u, ∇u)` of a law with `N` unknowns in `D` space dimensions, and the diffusivity
/// for step bounds.
///
/// Index order: `grad[d][k] = ∂u_k/∂x_d` of the conserved unknowns, `flux[d][k]`. The flux need not be linear
/// in the gradient.
///
/// # A coefficient of each element
/// The flux may depend on one number of the element, such as the square of a mixing length. A value of the
/// law contains it (`with_coefficient`), for formulas at single points and for printed code, where it is a
/// parameter; the functions `…_with` take it as an argument instead, for packs of elements.
pub trait Diffusion<const D: usize, const N: usize>: Clone + Send + Sync + 'static {
    /// The diffusive flux `F_v,d(u, ∇u)`.
    fn diffusive_flux<R: Real>(&self, u: &[R; N], grad: &[[R; N]; D]) -> [[R; N]; D];

    /// The diffusive flux through a surface element, `Σ_d F_v,d n_d`. `n` is any vector, of unit length or
    /// not: with a scaled row of the inverse metric it is a contravariant flux.
    #[inline(always)]
    fn normal_diffusive_flux<R: Real>(&self, u: &[R; N], grad: &[[R; N]; D], n: &[R; D]) -> [R; N] {
        let f = self.diffusive_flux(u, grad);
        let mut sum = array!(N, |k| f[0][k] * n[0]);
        for d in 1..D {
            for k in 0..N {
                sum[k] = f[d][k].mul_add(n[d], sum[k]);
            }
        }
        sum
    }

    /// Returns the largest kinematic diffusivity `ν_max` (length² per time) of a state, which bounds the
    /// step.
    fn diffusivity<R: Real>(&self, u: &[R; N]) -> R;

    /// Returns the coefficient of an element from its filter width (a length), or `None` if the flux depends
    /// on no coefficient.
    fn coefficient(&self, _width: f64) -> Option<f64> {
        None
    }

    /// Returns the law of an element with the coefficient `c`.
    #[must_use]
    fn with_coefficient(&self, _c: f64) -> Self {
        self.clone()
    }

    /// [`diffusive_flux`](Self::diffusive_flux) with a coefficient.
    #[inline(always)]
    fn diffusive_flux_with<R: Real>(&self, u: &[R; N], grad: &[[R; N]; D], _c: R) -> [[R; N]; D] {
        self.diffusive_flux(u, grad)
    }

    /// [`normal_diffusive_flux`](Self::normal_diffusive_flux) with a coefficient.
    #[inline(always)]
    fn normal_diffusive_flux_with<R: Real>(
        &self,
        u: &[R; N],
        grad: &[[R; N]; D],
        n: &[R; D],
        _c: R,
    ) -> [R; N] {
        self.normal_diffusive_flux(u, grad, n)
    }

    /// [`diffusivity`](Self::diffusivity) of a state and its gradient with a coefficient.
    #[inline(always)]
    fn diffusivity_with<R: Real>(&self, u: &[R; N], _grad: &[[R; N]; D], _c: R) -> R {
        self.diffusivity(u)
    }

    /// The coefficient of the law itself; in recorded formulas the parameter that stands for it.
    #[inline(always)]
    fn own_coefficient<R: Real>(&self) -> R {
        R::lit(0.0)
    }
}

/// No diffusion, `F_v = 0`: for functions that take a law with its diffusion, if the law has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoDiffusion;

impl<const D: usize, const N: usize> Diffusion<D, N> for NoDiffusion {
    #[inline(always)]
    fn diffusive_flux<R: Real>(&self, _u: &[R; N], _grad: &[[R; N]; D]) -> [[R; N]; D] {
        [[R::lit(0.0); N]; D]
    }

    #[inline(always)]
    fn diffusivity<R: Real>(&self, _u: &[R; N]) -> R {
        R::lit(0.0)
    }
}

/// The part of a boundary condition for the diffusive flux: the value towards which the gradient is lifted,
/// and the flux.
///
/// # Energy
/// Linearised about a uniform state, in variables `w` in which diffusion is symmetric (`F_v = K ∇w`) and data
/// are zero, diffusion changes the energy by
///
/// ```text
/// d/dt ½ ∫ |w|² = −∫ ∇w·K ∇w + ∮ (w·F̂ + (w − w_b)·F_n) dS − … at inner faces
/// ```
///
/// where `F_n` is the flux of the inner gradient and `F̂` the flux that
/// [`normal_flux`](DiffusiveBoundary::normal_flux) returns. For each component of `w` there are two choices
/// with which the energy does not grow: *lifted*, `w_b = 0` and `F̂` from the lifted gradient, whose jump
/// outweighs `2 w·F_n`; and *level*, `w_b = w` and no flux. With `w_b = P w` and the flux of the inner
/// gradient, `P w·F_n` remains, and `(w − w_b)·F_n` if this flux is omitted; nothing outweighs either term
/// where diffusion is faster than the flow on the scale of an element. Therefore the states of characteristic
/// conditions are used for the numerical flux only.
///
/// # Source
/// Arnold, Brezzi, Cockburn & Marini, SIAM J. Numer. Anal. 39 (2002) 1749–1779 (Dirichlet and Neumann
/// conditions of BR2).
pub trait DiffusiveBoundary<V: Diffusion<D, N>, const D: usize, const N: usize>:
    Clone + Send + Sync + 'static
{
    /// Whether the solution is constant across the face, so that its gradient has no normal component there.
    const LEVEL: bool = false;

    /// Returns the state `u_b` on the face; the lifted jump is `u_b − u⁻`. `um` is the inner state, `n` the
    /// outward unit normal, `data` the prescribed conserved state (ignored by conditions that do not use it).
    /// The default is the inner state: nothing is lifted.
    #[inline(always)]
    fn face_state<R: Real>(&self, _diffusion: &V, um: &[R; N], _n: &[R; D], _data: &[R; N]) -> [R; N] {
        *um
    }

    /// Returns the diffusive flux that leaves through the face, from the inner state, `u_b` and the lifted
    /// inner gradient. The default is the flux of `u_b` and this gradient.
    #[inline(always)]
    fn normal_flux<R: Real>(
        &self,
        diffusion: &V,
        _um: &[R; N],
        ub: &[R; N],
        grad: &[[R; N]; D],
        n: &[R; D],
        _data: &[R; N],
    ) -> [R; N] {
        let grad = if Self::LEVEL { along_the_face(grad, n) } else { *grad };
        diffusion.normal_diffusive_flux(ub, &grad, n)
    }
}

/// Returns the gradient without its component along the unit normal, `∇u − n (n·∇u)`: the gradient of a
/// solution that is constant across a boundary.
#[inline(always)]
pub(crate) fn along_the_face<R: Real, const D: usize, const N: usize>(
    grad: &[[R; N]; D],
    n: &[R; D],
) -> [[R; N]; D] {
    let mut along = *grad;
    for k in 0..N {
        let mut slope = grad[0][k] * n[0];
        for d in 1..D {
            slope = grad[d][k].mul_add(n[d], slope);
        }
        for d in 0..D {
            along[d][k] = grad[d][k] - slope * n[d];
        }
    }
    along
}
