//! Fields of a stored state, compiled.

use std::sync::Arc;

use crate::outputs::named::{OfElement, OutputField};
use crate::plan::elliptic::EllipticField;

/// Fields of a stored state, compiled.
pub enum Fields {
    /// Fields of a model in time.
    Flow(Arc<[OutputField]>),
    /// Fields of an elliptic problem.
    Elliptic(Vec<EllipticField>),
}

impl Fields {
    /// Whether one of them needs derivatives of the solution.
    pub(super) fn need_gradients(&self) -> bool {
        match self {
            Self::Flow(fields) => fields.iter().any(|field| field.gradients),
            Self::Elliptic(_) => false,
        }
    }

    /// Their names.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Flow(fields) => {
                let stored = fields.iter().filter(|field| !of_last_step(field));
                stored.map(|field| field.name.as_str()).collect()
            }
            Self::Elliptic(fields) => fields.iter().map(|field| field.name.as_str()).collect(),
        }
    }
}

/// Whether a field describes what happened in the last step.
pub(super) fn of_last_step(field: &OutputField) -> bool {
    field.of_element == Some(OfElement::Filter)
}
