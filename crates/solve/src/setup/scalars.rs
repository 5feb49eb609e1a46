//! Scalars that incompressible flow carries, such as a temperature.

use dgsuite_physics::incompressible::ScalarFormulas;
use dgsuite_physics::{Exact, Source};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The largest number of scalars.
pub const MOST_SCALARS: usize = 3;

/// The name of the temperature among the unknowns.
pub const TEMPERATURE: &str = "T";

/// A scalar that the flow carries,
///
/// ```text
/// ∂T/∂t + ∇·(u T) = ∇·(α ∇T) + q
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// The name of the unknown.
    pub name: &'static str,
    /// The diffusivity α, positive; the least one α₀ if it varies.
    pub diffusivity: f64,
    /// The diffusivity as a formula of all scalars, if it varies. What it differs from α₀ is explicit.
    pub formula: Option<ScalarFormulas>,
}

impl Scalar {
    /// A scalar with a constant diffusivity.
    #[must_use]
    pub const fn new(name: &'static str, diffusivity: f64) -> Self {
        Self { name, diffusivity, formula: None }
    }
}

/// The data of a scalar: source, and conditions by name of the boundary. Where there is none, nothing
/// diffuses through the boundary, and fluid that enters has the value inside.
#[derive(Clone, Default)]
pub struct ScalarData {
    /// The source q, one field.
    pub source: Option<Arc<dyn Source>>,
    /// Conditions.
    pub conditions: BTreeMap<String, ScalarCondition>,
}

impl fmt::Debug for ScalarData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(&self.conditions).finish()
    }
}

/// The condition of a scalar on a boundary. Solutions have one field.
#[derive(Clone)]
pub enum ScalarCondition {
    /// `T = g`.
    Value(Arc<dyn Exact>),
    /// `−α ∂T/∂n = q`: a flux out of the fluid.
    Flux(Arc<dyn Exact>),
    /// `−α ∂T/∂n = h (T − T_a)`.
    Transfer {
        /// The coefficient h, not negative.
        coefficient: f64,
        /// The value T_a outside.
        ambient: Arc<dyn Exact>,
    },
    /// `∂T/∂n = 0`, and `T = g` of fluid that enters, on an open boundary.
    Inflow(Arc<dyn Exact>),
}

impl fmt::Debug for ScalarCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Value(_) => "value",
            Self::Flux(_) => "flux",
            Self::Transfer { .. } => "transfer",
            Self::Inflow(_) => "inflow",
        })
    }
}
