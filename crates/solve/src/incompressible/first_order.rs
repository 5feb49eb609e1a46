//! The first-order operators of a step by themselves, for measurements.

use super::laws;
use super::machine::Pass;
use crate::SystemError;
use crate::setup::Incompressible;
use crate::setup::{Law, Setup};
use dgsuite_mesh::Mesh;
use dgsuite_ops::{Equation, Scheme};
use std::sync::Arc;

/// A kernel of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstOrder {
    /// `−∇·(u ⊗ u)`, over-integrated.
    Convection,
    /// `−∇·(ū ⊗ u)` of a sub-step, over-integrated.
    SubStep,
    /// `−∇p` and `−∇·u`.
    GradientDivergence,
}

impl FirstOrder {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Convection, Self::SubStep, Self::GradientDivergence];

    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Convection => "convection",
            Self::SubStep => "sub-step",
            Self::GradientDivergence => "gradient+divergence",
        }
    }

    /// Number of fields of the kernel's state in `dim` dimensions.
    pub const fn fields(self, dim: usize) -> usize {
        match self {
            Self::Convection => dim,
            Self::SubStep => 2 * dim,
            Self::GradientDivergence => dim + 1,
        }
    }

    /// The equation of the kernel on a periodic mesh, and its space.
    pub fn posed(self, mesh: &Arc<Mesh>, order: usize) -> Result<(Scheme, Equation<f64>), SystemError> {
        let pass = match self {
            Self::Convection => Pass::Convection,
            Self::SubStep => Pass::Transport,
            Self::GradientDivergence => Pass::Coupling,
        };
        let law = Incompressible::new(1e-2);
        let setup = Setup::new(Arc::clone(mesh), Law::Incompressible(law.clone()), order);
        Ok((laws::scheme(pass, order, mesh), laws::posed(pass, &setup, &law)?.equation))
    }
}
