//! Saved states: what a run needs to go on, and what its coefficients mean.

use dgsuite_basis::{NodeSet, Representation};

/// A saved state: what a run needs to go on as if it had not stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Time.
    pub time: f64,
    /// Steps done.
    pub step: usize,
    /// Polynomial degree.
    pub order: usize,
    /// The law's name.
    pub law: String,
    /// What coefficients mean: the basis, with its nodes.
    pub basis: String,
    /// Coefficients, `[global element][field][basis function]`.
    pub fields: Vec<f64>,
    /// Per conserved variable: the time integral of the boundary's rates, the integral at the
    /// start, and the integral of the size at the start; one after the other.
    pub tally: Vec<f64>,
}

/// Every basis that a checkpoint may have.
const REPRESENTATIONS: [Representation; 5] = [
    Representation::Modal,
    Representation::Taylor,
    Representation::Nodal(NodeSet::GaussLobatto),
    Representation::Nodal(NodeSet::GaussLegendre),
    Representation::Nodal(NodeSet::WarpBlend),
];

/// A basis in words, with its nodes.
pub(super) fn basis_name(representation: Representation) -> String {
    match representation {
        Representation::Modal => "modal".to_owned(),
        Representation::Taylor => "taylor".to_owned(),
        Representation::Nodal(nodes) => format!("nodal ({nodes})"),
    }
}

/// The basis of these words.
pub(super) fn basis_of(name: &str) -> Option<Representation> {
    REPRESENTATIONS.into_iter().find(|&r| basis_name(r) == name)
}
