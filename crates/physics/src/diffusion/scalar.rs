//! Diffusion of one scalar.

use super::Diffusion;
use crate::real::{Real, array};

/// Diffusion of a scalar with a constant diffusivity, `F_v = ν ∇u`, used together with
/// [`Advection`](crate::Advection).
///
/// ```
/// use dgsuite_physics::{Diffusion, ScalarDiffusion};
/// let law = ScalarDiffusion { nu: 0.5 };
/// assert_eq!(law.diffusive_flux(&[7.0], &[[2.0], [4.0]]), [[1.0], [2.0]]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalarDiffusion {
    /// The diffusivity `ν`, length² per time.
    pub nu: f64,
}

impl<const D: usize> Diffusion<D, 1> for ScalarDiffusion {
    #[inline(always)]
    fn diffusive_flux<R: Real>(&self, u: &[R; 1], grad: &[[R; 1]; D]) -> [[R; 1]; D] {
        let nu = Diffusion::<D, 1>::diffusivity(self, u);
        array!(D, |d| [nu * grad[d][0]])
    }

    #[inline(always)]
    fn diffusivity<R: Real>(&self, _u: &[R; 1]) -> R {
        R::param("diffusivity", self.nu)
    }
}
