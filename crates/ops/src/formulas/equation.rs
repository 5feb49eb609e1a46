//! The equation to be discretised: `∂u/∂t + ∇·(F(u) − F_v(u, ∇u)) = S(t, x) + Σ S_i(u, c_i(x))`.

use crate::error::OpsError;
use crate::formulas::diffusion::DiffusionKernels;
use crate::formulas::pointwise::PointKernels;
use crate::formulas::reacting::ReactionKernels;
use crate::formulas::two_point::TwoPointKernels;
use dgsuite_physics::Source;
use dgsuite_physics::formula::Formula;
use std::sync::Arc;

/// The point formulas of an equation. [`PointKernels`] alone convert to an equation without diffusion and
/// source.
///
/// ```
/// use dgsuite_ops::{Diffusive, Equation, Pointwise};
/// use dgsuite_physics::{Advection, Rusanov, ScalarDiffusion};
///
/// let law = Advection { velocity: [1.0, 0.5] };
/// let advection = Box::new(Pointwise::<_, _, 2, 1> { law, flux: Rusanov });
/// let diffusion = Diffusive::<_, 2, 1> { diffusion: ScalarDiffusion { nu: 0.1 } };
/// let equation = Equation::<f64>::from(advection).with_diffusion(Box::new(diffusion));
/// # assert!(equation.diffusion.is_some());
/// ```
pub struct Equation<T> {
    /// Fluxes `F` and the numerical flux.
    pub kernels: Box<dyn PointKernels<T>>,
    /// Two-point fluxes of the volume term, for split forms.
    pub two_point: Option<Box<dyn TwoPointKernels<T>>>,
    /// Diffusive fluxes `F_v`.
    pub diffusion: Option<Box<dyn DiffusionKernels<T>>>,
    /// Weight `η` of the liftings on their own faces (BR2); `None` for the number of faces of the shape.
    pub eta: Option<f64>,
    /// Filter width of diffusion that has one, a formula of `x`, `y`, `z` and `delta`; `None` for `delta`.
    /// See [`filter_widths`](crate::filter_widths).
    pub length: Option<Formula>,
    /// Source `S` of the conserved variables.
    pub source: Option<Arc<dyn Source>>,
    /// Sources of the state, with their coefficients.
    pub reactions: Vec<Box<dyn ReactionKernels<T>>>,
}

impl<T> Equation<T> {
    /// Checks that the parts agree in dimension and number of unknowns.
    pub(crate) fn check(&self) -> Result<(), OpsError> {
        let words = |dim: usize, fields: usize| format!("{fields} unknowns in {dim} dimensions");
        let (dim, fields) = (self.kernels.dim(), self.kernels.n_fields());
        let expected = words(dim, fields);
        if let Some(f) = self.two_point.as_ref().filter(|f| (f.dim(), f.n_fields()) != (dim, fields)) {
            let found = words(f.dim(), f.n_fields());
            return Err(OpsError::Equation { part: "two-point flux", found, expected });
        }
        if let Some(d) = self.diffusion.as_ref().filter(|d| (d.dim(), d.n_fields()) != (dim, fields)) {
            let found = words(d.dim(), d.n_fields());
            return Err(OpsError::Equation { part: "diffusive flux", found, expected });
        }
        if let Some(s) = self.source.as_ref().filter(|s| s.n_fields() != fields) {
            return Err(OpsError::Equation { part: "source", found: words(dim, s.n_fields()), expected });
        }
        for reaction in &self.reactions {
            let found = words(dim, reaction.n_fields());
            if found != expected {
                return Err(OpsError::Equation { part: "reaction", found, expected });
            }
        }
        Ok(())
    }

    /// Adds a two-point flux, for split forms.
    #[must_use]
    pub fn with_two_point(mut self, flux: Box<dyn TwoPointKernels<T>>) -> Self {
        self.two_point = Some(flux);
        self
    }

    /// Adds diffusion.
    #[must_use]
    pub fn with_diffusion(mut self, diffusion: Box<dyn DiffusionKernels<T>>) -> Self {
        self.diffusion = Some(diffusion);
        self
    }

    /// Sets the weight of the liftings on their own faces, instead of the number of faces.
    #[must_use]
    pub fn with_eta(mut self, eta: f64) -> Self {
        self.eta = Some(eta);
        self
    }

    /// Adds a source.
    #[must_use]
    pub fn with_source(mut self, source: Arc<dyn Source>) -> Self {
        self.source = Some(source);
        self
    }

    /// Adds a source of the state.
    #[must_use]
    pub fn with_reaction(mut self, reaction: Box<dyn ReactionKernels<T>>) -> Self {
        self.reactions.push(reaction);
        self
    }
}

impl<T> From<Box<dyn PointKernels<T>>> for Equation<T> {
    fn from(kernels: Box<dyn PointKernels<T>>) -> Self {
        Self {
            kernels,
            two_point: None,
            diffusion: None,
            eta: None,
            length: None,
            source: None,
            reactions: Vec::new(),
        }
    }
}

impl<T, P: PointKernels<T> + 'static> From<Box<P>> for Equation<T> {
    fn from(kernels: Box<P>) -> Self {
        let kernels: Box<dyn PointKernels<T>> = kernels;
        kernels.into()
    }
}
