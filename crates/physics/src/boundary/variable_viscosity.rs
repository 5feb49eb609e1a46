//! Conditions of incompressible flow for the stress of a viscosity that varies.

use crate::diffusion::{Diffusion, DiffusiveBoundary, along_the_face};
use crate::incompressible::VariableViscosity;
use crate::real::{Real, array, dot};

/// What a boundary is for the velocity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VelocityThere {
    /// The velocity is given: the gradient is lifted towards it.
    Given,
    /// The normal velocity is zero, as on planes of symmetry: of the stress its normal component `(n·τ n) n`
    /// remains, which does no work. Friction, as that of a wall model, is a matter of others.
    Sliding,
    /// Fluid may pass, and does not change along the normal, `∂u/∂n = 0`: the stress is that of the gradient
    /// along the face, so that a developed flow passes unchanged. The pressure bears its normal part.
    Open,
}

/// The condition of [`VariableViscosity`] at a boundary. Scalars are given, and lifted, or nothing of this
/// flux passes: a prescribed flux is the whole flux. The data is the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StressThere {
    /// What the boundary is for the velocity.
    pub velocity: VelocityThere,
    /// Which scalars are given.
    pub scalars: [bool; 3],
}

impl<const D: usize, const N: usize> DiffusiveBoundary<VariableViscosity, D, N> for StressThere {
    #[inline(always)]
    fn face_state<R: Real>(
        &self,
        _diffusion: &VariableViscosity,
        um: &[R; N],
        n: &[R; D],
        data: &[R; N],
    ) -> [R; N] {
        let normal = dot(&array!(D, |d| um[d]), n);
        array!(N, |k| {
            let given = if k < D { self.velocity == VelocityThere::Given } else { self.scalars[k - D] };
            if given {
                data[k]
            } else if k < D && self.velocity == VelocityThere::Sliding {
                um[k] - normal * n[k]
            } else {
                um[k]
            }
        })
    }

    #[inline(always)]
    fn normal_flux<R: Real>(
        &self,
        diffusion: &VariableViscosity,
        _um: &[R; N],
        ub: &[R; N],
        grad: &[[R; N]; D],
        n: &[R; D],
        _data: &[R; N],
    ) -> [R; N] {
        let mut lifted = *grad;
        if self.velocity == VelocityThere::Open {
            let level = along_the_face(grad, n);
            for d in 0..D {
                for k in 0..D {
                    lifted[d][k] = level[d][k];
                }
            }
        }
        let f = diffusion.normal_diffusive_flux(ub, &lifted, n);
        let normal = dot(&array!(D, |d| f[d]), n);
        array!(N, |k| {
            if k < D {
                if self.velocity == VelocityThere::Sliding { normal * n[k] } else { f[k] }
            } else if self.scalars[k - D] {
                f[k]
            } else {
                R::lit(0.0)
            }
        })
    }
}
